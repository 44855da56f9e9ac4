//! The request of a review: its text, and sending it.

use super::{Review, Stage, operation};
use crate::{
    config::guard,
    domain::history::Ending,
    operations::{Done, Method, as_curl, request, request_json},
    tui::state::{
        confirmation::Level,
        context::{Context, Navigation},
        message::{Job, Ticket},
        navigation::{ConfirmationWords, PaneRequest},
        notices::Severity,
    },
};

impl Review {
    /// `y` sends it, unless a guard requires words to be typed first.
    pub(super) fn confirm(&mut self, context: &mut Context) {
        let words = match self.confirmation.level {
            Level::Button | Level::Key => return self.apply(context),
            Level::Typed => self.id.to_string(),
            Level::Words => {
                let profile = context
                    .profile()
                    .map_or("", |profile| profile.name.as_str());
                guard::words(operation(self.creating), &self.id, profile)
            }
        };
        let what = format!(
            "{} in this profile? Type this to send it:",
            self.apply_word()
        );
        let reason = self.confirmation.guard.clone();
        context.navigate(Navigation::Push(PaneRequest::Typed(ConfirmationWords {
            words,
            what,
            reason,
        })));
    }

    pub(super) fn apply(&mut self, context: &mut Context) {
        if let Some(why) = self.why_blocked(context) {
            context.say(Severity::Warning, format!("Not sent: {why}"));
            return;
        }
        let job = if self.creating {
            Job::Create(self.id.clone(), self.wanted.clone())
        } else {
            let (replace, sends_unchanged) = self.acknowledged();
            Job::Update {
                id: self.id.clone(),
                base: self.now.clone(),
                wanted: self.wanted.clone(),
                replace,
                sends_unchanged,
            }
        };
        let ticket = context.start(job);
        if let Some(running) = context.running.get_mut(&ticket) {
            // With choices made here, the request differs from the form; still, it settles the draft of the form.
            running.job.sends = Some((self.id.clone(), self.typed.clone()));
        }
        self.stage = Stage::Sending(ticket);
    }

    pub(super) fn finish(&mut self, ticket: Ticket, done: &Done, context: &mut Context) {
        // If the group already existed, it was not changed, so the input still has to be sent.
        if done.ending != Ending::Existed {
            context.drafts.remove(&(context.current, self.id.clone()));
        }
        context.say(
            Severity::Done,
            format!("{} {}", self.id, done.ending.as_str().replace('_', " ")),
        );
        for warning in done.warnings.iter().filter(|warning| warning.is_alarm()) {
            context.say(Severity::Error, format!("{}: {warning}", self.id));
        }
        let result = PaneRequest::Result(Box::new(done.clone()), self.wanted.clone());
        context.navigate(Navigation::Finish(ticket, result));
    }

    pub(super) fn method(&self) -> Method {
        if self.creating {
            Method::Get
        } else {
            Method::Put
        }
    }

    pub(super) fn request_text(&self) -> String {
        request_json(&request(&self.id, &self.plan.send))
    }

    pub(super) fn curl(&self, context: &Context) -> Option<String> {
        let profile = context.profile()?;
        let request = request(&self.id, &self.plan.send);
        Some(as_curl(profile, self.method(), &request))
    }
}
