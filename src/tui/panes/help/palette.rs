//! The palette beyond the actions: commands with an argument, possible arguments, groups, earlier lines.

use super::{Help, Line, LineAction, Section, parse};
use crate::{
    domain::text::visible,
    search::{GroupExtras, ListColumn, Query, SearchRequest, SortBy, run_search},
    tui::{
        keymap::{Focus, synonyms},
        panes::list::completions,
        state::{
            command::{COMMANDS, Command, CommandInfo, ON_THE_COMMAND_LINE, THEMES, split},
            context::{Context, Navigation},
        },
    },
};

/// Maximum number of groups that are offered.
const MAX_GROUPS: usize = 6;
/// Minimum number of letters to search for groups.
const MIN_LETTERS: usize = 2;
/// Maximum number of remembered command lines.
const MAX_EARLIER: usize = 50;

/// The other profiles and the saved views, by name.
pub(super) fn entries(context: &Context) -> Vec<Line> {
    let profiles = context.profiles.iter().enumerate();
    let others = profiles.filter(|(at, _)| *at != context.current.0);
    let profiles = others.map(|(_, profile)| {
        let name = &profile.name;
        let word = profile.environment_word();
        let text = format!("profile {name}");
        Line {
            keys: "profile".into(),
            name: name.clone(),
            synonyms: format!("{} environment context switch", word.to_lowercase()),
            section: Section::Entry,
            ..offered(text, format!("switch to {} ({word})", visible(name)))
        }
    });
    let saved = context.annotations.saved_views.iter();
    let views = saved.map(|view| Line {
        keys: "view".into(),
        name: view.name.clone(),
        synonyms: "saved filter".into(),
        section: Section::Entry,
        ..offered(
            format!("view {}", view.name),
            format!("apply view @{}", visible(&view.name)),
        )
    });
    profiles.chain(views).collect()
}

/// What the service cannot do, with the reason.
pub(super) fn impossible() -> impl Iterator<Item = Line> {
    let lines = synonyms::IMPOSSIBLE.into_iter();
    lines.map(|(what, words, why)| Line {
        action: LineAction::Impossible,
        keys: String::new(),
        help: what.into(),
        setting: String::new(),
        name: String::new(),
        synonyms: words.into(),
        disabled_reason: Some(why.into()),
        section: Section::Impossible,
    })
}

/// The commands; those of the list are disabled on pages with something that leaving would lose.
pub(super) fn commands(focus: Focus) -> Vec<Line> {
    let is_plain = matches!(
        focus,
        Focus::List
            | Focus::Group
            | Focus::History
            | Focus::Rotations
            | Focus::Batches
            | Focus::Attention
            | Focus::Messages
            | Focus::Requests
    );
    let line = |info: &'static CommandInfo| {
        let is_off = info.acts_on_list && !is_plain;
        Line {
            action: LineAction::Command(info),
            keys: format!(":{}", info.name),
            help: if info.takes.is_empty() {
                info.help.to_owned()
            } else {
                format!("{}  ({})", info.help, info.takes)
            },
            setting: format!(":{} {}", info.name, info.takes),
            name: info.name.to_owned(),
            synonyms: synonyms::of_command(info.name).to_owned(),
            disabled_reason: is_off.then(|| "in the list; Esc leaves this page first".into()),
            section: if is_off {
                Section::Elsewhere
            } else {
                Section::Typed
            },
        }
    };
    COMMANDS.iter().map(line).collect()
}

/// Whether a complete command and a space after it were typed.
pub(super) fn takes_something(typed: &str) -> bool {
    typed.trim_start().contains(' ') && split(typed).is_some()
}

fn offered(text: String, help: String) -> Line {
    Line {
        keys: String::new(),
        help,
        setting: format!(":{text}"),
        name: String::new(),
        synonyms: String::new(),
        disabled_reason: None,
        section: Section::Typed,
        action: LineAction::Line(text),
    }
}

/// Possible arguments of a command.
fn arguments(info: &CommandInfo, rest: &str, context: &Context) -> Vec<Line> {
    let start = rest.rfind([' ', ',']).map_or(0, |at| at + 1);
    let (before, word) = rest.split_at(start);
    let columns = || {
        let keys = context.property_keys().into_iter();
        let all = ListColumn::ALL.into_iter();
        let all = all.chain(keys.map(ListColumn::Property));
        all.map(|column| column.to_string()).collect::<Vec<_>>()
    };
    let names: Vec<String> = match info.name {
        "sort" => {
            let is_order = |name: &String| SortBy::parse(name).is_some();
            columns().into_iter().filter(is_order).collect()
        }
        "columns" => columns(),
        "theme" => THEMES.map(str::to_owned).into(),
        "view" | "save" => {
            let saved = context.annotations.saved_views.iter();
            saved.map(|saved| saved.name.clone()).collect()
        }
        "label" => {
            let labels = context.annotations.known_labels();
            labels
                .iter()
                .map(|label| label.as_str().to_owned())
                .collect()
        }
        "profile" => context
            .profiles
            .iter()
            .map(|profile| profile.name.clone())
            .collect(),
        "filter" | "mark" => {
            let found = completions(rest, context).into_iter();
            return found
                .map(|text| offered(format!("{} {text}", info.name), text))
                .collect();
        }
        "go" => return groups(rest, context),
        _ => Vec::new(),
    };
    let sign = word.chars().next().filter(|c| matches!(c, '+' | '-'));
    let bare = word.trim_start_matches(['+', '-']);
    let sign = sign.map_or_else(String::new, String::from);
    let names = names
        .into_iter()
        .filter(|name| name.starts_with(bare) && name != bare);
    let lines = names.map(|name| {
        let text = format!("{} {before}{sign}{name}", info.name);
        offered(text, format!("{sign}{name}"))
    });
    lines.collect()
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
    let line = |entry: crate::search::Entry<'_>| {
        let id = entry.id();
        let name = entry
            .name()
            .map_or_else(String::new, |name| format!("   {}", visible(name)));
        Line {
            keys: ":go".into(),
            section: Section::Group,
            ..offered(format!("go {id}"), format!("group {}{name}", visible(id)))
        }
    };
    named.take(MAX_GROUPS).map(line).collect()
}

impl Help {
    /// Updates the offered lines after the field has changed.
    pub(super) fn on_typed(&mut self, context: &Context) {
        self.cursor.at = 0;
        self.earlier = 0;
        self.update_offers(context);
    }

    fn update_offers(&mut self, context: &Context) {
        self.typed.error = None;
        self.more.clear();
        // An offer repeats what was typed.
        if !self.is_palette || self.typed.looks_secret() {
            return;
        }
        let typed = self.typed.text();
        self.more = match split(typed).filter(|_| takes_something(typed)) {
            Some((info, rest)) => {
                let mut lines = arguments(info, rest, context);
                if lines.is_empty() {
                    let takes = if info.takes.is_empty() {
                        "nothing"
                    } else {
                        info.takes
                    };
                    let help = format!("{}  (takes {takes})", info.help);
                    lines.push(offered(typed.trim_start().to_owned(), help));
                }
                lines
            }
            None => match parse(typed) {
                Some(Ok(Command::Row(row))) => {
                    vec![offered(
                        row.to_string(),
                        format!("Go to row {row} of the list"),
                    )]
                }
                _ => groups(typed, context),
            },
        };
    }

    /// Runs the typed line, or the one under the cursor, if it is a command; returns whether it is one.
    pub(super) fn run_line(&mut self, context: &mut Context) -> bool {
        let typed = self.typed.text().trim().to_owned();
        let is_typed = self.cursor.at == 0 && parse(&typed).is_some();
        let found = self.found();
        let text = match found.get(self.cursor.at).map(|line| &line.action) {
            // The typed line takes precedence over what is offered for it.
            _ if is_typed || takes_something(self.typed.text()) => typed,
            Some(LineAction::Line(text)) => text.clone(),
            Some(LineAction::Command(info)) => info.name.to_owned(),
            Some(LineAction::Action(_) | LineAction::Impossible) | None => return false,
        };
        if let Some(why) = self.refused(&text) {
            self.typed.error = Some(why);
            return true;
        }
        match parse(&text) {
            Some(Ok(command)) => {
                context.commands.retain(|known| *known != text);
                context.commands.push(text);
                if context.commands.len() > MAX_EARLIER {
                    context.commands.remove(0);
                }
                context.navigate(Navigation::Pop);
                context.navigate(Navigation::Run(command));
            }
            Some(Err(_)) if !text.contains(' ') => {
                self.typed.set_text(&format!("{text} "));
                self.on_typed(context);
            }
            Some(Err(lacking)) => self.typed.error = Some(lacking),
            None => return false,
        }
        true
    }

    /// Why a typed command cannot be used in this place.
    fn refused(&self, text: &str) -> Option<String> {
        let (info, _) = split(text)?;
        let mut lines = self.lines.iter();
        let line = lines.find(|line| line.action == LineAction::Command(info))?;
        Some(format!(
            ":{} acts {}",
            info.name,
            line.disabled_reason.as_ref()?
        ))
    }

    /// What Tab copies to the field: the line under the cursor, otherwise the first matching command.
    pub(super) fn fillable(&self) -> Option<String> {
        let text = |line: &&Line| match &line.action {
            LineAction::Line(text) => Some(text.clone()),
            LineAction::Command(info) => Some(format!("{} ", info.name)),
            LineAction::Action(_) | LineAction::Impossible => None,
        };
        let found = self.found();
        let chosen = found.get(self.cursor.at).and_then(text);
        let first = || {
            found
                .iter()
                .find_map(text)
                .filter(|_| !self.typed.is_empty())
        };
        chosen
            .or_else(first)
            .filter(|text| text != self.typed.text())
    }

    pub(super) fn fill(&mut self, context: &Context) {
        if let Some(text) = self.fillable() {
            self.typed.set_text(&text);
            self.on_typed(context);
        }
    }

    /// Goes back to the previous command line.
    pub(super) fn go_back(&mut self, context: &Context) {
        let mut lines = context.commands.iter().rev();
        if let Some(line) = lines.nth(self.earlier) {
            self.earlier += 1;
            self.typed.set_text(line);
            self.update_offers(context);
        }
    }

    /// Whether the typed line is not a command, and none is offered for it.
    pub(super) fn finds_nothing(&self) -> bool {
        self.is_palette && self.found().is_empty() && parse(self.typed.text()).is_none()
    }

    pub(super) fn nothing_found(&self) -> String {
        let typed = self.typed.text().trim();
        let word = typed.split(' ').next().unwrap_or_default();
        if !self.is_palette {
            return "No key; try other words".into();
        }
        if self.typed.looks_secret() {
            return "No such command.".into();
        }
        let text = format!("No command \u{201c}{}\u{201d}.", visible(typed));
        if ON_THE_COMMAND_LINE.contains(&word.to_lowercase().as_str()) {
            format!("{text} Command line: groupdesk {}", word.to_lowercase())
        } else {
            text
        }
    }
}
