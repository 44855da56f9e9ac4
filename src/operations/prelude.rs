//! What nearly every operation uses.

pub(in crate::operations) use std::{sync::Arc, time::Duration};

pub(in crate::operations) use jiff::Timestamp;

pub(in crate::operations) use super::{
    Done, Failure, Guarded, NextStep, Operations, UnknownIdPolicy, Warning,
};
pub(in crate::operations) use crate::{
    directory::{
        Batch, BatchId, BatchItem, DirectoryError, Mutation, MutationId, PlaceId, Record, Role,
        RotationId, RotationRow,
    },
    domain::{
        change::DesiredFields,
        group::UserGroupId,
        handoff::HandOffState,
        history::{Ending, Entry, Operation},
        known::KnownGroup,
        rotation::State,
        text::visible,
        token::Fingerprint,
        when,
    },
};
