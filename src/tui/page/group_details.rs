//! What is known about a group, on a page: every value with its origin and time (hazard 3 of docs/design/service.md).

mod summary;

pub use summary::{age, brief, side_panel};

use ratatui::style::Style;

use crate::{
    domain::{
        annotation::Attribution,
        known::{Known, KnownGroup, Source},
        text::{counted, visible},
    },
    tui::{kit::text_page::TextPage, state::context::Context},
};

/// "returned at 14:05 CET", "sent 3h ago by ana@bastion2".
pub fn origin<T>(known: &Known<T>, context: &Context) -> String {
    let since = context.moment(known.at);
    match known.source {
        Source::Returned => format!("returned {since}"),
        Source::Sent => format!("sent {since} by {}", visible(&known.by)),
        Source::Imported => format!("imported {since} by {}", visible(&known.by)),
    }
}

/// "li@desk7, 4d ago".
pub fn by(written: &Attribution, context: &Context) -> String {
    format!("{}, {}", visible(&written.by), context.moment(written.at))
}

/// Writes notes and labels of the group, if there are any, with who wrote them and when.
pub fn annotation(page: &mut TextPage, group: &KnownGroup, context: &Context) {
    let Some(annotation) = context.annotations.get(group.id.as_str()) else {
        return;
    };
    let by = |written: Option<&Attribution>| {
        written.map_or_else(String::new, |written| by(written, context))
    };
    if let Some(note) = &annotation.note {
        page.field("Note", note, Style::new(), &by(annotation.noted.as_ref()));
    }
    let labels = annotation.labels_text();
    let mark = if annotation.is_favourite {
        "favourite "
    } else {
        ""
    };
    if !labels.is_empty() || annotation.is_favourite {
        let text = format!("{mark}{labels}");
        page.field(
            "Labels",
            text.trim_end(),
            Style::new(),
            &by(annotation.labelled.as_ref()),
        );
    }
}

/// Writes everything that is known; mapping and properties row by row.
pub fn whole(page: &mut TextPage, group: &KnownGroup, context: &Context) {
    let plain = Style::new();
    match &group.name {
        Some(known) => page.field(
            "name",
            &known.value,
            context.theme.title(),
            &origin(known, context),
        ),
        None => page.field("name", "-", plain, "not in the directory"),
    }
    page.field(
        "user group ID",
        group.id.as_str(),
        plain,
        &seen(group, context),
    );
    for oddity in crate::domain::text::oddities(group.id.as_str()) {
        let what = format!("character {}: {}", oddity.position, oddity.what);
        page.field("", &what, context.theme.warning(), "");
    }
    if let Some(known) = &group.team_id {
        page.field(
            "team id",
            &known.value.to_string(),
            plain,
            &origin(known, context),
        );
    }
    match &group.environment_tag {
        Some(known) => page.field("tag", known.value.as_str(), plain, &origin(known, context)),
        None => page.field("tag", "-", plain, "comes back from update and rotate only"),
    }
    token(page, group, context);
    if let Some(doing) = context.doing(&group.id) {
        page.field("now", &doing.in_words(), context.theme.news(), "");
    }
    annotation(page, group, context);
    page.blank();
    match &group.mapping {
        Some(known) => {
            page.field(
                "mapping",
                &rows(known.value.len()),
                plain,
                &origin(known, context),
            );
            for (schema, source) in &known.value {
                let line = format!("{schema} {} {source}", context.theme.arrow());
                page.indented(17, &line, plain);
            }
        }
        None => page.field("mapping", "-", plain, NEVER_RETURNED),
    }
    page.blank();
    match &group.properties {
        Some(known) => {
            page.field(
                "properties",
                &rows(known.value.len()),
                plain,
                &origin(known, context),
            );
            for (key, value) in &known.value {
                page.indented(17, &format!("{key}: {value}"), plain);
            }
        }
        None => page.field("properties", "-", plain, "not in the directory"),
    }
}

const NEVER_RETURNED: &str = "unknown; the service never returns it";

fn rows(count: usize) -> String {
    match count {
        0 => "empty".into(),
        count => counted(count, "row"),
    }
}

fn seen(group: &KnownGroup, context: &Context) -> String {
    group.last_seen.map_or_else(
        || "not read yet".into(),
        |at| format!("read {}", context.moment(at)),
    )
}

/// The token, of which only the fingerprint is known.
pub fn known_token(group: &KnownGroup) -> String {
    match &group.fingerprint {
        Some(known) => format!("fingerprint {}", known.value),
        None => "-".to_owned(),
    }
}

fn token(page: &mut TextPage, group: &KnownGroup, context: &Context) {
    let value = known_token(group);
    let rotated = match &group.last_rotated {
        Some(last) => {
            let since = context.moment(last.at);
            last.by.as_ref().map_or_else(
                || format!("changed outside, noticed {since}"),
                |by| format!("rotated {since} by {}", visible(by)),
            )
        }
        None => "rotation unknown".to_owned(),
    };
    // Never cut: half a fingerprint identifies nothing.
    page.field("token", &value, Style::new(), &rotated);
}
