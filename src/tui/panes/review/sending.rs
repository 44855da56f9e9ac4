//! The request of a review: as it is shown, and on its way.

use super::{Review, Stage, operation};
use crate::{
    config::guard,
    domain::history::Ending,
    operations::{Done, Method, as_curl, request, request_json},
    tui::state::{
        confirmation::Level,
        context::{Ask, Desk},
        message::{Job, Ticket},
        navigation::{Opening, Words},
        notices::Severity,
    },
};

impl Review {
    /// `y` sends it, unless a guard wants something typed first.
    pub(super) fn confirm(&mut self, desk: &mut Desk) {
        let words = match self.asks.level {
            Level::Button | Level::Key => return self.apply(desk),
            Level::Typed => self.id.to_string(),
            Level::Words => {
                let profile = desk.profile().map_or("", |profile| profile.name.as_str());
                guard::words(operation(self.creating), &self.id, profile)
            }
        };
        let what = format!(
            "{} in this profile? Type this to send it:",
            self.apply_word()
        );
        let reason = self.asks.guard.clone();
        desk.ask(Ask::Push(Opening::Typed(Words {
            words,
            what,
            reason,
        })));
    }

    pub(super) fn apply(&mut self, desk: &mut Desk) {
        if let Some(why) = self.blocked(desk) {
            desk.say(Severity::Warning, format!("not sent: {why}"));
            return;
        }
        let job = if self.creating {
            Job::Create(self.id.clone(), self.wanted.clone())
        } else {
            let (replace, travels) = self.vouched();
            Job::Update {
                id: self.id.clone(),
                base: self.now.clone(),
                wanted: self.wanted.clone(),
                replace,
                travels,
            }
        };
        let ticket = desk.start(job);
        if let Some(running) = desk.running.get_mut(&ticket) {
            // With a choice made here the request is not what the form holds, but it settles what the form holds.
            running.sends = Some((self.id.clone(), self.typed.clone()));
        }
        self.stage = Stage::Sending(ticket);
    }

    pub(super) fn finish(&mut self, ticket: Ticket, done: &Done, desk: &mut Desk) {
        // A group that existed is unchanged: what was typed is still to be sent.
        if done.ending != Ending::Existed {
            desk.drafts.remove(&(desk.current, self.id.clone()));
        }
        desk.say(
            Severity::Done,
            format!("{} {}", self.id, done.ending.as_str().replace('_', " ")),
        );
        for warning in done.warnings.iter().filter(|warning| warning.is_alarm()) {
            desk.say(Severity::Error, format!("{}: {warning}", self.id));
        }
        let result = Opening::Result(Box::new(done.clone()), self.wanted.clone());
        desk.ask(Ask::Finish(ticket, result));
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

    pub(super) fn curl(&self, desk: &Desk) -> Option<String> {
        let profile = desk.profile()?;
        let request = request(&self.id, &self.plan.send);
        Some(as_curl(profile, self.method(), &request))
    }
}
