//! What travels between the screen and the work: messages in, effects out, jobs with a ticket, outcomes. Plain data.

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
        token::{Fingerprint, Token},
    },
    formats::{Columns, Format},
    operations::{
        BatchId, BindingAnswer, ChangeCursor, Changes, ClaimHolder, Done, RecordedExchange,
        RotationId,
        attention::Concern,
        batch::{BatchEvent, RunCommand},
    },
    search::{Index, ListView, SearchRequest, SearchResults},
    tui::{
        ExitReason,
        runtime::external_editor::EditRequest,
        state::{groups::Listing, lost::WhyLost},
    },
};

/// The address of a job; given before it starts, so that late answers are harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Which profile a job belongs to: its place in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProfileIndex(pub usize);

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    /// Bracketed paste: text for the focused field, never keys.
    Paste(String),
    /// Only where the configuration asks for the mouse.
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// Red, green and blue of the terminal's background.
    Background(u8, u8, u8),
    Done(Ticket, Outcome),
    /// The first groups of a list, for the screen; the others come with the end of the job.
    FirstRows(Ticket, Box<Listing>),
    /// How many of them have been read.
    Read(Ticket, usize),
    /// What happened in a bulk rotation since the last news, in order; it goes on.
    News(Ticket, Vec<BatchEvent>),
    /// The job waits for a group that somebody else is changing.
    Waiting(Box<ClaimHolder>),
    /// The outside editor has ended: the text as it is now, or why nothing is taken over.
    Edited(Ticket, Result<String, String>),
    /// What was sent and what came, since the last time; without secrets.
    Exchanged(Vec<RecordedExchange>),
    /// What others have changed in the place of this profile.
    Changed(ProfileIndex, Box<Changes>),
    /// The directory of this profile has not been there for so long, and why; or it is back.
    Line(ProfileIndex, Option<(Duration, WhyLost)>),
    /// The job panicked; what it did is unclear.
    Lost(Ticket),
    /// Only while something on the screen depends on time.
    Tick,
    /// SIGTERM or SIGHUP.
    Leave(StopCause),
}

/// Something to be done by the runner.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Start(Ticket, ProfileIndex, Box<Job>),
    /// Drops a read; a write is never cancelled.
    Cancel(Ticket),
    /// What a bulk rotation under way is to do with what it has not begun.
    Steer(Ticket, RunCommand),
    /// To the clipboard of the person's terminal (OSC 52).
    Copy(Token),
    /// Gives the terminal to the person's editor.
    OpenEditor(Ticket, EditRequest),
    /// Tells from there on what others change in the place of this profile, and in no other.
    Watch(ProfileIndex, ChangeCursor),
    Suspend,
    Redraw,
    Quit(ExitReason),
}

/// Work for `operations`.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    List,
    /// What the list is to show; nothing is read.
    Search {
        index: Index,
        look: SearchRequest,
        /// An answer that may spare work.
        before: Option<Arc<SearchResults>>,
    },
    /// The known ids nearest to a typed one.
    Near(Index, String),
    /// Keeps how the list was left.
    KeepView(ListView),
    /// Changes what is written beside these groups.
    Annotate(Vec<UserGroupId>, Box<AnnotationChange>),
    /// Saves how the list is looked at, under a name.
    SaveView(String, ListView),
    RemoveView(String),
    /// Fails where a person has to say something about the place first.
    OpenRotations,
    LookUp(UserGroupId),
    /// What the directory knows of this id in every profile; nothing is sent.
    SameId(UserGroupId),
    Create(UserGroupId, DesiredFields),
    Update {
        id: UserGroupId,
        base: DesiredFields,
        wanted: DesiredFields,
        /// Fields that the person saw replaced whole, although others may have changed them.
        replace: Vec<Field>,
        /// The person saw what is sent unchanged as last known.
        travels: bool,
    },
    Rotate {
        id: UserGroupId,
        /// The token the person was shown.
        seen: Option<Fingerprint>,
        reason: Option<String>,
    },
    Confirm(Box<Done>),
    History(Option<UserGroupId>),
    /// Unsent forms of the profile.
    Drafts,
    /// Keeps what is typed; with when the kept one was changed that is known here.
    KeepDraft(Box<Draft>, Option<Timestamp>),
    /// Forgets a draft, unless it was changed after this.
    ForgetDraft(UserGroupId, Timestamp),
    WriteToken(Token, PathBuf),
    /// All rotations of the profile.
    Rotations,
    /// Settles the open ones by reading their groups.
    Settle,
    /// Settles open creates and updates by reading their groups.
    SettleChanges,
    Abandon(RotationId, String),
    /// A pasted text that may hold some.
    Whose(Token),
    /// Tokens of this profile that wait to be handed off.
    PendingHandOffs,
    /// Right after a rotation.
    HandOff(Box<Done>),
    /// The token is read again first.
    HandOffAgain(RotationId, UserGroupId),
    /// All batches of the profile.
    Batches,
    /// What waits over all profiles; the whole of it, or enough to count.
    Attention {
        whole: bool,
    },
    /// Puts something that waits aside for a day, or shows it again.
    Hide(Box<Concern>, bool),
    /// Those of all profiles.
    AllBatches,
    /// One of them as it stands now, with its items.
    Batch(BatchId),
    /// What going on with one would do, also with what was last sent long ago; nothing is sent.
    PlanResumption(BatchId, bool),
    /// Goes on with a batch of which so many are begun, and not these; what was typed was checked.
    Resume(BatchId, usize, Vec<UserGroupId>),
    /// Which of these can be rotated now; nothing is sent.
    PlanBulk {
        ids: Vec<UserGroupId>,
        /// Also what was rotated within 24 h.
        include_recent: bool,
    },
    /// Rotates every group that is ready; what was typed was checked.
    Bulk {
        plan: Plan,
        reason: Option<String>,
    },
    /// What a bulk edit would do; nothing is sent.
    PlanEdit {
        asked: AskedEdit,
        /// Also what cannot be read and was last sent long ago.
        include_old: bool,
    },
    /// Sends every update of a reviewed bulk edit; what was typed was checked.
    BulkEdit(Box<EditPlan>),
    /// It holds no token.
    WriteReport(String, PathBuf),
    /// What the directory knows of these groups, into a new file.
    Export {
        index: Index,
        /// What stands beside them, for columns that ask for it.
        annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
        ids: Vec<UserGroupId>,
        format: (Format, Columns),
        path: PathBuf,
    },
    /// Tests what would be a profile; creates and writes nothing. The key is one for the keyring.
    Check(Box<NewProfile>, Option<Token>),
    AddProfile(Box<NewProfile>, Option<Token>),
    /// Which place the profile means, said by a person.
    AnswerPlace(BindingAnswer),
    /// Looks for a group that could prove a key on trial; nothing is sent.
    Proof,
    /// Reads this group, to prove the key.
    Prove(UserGroupId),
    /// The alarms of a place, and what was found.
    Acknowledge(String, String),
}

/// Which bulk edit is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedEdit {
    Groups(BulkChange, Vec<UserGroupId>),
    Reverse(BatchId),
    Again(BatchId),
}

/// What a job is to the console while it is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSpec {
    /// For line 1: a verb and an object, as in "read acme-eu".
    pub label: String,
    /// The group that it is about.
    pub group: Option<UserGroupId>,
    /// Never cancelled or dropped; leaving waits for it.
    pub is_write: bool,
    /// It may begin or end a rotation, a change, a batch or a hand-off; what tells of those is then read anew.
    pub is_of_the_journal: bool,
    /// Reads all groups of a profile.
    pub is_list: bool,
    pub adds_profile: bool,
    /// The group of a create or an update, and what is wanted of it; a draft of the same is then no draft any more.
    pub sends: Option<(UserGroupId, DesiredFields)>,
}

impl JobSpec {
    fn read(label: &str) -> Self {
        Self {
            label: label.into(),
            group: None,
            is_write: false,
            is_of_the_journal: false,
            is_list: false,
            adds_profile: false,
            sends: None,
        }
    }

    fn write(label: &str) -> Self {
        Self {
            is_of_the_journal: true,
            ..Self::local(label)
        }
    }

    /// Writes a file, or something that no service and no journal knows.
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

    fn sending(self, id: &UserGroupId, wanted: &DesiredFields) -> Self {
        Self {
            sends: Some((id.clone(), wanted.clone())),
            ..self.of(id)
        }
    }

    /// What is done, in a word.
    pub fn verb(&self) -> &str {
        self.label.split(' ').next().unwrap_or_default()
    }
}

impl Job {
    /// It sends something, or begins what is written down first.
    pub fn is_written_down_first(&self) -> bool {
        matches!(
            self,
            Self::LookUp(_)
                | Self::Create(..)
                | Self::Update { .. }
                | Self::Rotate { .. }
                | Self::Settle
                | Self::SettleChanges
                | Self::Abandon(..)
                | Self::HandOffAgain(..)
                | Self::Resume(..)
                | Self::Bulk { .. }
                | Self::BulkEdit(_)
                | Self::Prove(_)
                | Self::AnswerPlace(_)
                | Self::Acknowledge(..)
        )
    }

    /// What finds out how the open items of such a batch ended.
    pub fn settle(kind: &BatchKind) -> Self {
        match kind {
            BatchKind::Rotate => Self::Settle,
            BatchKind::Edit(_) => Self::SettleChanges,
        }
    }

    /// What it is to the console.
    pub fn spec(&self) -> JobSpec {
        let (read, write, local) = (JobSpec::read, JobSpec::write, JobSpec::local);
        match self {
            Self::List => JobSpec {
                is_list: true,
                ..read("read directory")
            },
            Self::SameId(_) | Self::Proof | Self::Attention { .. } => read("read directory"),
            Self::Search { .. } | Self::Near(..) => read("search groups"),
            Self::KeepView(_) => local("save filter and sort"),
            Self::Annotate(..) => local("save note"),
            Self::SaveView(..) | Self::RemoveView(_) => local("save view"),
            Self::Hide(..) => local("hide or show a row"),
            Self::OpenRotations
            | Self::Rotations
            | Self::PendingHandOffs
            | Self::Batches
            | Self::Batch(_)
            | Self::AllBatches => read("read journal"),
            Self::PlanResumption(..) => read("check what is left"),
            Self::Resume(_, 1, _) => write("rotate 1 group"),
            Self::Resume(_, count, _) => write(&format!("rotate {count} groups")),
            Self::LookUp(id) => read("read").of(id),
            Self::Prove(id) => write("read").of(id),
            Self::Create(id, wanted) => write("create").sending(id, wanted),
            Self::Update { id, wanted, .. } => write("update").sending(id, wanted),
            Self::Rotate { id, .. } => write("rotate").of(id),
            // It only reads, but the token on the page and its hand-off hang on it.
            Self::Confirm(done) => write("confirm").of(&done.group.id),
            Self::History(_) => read("read history"),
            // Leaving waits for these by itself; they change nothing at the service.
            Self::Drafts | Self::KeepDraft(..) | Self::ForgetDraft(..) => read("save drafts"),
            Self::WriteToken(..) => local("save token"),
            Self::Settle => read("check open rotations"),
            Self::SettleChanges => read("check open changes"),
            Self::Abandon(..) => write("close a rotation"),
            Self::Whose(_) => read("find token"),
            Self::HandOff(done) => write("hand off").of(&done.group.id),
            Self::HandOffAgain(_, id) => write("hand off").of(id),
            Self::PlanBulk { .. } | Self::PlanEdit { .. } => read("check marked groups"),
            Self::Bulk { plan, .. } => match plan.ready.len() {
                1 => write("rotate 1 group"),
                count => write(&format!("rotate {count} groups")),
            },
            Self::BulkEdit(plan) => match plan.counts().0 {
                1 => write("edit 1 group"),
                count => write(&format!("edit {count} groups")),
            },
            Self::WriteReport(..) => local("save report"),
            Self::Export { .. } => local("export groups"),
            Self::Check(..) => read("test connection"),
            Self::AddProfile(..) => JobSpec {
                adds_profile: true,
                ..write("save profile")
            },
            Self::AnswerPlace(_) => write("compare API key"),
            Self::Acknowledge(..) => write("acknowledge alarm"),
        }
    }

    /// A run over many groups, which heeds [`RunCommand`] while it goes.
    pub fn can_be_steered(&self) -> bool {
        matches!(
            self,
            Self::Bulk { .. } | Self::Resume(..) | Self::BulkEdit(_)
        )
    }

    /// Writes are never cancelled or dropped; leaving waits for them.
    pub fn is_write(&self) -> bool {
        self.spec().is_write
    }
}
