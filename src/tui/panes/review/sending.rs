//! The request of a review: its text, and sending it.
//!
//! Receives the service's copy, and applies the person's choices to the request.

use std::collections::HashMap;

use super::{Page, RemoteCopy, Review, Stage, choices::Choices, operation, view};
use crate::tui::panes::prelude::*;
use crate::{
    config::guard,
    domain::{
        Change, DesiredFields, Ending, Mark,
        facts::Field,
        update::{Edit, UnsafeUpdate},
    },
    operations::{Call, Done, as_curl, request, request_json},
    tui::{
        kit::text_page,
        state::{ConfirmationLevel, Level, Places, Proposal, Weight},
    },
};

impl Review {
    /// What must be typed after the key; `None`: the key sends it.
    pub(super) fn words(&self, context: &Context) -> Option<String> {
        match self.confirmation.level {
            Level::Button | Level::Key => None,
            Level::Typed => Some(self.asked.id.to_string()),
            Level::Words => {
                let (id, operation) = (&self.asked.id, operation(self.asked.creating));
                Some(guard::words(operation, id, context.profile_name()))
            }
        }
    }

    fn what(&self, context: &Context) -> String {
        let Proposal { id, creating, .. } = &self.asked;
        let verb = if *creating { "creates" } else { "updates" };
        let sent = match self.change.in_words() {
            nothing if nothing.is_empty() => nothing,
            sent => format!(": {sent}"),
        };
        format!("{verb} {id} in {}{sent}", context.profile_name())
    }

    /// Shows more of the changes, up to their end, if that has not been on the screen yet; returns whether it did.
    pub(super) fn shows_the_rest(&mut self, context: &mut Context) -> bool {
        let (at, end) = view::end_of_changes(self, context);
        if self.seen >= end {
            return false;
        }
        self.page = Page::Difference;
        self.scroll.at = self.seen.saturating_sub(1).min(at);
        let which = if self.scroll.at == at {
            "these are the last changes"
        } else {
            "there are more changes"
        };
        let key = context.keys.key(self.focus(), Action::Confirm);
        context.refuse(format!("Not sent: {which}; {key} again continues"));
        true
    }

    /// Says at the end of the page what the key does.
    pub(super) fn ask(&mut self, context: &Context) {
        let what = if self.words(context).is_none() {
            self.what(context)
        } else {
            // The box that asks for the words counts what is sent.
            let (id, place) = (&self.asked.id, context.profile_name());
            let verb = if self.asked.creating {
                "creates"
            } else {
                "updates"
            };
            format!("{verb} {id} in {place} after a typed confirmation")
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
        let text = format!("This {}.", self.what(context));
        context.ask_first("Confirm", text, confirm.of("", words));
    }

    pub(super) fn apply(&mut self, context: &mut Context) {
        if let Some(why) = self.why_blocked(context) {
            context.say(Severity::Warning, format!("Not sent: {why}"));
            return;
        }
        let job = if self.asked.creating {
            Job::Create(self.asked.id.clone(), self.wanted.clone())
        } else {
            let (replace, sends_unchanged) = self.acknowledged();
            Job::Update {
                id: self.asked.id.clone(),
                base: self.now.clone(),
                wanted: self.wanted.clone(),
                replace,
                sends_unchanged,
            }
        };
        let ticket = context.start(job);
        if let Some(running) = context.running.get_mut(&ticket) {
            // With choices made here, the request differs from the form; still, it settles the draft of the form.
            running.job.sends = Some((self.asked.id.clone(), self.asked.wanted.clone()));
        }
        self.stage = Stage::Sending(ticket);
    }

    pub(super) fn finish(&mut self, ticket: Ticket, done: &Done, context: &mut Context) {
        // If the group already existed, it was not changed, so the input still has to be sent.
        let id = &self.asked.id;
        if done.ending != Ending::Existed {
            context.remove_draft(&(context.current, id.clone()));
        }
        let ending = done.ending.as_str().replace('_', " ");
        context.say(Severity::Done, format!("{id} {ending}"));
        for warning in done.warnings.iter().filter(|warning| warning.is_alarm()) {
            context.say(Severity::Error, format!("{id}: {warning}"));
        }
        let result = PaneRequest::Result(Box::new(done.clone()), self.wanted.clone());
        context.navigate(Navigation::Finish(ticket, result));
    }

    pub(super) fn call(&self) -> Call {
        if self.asked.creating {
            Call::Create
        } else {
            Call::Update
        }
    }

    pub(super) fn request_text(&self) -> String {
        request_json(&request(&self.asked.id, &self.plan.send))
    }

    pub(super) fn curl(&self, context: &Context) -> Option<String> {
        let profile = context.profile()?;
        let request = request(&self.asked.id, &self.plan.send);
        Some(as_curl(profile, self.call(), &request))
    }
}

impl Review {
    /// "PUT https://.../api/user".
    pub(super) fn request_line(&self, context: &Context) -> String {
        let url = context.profile().map(crate::config::profile::Profile::url);
        format!("{} {}", self.call().method(), url.unwrap_or_default())
    }

    /// "PUT /api/user": the part that the confirmation does not contain.
    pub(super) fn request_title(&self, context: &Context) -> String {
        let url = context.profile().map(crate::config::profile::Profile::url);
        let url = url.unwrap_or_default();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        format!("Request  {} /{path}", self.call().method())
    }

    /// Writes the body line by line.
    pub(super) fn write_body(&self, page: &mut TextPage, context: &Context) {
        let text = self.request_text();
        let marks = marks_of(&self.change);
        let mut field = "";
        page.json(text.lines().map(|line| {
            // Pretty-printed JSON: two blanks before a field, four before a row of it.
            let depth = line.len() - line.trim_start().len();
            let key = key_of(line);
            if depth == 2 {
                field = match key.as_deref() {
                    Some("name") => "name",
                    Some("mapping") => "mapping",
                    Some("properties") => "properties",
                    _ => "",
                };
            }
            let is_row = depth == if field == "name" { 2 } else { 4 };
            let key = key.filter(|_| is_row);
            let mark = key.and_then(|key| marks.get(&(field, key.as_str())).copied());
            (mark.map(|mark| sign(mark, context.theme)), line)
        }));
    }
}

/// The key at the beginning of a line.
fn key_of(line: &str) -> Option<String> {
    let mut parts = serde_json::Deserializer::from_str(line.trim_start()).into_iter::<String>();
    let key = parts.next()?.ok()?;
    line.trim_start()[parts.byte_offset()..]
        .starts_with(':')
        .then_some(key)
}

/// The marks of the rows that change, by field and key.
fn marks_of(change: &Change) -> HashMap<(&'static str, &str), Mark> {
    let fields = change.fields().into_iter();
    let rows = fields.flat_map(|(field, rows)| rows.rows().iter().map(move |row| (field, row)));
    let marks = rows.map(|(field, row)| ((field, row.key.as_str()), row.mark()));
    marks.filter(|(_, mark)| *mark != Mark::Same).collect()
}

fn sign(mark: Mark, theme: Theme) -> (char, Style) {
    (mark.sign(), text_page::style(mark, theme))
}

impl Review {
    pub(super) fn take_copy(&mut self, done: &Done, context: &mut Context) {
        if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
            self.copy = RemoteCopy::Alarm(alarm.to_string());
            context.say(Severity::Error, alarm.to_string());
            return;
        }
        context.messages.drop_refusal();
        self.now = DesiredFields::of(&done.group);
        self.read = Some(Box::new(done.clone()));
        let (base, wanted) = (&self.asked.base, &self.asked.wanted);
        let choices = Choices::of(base, &self.now, wanted, context.now);
        let mut choices = choices.naming(base, &done.group);
        if let Some(before) = self.chosen.take() {
            choices.keep(&before);
        }
        self.copy = RemoteCopy::Read(Box::new(choices));
        // Only then it is certain that nothing was sent; every other failure stays in sight.
        if matches!(&self.stage, Stage::Failed(error) if error.is_outdated) {
            self.stage = Stage::Deciding;
            self.is_unseen = true;
        }
        self.recompute(context);
    }

    /// Reads the service's copy again.
    pub(super) fn read_again(&mut self, context: &mut Context) {
        let ticket = context.start(Job::LookUp(self.asked.id.clone()));
        let reading = RemoteCopy::Reading(ticket);
        if let RemoteCopy::Read(choices) = std::mem::replace(&mut self.copy, reading) {
            self.chosen = Some(choices);
        }
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
            self.plan = read.plan(&self.edit(), &context.operator);
        }
        self.change = Change::between(&self.now, &self.plan.send);
        self.seen = 0;
        let weight = Weight {
            undoes: self.asked.restores,
            is_blind: self.plan.is_blind,
        };
        let operation = operation(self.asked.creating);
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
