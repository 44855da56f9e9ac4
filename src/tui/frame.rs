//! The frame around every pane: two or three lines at the top that say where one is, two at the bottom with the last
//! message and the most important keys.
//!
//! The last message and what is in flight: the message line, and the right end of line 1.

mod header;

use ratatui::{
    prelude::{Buffer, Position, Rect, Style, Widget},
    widgets::Clear,
};

use crate::{
    domain::{counted, text::wrap, visible},
    tui::{
        app::App,
        keymap::{Action, Focus},
        kit::{
            body,
            boxes::{is_too_small, pages_line},
            flight_style,
            paint::{self, columns},
            severity_style, words_that_fit,
        },
        page::footer::{self, row_of_cursor},
        panes::{PAGES, Pane, View},
        state::Context,
        theme::Theme,
    },
};

/// Draws the whole console; returns the position of the terminal's cursor.
pub fn draw(app: &App, buffer: &mut Buffer, area: Rect) -> Option<Position> {
    let context = &app.context;
    if is_too_small((area.width, area.height)) {
        // The environment must be visible however small the window is.
        let (mut x, mut y) = (header::draw_environment(buffer, area, context) + 1, area.y);
        let full = format!("too small: {}x{}, needs 40x8", area.width, area.height);
        let short = format!("{}x{}, needs 40x8", area.width, area.height);
        let least = "needs 40x8";
        if usize::from(area.right().saturating_sub(x)) < columns(least) && area.height > 1 {
            (x, y) = (area.x, y + 1);
        }
        let room = area.right().saturating_sub(x);
        let mut texts = [&*full, &short, least].into_iter();
        let text = texts.find(|text| columns(text) <= room.into());
        paint::text(buffer, x, y, room, text.unwrap_or("40x8"), Style::new());
        return None;
    }
    header::draw(buffer, paint::row(area, 0), context);
    header::breadcrumb(buffer, paint::row(area, 1), app);
    if let Some(line) = pages_line(area) {
        draw_pages(buffer, line, app);
    }
    let body = body(area);
    let is_whole = |pane: &Pane| context.plain_mode || !pane.is_box();
    let first = app.stack.iter().rposition(is_whole);
    let mut cursor = None;
    for pane in &app.stack[first.unwrap_or(0)..] {
        cursor = pane.view().draw(buffer, body, context);
    }
    // The message must not cover the line that is being typed in, or the row that the keys mean.
    let line = paint::row(area, area.height - 2);
    let row = row_of_cursor(buffer, body.y..line.y, context.theme);
    let used = cursor.map(|at| at.y).max(row);
    let mut free_from = used.map_or(body.y, |y| (y + 1).max(body.y));
    // Nor what is wrong with that line.
    if let Some(at) = cursor {
        while free_from < line.y && is_error(buffer, (at.x, free_from).into(), context.theme) {
            free_from += 1;
        }
    }
    draw_message(buffer, line, free_from, context);
    let top = app.top();
    draw_keys(
        buffer,
        paint::row(area, area.height - 1),
        top.focus(),
        top,
        context,
    );
    cursor
}

fn draw_keys(buffer: &mut Buffer, line: Rect, focus: Focus, top: &dyn View, context: &Context) {
    let mut draw = |x: u16, key: &str, word: &str| {
        let x = paint::text(buffer, x, line.y, line.width, key, context.theme.key_hint()) + 1;
        paint::text(buffer, x, line.y, line.width, word, Style::new());
    };
    for hint in footer::hints(line, focus, top, context) {
        draw(hint.x, &hint.key, hint.word);
    }
    let help = footer::help(focus, context);
    let (key, word) = help.split_once(' ').unwrap_or((&help, ""));
    draw(footer::help_at(line, focus, context), key, word);
}

/// Draws the pages that fit. The mark stands where the others have blanks, so that nothing moves when another is opened.
fn draw_pages(buffer: &mut Buffer, line: Rect, app: &App) {
    let theme = app.context.theme;
    let Some(open) = app.page() else { return };
    let mut x = line.x;
    for &(page, name) in PAGES {
        let key = app.context.keys.key(Focus::List, page);
        let (before, after, style) = if page == open {
            ("[", "]", theme.focus())
        } else {
            (" ", " ", Style::new())
        };
        let width = (columns(&key) + 1 + columns(name) + 2) as u16;
        if x + width > line.right() {
            return;
        }
        let room = line.width;
        x = paint::text(buffer, x, line.y, room, before, style);
        let key_style = if page == open {
            style
        } else {
            theme.key_hint()
        };
        x = paint::text(buffer, x, line.y, room, &key, key_style);
        x = paint::text(buffer, x, line.y, room, &format!(" {name}{after}"), style) + 1;
    }
}

/// Whether the row in a box, up to its frame on both sides, has a part of an error.
fn is_error(buffer: &Buffer, at: Position, theme: Theme) -> bool {
    let error = theme.error();
    let frame = theme.border().vertical_left;
    let inside = |&x: &u16| buffer[(x, at.y)].symbol() != frame;
    let left = (buffer.area.left()..at.x).rev().take_while(inside);
    let right = (at.x..buffer.area.right()).take_while(inside);
    let cells = left.chain(right).map(|x| &buffer[(x, at.y)]);
    let mut words = cells.filter(|cell| !cell.symbol().trim().is_empty());
    words.any(|cell| {
        let style = cell.style();
        style.fg == error.fg.or(style.fg) && style.add_modifier.contains(error.add_modifier)
    })
}

/// Width reserved at the right end of line 1, in cells, so that it does not move when a request starts.
const ANSWER_WIDTH: u16 = 11;

/// Describes what is in flight, or else the last answer, shortened to `room` cells.
fn in_flight(context: &Context, room: usize) -> (String, Style) {
    let theme = context.theme;
    let fits = |text: &String| columns(text) <= room;
    let Some(line) = context.in_flight() else {
        let answer = context.last_answer.as_ref();
        let answer = answer.filter(|answer| fits(&answer.text));
        let style = match answer {
            Some(answer) if answer.is_failed => theme.warning(),
            _ => theme.dim(),
        };
        let text = answer.map_or_else(String::new, |answer| answer.text.clone());
        return (text, style);
    };
    let whole = Some(line.whole()).filter(fits);
    let text = whole.unwrap_or_else(|| words_that_fit(&line.text, room, theme));
    (text, flight_style(line.is_long, theme))
}

/// Maximum number of rows for a message, if the window is high enough.
const MAX_ROWS: usize = 3;

/// Draws the newest message and the number of unread ones in the last line but one, and if needed in lines above it.
/// `free_from` is the first row that may be covered.
fn draw_message(buffer: &mut Buffer, line: Rect, free_from: u16, context: &Context) {
    if context.plain_mode {
        // The plain mode reads each message aloud once.
        return;
    }
    let theme = context.theme;
    let width = usize::from(line.width);
    let unread = unread(context, width / 2);
    let message = context.messages.current();
    let mut badge = (unread, theme.error());
    if let Some(message) = message {
        let style = severity_style(message.severity, theme);
        let text = message.shown(theme.ascii);
        let room = width.saturating_sub(GUTTER + 1);
        let free = usize::from(line.y.saturating_sub(free_from)) + 1;
        // In a low window the body keeps most of the rows.
        let rows = free.min(1 + usize::from(line.y.saturating_sub(2)) / 3);
        let mut rows = rows.clamp(1, MAX_ROWS);
        if is_on_page(buffer, line.y, &text) {
            // The page already shows this text, so one row is enough.
            rows = 1;
        }
        let mut lines = fitted(&text, (room, columns(&badge.0)), rows, theme);
        if lines.is_none() && badge.0.is_empty() {
            let key = context.keys.key(Focus::List, Action::Messages);
            badge = (format!("{key} messages"), theme.dim());
            lines = fitted(&text, (room, columns(&badge.0)), rows, theme);
        }
        let lines = lines.unwrap_or_else(|| cut_to(&text, (room, columns(&badge.0)), rows, theme));
        let above = lines.len() as u16 - 1;
        let area = Rect::new(line.x, line.y - above, line.width, above);
        Clear.render(area, buffer);
        for (row, text) in lines.iter().enumerate() {
            let y = area.y + row as u16;
            let x = line.x + GUTTER as u16;
            paint::text(buffer, x, y, room as u16, text, style);
        }
        let sign = format!(" {} ", message.severity.sign());
        paint::text(buffer, line.x, area.y, line.width, &sign, style);
    }
    let at = line.right().saturating_sub(columns(&badge.0) as u16 + 1);
    paint::text(buffer, at, line.y, line.right() - at, &badge.0, badge.1);
}

/// Whether the text already begins on a row above `below`; it may continue on the next one.
fn is_on_page(buffer: &Buffer, below: u16, text: &str) -> bool {
    let begin: String = text.chars().take(MATCHED_CHARS).collect();
    let row = |y| -> String {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        let row: String = cells.collect();
        let is_frame = |c: char| c.is_whitespace() || ('\u{2500}'..='\u{257f}').contains(&c);
        row.trim_matches(is_frame).to_owned()
    };
    let rows: Vec<String> = (buffer.area.y..below).map(row).collect();
    let is_here = |two: &[String]| two.join(" ").contains(&begin);
    rows.windows(2).any(is_here)
}

/// Number of characters that identify a text.
const MATCHED_CHARS: usize = 30;

/// Width of the sign with a blank on either side, in cells.
const GUTTER: usize = 3;

/// The number of unread messages and the key that shows them, in at most `room` cells.
fn unread(context: &Context, room: usize) -> String {
    let (unknown, errors) = context.messages.unread();
    if unknown + errors == 0 {
        return String::new();
    }
    // The key is that of the list: in a text field it would be typed as text.
    let key = context.keys.key(Focus::List, Action::Messages);
    let mut parts = Vec::new();
    if unknown > 0 {
        parts.push(format!("{unknown} unknown"));
    }
    if errors > 0 {
        parts.push(counted(errors, "error"));
    }
    let all = format!("{}  {key}", parts.join("  "));
    if columns(&all) <= room {
        all
    } else {
        format!("{} unread  {key}", unknown + errors)
    }
}

/// Wraps the text into at most this many lines, leaving room for the badge in the last; `None` if it does not fit.
fn fitted(
    text: &str,
    (room, badge): (usize, usize),
    rows: usize,
    theme: Theme,
) -> Option<Vec<String>> {
    let shown = visible(text);
    (1..=rows).find_map(|rows| {
        let lines = cut_to(&shown, (room, badge), rows, theme);
        let is_whole = !lines
            .last()
            .is_some_and(|last| last.ends_with(theme.ellipsis()))
            || shown.ends_with(theme.ellipsis());
        (is_whole && lines.len() == rows).then_some(lines)
    })
}

/// Returns the part of the text that follows these lines.
fn after(text: &str, lines: &[String]) -> String {
    let is_sign = |sign: &char| !sign.is_whitespace();
    let drawn = lines.iter().flat_map(|line| line.chars()).filter(is_sign);
    let mut rest = text.chars();
    for _ in drawn {
        rest.find(is_sign);
    }
    rest.as_str().trim_start().replace('\n', " ")
}

/// Wraps the text into this many lines; a text that does not fit ends at a word with a sign that there is more.
fn cut_to(text: &str, (room, badge): (usize, usize), rows: usize, theme: Theme) -> Vec<String> {
    let last_room = match badge {
        0 => room,
        badge => room.saturating_sub(badge + 2).max(1),
    };
    let wrapped = wrap(&visible(text), room);
    let whole = wrapped.len().min(rows - 1);
    let mut lines = wrapped[..whole].to_vec();
    let rest = after(&visible(text), &lines);
    let first_word = rest.split(' ').next().unwrap_or_default();
    if !lines.is_empty() && columns(&rest) > last_room && columns(first_word) + 2 > last_room {
        // Never cut inside a word: a shortened id would look like another id.
        lines.push(theme.ellipsis().into());
    } else if !rest.is_empty() || lines.is_empty() {
        lines.push(words_that_fit(&rest, last_room, theme));
    } else if badge > 0 && lines.last().is_some_and(|last| columns(last) > last_room) {
        lines.push(String::new());
    }
    lines
}
