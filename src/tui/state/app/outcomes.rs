//! What jobs came to: the pane that waits takes it, what a left pane asked for becomes a notice.

use super::{
    super::annotations, Action, App, Job, Outcome, Pane, ProfileIndex, Severity, Ticket, handoff,
    token,
};
use crate::{
    domain::{
        annotation::InvalidAnnotation, change::DesiredFields, group::UserGroupId, history::Ending,
        rotation::State,
    },
    operations::{Done, Recovered, RotationRow, Warning},
    tui::{
        keymap::Focus,
        panes::export::exported,
        state::{
            context::Running,
            groups::{Listing, ReadBeside},
            notices::Subject,
        },
    },
};

/// What came to an end, or stays open, of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    Rotation,
    /// A create or an update.
    Change,
}

impl App {
    pub(super) fn done(&mut self, ticket: Ticket, mut outcome: Outcome) {
        // An answer to a ticket that was cancelled comes too late and means nothing.
        let Some(running) = self.context.running.remove(&ticket) else {
            return;
        };
        let is_here = running.profile == self.context.current;
        self.note_environment(running.profile, &outcome);
        if self.draft_done(ticket, running.profile, &outcome) {
            return;
        }
        if let Outcome::Listed(listing) = &mut outcome
            && self.first_rows == Some(ticket)
        {
            // It came with the first rows, and was changed here since.
            listing.beside = None;
        }
        self.begin_about(ticket, &running);
        self.take_in(&mut outcome, is_here);
        self.resolve(&running, &outcome);
        self.batch_ended(ticket, &outcome, is_here);
        let waiting = self
            .stack
            .iter_mut()
            .rev()
            .find(|pane| pane.view().waits_for(ticket));
        if let Some(pane) = waiting {
            has_ended(pane, ticket);
            pane.view_mut().answer(&outcome, &mut self.context);
        } else {
            if let Some((id, wanted)) = &running.job.sends {
                self.settle_draft(running.profile, id, wanted, &outcome);
            }
            if !Self::is_asked(&outcome, is_here) {
                self.notice(&outcome, running.profile);
            }
        }
        if running.job.is_of_the_journal || is_of_the_journal(&outcome) {
            self.follow_journal();
        }
        if is_here
            && matches!(&outcome, Outcome::Failed(trouble) if Severity::of(trouble) == Severity::Unknown)
        {
            // The flag in the list comes from the journal.
            self.context.start(Job::Rotations);
        }
        self.note_place(running.profile, &outcome);
        if let Outcome::Failed(trouble) | Outcome::NotHandedOff(trouble) = &outcome {
            let now = self.context.now;
            let severity = Severity::of(trouble);
            self.context
                .messages
                .keep(now, severity, &trouble.text, ticket);
        }
        self.end_about();
    }

    /// What a list begins with, and what is read beside it. Where all were read before, more groups stand there already.
    pub(super) fn first_rows(&mut self, ticket: Ticket, mut listing: Listing) {
        if self.is_of_another(ticket) {
            return;
        }
        self.first_rows = Some(ticket);
        let groups = &self.context.groups;
        if groups.is_whole() || groups.loading().is_some() {
            self.take_beside(listing.beside.take());
            return;
        }
        let mut outcome = Outcome::Listed(Box::new(listing));
        self.take_in(&mut outcome, true);
        let waiting = self.stack.iter_mut().rev();
        let waiting = waiting.map(Pane::view_mut);
        if let Some(pane) = { waiting }.find(|pane| pane.waits_for(ticket)) {
            pane.answer(&outcome, &mut self.context);
        }
    }

    /// Nothing of the list is there yet, and its answer will come.
    pub fn waits_for_groups(&self) -> bool {
        let groups = &self.context.groups;
        let is_waiting = || {
            let mut running = self.context.running.keys();
            running.any(|ticket| self.stack[0].view().waits_for(*ticket))
        };
        !groups.is_whole() && groups.loading().is_none() && is_waiting()
    }

    pub(super) fn note_read(&mut self, ticket: Ticket, read: usize) {
        if !self.is_of_another(ticket) {
            self.context.groups.note_read(read);
        }
    }

    /// A job of another profile, or one that is not wanted any more.
    fn is_of_another(&self, ticket: Ticket) -> bool {
        let running = self.context.running.get(&ticket);
        running.is_none_or(|running| running.profile != self.context.current)
    }

    /// What is said until [`App::end_about`] is about this job.
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

    /// What was said of a group and holds no longer: it was read, the same was done again and succeeded, or it is known now
    /// how it ended.
    fn resolve(&mut self, running: &Running, outcome: &Outcome) {
        let now = self.context.now;
        let profile = running.profile;
        match outcome {
            Outcome::Done(done) => {
                let id = &done.group.id;
                let tells_how_it_ended = tells_how_changes_ended(done);
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

    /// It is known how the rotation or the other change of the group ended, or that nobody will find out.
    pub(super) fn resolve_unknown(&mut self, profile: ProfileIndex, id: &UserGroupId, what: Open) {
        let now = self.context.now;
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

    /// A change that was sent and taken is no draft any more, nor news in a form that is still open.
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
        if self
            .context
            .drafts
            .get(&key)
            .is_some_and(|unsent| unsent.is(sent))
        {
            self.context.drafts.remove(&key);
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

    /// What an outcome tells about the groups, whoever asked for it.
    fn take_in(&mut self, outcome: &mut Outcome, is_here: bool) {
        match outcome {
            Outcome::Done(done) if is_here => {
                self.context.last_answer = Some((done.status, done.latency));
                self.context.groups.upsert(&done.group);
            }
            Outcome::Listed(listing) if is_here => {
                let now = self.context.now;
                // Nobody else wants the groups.
                let view = listing.view.take();
                let mut taken = std::mem::take(listing.as_mut());
                listing.view = view;
                self.take_beside(taken.beside.take());
                let since = taken.since.take();
                if taken.first.is_some() {
                    self.context.groups.show_first(taken);
                } else {
                    let is_another_read = self.context.is_reading_groups();
                    self.context.groups.replace(taken, now, is_another_read);
                }
                // Also after the first rows: the others may not come.
                if let Some(since) = since {
                    self.watch(since);
                }
            }
            Outcome::Annotated(changed, _) if is_here => self.context.annotations.take(changed),
            Outcome::NoteChanged(id, now) if is_here => {
                let now = [(id.clone(), (**now).clone())];
                self.context.annotations.take(&now);
            }
            Outcome::SavedViews(saved, _) => self.context.annotations.take_views(saved.clone()),
            Outcome::OpenRotations(rows) if is_here => {
                self.context.note_open(states(rows));
                self.found_open(rows);
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
            Outcome::PendingHandOffs(rows) if is_here => self.found_waiting(rows),
            Outcome::HandedOff(Some(handed)) if is_here => self.note_handed(handed),
            Outcome::ChangesSettled(open) if is_here => self.changes_settled(open),
            Outcome::Batches(batches) if is_here => self.found_batches(batches),
            Outcome::Attention(found) => self.context.note_attention(found),
            Outcome::Batch(stands) if is_here => self.batch_stands(&stands.0, &stands.1),
            // Whoever asked for it: the numbers of the profiles must stay those of the work.
            Outcome::ProfileAdded(_, profile) => self.context.profiles.push((**profile).clone()),
            // What the others tell is for the pane that waits, or for `notice`, where every one is listed.
            _ => {}
        }
    }

    fn take_beside(&mut self, beside: Option<ReadBeside>) {
        if let Some(beside) = beside {
            self.context.note_open(beside.open);
            self.context.note_at_work(&beside.at_work);
            self.context.live.place_name = beside.place_name;
            self.context.annotations.of = beside.annotations.into();
            self.context.annotations.take_views(beside.saved_views);
        }
    }

    /// An outcome whose pane has been left.
    fn notice(&mut self, outcome: &Outcome, profile: ProfileIndex) {
        let place = match self.context.profiles.get(profile.0) {
            Some(other) if profile != self.context.current => format!(" in {}", other.name),
            _ => String::new(),
        };
        match outcome {
            Outcome::Done(done) => match done.ending {
                Ending::Found => {}
                Ending::Rotated | Ending::Recovered => {
                    let key = self.context.keys.key(Focus::List, Action::Token);
                    let text = format!(
                        "{}{place}; {key} on the group shows the new token",
                        token::describe(done)
                    );
                    self.context.say(Severity::Done, text);
                    self.after_rotation(profile, done);
                }
                _ => {
                    let text = format!("{}{place}", token::describe(done));
                    self.context.say(Severity::Done, text);
                    for warning in done.warnings.iter().filter(|warning| warning.is_alarm()) {
                        self.context.say(Severity::Error, warning.to_string());
                    }
                    self.after_rotation(profile, done);
                }
            },
            Outcome::TokenWritten(path) => {
                self.context
                    .say(Severity::Done, format!("Token saved to {}", path.display()));
            }
            Outcome::HandedOff(Some(handed)) => {
                let (severity, text) = handoff::describe(handed);
                self.context.say(severity, format!("{text}{place}"));
            }
            Outcome::Failed(trouble) | Outcome::NotHandedOff(trouble) => {
                self.context
                    .say(Severity::of(trouble), format!("{}{place}", trouble.text));
            }
            Outcome::Annotated(changed, change) => {
                let text = annotations::saved(changed, change);
                self.context.say(Severity::Done, format!("{text}{place}"));
            }
            Outcome::NoteChanged(_, now) => {
                let text = InvalidAnnotation::NoteChanged(now.clone()).to_string();
                self.context.say(Severity::Error, format!("{text}{place}"));
            }
            Outcome::SavedViews(_, text) => self.context.say(Severity::Done, text.clone()),
            Outcome::BulkEnded(_) => self.say_batch_ended(&place),
            Outcome::Exported(count, path) => {
                self.context.say(Severity::Done, exported(*count, path));
            }
            Outcome::ReportWritten(path) => {
                let text = format!("Report saved to {}", path.display());
                self.context.say(Severity::Done, text);
            }
            Outcome::ProfileAdded(index, profile) => {
                let key = self.context.keys.key(Focus::List, Action::Profiles);
                let text = format!("Profile {} is saved; {key} switches to it", profile.name);
                self.context.say(Severity::Done, text);
                self.leave_welcome(*index);
            }
            Outcome::NotAdded(problems) => {
                for (_, what) in problems {
                    self.context.say(Severity::Error, what.clone());
                }
            }
            Outcome::Abandoned(row) => {
                let text = format!(
                    "Rotation of {} closed without a result{place}",
                    row.user_group_id
                );
                self.context.say(Severity::Done, text);
            }
            Outcome::Listed(_)
            | Outcome::Found(_)
            | Outcome::Near(_)
            | Outcome::ViewKept
            | Outcome::Drafts(_)
            | Outcome::DraftKept(..)
            | Outcome::DraftForgotten
            | Outcome::SameId(_)
            | Outcome::OpenRotations(_)
            | Outcome::History(_)
            | Outcome::Rotations(_)
            | Outcome::Recovered(_)
            | Outcome::Whose(_)
            | Outcome::PendingHandOffs(_)
            | Outcome::ChangesSettled(_)
            | Outcome::Batches(_)
            | Outcome::Batch(_)
            | Outcome::AllBatches(_)
            | Outcome::Attention(_)
            | Outcome::Hidden(_)
            | Outcome::Resumable(_)
            | Outcome::Planned(_)
            | Outcome::EditPlanned(_)
            | Outcome::Checked(_)
            | Outcome::Proof(_)
            | Outcome::HandedOff(None) => {}
            Outcome::PlaceBound(_) | Outcome::Proven | Outcome::Acknowledged => {
                let text = format!("The answer about the place is kept{place}");
                self.context.say(Severity::Done, text);
            }
        }
    }

    pub(super) fn lost(&mut self, ticket: Ticket) {
        let Some(running) = self.context.running.remove(&ticket) else {
            return;
        };
        let (severity, text) = if running.job.is_write {
            let text = format!(
                "UNKNOWN: {}. Internal error, stopped; read the group",
                running.job.label
            );
            self.batch_lost(ticket);
            (Severity::Unknown, text)
        } else {
            (
                Severity::Error,
                format!(
                    "Not done: {}. Internal error, stopped; try again",
                    running.job.label
                ),
            )
        };
        if self.draft_lost(ticket) {
            return;
        }
        self.begin_about(ticket, &running);
        self.context.say(severity, text);
        self.end_about();
        let waiting = self
            .stack
            .iter_mut()
            .find(|pane| pane.view().waits_for(ticket));
        if let Some(pane) = waiting {
            has_ended(pane, ticket);
            pane.view_mut().lost(&mut self.context);
        }
    }
}

/// A reading after which no earlier change of the group is open.
fn tells_how_changes_ended(done: &Done) -> bool {
    let is_reading = matches!(done.ending, Ending::Found | Ending::CreatedByGet);
    let is_open = |warning: &Warning| matches!(warning, Warning::RotationOpen { .. });
    is_reading && done.open.is_empty() && !done.warnings.iter().any(is_open)
}

/// It may have moved an item of a batch on, or changed what waits.
fn is_of_the_journal(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(done) => !done.warnings.is_empty() || done.rotation.is_some(),
        Outcome::Recovered(_)
        | Outcome::Abandoned(_)
        | Outcome::ChangesSettled(_)
        | Outcome::BulkEnded(_)
        | Outcome::HandedOff(_)
        | Outcome::Hidden(_) => true,
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
