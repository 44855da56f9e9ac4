//! What a change would do, for a person and for a program. The request shown is exactly the one that would be sent.

use std::fmt::{Display, Write};

use serde::Serialize;

use super::{
    human::ago,
    json::{ONE_REQUEST, one_request},
    proposals,
    shape::shape,
};
use crate::{
    api::{
        failure::Call,
        inspect::{as_curl, request_json},
    },
    cli::{output, prelude::*, process::exit::Exit, session::Session},
    domain::{
        change::{ChangeRow, FieldChange as Changed, Mark},
        text::bounded,
        update::{Plan, UnsafeUpdate},
    },
    operations::{changes_json, request},
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
                format_args!("! {name}: the current values are unknown; it is replaced as a whole"),
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
                format_args!("{} {place}: {}", row.mark().sign(), values(row)),
            );
        }
    }
    text
}

/// Parts of the request that the person did not change: replaced whole or also sent, each with its age.
pub(crate) fn beside(plan: &Plan, read: &Done, now: Timestamp) -> String {
    let mut text = String::new();
    for field in &plan.replaced {
        line(
            &mut text,
            format_args!("! {}: replaced as a whole", field.as_str()),
        );
    }
    for field in Field::ALL {
        let known = plan.unchanged.iter().any(|one| one.field == field);
        if !known && !plan.send.has(field) {
            line(&mut text, format_args!("  {}: not sent", field.as_str()));
        }
    }
    for unchanged in plan.unchanged.iter().filter(|one| !one.is_read) {
        line(
            &mut text,
            format_args!(
                "  {}: sent again as last known, {}",
                unchanged.field.as_str(),
                ago(unchanged.at, now)
            ),
        );
    }
    for open in &read.open {
        line(
            &mut text,
            proposals::complete(&format!(
                "! the {} of {} may have taken effect: see m{} in `groupdesk history --open`",
                open.operation.as_str(),
                when::minute(open.since()),
                open.id.0
            )),
        );
    }
    text
}

/// What is not known well enough and is asked about, with the values that would be sent and their age, as in the console.
pub(crate) fn doubts(doubtful: &[UnsafeUpdate], plan: &Plan, now: Timestamp) -> String {
    let mut text = String::new();
    for doubt in doubtful {
        let field = doubt.field();
        let name = field.as_str();
        match doubt {
            UnsafeUpdate::PartialChange { at, uncertain, .. } => {
                let known = at.map_or_else(
                    || {
                        "it is replaced by the value you passed, because no value is known"
                            .to_owned()
                    },
                    |at| {
                        let age = ago(at, now);
                        format!("it is replaced by the last known value, {age}, plus your change")
                    },
                );
                let why = if *uncertain {
                    "an earlier change may have taken effect"
                } else {
                    "others may have changed it"
                };
                line(
                    &mut text,
                    format_args!("! {name}: it cannot be read, and {why}; {known}:"),
                );
                for row in rows(field, plan) {
                    line(&mut text, format_args!("    {row}"));
                }
            }
            UnsafeUpdate::NotStated { at, .. } => {
                let age = at.map_or_else(String::new, |at| format!(", {}", ago(at, now)));
                line(
                    &mut text,
                    format_args!(
                        "! {name}: unknown whether the service keeps it when it is omitted; sent again as last known{age}"
                    ),
                );
            }
            UnsafeUpdate::Restored { at, .. } => {
                let age = ago(*at, now);
                line(
                    &mut text,
                    format_args!(
                        "! {name}: the directory was restored from an older copy, and later changes may be missing; sent as known \
                         {age}:"
                    ),
                );
                for row in rows(field, plan) {
                    line(&mut text, format_args!("    {row}"));
                }
            }
            UnsafeUpdate::WouldClear { .. } | UnsafeUpdate::Uncertain { .. } => {}
        }
    }
    text
}

/// The field as it is sent, one row per line.
fn rows(field: Field, plan: &Plan) -> Vec<String> {
    match field {
        Field::Name => Vec::new(),
        Field::Mapping => {
            let rows = plan.send.mapping.iter().flatten();
            rows.map(|(schema, source)| format!("{} = {}", visible(schema), visible(source)))
                .collect()
        }
        Field::Properties => {
            let rows = plan.send.properties.iter().flatten();
            rows.map(|(key, value)| format!("{}: {}", visible(key), visible(&value.to_string())))
                .collect()
        }
    }
}

fn line(text: &mut String, line: impl Display) {
    let _ = writeln!(text, "{line}");
}

fn values(row: &ChangeRow) -> String {
    let values = [&row.before, &row.after].into_iter().flatten();
    joined(values.map(|value| bounded(value)), " -> ")
}

/// `--dry-run`: prints the exact request and what it would change.
pub(crate) fn dry_run(
    session: &Session,
    call: Call,
    id: &UserGroupId,
    (wanted, change): (&DesiredFields, &Change),
    with_curl: bool,
) -> Result<Exit, CliError> {
    let request = request(id, wanted);
    let profile = session.operations.profile();
    let curl = with_curl.then(|| as_curl(profile, call, &request));
    let url = profile.url();
    if session.json {
        output::json(&requested(call, &url, &request, change, curl.as_deref()))?;
        return Ok(Exit::Done);
    }
    let is_creation = call == Call::Create;
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
        output::result(&curl)?;
        return Ok(Exit::Done);
    }
    let (method, url) = (call.method(), visible(&url));
    output::result(&format!(
        "{method} {url}\n{}\n\n{changes}",
        request_json(&request)
    ))?;
    Ok(Exit::Done)
}

shape! {
    pub(crate) REQUEST = "request", "what --dry-run would send and change";
    fn requested(call: Call, url: &str, request: &impl Serialize, change: &Change, curl: Option<&str>) {
        ..ONE_REQUEST = one_request(call.method(), url);
        "request": any = request, "the exact body";
        "changes": any or "nothing changes" = changes_json(change), "by field: name as [before, after]; mapping and properties \
        as objects of such pairs by key; null in a pair means missing";
        maybe "curl": text = curl, "the request as a shell command that reads the API key from $GROUPDESK_API_KEY; only present with --curl";
    }
}
