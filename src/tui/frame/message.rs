//! What happened and what is under way: the message line, and the right of line 1.

use ratatui::{buffer::Buffer, layout::Rect};

use crate::tui::{
    keymap::{Action, Focus},
    state::context::Context,
    widgets::{
        boxes::{severity_style, words_that_fit},
        paint::{self, columns},
    },
};

/// Cells kept for the right of line 1, so that it does not move when something is under way.
pub(super) const ANSWER: u16 = 11;

/// What is under way and the last answer, as much of it as there is room for.
pub(super) fn in_flight(context: &Context, room: usize) -> String {
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

/// Last line but one: the newest message; errors stay.
pub(super) fn draw(buffer: &mut Buffer, line: Rect, context: &Context) {
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
