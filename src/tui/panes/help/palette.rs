//! The palette beyond the actions: profiles, saved views, columns to sort by, labels, colours, and groups by name.

use super::{Help, Line, LineAction, Section};
use crate::tui::panes::{Pane, is_page, prelude::*};
use crate::{
    operations::BatchId,
    search::{GroupExtras, ListColumn, Query, SearchRequest, SortBy, run_search},
    tui::{
        keymap,
        state::{
            Command,
            command::{ListCommand, THEMES},
        },
    },
};

/// Maximum number of groups that are offered.
const MAX_GROUPS: usize = 6;
/// Minimum number of letters to search for groups.
const MIN_LETTERS: usize = 2;

/// An entry: a word for its kind, its name, and what it does.
fn entry(section: Section, kind: &str, name: &str, help: String, command: Command) -> Line {
    Line {
        action: LineAction::Run(command),
        keys: kind.into(),
        help,
        setting: String::new(),
        name: name.into(),
        synonyms: keymap::of_entry(kind).into(),
        disabled_reason: None,
        section,
    }
}

/// The other profiles and the saved views, by name; then what changes the list, labels and colours.
pub(super) fn entries(pane: &Pane, context: &Context) -> Vec<Line> {
    let view = pane.view();
    let focus = view.focus();
    let profiles = context.profiles.iter().enumerate();
    let others = profiles.filter(|(at, _)| *at != context.current.0);
    let profiles = others.map(|(at, profile)| {
        let (name, word) = (&profile.name, profile.environment_word());
        let help = format!("switch to {} ({word})", visible(name));
        let command = Command::Profile(ProfileIndex(at));
        let line = entry(Section::Entry, "profile", name, help, command);
        Line {
            synonyms: format!("{} {}", word.to_lowercase(), line.synonyms),
            ..line
        }
    });
    let saved = context.annotations.saved_views.iter();
    let views = saved.map(|view| {
        let help = format!("apply view @{}", visible(&view.name));
        let command = ListCommand::View(view.name.clone());
        entry(Section::Entry, "view", &view.name, help, command.into())
    });
    let marked = view.marked();
    let all = marked.as_deref().unwrap_or("all groups");
    let invert = "Mark what is shown and not marked, unmark the others";
    let marks = [
        ("unmark", format!("Unmark {all}"), ListCommand::Unmark),
        ("invert", invert.into(), ListCommand::Invert),
    ];
    let marks = marks
        .map(|(name, help, command)| entry(Section::Typed, "mark", name, help, command.into()));
    let columns = ListColumn::ALL.into_iter();
    let properties = context.property_keys().into_iter();
    let columns = columns.chain(properties.map(ListColumn::Property));
    let orders = columns.filter_map(|column| {
        let name = column.word();
        let command = ListCommand::Sort(SortBy::parse(&name)?);
        let help = format!("sort by {}", visible(&name));
        Some(entry(Section::Choice, "sort", &name, help, command.into()))
    });
    let labels = context.annotations.known_labels().into_iter();
    let of = marked
        .as_deref()
        .unwrap_or("the marked groups, else this one");
    let labels = labels.flat_map(|label| {
        let text = label.as_str().to_owned();
        [
            (Command::AddLabel(label.clone()), "add"),
            (Command::RemoveLabel(label), "remove"),
        ]
        .map(|(command, verb)| {
            let help = format!("{verb} label #{text}: {of}");
            entry(Section::Choice, "label", &text, help, command)
        })
    });
    let colours = THEMES.map(|(name, ground)| {
        let help = format!("{name} colours until you quit");
        let command = Command::Theme(ground);
        entry(Section::Choice, "theme", name, help, command)
    });
    let all = profiles.chain(views).chain(marks).chain(orders);
    let all = all.chain(labels).chain(colours);
    all.map(|line| match &line.action {
        LineAction::Run(command) if !is_possible(command, focus) => Line {
            disabled_reason: Some("in the list; Esc leaves this page first".into()),
            section: Section::Elsewhere,
            ..line
        },
        LineAction::Run(command) => Line {
            disabled_reason: why_no_command(command, pane, context),
            ..line
        },
        _ => line,
    })
    .collect()
}

/// Why a command that a key stands for is not possible.
pub fn why_no_command(command: &Command, pane: &Pane, context: &Context) -> Option<String> {
    let view = pane.view();
    match command {
        Command::AddLabel(_) | Command::RemoveLabel(_)
            if !pane.is_box() && view.focus() != Focus::List && view.about().is_empty() =>
        {
            Some("labels need a group; open a group or the list".into())
        }
        // Needs no row under the cursor: the name of a view, or a label for what is marked, even if a filter hides it.
        Command::Save(..) => context.view_only_reason().map(str::to_owned),
        Command::AddLabel(_) | Command::RemoveLabel(_) if view.marked().is_some() => {
            context.view_only_reason().map(str::to_owned)
        }
        command => view.why_not(command.key()?, context),
    }
}

/// Whether the entry can be carried out from here. What is marked has to be on the screen.
fn is_possible(command: &Command, focus: Focus) -> bool {
    match command {
        Command::List(ListCommand::Invert | ListCommand::Unmark) => focus == Focus::List,
        Command::List(_) | Command::Batch(_) => is_plain(focus),
        _ => true,
    }
}

/// Whether leaving the page for the list loses nothing.
fn is_plain(focus: Focus) -> bool {
    let mut opened = Focus::OPENED.iter();
    let is_page = |(action, place): &(Action, Focus)| *place == focus && is_page(*action);
    matches!(focus, Focus::List | Focus::Group | Focus::Messages) || opened.any(is_page)
}

/// What the console does not do, with the reason.
pub(super) fn not_here() -> impl Iterator<Item = Line> {
    let lines = keymap::NOT_HERE.into_iter();
    lines.map(|(what, words, why)| Line {
        action: LineAction::NotHere,
        keys: String::new(),
        help: what.into(),
        setting: String::new(),
        name: String::new(),
        synonyms: words.into(),
        disabled_reason: Some(why.into()),
        section: Section::NotHere,
    })
}

/// What a number can mean.
fn numbered(typed: &str, context: &Context) -> Vec<Line> {
    let typed = typed.trim();
    // Rows and batches are counted from one.
    let Some(number) = typed.parse::<usize>().ok().filter(|number| *number > 0) else {
        return Vec::new();
    };
    let row = format!("Go to row {number} of the list");
    let row = entry(
        Section::Typed,
        "row",
        typed,
        row,
        ListCommand::Row(number).into(),
    );
    let id = BatchId(number as i64);
    let own = context.bulk.as_ref().and_then(|run| run.batch);
    let batch = (context.live.batches.contains(&id) || own == Some(id)).then(|| {
        let batch = format!("Open batch {number}");
        entry(Section::Typed, "batch", "", batch, Command::Batch(id))
    });
    [row].into_iter().chain(batch).collect()
}

/// Groups whose name or id contains the words.
fn groups(typed: &str, context: &Context) -> Vec<Line> {
    if typed.trim().chars().count() < MIN_LETTERS {
        return Vec::new();
    }
    let mut query = Query::parse(typed, None);
    // Here groups are only found by words, and only by literal matches.
    query.tests.clear();
    query.without.clear();
    query.words.iter_mut().for_each(|word| word.quoted = true);
    if query.words.is_empty() {
        return Vec::new();
    }
    let words = query.words.clone();
    let look = SearchRequest {
        query,
        sort: SortBy::Name,
        reverse: false,
        best_first: true,
        open: std::sync::Arc::default(),
        extras: GroupExtras::default(),
        at: context.now,
    };
    let index = context.groups.index();
    let found = run_search(index, look, None, &|| true);
    let found = found.iter().flat_map(|found| found.shown.iter());
    let entries = found.filter_map(|number| index.entry(*number));
    let named = entries.filter(|entry| {
        let mut words = words.iter();
        words.all(|word| word.is_in(entry.id()) || word.is_in(entry.title()))
    });
    let line = |found: crate::search::Entry<'_>| {
        let id = UserGroupId::parse(found.id()).ok()?;
        let name = found
            .name()
            .map_or_else(String::new, |name| format!("   {}", visible(name)));
        let help = format!("group {}{name}", visible(found.id()));
        Some(entry(Section::Group, "group", "", help, Command::Go(id)))
    };
    named.filter_map(line).take(MAX_GROUPS).collect()
}

impl Help {
    /// Updates the offered lines after the field has changed.
    pub(super) fn on_typed(&mut self, context: &Context) {
        self.cursor.at = 0;
        self.more.clear();
        // An offer repeats what was typed.
        if self.is_palette && !self.typed.looks_secret() {
            let typed = self.typed.text();
            self.more = numbered(typed, context);
            self.more.extend(groups(typed, context));
        }
    }

    pub(super) fn nothing_found(&self) -> String {
        let typed = self.typed.text().trim();
        if self.typed.looks_secret() {
            return "No such command.".into();
        }
        if self.is_palette {
            format!("No command \"{}\".", visible(typed))
        } else {
            "No key; try other words.".into()
        }
    }
}
