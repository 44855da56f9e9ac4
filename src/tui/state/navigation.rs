//! What a pane asks to be opened, as plain data: `panes` makes the pane of it.

use super::message::Ticket;
use crate::{
    domain::{change::DesiredFields, group::UserGroupId, known::KnownGroup},
    operations::{BatchId, Done},
    search::ListColumn,
    tui::forms::group::Edit,
};

/// A pane, and what it begins with.
#[derive(Debug)]
pub enum PaneRequest {
    Group(UserGroupId),
    Compare(UserGroupId),
    History(UserGroupId),
    Edit(Box<Edit>),
    Review(Box<Proposal>),
    Typed(ConfirmationWords),
    Result(Box<Done>, DesiredFields),
    Token(Box<KnownGroup>),
    CopyMenu(Box<KnownGroup>),
    /// These groups, and what they are.
    Export(Vec<UserGroupId>, &'static str),
    /// The note and the labels of a group.
    Note(UserGroupId),
    /// Saved views, and these columns of the list.
    Views(Vec<ListColumn>),
    /// The check of a bulk rotation of these groups.
    CheckBulk(Vec<UserGroupId>),
    /// A bulk rotation under way, or the last one.
    WatchBulk(Ticket),
    /// A batch of the journal, and what is to be done with it.
    Batch(BatchId, BatchAim),
    /// One change over many groups.
    BulkEdit(EditSource),
    Connect,
}

/// What a batch of the journal is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchAim {
    Look,
    Resume,
    Retry,
    Report,
}

/// What a bulk edit is about.
#[derive(Debug)]
pub enum EditSource {
    /// These groups, and the filter that showed them.
    Groups(Vec<UserGroupId>, String),
    /// Takes back what this batch of edits set.
    Reverse(BatchId),
    /// What this batch of edits did not apply.
    Again(BatchId),
}

/// What a form asks to be reviewed.
#[derive(Debug)]
pub struct Proposal {
    pub id: UserGroupId,
    pub creating: bool,
    /// What the edit began with.
    pub base: DesiredFields,
    /// What the form holds.
    pub wanted: DesiredFields,
    /// It takes an update back, and nobody has typed it: a key confirms it, in production words.
    pub restores: bool,
}

/// Words that must be typed before the asking pane sends something.
#[derive(Debug)]
pub struct ConfirmationWords {
    /// What must be typed exactly.
    pub words: String,
    /// What it confirms, in a line.
    pub what: String,
    /// Why a guard asks.
    pub reason: Option<String>,
}
