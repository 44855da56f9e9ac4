//! Commands typed after `:`: a word and its argument. Parses text into a command; executes nothing.

use std::{collections::BTreeSet, path::PathBuf};

use crate::{
    config::Background,
    domain::{annotation::Label, group::UserGroupId},
    operations::BatchId,
    search::{ListColumn, SortBy},
    tui::keymap::Action,
};

/// A parsed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Sort(SortBy, bool),
    Filter(String),
    Save(String),
    View(String),
    Columns(ColumnsChange),
    Mark(String),
    Unmark,
    Invert,
    Go(UserGroupId),
    Profile(String),
    Label {
        add: BTreeSet<Label>,
        remove: BTreeSet<Label>,
    },
    /// Empty: removes the note.
    Note(String),
    Export(PathBuf),
    Batch(BatchId),
    Theme(Background),
    /// Counts from one.
    Row(usize),
    Press(Action),
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

/// A command as the palette lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandInfo {
    pub name: &'static str,
    /// Description of its argument; empty if it takes none.
    pub takes: &'static str,
    pub help: &'static str,
    /// It acts on the list.
    pub acts_on_list: bool,
}

macro_rules! commands {
    ($($name:literal $takes:literal $acts_on_list:literal $help:literal;)*) => {
        pub const COMMANDS: &[CommandInfo] = &[$(CommandInfo {
            name: $name,
            takes: $takes,
            help: $help,
            acts_on_list: $acts_on_list,
        }),*];
    };
}

commands! {
    "sort" "COLUMN or -COLUMN" true "Sort the list: age, name, -prop.seats";
    "filter" "FILTER" true "Filter the list; without a filter: show all";
    "save" "NAME" true "Save this filter, sort and columns as a view";
    "view" "NAME" true "Apply a saved view";
    "columns" "id,name,prop.KEY or +COLUMN -COLUMN" true "Choose the columns; without one: the usual ones";
    "mark" "FILTER" true "Mark the groups that a filter finds";
    "unmark" "" true "Unmark all groups";
    "invert" "" true "Mark what is shown and not marked, unmark the others";
    "label" "+NAME -NAME" false "Add or remove labels of the marked groups, else of this one";
    "note" "TEXT" false "Write the note of this group; without a text: remove the note";
    "go" "ID" false "Open a group";
    "profile" "NAME" false "Switch the profile";
    "export" "FILE +note +labels" true "Export the marked groups, else the shown ones";
    "batch" "NUMBER" true "Open a batch";
    "batches" "" true "Open the batches";
    "attention" "" true "Open what needs attention";
    "theme" "light, dark or terminal" false "Choose the colours until you quit";
    "q" "" false "Back; at the top: quit";
}

/// Finds the command with exactly this name.
pub fn named(name: &str) -> Option<&'static CommandInfo> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// Splits a line into a command and its argument; `None` if the first word is not a command.
pub fn split(line: &str) -> Option<(&'static CommandInfo, &str)> {
    let line = line.trim_start();
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some((named(name)?, rest.trim()))
}

/// Parses a line; `None` if it is not a command, an error if something is missing.
pub fn parse(line: &str) -> Option<Result<Command, String>> {
    if let Ok(row) = line.trim().parse() {
        return Some(Ok(Command::Row(row)));
    }
    let (command, rest) = split(line)?;
    let lacking = || format!(":{} needs {}", command.name, command.takes);
    if rest.is_empty() && !command.takes.is_empty() {
        let empty = match command.name {
            "filter" => Command::Filter(String::new()),
            "columns" => Command::Columns(ColumnsChange::Set(Vec::new())),
            "note" => Command::Note(String::new()),
            _ => return Some(Err(lacking())),
        };
        return Some(Ok(empty));
    }
    if !rest.is_empty() && command.takes.is_empty() {
        return Some(Err(format!(":{} takes nothing", command.name)));
    }
    let text = rest.to_owned();
    Some(match command.name {
        "sort" => sort(rest),
        "filter" => Ok(Command::Filter(text)),
        "save" => Ok(Command::Save(text)),
        "view" => Ok(Command::View(text.trim_start_matches('@').to_lowercase())),
        "columns" => columns(rest).map(Command::Columns),
        "mark" => Ok(Command::Mark(text)),
        "unmark" => Ok(Command::Unmark),
        "invert" => Ok(Command::Invert),
        "label" => labels(rest),
        "note" => Ok(Command::Note(text)),
        "go" => UserGroupId::parse(text)
            .map(Command::Go)
            .map_err(|error| error.to_string()),
        "profile" => Ok(Command::Profile(text)),
        "export" => Ok(Command::Export(text.into())),
        "batch" => rest
            .trim_start_matches('#')
            .parse()
            .map(|number| Command::Batch(BatchId(number)))
            .map_err(|_| lacking()),
        "batches" => Ok(Command::Press(Action::Batches)),
        "attention" => Ok(Command::Press(Action::Attention)),
        "theme" => theme(rest).map(Command::Theme).ok_or_else(lacking),
        "q" => Ok(Command::Press(Action::Quit)),
        _ => return None,
    })
}

/// The backgrounds that can be chosen.
pub const THEMES: [&str; 3] = ["light", "dark", "terminal"];

fn theme(name: &str) -> Option<Background> {
    match name {
        "light" => Some(Background::Light),
        "dark" => Some(Background::Dark),
        "terminal" => Some(Background::Terminal),
        _ => None,
    }
}

fn sort(text: &str) -> Result<Command, String> {
    let reverse = text.starts_with('-');
    let column = text.trim_start_matches(['-', '+']);
    SortBy::parse(column)
        .map(|sort| Command::Sort(sort, reverse))
        .ok_or_else(|| format!("No column {column:?} to sort by: {}", sortable()))
}

fn sortable() -> String {
    let names = ["name", "id", "age", "token", "map", "props", "read", "tag"];
    format!("{} or prop.KEY", names.join(", "))
}

fn no_column(text: &str) -> String {
    let names = ListColumn::ALL.map(|column| column.to_string());
    format!("No column {text:?}: {} or prop.KEY", names.join(", "))
}

fn columns(text: &str) -> Result<ColumnsChange, String> {
    if !text.starts_with(['+', '-']) {
        let all = ListColumn::parse_all(text);
        return all.map(ColumnsChange::Set).ok_or_else(|| no_column(text));
    }
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for word in text.split_whitespace() {
        let column = ListColumn::parse(word.trim_start_matches(['+', '-']));
        let column = column.ok_or_else(|| no_column(word))?;
        if word.starts_with('-') {
            remove.push(column);
        } else {
            add.push(column);
        }
    }
    Ok(ColumnsChange::Change { add, remove })
}

fn labels(text: &str) -> Result<Command, String> {
    let (mut add, mut remove) = (BTreeSet::new(), BTreeSet::new());
    for word in text.split_whitespace() {
        let bare = word.trim_start_matches(['+', '-']);
        let label = Label::parse(bare).map_err(|error| error.to_string())?;
        if word.starts_with('-') {
            remove.insert(label);
        } else {
            add.insert(label);
        }
    }
    Ok(Command::Label { add, remove })
}

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
    "completions",
    "demo",
    "directory",
    "doctor",
    "environment",
    "import",
    "man",
    "serve",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn is(line: &str) -> Command {
        parse(line).expect("a command").expect("complete")
    }

    #[test]
    fn a_line_is_a_command_and_what_it_acts_on() {
        let property = |key: &str| ListColumn::Property(key.into());
        assert_eq!(is("sort age"), Command::Sort(SortBy::Rotated, false));
        assert_eq!(
            is("sort -prop.seats"),
            Command::Sort(SortBy::Property("seats".into()), true)
        );
        assert_eq!(
            is(" filter  old -label:vip "),
            Command::Filter("old -label:vip".into())
        );
        assert_eq!(is("filter"), Command::Filter(String::new()));
        assert_eq!(is("view @Night"), Command::View("night".into()));
        assert_eq!(is("42"), Command::Row(42));
        assert_eq!(is("batch 12"), Command::Batch(BatchId(12)));
        assert_eq!(is("batches"), Command::Press(Action::Batches));
        for name in THEMES {
            assert!(theme(name).is_some(), "{name}");
        }
        assert_eq!(is("q"), Command::Press(Action::Quit));
        assert_eq!(is("note"), Command::Note(String::new()));
        let labels = |text| Label::parse_all(text).expect("labels");
        let (add, remove) = (labels("vip sso"), labels("trial"));
        assert_eq!(is("label +vip sso -trial"), Command::Label { add, remove });
        let set = ColumnsChange::Set(vec![ListColumn::Name, property("tier")]);
        assert_eq!(is("columns name,prop.tier"), Command::Columns(set));
        for (line, lacks) in [
            ("sort", ":sort needs COLUMN"),
            ("sort size", "No column \"size\""),
            ("columns +size", "No column \"+size\""),
            ("label +a,b", "Label \"a,b\""),
            ("go", ":go needs ID"),
            ("batch x", ":batch needs NUMBER"),
            ("theme red", ":theme needs light, dark or terminal"),
            ("unmark all", ":unmark takes nothing"),
        ] {
            let lacking = parse(line).expect("a command").expect_err(line);
            assert!(lacking.starts_with(lacks), "{lacking}");
        }
        for line in ["", "sor", "import x", "sorts age"] {
            assert_eq!(parse(line), None, "{line}");
        }
        for command in COMMANDS {
            let line = format!(
                "{} {}",
                command.name,
                if command.takes.is_empty() { "" } else { "x" }
            );
            assert!(parse(&line).is_some(), "{line}");
        }
    }

    #[test]
    fn id_and_name_are_never_both_left_out() {
        let change = |line| match is(line) {
            Command::Columns(change) => change,
            other => panic!("{other:?}"),
        };
        let all = change("columns -id -name").of(&[]);
        assert_eq!(all[..2], [ListColumn::Id, ListColumn::Age]);
        let two = change("columns age,tag").of(&[]);
        assert_eq!(two, [ListColumn::Id, ListColumn::Age, ListColumn::Tag]);
        let name = change("columns -id").of(&two[..1]);
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
