//! The mouse, for panes that do not handle it themselves: the wheel and a click move the cursor, as keys do. Nothing
//! else, so that no click changes anything.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Position, Rect},
    style::Modifier,
};

use crate::tui::{
    keymap::Action, kit::boxes::body, page::view::View, state::context::Context, theme::Theme,
};

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

/// How many rows below the cursor of a list the click was; `None` if it was outside of the list.
fn rows_away(frame: &Buffer, click: Position, theme: Theme) -> Option<isize> {
    let area = frame.area;
    let row = theme.cursor_row();
    let is_lit = |cell: &Cell| match row.bg {
        Some(ground) => cell.bg == ground,
        None => cell.modifier.contains(Modifier::REVERSED),
    };
    let is_cursor = |at: &Position| frame[*at].symbol() == ">" && is_lit(&frame[*at]);
    let cursor = area.positions().find(is_cursor)?;
    let is_of_row = |x: &u16| is_lit(&frame[(*x, cursor.y)]);
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
