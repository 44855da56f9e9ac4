//! What an entry of the palette does, apart from pressing a key: plain data, which `App` carries out.

use crate::{
    config::Background,
    domain::{annotation::Label, group::UserGroupId},
    operations::BatchId,
    search::{ListColumn, SortBy},
    tui::state::message::ProfileIndex,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Sort(SortBy),
    /// Saves filter, sort and columns under this name.
    Save(String),
    View(String),
    Columns(ColumnsChange),
    Unmark,
    Invert,
    /// Counts from one.
    Row(usize),
    Go(UserGroupId),
    Batch(BatchId),
    Profile(ProfileIndex),
    AddLabel(Label),
    RemoveLabel(Label),
    Theme(Background),
}

impl Command {
    /// Whether it acts on the list, and so leaves the page that is open.
    pub fn acts_on_list(&self) -> bool {
        match self {
            Self::Sort(_)
            | Self::Save(_)
            | Self::View(_)
            | Self::Columns(_)
            | Self::Unmark
            | Self::Invert
            | Self::Row(_)
            | Self::Batch(_) => true,
            Self::Go(_)
            | Self::Profile(_)
            | Self::AddLabel(_)
            | Self::RemoveLabel(_)
            | Self::Theme(_) => false,
        }
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

/// Names of subcommands of the command line that somebody may try to use here.
pub const ON_THE_COMMAND_LINE: &[&str] = &[
    "apply",
    "audit",
    "completions",
    "config",
    "copy",
    "demo",
    "diff",
    "directory",
    "doctor",
    "environment",
    "import",
    "man",
    "profile",
    "serve",
    "update",
];

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
