//! How the list looks: the rows that fit, and the details of the row of the cursor below or beside them.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{List, split_ages};
use crate::{
    domain::{age, group::EnvironmentTag, known::KnownGroup},
    tui::{
        app::batches::severity,
        desk::Desk,
        facts,
        frame::{boxed, severity_style},
        sheet::Sheet,
        table,
        widgets::{
            columns::{Cell, Column, widest},
            paint,
        },
    },
};

/// From this width on the details stand beside the list, not below it (console.md).
const BESIDE: u16 = 100;
/// Under this size there are no boxes and no details.
const BARE: (u16, u16) = (60, 11);
/// Rows from which the list can give some away to the details below it.
const BELOW: u16 = 14;
/// Rows of the detail box below the list, edges included.
const DETAIL_ROWS: u16 = 6;
/// Rows that the list keeps when a bulk rotation has a line above it.
const LEAST_ROWS: u16 = 3;

pub(super) fn draw(list: &List, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
    let mut area = area;
    let mut cursor = None;
    if list.filtering || !list.filter.is_empty() {
        let line = paint::row(area, 0);
        cursor = list.filter.draw(buffer, line, desk.theme, list.filtering);
        area.y += 1;
        area.height = area.height.saturating_sub(1);
    }
    if let Some(run) = desk.bulk_here()
        && area.height > LEAST_ROWS
    {
        let text = format!(" {}   T shows it", run.line());
        let style = severity_style(severity(run), desk.theme);
        let style = if run.is_under_way() {
            Style::new()
        } else {
            style
        };
        paint::line(buffer, paint::row(area, 0), &text, style, desk.theme);
        area.y += 1;
        area.height -= 1;
    }
    let bare = area.width < BARE.0 || area.height < BARE.1;
    let (rows, detail) = split(area, list.detail && !bare);
    let inner = if bare {
        rows
    } else {
        // The gutter with the cursor stands at the edge itself.
        let inner = boxed(buffer, rows, "Groups", desk.theme);
        draw_position(list, buffer, rows, desk);
        Rect {
            x: inner.x - 1,
            width: inner.width + 2,
            ..inner
        }
    };
    draw_rows(list, buffer, inner, desk);
    if let (Some(detail), Some(group)) = (detail, list.group(desk)) {
        let inner = boxed(buffer, detail, group.title(), desk.theme);
        let mut sheet = Sheet::new(inner.width, desk.theme);
        if detail.height > DETAIL_ROWS {
            facts::whole(&mut sheet, group, desk);
        } else {
            facts::brief(&mut sheet, group, desk);
        }
        sheet.draw_still(buffer, inner);
    }
    cursor.filter(|_| list.filtering)
}

fn split(area: Rect, detail: bool) -> (Rect, Option<Rect>) {
    if !detail {
        return (area, None);
    }
    if area.width >= BESIDE {
        let beside = (area.width * 2 / 5).min(70);
        let rows = Rect {
            width: area.width - beside,
            ..area
        };
        let detail = Rect {
            x: rows.right(),
            width: beside,
            ..area
        };
        (rows, Some(detail))
    } else if area.height < BELOW {
        (area, None)
    } else {
        let below = DETAIL_ROWS.min(area.height / 2);
        let rows = Rect {
            height: area.height - below,
            ..area
        };
        let detail = Rect {
            y: rows.bottom(),
            height: below,
            ..area
        };
        (rows, Some(detail))
    }
}

fn draw_rows(list: &List, buffer: &mut Buffer, area: Rect, desk: &Desk) {
    let groups = desk.groups.rows();
    table::draw_marked(
        buffer,
        area,
        (&list.shown, list.cursor),
        |window| {
            let shown = window.iter().map(|at| &groups[*at].group);
            let has_draft = shown.clone().any(|group| desk.has_draft(&group.id));
            with_room_for_drafts(columns(shown), has_draft)
        },
        |at, here| cells(&groups[*at].group, desk, here),
        |at| list.marks.contains(&groups[*at].group.id),
        empty_hint(list, desk),
        desk.theme,
    );
}

/// Which row of how many, in the upper edge of the box.
fn draw_position(list: &List, buffer: &mut Buffer, area: Rect, desk: &Desk) {
    if list.shown.is_empty() {
        return;
    }
    let text = format!(" {}/{} ", list.cursor.at + 1, list.shown.len());
    let width = text.len() as u16;
    let x = area.right().saturating_sub(width + 2);
    paint::text(buffer, x, area.y, width, &text, desk.theme.dim());
}

fn empty_hint(list: &List, desk: &Desk) -> &'static str {
    if desk.groups.read_at.is_none() {
        "reading the directory"
    } else if list.filter.is_empty() {
        "no groups known here yet: o opens or creates one by its id"
    } else if split_ages(list.filter.text()).0.iter().any(Result::is_err) {
        "an age is a number and its unit: age>90d, age<12w, age>36h"
    } else {
        "nothing matches the filter: Esc clears it"
    }
}

fn columns<'a>(groups: impl Iterator<Item = &'a KnownGroup> + Clone) -> Vec<Column> {
    let names = widest(groups.clone().map(KnownGroup::title), 40).max(12);
    let ids = widest(groups.map(|group| group.id.as_str()), 40).max(8);
    vec![
        Column::new("NAME", 12, names, 1),
        Column::new("ID", 8, ids, 0),
        Column::new("TAG", 8, 9, 4),
        Column::new("MAP~", 4, 4, 5).right(),
        Column::new("PROPS", 5, 5, 6).right(),
        Column::new("TOKEN", 8, 8, 2),
        Column::new("ROTATED~", 8, 8, 3).right(),
    ]
}

/// Said behind the name of a group with unsent changes.
const DRAFT: &str = " (draft)";

fn with_room_for_drafts(mut columns: Vec<Column>, has_draft: bool) -> Vec<Column> {
    if has_draft && let Some(name) = columns.first_mut() {
        name.min += DRAFT.len() as u16;
        name.max += DRAFT.len() as u16;
    }
    columns
}

/// When the token was last rotated, and whether that makes it old here.
fn rotated(group: &KnownGroup, desk: &Desk) -> (String, bool) {
    let age = group
        .last_rotated
        .as_ref()
        .map_or_else(|| "?".to_owned(), |last| desk.age(last.at));
    let Some(limit) = desk.profile().and_then(|profile| profile.max_token_age) else {
        return (age, false);
    };
    // The ages stand below each other, old or not.
    if age::is_older(group, limit, desk.now) {
        (format!("{age} old"), true)
    } else {
        (format!("{age}    "), false)
    }
}

fn cells(group: &KnownGroup, desk: &Desk, here: bool) -> Vec<Cell<'static>> {
    let unknown = || "?".to_owned();
    let tag = group
        .environment_tag
        .as_ref()
        .map_or_else(unknown, |known| known.value.to_string());
    let wrong_tag = match (
        desk.profile().and_then(|p| p.environment.as_ref()),
        &group.environment_tag,
    ) {
        (Some(expected), Some(known)) => *expected != known.value,
        _ => false,
    };
    let tag = if wrong_tag { format!("!{tag}") } else { tag };
    let tag_style = match &group.environment_tag {
        _ if here => Style::new(),
        _ if wrong_tag => desk.theme.error(),
        Some(known) if known.value == EnvironmentTag::Customer => Style::new(),
        _ => desk.theme.dim(),
    };
    let count = |count: Option<usize>| count.map_or_else(unknown, |count| count.to_string());
    let mapping = count(group.mapping.as_ref().map(|known| known.value.len()));
    let properties = count(group.properties.as_ref().map(|known| known.value.len()));
    let token = group
        .fingerprint
        .as_ref()
        .map_or_else(unknown, |known| known.value.to_string());
    let (rotated, is_old) = rotated(group, desk);
    let rotated_style = if is_old && !here {
        desk.theme.warning()
    } else {
        Style::new()
    };
    vec![
        Cell::new(if desk.has_draft(&group.id) {
            format!("{}{DRAFT}", group.title())
        } else {
            group.title().to_owned()
        }),
        Cell::new(group.id.as_str().to_owned()),
        Cell::new(tag).styled(tag_style),
        Cell::new(mapping),
        Cell::new(properties),
        Cell::new(token),
        Cell::new(rotated).styled(rotated_style),
    ]
}
