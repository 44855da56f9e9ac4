//! What is exchanged between the state and the work: messages in, effects out, jobs with a ticket, outcomes.
//! Plain data.

mod outcome;
mod pending;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

pub use outcome::{JobError, Outcome};
pub use pending::Pending;

use crate::{
    config::new_profile::NewProfile,
    domain::{
        annotation::{Annotation, AnnotationChange},
        batch::{BatchKind, BulkChange, EditPlan, Plan, StopCause},
        change::DesiredFields,
        draft::Draft,
        facts::Field,
        group::UserGroupId,
        pasted::Pasted,
        text::visible,
        token::{Fingerprint, Token},
    },
    formats::{Columns, Format},
    operations::{
        BatchId, BindingAnswer, ChangeCursor, Changes, ClaimHolder, Done, RecordedExchange,
        RotationId,
        batch::{BatchEvent, RunCommand},
    },
    search::{Index, ListView, SearchRequest, SearchResults},
    tui::state::{groups::Listing, outage::OutageReason},
};

/// Identifies a job. Allocated before the job starts, so that late answers are harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The profile of a job: its index in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProfileIndex(pub usize);

/// An event for the console.
#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    /// Keys that arrived at once, as a paste without brackets does.
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

/// Work for `operations`.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    List,
    /// Computes the rows of the list; reads nothing.
    Search {
        index: Index,
        request: SearchRequest,
        /// Earlier results that may save work.
        before: Option<Arc<SearchResults>>,
    },
    /// The known ids most similar to a typed one.
    SimilarIds(Index, String),
    /// Stores the view of the list as it was left.
    KeepView(ListView),
    /// Changes notes or labels of these groups.
    Annotate(Vec<UserGroupId>, Box<AnnotationChange>),
    /// Saves the view of the list under a name.
    SaveView(String, ListView),
    RemoveView(String),
    /// Fails if a person has to answer a question about the place first.
    OpenRotations,
    LookUp(UserGroupId),
    /// What the directory knows of this id in every profile; sends nothing.
    SameId(UserGroupId),
    Create(UserGroupId, DesiredFields),
    Update {
        id: UserGroupId,
        base: DesiredFields,
        wanted: DesiredFields,
        /// Fields that are replaced as a whole although others may have changed them, which the person has seen.
        replace: Vec<Field>,
        /// The person has seen the fields that are sent unchanged, as last known.
        sends_unchanged: bool,
    },
    Rotate {
        id: UserGroupId,
        /// The token that the person was shown.
        seen: Option<Fingerprint>,
        reason: Option<String>,
    },
    Confirm(Box<Done>),
    History(Option<UserGroupId>),
    /// Unsent forms of the profile.
    Drafts,
    /// Saves a draft, with the last change of the stored one as far as known here.
    KeepDraft(Box<Draft>, Option<Timestamp>),
    /// Forgets a draft, unless it was changed after this time.
    ForgetDraft(UserGroupId, Timestamp),
    WriteToken(Token, PathBuf),
    /// All rotations of the profile.
    Rotations,
    /// Settles the open rotations by reading their groups.
    Settle,
    /// Settles open creates and updates by reading their groups.
    SettleChanges,
    Abandon(RotationId, String),
    /// Finds the groups of the tokens in a pasted text.
    FindTokenOwners(Pasted),
    /// Asks whether a pasted or typed text has a secret that is known.
    FindSecret(Pasted),
    /// Tokens of this profile that wait to be handed off.
    PendingHandOffs,
    /// Hands off right after a rotation.
    HandOff(Box<Done>),
    /// Reads the token again before it is handed off.
    HandOffAgain(RotationId, UserGroupId),
    /// All batches of the profile.
    Batches,
    /// What needs attention over all profiles; everything, or just enough to count it.
    Attention {
        whole: bool,
    },
    /// The batches of all profiles.
    AllBatches,
    /// The current state of a batch, with its items.
    Batch(BatchId),
    /// What resuming a batch would do; if true, also for groups that were last sent long ago. Sends nothing.
    PlanResumption(BatchId, bool),
    /// Resumes a batch that has this many items left, without these groups. The typed confirmation was checked.
    Resume(BatchId, usize, Vec<UserGroupId>),
    /// Finds out which of these groups can be rotated now; sends nothing.
    PlanBulk {
        ids: Vec<UserGroupId>,
        /// Also include groups that were rotated within the last 24 h.
        include_recent: bool,
        /// The batch whose groups are tried again.
        retries: Option<BatchId>,
    },
    /// Rotates every group that is ready. The typed confirmation was checked.
    Bulk {
        plan: Plan,
        reason: Option<String>,
    },
    /// What a bulk edit would do; sends nothing.
    PlanEdit {
        asked: BulkEditRequest,
        /// Also include groups that cannot be read and were last sent long ago.
        include_old: bool,
    },
    /// Sends every update of a reviewed bulk edit. The typed confirmation was checked.
    BulkEdit(Box<EditPlan>),
    /// Writes a report; it holds no token.
    WriteReport(String, PathBuf),
    /// Writes what the directory knows of these groups to a new file.
    Export {
        index: Index,
        /// Notes and labels, for columns that need them.
        annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
        ids: Vec<UserGroupId>,
        format: (Format, Columns),
        path: PathBuf,
    },
    /// Tests a possible profile; creates and writes nothing. The token is the API key for the keyring, if there is one.
    Check(Box<NewProfile>, Option<Token>),
    AddProfile(Box<NewProfile>, Option<Token>),
    /// The person's answer to which place the profile means.
    AnswerPlace(BindingAnswer),
    /// Looks for a group that could prove a key on trial; sends nothing.
    Proof,
    /// Reads this group, to prove the key.
    Prove(UserGroupId),
    /// Acknowledges the alarms of a place: its name, and what was found.
    Acknowledge(String, String),
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

/// What the console needs to know about a running job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSpec {
    /// For line 1: a verb and an object, as in "read acme-eu".
    pub label: String,
    /// The group of the job, if it has one.
    pub group: Option<UserGroupId>,
    /// Must never be cancelled or dropped; quitting waits for it.
    pub is_write: bool,
    /// The job may start or end a rotation, change, batch or hand-off; whatever shows those is read again afterwards.
    pub touches_journal: bool,
    /// It sends something, or starts something that is written down first.
    pub is_journaled_first: bool,
    /// It runs over many groups and obeys [`RunCommand`].
    pub can_be_steered: bool,
    /// Reads all groups of a profile.
    pub is_list: bool,
    pub adds_profile: bool,
    /// For a single change of one group, which can be cancelled until it is sent: what becomes of the group, as in
    /// "NOT rotated".
    pub change: Option<&'static str>,
    /// The group of a create or update and its wanted values; a draft with the same values is no longer a draft when
    /// the job succeeds.
    pub sends: Option<(UserGroupId, DesiredFields)>,
}

impl JobSpec {
    fn read(label: &str) -> Self {
        Self {
            label: label.into(),
            group: None,
            is_write: false,
            touches_journal: false,
            is_journaled_first: false,
            can_be_steered: false,
            is_list: false,
            adds_profile: false,
            change: None,
            sends: None,
        }
    }

    fn write(label: &str) -> Self {
        Self {
            touches_journal: true,
            ..Self::local(label)
        }
    }

    /// It sends something, or starts something that is written down first.
    fn journaled(self) -> Self {
        Self {
            is_journaled_first: true,
            ..self
        }
    }

    /// Changes the groups of a batch.
    fn batch(verb: &str, count: usize) -> Self {
        let groups = if count == 1 { "group" } else { "groups" };
        Self {
            can_be_steered: true,
            ..Self::write(&format!("{verb} {count} {groups}")).journaled()
        }
    }

    /// Writes a file, or something that neither the service nor the journal knows.
    fn local(label: &str) -> Self {
        Self {
            is_write: true,
            ..Self::read(label)
        }
    }

    fn of(self, id: &UserGroupId) -> Self {
        Self {
            label: format!("{} {id}", self.label),
            group: Some(id.clone()),
            ..self
        }
    }

    fn change(self, id: &UserGroupId, change: &'static str) -> Self {
        Self {
            change: Some(change),
            ..self.of(id).journaled()
        }
    }

    fn sending(self, wanted: &DesiredFields) -> Self {
        Self {
            sends: self.group.clone().map(|id| (id, wanted.clone())),
            ..self
        }
    }

    /// The text of a refusal: names the group, and begins with what did not come about.
    pub fn refusal(&self, why: &str) -> String {
        let not = self.change.or((!self.is_write).then_some("read"));
        match (&self.group, not) {
            (Some(id), Some(not)) => {
                let mut letters = why.chars();
                let first = letters.next().map(char::to_lowercase);
                let first: String = first.into_iter().flatten().collect();
                format!(
                    "\"{}\" NOT {not}: {first}{}",
                    visible(id.as_str()),
                    letters.as_str()
                )
            }
            _ => why.to_owned(),
        }
    }

    /// The first word of the label.
    pub fn verb(&self) -> &str {
        self.label.split(' ').next().unwrap_or_default()
    }
}

impl Job {
    /// The job that settles the open items of such a batch.
    pub fn settle(kind: &BatchKind) -> Self {
        match kind {
            BatchKind::Rotate => Self::Settle,
            BatchKind::Edit(_) => Self::SettleChanges,
        }
    }

    /// What the console needs to know about this job.
    pub fn spec(&self) -> JobSpec {
        let (read, write, local) = (JobSpec::read, JobSpec::write, JobSpec::local);
        match self {
            Self::List => JobSpec {
                is_list: true,
                ..read("read directory")
            },
            Self::SameId(_) | Self::Proof | Self::Attention { .. } => read("read directory"),
            Self::Search { .. } | Self::SimilarIds(..) => read("search groups"),
            Self::KeepView(_) => local("save filter and sort"),
            Self::Annotate(..) => local("save note"),
            Self::SaveView(..) | Self::RemoveView(_) => local("save view"),
            Self::OpenRotations
            | Self::Rotations
            | Self::PendingHandOffs
            | Self::Batches
            | Self::Batch(_)
            | Self::AllBatches => read("read journal"),
            Self::PlanResumption(..) => read("check what is left"),
            Self::Resume(_, count, _) => JobSpec::batch("rotate", *count),
            Self::LookUp(id) => read("read").of(id).journaled(),
            Self::Prove(id) => write("read").of(id).journaled(),
            Self::Create(id, wanted) => write("create").change(id, "created").sending(wanted),
            Self::Update { id, wanted, .. } => {
                write("update").change(id, "updated").sending(wanted)
            }
            Self::Rotate { id, .. } => write("rotate").change(id, "rotated"),
            // Only a read, but the token on the page and its hand-off depend on it.
            Self::Confirm(done) => write("confirm").of(&done.group.id),
            Self::History(_) => read("read history"),
            // Quitting waits for these separately; they change nothing at the service.
            Self::Drafts | Self::KeepDraft(..) | Self::ForgetDraft(..) => read("save drafts"),
            Self::WriteToken(..) => local("save token"),
            Self::Settle => read("check open rotations").journaled(),
            Self::SettleChanges => read("check open changes").journaled(),
            Self::Abandon(..) => write("close a rotation").journaled(),
            Self::FindTokenOwners(_) | Self::FindSecret(_) => read("find token"),
            Self::HandOff(done) => write("hand off").of(&done.group.id),
            Self::HandOffAgain(_, id) => write("hand off").of(id).journaled(),
            Self::PlanBulk { .. } | Self::PlanEdit { .. } => read("check marked groups"),
            Self::Bulk { plan, .. } => JobSpec::batch("rotate", plan.ready.len()),
            Self::BulkEdit(plan) => JobSpec::batch("edit", plan.counts().0),
            Self::WriteReport(..) => local("save report"),
            Self::Export { .. } => local("export groups"),
            Self::Check(..) => read("test connection"),
            Self::AddProfile(..) => JobSpec {
                adds_profile: true,
                ..write("save profile")
            },
            Self::AnswerPlace(_) => write("compare API key").journaled(),
            Self::Acknowledge(..) => write("acknowledge alarm").journaled(),
        }
    }

    /// Writes are never dropped (a single change can be cancelled until it is sent); quitting waits for them.
    pub fn is_write(&self) -> bool {
        self.spec().is_write
    }
}
