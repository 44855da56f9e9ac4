//! How the bulk pane looks: the check with its two fields, and the run with its gauge and the rows that fit.

use jiff::SignedDuration;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{BatchPane, Stage};
use crate::{
    domain::batch::{ItemStatus, Plan},
    operations::batch::RunCommand,
    tui::{
        keymap::{Action, Focus},
        panes::{View, new_file::NewFile},
        state::{
            batch::{BatchRow, BatchRun},
            context::Context,
        },
        theme::Theme,
        widgets::{
            boxes::page,
            columns::{Cell, Column, widest},
            paint, table,
            text_page::TextPage,
        },
    },
};

/// Rows above the table: the gauge, the counts, what it does now.
const HEAD_ROWS: u16 = 3;
/// Rows of the two fields, with what is wrong below the second.
const FIELD_ROWS: u16 = 3;
/// Cells of the gauge.
const GAUGE: (usize, usize) = (10, 40);

pub(super) fn draw(
    pane: &BatchPane,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let inner = page(buffer, area, "Bulk rotation", context.theme);
    if let Some(run) = pane.run(context) {
        draw_run(pane, run, buffer, inner, context);
        let lowest = NewFile::lowest(inner);
        return pane.file.draw(buffer, inner, lowest, context.theme);
    }
    let sheet = sheet(pane, inner.width, context);
    let has_fields = pane.words(context).is_some_and(|_| !nothing_ready(pane));
    if !has_fields {
        sheet.draw(buffer, inner, pane.cursor.at);
        return None;
    }
    draw_check(pane, &sheet, buffer, inner, context)
}

fn nothing_ready(pane: &BatchPane) -> bool {
    matches!(&pane.stage, Stage::Check { plan, .. } if plan.ready.is_empty())
}

/// Positions one can scroll to before the run.
pub(super) fn check_lines(pane: &BatchPane, context: &Context) -> usize {
    // The frame takes 4 rows, the box 2, and the fields theirs with a blank row above.
    let rows = context.size.1.saturating_sub(7 + FIELD_ROWS);
    sheet(pane, context.size.0.saturating_sub(4), context).last_scroll(rows) + 1
}

fn sheet(pane: &BatchPane, width: u16, context: &Context) -> TextPage {
    let theme = context.theme;
    let mut sheet = TextPage::new(width, theme);
    match &pane.stage {
        Stage::Planning(_) => sheet.text("Checking the groups in the directory", theme.dim()),
        Stage::Failed(why) => {
            sheet.text(why, theme.error());
            let key = context.keys.key(Focus::BulkCheck, Action::Refresh);
            let text = format!("Nothing was sent. {key} checks again.");
            sheet.text(&text, Style::new());
        }
        Stage::Check { plan, .. } => {
            check(&mut sheet, plan, pane.words(context), context);
            recent(&mut sheet, pane, context);
            groups(&mut sheet, plan, context);
        }
        Stage::Run(_) => sheet.text("This batch is in History", theme.dim()),
    }
    sheet
}

fn check(sheet: &mut TextPage, plan: &Plan, words: Option<String>, context: &Context) {
    let theme = context.theme;
    let counts = format!("{} ready, {} skipped", plan.ready.len(), plan.skipped.len());
    sheet.heading(&counts);
    if plan.ready.is_empty() {
        sheet.text(
            "No group can be rotated now. Nothing was sent.",
            theme.warning(),
        );
    } else {
        let place = context.profile().map_or_else(String::new, |profile| {
            format!("{} ({})", profile.name, profile.environment_word())
        });
        let text = format!(
            "Every old token of these groups in {place} stops working at once; one request each."
        );
        sheet.text(&text, theme.warning());
        let to = if let Some(command) = context.hands_off_to() {
            format!("The new tokens go to {command} by hand-off.")
        } else {
            let key = context.keys.key(Focus::List, Action::Token);
            format!("New tokens are not sent anywhere; {key} on a group reads its token.")
        };
        sheet.text(&to, Style::new());
        sheet.field("type", &words.unwrap_or_default(), theme.title(), "");
    }
}

/// What F7 does, where it does something.
fn recent(sheet: &mut TextPage, pane: &BatchPane, context: &Context) {
    let key = context.keys.key(pane.focus(), Action::IncludeRecent);
    if pane.include_recent {
        let text = format!("Also those rotated within 24 h; {key} leaves them out.");
        sheet.text(&text, context.theme.warning());
        return;
    }
    match pane.recent() {
        0 => {}
        1 => sheet.text(
            &format!("1 was rotated within 24 h; {key} takes it, too."),
            Style::new(),
        ),
        count => sheet.text(
            &format!("{count} were rotated within 24 h; {key} takes them, too."),
            Style::new(),
        ),
    }
}

fn groups(sheet: &mut TextPage, plan: &Plan, context: &Context) {
    let theme = context.theme;
    if !plan.skipped.is_empty() {
        sheet.blank();
        sheet.heading("skipped");
        for (id, skip) in &plan.skipped {
            sheet.text(&format!("{id}: {skip}"), theme.warning());
        }
    }
    if !plan.ready.is_empty() {
        sheet.blank();
        sheet.heading("ready");
        for id in &plan.ready {
            sheet.text(id.as_str(), Style::new());
        }
    }
}

fn draw_check(
    pane: &BatchPane,
    sheet: &TextPage,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let Stage::Check { on_reason, .. } = pane.stage else {
        return None;
    };
    let room = area.height.saturating_sub(FIELD_ROWS);
    let top = u16::try_from(sheet.height() + 1).map_or(room, |height| height.min(room));
    let above = Rect {
        height: top.saturating_sub(1),
        ..area
    };
    sheet.draw(buffer, above, pane.cursor.at);
    let reason = paint::row(area, top);
    let typed = Rect {
        height: 2.min(area.height.saturating_sub(top + 1)),
        ..paint::row(area, top + 1)
    };
    let reason = pane.reason.draw(buffer, reason, context.theme, on_reason);
    let typed = pane.typed.draw(buffer, typed, context.theme, !on_reason);
    if on_reason { reason } else { typed }
}

fn draw_run(pane: &BatchPane, run: &BatchRun, buffer: &mut Buffer, area: Rect, context: &Context) {
    let theme = context.theme;
    let gauge = gauge(run, usize::from(area.width), context);
    paint::line(buffer, paint::row(area, 0), &gauge, theme.title(), theme);
    let counts = run.counts_in_words();
    paint::line(buffer, paint::row(area, 1), &counts, Style::new(), theme);
    let (now, style) = doing(run, context);
    paint::line(buffer, paint::row(area, 2), &now, style, theme);
    let head = HEAD_ROWS.min(area.height);
    let table = Rect {
        x: area.x.saturating_sub(1),
        y: area.y + head,
        width: area.width + 2,
        height: area.height - head,
    };
    let hint = if pane.failed_only {
        let key = context.keys.key(Focus::BulkRun, Action::FailedOnly);
        format!("nothing has failed: {key} shows all")
    } else {
        "no groups".into()
    };
    table::draw(
        buffer,
        table,
        (&pane.shown, &pane.cursor),
        |window| columns(window.iter().filter_map(|at| run.rows.get(*at))),
        |at, here| {
            let row = run.rows.get(*at);
            row.map_or_else(Vec::new, |row| cells(row, context, here))
        },
        &hint,
        theme,
    );
}

/// `[#####-----]  12 of 40   30 %   1m 20s left`.
fn gauge(run: &BatchRun, room: usize, context: &Context) -> String {
    let counts = run.counts();
    let (done, all) = (counts.done(), counts.planned());
    let cells = (room / 2).clamp(GAUGE.0, GAUGE.1);
    let full = (done * cells).checked_div(all).unwrap_or(0);
    let (mark, rest) = if context.theme.ascii {
        ("#", "-")
    } else {
        ("█", "░")
    };
    let percent = (done * 100).checked_div(all).unwrap_or(100);
    let left = run
        .left(context.now)
        .map(|left| format!("   {} left", clock(left)));
    format!(
        "[{}{}]  {done} of {all}   {percent} %{}",
        mark.repeat(full),
        rest.repeat(cells - full),
        left.unwrap_or_default()
    )
}

fn clock(time: SignedDuration) -> String {
    let seconds = time.as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// What it does now, or how it ended.
fn doing(run: &BatchRun, context: &Context) -> (String, Style) {
    let theme = context.theme;
    if let Some(trouble) = &run.trouble {
        return (trouble.clone(), theme.error());
    }
    if let Some(report) = &run.report {
        let counts = &report.counts;
        let mut parts = vec!["finished".to_owned()];
        parts.extend(run.halt.clone());
        if counts.unknown > 0 {
            parts.push("3 settles the UNKNOWN ones by reading".into());
        }
        if counts.not_applied > 0 {
            parts.push("F retries what was not applied".into());
        }
        if counts.not_started > 0 {
            parts.push(format!(
                "the rest: groupdesk rotate --resume {}",
                report.batch.0
            ));
        }
        let style = if counts.confirmed == counts.planned() {
            theme.ok()
        } else {
            theme.warning()
        };
        return (parts.join("; "), style);
    }
    if let Some(halt) = &run.halt {
        return (
            format!("{halt}; finishing what is in flight"),
            theme.warning(),
        );
    }
    match run.command {
        RunCommand::Stop => (
            "stopping: finishing what is in flight".into(),
            theme.warning(),
        ),
        RunCommand::Pause => {
            let key = |action| context.keys.key(Focus::BulkRun, action);
            let (pause, stop) = (key(Action::Pause), key(Action::Stop));
            let text = format!("Paused: {pause} resumes, {stop} stops");
            (text, theme.warning())
        }
        RunCommand::Go => match run.held_until.filter(|until| *until > context.now) {
            Some(until) => {
                let wait = clock(until.duration_since(context.now));
                let text = format!("The service asked to wait: nothing is sent for {wait}");
                (text, theme.warning())
            }
            None => ("under way".into(), theme.ok()),
        },
    }
}

fn columns<'a>(rows: impl Iterator<Item = &'a BatchRow> + Clone) -> Vec<Column> {
    let ids = widest(rows.clone().map(|row| row.id.as_str()), 30).max(8);
    let notes = widest(rows.filter_map(|row| row.note.as_deref()), 100).max(10);
    vec![
        Column::new("STATE", 11, 14, 0),
        Column::new("TIME", 6, 6, 1).right(),
        Column::new("GROUP", 8, ids, 0),
        Column::new("NOTE", 10, notes, 2),
    ]
}

fn cells<'a>(row: &'a BatchRow, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let word = match row.status {
        ItemStatus::NotStarted => "not started".to_owned(),
        ItemStatus::UnderWay => "in progress".to_owned(),
        ItemStatus::Unknown => "UNKNOWN".to_owned(),
        ItemStatus::Conflict => "CONFLICT".to_owned(),
        ItemStatus::Confirmed
        | ItemStatus::Rotated
        | ItemStatus::NotApplied
        | ItemStatus::Abandoned => row.outcome.replace('_', " "),
    };
    let state = Cell::new(word);
    let time = match (row.took, row.since) {
        (Some(took), _) if took.as_secs() < 10 => format!("{:.1}s", took.as_secs_f64()),
        (Some(took), _) => clock(SignedDuration::try_from(took).unwrap_or_default()),
        (None, Some(since)) => clock(context.now.duration_since(since)),
        (None, None) => String::new(),
    };
    vec![
        if here {
            state
        } else {
            state.styled(style(row.status, context.theme))
        },
        Cell::new(time),
        Cell::new(row.id.as_str()),
        Cell::new(row.note.as_deref().unwrap_or_default()),
    ]
}

fn style(standing: ItemStatus, theme: Theme) -> Style {
    match standing {
        ItemStatus::NotStarted => theme.dim(),
        ItemStatus::UnderWay => Style::new(),
        ItemStatus::Confirmed | ItemStatus::Rotated => theme.ok(),
        ItemStatus::NotApplied | ItemStatus::Abandoned => theme.warning(),
        ItemStatus::Unknown => theme.unknown(),
        ItemStatus::Conflict => theme.error(),
    }
}
