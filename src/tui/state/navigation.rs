//! Requests to open a pane, as plain data: `panes` constructs the pane.

use super::message::Ticket;
use crate::{
    domain::{change::DesiredFields, group::UserGroupId, known::KnownGroup},
    operations::{BatchId, Done, RotationRow},
    search::ListColumn,
    tui::state::{confirm::Confirm, forms::group::GroupForm},
};

/// A pane, and its initial data.
#[derive(Debug)]
pub enum PaneRequest {
    Group(UserGroupId),
    Compare(UserGroupId),
    History(UserGroupId),
    Edit(Box<GroupForm>),
    Review(Box<Proposal>),
    Question(Box<Asked>),
    Result(Box<Done>, DesiredFields),
    Token(Box<KnownGroup>),
    CopyMenu(Box<KnownGroup>),
    /// These groups, and a description of them.
    Export(Vec<UserGroupId>, &'static str),
    /// The note and the labels of a group.
    Note(UserGroupId),
    /// Saved views. The columns of the list, and those that it leaves out because they would be empty.
    Views(Vec<ListColumn>, Vec<ListColumn>),
    /// The check of a bulk rotation of these groups.
    CheckBulk(Vec<UserGroupId>),
    /// The running bulk rotation, or the last one.
    WatchBulk(Ticket),
    /// A batch of the journal, and what to do with it.
    Batch(BatchId, BatchAim),
    /// One change over many groups.
    BulkEdit(EditSource),
    Connect,
    /// Asks for the reason to close this rotation without a result.
    Abandon(Box<RotationRow>),
}

/// The purpose of opening a batch of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchAim {
    Look,
    Resume,
    Retry,
    Report,
}

/// The groups of a bulk edit.
#[derive(Debug)]
pub enum EditSource {
    /// These groups, and the filter that showed them.
    Groups(Vec<UserGroupId>, String),
    /// Revert what this batch of edits set.
    Reverse(BatchId),
    /// Repeat what this batch of edits did not apply.
    Again(BatchId),
}

/// What a form submits for review.
#[derive(Debug)]
pub struct Proposal {
    pub id: UserGroupId,
    pub creating: bool,
    /// The values that the edit began with.
    pub base: DesiredFields,
    /// The values in the form.
    pub wanted: DesiredFields,
    /// It reverts an update and nothing was typed, so that a key confirms it; in production, typed words do.
    pub restores: bool,
    /// The other person whose draft was loaded into the form.
    pub loaded_from: Option<String>,
}

/// A question in a box above the pane that asks it.
#[derive(Debug)]
pub struct Asked {
    pub title: &'static str,
    /// What will be lost or sent.
    pub text: String,
    pub confirm: Confirm,
    pub then: Then,
}

/// What a confirmed question leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The pane below continues.
    Below,
    Quit,
}
