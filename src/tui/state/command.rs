//! What an entry of the palette does, apart from pressing a key: plain data, which `App` carries out.
//!
//! Requests to open a pane, as plain data: `panes` constructs the pane.

use super::Ticket;

use crate::{
    config::Background,
    domain::{DesiredFields, KnownGroup, Label, UserGroupId},
    operations::{BatchId, Done, RotationRow},
    search::{ListColumn, ListView, SavedView, SortBy},
    tui::{
        keymap::Action,
        state::{Confirm, GroupForm, ProfileIndex},
    },
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Acts on the list, and so leaves the page that is open.
    List(ListCommand),
    /// Saves filter, sort and columns under this name, in place of this view.
    Save(String, Option<Box<SavedView>>),
    Go(UserGroupId),
    Batch(BatchId),
    Profile(ProfileIndex),
    AddLabel(Label),
    RemoveLabel(Label),
    Theme(Background),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListCommand {
    Sort(SortBy),
    View(String),
    Columns(ColumnsChange),
    Unmark,
    Invert,
    /// Counts from one.
    Row(usize),
}

impl Command {
    /// The key that does the same, or nearly the same: where that key is refused, this is also refused.
    pub fn key(&self) -> Option<Action> {
        match self {
            Self::List(ListCommand::Invert) => Some(Action::MarkAll),
            Self::AddLabel(_) | Self::RemoveLabel(_) | Self::Save(..) => Some(Action::Favourite),
            Self::List(_) | Self::Go(_) | Self::Batch(_) | Self::Profile(_) | Self::Theme(_) => {
                None
            }
        }
    }
}

impl From<ListCommand> for Command {
    fn from(command: ListCommand) -> Self {
        Self::List(command)
    }
}

/// How to change the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnsChange {
    /// Show exactly these; empty: the default columns.
    Set(Vec<ListColumn>),
    Change {
        add: Vec<ListColumn>,
        remove: Vec<ListColumn>,
    },
}

/// The colours that can be chosen until the console ends.
pub const THEMES: [(&str, Background); 3] = [
    ("light", Background::Light),
    ("dark", Background::Dark),
    ("terminal", Background::Terminal),
];

impl ColumnsChange {
    /// Returns the columns after the change; empty: the default columns.
    pub fn of(self, now: &[ListColumn]) -> Vec<ListColumn> {
        let (add, remove) = match self {
            Self::Set(columns) if columns.is_empty() => return columns,
            Self::Set(columns) => return with_names(columns),
            Self::Change { add, remove } => (add, remove),
        };
        let mut columns = if now.is_empty() {
            ListColumn::ALL.to_vec()
        } else {
            now.to_vec()
        };
        columns.retain(|column| !remove.contains(column));
        for column in add {
            if !columns.contains(&column) {
                let at = insert_position(&column, &columns);
                columns.insert(at, column);
            }
        }
        columns = with_names(columns);
        if columns == ListColumn::ALL {
            columns.clear();
        }
        columns
    }
}

/// Adds the id if neither it nor the name is left: without them nobody could tell which group a row is.
fn with_names(mut columns: Vec<ListColumn>) -> Vec<ListColumn> {
    let names = |column: &ListColumn| matches!(column, ListColumn::Id | ListColumn::Name);
    if !columns.iter().any(names) {
        columns.insert(0, ListColumn::Id);
    }
    columns
}

/// Properties come right after the name, behind those already there; other columns at the end.
fn insert_position(column: &ListColumn, columns: &[ListColumn]) -> usize {
    let is_property = |column: &ListColumn| matches!(column, ListColumn::Property(_));
    let name = columns.iter().position(|one| *one == ListColumn::Name);
    match name {
        Some(name) if is_property(column) => {
            let there = columns[name + 1..]
                .iter()
                .take_while(|one| is_property(one));
            name + 1 + there.count()
        }
        _ => columns.len(),
    }
}

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
    /// Saved views. The list, and the columns that it leaves out because they would be empty.
    Views(Box<ListView>, Vec<ListColumn>),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_and_name_are_never_both_left_out() {
        let without = |remove: &[ListColumn]| ColumnsChange::Change {
            add: vec![],
            remove: remove.to_vec(),
        };
        let all = without(&[ListColumn::Id, ListColumn::Name]).of(&[]);
        assert_eq!(all[..2], [ListColumn::Id, ListColumn::Age]);
        let two = ColumnsChange::Set(vec![ListColumn::Age, ListColumn::Tag]).of(&[]);
        assert_eq!(two, [ListColumn::Id, ListColumn::Age, ListColumn::Tag]);
        let name = without(&[ListColumn::Id]).of(&two[..1]);
        assert_eq!(name, [ListColumn::Id], "something has to stay");
    }

    #[test]
    fn a_property_comes_right_after_the_name() {
        let property = |key: &str| ListColumn::Property(key.into());
        let add = |key: &str| ColumnsChange::Change {
            add: vec![property(key)],
            remove: vec![],
        };
        let columns = add("seats").of(&add("tier").of(&[]));
        assert_eq!(
            columns[..4],
            [
                ListColumn::Name,
                property("tier"),
                property("seats"),
                ListColumn::Id,
            ]
        );
        let none = ColumnsChange::Change {
            add: vec![],
            remove: vec![property("tier"), property("seats")],
        };
        assert_eq!(none.of(&columns), [], "the usual ones again");
    }
}
