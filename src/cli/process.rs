//! The process itself: its streams, signals, limits and exit code.

pub(super) mod exit;
pub mod panic_report;
pub(super) mod resources;
pub(super) mod signals;
pub(super) mod stdio;
