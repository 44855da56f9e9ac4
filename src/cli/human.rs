//! Results for people: tables that fit the terminal. What stands in them is made visible first.

use std::{
    borrow::Cow,
    io::{self, IsTerminal},
};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::NOTHING};
use jiff::Timestamp;
use serde_json::Value;

use super::{print, stop::Stop};
use crate::{
    directory::Numbered,
    domain::{
        history::{Ending, Entry},
        known::{Known, KnownGroup, Source},
        text::visible,
        token::Token,
    },
    operations::Done,
};

const UNKNOWN: &str = "?";

/// Groups, one a line.
pub(super) fn list(groups: &[KnownGroup], now: Timestamp) -> String {
    let mut table = table(&[
        "NAME", "ID", "TAG", "MAP", "PROPS", "TOKEN", "ROTATED~", "SEEN",
    ]);
    for group in groups {
        table.add_row([
            of(group.name.as_ref(), |name| visible(name).into_owned()),
            group.id.to_string(),
            of(group.environment_tag.as_ref(), ToString::to_string),
            of(group.mapping.as_ref(), |mapping| mapping.len().to_string()),
            of(group.properties.as_ref(), |properties| {
                properties.len().to_string()
            }),
            of(group.fingerprint.as_ref(), ToString::to_string),
            group
                .last_rotated
                .as_ref()
                .map_or(UNKNOWN.into(), |last| age(last.at, now)),
            group.last_seen.map_or(UNKNOWN.into(), |at| age(at, now)),
        ]);
    }
    for index in [3, 4] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    done(&table)
}

/// All that is known of one group, and where each value came from.
pub(super) fn group(group: &KnownGroup, now: Timestamp) -> String {
    let mut table = table(&[]);
    let mut row = |name: &str, value: String, from: String| {
        table.add_row([name.to_owned(), value, from]);
    };
    row("user_group_id", group.id.to_string(), String::new());
    row(
        "name",
        of(group.name.as_ref(), |name| visible(name).into_owned()),
        from(group.name.as_ref(), now),
    );
    row(
        "team_id",
        of(group.team_id.as_ref(), ToString::to_string),
        from(group.team_id.as_ref(), now),
    );
    row(
        "environment tag",
        of(group.environment_tag.as_ref(), ToString::to_string),
        from(group.environment_tag.as_ref(), now),
    );
    row(
        "token",
        of(group.fingerprint.as_ref(), |fingerprint| {
            format!("fingerprint {fingerprint}")
        }),
        from(group.fingerprint.as_ref(), now),
    );
    let rotated = group.last_rotated.as_ref();
    row(
        "last rotated",
        rotated.map_or(UNKNOWN.into(), |last| format!("{} ago", age(last.at, now))),
        rotated.map_or(String::new(), |last| match &last.by {
            Some(by) => format!("by {}", visible(by)),
            None => "by somebody else".into(),
        }),
    );
    match &group.mapping {
        None => row(
            "mapping",
            UNKNOWN.into(),
            "the service does not return it".into(),
        ),
        Some(known) => rows(
            &mut row,
            "mapping",
            known,
            now,
            known
                .value
                .iter()
                .map(|(schema, source)| format!("{} -> {}", visible(schema), visible(source))),
        ),
    }
    match &group.properties {
        None => row("properties", UNKNOWN.into(), "not known here".into()),
        Some(known) => rows(
            &mut row,
            "properties",
            known,
            now,
            known
                .value
                .iter()
                .map(|(key, value)| format!("{}: {}", visible(key), visible(&value.to_string()))),
        ),
    }
    row(
        "last seen",
        group
            .last_seen
            .map_or(UNKNOWN.into(), |at| format!("{} ago", age(at, now))),
        String::new(),
    );
    done(&table)
}

fn rows<T>(
    row: &mut impl FnMut(&str, String, String),
    name: &str,
    known: &Known<T>,
    now: Timestamp,
    values: impl Iterator<Item = String>,
) {
    let mut first = true;
    for value in values {
        if first {
            row(name, value, from(Some(known), now));
        } else {
            row("", value, String::new());
        }
        first = false;
    }
    if first {
        row(name, "empty".into(), from(Some(known), now));
    }
}

/// Lines of the history.
pub(super) fn history(lines: &[Numbered<Entry>], now: Timestamp) -> String {
    let mut table = table(&[
        "AGE",
        "WHO",
        "ID",
        "WHAT",
        "RESULT",
        "TOKEN",
        "WHY AND WHAT",
    ]);
    for Numbered { value: entry, .. } in lines {
        let token = match (&entry.previous_fingerprint, &entry.fingerprint) {
            (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
            (_, Some(now)) => now.to_string(),
            (Some(before), None) => before.to_string(),
            (None, None) => String::new(),
        };
        table.add_row([
            age(entry.at, now),
            visible(&entry.by).into_owned(),
            entry.user_group_id.to_string(),
            entry.operation.as_str().to_owned(),
            entry.ending.as_str().replace('_', " "),
            token,
            story(entry),
        ]);
    }
    done(&table)
}

fn story(entry: &Entry) -> String {
    let changes = entry.changes.as_ref().map(Value::to_string);
    [
        entry.reason.as_deref(),
        changes.as_deref(),
        entry.note.as_deref(),
    ]
    .into_iter()
    .flatten()
    .map(visible)
    .collect::<Vec<Cow<str>>>()
    .join("; ")
}

/// What an operation came to. A revealed token stands alone on standard output, so that it can be taken from there.
pub(super) fn answered(
    answer: &Done,
    is_rotation: bool,
    token: Option<&Token>,
    now: Timestamp,
) -> Result<(), Stop> {
    let mut text = answer.ending.as_str().replace('_', " ");
    if let (true, Some(before)) = (is_rotation, answer.previous_fingerprint) {
        let after = answer
            .group
            .fingerprint
            .as_ref()
            .map_or(UNKNOWN.into(), |known| known.value.to_string());
        text = format!("{text}: token {before} -> {after}");
    }
    let text = format!("{text}\n{}", group(&answer.group, now));
    match token {
        None => print::result(&text),
        Some(token) => {
            print::say(&text);
            // A program gets it as it is; on a terminal nothing in it may act.
            if io::stdout().is_terminal() {
                print::result(&visible(token.expose()))
            } else {
                print::result(token.expose())
            }
        }
    }
}

/// Warnings, for the person, never on standard output.
pub(super) fn say_warnings(done: &Done) {
    if let Some(note) = note(done.ending) {
        print::say(&format!("! {note}"));
    }
    for warning in &done.warnings {
        let sign = if warning.is_alarm() { "x" } else { "!" };
        print::say(&format!("{sign} {warning}"));
    }
}

/// What the word of an ending leaves open.
fn note(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Existed => {
            Some("the group was there already and is unchanged; `groupdesk update` changes it")
        }
        Ending::Recovered => Some(
            "the answer was lost, but the token is a new one: rotated by this call, or by someone else. After a leak, rotate again",
        ),
        Ending::Superseded => {
            Some("rotated, and then rotated again by someone else: the token is theirs")
        }
        Ending::Rotated => {
            Some("rotated, but not confirmed by reading it back; `groupdesk get` confirms it")
        }
        _ => None,
    }
}

/// A table without lines, as wide as the terminal; where there is none, as wide as it is.
pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).force_no_tty();
    if !header.is_empty() {
        table.set_header(header.iter().map(Cell::new));
    }
    match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(size.ws_col);
        }
        _ => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table
}

/// The table as text, without spaces at its edges.
pub(super) fn done(table: &Table) -> String {
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.strip_prefix(' ').unwrap_or(&line).trim_end());
        text.push('\n');
    }
    text
}

fn of<T>(known: Option<&Known<T>>, text: impl Fn(&T) -> String) -> String {
    known.map_or_else(|| UNKNOWN.to_owned(), |known| text(&known.value))
}

fn from<T>(known: Option<&Known<T>>, now: Timestamp) -> String {
    known.map_or_else(String::new, |known| {
        let age = age(known.at, now);
        match known.source {
            Source::Returned => format!("returned {age} ago"),
            Source::Sent => format!(
                "sent {age} ago by {}; the service did not return it",
                visible(&known.by)
            ),
        }
    })
}

/// A time that has passed, in its largest unit.
fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
