//! Draws a batch while it runs and afterwards: the bar, the counts, what it is doing or how it ended, and the rows that
//! fit, starting with those that need a person.

use jiff::SignedDuration;

use super::BatchPane;
use crate::tui::panes::prelude::*;
use crate::{
    domain::{BatchKind, ItemStatus, RunnerState, capitalised},
    operations::{Call, NextStep, batch::RunCommand},
    tui::{
        kit::{Column, table, take, with_details, words_that_fit},
        panes::history::tokens,
        state::BatchRow,
    },
};

/// Rows above what it is doing: the bar, the counts.
const HEAD_ROWS: u16 = 2;
/// What it is doing, or how it ended, gets more than one line from this number of rows on, and how many.
const ROOMY_ROWS: u16 = 12;
const DOING_ROWS: usize = 3;
/// Rows for the note of a failed group in full, with their rule.
const NOTE_ROWS: u16 = 4;
/// Minimum and maximum width of the bar, in cells.
const BAR: (usize, usize) = (10, 46);
/// From this width on, names and tokens are shown as well.
const WIDE_WIDTH: u16 = 100;

pub(super) fn draw(
    pane: &BatchPane,
    run: &BatchRun,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) {
    let theme = context.theme;
    draw_bar(run, buffer, paint::row(area, 0), context);
    draw_counts(run, buffer, paint::row(area, 1), theme);
    let (now, style) = doing(run, context);
    let most = if area.height < ROOMY_ROWS {
        1
    } else {
        DOING_ROWS
    };
    let lines = paint::wrapped_lines(&now, area.width).len().clamp(1, most);
    let now = words_that_fit(&now, usize::from(area.width) * lines, theme);
    let mut left = below(area, HEAD_ROWS);
    let place = take(&mut left, lines as u16);
    paint::wrapped(buffer, place, &now, style, theme);
    let table = Rect {
        x: left.x.saturating_sub(1),
        width: left.width + 2,
        ..left
    };
    let has_notes = run.rows.iter().any(BatchRow::is_failed);
    let (table, below) = with_details(table, if has_notes { NOTE_ROWS } else { 0 });
    let row = pane.on().and_then(|at| run.rows.get(at));
    if let Some(row) = row.filter(|_| below.height > 0) {
        let inner = titled(buffer, below, &visible(row.id.as_str()), false, theme);
        paint::wrapped(buffer, inner, note(row), Style::new(), theme);
    }
    let hint = if pane.failed_only {
        let key = context.keys.key(Focus::BulkRun, Action::FailedOnly);
        format!("No group has failed: {key} shows all")
    } else {
        "No groups".into()
    };
    table::draw(
        buffer,
        table,
        (&pane.shown, &pane.cursor),
        |window| {
            let rows = window.iter().filter_map(|at| run.rows.get(*at));
            columns(rows, table.width, context)
        },
        |at, here| {
            let row = run.rows.get(*at);
            row.map_or_else(Vec::new, |row| {
                cells((run, row), table.width, context, here)
            })
        },
        &hint,
        theme,
    );
}

/// The segments of the bar in order: number of groups, sign without colour, style.
fn segments(run: &BatchRun, theme: Theme) -> [(usize, &'static str, Style); 4] {
    let counts = run.counts();
    let failed = counts.not_applied + counts.abandoned + counts.conflict;
    [
        (counts.confirmed + counts.rotated, "#", theme.ok()),
        (failed, "x", theme.error()),
        (counts.unknown, "?", theme.unknown()),
        (run.under_way(), "/", theme.focus()),
    ]
}

/// Draws the bar, followed by `12 of 40  30%  1m 20s left`.
fn draw_bar(run: &BatchRun, buffer: &mut Buffer, line: Rect, context: &Context) {
    let theme = context.theme;
    let counts = run.counts();
    let (done, all) = (counts.done(), counts.planned());
    let cells = (usize::from(line.width) * 3 / 5).clamp(BAR.0, BAR.1);
    let mut x = line.x;
    let mut left = cells;
    for (count, sign, style) in segments(run, theme) {
        // A count above zero is always visible, however small its share.
        let width = (count * cells).checked_div(all).unwrap_or(0);
        let width = width.max(usize::from(count > 0)).min(left);
        left -= width;
        let text = if theme.ascii { sign } else { "█" }.repeat(width);
        let text = if sign == "/" {
            text.replace('█', "▒")
        } else {
            text
        };
        x = paint::text(buffer, x, line.y, line.width, &text, style);
    }
    // If all are done, rounding may leave a cell over.
    let is_full = done == all && all > 0;
    let (rest, style) = match (theme.ascii, is_full) {
        (true, true) => ("#", theme.ok()),
        (false, true) => ("█", theme.ok()),
        (true, false) => ("-", theme.dim()),
        (false, false) => ("░", theme.dim()),
    };
    x = paint::text(buffer, x, line.y, line.width, &rest.repeat(left), style);
    let percent = (done * 100).checked_div(all).unwrap_or(100);
    let time = run.left(context.now);
    let time = time.map_or_else(String::new, |left| format!("  {} left", clock(left)));
    let text = format!("  {done} of {all}  {percent}%{time}");
    let room = line.right().saturating_sub(x);
    paint::text(buffer, x, line.y, room, &text, Style::new());
}

/// Draws each count in the colour of its rows; they add up to all groups.
fn draw_counts(run: &BatchRun, buffer: &mut Buffer, line: Rect, theme: Theme) {
    let parts = run.parts();
    let parts = parts.map(|(status, text)| (text, style(status, theme)));
    let off = Some(run.not_handed_off()).filter(|off| *off > 0);
    let off = off.map(|off| (format!("{off} NOT handed off"), theme.error()));
    let mut x = line.x;
    for (text, style) in parts.chain(off) {
        let room = line.right().saturating_sub(x);
        x = paint::text(buffer, x, line.y, room, &text, style) + 2;
    }
    let all = format!(" of {}", run.counts().planned());
    let room = line.right().saturating_sub(x);
    if paint::columns(&all) <= usize::from(room) {
        paint::text(buffer, x, line.y, room, &all, Style::new());
    }
}

pub(super) fn clock(time: SignedDuration) -> String {
    let seconds = time.as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// What it is doing now, or how it ended and what can be done about it.
fn doing(run: &BatchRun, context: &Context) -> (String, Style) {
    let theme = context.theme;
    let key = |action| context.keys.key(Focus::BulkRun, action);
    if !run.is_under_way() {
        return ended(run, context);
    }
    if let Some(halt) = &run.halt {
        let text = format!("{}; finishing running requests", capitalised(halt));
        return (text, theme.warning());
    }
    match run.command {
        RunCommand::Stop(_) => (
            "Stopping: finishing running requests".into(),
            theme.warning(),
        ),
        RunCommand::Pause => {
            let (pause, stop) = (key(Action::Pause), key(Action::Stop));
            let text = format!("Paused: {pause} resumes, {stop} stops");
            (text, theme.warning())
        }
        RunCommand::Go
            if run
                .no_directory_until
                .is_some_and(|until| until > context.now) =>
        {
            let text = "Directory unreachable: waiting; nothing is sent";
            (text.into(), theme.warning())
        }
        RunCommand::Go => match run.held_until.filter(|until| *until > context.now) {
            Some(until) => {
                let wait = clock(until.duration_since(context.now));
                let text = format!("Waiting {wait}, as the service asks; nothing is sent");
                (text, theme.warning())
            }
            None => (String::new(), Style::new()),
        },
    }
}

fn ended(run: &BatchRun, context: &Context) -> (String, Style) {
    let theme = context.theme;
    let key = |action| context.keys.key(Focus::BulkRun, action);
    let counts = run.counts();
    let forbidden = context.why_not(run.profile, NextStep::batch(&run.kind));
    let mut parts = Vec::new();
    let runner = run.runner.as_ref();
    let told = runner.map(|runner| runner.in_words(|at| context.when(at)));
    if let (Some(runner), Some(told)) = (runner.filter(|runner| runner.is_alive()), &told) {
        let resume = key(Action::Resume);
        let style = match runner.state {
            RunnerState::Paused => theme.warning(),
            _ => theme.focus(),
        };
        let text = match &forbidden {
            Some(why) => format!("{}. Not available: {why}", capitalised(told)),
            None => format!(
                "{}. {resume} joins that run (asks first)",
                capitalised(told)
            ),
        };
        return (text, style);
    }
    if counts.unknown > 0 {
        let read = key(Action::Refresh);
        let never = match run.kind {
            BatchKind::Rotate => "do not rotate",
            BatchKind::Edit(_) => "do not send it again",
        };
        let [they, them] = if counts.unknown == 1 {
            ["it", "it"]
        } else {
            ["they", "them"]
        };
        let how = context.view_only_reason().map_or_else(
            || format!("{read} reads {them}"),
            |why| format!("{they} cannot be read: {why}"),
        );
        parts.push(format!("{} UNKNOWN: {how}; {never}", counts.unknown));
    }
    if counts.conflict > 0 {
        let text = format!("{} in CONFLICT: investigate", counts.conflict);
        parts.push(text);
    }
    let not_handed_off = run.not_handed_off();
    if not_handed_off > 0 {
        let attention = context.keys.key(Focus::List, Action::Attention);
        let failed = key(Action::FailedOnly);
        parts.push(format!(
            "{not_handed_off} not handed off: {failed} shows them, Attention ({attention}) hands off"
        ));
    }
    let why = run.error.as_ref().or(told.as_ref());
    let why = why.or(run.halt.as_ref());
    match (counts.not_started, why) {
        (0, None) => {}
        (0, Some(why)) => parts.push(capitalised(why)),
        (left, why) => {
            let why = why.map_or_else(|| "Stopped".to_owned(), |why| capitalised(why));
            parts.push(format!("{why}: {left} of {} not started", counts.planned()));
            if run.batch.is_some() && forbidden.is_none() {
                let resume = key(Action::Resume);
                parts.push(format!("{resume} resumes them; nothing is sent twice"));
            }
        }
    }
    if counts.not_applied > 0 {
        let retry = key(Action::RetryFailed);
        parts.push(match (&run.no_retry, &forbidden) {
            (Some(why), _) => format!(
                "{} not applied, nothing to retry: {why}",
                counts.not_applied
            ),
            (None, Some(_)) => format!("{} not applied", counts.not_applied),
            (None, None) => format!("{} not applied: {retry} retries", counts.not_applied),
        });
    }
    if let Some(why) = forbidden.filter(|_| counts.not_started > 0 || counts.not_applied > 0) {
        parts.push(format!("Not available: {why}"));
    }
    if parts.is_empty() {
        return ("Finished".into(), theme.ok());
    }
    let style = if counts.unknown > 0 {
        theme.unknown()
    } else if run.error.is_some() || counts.conflict > 0 || not_handed_off > 0 {
        theme.error()
    } else {
        theme.warning()
    };
    (parts.join(". "), style)
}

fn columns<'a>(
    rows: impl Iterator<Item = &'a BatchRow> + Clone,
    width: u16,
    context: &Context,
) -> Vec<Column> {
    let ids = widest(rows.clone().map(|row| row.id.as_str()), 40).max(8);
    let notes = widest(rows.clone().map(note), 100).max(10);
    let mut columns = vec![
        Column::new("  STATE", 13, 16, 0),
        Column::new("TIME", 6, 6, 1).right(),
        Column::new("GROUP", ids, ids, 0),
        Column::new("NOTE", 10, notes, 2).sentence(),
    ];
    if width >= WIDE_WIDTH {
        let names = widest(rows.map(|row| context.groups.title(&row.id)), 40).max(8);
        columns.insert(3, Column::new("NAME", 8, names, 3));
        columns.insert(4, Column::new("FINGERPRINT", 20, 20, 4));
    }
    columns
}

/// The note of a row, without the group that it begins with: the row says that.
fn note(row: &BatchRow) -> &str {
    let note = row.note.as_deref().unwrap_or_default();
    let group = format!("\"{}\" ", row.id);
    note.strip_prefix(&group).unwrap_or(note)
}

/// The sign of a row, and its state in words.
fn state(run: &BatchRun, row: &BatchRow, context: &Context) -> String {
    let theme = context.theme;
    let waiting = if theme.ascii { "." } else { "·" };
    match row.status {
        ItemStatus::NotStarted if run.is_under_way() => format!("{waiting} waiting"),
        ItemStatus::NotStarted => format!("{waiting} not started"),
        ItemStatus::UnderWay => {
            let request = context.exchanges.in_flight_for(run.ticket, &row.id);
            match request.map(|request| request.recorded.call) {
                Some(Call::Rotate | Call::Update | Call::Create) => "/ sending".into(),
                Some(Call::GetOrCreate | Call::Probe) => "/ reading".into(),
                // Between two requests, or in another process.
                None => "/ in progress".into(),
            }
        }
        ItemStatus::Unknown => "? UNKNOWN".into(),
        ItemStatus::Conflict => "x CONFLICT".into(),
        ItemStatus::Confirmed | ItemStatus::Rotated if row.is_not_handed_off() => {
            "x not handed off".into()
        }
        ItemStatus::Confirmed | ItemStatus::Rotated => {
            format!("+ {}", row.outcome.replace('_', " "))
        }
        ItemStatus::NotApplied | ItemStatus::Abandoned => {
            format!("x {}", row.outcome.replace('_', " "))
        }
    }
}

fn cells<'a>(
    (run, row): (&BatchRun, &'a BatchRow),
    width: u16,
    context: &'a Context,
    here: bool,
) -> Vec<Cell<'a>> {
    let state = Cell::new(state(run, row, context));
    let time = match (row.took, row.since) {
        (Some(took), _) if took.as_secs() < 10 => format!("{:.1}s", took.as_secs_f64()),
        (Some(took), _) => clock(SignedDuration::try_from(took).unwrap_or_default()),
        (None, Some(since)) => clock(context.now.duration_since(since)),
        (None, None) => String::new(),
    };
    let mut cells = vec![
        if here {
            state
        } else {
            state.styled(style(row.status, context.theme))
        },
        Cell::new(time),
        Cell::new(row.id.as_str()),
        Cell::new(note(row)),
    ];
    if width >= WIDE_WIDTH {
        let tokens = tokens(row.previous, row.fingerprint, context.theme);
        cells.insert(3, Cell::new(context.groups.title(&row.id)));
        cells.insert(4, Cell::new(tokens));
    }
    cells
}

fn style(standing: ItemStatus, theme: Theme) -> Style {
    match standing {
        ItemStatus::NotStarted => theme.dim(),
        ItemStatus::UnderWay => theme.focus(),
        ItemStatus::Confirmed | ItemStatus::Rotated => theme.ok(),
        ItemStatus::NotApplied | ItemStatus::Abandoned | ItemStatus::Conflict => theme.error(),
        ItemStatus::Unknown => theme.unknown(),
    }
}
