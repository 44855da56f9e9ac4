//! What is typed in a form, apart from the pane that shows it.

pub(crate) mod connect;
pub mod group;
