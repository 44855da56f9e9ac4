//! What is known of a group, on a page: every value with where it came from and when (hazard 3 of
//! docs/design/service.md).

use ratatui::style::Style;
use serde_json::Value;

use super::text_page::TextPage;
use crate::{
    domain::{
        known::{Known, KnownGroup, Source},
        text::{take_front, visible},
    },
    tui::state::context::Context,
};

/// "returned at 14:05 CET", "sent 3h ago by ana@bastion2".
pub fn origin<T>(known: &Known<T>, context: &Context) -> String {
    let since = context.since(known.at);
    match known.source {
        Source::Returned => format!("returned {since}"),
        Source::Sent => format!("sent {since} by {}", visible(&known.by)),
        Source::Imported => format!("imported {since} by {}", visible(&known.by)),
    }
}

/// Rows of a mapping that the line below the list looks at; it is cut to its width anyway.
const BRIEF_ROWS: usize = 20;

/// The few lines below or beside the list.
pub fn brief(sheet: &mut TextPage, group: &KnownGroup, context: &Context) {
    sheet.short_field("id", group.id.as_str(), &seen(group, context));
    match &group.mapping {
        Some(known) => {
            let rows: Vec<String> = known
                .value
                .iter()
                .take(BRIEF_ROWS)
                .map(|(schema, source)| format!("{schema} {} {source}", context.theme.arrow()))
                .collect();
            let text = if rows.is_empty() {
                "empty".to_owned()
            } else {
                rows.join(", ")
            };
            sheet.short_field("mapping~", &text, &origin(known, context));
        }
        None => sheet.short_field("mapping~", "?", NEVER_RETURNED),
    }
    match &group.properties {
        Some(known) => {
            let text = Value::Object(known.value.clone()).to_string();
            sheet.short_field("properties", &text, &origin(known, context));
        }
        None => sheet.short_field("properties", "-", "unknown here"),
    }
    token(sheet, group, context);
}

/// Rows of a mapping beside the list, at the most.
const MAPPING_ROWS: usize = 4;
/// Rows of properties beside the list, at the most.
const PROPERTY_ROWS: usize = 5;
/// Lines beside the list that are not such rows.
const OTHER_LINES: usize = 12;
/// Cells of such a row, at the most.
const ROW_CELLS: usize = 30;

/// What stands beside the list, in so many rows: every line in the same place for every group, so that the eye finds it
/// there, and a move of the cursor writes only what differs. What came with the last read bears no age of its own.
pub fn beside(sheet: &mut TextPage, group: &KnownGroup, context: &Context, rows: u16) {
    let plain = Style::new();
    let unknown = "?".to_owned();
    let name = group.name.as_ref();
    sheet.name_line("name", name.map_or("?", |known| known.value.as_str()));
    sheet.field("user group id", group.id.as_str(), plain, "");
    let team = group.team_id.as_ref();
    sheet.field(
        "team id",
        &team.map_or(unknown, |known| known.value.to_string()),
        plain,
        &own_origin(team, group, context),
    );
    let tag = group.environment_tag.as_ref();
    sheet.field(
        "tag",
        tag.map_or("?", |known| known.value.as_str()),
        plain,
        &own_origin(tag, group, context),
    );
    sheet.one_line("token", &masked(group, context), plain);
    let rotated = match &group.last_rotated {
        Some(last) => {
            let age = context.age(last.at);
            last.by.as_ref().map_or_else(
                || format!("elsewhere, seen {age} ago"),
                |by| format!("{age} ago by {}", visible(by)),
            )
        }
        None => "not known here".to_owned(),
    };
    sheet.one_line("rotated~", &rotated, plain);
    let read = group.last_seen.map(|at| format!("{} ago", context.age(at)));
    sheet.one_line("last read", read.as_deref().unwrap_or("never"), plain);
    match crate::domain::text::oddities(group.id.as_str()).first() {
        Some(oddity) => {
            let what = format!("id, character {}: {}", oddity.position, oddity.what);
            sheet.text(&what, context.theme.warning());
        }
        None => sheet.blank(),
    }
    let room = usize::from(rows).saturating_sub(OTHER_LINES);
    let mapping_rows = (room / 2).min(MAPPING_ROWS);
    let (count, origin_line, lines) = match &group.mapping {
        Some(known) => {
            let arrow = context.theme.arrow();
            let lines = known.value.iter().take(MAPPING_ROWS);
            let lines = lines.map(|(schema, source)| format!("{schema} {arrow} {source}"));
            (known.value.len(), origin(known, context), lines.collect())
        }
        None => (0, "the service never returns it".to_owned(), Vec::new()),
    };
    let head = |is_known: bool, count| {
        if is_known {
            self::rows(count)
        } else {
            "?".into()
        }
    };
    sheet.one_line("mapping~", &head(group.mapping.is_some(), count), plain);
    sheet.one_line("", &origin_line, context.theme.dim());
    first_of(sheet, count, &lines, mapping_rows, context);
    sheet.blank();
    let properties = group.properties.as_ref();
    let count = properties.map_or(0, |known| known.value.len());
    sheet.field(
        "properties",
        &head(properties.is_some(), count),
        plain,
        &own_origin(properties, group, context),
    );
    let pairs = properties.into_iter().flat_map(|known| &known.value);
    let lines: Vec<String> = pairs
        .take(PROPERTY_ROWS)
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    let left = room.saturating_sub(mapping_rows).min(PROPERTY_ROWS);
    first_of(sheet, count, &lines, left, context);
}

/// So many lines, whether there are as many rows or not; the last one says how many more there are.
fn first_of(sheet: &mut TextPage, count: usize, rows: &[String], most: usize, context: &Context) {
    let shown = if count > most {
        most.saturating_sub(1)
    } else {
        count
    };
    for row in rows.iter().take(shown) {
        let mut row = format!("  {}", visible(row));
        let start = take_front(&row, ROW_CELLS);
        if start.len() < row.len() {
            row = start + context.theme.ellipsis();
        }
        sheet.one_line("", &row, Style::new());
    }
    if count > shown && most > 0 {
        sheet.one_line("", &format!("  {} more", count - shown), Style::new());
    }
    for _ in count..most {
        sheet.blank();
    }
}

/// Where a value came from, unless it came with the last read, whose age stands in a line of its own.
fn own_origin<T>(known: Option<&Known<T>>, group: &KnownGroup, context: &Context) -> String {
    let read = group.last_seen.map(|at| context.age(at));
    known
        .filter(|known| known.source != Source::Returned || read != Some(context.age(known.at)))
        .map_or_else(String::new, |known| origin(known, context))
}

/// All that is known; mapping and properties row by row.
pub fn whole(sheet: &mut TextPage, group: &KnownGroup, context: &Context) {
    let plain = Style::new();
    match &group.name {
        Some(known) => sheet.field(
            "name",
            &known.value,
            context.theme.title(),
            &origin(known, context),
        ),
        None => sheet.field("name", "?", plain, "not known here"),
    }
    sheet.field(
        "user group id",
        group.id.as_str(),
        plain,
        &seen(group, context),
    );
    for oddity in crate::domain::text::oddities(group.id.as_str()) {
        let what = format!("character {}: {}", oddity.position, oddity.what);
        sheet.field("", &what, context.theme.warning(), "");
    }
    if let Some(known) = &group.team_id {
        sheet.field(
            "team id",
            &known.value.to_string(),
            plain,
            &origin(known, context),
        );
    }
    match &group.environment_tag {
        Some(known) => sheet.field("tag", known.value.as_str(), plain, &origin(known, context)),
        None => sheet.field("tag", "?", plain, "comes back from update and rotate only"),
    }
    token(sheet, group, context);
    sheet.blank();
    match &group.mapping {
        Some(known) => {
            sheet.field(
                "mapping~",
                &rows(known.value.len()),
                plain,
                &origin(known, context),
            );
            for (schema, source) in &known.value {
                let line = format!("{schema} {} {source}", context.theme.arrow());
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
                &origin(known, context),
            );
            for (key, value) in &known.value {
                sheet.indented(17, &format!("{key}: {value}"), plain);
            }
        }
        None => sheet.field("properties", "?", plain, "not known here"),
    }
}

const NEVER_RETURNED: &str = "unknown here; the service never returns it";

fn rows(count: usize) -> String {
    match count {
        0 => "empty".into(),
        1 => "1 row".into(),
        count => format!("{count} rows"),
    }
}

fn seen(group: &KnownGroup, context: &Context) -> String {
    group.last_seen.map_or_else(
        || "not read yet".into(),
        |at| format!("read {}", context.since(at)),
    )
}

/// The token, of which only the fingerprint is known.
fn masked(group: &KnownGroup, context: &Context) -> String {
    let mask = context.theme.mask().repeat(8);
    match &group.fingerprint {
        Some(known) => format!("{mask} {}", known.value),
        None => "?".to_owned(),
    }
}

fn token(sheet: &mut TextPage, group: &KnownGroup, context: &Context) {
    let value = masked(group, context);
    let rotated = match &group.last_rotated {
        Some(last) => {
            let since = context.since(last.at);
            last.by.as_ref().map_or_else(
                || format!("changed outside, noticed {since}"),
                |by| format!("rotated~ {since} by {}", visible(by)),
            )
        }
        None => "rotation unknown here".to_owned(),
    };
    // Never cut: half a fingerprint names nothing.
    sheet.field("token", &value, Style::new(), &rotated);
}
