//! The process itself: its streams, its signals, its limits, and the code it ends with.

pub(super) mod exit;
pub(super) mod graceful_shutdown;
pub(super) mod hardening;
pub mod panic_report;
pub(super) mod resources;
pub(super) mod signals;
pub(super) mod stdio;
