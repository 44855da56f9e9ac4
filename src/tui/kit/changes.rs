//! A change on a page: field by field, before and after, with the signs `~ + -` (docs/design/console.md, "Review").

use ratatui::style::Style;

use super::{
    paint::{self, columns},
    text_page::TextPage,
};
use crate::{
    domain::{
        change::{Change, ChangeRow, FieldChange, Mark},
        text::{cut_middle, visible},
    },
    tui::theme::Theme,
};

/// If a key is wider than this, its values move to a line of their own.
const KEY: usize = 24;
/// Maximum lines of a row in the short form, and maximum width of its values.
const BRIEF_LIMITS: (usize, usize) = (2, 64);

/// Maximum width of a value when a row is only mentioned.
const SHORT: usize = 20;

/// What is changed: an existing group, or one that is being created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTarget {
    Known,
    Creation,
}

/// Writes the full change, as needed for a decision.
pub fn write(
    page: &mut TextPage,
    change: &Change,
    of: ChangeTarget,
    unchanged_too: bool,
    theme: Theme,
) {
    write_in(page, change, of, unchanged_too, usize::MAX, theme);
}

/// Writes what changes, as shown while typing: long values are shortened in the middle.
pub fn write_brief(page: &mut TextPage, change: &Change, of: ChangeTarget, theme: Theme) {
    let room = (BRIEF_LIMITS.0 * page.width())
        .saturating_sub(KEY)
        .min(BRIEF_LIMITS.1);
    write_in(page, change, of, false, room, theme);
}

/// Values get at most `room` cells.
fn write_in(
    page: &mut TextPage,
    change: &Change,
    of: ChangeTarget,
    unchanged_too: bool,
    room: usize,
    theme: Theme,
) {
    for (name, field) in change.fields() {
        match field {
            FieldChange::LeftOut => {
                if unchanged_too {
                    page.heading(name);
                    page.indented(
                        2,
                        "not in the request; the service keeps its value",
                        theme.dim(),
                    );
                }
            }
            FieldChange::Replaced(rows) => {
                page.heading(name);
                if of == ChangeTarget::Known {
                    page.indented(
                        2,
                        "! the current values are unknown: it is REPLACED as a whole",
                        theme.warning(),
                    );
                }
                write_rows(page, rows, true, room, theme);
            }
            FieldChange::Compared(rows) => {
                if field.is_changed() || unchanged_too {
                    page.heading(name);
                    write_rows(page, rows, unchanged_too, room, theme);
                }
            }
        }
    }
}

/// Number of different rows per field, in the shortest form: `mapping ~1 +2  properties -1`.
pub fn tally(change: &Change) -> String {
    let fields = change.fields().into_iter();
    let counted = fields.filter(|(_, field)| field.is_changed());
    let counts: Vec<String> = counted
        .map(|(name, field)| {
            let mut text = name.to_owned();
            for mark in [Mark::Changed, Mark::Added, Mark::Removed] {
                let rows = field.rows().iter();
                match rows.filter(|row| row.mark() == mark).count() {
                    0 => {}
                    count => text.extend([" ".to_owned(), mark.sign().into(), count.to_string()]),
                }
            }
            text
        })
        .collect();
    counts.join("  ")
}

/// The first row that differs and the number of further ones: `seats 100 → 120 +2`.
pub fn in_short(change: &Change, theme: Theme) -> String {
    let fields = change.fields().into_iter();
    let mut rows = fields.flat_map(|(name, field)| {
        let changed = field.rows().iter();
        let changed = changed.filter(|row| row.mark() != Mark::Same);
        changed.map(move |row| (name, row))
    });
    let Some((name, row)) = rows.next() else {
        return "no field".into();
    };
    let value =
        |text: &Option<String>| paint::cut(text.as_deref().unwrap_or_default(), SHORT, theme);
    let key = match name {
        "mapping" => format!("mapping {}", visible(&row.key)),
        _ => visible(&row.key).into_owned(),
    };
    let text = match row.mark() {
        Mark::Changed => {
            let (before, after) = (value(&row.before), value(&row.after));
            format!("{key} {before} {} {after}", theme.arrow())
        }
        Mark::Removed => format!("- {key}"),
        Mark::Added | Mark::Same => format!("+ {key} {}", value(&row.after)),
    };
    match rows.count() {
        0 => text,
        more => format!("{text} +{more}"),
    }
}

fn write_rows(
    page: &mut TextPage,
    rows: &[ChangeRow],
    unchanged_too: bool,
    room: usize,
    theme: Theme,
) {
    let shown: Vec<&ChangeRow> = rows
        .iter()
        .filter(|row| unchanged_too || row.mark() != Mark::Same)
        .collect();
    if shown.is_empty() && rows.is_empty() {
        page.indented(2, "empty", theme.dim());
    }
    let key_width = shown
        .iter()
        .map(|row| columns(&row.key))
        .max()
        .unwrap_or(0)
        .min(KEY);
    for row in shown {
        let mark = row.mark();
        let style = style(mark, theme);
        let key = visible(&row.key);
        let gap = key_width.saturating_sub(columns(&key));
        let room = if mark == Mark::Changed {
            room / 2
        } else {
            room
        };
        let value = |text: &Option<String>| {
            let text = text.as_deref().unwrap_or_default();
            cut_middle(&visible(text), room, theme.ellipsis())
        };
        let text = match mark {
            Mark::Same | Mark::Added => value(&row.after),
            Mark::Removed => format!("{}  will be removed", value(&row.before)),
            Mark::Changed => format!(
                "{} {} {}",
                value(&row.before),
                theme.arrow(),
                value(&row.after)
            ),
        };
        let line = format!("{} {key}{:gap$}  {text}", mark.sign(), "");
        page.indented(2, &line, style);
    }
}

/// The colour of a row.
pub fn style(mark: Mark, theme: Theme) -> Style {
    match mark {
        Mark::Same => theme.dim(),
        Mark::Added => theme.added(),
        Mark::Removed => theme.removed(),
        Mark::Changed => theme.changed(),
    }
}
