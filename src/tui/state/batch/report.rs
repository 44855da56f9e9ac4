//! The report of a bulk rotation as a file: JSON or CSV, with fingerprints and never a token.

use std::path::Path;

use serde_json::json;

use super::{BatchRow, BatchRun};
use crate::tui::state::Context;

/// The extension of the file decides the format: `.csv` is CSV, everything else JSON.
pub fn of(run: &BatchRun, context: &Context, path: &Path) -> String {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
        csv(run, context)
    } else {
        json(run, context)
    }
}

fn json(run: &BatchRun, context: &Context) -> String {
    let groups: Vec<_> = run
        .rows
        .iter()
        .map(|row| {
            json!({
                "user_group_id": row.id.as_str(),
                "outcome": word(row),
                "previous_fingerprint": row.previous.map(|value| value.to_string()),
                "fingerprint": row.fingerprint.map(|value| value.to_string()),
                "milliseconds": row.took.map(|took| took.as_millis() as u64),
                "handoff": row.handoff.as_str(),
                "by": by(row, context),
                "at": row.at.map(|at| at.to_string()),
                "note": row.note,
            })
        })
        .collect();
    let profile = context.profiles.get(run.profile.0);
    let mut report = json!({
        "batch": run.batch.map(|batch| batch.0),
        "profile": profile.map(|profile| profile.name.as_str()),
        "service": profile.map(|profile| profile.url().clone()),
        "by": run.by.as_deref().unwrap_or(&context.operator),
        "started_at": run.started_at.to_string(),
        "written_at": context.now.to_string(),
        "written_by": context.operator,
        "reason": run.reason,
        "ended": !run.is_under_way(),
    });
    run.counts().add_to(&mut report);
    report["not_handed_off"] = run.not_handed_off().into();
    report["stopped"] = run.halt.clone().into();
    report["groups"] = groups.into();
    format!("{report:#}\n")
}

/// Each row tells where, who and when, so that it stands alone.
fn csv(run: &BatchRun, context: &Context) -> String {
    let mut text = String::from(
        "user_group_id,outcome,previous_fingerprint,fingerprint,milliseconds,note,handoff,profile,service,by,started_at\r\n",
    );
    let profile = context.profiles.get(run.profile.0);
    let url = profile.map_or_else(String::new, |profile| profile.url().clone());
    for row in &run.rows {
        let print = |value: Option<_>| {
            value.map_or_else(String::new, |value: crate::domain::token::Fingerprint| {
                value.to_string()
            })
        };
        let took = row.took.map(|took| took.as_millis().to_string());
        let fields = [
            row.id.as_str().to_owned(),
            word(row).to_owned(),
            print(row.previous),
            print(row.fingerprint),
            took.unwrap_or_default(),
            row.note.clone().unwrap_or_default(),
            row.handoff.as_str().to_owned(),
            profile.map_or_else(String::new, |profile| profile.name.clone()),
            url.clone(),
            by(row, context).unwrap_or_default().to_owned(),
            row.at.map_or_else(String::new, |at| at.to_string()),
        ];
        text.push_str(&fields.map(|field| quoted(&field)).join(","));
        text.push_str("\r\n");
    }
    text
}

/// Who rotated or updated the group, if anything was begun.
fn by<'r>(row: &'r BatchRow, context: &'r Context) -> Option<&'r str> {
    row.at?;
    Some(row.by.as_ref().unwrap_or(&context.operator))
}

fn word(row: &BatchRow) -> &'static str {
    if row.since.is_some() {
        "under_way"
    } else {
        row.outcome
    }
}

/// Quotes a field as in RFC 4180.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
