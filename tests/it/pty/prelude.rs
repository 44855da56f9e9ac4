//! What several of these tests name.

pub(super) use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

pub(super) use groupdesk::operations::UnknownIdPolicy;
pub(super) use rustix::process::Signal;
pub(super) use serde_json::json;

pub(super) use super::{
    PATIENCE, assert_given_back, assert_taken,
    place::{BackgroundDemo, FIRST, TempHome, processes_of_session, wait_until},
    quit,
};
pub(super) use crate::support::{
    faults::{Fault, Faults},
    long,
    proxy::{FaultyProxy, Gate, ProxyFault},
    pty::{Program, Session},
    world::{Side, World, id},
};
