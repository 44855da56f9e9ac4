//! One module a command: each is a caller of `operations` and prints through `output`.

pub(super) mod annotations;
pub(super) mod apply;
pub(super) mod attention;
pub(super) mod audit;
pub(super) mod batch;
pub(super) mod batches;
pub(super) mod completions;
pub(super) mod console;
pub(super) mod demo_server;
pub(super) mod directory;
pub(super) mod doctor;
pub(super) mod export;
pub(super) mod groups;
pub(super) mod handoff;
pub(super) mod help;
pub(super) mod import;
pub(super) mod keys;
pub(super) mod man;
pub(super) mod mutations;
pub(super) mod places;
pub(super) mod profile;
pub(super) mod refresh;
pub(super) mod rotations;
pub(super) mod serve;
pub(super) mod storage;
pub(super) mod whose;
