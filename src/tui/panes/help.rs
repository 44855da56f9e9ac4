//! Every action with its key and, if it is not possible, the reason; typing searches, Enter performs it. The help
//! lists the actions of a place; the palette lists those of the whole console, and an entry for each profile, view and group.

mod palette;

pub use palette::why_no_command;

use super::{Pane, prelude::*};
use crate::tui::{keymap::Bound, state::Command};

/// What Enter on a line does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LineAction {
    Action(Action),
    /// Carries out this entry.
    Run(Command),
    /// Not done by the console; the line says why.
    NotHere,
}

#[derive(Debug, Clone)]
struct Line {
    action: LineAction,
    keys: String,
    help: String,
    /// Its table and name in the configuration.
    setting: String,
    /// The name of the action alone, for the search.
    name: String,
    /// Other words for it.
    synonyms: String,
    /// Why it is not possible now.
    disabled_reason: Option<String>,
    section: Section,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Here,
    Everywhere,
    /// Profiles to switch to, and saved views.
    Entry,
    Typed,
    /// Columns to sort by, labels and colours; shown only when they are looked for.
    Choice,
    Group,
    Elsewhere,
    /// Shown only when it is looked for.
    NotHere,
}

impl Section {
    fn title(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Everywhere => "everywhere",
            Self::Entry => "profiles and saved views",
            Self::Typed => "commands",
            Self::Choice => "choices",
            Self::Group => "groups",
            Self::Elsewhere => "on other screens",
            Self::NotHere => "not possible here",
        }
    }
}

/// A row of the box.
enum HelpRow<'l> {
    Title(&'static str),
    Line(usize, &'l Line),
}

#[derive(Debug)]
pub struct Help {
    /// The place of the help; for the palette, everything.
    about: String,
    is_palette: bool,
    /// Enter in this place may send something.
    confirms: bool,
    lines: Vec<Line>,
    /// Matching groups, or what a typed number can mean.
    more: Vec<Line>,
    typed: TextField,
    cursor: Cursor,
}

/// Minimum number of letters that match in the middle of a word.
const MIN_MIDDLE_MATCH: usize = 3;
/// Rank of a line that exactly another word for it finds: after those that have the word itself. The words for a line
/// begin with those that mean it most.
const SAME_SYNONYM: usize = 3;
/// Maximum number of other words that a rank tells apart.
const SYNONYMS: usize = 20;
/// Rank of a line that has the word at the beginning of another one.
const BEGINS: usize = SAME_SYNONYM + SYNONYMS;
/// Rank of a line that another word finds by its beginning.
const SYNONYM: usize = BEGINS + 1;
/// Rank of a line that has the word in the middle of another one.
const MIDDLE: usize = SYNONYM + SYNONYMS;
/// Rank of a line that has the letters in order: after all others.
const SCATTERED: usize = MIDDLE + 1;
/// Maximum number of places named for an action of other places.
const PLACES_NAMED: usize = 3;

impl Help {
    /// The help of a place; for [`Action::Palette`], every action of the console.
    pub fn open(pane: &Pane, action: Action, context: &Context) -> Self {
        let view = pane.view();
        let focus = view.focus();
        let is_palette = action == Action::Palette;
        let mut lines: Vec<Line> = context
            .keys
            .bindings(focus)
            .iter()
            .map(|bound| Line {
                disabled_reason: view.why_not(bound.action, context),
                ..line(bound)
            })
            .collect();
        let elsewhere = elsewhere(&lines, context);
        lines.extend(palette::entries(pane, context));
        lines.extend(elsewhere);
        lines.extend(palette::not_here());
        Self {
            about: if is_palette {
                "Command".into()
            } else {
                format!("Keys: {}", view.title(context))
            },
            is_palette,
            confirms: view.confirm().is_some(),
            lines,
            more: Vec::new(),
            typed: TextField::new(if is_palette { ":" } else { "find" }, ""),
            cursor: Cursor::default(),
        }
    }

    /// The matching lines, best first.
    fn found(&self) -> Vec<&Line> {
        let typed = self.typed.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let shown = self.lines.iter();
        let is_hidden = |line: &&Line| match line.section {
            Section::Here | Section::Everywhere => false,
            Section::Choice | Section::NotHere => true,
            _ => !self.is_palette,
        };
        let shown = shown.filter(|line| !words.is_empty() || !is_hidden(line));
        let ranked = shown.filter_map(|line| {
            let ranks = words.iter().map(|word| rank(line, word));
            Some((ranks.sum::<Option<usize>>()?, line))
        });
        let mut ranked: Vec<(usize, &Line)> = ranked.collect();
        if self.is_palette && !words.is_empty() {
            ranked.extend(self.more.iter().map(|line| (0, line)));
            // What has exactly this name comes first.
            let is_typed = |line: &Line| match &line.action {
                LineAction::Action(_) if line.disabled_reason.is_some() => false,
                LineAction::Action(_) | LineAction::Run(_) => line.name == typed.trim(),
                LineAction::NotHere => false,
            };
            // Actions that are possible now, then groups, then impossible actions.
            ranked.sort_by_key(|(rank, line)| {
                let is_group = line.section == Section::Group;
                (
                    !is_typed(line),
                    line.disabled_reason.is_some(),
                    is_group,
                    *rank,
                )
            });
        } else {
            // Among equal matches, those of this place come first.
            ranked.sort_by_key(|(rank, line)| (*rank, line.section == Section::Elsewhere));
        }
        ranked.into_iter().map(|(_, line)| line).collect()
    }

    /// The rows of the box; with section titles while nothing is searched for.
    fn rows<'l>(&self, found: &[&'l Line]) -> Vec<HelpRow<'l>> {
        let mut rows = Vec::with_capacity(found.len() + 3);
        let mut section = None;
        for (index, line) in found.iter().enumerate() {
            if self.typed.is_empty() && section != Some(line.section) {
                section = Some(line.section);
                rows.push(HelpRow::Title(line.section.title()));
            }
            rows.push(HelpRow::Line(index, line));
        }
        rows
    }
}

fn line(bound: &Bound) -> Line {
    let section = if bound.everywhere {
        Section::Everywhere
    } else {
        Section::Here
    };
    let name = bound.name();
    // The keys of a field share one action.
    let synonyms = if bound.action == Action::InField && bound.help.starts_with("remove") {
        "delete drop erase"
    } else {
        bound.action.synonyms()
    };
    Line {
        action: LineAction::Action(bound.action),
        keys: bound.shown(),
        help: bound.help.to_owned(),
        setting: format!("[keys] {name}"),
        name,
        synonyms: synonyms.to_owned(),
        disabled_reason: None,
        section,
    }
}

/// Whether the row of a place is the one of this line: the same action has other words where it does something else.
fn is_same(line: &Line, bound: &Bound) -> bool {
    // These are about the page alone.
    let is_of_page = matches!(
        bound.action,
        Action::Enter | Action::Back | Action::NextField | Action::PreviousField
    );
    line.action == LineAction::Action(bound.action) && (is_of_page || line.help == bound.help)
}

/// The actions of other places, each once, with the places where it is possible; without the keys of fields, which
/// mean nothing outside of them.
fn elsewhere(here: &[Line], context: &Context) -> Vec<Line> {
    let mut found: Vec<(Line, Vec<&str>)> = Vec::new();
    for focus in Focus::ALL {
        for bound in context
            .keys
            .bindings(focus)
            .iter()
            .filter(|bound| !bound.everywhere && bound.action != Action::InField)
        {
            if here.iter().any(|line| is_same(line, bound)) {
                continue;
            }
            match found.iter_mut().find(|(line, _)| is_same(line, bound)) {
                Some((_, places)) => places.push(focus.page()),
                None => found.push((line(bound), vec![focus.page()])),
            }
        }
    }
    let named = |(line, mut places): (Line, Vec<&str>)| {
        places.dedup();
        let more = if places.len() > PLACES_NAMED {
            ", ..."
        } else {
            ""
        };
        let first = &places[..places.len().min(PLACES_NAMED)];
        Line {
            disabled_reason: Some(format!("in {}{more}", first.join(", "))),
            section: Section::Elsewhere,
            ..line
        }
    };
    let is_here = |bound: &&Bound| {
        let mut here = here.iter();
        here.any(|line| line.action == LineAction::Action(bound.action))
    };
    // Where text is typed, a key that is text opens nothing.
    let everywhere = context.keys.everywhere().iter();
    let everywhere = everywhere
        .filter(|bound| !is_here(bound))
        .map(|bound| Line {
            disabled_reason: Some("on other screens; Esc leaves this one first".into()),
            section: Section::Elsewhere,
            ..line(bound)
        });
    everywhere.chain(found.into_iter().map(named)).collect()
}

/// How well a word matches a line; lower is better: a key, the beginning of a word, a part of at least three letters,
/// or its letters in order within one word of the name. Letters scattered over a sentence would match too much.
fn rank(line: &Line, word: &str) -> Option<usize> {
    let keys = line.keys.to_lowercase();
    if keys.split(' ').any(|key| key == word) {
        return Some(0);
    }
    // The words of a command that is not here say nothing of what it does.
    let reason = line.disabled_reason.as_deref();
    let disabled_reason = reason.filter(|_| line.action != LineAction::NotHere);
    let disabled_reason = disabled_reason.unwrap_or_default();
    let text = format!(
        "{} {} {disabled_reason}",
        line.help,
        line.name.replace('_', " ")
    )
    .to_lowercase();
    let parts = text.match_indices(word).map(|(at, _)| at);
    let begins = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
    };
    let ends = |at: usize| {
        let after = text[at + word.len()..].chars().next();
        after.is_none_or(|c| !c.is_alphanumeric())
    };
    let parts = parts.map(|at| match at {
        0 => 1,
        at if begins(at) && ends(at) => 2,
        at if begins(at) => BEGINS,
        _ => MIDDLE,
    });
    let is_long = word.chars().count() >= MIN_MIDDLE_MATCH;
    let part = parts.min().filter(|rank| *rank <= BEGINS || is_long);
    let synonyms = line.synonyms.split_whitespace().enumerate();
    let synonyms = synonyms.filter(|(_, synonym)| is_long && synonym.starts_with(word));
    let synonym = synonyms.map(|(at, synonym)| {
        let first = if synonym == word {
            SAME_SYNONYM
        } else {
            SYNONYM
        };
        first + at.min(SYNONYMS - 1)
    });
    let words = line.name.split('_');
    let span = words.filter_map(|text| in_order(text, word)).min();
    let scattered = span.map(|span| SCATTERED + span);
    part.into_iter().chain(synonym).chain(scattered).min()
}

/// Number of columns from the first to the last letter if all letters of the word occur in this order, starting with
/// the first letter.
fn in_order(text: &str, word: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    let mut last = 0;
    for (number, wanted) in word.chars().enumerate() {
        let (at, _) = letters.find(|(_, c)| *c == wanted)?;
        if number == 0 && at > 0 {
            return None;
        }
        last = at;
    }
    Some(last)
}

impl Help {
    fn choose(&self, line: Line, context: &mut Context) {
        let why = line.disabled_reason.unwrap_or_default();
        match line.action {
            LineAction::NotHere => {
                context.say(Severity::Warning, format!("Not possible here: {why}"));
            }
            _ if line.section == Section::Elsewhere => {
                context.say(Severity::Warning, format!("Not available: only {why}"));
            }
            LineAction::Run(command) => context.navigate(Navigation::Run(command)),
            // A confirmation needs its own key; Enter in a list must never be one.
            LineAction::Action(action)
                if action == Action::Confirm || (self.confirms && action == Action::Enter) =>
            {
                let text = "Nothing was changed: press the key itself to confirm";
                context.say(Severity::Info, text);
            }
            LineAction::Action(Action::InField) => {
                context.say(Severity::Info, "Press the key itself in the field");
            }
            LineAction::Action(action) => context.navigate(Navigation::Press(action)),
        }
    }
}

impl View for Help {
    fn focus(&self) -> Focus {
        if self.is_palette {
            Focus::Palette
        } else {
            Focus::Help
        }
    }

    fn title(&self, _context: &Context) -> String {
        if self.is_palette { "Palette" } else { "Help" }.into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.found().len();
        if self.cursor.act(action, rows, context.half_page()) {
            return;
        }
        match action {
            Action::Enter => {
                let found = self.found();
                let chosen = found.get(self.cursor.at).map(|line| (*line).clone());
                context.close_pane();
                if let Some(line) = chosen {
                    self.choose(line, context);
                }
            }
            Action::Back | Action::Help | Action::Palette => context.close_pane(),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        match action {
            Action::Enter if self.is_palette && self.found().is_empty() => {
                Some("no such command".into())
            }
            _ => None,
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        Some(&mut self.typed)
    }

    fn typed(&mut self, context: &mut Context) {
        self.on_typed(context);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        let found = self.found();
        let rows = self.rows(&found);
        let most = self.lines.len() + 3;
        let wide = area.width.saturating_sub(4).clamp(76, 110);
        let size = (wide, (most as u16 + 5).min(area.height));
        let inner = popup(buffer, area, size, &self.about, theme);
        let cursor = self.typed.draw(buffer, paint::row(inner, 0), theme, true);
        // The name in the configuration is shown below, if there is room.
        let foot = u16::from(inner.height > 6);
        let (body, _) = split_below(below(inner, 1), foot);
        let height = usize::from(body.height);
        let is_here =
            |row: &HelpRow| matches!(row, HelpRow::Line(index, _) if *index == self.cursor.at);
        let at = rows.iter().position(is_here).unwrap_or(0);
        let first = self.cursor.first_around(at, rows.len(), height);
        for (index, row) in rows.iter().skip(first).take(height).enumerate() {
            let place = paint::row(body, index as u16);
            match row {
                HelpRow::Title(title) => {
                    paint::line(buffer, place, title, theme.title(), theme);
                }
                HelpRow::Line(index, line) => {
                    draw_line(buffer, place, line, *index == self.cursor.at, theme);
                }
            }
        }
        if rows.is_empty() {
            let text = self.nothing_found();
            paint::line(buffer, paint::row(body, 0), &text, theme.dim(), theme);
        }
        let below = paint::row(inner, inner.height.saturating_sub(1));
        if let Some(error) = &self.typed.error {
            paint::line(buffer, below, error, theme.error(), theme);
        } else if let Some(line) = found.get(self.cursor.at).filter(|_| foot == 1) {
            // The reason in full, if the line has no room for it.
            let (_, cut) = line_text(line, body.width, theme);
            let text = cut.unwrap_or(&line.setting);
            paint::line(buffer, below, text, theme.dim(), theme);
        }
        cursor
    }
}

/// As many whole keys as fit, and a sign if there are more.
fn keys_that_fit(keys: &str, room: usize, theme: Theme) -> String {
    if paint::columns(keys) <= room {
        return keys.to_owned();
    }
    let more = theme.ellipsis();
    let mut ends = keys.match_indices(' ').map(|(at, _)| &keys[..at]).rev();
    let fits = |shown: &&str| paint::columns(shown) + paint::columns(more) <= room;
    match ends.find(fits) {
        Some(shown) => format!("{shown}{more}"),
        None => paint::cut(keys, room, theme),
    }
}

fn draw_line(buffer: &mut Buffer, row: Rect, line: &Line, here: bool, theme: Theme) {
    let style = match (here, &line.disabled_reason) {
        (true, _) => theme.cursor_row(),
        (false, Some(_)) => theme.dim(),
        (false, None) => Style::new(),
    };
    buffer.set_style(row, style);
    let mark = if here { '>' } else { ' ' };
    let (text, _) = line_text(line, row.width, theme);
    paint::line(buffer, row, &format!("{mark} {text}"), style, theme);
}

/// The keys of a line, what it does, and why not; also the reason if it is cut. What has no keys needs no room for them.
fn line_text(line: &Line, width: u16, theme: Theme) -> (String, Option<&str>) {
    let room = if width < 60 { 9 } else { 18 };
    let keys = match line.action {
        LineAction::NotHere => String::new(),
        _ => format!("{:<room$} ", keys_that_fit(&line.keys, room, theme)),
    };
    let Some(why) = &line.disabled_reason else {
        return (format!("{keys}{}", line.help), None);
    };
    // Without what an action does, the reason says nothing: it takes a third of the room where both do not fit.
    let all = usize::from(width).saturating_sub(paint::columns(&keys) + 5);
    let left = all.saturating_sub(paint::columns(why).min(all / 3));
    let help = paint::cut(&line.help, left, theme);
    let shown = paint::cut(why, all.saturating_sub(paint::columns(&help)), theme);
    let cut = (shown != *why).then_some(why.as_str());
    (format!("{keys}{help} ({shown})"), cut)
}
