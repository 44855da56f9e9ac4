//! What is exchanged between the state and the work: messages in, effects out, jobs with a ticket, outcomes.
//! Plain data.
//!
//! The answer that a pane waits for. [`Context`](crate::tui::state::context::Context) requests and cancels it.
//!
//! Why the directory cannot be used, and since when.

mod jobs;

pub(in crate::tui) use jobs::job_table;
pub use jobs::{Job, JobSpec};

use std::{cell::Cell, path::PathBuf, sync::Arc, time::Duration};

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

use crate::{
    config::{new_profile::Field, profile::Profile},
    domain::{
        Annotation, AnnotationChange, BulkChange, EditPlan, Ending, Entry, KnownGroup, StopCause,
        Token, UserGroupId, batch::Plan, capitalised,
    },
    operations::{
        Batch, BatchId, BatchItem, Bound, ChangeCursor, Changes, ClaimHolder, ConnectionTest,
        DirectoryError, Done, DraftSaved, Failure, HandedOff, KeptDraft, Mutation, Numbered,
        PlaceProblem, RecordedExchange, Recovered, RotationRow, ServerFault, TeamFault,
        TokenLookup, Warning,
        attention::Attention,
        batch::{BatchEvent, Report, Resumption, RunCommand},
    },
    platform::os_error::in_plain_words,
    search::{SavedView, SearchResults},
    tui::{kit::Severity, state::Listing},
};

/// Identifies a job. Allocated before the job starts, so that late answers are harmless.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The profile of a job: its index in the configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProfileIndex(pub usize);

/// An event for the console.
#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    /// Keys that arrived at once: typed ahead, or a paste without brackets.
    Burst(Vec<KeyEvent>),
    /// Bracketed paste: text for the focused field, never treated as keys.
    Paste(String),
    /// Only if the configuration enables the mouse.
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// Background colour of the terminal: red, green and blue.
    Background(u8, u8, u8),
    Done(Ticket, Outcome),
    /// The first groups of a list, to be shown at once; the rest comes when the job ends.
    FirstRows(Ticket, Box<Listing>),
    /// How many groups have been read.
    ReadProgress(Ticket, usize),
    /// Events of a bulk rotation since the last message, in order; the rotation continues.
    BatchEvents(Ticket, Vec<BatchEvent>),
    /// The job waits for a group that somebody else is changing.
    Waiting(Box<ClaimHolder>),
    /// The external editor has ended: the edited text, or why nothing is taken over.
    Edited(Ticket, Result<String, String>),
    /// Requests and responses since the last message; without secrets.
    Exchanged(Vec<RecordedExchange>),
    /// Changes by others in the place of this profile.
    Changed(ProfileIndex, Box<Changes>),
    /// The directory of this profile has been unavailable for this long, and why; `None`: it is available again.
    DirectoryState(ProfileIndex, Option<(Duration, OutageReason)>),
    /// The job panicked; what it did is unknown.
    JobPanicked(Ticket),
    /// Only sent while something on the screen depends on the time.
    Tick,
    /// SIGTERM or SIGHUP.
    Leave(StopCause),
}

/// An effect for the runner to perform.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Start(Ticket, ProfileIndex, Box<Job>),
    /// Drops a read; a write is never dropped.
    Cancel(Ticket),
    /// Cancels a single change, unless it has been sent; the job ends by itself and says which.
    CancelChange(Ticket),
    /// Controls what a running bulk rotation does with the items that it has not started.
    Steer(Ticket, RunCommand),
    /// Copies to the clipboard of the person's terminal (OSC 52).
    Copy(Token),
    /// Hands the terminal to the person's editor.
    OpenEditor(Ticket, EditRequest),
    /// Reports changes by others from this point on, in the place of this profile and in no other.
    Watch(ProfileIndex, ChangeCursor),
    Suspend,
    Redraw,
    Quit(ExitReason),
}

/// Why the console ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    Asked,
    /// The person asked for the demo instead.
    Demo,
    /// SIGTERM or SIGHUP, or a Ctrl-C that had to end the console at once.
    Signal,
}

/// A text for the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    /// The name of its file, which tells the editor the type of the content.
    pub file: &'static str,
    pub text: String,
}

/// The requested bulk edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkEditRequest {
    Groups(BulkChange, Vec<UserGroupId>),
    Reverse(BatchId),
    Again(BatchId),
}

/// The ticket of the requested job until it is answered. In a `Cell`, so that a shared reference to a pane is enough to
/// record the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending(Cell<Option<Ticket>>);

impl Pending {
    pub fn is_waiting(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.0.get() == Some(ticket)
    }

    /// The job that is waited for.
    pub fn ticket(&self) -> Option<Ticket> {
        self.0.get()
    }

    /// Waits for this job from now on.
    pub fn begin(&self, ticket: Ticket) {
        self.0.set(Some(ticket));
    }

    /// Records that the job has ended, successfully or not.
    pub fn end(&self, ticket: Ticket) {
        if self.waits_for(ticket) {
            self.0.take();
        }
    }

    /// Stops waiting.
    pub fn take(&self) -> Option<Ticket> {
        self.0.take()
    }
}

/// The result of a job. `app/outcomes.rs` decides what each one means to the whole console, and lists every one; a pane
/// names only those that its own tickets can bring.
#[derive(Debug, Clone)]
pub enum Outcome {
    Listed(Box<Listing>),
    Found(Arc<SearchResults>),
    /// Most similar first.
    SimilarIds(Vec<UserGroupId>),
    ViewKept,
    /// The current note and labels of a group.
    Note(UserGroupId, Box<Annotation>),
    /// The current notes and labels of these groups, and what was changed.
    Annotated(Vec<(UserGroupId, Annotation)>, Box<AnnotationChange>),
    /// Nothing was saved: somebody else wrote this note meanwhile. The one that was to be saved is the last.
    NoteChanged(UserGroupId, Box<Annotation>, String),
    /// All saved views, and a sentence about what was done.
    SavedViews(Vec<SavedView>, (Severity, String)),
    /// Nothing was saved: somebody else wrote a view of this name meanwhile. All saved views, and that one.
    ViewChanged(Vec<SavedView>, Box<SavedView>),
    /// The profiles in which an id is known, and its group there.
    SameId(Vec<(ProfileIndex, KnownGroup)>),
    /// The rotations to check, and the environment that the profile uses.
    OpenRotations(Vec<RotationRow>, Option<String>),
    /// Look-up, create, update, rotate and confirm.
    Done(Box<Done>),
    History(Vec<Numbered<Entry>>),
    Drafts(Vec<KeptDraft>),
    /// The time of change of the draft that was to be saved, and the result.
    DraftKept(Timestamp, DraftSaved),
    DraftForgotten,
    /// A draft was not saved, or not forgotten, for what it is: the reason.
    DraftRefused(String),
    TokenWritten(PathBuf),
    Rotations(Vec<RotationRow>),
    Recovered(Vec<Recovered>),
    Abandoned(Box<RotationRow>),
    TokenOwners(TokenLookup),
    /// Whether the text has a secret.
    SecretFound(bool),
    DueHandOffs(Vec<RotationRow>),
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
    /// Why the job failed, or the hand-off was not run.
    pub fn error(&self) -> Option<&JobError> {
        match self {
            Self::Failed(error) | Self::NotHandedOff(error) => Some(error),
            _ => None,
        }
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
            | Self::Note(..)
            | Self::NoteChanged(..)
            | Self::SavedViews(..)
            | Self::ViewChanged(..)
            | Self::SameId(_)
            | Self::OpenRotations(..)
            | Self::History(_)
            | Self::Drafts(_)
            | Self::DraftKept(..)
            | Self::DraftForgotten
            | Self::DraftRefused(_)
            | Self::TokenWritten(_)
            | Self::Rotations(_)
            | Self::Abandoned(_)
            | Self::TokenOwners(_)
            | Self::SecretFound(_)
            | Self::DueHandOffs(_)
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobError {
    /// What happened, whether anything was sent, and what to do.
    pub text: String,
    pub ending: Option<Ending>,
    /// A person cancelled it.
    pub is_cancelled: bool,
    /// The answer came from another environment than the profile says (hazard 11).
    pub wrong_environment: bool,
    /// The group is no longer as it was reviewed; nothing was sent.
    pub is_outdated: bool,
    /// The field that was refused because its text contains a secret known to the directory.
    pub secret_in: Option<String>,
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
            ..Self::default()
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
        // The review offers what the command line has an option for.
        let text = match &failure {
            Failure::NotKnownEnough(unknown) => unknown.why(),
            failure => failure.to_string(),
        };
        let text = in_plain_words(&text).into_owned();
        let is_unsaved = matches!(failure, Failure::NotSaved { .. });
        Self {
            text: if is_unsaved { capitalised(&text) } else { text },
            ending: failure.ending(),
            is_cancelled: matches!(failure, Failure::Cancelled { .. }),
            wrong_environment: failure.is_wrong_environment(),
            is_outdated: matches!(
                failure,
                Failure::ChangedSince { .. } | Failure::NotKnownEnough(_)
            ),
            secret_in: failure.secret_in().map(str::to_owned),
            is_directory_outage: matches!(
                &failure,
                Failure::NotSaved { error, .. } if OutageReason::of(error).is_some()
            ),
            place: match failure {
                Failure::Place(problem) => Some(Box::new(problem)),
                _ => None,
            },
        }
    }
}

/// Why the directory cannot be used, or cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageReason {
    /// It cannot be reached.
    Away,
    /// Only a standby or a read-only server answers, from which nothing is read.
    Standby,
    /// It does not let this person in, or not do this.
    NotAllowed,
    /// It does not accept the login: its password, certificate or role.
    Refused(&'static str),
    /// Something else is wrong with the server that answers.
    Unusable(&'static str),
    /// Its tables have another version.
    OtherVersion,
    /// This person may only read.
    Viewer,
    /// Its tables have a newer version, which may still be read.
    NotWritable,
    /// The directory was moved elsewhere.
    Moved,
    /// The disk of its file is full.
    Full,
    /// Its file must not be written.
    ReadOnly,
}

/// Since when, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    pub since: Timestamp,
    pub why: OutageReason,
}

impl OutageReason {
    /// Whether changes by others can still be read.
    pub fn can_be_read(self) -> bool {
        matches!(self, Self::Viewer | Self::NotWritable | Self::Moved) || self.is_of_file()
    }

    /// Whether it is a matter of the disk or of permissions, which reports nothing when it is over.
    pub fn is_of_file(self) -> bool {
        matches!(self, Self::Full | Self::ReadOnly)
    }

    /// `None` if waiting a moment helps, because another process holds a lock for a while.
    pub fn of(error: &DirectoryError) -> Option<Self> {
        match error {
            DirectoryError::Locked { .. } => None,
            DirectoryError::Full { .. } => Some(Self::Full),
            DirectoryError::ReadOnly { .. } => Some(Self::ReadOnly),
            DirectoryError::Team { fault, .. } => match fault {
                TeamFault::Server(ServerFault::Busy) => None,
                TeamFault::Server(ServerFault::ReadOnly) => Some(Self::Standby),
                TeamFault::NeedsRole { .. } => Some(Self::Viewer),
                TeamFault::NotWritable => Some(Self::NotWritable),
                TeamFault::Moved(_) => Some(Self::Moved),
                TeamFault::Server(ServerFault::NotAllowed(code)) if code == "28P01" => {
                    Some(Self::Refused("password"))
                }
                TeamFault::Server(ServerFault::NotAllowed(code)) if code.starts_with("28") => {
                    Some(Self::Refused("login"))
                }
                TeamFault::Server(ServerFault::NoPassword(_)) => Some(Self::Refused("password")),
                TeamFault::Server(ServerFault::OwnCertificate(_) | ServerFault::Unusable(_)) => {
                    Some(Self::Refused("certificate"))
                }
                TeamFault::Server(ServerFault::Outdated(_)) => {
                    Some(Self::Unusable("left behind by a failover"))
                }
                TeamFault::Server(ServerFault::Crowded) => {
                    Some(Self::Unusable("no connection free"))
                }
                TeamFault::Server(ServerFault::Unsafe(_)) => {
                    Some(Self::Unusable("server not trusted"))
                }
                TeamFault::NeedsRight(_)
                | TeamFault::Server(ServerFault::NotAllowed(_) | ServerFault::NotThere) => {
                    Some(Self::NotAllowed)
                }
                TeamFault::Newer { .. }
                | TeamFault::Older { .. }
                | TeamFault::Unreleased { .. } => Some(Self::OtherVersion),
                _ => Some(Self::Away),
            },
            DirectoryError::Newer { .. } | DirectoryError::Unreleased { .. } => {
                Some(Self::OtherVersion)
            }
            _ => Some(Self::Away),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_be_used_is_not_called_lost() {
        for (fault, why) in [
            (
                ServerFault::Outdated("on timeline 1".into()),
                "left behind by a failover",
            ),
            (ServerFault::Crowded, "no connection free"),
            (ServerFault::Unsafe("expired".into()), "server not trusted"),
        ] {
            let at = "postgres://db1/desk".to_owned();
            let fault = TeamFault::Server(fault);
            let reason = OutageReason::of(&DirectoryError::Team { at, fault });
            assert_eq!(reason, Some(OutageReason::Unusable(why)));
        }
    }

    #[test]
    fn what_the_lost_directory_did_not_save_is_part_of_its_outage() {
        for (fault, is_outage, text) in [
            (
                ServerFault::Unclear,
                true,
                "The note was perhaps not saved: ",
            ),
            (ServerFault::Unreachable, true, "The note was not saved: "),
            (ServerFault::Busy, false, "The note was not saved: "),
        ] {
            let error = DirectoryError::Team {
                at: "team".into(),
                fault: TeamFault::Server(fault),
            };
            let what = "the note was";
            let error = JobError::from(Failure::NotSaved { what, error });
            assert_eq!(error.is_directory_outage, is_outage, "{error:?}");
            assert!(error.text.starts_with(text), "{error:?}");
        }
    }
}
