//! Drafts of unsent forms: saved while they are typed, one save at a time, and offered again when they are found in the
//! directory.
//!
//! Cancelling and quitting: losses are announced first, and running writes are waited for.

use super::{Action, App, Effect, Outcome, Pane, ProfileIndex, Severity, Ticket, named};
use crate::{
    domain::{
        StopCause, UserGroupId, counted,
        text::{capitalised, is_same_person},
        visible,
    },
    operations::{DraftSaved, Guarded, KeptDraft, OtherDraft, batch::RunCommand},
    tui::{
        keymap::Focus,
        page::CONFIRMATION_LOST,
        panes::attention::draft_is_gone,
        state::{
            Asked, Confirm, ExitReason, GroupForm, PaneRequest, Then, UnsentDraft,
            notices::ASKED_FOR,
        },
    },
};

/// Maximum number of drafts named in one message.
const NAMED: usize = 2;

impl App {
    /// Called after a key, a paste or an external editor: keeps the content of the form on top as a draft, or removes
    /// the draft if nothing is left to keep.
    pub(super) fn keep_draft(&mut self) {
        if let Some(Pane::Edit(edit)) = self.stack.last() {
            edit.keep(&mut self.context);
        }
        self.context.save_drafts();
    }

    /// The external editor has ended.
    pub(super) fn edited(&mut self, ticket: Ticket, text: Result<String, String>) {
        for pane in self.stack.iter_mut().rev() {
            if let Pane::Edit(edit) = pane
                && edit.is_outside(ticket)
            {
                edit.take_edited(text, &mut self.context);
                return;
            }
        }
    }

    /// Handles the outcome of saving, forgetting or reading drafts; returns whether it was one of these.
    pub(super) fn draft_done(
        &mut self,
        ticket: Ticket,
        profile: ProfileIndex,
        outcome: &Outcome,
    ) -> bool {
        self.context.drafts.answered(ticket);
        match outcome {
            Outcome::Drafts(found) => {
                self.found_drafts(profile, found);
                self.context.save_drafts();
            }
            Outcome::DraftKept(at, saved) => {
                let ended = self.context.drafts.ended(ticket, Some(*at));
                if let DraftSaved::Replaced(other) | DraftSaved::Overtaken(other) = saved
                    && let Some(key) = ended
                {
                    self.report_second_draft(&key, other);
                }
                self.report_saving_works();
            }
            Outcome::DraftForgotten => {
                let ended = self.context.drafts.ended(ticket, Some(self.context.now));
                let is_left = |key| !self.context.drafts.others(key).is_empty();
                if ended.as_ref().is_some_and(is_left) && profile == self.context.current {
                    // A draft of another console is now the one of the group.
                    self.context.read_drafts();
                }
                self.report_saving_works();
            }
            Outcome::DraftRefused(why) => self.draft_refused(ticket, why),
            Outcome::Failed(error) => return self.draft_failed(ticket, &error.text),
            _ => return false,
        }
        true
    }

    /// Handles a panic in a job about drafts; returns whether it was such a job.
    pub(super) fn draft_lost(&mut self, ticket: Ticket) -> bool {
        self.context.drafts.answered(ticket);
        let was_saving = self.context.drafts.is_saving();
        self.draft_refused(ticket, "internal error, stopped");
        was_saving && !self.context.drafts.is_saving()
    }

    /// This draft, or its profile, is not one to be saved: says so once. The others are saved.
    fn draft_refused(&mut self, ticket: Ticket, why: &str) {
        if let Some(key) = self.context.drafts.set_aside(ticket) {
            self.say_not_saved(&key, why);
        }
    }

    fn say_not_saved(&mut self, key: &(ProfileIndex, UserGroupId), why: &str) {
        let id = &key.1;
        let is_there = |unsent: &UnsentDraft| unsent.is_own;
        let text = if self.context.drafts.get(key).is_some_and(is_there) {
            format!("Draft of {id} NOT saved, kept in memory only: {why}")
        } else {
            // It was sent or discarded.
            format!("Draft of {id} NOT deleted yet; it may appear again: {why}")
        };
        self.context.say(Severity::Error, text);
    }

    /// The directory fails: reports it once; the next change tries again.
    fn draft_failed(&mut self, ticket: Ticket, why: &str) -> bool {
        let Some(key) = self.context.drafts.ended(ticket, None) else {
            return false;
        };
        // While the directory is unavailable, each form says so itself.
        let is_told = self.context.outage.is_some();
        if !std::mem::replace(&mut self.context.drafts.is_failing, true) && !is_told {
            self.say_not_saved(&key, why);
        }
        true
    }

    fn report_saving_works(&mut self) {
        if std::mem::replace(&mut self.context.drafts.is_failing, false) {
            self.context.say(Severity::Done, "Drafts are saved again");
        }
        self.context.save_drafts();
    }

    /// Two consoles have a draft of the same group: says so once.
    fn report_second_draft(&mut self, key: &(ProfileIndex, UserGroupId), other: &OtherDraft) {
        if self.context.drafts.is_news(key, &other.by) {
            let ago = self.context.ago(other.at);
            let (id, by) = (&key.1, visible(&other.by));
            let text = format!("{by} has a draft of {id} as well ({ago}); both are kept");
            self.context.say(Severity::Warning, text);
        }
    }

    fn found_drafts(&mut self, profile: ProfileIndex, found: &[KeptDraft]) {
        // The form on top needs no protection: it was either opened just now, or typing has touched its draft since the
        // request. Input in a form below it may be older than the request.
        let below = self.stack.iter().rev().skip(1);
        let busy: Vec<UserGroupId> = below
            .filter_map(|pane| match pane {
                Pane::Edit(edit) => Some(edit.id.clone()),
                _ => None,
            })
            .collect();
        let operator = &self.context.operator;
        let is_own = |by: &str| is_same_person(by, operator);
        let drafts = &mut self.context.drafts;
        let (is_first, changed) = drafts.found(profile, found, &busy, is_own);
        if profile != self.context.current {
            return;
        }
        let mut is_open = false;
        for pane in &mut self.stack {
            if let Pane::Edit(edit) = pane
                && changed.contains(&edit.id)
            {
                edit.take_newer(&mut self.context);
                is_open = true;
            }
        }
        // A form that was opened before they were read has just said whose draft it shows.
        if is_first && !changed.is_empty() && !is_open {
            let text = self.unsent_drafts_text();
            let text = text.or_else(|| self.drafts_of_others_text());
            if let Some(text) = text {
                self.context.say(Severity::Info, text);
            }
        }
    }

    /// Opens the draft that was requested from another profile, once its profile's groups and drafts have been read.
    pub(super) fn open_wanted_draft(&mut self) {
        let context = &mut self.context;
        let is_there = |(profile, ..): &(ProfileIndex, UserGroupId, String)| {
            let is_known = context.groups.is_whole() && context.drafts.are_read(*profile);
            *profile == context.current && is_known
        };
        if !context.draft_to_open.as_ref().is_some_and(is_there) {
            return;
        }
        let Some((_, id, by)) = context.draft_to_open.take() else {
            return;
        };
        if !context.has_draft(&id, &by) {
            context.say(Severity::Info, draft_is_gone(&id));
            return;
        }
        if GroupForm::open_draft(&id, &by, context) {
            self.navigate();
        }
    }

    /// Returns for example "1 unsent draft: acme-eu (2h ago); e on it opens it"; `None` if the operator has none.
    fn unsent_drafts_text(&self) -> Option<String> {
        let context = &self.context;
        let mut drafts = context.drafts.of(context.current);
        drafts.retain(|unsent| unsent.is_own);
        let first = drafts.first()?;
        let draft = |unsent: &&UnsentDraft| {
            let ago = context.ago(unsent.draft.changed_at);
            format!("{} ({ago})", unsent.draft.user_group_id)
        };
        let all = counted(drafts.len(), "unsent draft");
        let named = named(drafts.iter().map(draft), NAMED);
        let key = |action| context.keys.key(Focus::List, action);
        let (edit, all_of_them) = (key(Action::Edit), key(Action::Attention));
        let (open, is_new) = (key(Action::OpenOrCreate), first.draft.creating);
        let (how, what) = match drafts.as_slice() {
            [_] if is_new => (format!("; {open} and its ID opens it"), Guarded::Create),
            [_] => (format!("; {edit} on it opens it"), Guarded::Update),
            _ => (format!("; {all_of_them} lists them"), Guarded::Update),
        };
        let how = Some(how).filter(|_| context.why_forbidden(what).is_none());
        Some(format!("{all}: {named}{}", how.unwrap_or_default()))
    }

    /// Returns for example "li@desk7 has a draft of acme-eu (2h ago); 1 more draft of colleagues".
    fn drafts_of_others_text(&self) -> Option<String> {
        let context = &self.context;
        let drafts = context.drafts.of(context.current);
        let newest = drafts.first()?;
        let by = visible(context.other_author(newest)?);
        let id = &newest.draft.user_group_id;
        let ago = context.ago(newest.draft.changed_at);
        let more = match drafts.len() - 1 {
            0 => String::new(),
            more => format!("; {} of colleagues", counted(more, "more draft")),
        };
        Some(format!("{by} has a draft of {id} ({ago}){more}"))
    }

    /// What the console prints when it ends: the results it waited for, drafts, and a text that the editor left.
    pub fn unsent(&self) -> Option<String> {
        let kept = self.context.drafts.own() - self.unsaved();
        let are = if kept == 1 { "is" } else { "are" };
        let drafts = format!("{} {are} kept", counted(kept, "unsent draft"));
        let drafts = (kept > 0).then_some(drafts);
        let lines = self.results().chain(self.kept_text.clone()).chain(drafts);
        let lines: Vec<_> = lines.collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The results that arrived while the console was ending; nothing shows them any more.
    fn results(&self) -> impl Iterator<Item = String> {
        let since = self.leaving.map(|(since, _)| since);
        let all: Vec<_> = self.context.messages.all().collect();
        let said = all.into_iter().rev();
        let said =
            said.filter(move |one| one.about.is_some() && since.is_some_and(|at| one.at >= at));
        said.map(|one| one.text.clone())
    }

    /// Drafts that are lost when the console ends: they could not be saved, or the directory is deleted as well.
    pub(super) fn lost_drafts(&self) -> Option<String> {
        let lost = self.unsaved();
        (lost > 0).then(|| format!("{} will be lost", counted(lost, "unsent draft")))
    }

    fn unsaved(&self) -> usize {
        let drafts = &self.context.drafts;
        if self.context.is_ephemeral {
            drafts.own()
        } else {
            drafts.unsaved(self.context.outage.is_some())
        }
    }
}

impl App {
    /// The first Ctrl-C goes back or says how to quit; the second quits.
    pub(super) fn cancel(&mut self) {
        if self.leaving.is_some() {
            self.context.effects.push(Effect::Quit(ExitReason::Signal));
        } else if self.is_again() {
            self.leave(ExitReason::Asked, StopCause::Quit);
        } else {
            self.warned = Some(self.context.now);
            let typed = self.top().unsaved();
            let before = self.stack.len();
            if before > 1 && !self.cancel_awaited() {
                self.act(Action::Back);
                self.navigate();
            }
            let is_gone = |typed: &String| typed != CONFIRMATION_LOST && self.stack.len() < before;
            let gone = typed.filter(is_gone);
            let again = format!("{} again quits", self.shown(Action::Cancel));
            let losses = self.losses();
            let is_loss = losses.is_some();
            let text = match (losses.or(gone), self.unsent()) {
                (Some(losses), _) => capitalised(&format!("{losses}: {again}")),
                (None, Some(kept)) => format!("{again}; {kept}"),
                (None, None) => again,
            };
            self.context.messages.ask(self.context.now, text, is_loss);
        }
    }

    pub(super) fn quit(&mut self) {
        let Some(losses) = self.losses() else {
            return self.leave(ExitReason::Asked, StopCause::Quit);
        };
        let asked = Asked {
            title: "Quit",
            text: capitalised(&format!("{losses}.")),
            confirm: Confirm::asked("quits", "QUIT"),
            then: Then::Quit,
        };
        self.context
            .open_pane(PaneRequest::Question(Box::new(asked)));
    }

    /// The key of an action in the focused place.
    fn shown(&self, action: Action) -> String {
        self.context.keys.key(self.top().focus(), action)
    }

    /// What would be lost by quitting, if anything, also of what is typed.
    pub(super) fn losses(&self) -> Option<String> {
        let drafts = self.lost_drafts();
        let bulk = self
            .left_of_the_batch()
            .map(|left| format!("{left}. It stops with the console"));
        bulk.into_iter()
            .chain(drafts)
            .chain(self.typed())
            .reduce(|all, more| format!("{all} and {more}"))
    }

    /// What the running batch leaves undone, and where to find it later.
    fn left_of_the_batch(&self) -> Option<String> {
        let run = self.context.running_batch()?;
        let counts = run.counts();
        let sending = run.under_way();
        let left = counts.not_started.saturating_sub(sending);
        let planned = counts.planned();
        if left == 0 {
            return Some(format!("{sending} of {planned} being sent"));
        }
        let resume = self.context.keys.key(Focus::Batches, Action::Resume);
        let sending = match sending {
            0 => String::new(),
            sending => format!("{sending} being sent, "),
        };
        Some(format!(
            "{sending}{left} of {planned} not started; {resume} in Batches resumes them"
        ))
    }

    /// Updates the question about quitting: it names what would be lost now.
    pub(super) fn follow_losses(&mut self) {
        let losses = self.losses();
        let again = self.shown(Action::Cancel);
        let text = losses.as_ref();
        let text = text.map(|losses| capitalised(&format!("{losses}: {again} again quits")));
        self.context.messages.follow_losses(text);
        if let Some(Pane::Question(question)) = self.stack.last_mut() {
            question.follow_losses(losses);
        }
    }

    /// Whether the last key was the same, and what it asks is still shown; the plain mode shows no message.
    fn is_again(&self) -> bool {
        let line = self.context.messages.current();
        let is_asked = self.context.plain_mode || line.is_some_and(|line| line.asks);
        let since = self.warned.filter(|_| is_asked);
        since.is_some_and(|at| self.context.now.duration_since(at) < ASKED_FOR)
    }

    /// Another key was pressed: the next press of the key that quits asks again.
    pub(super) fn ends_again(&mut self) {
        self.warned = None;
        self.context.messages.drop_question();
    }

    /// Whether the console is ending but still waits for what a bulk rotation has in flight.
    pub fn waits_for_a_batch(&self) -> bool {
        self.leaving.is_some() && self.context.running_batch().is_some()
    }

    pub(super) fn leave(&mut self, reason: ExitReason, cause: StopCause) {
        self.leaving = Some((self.context.now, reason));
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
                "Waiting: {}. {} leaves now; the result is then unknown",
                writes.join(", "),
                self.shown(Action::Cancel)
            );
            self.context.say(Severity::Warning, text);
        }
    }

    pub(super) fn exit_reason(&mut self) {
        if let Some((_, reason)) = self.leaving
            && self.context.writes_under_way() == 0
            && !self.context.drafts.is_saving()
        {
            self.context.effects.push(Effect::Quit(reason));
        }
    }
}
