//! What surrounds every pane: two lines that say where one is, two that say what happened and which keys matter.

mod keys;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::operations::PlaceProblem;

use super::{
    keymap::{Action, Focus},
    panes::Pane,
    state::{app::App, context::Context},
    widgets::{
        boxes::{body, severity_style, words_that_fit},
        paint::{self, columns, cut},
    },
};

/// Smaller than this, one line says so (docs/design/console.md).
const SMALLEST: (u16, u16) = (40, 8);

/// Draws the whole console; returns where the cursor of the terminal belongs.
pub fn draw(app: &App, buffer: &mut Buffer, area: Rect) -> Option<ratatui::layout::Position> {
    let context = &app.context;
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        // Where one is matters however small the window.
        let x = draw_word(buffer, area, context) + 1;
        let room = area.right().saturating_sub(x);
        let full = format!("too small: {}x{}, needs 40x8", area.width, area.height);
        let texts = [full.as_str(), "too small: needs 40x8", "too small"];
        let text = texts.iter().find(|text| columns(text) <= room.into());
        paint::text(
            buffer,
            x,
            area.y,
            room,
            text.unwrap_or(&"small"),
            Style::new(),
        );
        return None;
    }
    draw_place(buffer, paint::row(area, 0), context);
    draw_breadcrumb(buffer, paint::row(area, 1), app);
    let body = body(area);
    let is_whole = |pane: &Pane| context.boxes_alone || !pane.view().is_overlay();
    let first = app.stack.iter().rposition(is_whole);
    let mut cursor = None;
    for pane in &app.stack[first.unwrap_or(0)..] {
        cursor = pane.view().draw(buffer, body, context);
    }
    draw_message(buffer, paint::row(area, area.height - 2), context);
    let top = app.top();
    keys::draw(
        buffer,
        paint::row(area, area.height - 1),
        top.focus(),
        top,
        context,
    );
    cursor
}

/// The word of the environment; returns where it ends.
fn draw_word(buffer: &mut Buffer, line: Rect, context: &Context) -> u16 {
    let Some(profile) = context.profile() else {
        return line.x;
    };
    let word = format!(" {} ", profile.environment_word());
    let style = if profile.production {
        context.theme.production()
    } else {
        context.theme.testing()
    };
    paint::text(buffer, line.x, line.y, line.width, &word, style)
}

/// Why nothing may be what it seems, or why nothing is sent.
fn alarm(context: &Context) -> Option<&'static str> {
    if context.wrong_environment.contains(&context.current) {
        return Some(" ! WRONG ENVIRONMENT ");
    }
    match context.held.get(&context.current)? {
        PlaceProblem::Alarmed { .. } => Some(" ! ALARM "),
        PlaceProblem::OnTrial { .. } => Some(" ! KEY ON TRIAL "),
        _ => Some(" ! WHICH ENVIRONMENT? "),
    }
}

/// Line 1: which environment, where, with what rights, who; the last answer and what is under way.
fn draw_place(buffer: &mut Buffer, line: Rect, context: &Context) {
    let theme = context.theme;
    let Some(profile) = context.profile() else {
        paint::text(
            buffer,
            line.x,
            line.y,
            line.width,
            " groupdesk",
            theme.title(),
        );
        return;
    };
    let mut x = draw_word(buffer, line, context) + 1;
    if let Some(alarm) = alarm(context) {
        let room = line.right().saturating_sub(x);
        x = paint::text(buffer, x, line.y, room, alarm, theme.production()) + 1;
    }
    let name = cut(
        &profile.name,
        usize::from(line.right().saturating_sub(x + 1)),
        theme,
    );
    x = paint::text(buffer, x, line.y, line.width, &name, theme.title()) + 2;
    let host = profile
        .base_url
        .split_once("://")
        .map_or(profile.base_url.as_str(), |(_, host)| host);
    let rights = if profile.read_only {
        "READ-ONLY"
    } else {
        "read-write"
    };
    let parts = [
        (host, Style::new()),
        (
            rights,
            if profile.read_only {
                theme.warning()
            } else {
                Style::new()
            },
        ),
        (context.operator.as_str(), theme.dim()),
    ];
    let all: usize = parts.iter().map(|(text, _)| columns(text) + 2).sum();
    let left = usize::from(line.right().saturating_sub(x));
    let right = right_of_place(
        context,
        left.saturating_sub(all + 1).max(ANSWER.into()).min(left),
    );
    let right_width = columns(&right) as u16;
    let end = line.right().saturating_sub(right_width.max(ANSWER) + 1);
    for (text, style) in parts {
        // A part that does not fit is left out whole, not cut into something else.
        if x + columns(text) as u16 > end {
            continue;
        }
        x = paint::text(buffer, x, line.y, end - x, text, style) + 2;
    }
    let at = line.right().saturating_sub(right_width);
    if at >= x {
        paint::text(buffer, at, line.y, right_width, &right, theme.dim());
    }
}

/// Cells kept for the right of line 1, so that it does not move when something is under way.
const ANSWER: u16 = 11;

/// What is under way and the last answer, as much of it as there is room for.
fn right_of_place(context: &Context, room: usize) -> String {
    let answer = context
        .last_answer
        .map(|(status, latency)| format!("{status} {}ms", latency.as_millis()));
    let mut named = context
        .running
        .values()
        .filter(|running| !running.job.is_quiet);
    let running = match named.clone().count() {
        0 => None,
        1 => named.next().map(|running| running.job.label.clone()),
        more => Some(format!("{more} under way")),
    };
    let Some(running) = running else {
        return answer
            .filter(|text| columns(text) <= room)
            .unwrap_or_default();
    };
    let both = answer.map(|answer| format!("{running}  {answer}"));
    [both, Some(running), Some("working".into())]
        .into_iter()
        .flatten()
        .find(|text| columns(text) <= room)
        .unwrap_or_default()
}

/// Cells that the way here can at least have.
const WAY: usize = 18;

/// The most important parts of a status come first; the last ones go where there is little room.
fn parts_that_fit(mut status: String, room: usize) -> String {
    while columns(&status) > room {
        let Some(at) = status.rfind("   ") else {
            break;
        };
        status.truncate(at);
    }
    status
}

/// Line 2: the way here, and what this pane says of itself.
fn draw_breadcrumb(buffer: &mut Buffer, line: Rect, app: &App) {
    let theme = app.context.theme;
    let titles: Vec<String> = app
        .stack
        .iter()
        .map(|pane| pane.view().title(&app.context))
        .collect();
    let path = format!(" {}", titles.join(" > "));
    let status = parts_that_fit(
        app.top().status(&app.context),
        usize::from(line.width).saturating_sub(WAY),
    );
    let status_width = columns(&status) as u16;
    let room = line.width.saturating_sub(if status.is_empty() {
        0
    } else {
        status_width + 2
    });
    let fits = room >= 16;
    let path_room = if fits { room } else { line.width };
    let path = cut(&path, usize::from(path_room), theme);
    paint::text(buffer, line.x, line.y, path_room, &path, theme.title());
    if fits {
        let at = line.right() - status_width;
        paint::text(buffer, at, line.y, status_width, &status, Style::new());
    }
}

/// Last line but one: the newest message; errors stay.
fn draw_message(buffer: &mut Buffer, line: Rect, context: &Context) {
    let Some(message) = context.messages.current() else {
        return;
    };
    let style = severity_style(message.severity, context.theme);
    let sign = format!(" {} ", message.severity.sign());
    let x = paint::text(buffer, line.x, line.y, line.width, &sign, style);
    let room = usize::from(line.right().saturating_sub(x + 1));
    let waiting = context.messages.waiting();
    // Its key in the list: in a field it is text.
    let key = context.keys.key(Focus::List, Action::Messages);
    let hint = match waiting {
        0 => format!("{key} messages"),
        more => format!("{more} unread  {key} messages"),
    };
    if waiting == 0 && columns(&message.text) <= room {
        paint::text(buffer, x, line.y, room as u16, &message.text, style);
        return;
    }
    let left = room.saturating_sub(columns(&hint) + 2);
    let text = words_that_fit(&message.text, left, context.theme);
    paint::text(buffer, x, line.y, left as u16, &text, style);
    let at = line
        .right()
        .saturating_sub(columns(&hint) as u16 + 1)
        .max(x);
    let hint_style = if waiting == 0 {
        context.theme.dim()
    } else {
        context.theme.error()
    };
    paint::text(buffer, at, line.y, line.right() - at, &hint, hint_style);
}
