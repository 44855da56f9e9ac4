//! What many operations use.

pub(in crate::operations) use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

pub(in crate::operations) use futures_util::{FutureExt, future::BoxFuture};
pub(in crate::operations) use jiff::Timestamp;
pub(in crate::operations) use tokio::time::Instant;

pub(in crate::operations) use super::{
    Done, Failure, Guarded, NextStep, Operations, UnknownIdPolicy, Warning,
};
pub(in crate::operations) use crate::{
    config::{Profile, guard, scrub::shown},
    directory::{
        Batch, BatchId, BatchItem, BatchOptions, Directory, DirectoryError, GroupSnapshot, ItemKey,
        Mutation, MutationId, Place, PlaceId, Record, Role, RotationId, RotationRow,
    },
    domain::{
        batch::{BatchKind, Halt, ItemStatus},
        change::{Change, DesiredFields},
        facts::{Facts, Field},
        group::{EnvironmentTag, UserGroupId},
        handoff::HandOffState,
        history::{Ending, Entry, Operation},
        known::KnownGroup,
        mutation,
        proposal::quoted,
        rotation::State,
        text::{counted, joined, visible},
        token::{Fingerprint, Token},
        update::Edit,
        when,
    },
    platform::process,
};
