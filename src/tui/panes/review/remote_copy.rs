//! Receives the service's copy, and applies the person's choices to the request.

use super::{Page, RemoteCopy, Review, choices::Choices, operation, view};
use crate::{
    domain::{
        change::{Change, DesiredFields},
        facts::Field,
        update::{Edit, UnsafeUpdate},
    },
    operations::Done,
    tui::{
        keymap::Action,
        state::{
            confirm::{ConfirmationLevel, Weight},
            context::Context,
            notices::Severity,
        },
    },
};

impl Review {
    pub(super) fn take_copy(&mut self, done: &Done, context: &mut Context) {
        if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
            self.copy = RemoteCopy::Alarm(alarm.to_string());
            context.say(Severity::Error, alarm.to_string());
            return;
        }
        self.now = DesiredFields::of(&done.group);
        self.read = Some(Box::new(done.clone()));
        let mut choices = Choices::of(&self.base, &self.now, &self.typed, context.now);
        if let Some(before) = self.chosen.take() {
            choices.keep(&before);
        }
        self.copy = RemoteCopy::Read(Box::new(choices));
        self.recompute(context);
    }

    /// The current choices; `None` unless the difference is shown.
    pub(super) fn choices(&mut self) -> Option<&mut Choices> {
        match &mut self.copy {
            RemoteCopy::Read(choices) if self.page == Page::Difference && choices.count() > 0 => {
                Some(choices)
            }
            RemoteCopy::Read(_)
            | RemoteCopy::NotAsked
            | RemoteCopy::Reading(_)
            | RemoteCopy::Alarm(_)
            | RemoteCopy::Unreadable(_) => None,
        }
    }

    /// Recomputes the request and the confirmation level from the choices.
    pub(super) fn recompute(&mut self, context: &Context) {
        if let RemoteCopy::Read(choices) = &self.copy {
            self.wanted = choices.result();
        }
        if let Some(read) = &self.read {
            self.plan = read.plan(&self.edit());
        }
        self.change = Change::between(&self.now, &self.plan.send);
        let weight = Weight {
            undoes: self.undoes,
            is_blind: self.plan.is_blind,
        };
        let operation = operation(self.creating);
        self.confirmation = ConfirmationLevel::of(context.profile(), operation, weight);
        self.ask(context);
    }

    /// The decided edit, relative to the copy that was read. An unknown field can only be replaced as a whole.
    fn edit(&self) -> Edit {
        let is_known = |field: &Field| *field == Field::Name || self.now.has(*field);
        let whole = Field::ALL.into_iter().filter(|field| !is_known(field));
        Edit {
            base: self.now.clone(),
            wanted: self.wanted.clone(),
            whole: whole.collect(),
            ..Edit::default()
        }
    }

    /// What the person has seen beyond the change: fields that are replaced as a whole, and whether others are sent
    /// unchanged.
    pub(super) fn acknowledged(&self) -> (Vec<Field>, bool) {
        let objections = &self.plan.objections;
        let is_not_told =
            |objection: &UnsafeUpdate| matches!(objection, UnsafeUpdate::NotStated { .. });
        let sends_unchanged = objections.iter().any(is_not_told);
        (self.plan.replaced.clone(), sends_unchanged)
    }

    /// Moves between the choices; returns false when the page should scroll instead.
    pub(super) fn step(&mut self, action: Action, context: &Context) -> bool {
        let is_above = view::row_of_choice(self, context).is_some_and(|row| row < self.scroll.at);
        let Some(choices) = self.choices() else {
            return false;
        };
        match action {
            Action::Down if choices.at + 1 < choices.count() => choices.at += 1,
            // When scrolling back up, the row of the cursor is reached first.
            Action::Up if choices.at > 0 && !is_above => choices.at -= 1,
            _ => return false,
        }
        view::show_choice(self, context);
        true
    }
}
