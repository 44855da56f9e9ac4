//! Outcomes of jobs: the pane that waits for it gets the outcome; if that pane was closed, it becomes a message.

use super::{Action, App, Job, Outcome, Pane, ProfileIndex, Severity, Ticket, token};
use crate::{
    domain::{
        DesiredFields, Ending, UserGroupId, annotation::InvalidAnnotation, rotation::State, visible,
    },
    operations::{Done, Recovered, RotationRow, Warning},
    tui::{
        keymap::Focus,
        page::list_page::profile_name,
        panes::{export::exported, token::handoff::describe, views::not_saved},
        state::{JobError, Listing, ListingExtras, Navigation, Running, Subject, groups},
    },
};

/// The kind of operation on a group that ended or is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    Rotation,
    /// A create or an update.
    Change,
}

impl App {
    pub(super) fn done(&mut self, ticket: Ticket, mut outcome: Outcome) {
        // The job was cancelled; its late answer is ignored.
        let Some(running) = self.context.running.remove(&ticket) else {
            return;
        };
        if self.paste_checked(ticket, &outcome) || self.typed_checked(ticket, &outcome) {
            return;
        }
        if let Outcome::Failed(error) | Outcome::NotHandedOff(error) = &mut outcome {
            let text = std::mem::take(&mut error.text);
            error.text = self.context.proposing(text, running.profile);
        }
        let is_here = running.profile == self.context.current;
        self.note_environment(running.profile, &outcome);
        if self.draft_done(ticket, running.profile, &outcome) {
            return;
        }
        if let Outcome::Listed(listing) = &mut outcome
            && self.first_rows == Some(ticket)
        {
            // It was delivered with the first rows already, and may have been changed here since.
            listing.extras = None;
        }
        self.begin_about(ticket, &running);
        self.take_in(&mut outcome, is_here);
        self.resolve(&running, &outcome);
        self.batch_ended(ticket, &outcome, is_here);
        if let Some(at) = self.waiting(ticket) {
            self.answer(at, ticket, &outcome);
        } else {
            if let Some((id, wanted)) = &running.job.sends {
                self.settle_draft(running.profile, id, wanted, &outcome);
            }
            let refused = outcome.error().and_then(|error| error.secret_in.as_deref());
            if let Some(view) = self.context.views.get_mut(&running.profile)
                && refused == Some("filter")
            {
                view.filter.clear();
            }
            if !Self::is_asked(&outcome, is_here) {
                self.notice(&outcome, running.profile);
            }
        }
        if running.job.touches_journal || touches_journal(&outcome) {
            self.follow_journal();
        }
        if is_here
            && matches!(&outcome, Outcome::Failed(error) if error.severity() == Severity::Unknown)
        {
            // The flag in the list comes from the journal.
            self.context.start(Job::Rotations);
            self.settle_later(running.job.sends.is_some());
        }
        self.note_place(running.profile, &outcome);
        if let Some(error) = outcome.error() {
            let (now, severity) = (self.context.now, error.severity());
            let messages = &mut self.context.messages;
            messages.keep(now, severity, &error.text, ticket);
        }
        self.end_about();
    }

    /// The topmost pane that waits for the job.
    pub(super) fn waiting(&self, ticket: Ticket) -> Option<usize> {
        let mut panes = self.stack.iter();
        panes.rposition(|pane| pane.view().waits_for(ticket))
    }

    /// Gives the outcome to the pane that waited for it. If the pane closes itself, what was opened above it stays.
    fn answer(&mut self, at: usize, ticket: Ticket, outcome: &Outcome) {
        let before = std::mem::take(&mut self.context.navigations);
        let pane = &mut self.stack[at];
        has_ended(pane, ticket);
        pane.view_mut().answer(outcome, &mut self.context);
        if let Some(field) = outcome.error().and_then(|error| error.secret_in.as_deref()) {
            pane.view_mut().take_back(field, &mut self.context);
        }
        let asked = std::mem::replace(&mut self.context.navigations, before);
        for ask in asked {
            if at > 0 && matches!(ask, Navigation::Pop) {
                self.stack.remove(at);
            } else {
                self.context.navigate(ask);
            }
        }
    }

    /// Takes the first rows of a list, and what is read beside it. If the groups have been read before, only the
    /// latter is used.
    pub(super) fn first_rows(&mut self, ticket: Ticket, mut listing: Listing) {
        if self.is_of_other_profile(ticket) {
            return;
        }
        self.first_rows = Some(ticket);
        let groups = &self.context.groups;
        if groups.is_whole() || groups.loading().is_some() {
            self.take_extras(listing.extras.take());
            return;
        }
        let mut outcome = Outcome::Listed(Box::new(listing));
        self.take_in(&mut outcome, true);
        if let Some(at) = self.waiting(ticket) {
            let pane = self.stack[at].view_mut();
            pane.answer(&outcome, &mut self.context);
        }
    }

    /// Whether nothing of the list has arrived yet, but will.
    pub fn waits_for_groups(&self) -> bool {
        let groups = &self.context.groups;
        let is_waiting = || {
            let mut running = self.context.running.keys();
            running.any(|ticket| self.stack[0].view().waits_for(*ticket))
        };
        !groups.is_whole() && groups.loading().is_none() && is_waiting()
    }

    pub(super) fn note_read(&mut self, ticket: Ticket, read: usize) {
        if !self.is_of_other_profile(ticket) {
            self.context.groups.note_read(read);
        }
    }

    /// Whether the job belongs to another profile, or was cancelled.
    fn is_of_other_profile(&self, ticket: Ticket) -> bool {
        let running = self.context.running.get(&ticket);
        running.is_none_or(|running| running.profile != self.context.current)
    }

    /// Associates all messages until [`App::end_about`] with this job.
    pub(super) fn begin_about(&mut self, ticket: Ticket, running: &Running) {
        self.context.about = Some(ticket);
        let group = running.job.group.clone();
        self.context.subject = group.map(|id| Subject {
            profile: running.profile,
            id,
            verb: running.job.verb().to_owned(),
        });
    }

    pub(super) fn end_about(&mut self) {
        self.context.about = None;
        self.context.subject = None;
    }

    /// Marks earlier messages about the group as resolved: it was read, the same operation succeeded, or the outcome
    /// is known by now.
    fn resolve(&mut self, running: &Running, outcome: &Outcome) {
        let now = self.context.now;
        let profile = running.profile;
        match outcome {
            Outcome::Done(done) => {
                let id = &done.group.id;
                let tells_how_it_ended = settles_all_changes(done);
                let verb = running.job.verb();
                self.context
                    .messages
                    .resolve_subject(now, |subject, severity| {
                        let is_settled = match severity {
                            Severity::Unknown => tells_how_it_ended,
                            _ => subject.verb == verb || subject.verb == "read",
                        };
                        subject.profile == profile && subject.id == *id && is_settled
                    });
            }
            Outcome::Recovered(all) => {
                for each in all {
                    if !matches!(each, Recovered::Open(_)) {
                        self.resolve_unknown(profile, &each.row().user_group_id, Open::Rotation);
                    }
                }
            }
            Outcome::Abandoned(row) => {
                self.resolve_unknown(profile, &row.user_group_id, Open::Rotation);
            }
            Outcome::ChangesSettled(changes) => {
                for change in changes.iter().filter(|change| !change.state.is_open()) {
                    self.resolve_unknown(profile, &change.user_group_id, Open::Change);
                }
            }
            Outcome::HandedOff(Some(handed)) if handed.is_done() => {
                let verb = running.job.verb();
                self.context.messages.resolve_subject(now, |subject, _| {
                    subject.profile == profile
                        && subject.id == handed.user_group_id
                        && subject.verb == verb
                });
            }
            _ => {}
        }
    }

    /// Marks messages about an unknown outcome as resolved: it is known now, or can no longer be found out.
    pub(super) fn resolve_unknown(&mut self, profile: ProfileIndex, id: &UserGroupId, what: Open) {
        let now = self.context.now;
        if what == Open::Rotation && profile == self.context.current {
            for pane in &mut self.stack {
                if let Pane::Token(token) = pane {
                    token.resolved(id, now);
                }
            }
        }
        let is_meant = |subject: &Subject, severity| {
            severity == Severity::Unknown
                && (subject.verb == "rotate") == (what == Open::Rotation)
                && subject.profile == profile
                && subject.id == *id
        };
        self.context.messages.resolve_subject(now, is_meant);
    }

    /// An answer from another environment marks the profile for the rest of the session (hazard 11).
    fn note_environment(&mut self, profile: ProfileIndex, outcome: &Outcome) {
        if outcome.is_wrong_environment() {
            self.context.wrong_environment.insert(profile);
        }
    }

    /// A change that was sent and accepted is not a draft any more, and not a change in a form that is still open.
    fn settle_draft(
        &mut self,
        profile: ProfileIndex,
        id: &UserGroupId,
        sent: &DesiredFields,
        outcome: &Outcome,
    ) {
        let is_taken = matches!(outcome, Outcome::Done(done) if matches!(done.ending, Ending::Updated | Ending::Created));
        if !is_taken {
            return;
        }
        let key = (profile, id.clone());
        let draft = self.context.drafts.get(&key);
        if draft.is_some_and(|unsent| unsent.is(sent)) {
            self.context.remove_draft(&key);
        }
        for pane in &mut self.stack {
            if let Pane::Edit(edit) = pane
                && profile == self.context.current
                && edit.id == *id
            {
                edit.is_sent(sent);
            }
        }
    }

    /// Applies what the outcome says about the groups, whichever pane asked for it.
    fn take_in(&mut self, outcome: &mut Outcome, is_here: bool) {
        match outcome {
            Outcome::Done(done) if is_here => {
                self.context.groups.upsert(&done.group);
            }
            Outcome::Listed(listing) if is_here => {
                let now = self.context.now;
                // Moved rather than copied: nobody else needs the groups.
                let view = listing.view.take();
                let mut taken = std::mem::take(listing.as_mut());
                listing.view = view;
                self.take_extras(taken.extras.take());
                let since = taken.since.take();
                if taken.first.is_some() {
                    self.context.groups.show_first(taken);
                } else {
                    let is_another_read = self.context.is_reading_groups();
                    self.context.groups.replace(taken, now, is_another_read);
                }
                // Starts after the first rows already, because the rest may never arrive.
                if let Some(since) = since {
                    self.watch(since);
                }
            }
            Outcome::Annotated(changed, _) if is_here => self.context.annotations.take(changed),
            Outcome::Note(id, now) | Outcome::NoteChanged(id, now, _) if is_here => {
                let now = [(id.clone(), (**now).clone())];
                self.context.annotations.take(&now);
            }
            Outcome::SavedViews(saved, _) | Outcome::ViewChanged(saved, _) => {
                self.context.annotations.take_views(saved.clone());
            }
            Outcome::OpenRotations(rows, _) if is_here => {
                self.context.note_open(states(rows));
                self.report_open_rotations(rows);
            }
            Outcome::Rotations(rows) if is_here => self.context.note_open(states(rows)),
            Outcome::Recovered(all) if is_here => {
                for each in all.iter() {
                    self.context.note_rotation(each.row());
                }
                self.settled(all);
            }
            Outcome::Abandoned(row) if is_here => {
                self.context.note_rotation(row);
                self.abandoned();
            }
            Outcome::DueHandOffs(rows) if is_here => self.report_due_hand_offs(rows),
            Outcome::HandedOff(Some(handed)) if is_here => self.note_handed(handed),
            Outcome::ChangesSettled(open) if is_here => self.changes_settled(open),
            Outcome::Batches(batches) if is_here => self.note_batches(batches),
            Outcome::Attention(found) => self.context.note_attention(found),
            Outcome::Batch(stands) if is_here => self.batch_read(&stands.0, &stands.1),
            // Always applied: the indexes of the profiles must match those of the backends.
            Outcome::ProfileAdded(_, profile, operator) => {
                self.context.profiles.push((**profile).clone());
                self.context.operator.clone_from(operator);
            }
            // The other outcomes are handled by the pane that waits, or by `notice`, which lists every one.
            _ => {}
        }
    }

    fn take_extras(&mut self, extras: Option<ListingExtras>) {
        if let Some(extras) = extras {
            self.context.note_open(extras.open);
            self.context.note_at_work(&extras.at_work);
            self.context.live.place_name = extras.place_name;
            self.context.live.environments = extras.environments;
            let here = self.context.current;
            if extras.lacks_key {
                self.context.keyless.insert(here);
            } else {
                self.context.keyless.remove(&here);
            }
            self.context.annotations.of = extras.annotations.into();
            self.context.annotations.take_views(extras.saved_views);
        }
    }

    /// Turns the outcome into a message, because its pane has been closed.
    fn notice(&mut self, outcome: &Outcome, profile: ProfileIndex) {
        let place = match self.context.profiles.get(profile.0) {
            Some(other) if profile != self.context.current => format!(" in {}", other.name),
            _ => String::new(),
        };
        let done = |text: String| (Severity::Done, text);
        let (severity, text) = match outcome {
            Outcome::Done(read) if read.ending == Ending::Found => return,
            Outcome::Done(changed) => {
                let mut text = format!("{}{place}", token::describe(changed));
                let has_token = matches!(changed.ending, Ending::Rotated | Ending::Recovered);
                if has_token {
                    let key = self.context.keys.key(Focus::List, Action::Token);
                    text = format!("{text}; {key} on the group shows the new token");
                }
                self.context.say(Severity::Done, text);
                let alarms = changed.warnings.iter().filter(|one| one.is_alarm());
                for alarm in alarms.filter(|_| !has_token) {
                    self.context.say(Severity::Error, alarm.to_string());
                }
                return self.after_rotation(profile, changed);
            }
            Outcome::TokenWritten(path) => done(format!("Token saved to {}", path.display())),
            Outcome::HandedOff(Some(handed)) => {
                let (severity, text) = describe(handed);
                (severity, format!("{text}{place}"))
            }
            Outcome::Failed(error) | Outcome::NotHandedOff(error) => {
                return self.context.say_error(&JobError {
                    text: format!("{}{place}", error.text),
                    ..error.clone()
                });
            }
            Outcome::Annotated(changed, change) => {
                done(format!("{}{place}", groups::saved(changed, change)))
            }
            Outcome::NoteChanged(_, now, typed) => {
                let text = InvalidAnnotation::NoteChanged(now.clone());
                let typed = match &*visible(typed) {
                    "" => String::new(),
                    typed => format!(". You typed: {typed}"),
                };
                (Severity::Error, format!("{text}{place}{typed}"))
            }
            Outcome::SavedViews(_, done) => done.clone(),
            Outcome::ViewChanged(_, other) => (Severity::Warning, not_saved(other)),
            Outcome::BulkEnded(_) => return self.say_batch_ended(&place),
            Outcome::Exported(count, path) => done(exported(*count, path)),
            Outcome::ReportWritten(path) => done(format!("Report saved to {}", path.display())),
            Outcome::ProfileAdded(index, profile, _) => {
                let key = self.context.keys.key(Focus::List, Action::Profiles);
                let text = format!("Profile {} is saved; {key} switches to it", profile.name);
                self.context.say(Severity::Done, text);
                return self.leave_welcome(*index);
            }
            Outcome::NotAdded(problems) => {
                for (_, what) in problems {
                    self.context.say(Severity::Error, what.clone());
                }
                return;
            }
            Outcome::Abandoned(row) => {
                let id = &row.user_group_id;
                done(format!("Rotation of {id} abandoned{place}"))
            }
            Outcome::PlaceBound(bound) => {
                let key = if bound.on_trial {
                    "; its API key is not verified yet"
                } else {
                    ""
                };
                let name = profile_name(profile, &self.context);
                let environment = visible(&bound.name);
                done(format!(
                    "Profile {name} now uses environment {environment}{key}"
                ))
            }
            Outcome::Proven => done(format!("The API key is verified; requests are sent{place}")),
            Outcome::Acknowledged => done(format!("Acknowledged; requests are sent again{place}")),
            Outcome::Listed(_)
            | Outcome::Note(..)
            | Outcome::Found(_)
            | Outcome::SimilarIds(_)
            | Outcome::ViewKept
            | Outcome::Drafts(_)
            | Outcome::DraftKept(..)
            | Outcome::DraftForgotten
            | Outcome::DraftRefused(_)
            | Outcome::SameId(_)
            | Outcome::OpenRotations(..)
            | Outcome::History(_)
            | Outcome::Rotations(_)
            | Outcome::Recovered(_)
            | Outcome::TokenOwners(_)
            | Outcome::SecretFound(_)
            | Outcome::DueHandOffs(_)
            | Outcome::ChangesSettled(_)
            | Outcome::Batches(_)
            | Outcome::Batch(_)
            | Outcome::AllBatches(_)
            | Outcome::Attention(_)
            | Outcome::Resumable(_)
            | Outcome::Planned(_)
            | Outcome::EditPlanned(_)
            | Outcome::Checked(_)
            | Outcome::Proof(_)
            | Outcome::HandedOff(None) => return,
        };
        self.context.say(severity, text);
    }

    pub(super) fn job_panicked(&mut self, ticket: Ticket) {
        let Some(running) = self.context.running.remove(&ticket) else {
            return;
        };
        let label = &running.job.label;
        let (severity, text) = if running.job.is_write {
            self.batch_lost(ticket);
            let text = format!("UNKNOWN: {label}. Internal error, stopped; read the group");
            (Severity::Unknown, text)
        } else {
            let text = format!("Not done: {label}. Internal error, stopped; try again");
            (Severity::Error, text)
        };
        if self.draft_lost(ticket) {
            return;
        }
        self.begin_about(ticket, &running);
        self.context.say(severity, text);
        self.end_about();
        if let Some(at) = self.waiting(ticket) {
            let pane = &mut self.stack[at];
            has_ended(pane, ticket);
            pane.view_mut().job_panicked(&mut self.context);
        }
    }
}

/// Whether this was a read after which no earlier change of the group is open.
fn settles_all_changes(done: &Done) -> bool {
    let is_reading = matches!(done.ending, Ending::Found | Ending::CreatedByGet);
    let is_open = |warning: &Warning| matches!(warning, Warning::RotationOpen { .. });
    is_reading && done.open.is_empty() && !done.warnings.iter().any(is_open)
}

/// Whether the outcome may have changed items of a batch, or what waits for a person.
fn touches_journal(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(done) => !done.warnings.is_empty() || done.rotation.is_some(),
        // It raised an alarm.
        Outcome::Failed(error) => error.wrong_environment,
        Outcome::Recovered(_)
        | Outcome::Abandoned(_)
        | Outcome::ChangesSettled(_)
        | Outcome::BulkEnded(_)
        | Outcome::HandedOff(_) => true,
        _ => false,
    }
}

pub(super) fn has_ended(pane: &Pane, ticket: Ticket) {
    for pending in pane.view().pending() {
        pending.end(ticket);
    }
}

fn states(rows: &[RotationRow]) -> impl Iterator<Item = (UserGroupId, State)> {
    let state = |row: &RotationRow| (row.user_group_id.clone(), row.rotation.state);
    rows.iter().map(state)
}
