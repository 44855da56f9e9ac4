//! Turns terminal input into messages.

use std::time::Duration;

use crossterm::event::Event;

use super::{Runner, Screen};
use crate::tui::{
    state::{message::Msg, notices::Severity},
    terminal::{InputEvent, MAX_PASTE_BYTES},
};

/// How long the terminal may take to report its background; after that the colours do not change any more.
const BACKGROUND_REPLY_TIME: Duration = Duration::from_millis(200);

impl<S: Screen> Runner<S> {
    /// Turns terminal input into a message; input that is none is reported to the person.
    pub(super) fn on_input(&mut self, input: InputEvent) -> Option<Msg> {
        let (severity, text) = match input {
            InputEvent::Event(Event::FocusGained) => {
                if let Some(feed) = &self.feed {
                    feed.check_now();
                }
                return None;
            }
            InputEvent::Event(event) => return message(event),
            InputEvent::Burst(keys) => return Some(Msg::Burst(keys)),
            InputEvent::Background(red, green, blue) => {
                let asked = self.background_asked_at.take()?;
                let is_in_time = asked.elapsed() <= BACKGROUND_REPLY_TIME;
                return is_in_time.then_some(Msg::Background(red, green, blue));
            }
            InputEvent::PasteIsOpen => (
                Severity::Warning,
                "Unfinished paste: Ctrl-C ends it".to_owned(),
            ),
            InputEvent::PasteTooLong => (
                Severity::Error,
                format!(
                    "the pasted text was too long and is not taken: at most {} MiB",
                    MAX_PASTE_BYTES >> 20
                ),
            ),
        };
        self.app.context.say(severity, text);
        None
    }
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        Event::Mouse(event) => Some(Msg::Mouse(event)),
        Event::FocusGained | Event::FocusLost => None,
    }
}
