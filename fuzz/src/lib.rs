//! What each fuzz target does with its bytes, and what must hold. Used by libFuzzer and by the test that replays the
//! committed corpus.

pub mod answer;
pub mod configuration;
pub mod filter;
pub mod import;
pub mod intake;
pub mod mapping;
pub mod properties;
pub mod table;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Used wherever an API key could be; no error may repeat it.
pub const CANARY: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// The first byte says how many bytes of operations follow; the rest is text.
fn operations_and_text(data: &[u8]) -> (&[u8], String) {
    let Some((count, rest)) = data.split_first() else {
        return (&[], String::new());
    };
    let (operations, text) = rest.split_at(usize::from(*count).min(rest.len()));
    (operations, String::from_utf8_lossy(text).into_owned())
}

/// The key for a byte: printable ones type themselves, the others move, delete, undo or change the view.
fn key_of(byte: u8) -> KeyEvent {
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let control = |code| KeyEvent::new(code, KeyModifiers::CONTROL);
    match byte {
        b' '..=b'~' => plain(KeyCode::Char(char::from(byte))),
        0 => plain(KeyCode::Enter),
        1 => plain(KeyCode::Backspace),
        2 => plain(KeyCode::Delete),
        3 => plain(KeyCode::Left),
        4 => plain(KeyCode::Right),
        5 => plain(KeyCode::Up),
        6 => plain(KeyCode::Down),
        7 => plain(KeyCode::Home),
        8 => plain(KeyCode::End),
        9 => plain(KeyCode::Tab),
        10 => plain(KeyCode::BackTab),
        11 => plain(KeyCode::Esc),
        12 => plain(KeyCode::PageUp),
        13 => plain(KeyCode::PageDown),
        14 => control(KeyCode::Left),
        15 => control(KeyCode::Right),
        16 => control(KeyCode::Char('t')),
        17 => control(KeyCode::Char('_')),
        18 => control(KeyCode::Char('y')),
        19 => control(KeyCode::Char('w')),
        20 => control(KeyCode::Char('u')),
        21 => control(KeyCode::Char('k')),
        22 => control(KeyCode::Home),
        23 => control(KeyCode::End),
        _ => plain(KeyCode::Char(
            ['é', '東', '\u{301}', '😀'][usize::from(byte % 4)],
        )),
    }
}

/// An error must not repeat the canary, and must not contain terminal control characters.
fn is_safe(error: &str) {
    assert!(
        !error.to_lowercase().contains(CANARY),
        "repeats a secret: {error:?}"
    );
    let hidden = |c: char| c != '\n' && groupdesk::domain::text::is_hidden(c);
    assert!(!error.chars().any(hidden), "hidden characters: {error:?}");
}

/// Checks that a position, counted from 1, is in the text or just after its end.
fn is_within(text: &str, line: usize, column: usize) {
    let lines: Vec<&str> = text.split('\n').collect();
    assert!(
        line >= 1 && line <= lines.len(),
        "line {line} of {}",
        lines.len()
    );
    let longest = lines[line - 1].chars().count() + 1;
    assert!(
        column >= 1 && column <= longest,
        "column {column} of {longest}"
    );
}
