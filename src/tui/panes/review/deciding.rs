//! The service's copy is read, and what the person decides about it: the request follows.

use super::{Copy, Page, Review, choices::Choices, view};
use crate::{
    domain::change::{Change, Wanted},
    operations::Done,
    tui::{desk::Desk, keymap::Action, messages::Severity},
};

impl Review {
    pub(super) fn take_copy(&mut self, done: &Done, desk: &mut Desk) {
        if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
            self.copy = Copy::Alarm(alarm.to_string());
            desk.say(Severity::Error, alarm.to_string());
            return;
        }
        self.now = Wanted::of(&done.group);
        let mut choices = Choices::of(&self.base, &self.now, &self.typed, desk.now);
        if let Some(before) = self.chosen.take() {
            choices.keep(&before);
        }
        self.copy = Copy::Read(Box::new(choices));
        self.weigh();
    }

    /// The choices there are now; only the difference shows them.
    pub(super) fn choices(&mut self) -> Option<&mut Choices> {
        match &mut self.copy {
            Copy::Read(choices) if self.page == Page::Difference && choices.count() > 0 => {
                Some(choices)
            }
            Copy::Read(_)
            | Copy::NotAsked
            | Copy::Reading(_)
            | Copy::Alarm(_)
            | Copy::Unreadable(_) => None,
        }
    }

    /// The request follows the choices.
    pub(super) fn weigh(&mut self) {
        if let Copy::Read(choices) = &self.copy {
            self.wanted = choices.result();
        }
        self.change = Change::between(&self.now, &self.wanted);
    }

    /// Moves between the choices, and only past them through the page.
    pub(super) fn step(&mut self, action: Action, desk: &Desk) -> bool {
        let is_above = view::row_of_choice(self, desk).is_some_and(|row| row < self.scroll.at);
        let Some(choices) = self.choices() else {
            return false;
        };
        match action {
            Action::Down if choices.at + 1 < choices.count() => choices.at += 1,
            // Coming back from below, the row of the cursor is met first.
            Action::Up if choices.at > 0 && !is_above => choices.at -= 1,
            _ => return false,
        }
        view::show_choice(self, desk);
        true
    }
}
