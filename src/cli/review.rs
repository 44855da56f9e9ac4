//! What a change would do, for a person and for a program; the request is exactly what would be sent.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{print, session::Session, stop::Stop};
use crate::{
    api::inspect::{Method, request_json},
    domain::{
        change::{Change, Field, Mark, Row, Wanted},
        group::UserGroupId,
        text::visible,
    },
    operations::{changes_json, request},
};

/// The changed rows, one a line, with the signs of console.md.
///
/// A creation replaces nothing.
pub(super) fn lines(change: &Change, is_creation: bool) -> String {
    let mut text = String::new();
    for (name, field) in change.fields() {
        if matches!(field, Field::Replaced(_)) && !is_creation {
            line(
                &mut text,
                &format!(
                    "! {name}: what the service holds now is not known here; it is replaced as a whole"
                ),
            );
        }
        for row in field.rows().iter().filter(|row| row.mark() != Mark::Same) {
            let place = if name == "name" {
                name.to_owned()
            } else {
                format!("{name} {}", visible(&row.key))
            };
            line(
                &mut text,
                &format!("{} {place}: {}", row.mark().sign(), values(row)),
            );
        }
    }
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes it");
}

fn values(row: &Row) -> String {
    [&row.before, &row.after]
        .into_iter()
        .flatten()
        .map(|value| visible(value))
        .collect::<Vec<_>>()
        .join(" -> ")
}

/// `--dry-run`: prints the exact request and what it would change.
pub(super) fn dry_run(
    session: &Session,
    method: Method,
    id: &UserGroupId,
    wanted: &Wanted,
    change: &Change,
) -> Result<(), Stop> {
    let request = request(id, wanted);
    let url = session.operations.profile().url();
    if session.json {
        return print::json(&json!({
            "outcome": Value::Null,
            "dry_run": true,
            "method": method.as_str(),
            "url": url,
            "request": request,
            "changes": changes_json(change),
        }));
    }
    let is_creation = method == Method::Get;
    let mut changes = if is_creation {
        format!("! would CREATE \"{id}\" if the service does not know it; nothing can delete it\n")
    } else if change.is_empty() {
        "no change\n".to_owned()
    } else {
        String::new()
    };
    changes.push_str(&lines(change, is_creation));
    print::result(&format!(
        "{} {}\n{}\n\n{changes}",
        method.as_str(),
        visible(&url),
        request_json(&request)
    ))
}
