//! Draws the batches: one row each, and the full details of the one under the cursor with what can be done about it.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{Batches, is_unfinished, running};
use crate::{
    domain::batch::{BatchKind, RunnerState},
    operations::Batch,
    tui::{
        keymap::{Action, Focus},
        state::{context::Context, message::ProfileIndex},
        widgets::{
            boxes::{titled, with_details},
            columns::{Cell, Column, widest},
            paint,
            text_page::TextPage,
        },
    },
};

/// Rows of the box with the details.
const DETAIL_ROWS: u16 = 7;
/// Cells of the rule beside its title.
const TITLE_ROOM: usize = 8;
/// From this width on, profile and reason have columns.
const WIDE_WIDTH: u16 = 100;

type Row = (ProfileIndex, Batch);

pub(super) fn draw(
    pane: &Batches,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let (area, cursor) = pane.list.draw_filter(buffer, area, 0, context.theme);
    let (rows, below) = with_details(area, DETAIL_ROWS);
    let hint = if !pane.is_read {
        "reading the journal".to_owned()
    } else if pane.rows.is_empty() {
        let mark = context.keys.key(Focus::List, Action::Mark);
        let rotate = context.keys.key(Focus::List, Action::RotateMarked);
        format!("No batch yet: {mark} marks groups in the list, {rotate} rotates them")
    } else if !pane.list.filter().is_empty() {
        "Nothing matches".to_owned()
    } else {
        let all = context.keys.key(Focus::Batches, Action::NextField);
        format!("No batch here: {all} shows those of all profiles")
    };
    let shown = pane.shown(context);
    let wide = area.width >= WIDE_WIDTH || pane.all;
    pane.list.draw(
        buffer,
        rows,
        ("Batches", &hint),
        &shown,
        (
            |window: &[&Row]| columns(window, wide, context),
            |row, here| cells(row, wide, context, here),
        ),
        context.theme,
    );
    if let Some((profile, batch)) = pane.selected(context) {
        let reason = batch.reason.as_deref();
        let reason = reason.map_or_else(String::new, |reason| format!("  reason: {reason}"));
        let title = format!("Batch {}{reason}", batch.id.0);
        let room = usize::from(below.width).saturating_sub(TITLE_ROOM);
        let title = paint::words_that_fit(&title, room, context.theme);
        let inner = titled(buffer, below, &title, false, context.theme);
        let mut page = TextPage::new(inner.width, context.theme);
        describe(&mut page, *profile, batch, context);
        page.draw_still(buffer, inner);
    }
    cursor
}

pub(super) fn name(profile: ProfileIndex, context: &Context) -> &str {
    let profile = context.profiles.get(profile.0);
    profile.map_or("", |profile| profile.name.as_str())
}

/// The sign of a batch, its state in words, and the style.
pub(super) fn state(batch: &Batch, context: &Context) -> (&'static str, String, Style) {
    let theme = context.theme;
    let counts = &batch.counts;
    if let Some(run) = running(batch, context) {
        return ("/", run.word().to_owned(), theme.focus());
    }
    let told = batch.last_run_in_words(|at| context.when(at));
    if let Some((runner, told)) = batch.runner.as_ref().zip(told.clone())
        && batch.is_run()
    {
        return match runner.state {
            RunnerState::Paused => ("!", told, theme.warning()),
            _ => ("/", told, theme.focus()),
        };
    }
    let unknown = format!("{} UNKNOWN", counts.unknown);
    if is_unfinished(batch, context) {
        let left = told.unwrap_or_else(|| format!("unfinished: {} left", counts.not_started));
        return match (counts.not_started, counts.unknown) {
            (0, 0) => ("!", "not closed: nothing left".into(), theme.warning()),
            (0, _) => ("?", unknown, theme.unknown()),
            (_, 0) => ("x", left, theme.error()),
            (_, _) => ("x", format!("{left}, {unknown}"), theme.error()),
        };
    }
    if counts.unknown > 0 {
        ("?", unknown, theme.unknown())
    } else if counts.conflict > 0 {
        ("x", format!("{} CONFLICT", counts.conflict), theme.error())
    } else if counts.not_applied > 0 {
        let text = format!("{} not applied", counts.not_applied);
        ("!", text, theme.warning())
    } else {
        ("+", "done".into(), theme.ok())
    }
}

/// What the batch does to its groups, in one word.
fn what(batch: &Batch) -> String {
    match batch.kind {
        BatchKind::Rotate => "rotate".into(),
        BatchKind::Edit(ref change) => format!("edit {}", change.label()),
    }
}

fn done(batch: &Batch) -> String {
    format!("{} of {}", batch.counts.succeeded(), batch.counts.planned())
}

fn columns(window: &[&Row], wide: bool, context: &Context) -> Vec<Column> {
    let who = widest(window.iter().map(|(_, batch)| batch.by.as_str()), 24).max(4);
    let what = window.iter().map(|(_, batch)| what(batch));
    let what = what.map(|what| paint::columns(&what)).max().unwrap_or(0);
    let what = u16::try_from(what).unwrap_or(24).clamp(8, 24);
    let done = window.iter().map(|(_, batch)| paint::columns(&done(batch)));
    let done = u16::try_from(done.max().unwrap_or(0))
        .unwrap_or(14)
        .clamp(8, 14);
    let state = window
        .iter()
        .map(|(_, batch)| paint::columns(&state(batch, context).1));
    let state = u16::try_from(state.max().unwrap_or(0)).unwrap_or(60);
    let mut columns = vec![
        Column::new("   NO", 5, 7, 0).right(),
        Column::new("WHAT", 6, what, 2),
        Column::new("STARTED", 9, 9, 1),
        Column::new("BY", 4, who, 3),
        Column::new("DONE", done, done, 0),
        Column::new("STATE", 12, state.clamp(12, 60), 0).sentence(),
    ];
    if wide {
        let names = widest(
            window.iter().map(|(profile, _)| name(*profile, context)),
            24,
        );
        let reasons = window
            .iter()
            .filter_map(|(_, batch)| batch.reason.as_deref());
        let reasons = widest(reasons, 60);
        columns.push(Column::new("PROFILE", 7, names, 1));
        if reasons > 0 {
            columns.push(Column::new("REASON", 6, reasons, 4).sentence());
        }
    }
    columns
}

fn cells<'a>(
    (profile, batch): &'a Row,
    wide: bool,
    context: &'a Context,
    here: bool,
) -> Vec<Cell<'a>> {
    let (sign, state, style) = state(batch, context);
    let style = if here { Style::new() } else { style };
    let mut cells = vec![
        Cell::new(format!("{sign} {:>3}", batch.id.0)).styled(style),
        Cell::new(what(batch)),
        Cell::new(context.when(batch.started_at)),
        Cell::new(batch.by.as_str()),
        Cell::new(done(batch)),
        Cell::new(state).styled(style),
    ];
    if wide {
        cells.push(Cell::new(name(*profile, context)));
        // The column only exists if any batch has a reason.
        cells.push(Cell::new(batch.reason.as_deref().unwrap_or_default()));
    }
    cells
}

fn describe(page: &mut TextPage, profile: ProfileIndex, batch: &Batch, context: &Context) {
    let theme = context.theme;
    let key = |action| context.keys.key(Focus::Batches, action);
    let counts = &batch.counts;
    let at = batch.started_at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    let name = name(profile, context);
    page.text(&counts.to_string(), Style::new());
    page.text(&format!("{name}, {at}, {}", batch.by), theme.dim());
    let told = batch.last_run_in_words(|at| context.when(at));
    let is_open = batch.ended_at.is_none() && running(batch, context).is_none();
    if let Some(told) = told.filter(|_| is_open) {
        let what = if batch.is_run() { "Now" } else { "Last run" };
        page.text(&format!("{what}: {told}"), Style::new());
    }
    if is_open && batch.is_run() {
        let text = format!(
            "{} watches it. {} joins that run, after a question; no group is taken twice.",
            key(Action::Enter),
            key(Action::Resume)
        );
        page.text(&text, Style::new());
    }
    if is_unfinished(batch, context) && counts.not_started > 0 {
        let resume = key(Action::Resume);
        let text = format!(
            "{resume} checks the {} again, then asks. Nothing is sent twice.",
            counts.not_started
        );
        page.text(&text, Style::new());
    }
    if is_unfinished(batch, context) && counts.not_started == 0 {
        let resume = key(Action::Resume);
        let text = match counts.unknown {
            0 => format!("{resume} closes it: nothing is left to send."),
            _ => {
                format!("{resume} reads what is unknown, then closes it; nothing is left to send.")
            }
        };
        page.text(&text, Style::new());
    }
    if counts.unknown > 0 {
        let text = format!(
            "{} reads the UNKNOWN; do not {}.",
            key(Action::Refresh),
            match batch.kind {
                BatchKind::Rotate => "rotate",
                BatchKind::Edit(_) => "send them again",
            }
        );
        page.text(&text, theme.unknown());
    }
    if counts.not_applied > 0 {
        let text = format!(
            "{} retries the {} not applied, after a new check.",
            key(Action::RetryFailed),
            counts.not_applied
        );
        page.text(&text, Style::new());
    }
    if matches!(batch.kind, BatchKind::Edit(_)) && counts.confirmed > 0 {
        let key = key(Action::ReverseEdit);
        page.text(&format!("{key} prepares the reverse edit."), Style::new());
    }
}
