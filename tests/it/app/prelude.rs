//! What several of these tests name.

pub(super) use std::{collections::BTreeSet, time::Duration};

pub(super) use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
pub(super) use groupdesk::{
    config::{
        HandOffCommand,
        guard::{Level, Operation, Rule},
    },
    domain::{
        annotation::{Annotation, Attribution},
        batch::{BatchKind, BulkChange, Counts, Halt, ItemStatus, LastRun, Plan, Skip, StopCause},
        change::DesiredFields,
        draft::Draft,
        group::{EnvironmentTag, UserGroupId},
        handoff::{HandOff, HandOffState},
        history::Ending,
        known::KnownGroup,
        rotation::State,
        token::Fingerprint,
    },
    operations::{
        Alarm, Batch, BatchId, BatchItem, DraftSaved, ExchangeKind, Failure, KeptDraft, MutationId,
        PlaceId, PlaceProblem, RecordedExchange, Recovered, RotationId, TokenLookup, TokenReport,
        Warning,
        attention::{Concern, ConcernKind},
        batch::{Report, Resumption, RunCommand},
    },
    search::{ListView, SortBy},
    tui::{
        ExitReason,
        keymap::{self, Action, Focus},
        state::{
            exchanges::KEPT,
            message::{BulkEditRequest, Effect, Job, JobError, Msg, Outcome, ProfileIndex, Ticket},
            notices::Severity,
        },
        theme::Theme,
    },
};
pub(super) use jiff::SignedDuration;
pub(super) use ratatui::{buffer::Buffer, layout::Rect, style::Modifier};

pub(super) use super::{
    attention::{answer_concerns, attention, concern},
    batch::{BATCH, finish, half_way, items, stored, unfinished},
    batches::{listed, listing},
    exchanges::sent,
    find::named,
    later_views::{dialogs, with_history},
    scene::{
        BEGIN, PRODUCTION, READ_ONLY, Scene, TESTING, TOKEN, base, canned_outcome, done, failed,
        group, known_group, list_of, rotated, rotation, wanted, warned,
    },
};
pub(super) use crate::support::{
    assertions::{assert_has, is_in},
    console::{parse, places, text_of},
    long,
    world::id,
};
