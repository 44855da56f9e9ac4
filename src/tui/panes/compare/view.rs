//! How the comparison looks: which environment each side is, in words on every pair of values; side by side where there
//! is room, one below the other where there is not.

use jiff::Timestamp;
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Compare, Stand};
use crate::{
    domain::{
        change::Wanted,
        group::Mapping,
        known::{Known, KnownGroup},
        merge::Part,
    },
    tui::{
        keymap::{Action, Focus},
        state::{context::Desk, message::ProfileIndex},
        theme::Theme,
        widgets::{
            boxes::page as page_box,
            paint::{columns, cut},
            text_page::Sheet,
        },
    },
};

/// From this width on the sides stand beside each other.
const BESIDE: u16 = 100;
/// Columns of the gutter: cursor and sign.
const GUTTER: usize = 4;
/// Columns of the names of the rows.
const LABEL: usize = 26;
/// Columns of a profile's name in front of a value.
const NAME: usize = 18;

/// One of the two.
struct Side<'a> {
    profile: ProfileIndex,
    group: &'a KnownGroup,
    values: Wanted,
}

pub(super) fn draw(compare: &Compare, buffer: &mut Buffer, area: Rect, desk: &Desk) {
    let title = format!("{} in two environments", compare.id);
    let inner = page_box(buffer, area, &title, desk.theme);
    let beside = area.width >= BESIDE;
    let (sheet, rows) = page(compare, inner.width, beside, desk);
    let scroll = scroll(&sheet, &rows, compare.cursor.at, inner.height);
    sheet.draw(buffer, inner, scroll);
}

/// So far that the row of the cursor is in sight, and the sides above the first one.
fn scroll(sheet: &Sheet, rows: &[usize], at: usize, height: u16) -> usize {
    let begin = rows.get(at).copied().unwrap_or(0);
    let end = rows.get(at + 1).copied().unwrap_or_else(|| sheet.height());
    let room = usize::from(height).saturating_sub(1);
    if end <= room {
        return 0;
    }
    end.saturating_sub(room).min(begin)
}

/// The page, and on which of its lines each row begins.
fn page(compare: &Compare, width: u16, beside: bool, desk: &Desk) -> (Sheet, Vec<usize>) {
    let theme = desk.theme;
    let mut sheet = Sheet::new(width, theme);
    let mut begins = Vec::new();
    for note in &compare.notes {
        sheet.text(note, theme.warning());
    }
    if !compare.notes.is_empty() {
        sheet.blank();
    }
    let (Some(here), Some((profile, there))) = (compare.here(desk), compare.there()) else {
        nothing(compare, &mut sheet, desk);
        return (sheet, begins);
    };
    let sides = [Side::of(desk.current, &here), Side::of(*profile, there)];
    let width = usize::from(width);
    heads(&mut sheet, &sides, width, beside, desk);
    facts(&mut sheet, &sides, width, beside, desk);
    sheet.blank();
    let rows = compare.rows(desk);
    if rows.is_empty() {
        let text = "name, mapping and properties are the same, as far as they are known";
        sheet.text(text, theme.ok());
    }
    for (index, (part, stand)) in rows.iter().enumerate() {
        begins.push(sheet.height());
        let row = Row {
            label: part.label(),
            sign: sign(*stand),
            style: style(*stand, theme),
            is_here: index == compare.cursor.at,
            values: [0, 1].map(|side| value(part, &sides[side].values)),
        };
        row.write(&mut sheet, &sides, width, beside, desk);
    }
    if !compare.unchanged_too {
        sheet.blank();
        let key = desk.keys.key(Focus::Compare, Action::Unchanged);
        let text = format!(
            "~ + - is what bringing the row here would do. {key} shows what is the same, too."
        );
        sheet.text(&text, theme.dim());
    }
    (sheet, begins)
}

fn nothing(compare: &Compare, sheet: &mut Sheet, desk: &Desk) {
    let theme = desk.theme;
    if compare.asking.is_some() {
        sheet.text("reading the directory", theme.dim());
    } else if compare.here(desk).is_none() {
        sheet.text("nothing is known of this group here", theme.dim());
    } else {
        sheet.text("No other profile knows this id here.", theme.warning());
        let text = "Nothing was asked of a service: a read of an unknown id could create it. \
                    P and o open it there, if it exists.";
        sheet.text(text, theme.dim());
    }
}

impl<'a> Side<'a> {
    fn of(profile: ProfileIndex, group: &'a KnownGroup) -> Self {
        Self {
            profile,
            group,
            values: Wanted::of(group),
        }
    }

    /// The environment and the name of the profile.
    fn place(&self, desk: &Desk) -> (&'static str, String, Style) {
        let Some(profile) = desk.profiles.get(self.profile.0) else {
            return ("?", String::new(), Style::new());
        };
        let style = if profile.production {
            desk.theme.production()
        } else {
            desk.theme.testing()
        };
        (profile.environment_word(), profile.name.clone(), style)
    }

    /// The same as one word in front of a value.
    fn word(&self, desk: &Desk) -> String {
        let (word, name, _) = self.place(desk);
        let name = cut(&name, NAME, desk.theme);
        format!("{word} {name}")
    }

    /// In the order of [`FACTS`].
    fn facts(&self, desk: &Desk) -> [String; 4] {
        let group = self.group;
        let tag = group.environment_tag.as_ref();
        let print = group.fingerprint.as_ref();
        let mapping = group.mapping.as_ref();
        [
            tag.map_or_else(|| "?".into(), |known| known.value.to_string()),
            print.map_or_else(|| "?".into(), |known| known.value.to_string()),
            group
                .last_seen
                .map_or_else(|| "never".into(), |at| since(at, desk)),
            mapping.map_or_else(|| "?".into(), |known| origin(known, desk)),
        ]
    }

    fn host(&self, desk: &Desk) -> String {
        let profile = desk.profiles.get(self.profile.0);
        profile.map_or_else(String::new, |profile| profile.host().to_owned())
    }
}

/// Which environment each half is, before anything else.
fn heads(sheet: &mut Sheet, sides: &[Side<'_>; 2], width: usize, beside: bool, desk: &Desk) {
    let theme = desk.theme;
    let head = |side: &Side<'_>, role: &str, room: usize| {
        let (word, name, style) = side.place(desk);
        let word = format!(" {word} ");
        let rest = format!(" {}  {}  {role}", name, side.host(desk));
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
        sheet.pieces(pieces);
    } else {
        for (side, role) in sides.iter().zip(roles) {
            sheet.pieces(head(side, role, width));
            let facts = FACTS.into_iter().zip(side.facts(desk));
            let facts: Vec<String> = facts
                .map(|(label, fact)| format!("{label} {fact}"))
                .collect();
            sheet.indented(GUTTER - 1, &facts.join("   "), theme.dim());
        }
    }
}

/// What cannot be brought over, with the least important last where there is little room; of the token only its
/// fingerprint.
const FACTS: [&str; 4] = ["tag", "token", "read", "mapping~"];

/// The facts of both sides, where they are not in the heads.
fn facts(sheet: &mut Sheet, sides: &[Side<'_>; 2], width: usize, beside: bool, desk: &Desk) {
    let theme = desk.theme;
    if beside {
        let [here, there] = [0, 1].map(|side| sides[side].facts(desk));
        for ((label, here), there) in FACTS.into_iter().zip(here).zip(there) {
            let row = Row {
                label: label.into(),
                sign: ' ',
                style: theme.dim(),
                is_here: false,
                values: [here, there],
            };
            row.write(sheet, sides, width, beside, desk);
        }
    }
    let [here, there] = [0, 1].map(|side| sides[side].group.fingerprint.as_ref());
    if let (Some(here), Some(there)) = (here, there)
        && here.value == there.value
    {
        let text = "! the SAME token in both: this is one group, or one of the profiles is wrong";
        sheet.text(text, theme.error());
    }
}

/// Four facts of a group stand in one line of 80 columns.
fn since(at: Timestamp, desk: &Desk) -> String {
    desk.since(at).trim_start_matches("at ").to_owned()
}

fn origin(known: &Known<Mapping>, desk: &Desk) -> String {
    format!("{} {}", known.source.as_str(), since(known.at, desk))
}

/// One name and its value on both sides.
struct Row {
    label: String,
    sign: char,
    style: Style,
    is_here: bool,
    values: [String; 2],
}

impl Row {
    fn write(
        &self,
        sheet: &mut Sheet,
        sides: &[Side<'_>; 2],
        width: usize,
        beside: bool,
        desk: &Desk,
    ) {
        let theme = desk.theme;
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
            sheet.pieces(vec![
                (head, style),
                (padded(&self.label, LABEL), style),
                (padded(&self.values[0], half), style),
                (padded(&self.values[1], half), style),
            ]);
        } else if self.values[0] == self.values[1] {
            let label = padded(&self.label, LABEL);
            let room = width.saturating_sub(GUTTER + LABEL);
            sheet.pieces(vec![
                (head, style),
                (label, style),
                (padded(&self.values[0], room), style),
            ]);
        } else {
            sheet.pieces(vec![
                (head, style),
                (padded(&self.label, width - GUTTER), style),
            ]);
            let words = [0, 1].map(|side| sides[side].word(desk));
            let wide = words.iter().map(|word| columns(word)).max().unwrap_or(0);
            for (word, value) in words.iter().zip(&self.values) {
                let gap = wide.saturating_sub(columns(word));
                let text = format!("{word}{:gap$}  {value}", "");
                sheet.indented(GUTTER + 2, &text, self.style);
            }
        }
    }
}

/// Columns of each side where they stand beside each other.
fn half(width: usize) -> usize {
    width.saturating_sub(GUTTER + LABEL) / 2
}

fn value(part: &Part, copy: &Wanted) -> String {
    if part.is_known_in(copy) {
        part.text_in(copy).unwrap_or_else(|| "-".into())
    } else {
        "? not known here".into()
    }
}

/// What bringing the row would do here.
fn sign(stand: Stand) -> char {
    match stand {
        Stand::Same => ' ',
        Stand::Differs => '~',
        Stand::OnlyHere => '-',
        Stand::OnlyThere => '+',
        Stand::NotKnown => '?',
    }
}

fn style(stand: Stand, theme: Theme) -> Style {
    match stand {
        Stand::Same => theme.dim(),
        Stand::Differs => theme.changed(),
        Stand::OnlyHere => theme.removed(),
        Stand::OnlyThere => theme.added(),
        Stand::NotKnown => Style::new(),
    }
}
