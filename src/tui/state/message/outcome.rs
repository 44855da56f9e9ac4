//! What a job brings back, and what went wrong.

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
    search::{SavedView, SearchResults},
    tui::state::groups::Listing,
};

/// What became of a job. What each means to the whole console is decided in `app/outcomes.rs`, where every one is listed;
/// a pane names only those that its own tickets can bring.
#[derive(Debug, Clone)]
pub enum Outcome {
    Listed(Box<Listing>),
    Found(Arc<SearchResults>),
    /// The nearest first.
    Near(Vec<UserGroupId>),
    ViewKept,
    /// What is written beside these groups now, and what was changed.
    Annotated(Vec<(UserGroupId, Annotation)>, Box<AnnotationChange>),
    /// Nothing was saved: somebody else wrote this note meanwhile.
    NoteChanged(UserGroupId, Box<Annotation>),
    /// All saved views, and what was done.
    SavedViews(Vec<SavedView>, String),
    /// In which profiles an id is known, and as what.
    SameId(Vec<(ProfileIndex, KnownGroup)>),
    OpenRotations(Vec<RotationRow>),
    /// Look-up, create, update, rotate and confirm.
    Done(Box<Done>),
    History(Vec<Numbered<Entry>>),
    Drafts(Vec<KeptDraft>),
    /// With when the draft was changed that was to be kept.
    DraftKept(Timestamp, DraftSaved),
    DraftForgotten,
    TokenWritten(PathBuf),
    Rotations(Vec<RotationRow>),
    Recovered(Vec<Recovered>),
    Abandoned(Box<RotationRow>),
    Whose(TokenLookup),
    PendingHandOffs(Vec<RotationRow>),
    /// `None` where nothing was to be handed off.
    HandedOff(Option<Box<HandedOff>>),
    /// The hand-off was not run.
    NotHandedOff(JobError),
    /// Creates and updates that are still open.
    ChangesSettled(Vec<Mutation>),
    Batches(Vec<Batch>),
    Attention(Box<Attention>),
    /// Something that waits is put aside until then; `None`: it is shown again.
    Hidden(Option<Timestamp>),
    /// The last begun first, each with its profile.
    AllBatches(Vec<(ProfileIndex, Batch)>),
    /// As it stands in the journal, with its items in order.
    Batch(Box<(Batch, Vec<BatchItem>)>),
    Planned(Plan),
    Resumable(Box<Resumption>),
    /// `None`: the batch rotated.
    EditPlanned(Option<Box<EditPlan>>),
    BulkEnded(Report),
    ReportWritten(PathBuf),
    /// So many groups.
    Exported(usize, PathBuf),
    Checked(Box<ConnectionTest>),
    ProfileAdded(ProfileIndex, Box<Profile>),
    /// Neither tested nor written; each problem with the field it is about.
    NotAdded(Vec<(Option<Field>, String)>),
    PlaceBound(Box<Bound>),
    Proof(Option<UserGroupId>),
    Proven,
    Acknowledged,
    Failed(JobError),
}

impl Outcome {
    /// Groups as a read of the directory gives them, in any order.
    pub fn listed(groups: Vec<KnownGroup>) -> Self {
        Self::Listed(Box::new(groups.into()))
    }

    /// Another environment answered than the profile says (hazard 11).
    pub fn is_wrong_environment(&self) -> bool {
        match self {
            Self::Done(done) => done.warnings.iter().any(Warning::is_wrong_environment),
            Self::Recovered(all) => all.iter().any(|each| match each {
                Recovered::Alarmed(_, alarm) => alarm.is_wrong_environment(),
                Recovered::Settled(_) | Recovered::Open(_) => false,
            }),
            Self::Failed(trouble) | Self::NotHandedOff(trouble) => trouble.wrong_environment,
            Self::Listed(_)
            | Self::Found(_)
            | Self::Near(_)
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
            | Self::Whose(_)
            | Self::PendingHandOffs(_)
            | Self::HandedOff(_)
            | Self::ChangesSettled(_)
            | Self::Batches(_)
            | Self::Batch(_)
            | Self::AllBatches(_)
            | Self::Attention(_)
            | Self::Hidden(_)
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

/// A failure as the screen shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// What happened, whether anything was sent, what to do.
    pub text: String,
    pub ending: Option<Ending>,
    /// A person gave it up.
    pub is_cancelled: bool,
    /// Another environment answered than the profile says (hazard 11).
    pub wrong_environment: bool,
    /// The directory is lost, which has a place of its own on the screen.
    pub is_of_lost_directory: bool,
    /// What stands in the way, where it is about the place of the profile.
    pub place: Option<Box<PlaceProblem>>,
}

impl JobError {
    /// Nothing was sent, or nothing came of it; the text says what.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ending: None,
            is_cancelled: false,
            wrong_environment: false,
            is_of_lost_directory: false,
            place: None,
        }
    }

    /// Whether it took effect is not known.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self {
            ending: Some(Ending::Unknown),
            ..Self::of(text)
        }
    }
}

impl From<Failure> for JobError {
    fn from(failure: Failure) -> Self {
        Self {
            text: failure.to_string(),
            ending: failure.ending(),
            is_cancelled: false,
            wrong_environment: failure.is_wrong_environment(),
            is_of_lost_directory: false,
            place: match failure {
                Failure::Place(problem) => Some(Box::new(problem)),
                _ => None,
            },
        }
    }
}
