//! Helpers for the tests of the widgets: screens as text, keys by name.

use ratatui::{
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    prelude::{Buffer, Rect},
};

use crate::tui::theme::Theme;

/// What `draw` paints into an area of this size, one line per row, without trailing spaces.
pub(crate) fn screen(width: u16, height: u16, draw: impl FnOnce(&mut Buffer, Rect)) -> String {
    let buffer = painted(width, height, draw);
    lines(&buffer).join("\n")
}

pub(crate) fn painted(width: u16, height: u16, draw: impl FnOnce(&mut Buffer, Rect)) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(&mut buffer, area);
    buffer
}

pub(crate) fn lines(buffer: &Buffer) -> Vec<String> {
    use ratatui::buffer::CellWidth;
    let area = buffer.area;
    (area.top()..area.bottom())
        .map(|y| {
            let mut line = String::new();
            let mut x = area.left();
            while x < area.right() {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                x += symbol.cell_width().max(1);
            }
            line.trim_end().to_owned()
        })
        .collect()
}

pub(crate) fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

pub(crate) fn ctrl(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)
}

/// The characters of a text as key presses; these signs are other keys, and `␕` is Ctrl-U.
pub(crate) fn typed(text: &str) -> impl Iterator<Item = KeyEvent> + '_ {
    text.chars().map(|c| match c {
        '\n' => key(KeyCode::Enter),
        '←' => key(KeyCode::Left),
        '→' => key(KeyCode::Right),
        '↑' => key(KeyCode::Up),
        '↓' => key(KeyCode::Down),
        '⇱' => key(KeyCode::Home),
        '⇲' => key(KeyCode::End),
        '⇟' => key(KeyCode::PageDown),
        '⌫' => key(KeyCode::Backspace),
        '⌦' => key(KeyCode::Delete),
        '⇥' => key(KeyCode::Tab),
        '⇤' => key(KeyCode::BackTab),
        '⎋' => key(KeyCode::Esc),
        '␕' => ctrl('u'),
        c => key(KeyCode::Char(c)),
    })
}

/// Keys other than the default ones.
pub(crate) fn row_keys() -> super::RowKeys {
    super::RowKeys {
        add: "+".into(),
        drop: "-".into(),
    }
}

pub(crate) const THEME: Theme = Theme {
    colour: true,
    ascii: false,
    palette: crate::tui::theme::Palette::NAMED,
};
