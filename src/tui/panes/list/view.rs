//! How the list looks: the rows that fit, and the details of the row of the cursor below or beside them.

use std::{cell::RefCell, collections::HashSet};

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::List;
use crate::{
    domain::{age, group::EnvironmentTag},
    search::{Entry, Marker},
    tui::{
        keymap::{Action, Focus},
        state::context::Context,
        widgets::{
            boxes::{boxed, boxed_rows, severity_style, with_details},
            columns::{Cell, Column},
            group_details, paint, table,
            text_page::TextPage,
        },
    },
};

/// From this width on the details stand beside the list, not below it (docs/design/console.md).
const BESIDE: u16 = 100;
/// Under this size there are no boxes and no details.
const BARE: (u16, u16) = (60, 11);
/// Rows from which the list can give some away to the details below it.
const BELOW: u16 = 14;
/// Rows of the detail box below the list, edges included.
const DETAIL_ROWS: u16 = 6;
/// Cells of the name in the edge of that box: each one more is an edge to draw anew after it.
const WIDEST_TITLE: usize = 48;
/// Rows that the list keeps when a bulk rotation has a line above it.
const LEAST_ROWS: u16 = 3;

pub(super) fn draw(
    list: &List,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    // Below the way here, whose text begins in the second column too.
    let (mut area, cursor) = list.rows.draw_filter(buffer, area, 1, context.theme);
    if let Some(run) = context.batch_here()
        && area.height > LEAST_ROWS
    {
        let key = context.keys.key(Focus::List, Action::RotateMarked);
        let text = format!(" {}   {key} shows it", run.line());
        let style = severity_style(run.severity(), context.theme);
        let style = if run.is_under_way() {
            Style::new()
        } else {
            style
        };
        paint::line(buffer, paint::row(area, 0), &text, style, context.theme);
        area.y += 1;
        area.height -= 1;
    }
    let bare = area.width < BARE.0 || area.height < BARE.1;
    let (rows, detail) = split(area, list.detail && !bare);
    let inner = if bare {
        rows
    } else {
        let inner = boxed_rows(buffer, rows, "Groups", context.theme);
        draw_position(list, buffer, rows, context);
        inner
    };
    draw_rows(list, buffer, inner, context);
    if let (Some(detail), Some(group)) = (detail, list.group(context)) {
        let is_beside = detail.height > DETAIL_ROWS;
        let title = paint::cut(group.title(), WIDEST_TITLE, context.theme);
        let title = if is_beside { "Details" } else { &title };
        let inner = boxed(buffer, detail, title, context.theme);
        let mut sheet = TextPage::new(inner.width, context.theme);
        if is_beside {
            group_details::beside(&mut sheet, &group, context, inner.height);
        } else {
            group_details::brief(&mut sheet, &group, context);
        }
        sheet.draw_still(buffer, inner);
    }
    cursor
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
        let (rows, detail) = with_details(area, DETAIL_ROWS);
        (rows, Some(detail))
    }
}

fn draw_rows(list: &List, buffer: &mut Buffer, area: Rect, context: &Context) {
    let finder = &list.finder;
    let widest = finder.found().map(|found| found.index.widest());
    let drafts = context.drafts.of(context.current);
    let drafts: HashSet<&str> = drafts
        .iter()
        .map(|unsent| unsent.draft.user_group_id.as_str())
        .collect();
    let mut columns = columns(widest.unwrap_or_default(), area.width);
    make_room_for_drafts(&mut columns, !drafts.is_empty());
    let words = finder.found().map(|found| &found.look.query);
    let words = words.filter(|query| !query.words.is_empty());
    let marker = RefCell::new(words.map(Marker::of));
    let marks = |entry: Entry<'_>| {
        let mut marker = marker.borrow_mut();
        let marks = marker.as_mut().map(|marker| marker.marks(entry));
        marks.unwrap_or_default()
    };
    table::draw_marked(
        buffer,
        area,
        (finder.shown(), &list.rows.cursor),
        |_| columns.clone(),
        |at, here| {
            let entry = finder.entry(*at);
            // The row stays where it was listed; its values are those of now.
            let entry = entry.map(|entry| context.groups.entry(entry.id()).unwrap_or(entry));
            entry.map_or_else(Vec::new, |entry| {
                let has_draft = drafts.contains(entry.id());
                cells(entry, marks(entry), context, (here, has_draft))
            })
        },
        |at| {
            let entry = finder.entry(*at);
            entry.is_some_and(|entry| list.marks.contains(entry.id()))
        },
        &empty_hint(list, context),
        context.theme,
    );
}

/// Which row of how many, in the upper edge of the box.
fn draw_position(list: &List, buffer: &mut Buffer, area: Rect, context: &Context) {
    if list.finder.shown().is_empty() {
        return;
    }
    let text = format!(
        " {}/{} ",
        list.rows.cursor.at + 1,
        list.finder.shown().len()
    );
    let width = text.len() as u16;
    let x = area.right().saturating_sub(width + 2);
    paint::text(buffer, x, area.y, width, &text, context.theme.dim());
}

fn empty_hint(list: &List, context: &Context) -> String {
    let key = |action| context.keys.key(Focus::List, action);
    if context.groups.read_at.is_none() {
        "reading the directory".into()
    } else if list.finder.found().is_none() {
        "searching".into()
    } else if list.rows.filter().is_empty() {
        let key = key(Action::OpenOrCreate);
        format!("no groups known here yet: {key} opens or creates one by its id")
    } else {
        let key = key(Action::Back);
        format!("nothing matches the filter: {key} clears it")
    }
}

/// Cells at most of a name or an id.
const WIDEST: usize = 40;

/// Cells up to which an id is shown whole before a name gets more room, where there is little of it.
const LEAST_ID: u16 = 14;

/// Under so many cells there is little room for names.
const NARROW: u16 = 50;

/// As wide as all groups need, so that a filter moves no column.
fn columns((names, ids): (usize, usize), room: u16) -> Vec<Column> {
    let names = names.clamp(12, WIDEST) as u16;
    let ids = ids.clamp(8, WIDEST) as u16;
    let least = if room < NARROW { ids.min(LEAST_ID) } else { 8 };
    vec![
        Column::new("NAME", 12, names, 1),
        Column::new("ID", least, ids, 0),
        Column::new("TAG", 8, 9, 4),
        Column::new("MAP", 3, 3, 5).right(),
        Column::new("PROPS", 5, 5, 6).right(),
        Column::new("TOKEN", 8, 8, 2),
        Column::new("ROTATED~", 8, 8, 3).right(),
    ]
}

/// Said behind the name of a group with unsent changes.
const DRAFT: &str = " (draft)";

fn make_room_for_drafts(columns: &mut [Column], has_drafts: bool) {
    if has_drafts && let Some(name) = columns.first_mut() {
        // No more: columns that move when a draft comes or goes would be worse than a name cut short.
        name.spare = DRAFT.len() as u16;
    }
}

/// When the token was last rotated, and whether that makes it old here.
fn rotated(entry: Entry<'_>, context: &Context) -> (String, bool) {
    let last = entry.rotated();
    let age = last.map_or_else(|| "?".to_owned(), |at| context.age(at));
    let Some(limit) = context.profile().and_then(|profile| profile.max_token_age) else {
        return (age, false);
    };
    // The ages stand below each other, old or not.
    let since = last.map(|at| age::since(at, context.now));
    if age::exceeds(since, limit) {
        (format!("{age} old"), true)
    } else {
        (format!("{age}    "), false)
    }
}

fn cells<'a>(
    entry: Entry<'a>,
    [in_name, in_id]: [Vec<usize>; 2],
    context: &Context,
    (here, has_draft): (bool, bool),
) -> Vec<Cell<'a>> {
    let unknown = || "?".to_owned();
    let tag = entry.tag().map(EnvironmentTag::parse);
    let expected = context.profile().and_then(|p| p.environment.as_ref());
    let wrong_tag = matches!((expected, &tag), (Some(expected), Some(known)) if expected != known);
    let tag_style = match &tag {
        _ if here => Style::new(),
        _ if wrong_tag => context.theme.error(),
        Some(EnvironmentTag::Customer) => Style::new(),
        _ => context.theme.dim(),
    };
    let tag = tag.map_or_else(unknown, |tag| tag.to_string());
    let tag = if wrong_tag { format!("!{tag}") } else { tag };
    let count = |count: Option<u32>| count.map_or_else(unknown, |count| count.to_string());
    let (rotated, is_old) = rotated(entry, context);
    let rotated_style = if is_old && !here {
        context.theme.warning()
    } else {
        Style::new()
    };
    // A colour would spoil the reverse of the cursor's row.
    let matched = context.theme.matched();
    let matched = if here {
        Style::new().add_modifier(matched.add_modifier)
    } else {
        matched
    };
    let in_title = if entry.name().is_some() {
        in_name
    } else {
        in_id.clone()
    };
    let tail = if has_draft { DRAFT } else { "" };
    vec![
        Cell::new(entry.title())
            .with_tail(tail)
            .marked(in_title, matched),
        Cell::new(entry.id()).marked(in_id, matched),
        Cell::new(tag).styled(tag_style),
        Cell::new(count(entry.mapped())),
        Cell::new(count(entry.keys())),
        Cell::new(entry.fingerprint().unwrap_or("?")),
        Cell::new(rotated).styled(rotated_style),
    ]
}
