//! What a change would do, for a person and for a program. The request shown is exactly the one that would be sent.

use std::fmt::Write;

use serde_json::{Value, json};

use jiff::Timestamp;

use super::human::ago;
use crate::{
    api::inspect::{Method, as_curl, request_json},
    cli::{error::CliError, output, session::Session},
    domain::{
        change::{Change, ChangeRow, DesiredFields, FieldChange as Changed, Mark},
        facts::Field,
        group::UserGroupId,
        text::visible,
        update::Plan,
    },
    operations::{Done, changes_json, request},
};

/// The changed rows, one per line, with the signs of docs/design/console.md.
///
/// A creation replaces nothing.
pub(crate) fn lines(change: &Change, is_creation: bool) -> String {
    let mut text = String::new();
    for (name, field) in change.fields() {
        if matches!(field, Changed::Replaced(_)) && !is_creation {
            line(
                &mut text,
                &format!(
                    "! {name}: the present values are unknown here; it is replaced as a whole"
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

/// Parts of the request that the person did not change: replaced whole or sent along, each with its age.
pub(crate) fn beside(plan: &Plan, read: &Done, now: Timestamp) -> String {
    let mut text = String::new();
    for field in &plan.replaced {
        line(&mut text, &format!("! {}: replaced whole", field.as_str()));
    }
    for field in Field::ALL {
        let known = plan.unchanged.iter().any(|one| one.field == field);
        let is_sent = match field {
            Field::Name => plan.send.name.is_some(),
            Field::Mapping => plan.send.mapping.is_some(),
            Field::Properties => plan.send.properties.is_some(),
        };
        if !known && !is_sent {
            line(&mut text, &format!("  {}: left out", field.as_str()));
        }
    }
    for unchanged in plan.unchanged.iter().filter(|one| !one.is_read) {
        line(
            &mut text,
            &format!(
                "  {}: sent along as last known, {}",
                unchanged.field.as_str(),
                ago(unchanged.at, now)
            ),
        );
    }
    for open in &read.open {
        line(
            &mut text,
            &format!(
                "! the {} of {} may have arrived: m{} in `groupdesk history --open`",
                open.operation.as_str(),
                open.since().strftime("%Y-%m-%d %H:%M UTC"),
                open.id.0
            ),
        );
    }
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes it");
}

fn values(row: &ChangeRow) -> String {
    [&row.before, &row.after]
        .into_iter()
        .flatten()
        .map(|value| visible(value))
        .collect::<Vec<_>>()
        .join(" -> ")
}

/// `--dry-run`: prints the exact request and what it would change.
pub(crate) fn dry_run(
    session: &Session,
    method: Method,
    id: &UserGroupId,
    (wanted, change): (&DesiredFields, &Change),
    with_curl: bool,
) -> Result<(), CliError> {
    let request = request(id, wanted);
    let profile = session.operations.profile();
    let curl = with_curl.then(|| as_curl(profile, method, &request));
    let url = profile.url();
    if session.json {
        let mut value = json!({
            "outcome": Value::Null,
            "dry_run": true,
            "method": method.as_str(),
            "url": url,
            "request": request,
            "changes": changes_json(change),
        });
        if let Some(curl) = curl {
            value["curl"] = curl.into();
        }
        return output::json(&value);
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
    if let Some(curl) = curl {
        output::say(changes.trim_end());
        return output::result(&curl);
    }
    output::result(&format!(
        "{} {}\n{}\n\n{changes}",
        method.as_str(),
        visible(&url),
        request_json(&request)
    ))
}
