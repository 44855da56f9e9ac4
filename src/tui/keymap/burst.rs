//! Tells typing from a paste without brackets.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Characters in one read that are no typing. As many digits of a token are a part of one.
const CHARACTERS: usize = 16;
/// Fewer different ones are a key that is held down.
const DIFFERENT: usize = 5;

/// Whether these keys are a pasted text.
pub fn is_burst(keys: &[KeyEvent]) -> bool {
    let mut different = Vec::with_capacity(DIFFERENT);
    let mut count = 0;
    for key in keys {
        let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
        let KeyCode::Char(c) = key.code else { continue };
        if key.modifiers.intersects(held) {
            continue;
        }
        count += 1;
        if different.len() < DIFFERENT && !different.contains(&c) {
            different.push(c);
        }
    }
    count >= CHARACTERS && different.len() >= DIFFERENT
}
