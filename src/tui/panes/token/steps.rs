//! The actions of the token pane, and handling its outcomes.

use super::{PLACES, REVEAL_TIME, Stage, TokenPane, progress::Steps};
use crate::{
    config::guard,
    domain::history::Ending,
    operations::{Done, Guarded},
    tui::state::{
        confirm::Confirm,
        confirmation::{ConfirmationLevel, Level, Weight},
        context::Context,
        message::{Job, JobError},
        notices::Severity,
    },
};

impl TokenPane {
    /// What rotating asks for: the key, the id, or the words that a guard requires.
    pub(super) fn confirmation(&self, context: &Context) -> Confirm {
        let ConfirmationLevel { level, guard } =
            ConfirmationLevel::of(context.profile(), Guarded::Rotate, Weight::default());
        let profile = context.profile_name();
        let words = match level {
            Level::Words => guard::words(Guarded::Rotate, &self.id, profile),
            Level::Button | Level::Key | Level::Typed => self.id.to_string(),
        };
        let what = format!("rotates the token of {} in {profile}", self.id);
        Confirm::new(PLACES, level, guard)
            .of(what, words)
            .with_reason(&self.reason)
    }

    pub(super) fn rotate(&mut self, context: &mut Context) {
        let Stage::Check { confirm, seen } = &self.stage else {
            return;
        };
        let ticket = context.start(Job::Rotate {
            id: self.id.clone(),
            seen: *seen,
            reason: confirm.reason(),
        });
        self.steps = Some(Steps::of(ticket));
        self.stage = Stage::Rotating(ticket);
    }

    pub(super) fn read(&mut self, context: &mut Context) {
        if let Stage::Reading(ticket) = self.stage {
            context.cancel(ticket);
        }
        (self.revealed_until, self.saved) = (None, None);
        self.replaced = None;
        self.steps = None;
        self.stage = Stage::Reading(context.start(Job::LookUp(self.id.clone())));
    }

    pub(super) fn ask_path(&mut self) {
        let Some(done) = self.done() else { return };
        let safe: String = self
            .id
            .as_str()
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .take(60)
            .collect();
        let fingerprint = done
            .group
            .fingerprint
            .as_ref()
            .map_or_else(String::new, |known| format!("-{}", known.value));
        let name = format!("~/{safe}{fingerprint}.token");
        self.file.ask_file(name);
    }

    pub(super) fn write(&mut self, context: &mut Context) {
        let (Some(path), Some(token)) = (self.file.path(), self.token().cloned()) else {
            return;
        };
        self.file.begun(context.start(Job::WriteToken(token, path)));
    }

    pub(super) fn failed(&mut self, error: &JobError, context: &mut Context) {
        context.say_error(error);
        self.stage = Stage::Failed(error.clone());
    }

    pub(super) fn take(&mut self, done: &Done, context: &mut Context) {
        self.replaced = None;
        let fingerprint = |done: &Done| done.group.fingerprint.as_ref().map(|known| known.value);
        if self.done().and_then(fingerprint) != fingerprint(done) {
            self.saved = None;
        }
        for warning in &done.warnings {
            context.say(
                Severity::of_warning(warning.is_alarm()),
                warning.to_string(),
            );
        }
        if matches!(self.stage, Stage::Rotating(_) | Stage::Rotated { .. }) {
            self.hand_off(done, context);
        }
        self.stage = match &self.stage {
            Stage::Rotating(_) => {
                self.reason.clear();
                context.say(Severity::Done, describe(done));
                let confirming = (done.ending == Ending::Rotated)
                    .then(|| context.start(Job::Confirm(Box::new(done.clone()))));
                Stage::Rotated {
                    done: done.clone(),
                    confirming,
                }
            }
            Stage::Rotated { .. } => Stage::Rotated {
                done: done.clone(),
                confirming: None,
            },
            Stage::Reading(_) | Stage::Current(_) | Stage::Check { .. } | Stage::Failed(_) => {
                Stage::Current(done.clone())
            }
        };
    }

    /// Shows the token for a while, or hides it again.
    pub(super) fn reveal(&mut self, context: &Context) {
        self.revealed_until = match self.revealed_until {
            None if self.token().is_some() => Some(context.now + REVEAL_TIME),
            _ => None,
        };
    }
}

/// One line about a rotation that ended well.
pub(crate) fn describe(done: &Done) -> String {
    let arrow = match (&done.previous_fingerprint, &done.group.fingerprint) {
        (Some(before), Some(after)) if *before != after.value => {
            format!(", fingerprint {before} is now {}", after.value)
        }
        _ => String::new(),
    };
    format!("{} {}{arrow}", done.group.id, done.ending.as_str())
}
