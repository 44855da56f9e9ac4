//! Cancelling and quitting: losses are announced first, and running writes are waited for.

use jiff::SignedDuration;

use super::{Action, App, Effect, Severity};
use crate::{
    domain::batch::StopCause,
    operations::batch::RunCommand,
    tui::{
        keymap::Focus,
        state::{
            confirm::Confirm,
            context::Navigation,
            message::ExitReason,
            navigation::{Asked, PaneRequest, Then},
        },
    },
};

/// A second Ctrl-C within this time quits.
const CONFIRM_WITHIN: SignedDuration = SignedDuration::from_secs(5);

impl App {
    /// The first Ctrl-C goes back or says how to quit; the second quits.
    pub(super) fn cancel(&mut self) {
        if self.leaving.is_some() {
            self.context.effects.push(Effect::Quit(ExitReason::Signal));
        } else if self.is_again() {
            self.leave(ExitReason::Asked, StopCause::Quit);
        } else {
            self.warned = Some(self.context.now);
            if self.stack.len() > 1 && !self.cancel_awaited() {
                self.act(Action::Back);
            }
            let key = self.shown(Action::Cancel);
            let text = match (self.losses(), self.unsent()) {
                (Some(losses), _) => format!("{losses}: {key} again quits"),
                (None, Some(kept)) => format!("{key} again quits; {kept}"),
                (None, None) => format!("{key} again quits"),
            };
            self.context.messages.ask(self.context.now, text);
        }
    }

    pub(super) fn quit(&mut self) {
        let Some(losses) = self.losses() else {
            return self.leave(ExitReason::Asked, StopCause::Quit);
        };
        let confirm = Confirm::with_key(Focus::ConfirmKey);
        let asked = Asked {
            title: "Quit",
            text: format!("{losses}."),
            confirm: confirm.of("quits", "").with_verb("QUIT"),
            then: Then::Quit,
        };
        self.context
            .navigate(Navigation::Push(PaneRequest::Question(Box::new(asked))));
    }

    /// The key of an action in the focused place.
    fn shown(&self, action: Action) -> String {
        self.context.keys.key(self.top().focus(), action)
    }

    /// What would be lost by quitting, if anything.
    pub(super) fn losses(&self) -> Option<String> {
        let drafts = self.lost_drafts();
        let bulk = self
            .left_of_the_batch()
            .map(|left| format!("{left}. It stops with the console"));
        bulk.into_iter()
            .chain(drafts)
            .reduce(|all, more| format!("{all} and {more}"))
    }

    /// What the running batch leaves undone, and where to find it later.
    fn left_of_the_batch(&self) -> Option<String> {
        let run = self
            .context
            .bulk
            .as_ref()
            .filter(|run| run.is_under_way())?;
        let counts = run.counts();
        let left = counts.not_started.saturating_sub(run.under_way());
        let resume = self.context.keys.key(Focus::Batches, Action::Resume);
        Some(format!(
            "{left} of {} not started; {resume} in Batches resumes them",
            counts.planned()
        ))
    }

    fn is_again(&self) -> bool {
        let warned = self.warned;
        warned.is_some_and(|at| self.context.now.duration_since(at) <= CONFIRM_WITHIN)
    }

    /// Whether the console is ending but still waits for what a bulk rotation has in flight.
    pub fn waits_for_a_batch(&self) -> bool {
        self.leaving.is_some() && self.runs_a_batch()
    }

    pub(super) fn leave(&mut self, reason: ExitReason, cause: StopCause) {
        self.leaving = Some(reason);
        if self.is_typing_a_token() {
            self.context.save_drafts();
        } else {
            self.keep_draft();
        }
        self.context.steer(RunCommand::Stop(cause));
        let writes: Vec<&str> = self
            .context
            .running
            .values()
            .filter(|running| running.job.is_write)
            .map(|running| running.job.label.as_str())
            .collect();
        if let Some(left) = self.left_of_the_batch() {
            let text = format!(
                "Finishing running requests, at most 35 s; {} leaves now. {left}",
                self.shown(Action::Cancel)
            );
            self.context.say(Severity::Warning, text);
        } else if !writes.is_empty() {
            let text = format!(
                "Waiting: {}. {} leaves now, the result is unknown then",
                writes.join(", "),
                self.shown(Action::Cancel)
            );
            self.context.say(Severity::Warning, text);
        }
    }

    pub(super) fn exit_reason(&mut self) {
        if let Some(reason) = self.leaving
            && self.context.writes_under_way() == 0
            && !self.context.drafts.is_saving()
        {
            self.context.effects.push(Effect::Quit(reason));
        }
    }
}
