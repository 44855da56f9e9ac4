//! Groups from files and into files.

pub(super) mod export;
pub(super) mod import;
