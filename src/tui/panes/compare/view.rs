//! Draws the comparison: every pair of values names the environment of each side; side by side if there is room,
//! otherwise one below the other.

use jiff::Timestamp;
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Compare, Comparison};
use crate::{
    domain::{DesiredFields, Known, KnownGroup, Mapping, Part},
    tui::{
        keymap::{Action, Focus},
        kit::{
            TextPage, draw_waiting, page as page_box,
            paint::{columns, cut},
        },
        state::{Context, ProfileIndex},
        theme::Theme,
    },
};

/// From this width on, the sides are side by side.
const SIDE_BY_SIDE_WIDTH: u16 = 100;
/// Width of the gutter: cursor and sign.
const GUTTER: usize = 4;
/// Width of the row labels.
const LABEL: usize = 26;
/// Width of a profile's name in front of a value.
const NAME: usize = 18;

/// One side of the comparison.
struct Side<'a> {
    profile: ProfileIndex,
    group: &'a KnownGroup,
    values: DesiredFields,
}

pub(super) fn draw(compare: &Compare, buffer: &mut Buffer, area: Rect, context: &Context) {
    let title = format!("{} in two environments", compare.id);
    let inner = page_box(buffer, area, &title, context.theme);
    let beside = area.width >= SIDE_BY_SIDE_WIDTH;
    let (page, rows) = page(compare, inner.width, beside, context);
    let scroll = scroll(&page, &rows, compare.cursor.at, inner.height);
    page.draw(buffer, inner, scroll);
    let reading = compare.reading.ticket();
    let waiting = context.waiting(reading.or(compare.asking.ticket()));
    draw_waiting(buffer, inner, waiting.as_ref(), context.theme);
}

/// Scrolls so that the row of the cursor is visible; on the first row, also the description of the sides above it.
fn scroll(page: &TextPage, rows: &[usize], at: usize, height: u16) -> usize {
    let begin = rows.get(at).copied().unwrap_or(0);
    let end = rows.get(at + 1).copied().unwrap_or_else(|| page.height());
    let room = usize::from(height).saturating_sub(1);
    if end <= room {
        return 0;
    }
    end.saturating_sub(room).min(begin)
}

/// The page, and the line on which each row begins.
fn page(compare: &Compare, width: u16, beside: bool, context: &Context) -> (TextPage, Vec<usize>) {
    let theme = context.theme;
    let mut page = TextPage::new(width, theme);
    let mut begins = Vec::new();
    for note in &compare.notes {
        page.text(note, theme.warning());
    }
    if !compare.notes.is_empty() {
        page.blank();
    }
    let (Some(here), Some((profile, there))) = (compare.here(context), compare.there()) else {
        nothing(compare, &mut page, context);
        return (page, begins);
    };
    let sides = [Side::of(context.current, &here), Side::of(*profile, there)];
    let width = usize::from(width);
    heads(&mut page, &sides, width, beside, context);
    facts(&mut page, &sides, width, beside, context);
    page.blank();
    let rows = compare.rows(context);
    if rows.is_empty() {
        let text = "Name, mapping and properties are the same, according to the directory";
        page.text(text, theme.ok());
    }
    for (index, (part, comparison)) in rows.iter().enumerate() {
        begins.push(page.height());
        let row = ComparedRow {
            label: part.label(),
            sign: sign(*comparison),
            style: style(*comparison, theme),
            is_here: index == compare.cursor.at,
            values: [0, 1].map(|side| value(part, &sides[side].values)),
        };
        row.write(&mut page, &sides, width, beside, context);
    }
    if !compare.unchanged_too {
        page.blank();
        let key = context.keys.key(Focus::Compare, Action::Unchanged);
        let text = format!(
            "~ + - show what copying the row here would do. {key} also shows unchanged rows."
        );
        page.text(&text, theme.dim());
    }
    (page, begins)
}

fn nothing(compare: &Compare, page: &mut TextPage, context: &Context) {
    let theme = context.theme;
    if compare.asking.is_waiting() {
        page.text("Reading the directory", theme.dim());
    } else if compare.here(context).is_none() {
        page.text("This group is not in the directory", theme.dim());
    } else {
        page.text("No other profile knows this ID.", theme.warning());
        let key = |action| context.keys.key(Focus::Compare, action);
        let text = format!(
            "groupdesk did not contact the service: reading an unknown ID could create it. If the group exists, open it \
             with {} and {}.",
            key(Action::Profiles),
            key(Action::OpenOrCreate)
        );
        page.text(&text, theme.dim());
    }
}

impl<'a> Side<'a> {
    fn of(profile: ProfileIndex, group: &'a KnownGroup) -> Self {
        Self {
            profile,
            group,
            values: DesiredFields::of(group),
        }
    }

    /// The environment, the name of the profile, and a style.
    fn place(&self, context: &Context) -> (&'static str, String, Style) {
        let Some(profile) = context.profiles.get(self.profile.0) else {
            return ("?", String::new(), Style::new());
        };
        let style = context.theme.environment(profile.production);
        (profile.environment_word(), profile.name.clone(), style)
    }

    /// The same as one word in front of a value.
    fn word(&self, context: &Context) -> String {
        let (word, name, _) = self.place(context);
        let name = cut(&name, NAME, context.theme);
        format!("{word} {name}")
    }

    /// The values in the order of [`FACTS`].
    fn facts(&self, context: &Context) -> [String; 4] {
        let group = self.group;
        let tag = group.environment_tag.as_ref();
        let print = group.fingerprint.as_ref();
        let mapping = group.mapping.as_ref();
        [
            tag.map_or_else(|| "-".into(), |known| known.value.to_string()),
            print.map_or_else(|| "-".into(), |known| known.value.to_string()),
            group
                .last_seen
                .map_or_else(|| "never".into(), |at| since(at, context)),
            mapping.map_or_else(|| "-".into(), |known| origin(known, context)),
        ]
    }

    fn host(&self, context: &Context) -> String {
        let profile = context.profiles.get(self.profile.0);
        profile.map_or_else(String::new, |profile| profile.host().to_owned())
    }
}

/// Writes first of all which environment each half is.
fn heads(
    page: &mut TextPage,
    sides: &[Side<'_>; 2],
    width: usize,
    beside: bool,
    context: &Context,
) {
    let theme = context.theme;
    let head = |side: &Side<'_>, role: &str, room: usize| {
        let (word, name, style) = side.place(context);
        let word = format!(" {word} ");
        let rest = format!(" {}  {}  {role}", name, side.host(context));
        let rest = cut(&rest, room.saturating_sub(columns(&word)), theme);
        let gap = room.saturating_sub(columns(&word) + columns(&rest));
        vec![(word, style), (format!("{rest}{:gap$}", ""), theme.title())]
    };
    let roles = ["this profile", "the other one"];
    if beside {
        let half = half(width);
        let mut pieces = vec![(" ".repeat(GUTTER + LABEL), Style::new())];
        for (side, role) in sides.iter().zip(roles) {
            pieces.extend(head(side, role, half - 2));
            pieces.push(("  ".into(), Style::new()));
        }
        page.pieces(pieces);
    } else {
        for (side, role) in sides.iter().zip(roles) {
            page.pieces(head(side, role, width));
            let facts = FACTS.into_iter().zip(side.facts(context));
            let facts: Vec<String> = facts
                .map(|(label, fact)| format!("{label} {fact}"))
                .collect();
            page.indented(GUTTER - 1, &facts.join("  "), theme.dim());
        }
    }
}

/// Facts that cannot be brought over; the least important are last, and are dropped first if there is little room. Of
/// the token only the fingerprint.
const FACTS: [&str; 4] = ["tag", "fingerprint", "read", "mapping"];

/// Writes the facts of both sides, unless the heads contain them.
fn facts(
    page: &mut TextPage,
    sides: &[Side<'_>; 2],
    width: usize,
    beside: bool,
    context: &Context,
) {
    let theme = context.theme;
    if beside {
        let [here, there] = [0, 1].map(|side| sides[side].facts(context));
        for ((label, here), there) in FACTS.into_iter().zip(here).zip(there) {
            let row = ComparedRow {
                label: label.into(),
                sign: ' ',
                style: theme.dim(),
                is_here: false,
                values: [here, there],
            };
            row.write(page, sides, width, beside, context);
        }
    }
    let [here, there] = [0, 1].map(|side| sides[side].group.fingerprint.as_ref());
    if let (Some(here), Some(there)) = (here, there)
        && here.value == there.value
    {
        let text = "! the SAME token in both: this is one group, or one of the profiles is wrong";
        page.text(text, theme.error());
    }
}

/// Shortened, so that four facts of a group fit into a line of 80 columns.
fn since(at: Timestamp, context: &Context) -> String {
    context.moment(at).trim_start_matches("at ").to_owned()
}

fn origin(known: &Known<Mapping>, context: &Context) -> String {
    format!("{} {}", known.source.as_str(), since(known.at, context))
}

/// A name and its value on both sides.
struct ComparedRow {
    label: String,
    sign: char,
    style: Style,
    is_here: bool,
    values: [String; 2],
}

impl ComparedRow {
    fn write(
        &self,
        page: &mut TextPage,
        sides: &[Side<'_>; 2],
        width: usize,
        beside: bool,
        context: &Context,
    ) {
        let theme = context.theme;
        let mark = if self.is_here { '>' } else { ' ' };
        let head = format!("{mark} {} ", self.sign);
        let style = if self.is_here {
            theme.cursor_row()
        } else {
            self.style
        };
        let padded = |text: &str, room: usize| {
            let text = cut(text, room.saturating_sub(2), theme);
            let gap = room.saturating_sub(columns(&text));
            format!("{text}{:gap$}", "")
        };
        if beside {
            let half = half(width);
            page.pieces(vec![
                (head, style),
                (padded(&self.label, LABEL), style),
                (padded(&self.values[0], half), style),
                (padded(&self.values[1], half), style),
            ]);
        } else if self.values[0] == self.values[1] {
            let label = padded(&self.label, LABEL);
            let room = width.saturating_sub(GUTTER + LABEL);
            page.pieces(vec![
                (head, style),
                (label, style),
                (padded(&self.values[0], room), style),
            ]);
        } else {
            page.pieces(vec![
                (head, style),
                (padded(&self.label, width - GUTTER), style),
            ]);
            let words = [0, 1].map(|side| sides[side].word(context));
            let wide = words.iter().map(|word| columns(word)).max().unwrap_or(0);
            for (word, value) in words.iter().zip(&self.values) {
                let gap = wide.saturating_sub(columns(word));
                let text = format!("{word}{:gap$}  {value}", "");
                page.indented(GUTTER + 2, &text, self.style);
            }
        }
    }
}

/// Width of each half when they are side by side.
fn half(width: usize) -> usize {
    width.saturating_sub(GUTTER + LABEL) / 2
}

fn value(part: &Part, copy: &DesiredFields) -> String {
    if part.is_known_in(copy) {
        part.text_in(copy).unwrap_or_else(|| "-".into())
    } else {
        "? unknown".into()
    }
}

/// What bringing the row would do here.
fn sign(comparison: Comparison) -> char {
    match comparison {
        Comparison::Same => ' ',
        Comparison::Differs => '~',
        Comparison::OnlyHere => '-',
        Comparison::OnlyThere => '+',
        Comparison::NotKnown => '?',
    }
}

fn style(comparison: Comparison, theme: Theme) -> Style {
    match comparison {
        Comparison::Same => theme.dim(),
        Comparison::Differs => theme.changed(),
        Comparison::OnlyHere => theme.removed(),
        Comparison::OnlyThere => theme.added(),
        Comparison::NotKnown => Style::new(),
    }
}
