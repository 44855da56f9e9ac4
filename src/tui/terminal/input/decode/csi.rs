//! Control sequences: special keys with their modifiers, the mouse, and the start of a paste.

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::Parsed;

/// Whether a byte may occur within a sequence or end one.
pub(super) fn is_inside(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e)
}

/// Parses what follows `ESC [`.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let Some((last, before)) = bytes.split_last() else {
        return Parsed::Incomplete;
    };
    let parsed = match bytes {
        [b'M', ..] => return plain_mouse(bytes),
        [b'['] => return Parsed::Incomplete,
        // The function keys F1 to F5 of the Linux console.
        [b'[', last @ b'A'..=b'E'] => Some(press(KeyCode::F(1 + last - b'A'))),
        _ if matches!(last, 0x20..=0x3f) => return Parsed::Incomplete,
        _ if !is_inside(*last) => None,
        [b'<', rest @ .., b'M' | b'm'] => mouse(rest, *last == b'm'),
        b"200~" => return Parsed::PasteBegins,
        b"I" => Some(Event::FocusGained),
        b"O" => Some(Event::FocusLost),
        _ => special(before, *last),
    };
    parsed.map_or(Parsed::Nothing, Parsed::Event)
}

fn press(code: KeyCode) -> Event {
    Event::Key(KeyEvent::from(code))
}

/// Parses `1;5A`, `15;2~`, `97;5u`: a key, its modifiers, and whether it was pressed or released.
fn special(before: &[u8], last: u8) -> Option<Event> {
    let text = std::str::from_utf8(before).ok()?;
    let mut numbers = text.split(';');
    let first = numbers.next().unwrap_or_default();
    let mut second = numbers.next().unwrap_or_default().split(':');
    let modifiers = modifiers(
        second
            .next()
            .and_then(|mask| mask.parse().ok())
            .unwrap_or(1),
    );
    let kind = match second.next() {
        Some("2") => KeyEventKind::Repeat,
        Some("3") => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    let code = match last {
        b'~' => numbered(first.parse().ok()?)?,
        b'u' => of_code_point(first.split(':').next()?.parse().ok()?, modifiers)?,
        // A report of the cursor position looks like F3, and was not requested.
        b'R' => return None,
        _ => match letter(last, modifiers)? {
            Event::Key(key) => return Some(Event::Key(KeyEvent { kind, ..key })),
            _ => return None,
        },
    };
    Some(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
}

/// The key that a final letter stands for.
pub(super) fn letter(last: u8, modifiers: KeyModifiers) -> Option<Event> {
    let code = match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(1 + last - b'P'),
        b'Z' => {
            let modifiers = modifiers | KeyModifiers::SHIFT;
            return Some(Event::Key(KeyEvent::new(KeyCode::BackTab, modifiers)));
        }
        _ => return None,
    };
    Some(Event::Key(KeyEvent::new(code, modifiers)))
}

fn numbered(number: u8) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        _ => return None,
    })
}

/// The key of a Unicode code point, as sent by terminals that were told to distinguish all keys.
fn of_code_point(number: u32, modifiers: KeyModifiers) -> Option<KeyCode> {
    Some(match char::from_u32(number)? {
        '\x1b' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\x7f' => KeyCode::Backspace,
        // Keys without a character are in a private use area.
        '\u{e000}'..='\u{f8ff}' => return None,
        c => KeyCode::Char(c),
    })
}

fn modifiers(mask: u8) -> KeyModifiers {
    let bits = mask.saturating_sub(1);
    [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & bit != 0)
    .fold(KeyModifiers::NONE, |all, (_, one)| all | one)
}

/// Parses `0;12;7` of mode 1006; columns and rows count from 1.
fn mouse(bytes: &[u8], is_release: bool) -> Option<Event> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut numbers = text.split(';').map(str::parse::<u16>);
    let mut next = || numbers.next()?.ok();
    let (button, column, row) = (next()?, next()?, next()?);
    let kind = match button_kind(u8::try_from(button).ok()?)? {
        MouseEventKind::Down(button) if is_release => MouseEventKind::Up(button),
        kind => kind,
    };
    click(kind, button as u8, column, row)
}

/// Parses `M` and three bytes, from terminals that do not support mode 1006.
fn plain_mouse(bytes: &[u8]) -> Parsed {
    let [_, button, column, row] = bytes else {
        return Parsed::Incomplete;
    };
    let button = button.wrapping_sub(32);
    let at = |byte: &u8| u16::from(byte.saturating_sub(32));
    button_kind(button)
        .and_then(|kind| click(kind, button, at(column), at(row)))
        .map_or(Parsed::Nothing, Parsed::Event)
}

fn click(kind: MouseEventKind, button: u8, column: u16, row: u16) -> Option<Event> {
    let held = [
        (4, KeyModifiers::SHIFT),
        (8, KeyModifiers::ALT),
        (16, KeyModifiers::CONTROL),
    ];
    let held = held.into_iter().filter(|(bit, _)| button & bit != 0);
    Some(Event::Mouse(MouseEvent {
        kind,
        column: column.checked_sub(1)?,
        row: row.checked_sub(1)?,
        modifiers: held.fold(KeyModifiers::NONE, |all, (_, one)| all | one),
    }))
}

fn button_kind(button: u8) -> Option<MouseEventKind> {
    let number = (button & 0b11) | ((button & 0b1100_0000) >> 4);
    let which = [MouseButton::Left, MouseButton::Middle, MouseButton::Right];
    Some(match (number, button & 0b10_0000 != 0) {
        (0..=2, false) => MouseEventKind::Down(which[usize::from(number)]),
        (0..=2, true) => MouseEventKind::Drag(which[usize::from(number)]),
        (3, false) => MouseEventKind::Up(MouseButton::Left),
        (3..=5, true) => MouseEventKind::Moved,
        (4, false) => MouseEventKind::ScrollUp,
        (5, false) => MouseEventKind::ScrollDown,
        (6, false) => MouseEventKind::ScrollLeft,
        (7, false) => MouseEventKind::ScrollRight,
        _ => return None,
    })
}
