//! What is known of a group, on a page: every value with where it came from and when (hazard 3 of service.md).

use ratatui::style::Style;
use serde_json::Value;

use super::{desk::Desk, sheet::Sheet};
use crate::domain::{
    known::{Known, KnownGroup, Source},
    text::visible,
};

/// "returned at 14:05 UTC", "sent 3h ago by ana@bastion2".
pub fn origin<T>(known: &Known<T>, desk: &Desk) -> String {
    let since = desk.since(known.at);
    match known.source {
        Source::Returned => format!("returned {since}"),
        Source::Sent => format!("sent {since} by {}", visible(&known.by)),
    }
}

/// Rows of a mapping that the line below the list looks at; it is cut to its width anyway.
const BRIEF_ROWS: usize = 20;

/// The few lines below or beside the list.
pub fn brief(sheet: &mut Sheet, group: &KnownGroup, desk: &Desk) {
    sheet.short_field("id", group.id.as_str(), &seen(group, desk));
    match &group.mapping {
        Some(known) => {
            let rows: Vec<String> = known
                .value
                .iter()
                .take(BRIEF_ROWS)
                .map(|(schema, source)| format!("{schema} {} {source}", desk.theme.arrow()))
                .collect();
            let text = if rows.is_empty() {
                "empty".to_owned()
            } else {
                rows.join(", ")
            };
            sheet.short_field("mapping~", &text, &origin(known, desk));
        }
        None => sheet.short_field("mapping~", "?", NEVER_RETURNED),
    }
    match &group.properties {
        Some(known) => {
            let text = Value::Object(known.value.clone()).to_string();
            sheet.short_field("properties", &text, &origin(known, desk));
        }
        None => sheet.short_field("properties", "?", "not known here"),
    }
    token(sheet, group, desk);
}

/// All that is known; mapping and properties row by row.
pub fn whole(sheet: &mut Sheet, group: &KnownGroup, desk: &Desk) {
    let plain = Style::new();
    match &group.name {
        Some(known) => sheet.field(
            "name",
            &known.value,
            desk.theme.title(),
            &origin(known, desk),
        ),
        None => sheet.field("name", "?", plain, "not known here"),
    }
    sheet.field(
        "user group id",
        group.id.as_str(),
        plain,
        &seen(group, desk),
    );
    for oddity in crate::domain::text::oddities(group.id.as_str()) {
        let what = format!("character {}: {}", oddity.position, oddity.what);
        sheet.field("", &what, desk.theme.warning(), "");
    }
    if let Some(known) = &group.team_id {
        sheet.field(
            "team id",
            &known.value.to_string(),
            plain,
            &origin(known, desk),
        );
    }
    match &group.environment_tag {
        Some(known) => sheet.field("tag", known.value.as_str(), plain, &origin(known, desk)),
        None => sheet.field("tag", "?", plain, "comes back from update and rotate only"),
    }
    token(sheet, group, desk);
    sheet.blank();
    match &group.mapping {
        Some(known) => {
            sheet.field(
                "mapping~",
                &rows(known.value.len()),
                plain,
                &origin(known, desk),
            );
            for (schema, source) in &known.value {
                let line = format!("{schema} {} {source}", desk.theme.arrow());
                sheet.indented(17, &line, plain);
            }
        }
        None => sheet.field("mapping~", "?", plain, NEVER_RETURNED),
    }
    sheet.blank();
    match &group.properties {
        Some(known) => {
            sheet.field(
                "properties",
                &rows(known.value.len()),
                plain,
                &origin(known, desk),
            );
            for (key, value) in &known.value {
                sheet.indented(17, &format!("{key}: {value}"), plain);
            }
        }
        None => sheet.field("properties", "?", plain, "not known here"),
    }
}

const NEVER_RETURNED: &str = "not known here; the service never returns it";

fn rows(count: usize) -> String {
    match count {
        0 => "empty".into(),
        1 => "1 row".into(),
        count => format!("{count} rows"),
    }
}

fn seen(group: &KnownGroup, desk: &Desk) -> String {
    group.last_seen.map_or_else(
        || "never read".into(),
        |at| format!("read {}", desk.since(at)),
    )
}

fn token(sheet: &mut Sheet, group: &KnownGroup, desk: &Desk) {
    let mask = desk.theme.mask().repeat(8);
    let value = match &group.fingerprint {
        Some(known) => format!("{mask} {}", known.value),
        None => "?".to_owned(),
    };
    let rotated = match &group.last_rotated {
        Some(last) => {
            let since = desk.since(last.at);
            last.by.as_ref().map_or_else(
                || format!("changed elsewhere, seen {since}"),
                |by| format!("rotated~ {since} by {}", visible(by)),
            )
        }
        None => "rotation not known here".to_owned(),
    };
    // Never cut: half a fingerprint names nothing.
    sheet.field("token", &value, Style::new(), &rotated);
}
