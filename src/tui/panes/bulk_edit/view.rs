//! Draws the bulk edit: the change in one line if there is room, the review below it, then what is sent and how to
//! confirm it.

use ratatui::prelude::Margin;

use super::{BulkEdit, Row, Shown};
use crate::tui::panes::prelude::*;
use crate::{
    domain::{
        EditPlan,
        batch::{EditRow, UnverifiedField, Verdict},
    },
    tui::kit::{Column, Input, table, take, titled_rows},
};

/// From this width on, the fields are side by side.
const SIDE_BY_SIDE_WIDTH: u16 = 70;
/// Rows for what is sent, and how to undo it.
const FOOT_ROWS: u16 = 2;
/// Limits of the width of a field beside others, in cells.
const FIELD: u16 = 10;
const WIDEST_FIELD: u16 = 40;
/// If the table would have fewer rows than this, a sentence is left out.
const MIN_TABLE_ROWS: u16 = 4;

pub(super) fn draw(
    pane: &BulkEdit,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let theme = context.theme;
    let mut left = area;
    left = titled_rows(buffer, left, "Change", !pane.confirming, theme);
    let rows = field_rows(pane, area);
    let cursor = draw_fields(pane, buffer, take(&mut left, rows), theme);
    let (keys, why_not) = (&context.keys, why_not(pane, context));
    let inner = left.width.saturating_sub(2);
    let confirm = pane.confirm.rows(inner, keys, theme, why_not.as_deref());
    let foot = if left.height > FOOT_ROWS + confirm + MIN_TABLE_ROWS {
        FOOT_ROWS + confirm
    } else {
        left.height.min(confirm)
    };
    let (review, below) = split_below(left, foot);
    let title = format!("Review  {}", counts(pane));
    let review = titled_rows(buffer, review, title.trim_end(), pane.confirming, theme);
    draw_rows(pane, buffer, review, context);
    draw_foot(pane, buffer, below, context).or(cursor)
}

/// `17 change  1 already set  2 skipped`, or the count of what is shown.
fn counts(pane: &BulkEdit) -> String {
    let Some(plan) = &pane.plan else {
        return String::new();
    };
    let (change, same, skipped) = plan.counts();
    let mut parts = vec![format!("{change} change")];
    if same > 0 {
        parts.push(format!("{same} already set"));
    }
    if skipped > 0 {
        parts.push(format!("{skipped} skipped"));
    }
    let only = match pane.shown {
        Shown::All => "",
        Shown::Change => "   shows change",
        Shown::Same => "   shows already set",
        Shown::Skipped => "   shows skipped",
    };
    format!("{}{only}", parts.join("  "))
}

fn field_rows(pane: &BulkEdit, area: Rect) -> u16 {
    match (pane.has_fields(), area.width >= SIDE_BY_SIDE_WIDTH) {
        (false, _) | (_, true) => 1,
        (true, false) => pane.fields.0.shown().count() as u16,
    }
}

/// The fields beside each other share what their labels leave.
fn field_cells(pane: &BulkEdit, width: u16) -> u16 {
    let form = &pane.fields.0;
    let fields = form.shown().map(|(_, item)| item);
    let fields = fields.filter(|item| matches!(item.input, Input::Text(_)));
    let labels: Vec<u16> = fields
        .map(|item| paint::columns(item.label) as u16 + 3)
        .collect();
    // The action with its brackets, so that nothing moves when it gets the focus.
    let action = paint::columns(form.typed(Row::Action)) as u16 + 6;
    let free = width.saturating_sub(action + labels.iter().sum::<u16>());
    (free / labels.len().max(1) as u16).clamp(FIELD, WIDEST_FIELD)
}

fn draw_fields(pane: &BulkEdit, buffer: &mut Buffer, area: Rect, theme: Theme) -> Option<Position> {
    let inner = area.inner(Margin::new(1, 0));
    let line = paint::row(inner, 0);
    let is_narrow = area.width < SIDE_BY_SIDE_WIDTH;
    if !pane.has_fields() {
        let change = pane.plan.as_ref().map(|plan| plan.change.to_string());
        let change = change.unwrap_or_default();
        paint::line(buffer, line, &change, Style::new(), theme);
        return None;
    }
    let form = &pane.fields.0;
    let is_on_action = !pane.confirming && form.key() == Row::Action;
    let action = form.typed(Row::Action);
    let (action, style) = if is_on_action {
        (format!("< {action} >"), theme.title())
    } else {
        (action.to_owned(), Style::new())
    };
    let cells = field_cells(pane, inner.width);
    let mut x = paint::line(buffer, line, &action, style, theme) + 2;
    let mut cursor = None;
    for (index, (is_here, item)) in form.shown().enumerate() {
        let Input::Text(field) = &item.input else {
            continue;
        };
        let focused = is_here && !pane.confirming;
        let place = if is_narrow {
            paint::row(inner, index as u16)
        } else {
            paint::from_column(line, x)
        };
        // A sign as well, so that the focused field is visible without colour.
        let (sign, style) = if focused {
            (">", theme.focus())
        } else {
            (" ", theme.dim())
        };
        let before = format!("{sign}{} ", item.label);
        let start = paint::line(buffer, place, &before, style, theme);
        let room = paint::from_column(place, start);
        let text = paint::first_cells(room, if is_narrow { room.width } else { cells });
        x = text.right() + 1;
        if text.is_empty() {
            continue;
        }
        let at = field.draw(buffer, text, theme, focused);
        // Underlined over its full width, with or without the focus.
        buffer.set_style(text.intersection(buffer.area), theme.focused());
        cursor = cursor.or(at);
    }
    cursor
}

fn draw_rows(pane: &BulkEdit, buffer: &mut Buffer, area: Rect, context: &Context) {
    let theme = context.theme;
    let Some(plan) = &pane.plan else {
        // What is wrong stands below, where the confirmation would be.
        let text = match &pane.wrong {
            Some(_) => "Shows each group with its change when the input is valid",
            None => "Checking the groups in the directory",
        };
        let area = paint::after_cells(area, 2);
        paint::wrapped(buffer, area, text, theme.dim(), theme);
        return;
    };
    table::draw(
        buffer,
        area,
        (&pane.rows, &pane.cursor),
        |window| columns(window.iter().filter_map(|at| plan.rows.get(*at)), area),
        |at, _| {
            let row = plan.rows.get(*at);
            row.map_or_else(Vec::new, |row| cells(row, area, context))
        },
        "no groups",
        theme,
    );
}

/// From this width on there is room for names.
const WIDE_WIDTH: u16 = 110;

fn columns<'a>(rows: impl Iterator<Item = &'a EditRow> + Clone, area: Rect) -> Vec<Column> {
    let ids = widest(rows.clone().map(|row| row.id.as_str()), 40).max(8);
    let values = rows.clone().flat_map(|row| [&row.before, &row.after]);
    let values = widest(values.flatten().map(String::as_str), 24).max(9);
    let mut columns = vec![
        Column::new("", 1, 1, 0),
        Column::new("GROUP", ids, ids, 0),
        Column::new("BEFORE", 9, values, 1),
        Column::new("AFTER", 9, values, 1),
        Column::new("NOTE", 10, 60, 2).sentence(),
    ];
    if area.width >= WIDE_WIDTH {
        let names = widest(rows.filter_map(|row| row.name.as_deref()), 40).max(8);
        columns.insert(2, Column::new("NAME", 8, names, 3));
    }
    columns
}

fn cells<'a>(row: &'a EditRow, area: Rect, context: &Context) -> Vec<Cell<'a>> {
    let theme = context.theme;
    let (sign, style) = match row.verdict {
        Verdict::Change => ("~", theme.changed()),
        Verdict::Same => ("=", Style::new()),
        Verdict::Skipped(_) => ("!", theme.warning()),
    };
    let changes = row.verdict == Verdict::Change;
    let value = |value: &'a Option<String>, style: Style| match value {
        Some(text) if changes => Cell::new(text.as_str()).styled(style),
        Some(text) => Cell::new(text.as_str()),
        None if changes => Cell::new("(none)").styled(style),
        None => Cell::new(""),
    };
    let before = if row.is_known {
        value(&row.before, theme.removed())
    } else {
        Cell::new("unknown").styled(theme.unknown())
    };
    let note = match (&row.verdict, &row.recent) {
        (Verdict::Skipped(why), _) => Cell::new(format!("skipped: {why}")),
        (Verdict::Same, _) => Cell::new("already set, not sent"),
        (Verdict::Change, Some(recent)) => {
            let fields = recent.fields.iter().map(|field| field.as_str());
            let fields: Vec<_> = fields.collect();
            let at = context.moment(recent.at);
            let by = &recent.by;
            // The fields come first, because text that does not fit is cut off at the end.
            Cell::new(format!("{} changed by {by}, {at}", fields.join(", ")))
                .styled(theme.changed())
        }
        (Verdict::Change, None) => Cell::new(""),
    };
    let mut cells = vec![
        Cell::new(sign).styled(style),
        Cell::new(row.id.as_str()),
        before,
        value(&row.after, theme.added()),
        note,
    ];
    if area.width >= WIDE_WIDTH {
        cells.insert(2, Cell::new(row.name.as_deref().unwrap_or_default()));
    }
    cells
}

/// Draws what is sent, what cannot be known about it, and how to confirm it.
fn draw_foot(
    pane: &BulkEdit,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let theme = context.theme;
    let inner = area.inner(Margin::new(1, 0));
    let (keys, why_not) = (&context.keys, why_not(pane, context));
    let why_not = why_not.as_deref();
    let rows = pane.confirm.rows(inner.width, keys, theme, why_not);
    let (above, last) = split_below(inner, rows);
    let cursor = pane.confirm.draw(buffer, last, keys, theme, why_not);
    if above.height < FOOT_ROWS {
        return cursor;
    }
    let (text, style) = match pane.plan.as_ref().and_then(EditPlan::unverified) {
        Some((count, oldest)) => {
            let text = sent_unread(count, oldest, context);
            // The name is the least important part.
            let by = format!(" by {}", oldest.by);
            let fits = paint::columns(&text) <= usize::from(inner.width);
            let text = if fits {
                &text
            } else {
                text.trim_end_matches(&by)
            };
            (text.to_owned(), theme.warning())
        }
        None => (
            "One update per group, each with its whole mapping; each group is read first.".into(),
            theme.dim(),
        ),
    };
    paint::line(buffer, paint::row(inner, 0), &text, style, theme);
    let undo = match pane.plan.as_ref().map(EditPlan::old) {
        Some(old) if old > 0 => {
            let key = context.keys.key(pane.focus(), Action::ShowNext);
            format!("! {old} skipped for their age; {key} shows them, then includes them")
        }
        _ if pane.include_old => "! Includes values last sent more than 30 days ago".into(),
        _ if pane.changes() == 0 => String::new(),
        _ => {
            let all = match pane.changes() {
                1 => String::new(),
                count => format!(" of all {count}"),
            };
            let key = context.keys.key(Focus::Batches, Action::ReverseEdit);
            format!("i Undo later: Batches, {key} prepares the reverse edit{all}")
        }
    };
    paint::line(buffer, paint::row(inner, 1), &undo, theme.dim(), theme);
    cursor
}

/// `17 whole mappings are sent again as last sent, the oldest 200d ago by ana`.
pub(in crate::tui::panes) fn sent_unread(
    count: usize,
    oldest: &UnverifiedField,
    context: &Context,
) -> String {
    let whole = match (count, oldest.field.as_str()) {
        (1, "mapping") => "1 whole mapping is".to_owned(),
        (count, "mapping") => format!("{count} whole mappings are"),
        (1, field) => format!("{field} of 1 group are"),
        (count, field) => format!("{field} of {count} groups are"),
    };
    let (when, by) = (context.ago(oldest.at), &oldest.by);
    format!("{whole} sent again as last sent, the oldest {when} by {by}")
}

/// Why nothing can be confirmed now; while the fields have the focus, the key that leads to the confirmation.
fn why_not(pane: &BulkEdit, context: &Context) -> Option<String> {
    let leads_there = || {
        let key = context.keys.key(pane.focus(), Action::Review);
        format!("{key} continues to the confirmation")
    };
    let why_not = pane.why_not_ready(context);
    why_not.or_else(|| (!pane.confirming).then(leads_there))
}
