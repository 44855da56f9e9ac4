//! The keys in the last line and their positions, used to draw them and to find the one that was clicked.
//!
//! The mouse, for panes that do not handle it themselves: the wheel and a click move the cursor, as keys do. Nothing
//! else, so that no click changes anything.

use std::ops::Range;

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::{
    buffer::Cell,
    prelude::{Buffer, Modifier, Position, Rect},
};

use crate::tui::{
    keymap::{Action, Focus},
    kit::{body, paint::columns},
    page::View,
    state::{Context, Ticket},
    theme::Theme,
};

/// A key in the footer: how it is displayed, and what it does.
pub struct Hint {
    pub key: String,
    pub word: &'static str,
    /// The first column of the hint.
    pub x: u16,
    action: Action,
}

impl Hint {
    fn width(&self) -> u16 {
        (columns(&self.key) + 1 + columns(self.word)) as u16
    }

    /// Whether the key is a lower-case letter or a sign, and its action is harmless. Dangerous actions have capitals in
    /// key or word, except for confirmations and the hand-off, which are excluded here.
    fn can_be_clicked(&self) -> bool {
        let mut letters = self.key.chars();
        let is_small =
            matches!((letters.next(), letters.next()), (Some(one), None) if !one.is_uppercase());
        let is_strong = matches!(self.action, Action::Confirm | Action::HandOff);
        is_small && !is_strong && !self.word.contains(char::is_uppercase)
    }
}

/// What the page visibly waits for and can cancel: then Esc does that, and the footer says so.
pub fn awaited<'a>(top: &'a dyn View, context: &'a Context) -> impl Iterator<Item = Ticket> + 'a {
    let running = context.running.keys().copied();
    running.filter(|ticket| {
        top.waits_for(*ticket) && context.can_cancel(*ticket) && context.is_seen_waiting(*ticket)
    })
}

/// The keys that work now and fit to the left of the help key; the help lists the others, with the reason why they do
/// not work.
pub fn hints(line: Rect, focus: Focus, top: &dyn View, context: &Context) -> Vec<Hint> {
    let end = help_at(line, focus, context).saturating_sub(1);
    let mut x = line.x + 1;
    let bindings = context.keys.bindings(focus).iter();
    let shown = bindings.filter_map(|binding| {
        let key = binding.keys.first()?;
        let cancels = binding.action == Action::Back && awaited(top, context).next().is_some();
        let word = top.hint(binding.action, context).unwrap_or(binding.hint);
        let word = if cancels { "cancel" } else { word };
        let works = !word.is_empty() && top.why_not(binding.action, context).is_none();
        let hint = Hint {
            key: key.shown(),
            word,
            x: 0,
            action: binding.action,
        };
        // Where the table has no word for it, the key leaves nothing.
        let is_way_out = binding.action == Action::Back && !binding.hint.is_empty();
        works.then_some((hint, is_way_out))
    });
    let mut shown: Vec<(Hint, bool)> = shown.collect();
    let width = |(hint, _): &(Hint, bool)| hint.width() + 2;
    // The first key and then the way out matter most: of the others, the last ones leave, then what explains it.
    while x + shown.iter().map(width).sum::<u16>() > end + 2 {
        let others = (1..shown.len()).rev().find(|at| !shown[*at].1);
        match (others, shown.pop()) {
            (None, None) => break,
            (None, Some((hint, true))) if let Some((word, _)) = hint.word.split_once(" (") => {
                shown.push((Hint { word, ..hint }, true));
            }
            (None, Some(_)) => {}
            (Some(at), last) => {
                shown.extend(last);
                shown.remove(at);
            }
        }
    }
    let placed = shown.into_iter().map(|(hint, _)| {
        let at = x;
        x += hint.width() + 2;
        Hint { x: at, ..hint }
    });
    placed.collect()
}

/// The key for help: always last, never cut off.
pub fn help(focus: Focus, context: &Context) -> String {
    format!("{} help", context.keys.key(focus, Action::Help))
}

/// The first column of the help key.
pub fn help_at(line: Rect, focus: Focus, context: &Context) -> u16 {
    let width = columns(&help(focus, context)) as u16;
    line.right().saturating_sub(width + 1)
}

/// The action for a click on the last line of the console. Never one that confirms, sends or rotates.
pub fn clicked(at: Position, top: &dyn View, context: &Context) -> Option<Action> {
    let (width, height) = context.size;
    let line = Rect::new(0, height.saturating_sub(1), width, 1);
    if at.y != line.y {
        return None;
    }
    let focus = top.focus();
    if (help_at(line, focus, context)..line.right()).contains(&at.x) {
        return Some(Action::Help);
    }
    let mut hints = hints(line, focus, top, context).into_iter();
    let hint = hints.find(|hint| (hint.x..hint.x + hint.width()).contains(&at.x))?;
    hint.can_be_clicked().then_some(hint.action)
}

/// Number of rows per notch of the wheel.
const ROWS_PER_NOTCH: usize = 3;

/// The cursor movement for a mouse event: an action and how often to repeat it.
pub fn moves(top: &dyn View, context: &Context, event: MouseEvent) -> (Action, usize) {
    match event.kind {
        MouseEventKind::ScrollDown => (Action::Down, ROWS_PER_NOTCH),
        MouseEventKind::ScrollUp => (Action::Up, ROWS_PER_NOTCH),
        MouseEventKind::Down(MouseButton::Left) => {
            let (width, height) = context.size;
            let area = Rect::new(0, 0, width, height);
            let mut buffer = Buffer::empty(area);
            // Draws only the pane with the focus, without those below it.
            top.draw(&mut buffer, body(area), context);
            let at = Position::new(event.column, event.row);
            let away = rows_away(&buffer, at, context.theme).unwrap_or(0);
            let action = if away < 0 { Action::Up } else { Action::Down };
            (action, away.unsigned_abs())
        }
        MouseEventKind::Down(_)
        | MouseEventKind::Up(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => (Action::Down, 0),
    }
}

fn is_lit(cell: &Cell, theme: Theme) -> bool {
    match theme.cursor_row().bg {
        Some(ground) => cell.bg == ground,
        None => cell.modifier.contains(Modifier::REVERSED),
    }
}

fn is_cursor(cell: &Cell, theme: Theme) -> bool {
    cell.symbol() == ">" && is_lit(cell, theme)
}

/// The lowest of these rows of the frame with the cursor of a list.
pub fn row_of_cursor(frame: &Buffer, rows: Range<u16>, theme: Theme) -> Option<u16> {
    let has_cursor = |y: &u16| (0..frame.area.width).any(|x| is_cursor(&frame[(x, *y)], theme));
    rows.rev().find(has_cursor)
}

/// How many rows below the cursor of a list the click was; `None` if it was outside of the list.
fn rows_away(frame: &Buffer, click: Position, theme: Theme) -> Option<isize> {
    let area = frame.area;
    let cursor = area.positions().find(|at| is_cursor(&frame[*at], theme))?;
    let is_of_row = |x: &u16| is_lit(&frame[(*x, cursor.y)], theme);
    let end = (cursor.x..area.right()).take_while(is_of_row).last()?;
    if !area.contains(click) || !(cursor.x..=end).contains(&click.x) {
        return None;
    }
    let (first, last) = (cursor.y.min(click.y), cursor.y.max(click.y));
    // A row of the list has a blank or `>` in the column of the cursor; an edge or other text ends the list.
    let is_row = |y: u16| matches!(frame[(cursor.x, y)].symbol(), " " | ">");
    let has_text = (cursor.x..=end).any(|x| frame[(x, click.y)].symbol() != " ");
    // The row directly below the rule holds the column titles.
    let above = click
        .y
        .checked_sub(1)
        .map(|y| frame[(cursor.x, y)].symbol());
    let is_header = above == Some(theme.rule(true));
    let is_list = (first..=last).all(is_row) && has_text && !is_header;
    is_list.then(|| isize::try_from(click.y).unwrap_or(0) - isize::try_from(cursor.y).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn a_click_counts_the_rows_to_the_cursor_within_the_list_only() {
        let theme = Theme::default();
        let mut frame = Buffer::empty(Rect::new(0, 0, 30, 8));
        let rows = [
            "title",
            "━━ Rows ━━",
            "   NAME",
            "   one",
            ">  two",
            "   three",
            "── Details ──",
            "  keys",
        ];
        for (y, row) in rows.iter().enumerate() {
            frame.set_string(0, y as u16, row, Style::new());
        }
        frame.set_style(Rect::new(0, 4, 20, 1), theme.cursor_row());
        let away = |x, y| rows_away(&frame, Position::new(x, y), theme);
        assert_eq!(away(5, 4), Some(0));
        assert_eq!(away(5, 5), Some(1));
        assert_eq!(away(19, 3), Some(-1));
        for (x, y) in [(25, 5), (5, 2), (5, 6), (5, 7), (5, 1), (5, 0), (40, 40)] {
            assert_eq!(away(x, y), None, "{x} {y}");
        }
        let nothing = Buffer::empty(Rect::new(0, 0, 9, 9));
        assert_eq!(rows_away(&nothing, Position::new(1, 1), theme), None);
    }
}
