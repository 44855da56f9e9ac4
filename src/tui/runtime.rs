//! Everything that runs outside of the state: the event loop, the jobs that call `operations`, the person's own editor.

pub mod external_editor;
pub mod jobs;
pub mod runner;
