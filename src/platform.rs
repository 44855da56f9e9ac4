//! The interface to the operating system, one module per topic: private files, child processes, the time.

pub(crate) mod boot_time;
pub mod child;
pub(crate) mod clock;
pub(crate) mod file_events;
pub(crate) mod os_error;
pub(crate) mod own_session;
pub mod private_files;
pub(crate) mod process;
pub(crate) mod test_clock;
pub(crate) mod time_zone;
