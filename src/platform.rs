//! What is asked of the operating system in one place each: private files, process groups, the time.

pub(crate) mod boot_time;
pub(crate) mod clock;
pub mod private_files;
pub mod process_group;
pub(crate) mod test_clock;
