//! What travels between the screen and the work: messages in, effects out, jobs with a ticket, outcomes. Plain data.

use std::{path::PathBuf, sync::Arc};

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

use super::{Farewell, editor::Outside, groups::Listing, messages::Severity};
use crate::{
    config::{
        new_profile::{Field, NewProfile},
        profile::Profile,
    },
    domain::{
        batch::Plan,
        change::Wanted,
        draft::Draft,
        group::UserGroupId,
        history::{Ending, Entry},
        known::KnownGroup,
        search::{Found, Index, ListView, Look},
        token::{Fingerprint, Token},
    },
    operations::{
        Batch, Checkup, Done, DraftSaved, Failure, HandedOff, JournalRow, KeptDraft, Numbered,
        Owner, Recorded, Recovered, RotationId, Warning,
        bulk::{Progress, Report, Wish},
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
    Done(Ticket, Outcome),
    /// What happened in a bulk rotation since the last news, in order; it goes on.
    News(Ticket, Vec<Progress>),
    /// The outside editor has ended: the text as it is now, or why nothing is taken over.
    Edited(Ticket, Result<String, String>),
    /// What was sent and what came, since the last time; without secrets.
    Exchanged(Vec<Recorded>),
    /// The job panicked; what it did is unclear.
    Lost(Ticket),
    /// Only while something on the screen depends on time.
    Tick,
    /// SIGTERM or SIGHUP.
    Leave,
}

/// Something to be done by the runner.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Start(Ticket, ProfileIndex, Box<Job>),
    /// Drops a read; a write is never cancelled.
    Cancel(Ticket),
    /// What a bulk rotation under way is to do with what it has not begun.
    Steer(Ticket, Wish),
    /// To the clipboard of the person's terminal (OSC 52).
    Copy(Token),
    /// Gives the terminal to the person's editor.
    OpenEditor(Ticket, Outside),
    Suspend,
    Redraw,
    Quit(Farewell),
}

/// Work for `operations`.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    List,
    /// What the list is to show; nothing is read.
    Search {
        index: Index,
        look: Look,
        /// An answer that may spare work.
        before: Option<Arc<Found>>,
    },
    /// The known ids nearest to a typed one.
    Near(Index, String),
    /// Keeps how the list was left.
    KeepView(ListView),
    OpenRotations,
    LookUp(UserGroupId),
    /// What the directory knows of this id in every profile; nothing is sent.
    SameId(UserGroupId),
    Create(UserGroupId, Wanted),
    Update {
        id: UserGroupId,
        base: Wanted,
        wanted: Wanted,
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
    Abandon(RotationId, String),
    Whose(Token),
    /// Tokens of this profile that wait to be handed off.
    PendingHandOffs,
    /// Right after a rotation.
    HandOff(Box<Done>),
    /// The token is read again first.
    HandOffAgain(RotationId, UserGroupId),
    /// All batches of the profile.
    Batches,
    /// Which of these can be rotated now; nothing is sent.
    PlanBulk(Vec<UserGroupId>),
    /// Rotates every group that is ready; what was typed was checked.
    Bulk {
        plan: Plan,
        reason: Option<String>,
    },
    /// It holds no token.
    WriteReport(String, PathBuf),
    /// Tests what would be a profile; creates and writes nothing. The key is one for the keyring.
    Check(Box<NewProfile>, Option<Token>),
    AddProfile(Box<NewProfile>, Option<Token>),
}

impl Job {
    /// Writes are never cancelled or dropped; leaving waits for them.
    pub fn is_write(&self) -> bool {
        match self {
            Self::KeepView(_)
            | Self::Create(..)
            | Self::Update { .. }
            | Self::Rotate { .. }
            | Self::WriteToken(..)
            | Self::Abandon(..)
            | Self::HandOff(_)
            | Self::HandOffAgain(..)
            | Self::Bulk { .. }
            | Self::AddProfile(..)
            | Self::WriteReport(..) => true,
            Self::List
            | Self::Search { .. }
            | Self::Near(..)
            | Self::OpenRotations
            | Self::LookUp(_)
            | Self::SameId(_)
            | Self::Confirm(_)
            | Self::History(_)
            // Leaving waits for these by themselves; they change nothing at the service.
            | Self::Drafts
            | Self::KeepDraft(..)
            | Self::ForgetDraft(..)
            | Self::Rotations
            | Self::Settle
            | Self::Whose(_)
            | Self::PendingHandOffs
            | Self::Batches
            | Self::Check(..)
            | Self::PlanBulk(_) => false,
        }
    }

    /// Not named in line 1: it sends nothing, and comes with a key.
    pub fn is_quiet(&self) -> bool {
        matches!(
            self,
            Self::Search { .. }
                | Self::Near(..)
                | Self::KeepView(_)
                | Self::Drafts
                | Self::KeepDraft(..)
                | Self::ForgetDraft(..)
        )
    }

    /// The group of a create or an update, and what is wanted of it.
    pub fn sends(&self) -> Option<(UserGroupId, Wanted)> {
        match self {
            Self::Create(id, wanted) | Self::Update { id, wanted, .. } => {
                Some((id.clone(), wanted.clone()))
            }
            Self::List
            | Self::Search { .. }
            | Self::Near(..)
            | Self::KeepView(_)
            | Self::OpenRotations
            | Self::LookUp(_)
            | Self::SameId(_)
            | Self::Rotate { .. }
            | Self::Confirm(_)
            | Self::History(_)
            | Self::Drafts
            | Self::KeepDraft(..)
            | Self::ForgetDraft(..)
            | Self::WriteToken(..)
            | Self::Rotations
            | Self::Settle
            | Self::Abandon(..)
            | Self::Whose(_)
            | Self::PendingHandOffs
            | Self::HandOff(_)
            | Self::HandOffAgain(..)
            | Self::Batches
            | Self::PlanBulk(_)
            | Self::Bulk { .. }
            | Self::Check(..)
            | Self::AddProfile(..)
            | Self::WriteReport(..) => None,
        }
    }

    /// What is under way, for line 1.
    pub fn label(&self) -> String {
        match self {
            Self::List | Self::SameId(_) => "reading the directory".into(),
            Self::Search { .. } | Self::Near(..) => "searching".into(),
            Self::KeepView(_) => "keeping filter and sort".into(),
            Self::OpenRotations | Self::Rotations | Self::PendingHandOffs | Self::Batches => {
                "reading the journal".into()
            }
            Self::LookUp(id) => format!("getting {id}"),
            Self::Create(id, _) => format!("creating {id}"),
            Self::Update { id, .. } => format!("updating {id}"),
            Self::Rotate { id, .. } => format!("rotating {id}"),
            Self::Confirm(done) => format!("reading back {}", done.group.id),
            Self::History(_) => "reading the history".into(),
            Self::Drafts | Self::KeepDraft(..) | Self::ForgetDraft(..) => "keeping drafts".into(),
            Self::WriteToken(..) => "writing the token".into(),
            Self::Settle => "settling open rotations".into(),
            Self::Abandon(..) => "abandoning a rotation".into(),
            Self::Whose(_) => "looking up a token".into(),
            Self::HandOff(done) => format!("handing off {}", done.group.id),
            Self::HandOffAgain(_, id) => format!("handing off {id}"),
            Self::PlanBulk(_) => "checking the marked groups".into(),
            Self::Bulk { plan, .. } => format!("rotating {} groups", plan.ready.len()),
            Self::WriteReport(..) => "writing the report".into(),
            Self::Check(..) => "testing the connection".into(),
            Self::AddProfile(..) => "writing the profile".into(),
        }
    }
}

/// What became of a job. What each means to the whole console is decided in `app/arrivals.rs`, where every one is listed;
/// a pane names only those that its own tickets can bring.
#[derive(Debug, Clone)]
pub enum Outcome {
    Listed(Box<Listing>),
    Found(Arc<Found>),
    /// The nearest first.
    Near(Vec<UserGroupId>),
    ViewKept,
    /// In which profiles an id is known, and as what.
    SameId(Vec<(ProfileIndex, KnownGroup)>),
    OpenRotations(Vec<JournalRow>),
    /// Look-up, create, update, rotate and confirm.
    Done(Box<Done>),
    History(Vec<Numbered<Entry>>),
    Drafts(Vec<KeptDraft>),
    /// With when the draft was changed that was to be kept.
    DraftKept(Timestamp, DraftSaved),
    DraftForgotten,
    TokenWritten(PathBuf),
    Rotations(Vec<JournalRow>),
    Recovered(Vec<Recovered>),
    Abandoned(Box<JournalRow>),
    Whose(Vec<Owner>),
    PendingHandOffs(Vec<JournalRow>),
    /// `None` where nothing was to be handed off.
    HandedOff(Option<Box<HandedOff>>),
    /// The hand-off was not run.
    NotHandedOff(Trouble),
    Batches(Vec<Batch>),
    Planned(Plan),
    BulkEnded(Report),
    ReportWritten(PathBuf),
    Checked(Box<Checkup>),
    ProfileAdded(ProfileIndex, Box<Profile>),
    /// Neither tested nor written; each problem with the field it is about.
    NotAdded(Vec<(Option<Field>, String)>),
    Failed(Trouble),
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
            | Self::Batches(_)
            | Self::Planned(_)
            | Self::BulkEnded(_)
            | Self::ReportWritten(_)
            | Self::Checked(_)
            | Self::ProfileAdded(..)
            | Self::NotAdded(_) => false,
        }
    }
}

/// A failure as the screen shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What happened, whether anything was sent, what to do.
    pub text: String,
    pub ending: Option<Ending>,
    /// Another environment answered than the profile says (hazard 11).
    pub wrong_environment: bool,
}

impl Trouble {
    /// Nothing was sent, or nothing came of it; the text says what.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ending: None,
            wrong_environment: false,
        }
    }

    /// Whether it took effect is not known.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self {
            ending: Some(Ending::Unknown),
            ..Self::of(text)
        }
    }

    pub fn severity(&self) -> Severity {
        match self.ending {
            Some(Ending::Unknown) => Severity::Unknown,
            _ => Severity::Error,
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self {
            text: failure.to_string(),
            ending: failure.ending(),
            wrong_environment: failure.is_wrong_environment(),
        }
    }
}
