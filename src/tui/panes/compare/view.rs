//! Draws the comparison: every pair of values names the environment of each side; side by side if there is room,
//! otherwise one below the other.

use super::{Compare, Comparison};
use crate::tui::panes::prelude::*;
use crate::{
    config::profile::Profile,
    domain::{Known, Mapping, Part},
    tui::kit::{
        draw_waiting,
        paint::{columns, cut},
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
    profile: Option<&'a Profile>,
    group: &'a KnownGroup,
    values: DesiredFields,
}

/// The page, and how both sides are laid out on it.
struct Sheet<'a> {
    page: TextPage,
    sides: [Side<'a>; 2],
    width: usize,
    is_side_by_side: bool,
    context: &'a Context,
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
        page.warning(note);
    }
    if !compare.notes.is_empty() {
        page.blank();
    }
    let (Some(here), Some((profile, there))) = (compare.here(context), compare.there()) else {
        nothing(compare, &mut page, context);
        return (page, begins);
    };
    let mut sheet = Sheet {
        page,
        sides: [(context.current, &here), (*profile, there)].map(|(at, group)| Side {
            profile: context.profiles.get(at.0),
            group,
            values: DesiredFields::of(group),
        }),
        width: width.into(),
        is_side_by_side: beside,
        context,
    };
    sheet.heads();
    sheet.facts();
    sheet.page.blank();
    let rows = compare.rows(context);
    if rows.is_empty() {
        let text = "Name, mapping and properties are the same, according to the directory";
        sheet.page.text(text, theme.ok());
    }
    for (index, (part, comparison)) in rows.iter().enumerate() {
        begins.push(sheet.page.height());
        let values = sheet.sides.each_ref().map(|side| value(part, &side.values));
        let is_here = index == compare.cursor.at;
        sheet.row(&part.label(), look(*comparison, theme), is_here, &values);
    }
    let mut page = sheet.page;
    if !compare.unchanged_too {
        page.blank();
        let key = context.keys.key(Focus::Compare, Action::Unchanged);
        let text = format!(
            "~ + - show what copying the row here would do. {key} also shows unchanged rows."
        );
        page.dim(&text);
    }
    (page, begins)
}

fn nothing(compare: &Compare, page: &mut TextPage, context: &Context) {
    if compare.asking.is_waiting() {
        page.dim("Reading the directory");
    } else if compare.here(context).is_none() {
        page.dim("This group is not in the directory");
    } else {
        page.warning("No other profile knows this ID.");
        let key = |action| context.keys.key(Focus::Compare, action);
        let text = format!(
            "groupdesk did not contact the service: reading an unknown ID could create it. If the group exists, open it \
             with {} and {}.",
            key(Action::Profiles),
            key(Action::OpenOrCreate)
        );
        page.dim(&text);
    }
}

impl Side<'_> {
    /// The environment, and the name of the profile.
    fn place(&self) -> (&'static str, &str) {
        match self.profile {
            Some(profile) => (profile.environment_word(), &profile.name),
            None => ("?", ""),
        }
    }

    /// The values in the order of [`FACTS`].
    fn facts(&self, context: &Context) -> [String; 4] {
        let group = self.group;
        let tag = group.environment_tag.as_ref();
        let print = group.fingerprint.as_ref();
        let mapping = group.mapping.as_ref();
        let seen = group.last_seen;
        [
            tag.map_or_else(|| "-".into(), |known| known.value.to_string()),
            print.map_or_else(|| "-".into(), |known| known.value.to_string()),
            seen.map_or_else(|| "never".into(), |at| context.when(at)),
            mapping.map_or_else(|| "-".into(), |known| origin(known, context)),
        ]
    }

    /// Which environment it is, in this many cells.
    fn head(&self, role: &str, room: usize, theme: Theme) -> [(String, Style); 2] {
        let (word, name) = self.place();
        let style = self
            .profile
            .map(|profile| theme.environment(profile.production));
        let host = self.profile.map_or("", Profile::host);
        let word = format!(" {word} ");
        let rest = format!(" {name}  {host}  {role}");
        let rest = padded(&rest, room.saturating_sub(columns(&word)), theme);
        [(word, style.unwrap_or_default()), (rest, theme.title())]
    }
}

/// Facts that cannot be brought over; the least important are last, and are dropped first if there is little room. Of
/// the token only the fingerprint.
const FACTS: [&str; 4] = ["tag", "fingerprint", "read", "mapping"];

impl Sheet<'_> {
    /// Writes first of all which environment each half is.
    fn heads(&mut self) {
        let theme = self.context.theme;
        let sides = self.sides.iter().zip(["this profile", "other profile"]);
        if self.is_side_by_side {
            let mut pieces = vec![(" ".repeat(GUTTER + LABEL), Style::new())];
            for (side, role) in sides {
                pieces.extend(side.head(role, self.half() - 2, theme));
                pieces.push(("  ".into(), Style::new()));
            }
            self.page.pieces(pieces);
            return;
        }
        for (side, role) in sides {
            self.page.pieces(side.head(role, self.width, theme).into());
            let facts = FACTS.into_iter().zip(side.facts(self.context));
            let facts: Vec<String> = facts
                .map(|(label, fact)| format!("{label} {fact}"))
                .collect();
            self.page
                .indented(GUTTER - 1, &facts.join("  "), theme.dim());
        }
    }

    /// Writes the facts of both sides, unless the heads contain them.
    fn facts(&mut self) {
        let theme = self.context.theme;
        if self.is_side_by_side {
            let [here, there] = self.sides.each_ref().map(|side| side.facts(self.context));
            for ((label, here), there) in FACTS.into_iter().zip(here).zip(there) {
                self.row(label, (' ', theme.dim()), false, &[here, there]);
            }
        }
        let [here, there] = self
            .sides
            .each_ref()
            .map(|side| side.group.fingerprint.as_ref());
        if let (Some(here), Some(there)) = (here, there)
            && here.value == there.value
        {
            let text =
                "! the SAME token in both: this is one group, or one of the profiles is wrong";
            self.page.error(text);
        }
    }

    /// Writes a name and its value on both sides, with a sign and a style.
    fn row(&mut self, label: &str, look: (char, Style), is_here: bool, values: &[String; 2]) {
        let theme = self.context.theme;
        let (mark, style) = if is_here {
            ('>', theme.cursor_row())
        } else {
            (' ', look.1)
        };
        let head = (format!("{mark} {} ", look.0), style);
        let piece = |text: &str, room: usize| {
            let text = padded(text, room.saturating_sub(2), theme);
            (text + "  ", style)
        };
        let [here, there] = values;
        let mut pieces = vec![head];
        if self.is_side_by_side {
            pieces.push(piece(label, LABEL));
            pieces.extend([here, there].map(|value| piece(value, self.half())));
        } else if here == there {
            pieces.push(piece(label, LABEL));
            pieces.push(piece(here, self.width.saturating_sub(GUTTER + LABEL)));
        } else {
            pieces.push(piece(label, self.width - GUTTER));
        }
        self.page.pieces(pieces);
        if self.is_side_by_side || here == there {
            return;
        }
        let words = self.sides.each_ref().map(|side| {
            let (word, name) = side.place();
            format!("{word} {}", cut(name, NAME, theme))
        });
        let wide = words.iter().map(|word| columns(word)).max().unwrap_or(0);
        for (word, value) in words.iter().zip(values) {
            let gap = wide.saturating_sub(columns(word));
            let text = format!("{word}{:gap$}  {value}", "");
            self.page.indented(GUTTER + 2, &text, look.1);
        }
    }

    /// Width of each half when they are side by side.
    fn half(&self) -> usize {
        self.width.saturating_sub(GUTTER + LABEL) / 2
    }
}

/// The text, cut and filled up to this width.
fn padded(text: &str, room: usize, theme: Theme) -> String {
    let text = cut(text, room, theme);
    let gap = room.saturating_sub(columns(&text));
    format!("{text}{:gap$}", "")
}

fn origin(known: &Known<Mapping>, context: &Context) -> String {
    format!("{} {}", known.source.as_str(), context.when(known.at))
}

fn value(part: &Part, copy: &DesiredFields) -> String {
    if part.is_known_in(copy) {
        part.text_in(copy).unwrap_or_else(|| "-".into())
    } else {
        "? unknown".into()
    }
}

/// What bringing the row would do here.
fn look(comparison: Comparison, theme: Theme) -> (char, Style) {
    match comparison {
        Comparison::Same => (' ', theme.dim()),
        Comparison::Differs => ('~', theme.changed()),
        Comparison::OnlyHere => ('-', theme.removed()),
        Comparison::OnlyThere => ('+', theme.added()),
        Comparison::NotKnown => ('?', Style::new()),
    }
}
