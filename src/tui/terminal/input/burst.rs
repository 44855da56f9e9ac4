//! A paste without brackets: keys that arrive in one read, more than anybody types ahead.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::InputEvent;

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

/// Joins the keys of one read that are a burst.
pub(super) fn join_bursts(events: &mut Vec<InputEvent>) {
    let mut joined = Vec::with_capacity(events.len());
    let mut keys = Vec::new();
    let end = |keys: &mut Vec<KeyEvent>, joined: &mut Vec<InputEvent>| {
        if is_burst(keys) {
            joined.push(InputEvent::Burst(std::mem::take(keys)));
        } else {
            joined.extend(keys.drain(..).map(|key| InputEvent::Event(Event::Key(key))));
        }
    };
    for event in events.drain(..) {
        if let InputEvent::Event(Event::Key(key)) = event {
            keys.push(key);
        } else {
            end(&mut keys, &mut joined);
            joined.push(event);
        }
    }
    end(&mut keys, &mut joined);
    *events = joined;
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn keys(text: &str) -> Vec<InputEvent> {
        let key = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        text.chars()
            .map(|c| InputEvent::Event(Event::Key(key(c))))
            .collect()
    }

    #[test]
    fn many_different_characters_of_one_read_are_a_burst_and_a_held_key_is_not() {
        for (text, is_paste) in [
            ("a9f86d081884c7d65", true),
            ("the token is 12345678", true),
            ("a9f86d081884c7d", false),
            (&"j".repeat(200), false),
            (&"jk".repeat(100), false),
        ] {
            let mut events = keys(text);
            join_bursts(&mut events);
            let is_one =
                matches!(&events[..], [InputEvent::Burst(keys)] if keys.len() == text.len());
            assert_eq!(is_one, is_paste, "{text}");
            assert!(is_paste || events == keys(text), "{text}");
        }
        let mut parts = keys("a9f86d081");
        parts.push(InputEvent::PasteIsOpen);
        parts.extend(keys("884c7d659a2feaa0c55ad015"));
        join_bursts(&mut parts);
        assert_eq!(
            parts.len(),
            9 + 1 + 1,
            "each read and each side of another event by itself"
        );
    }
}
