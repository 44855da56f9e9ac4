//! One group: every value with its source and time (hazard 3 of docs/design/service.md).

use comfy_table::ColumnConstraint;
use jiff::Timestamp;

use super::{UNKNOWN, ago, done, of, table, terminal_width};
use crate::domain::{
    known::{Known, KnownGroup, Source},
    text::visible,
};

/// On a narrower terminal, the source of a value goes on the line below it.
const NARROW: usize = 64;

/// Everything known of one group, and the source of each value.
pub(crate) fn group(group: &KnownGroup, now: Timestamp) -> String {
    let mut table = table(&[]);
    let is_narrow = terminal_width().is_some_and(|width| width < NARROW);
    let mut row = |name: &str, mut value: String, from: String| {
        if !is_narrow {
            table.add_row([name.to_owned(), value, from]);
            return;
        }
        if !from.is_empty() {
            value = format!("{value}\n({from})");
        }
        table.add_row([name.to_owned(), value]);
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
        rotated.map_or(UNKNOWN.into(), |last| ago(last.at, now)),
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
        None => row("properties", UNKNOWN.into(), "unknown".into()),
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
        group.last_seen.map_or(UNKNOWN.into(), |at| ago(at, now)),
        String::new(),
    );
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
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

fn from<T>(known: Option<&Known<T>>, now: Timestamp) -> String {
    known.map_or_else(String::new, |known| {
        let ago = ago(known.at, now);
        match known.source {
            Source::Returned => format!("returned {ago}"),
            Source::Sent => format!(
                "sent {ago} by {}; the service did not return it",
                visible(&known.by)
            ),
            Source::Imported => format!("imported {ago} by {}", visible(&known.by)),
        }
    })
}
