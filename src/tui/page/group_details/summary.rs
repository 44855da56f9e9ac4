//! The details of the group under the cursor, below or beside the list. They fill the rows they are given: mapping and
//! properties share what is left by the others.

use std::time::Duration;

use ratatui::style::Style;
use serde_json::Value;

use super::{NEVER_RETURNED, by, known_token, origin, rows, seen};
use crate::{
    domain::{
        age::{self, DEFAULT_LIMIT, TokenAge, days},
        known::KnownGroup,
        text::{oddities, visible},
    },
    tui::{
        kit::{
            paint::{self, columns},
            text_page::TextPage,
        },
        state::{context::Context, live::ChangedField},
        theme::Theme,
    },
};

/// Width of the labels, in cells.
const LABEL: usize = 9;
/// Maximum width of the keys of mapping and properties, in cells.
const MAX_KEY_WIDTH: usize = 16;

type Pieces = Vec<(String, Style)>;

/// The age of a token relative to its limit: `388d, 298d over the limit`.
pub fn age(group: &KnownGroup, context: &Context) -> (String, Style) {
    let limit = context.profile().and_then(|profile| profile.max_token_age);
    let age = age::age(group, context.now);
    let scale = TokenAge::of(age, limit);
    let style = context.theme.age(scale);
    let Some(age) = age else {
        return ("age unknown".into(), style);
    };
    let left = |limit: Duration| days(limit.saturating_sub(age));
    let text = match (scale, limit) {
        (TokenAge::Fresh | TokenAge::Unknown, _) => days(age),
        (TokenAge::Due, Some(limit)) => format!("{}, due in {}", days(age), left(limit)),
        (TokenAge::Over | TokenAge::Far, Some(limit)) => {
            format!(
                "{}, {} over the limit",
                days(age),
                days(age.saturating_sub(limit))
            )
        }
        (_, None) => format!("{}, usual limit {}", days(age), days(DEFAULT_LIMIT)),
    };
    (text, style)
}

fn rotated_by(group: &KnownGroup, context: &Context) -> String {
    match &group.last_rotated {
        Some(last) => match &last.by {
            Some(by) => format!("rotated {} by {}", context.moment(last.at), visible(by)),
            None => format!("changed outside, noticed {}", context.moment(last.at)),
        },
        None => "rotation unknown".into(),
    }
}

/// The colour of a JSON value.
fn value_style(value: &Value, theme: Theme) -> Style {
    match value {
        Value::String(_) => theme.json_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => theme.json_value(),
        Value::Array(_) | Value::Object(_) => Style::new(),
    }
}

fn label(text: &str, theme: Theme) -> (String, Style) {
    (format!("{text:<LABEL$}"), theme.heading())
}

/// Width of a column of keys, in cells.
fn key_width<'k>(keys: impl Iterator<Item = &'k String>) -> usize {
    let widest = keys.map(|key| columns(key)).max();
    widest.unwrap_or(0).min(MAX_KEY_WIDTH)
}

fn padded(key: &str, width: usize, theme: Theme) -> String {
    let key = paint::cut(key, width, theme);
    let gap = " ".repeat(width.saturating_sub(columns(&key)));
    format!("{key}{gap}")
}

/// Writes as many parts as fit, the number of further ones, and their origin.
fn one_line(
    page: &mut TextPage,
    name: &str,
    parts: impl Iterator<Item = Pieces>,
    origin: &str,
    theme: Theme,
) {
    let room = page.width().saturating_sub(LABEL);
    let parts: Vec<Pieces> = parts.collect();
    let width = |pieces: &Pieces| pieces.iter().map(|(text, _)| columns(text)).sum::<usize>();
    let mut line = vec![label(name, theme)];
    let mut used = 0;
    let mut shown = 0;
    let tail = |shown: usize| match parts.len() - shown {
        0 => format!("  {origin}"),
        more => format!("  +{more}, {origin}"),
    };
    for pieces in &parts {
        let before = if shown == 0 { 0 } else { 2 };
        let after = columns(&tail(shown + 1));
        if used + before + width(pieces) + after > room {
            break;
        }
        if before > 0 {
            line.push(("  ".into(), Style::new()));
        }
        used += before + width(pieces);
        line.extend(pieces.iter().cloned());
        shown += 1;
    }
    let tail = tail(shown);
    let tail = if used == 0 { tail.trim_start() } else { &tail };
    let tail = paint::words_that_fit(tail, room - used, theme);
    line.push((tail, theme.dim()));
    page.pieces(line);
}

/// Writes the few lines below the list.
pub fn brief(page: &mut TextPage, group: &KnownGroup, context: &Context) {
    let theme = context.theme;
    let (age, style) = age(group, context);
    let token = known_token(group);
    let taken = LABEL + columns(&token) + columns(&age) + 4;
    let room = page.width().saturating_sub(taken);
    // Its age already says when it was rotated.
    let by = group
        .last_rotated
        .as_ref()
        .and_then(|last| last.by.as_ref());
    let rotated = by.map_or_else(
        || rotated_by(group, context),
        |by| format!("rotated by {}", visible(by)),
    );
    let rotated = paint::words_that_fit(&rotated, room, theme);
    page.pieces(vec![
        label("Token", theme),
        (token, Style::new()),
        ("  ".into(), Style::new()),
        (age, style),
        ("  ".into(), Style::new()),
        (rotated, theme.dim()),
    ]);
    match &group.mapping {
        Some(known) => {
            let rows = known.value.iter().map(|(schema, source)| {
                let text = format!("{}{}{}", visible(schema), theme.arrow(), visible(source));
                vec![(text, Style::new())]
            });
            one_line(page, "Mapping", rows, &origin(known, context), theme);
        }
        None => one_line(page, "Mapping", std::iter::empty(), NEVER_RETURNED, theme),
    }
    if let Some(known) = &group.properties {
        let rows = known.value.iter().map(|(key, value)| {
            let text = visible(&value.to_string()).into();
            vec![
                (format!("{} ", visible(key)), theme.json_key()),
                (text, value_style(value, theme)),
            ]
        });
        one_line(page, "Props", rows, &origin(known, context), theme);
    } else {
        one_line(
            page,
            "Props",
            std::iter::empty(),
            unread(group, context),
            theme,
        );
    }
    if let Some(oddity) = oddities(group.id.as_str()).first() {
        let what = format!("! Id, character {}: {}", oddity.position, oddity.what);
        page.text(&what, theme.warning());
    } else if let Some(doing) = context.doing(&group.id) {
        page.pieces(vec![label("Now", theme), (doing.in_words(), theme.news())]);
    } else if !note(page, group, context) {
        let seen = seen(group, context);
        let seen = seen.trim_start_matches("read ").trim_start_matches("at ");
        page.pieces(vec![label("Read", theme), (seen.into(), Style::new())]);
    }
}

/// Says that something was never returned, and whether reading the group is possible: of a group that was never seen in
/// the service it could create it.
fn unread(group: &KnownGroup, context: &Context) -> &'static str {
    match (group.last_seen, context.view_only_reason()) {
        (None, _) => "unknown: never seen in the service",
        (Some(_), None) => "unknown: not read yet, Enter reads it",
        (Some(_), Some(_)) => "unknown: not read yet",
    }
}

/// Writes note and labels on one line, if there are any; returns whether it did.
fn note(page: &mut TextPage, group: &KnownGroup, context: &Context) -> bool {
    let theme = context.theme;
    let annotation = context.annotations.get(group.id.as_str());
    let Some(annotation) = annotation.filter(|one| one.note.is_some() || !one.labels.is_empty())
    else {
        return false;
    };
    let labels = annotation.labels_text();
    let written = annotation
        .noted
        .as_ref()
        .filter(|_| annotation.note.is_some());
    let written = written.map_or_else(String::new, |written| by(written, context));
    let room = page.width().saturating_sub(LABEL);
    let labels = paint::words_that_fit(&labels, room / 3, theme);
    let room = room.saturating_sub(columns(&labels) + columns(&written) + 5);
    let note = annotation.note.as_deref().map_or("", |note| note);
    let note = paint::words_that_fit(&visible(note), room, theme);
    let mut line = vec![label("Note", theme)];
    for (text, style) in [
        (note, Style::new()),
        (written, theme.dim()),
        (labels, theme.label()),
    ] {
        if !text.is_empty() {
            line.push((text, style));
            line.push(("  ".into(), Style::new()));
        }
    }
    page.pieces(line);
    true
}

/// Writes the details beside the list, in `height` rows.
pub fn side_panel(page: &mut TextPage, group: &KnownGroup, context: &Context, height: u16) {
    let theme = context.theme;
    let plain = Style::new();
    let room = page.width().saturating_sub(LABEL);
    let field = |page: &mut TextPage, name: &str, value: &str, style: Style| {
        let value = paint::words_that_fit(value, room, theme);
        page.pieces(vec![label(name, theme), (value, style)]);
    };
    // Changes by others have a sign and a colour until the person has seen them.
    let news = context.live.news_of(group.id.as_str());
    let marked = |field: ChangedField, text: &str, style: Style| {
        if news.is_some_and(|news| news.fields.contains(&field)) {
            (format!("~ {text}"), theme.news())
        } else {
            (text.to_owned(), style)
        }
    };
    if let Some(name) = &group.name {
        let (name, style) = marked(ChangedField::Name, &name.value, theme.title());
        page.pieces(vec![(paint::cut(&name, page.width(), theme), style)]);
    }
    let id = paint::cut_id(group.id.as_str(), room, theme);
    page.pieces(vec![label("ID", theme), (id, plain)]);
    for oddity in oddities(group.id.as_str()).iter().take(1) {
        let what = format!("! Character {}: {}", oddity.position, oddity.what);
        page.text(&what, theme.warning());
    }
    let team = group.team_id.as_ref();
    let team = team.map_or_else(|| "-".to_owned(), |known| known.value.to_string());
    field(page, "Team", &team, plain);
    let tag = group.environment_tag.as_ref();
    field(
        page,
        "Tag",
        tag.map_or("-", |tag| tag.value.as_str()),
        plain,
    );
    let read = group.last_seen.map(|at| context.moment(at));
    let read = read.as_deref().unwrap_or(unread(group, context));
    field(page, "Read", read.trim_start_matches("at "), plain);
    page.blank();
    let (token, style) = marked(ChangedField::Token, &known_token(group), plain);
    field(page, "Token", &token, style);
    let (age, style) = age(group, context);
    field(page, "Age", &age, style);
    let rotated = rotated_by(group, context);
    let rotated = rotated
        .trim_start_matches("rotated ")
        .trim_start_matches("at ");
    field(page, "Rotated", rotated, plain);
    if context.to_hand_off.contains_key(&group.id) {
        field(
            page,
            "Hand-off",
            "x the new token was not delivered",
            theme.error(),
        );
    }
    if let Some(doing) = context.doing(&group.id) {
        field(page, "Now", &doing.in_words(), theme.news());
    }
    if let Some(annotation) = context.annotations.get(group.id.as_str()) {
        if let Some(note) = &annotation.note {
            field(page, "Note", &visible(note), plain);
        }
        if !annotation.labels.is_empty() {
            field(page, "Labels", &annotation.labels_text(), plain);
        }
    }
    let mapping: Vec<Pieces> = group
        .mapping
        .iter()
        .flat_map(|known| {
            let keys = key_width(known.value.keys());
            known.value.iter().map(move |(schema, source)| {
                vec![
                    (
                        format!("  {} {} ", padded(schema, keys, theme), theme.arrow()),
                        plain,
                    ),
                    (visible(source).into_owned(), plain),
                ]
            })
        })
        .collect();
    let properties: Vec<Pieces> = group
        .properties
        .iter()
        .flat_map(|known| {
            let keys = key_width(known.value.keys());
            known.value.iter().map(move |(key, value)| {
                vec![
                    (format!("  {} ", padded(key, keys, theme)), theme.json_key()),
                    (
                        visible(&value.to_string()).into_owned(),
                        value_style(value, theme),
                    ),
                ]
            })
        })
        .collect();
    // Each block has a blank line and a heading.
    let free = usize::from(height).saturating_sub(page.height() + 4);
    let (mapping_rows, property_rows) = share(free, mapping.len(), properties.len());
    let known = group.mapping.as_ref();
    let from = known.map_or_else(|| NEVER_RETURNED.to_owned(), |known| origin(known, context));
    let count = known.map_or_else(|| "-".to_owned(), |known| rows(known.value.len()));
    block(
        page,
        (
            "Mapping",
            marked(ChangedField::Mapping, &count, plain),
            &from,
        ),
        mapping,
        mapping_rows,
        context,
    );
    let known = group.properties.as_ref();
    let from = known.map_or_else(
        || unread(group, context).into(),
        |known| origin(known, context),
    );
    let count = known.map_or_else(|| "-".to_owned(), |known| rows(known.value.len()));
    block(
        page,
        (
            "Properties",
            marked(ChangedField::Properties, &count, plain),
            &from,
        ),
        properties,
        property_rows,
        context,
    );
}

/// Divides free rows between two lists in proportion; each gets at least one, and none more than it needs.
fn share(free: usize, one: usize, other: usize) -> (usize, usize) {
    if one + other <= free {
        return (one, other);
    }
    let first = (free * one).div_ceil(one + other);
    let first = first.min(free.saturating_sub(other.min(1))).min(one);
    (first, (free - first).min(other))
}

/// Writes a heading with count and origin, and this many rows; the last one says how many more there are.
fn block(
    page: &mut TextPage,
    (name, (count, style), from): (&str, (String, Style), &str),
    all: Vec<Pieces>,
    height: usize,
    context: &Context,
) {
    let theme = context.theme;
    page.blank();
    let head = format!("{name} {count}  ");
    let from = paint::words_that_fit(from, page.width().saturating_sub(columns(&head)), theme);
    page.pieces(vec![
        (format!("{name} "), theme.heading()),
        (format!("{count}  "), style),
        (from, theme.dim()),
    ]);
    let hidden = if all.len() > height {
        all.len() - height.saturating_sub(1)
    } else {
        0
    };
    let shown = all.len() - hidden;
    for mut pieces in all.into_iter().take(shown) {
        let before: usize = pieces
            .iter()
            .rev()
            .skip(1)
            .map(|(text, _)| columns(text))
            .sum();
        if let Some((last, _)) = pieces.last_mut() {
            *last = paint::cut(last, page.width().saturating_sub(before), theme);
        }
        page.pieces(pieces);
    }
    if hidden > 0 && height > 0 {
        page.pieces(vec![(format!("  {hidden} more: Enter"), theme.dim())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_free_go_to_rows_that_were_cut() {
        for free in 0..30 {
            for one in 0..20 {
                for other in 0..20 {
                    let (first, second) = share(free, one, other);
                    let used = first + second;
                    assert_eq!(used, free.min(one + other), "{free}: {one} {other}");
                    assert!(first <= one && second <= other);
                }
            }
        }
    }
}
