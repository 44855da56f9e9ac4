//! What travels between the screen and the work: messages in, effects out, jobs with a ticket, outcomes. Plain data.

mod outcome;

use std::{path::PathBuf, sync::Arc};

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

pub use outcome::{Outcome, Trouble};

use crate::{
    config::new_profile::NewProfile,
    domain::{
        batch::Plan,
        change::DesiredFields,
        draft::Draft,
        facts::Field,
        group::UserGroupId,
        token::{Fingerprint, Token},
    },
    formats::Format,
    operations::{
        Answer, ClaimHolder, Done, Recorded, RotationId,
        batch::{BatchEvent, RunCommand},
    },
    search::{Index, ListView, SearchRequest, SearchResults},
    tui::{ExitReason, runtime::external_editor::EditRequest},
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
    News(Ticket, Vec<BatchEvent>),
    /// The job waits for a group that somebody else is changing.
    Waiting(Box<ClaimHolder>),
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
    Steer(Ticket, RunCommand),
    /// To the clipboard of the person's terminal (OSC 52).
    Copy(Token),
    /// Gives the terminal to the person's editor.
    OpenEditor(Ticket, EditRequest),
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
        /// The person saw what travels along as last known.
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
    /// It holds no token.
    WriteReport(String, PathBuf),
    /// What the directory knows of these groups, into a new file.
    Export {
        index: Index,
        ids: Vec<UserGroupId>,
        format: Format,
        path: PathBuf,
    },
    /// Tests what would be a profile; creates and writes nothing. The key is one for the keyring.
    Check(Box<NewProfile>, Option<Token>),
    AddProfile(Box<NewProfile>, Option<Token>),
    /// Which place the profile means, said by a person.
    AnswerPlace(Answer),
    /// Looks for a group that could prove a key on trial; nothing is sent.
    Proof,
    /// Reads this group, to prove the key.
    Prove(UserGroupId),
    /// The alarms of a place, and what was found.
    Acknowledge(String, String),
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
            | Self::WriteReport(..)
            | Self::Export { .. }
            | Self::AnswerPlace(_)
            | Self::Prove(_)
            | Self::Acknowledge(..) => true,
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
            | Self::Proof
            | Self::PlanBulk { .. } => false,
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
    pub fn sends(&self) -> Option<(UserGroupId, DesiredFields)> {
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
            | Self::PlanBulk { .. }
            | Self::Bulk { .. }
            | Self::Check(..)
            | Self::AddProfile(..)
            | Self::WriteReport(..)
            | Self::AnswerPlace(_)
            | Self::Proof
            | Self::Prove(_)
            | Self::Acknowledge(..)
            | Self::Export { .. } => None,
        }
    }

    /// What is under way, for line 1.
    pub fn label(&self) -> String {
        match self {
            Self::List | Self::SameId(_) | Self::Proof => "reading the directory".into(),
            Self::Search { .. } | Self::Near(..) => "searching".into(),
            Self::KeepView(_) => "keeping filter and sort".into(),
            Self::OpenRotations | Self::Rotations | Self::PendingHandOffs | Self::Batches => {
                "reading the journal".into()
            }
            Self::LookUp(id) | Self::Prove(id) => format!("getting {id}"),
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
            Self::PlanBulk { .. } => "checking the marked groups".into(),
            Self::Bulk { plan, .. } => match plan.ready.len() {
                1 => "rotating 1 group".into(),
                count => format!("rotating {count} groups"),
            },
            Self::WriteReport(..) => "writing the report".into(),
            Self::Export { .. } => "writing the export".into(),
            Self::Check(..) => "testing the connection".into(),
            Self::AddProfile(..) => "writing the profile".into(),
            Self::AnswerPlace(_) => "comparing the API key".into(),
            Self::Acknowledge(..) => "acknowledging".into(),
        }
    }
}
