//! The report of a bulk rotation as a file: JSON or CSV, with fingerprints and never a token.

use std::path::Path;

use serde_json::json;

use super::{BatchRow, BatchRun};

/// The extension of the file decides the format: `.csv` is CSV, everything else JSON.
pub fn of(run: &BatchRun, profile: &str, path: &Path) -> String {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
        csv(run)
    } else {
        json(run, profile)
    }
}

fn json(run: &BatchRun, profile: &str) -> String {
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
                "note": row.note,
            })
        })
        .collect();
    let mut report = json!({
        "batch": run.batch.map(|batch| batch.0),
        "profile": profile,
        "reason": run.reason,
        "ended": !run.is_under_way(),
    });
    run.counts().add_to(&mut report);
    report["stopped"] = run.halt.clone().into();
    report["groups"] = groups.into();
    format!("{report:#}\n")
}

fn csv(run: &BatchRun) -> String {
    let mut text = String::from(
        "user_group_id,outcome,previous_fingerprint,fingerprint,milliseconds,note\r\n",
    );
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
        ];
        text.push_str(&fields.map(|field| quoted(&field)).join(","));
        text.push_str("\r\n");
    }
    text
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
