//! The results of jobs, and their failures.

use std::{path::PathBuf, sync::Arc};

use jiff::Timestamp;

use super::ProfileIndex;
use crate::{
    config::{new_profile::Field, profile::Profile},
    domain::{
        annotation::{Annotation, AnnotationChange},
        batch::{EditPlan, Plan},
        group::UserGroupId,
        history::{Ending, Entry},
        known::KnownGroup,
    },
    operations::{
        Batch, BatchItem, Bound, ConnectionTest, Done, DraftSaved, Failure, HandedOff, KeptDraft,
        Mutation, Numbered, PlaceProblem, Recovered, RotationRow, TokenLookup, Warning,
        attention::Attention,
        batch::{Report, Resumption},
    },
    platform::os_error::in_plain_words,
    search::{SavedView, SearchResults},
    tui::{kit::severity::Severity, state::groups::Listing},
};

/// The result of a job. `app/outcomes.rs` decides what each one means to the whole console, and lists every one; a pane
/// names only those that its own tickets can bring.
#[derive(Debug, Clone)]
pub enum Outcome {
    Listed(Box<Listing>),
    Found(Arc<SearchResults>),
    /// Most similar first.
    SimilarIds(Vec<UserGroupId>),
    ViewKept,
    /// The current notes and labels of these groups, and what was changed.
    Annotated(Vec<(UserGroupId, Annotation)>, Box<AnnotationChange>),
    /// Nothing was saved: somebody else wrote this note meanwhile.
    NoteChanged(UserGroupId, Box<Annotation>),
    /// All saved views, and a sentence about what was done.
    SavedViews(Vec<SavedView>, String),
    /// The profiles in which an id is known, and its group there.
    SameId(Vec<(ProfileIndex, KnownGroup)>),
    OpenRotations(Vec<RotationRow>),
    /// Look-up, create, update, rotate and confirm.
    Done(Box<Done>),
    History(Vec<Numbered<Entry>>),
    Drafts(Vec<KeptDraft>),
    /// The time of change of the draft that was to be saved, and the result.
    DraftKept(Timestamp, DraftSaved),
    DraftForgotten,
    TokenWritten(PathBuf),
    Rotations(Vec<RotationRow>),
    Recovered(Vec<Recovered>),
    Abandoned(Box<RotationRow>),
    TokenOwners(TokenLookup),
    /// Whether the text has a secret.
    SecretFound(bool),
    PendingHandOffs(Vec<RotationRow>),
    /// `None` if there was nothing to hand off.
    HandedOff(Option<Box<HandedOff>>),
    /// The hand-off was not run.
    NotHandedOff(JobError),
    /// Creates and updates that are still open.
    ChangesSettled(Vec<Mutation>),
    Batches(Vec<Batch>),
    Attention(Box<Attention>),
    /// Most recently started first, each with its profile.
    AllBatches(Vec<(ProfileIndex, Batch)>),
    /// The state in the journal, with the items in order.
    Batch(Box<(Batch, Vec<BatchItem>)>),
    Planned(Plan),
    Resumable(Box<Resumption>),
    /// `None`: the batch rotated tokens, so it is no edit.
    EditPlanned(Option<Box<EditPlan>>),
    BulkEnded(Report),
    ReportWritten(PathBuf),
    /// The number of groups, and the file.
    Exported(usize, PathBuf),
    Checked(Box<ConnectionTest>),
    /// With the name under which its changes are recorded.
    ProfileAdded(ProfileIndex, Box<Profile>, String),
    /// Neither tested nor written; each problem with the field it is about.
    NotAdded(Vec<(Option<Field>, String)>),
    PlaceBound(Box<Bound>),
    Proof(Option<UserGroupId>),
    Proven,
    Acknowledged,
    Failed(JobError),
}

impl Outcome {
    /// Groups as read from the directory, in any order.
    pub fn listed(groups: Vec<KnownGroup>) -> Self {
        Self::Listed(Box::new(groups.into()))
    }

    /// Whether the answer came from another environment than the profile says (hazard 11).
    pub fn is_wrong_environment(&self) -> bool {
        match self {
            Self::Done(done) => done.warnings.iter().any(Warning::is_wrong_environment),
            Self::Recovered(all) => all.iter().any(|each| match each {
                Recovered::Alarmed(_, alarm) => alarm.is_wrong_environment(),
                Recovered::Settled(_) | Recovered::Open(_) => false,
            }),
            Self::Failed(error) | Self::NotHandedOff(error) => error.wrong_environment,
            Self::Listed(_)
            | Self::Found(_)
            | Self::SimilarIds(_)
            | Self::ViewKept
            | Self::Annotated(..)
            | Self::NoteChanged(..)
            | Self::SavedViews(..)
            | Self::SameId(_)
            | Self::OpenRotations(_)
            | Self::History(_)
            | Self::Drafts(_)
            | Self::DraftKept(..)
            | Self::DraftForgotten
            | Self::TokenWritten(_)
            | Self::Rotations(_)
            | Self::Abandoned(_)
            | Self::TokenOwners(_)
            | Self::SecretFound(_)
            | Self::PendingHandOffs(_)
            | Self::HandedOff(_)
            | Self::ChangesSettled(_)
            | Self::Batches(_)
            | Self::Batch(_)
            | Self::AllBatches(_)
            | Self::Attention(_)
            | Self::Resumable(_)
            | Self::Planned(_)
            | Self::EditPlanned(_)
            | Self::BulkEnded(_)
            | Self::ReportWritten(_)
            | Self::Exported(..)
            | Self::Checked(_)
            | Self::ProfileAdded(..)
            | Self::PlaceBound(_)
            | Self::Proof(_)
            | Self::Proven
            | Self::Acknowledged
            | Self::NotAdded(_) => false,
        }
    }
}

/// A failure as it is displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// What happened, whether anything was sent, and what to do.
    pub text: String,
    pub ending: Option<Ending>,
    /// A person cancelled it.
    pub is_cancelled: bool,
    /// The answer came from another environment than the profile says (hazard 11).
    pub wrong_environment: bool,
    /// The directory is unavailable, which has a fixed place of its own on the screen.
    pub is_directory_outage: bool,
    /// The problem with the place of the profile, if that is the cause.
    pub place: Option<Box<PlaceProblem>>,
}

impl JobError {
    /// A failure after which nothing was sent, or nothing was changed; the text says which.
    pub fn of(text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self {
            text: in_plain_words(&text).into_owned(),
            ending: None,
            is_cancelled: false,
            wrong_environment: false,
            is_directory_outage: false,
            place: None,
        }
    }

    /// A failure after which it is not known whether it took effect.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self {
            ending: Some(Ending::Unknown),
            ..Self::of(text)
        }
    }

    pub fn severity(&self) -> Severity {
        match self.ending {
            _ if self.is_cancelled => Severity::Info,
            Some(Ending::Unknown) => Severity::Unknown,
            _ => Severity::Error,
        }
    }
}

impl From<Failure> for JobError {
    fn from(failure: Failure) -> Self {
        Self {
            text: in_plain_words(&failure.to_string()).into_owned(),
            ending: failure.ending(),
            is_cancelled: matches!(failure, Failure::Cancelled { .. }),
            wrong_environment: failure.is_wrong_environment(),
            is_directory_outage: false,
            place: match failure {
                Failure::Place(problem) => Some(Box::new(problem)),
                _ => None,
            },
        }
    }
}
