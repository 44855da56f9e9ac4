//! The request of a review: its text, and sending it.

use super::{Review, Stage, operation};
use crate::{
    config::guard,
    domain::history::Ending,
    operations::{Done, Method, as_curl, request, request_json},
    tui::{
        keymap::Focus,
        state::{
            confirm::{Confirm, Places},
            confirmation::Level,
            context::{Context, Navigation},
            message::{Job, Ticket},
            navigation::{Asked, PaneRequest, Then},
            notices::Severity,
        },
    },
};

impl Review {
    /// What must be typed after the key; `None`: the key sends it.
    pub(super) fn words(&self, context: &Context) -> Option<String> {
        match self.confirmation.level {
            Level::Button | Level::Key => None,
            Level::Typed => Some(self.id.to_string()),
            Level::Words => {
                let operation = operation(self.creating);
                Some(guard::words(operation, &self.id, context.profile_name()))
            }
        }
    }

    fn what(&self, context: &Context) -> String {
        let verb = if self.creating { "creates" } else { "updates" };
        format!("{verb} {} in {}", self.id, context.profile_name())
    }

    /// Says at the end of the page what the key does.
    pub(super) fn ask(&mut self, context: &Context) {
        let what = match self.words(context) {
            None => self.what(context),
            Some(_) => format!("{} after a typed confirmation", self.what(context)),
        };
        // Where more is asked for, the key sends nothing yet.
        let verb = self.words(context).map(|_| "CONTINUE");
        self.confirm.set_verb(verb);
        self.confirm.set_guard(self.confirmation.guard.clone());
        self.confirm.set(what, "");
    }

    /// Asks for the words in a box above the page.
    pub(super) fn ask_for(&self, words: String, context: &mut Context) {
        let places = Places::key(Focus::Review);
        let level = self.confirmation.level;
        let confirm = Confirm::new(places, level, self.confirmation.guard.clone());
        let asked = Asked {
            title: "Confirm",
            text: format!("This {}.", self.what(context)),
            confirm: confirm.of("", words),
            then: Then::Below,
        };
        context.navigate(Navigation::Push(PaneRequest::Question(Box::new(asked))));
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
