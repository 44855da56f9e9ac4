//! What many files of the command line use: its error, and what is below it.

pub(super) use std::{
    collections::BTreeSet,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

pub(super) use clap::Command;
pub(super) use jiff::Timestamp;
pub(super) use serde_json::Value;

pub(super) use super::error::CliError;
pub(super) use crate::{
    config::{Environment, Overrides, Settings, paths},
    domain::{
        batch::StopCause,
        change::{Change, DesiredFields},
        facts::Field,
        group::UserGroupId,
        history::Ending,
        known::KnownGroup,
        proposal::quoted,
        text::{counted, joined, visible, with_state},
        when,
    },
    formats::GroupRow,
    operations::{Done, Failure, Guarded, Operations, UnknownIdPolicy, Warning},
};
