//! Import of groups from files, and export into files.

pub(super) mod export;
pub(super) mod import;
pub(super) mod rows;
