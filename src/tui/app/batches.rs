//! Bulk rotations apart from their pane: progress of the current run, how it ended, and what an earlier session left
//! unfinished.
//!
//! Open rotations of the current profile: settled by reading when the profile is opened, and again when waiting may
//! have helped. Reports the results.
//!
//! Hand-offs whose pane has been closed, and those that a crash left behind: no waiting token is forgotten.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{Action, App, Job, Outcome, Pane, ProfileIndex, Severity, Ticket, named};
use crate::{
    domain::{
        BatchKind, Ending, HandOffState, counted,
        proposal::quoted,
        rotation::{State, settle_window},
    },
    operations::{
        Batch, BatchItem, Done, HandedOff, Mutation, NextStep, Recovered, RotationRow, Warning,
        batch::BatchEvent,
    },
    tui::{
        keymap::Focus,
        state::{BatchRun, Condition},
    },
};

impl App {
    pub(super) fn news(&mut self, ticket: Ticket, news: Vec<BatchEvent>) {
        let now = self.context.now;
        let is_wrong =
            |one: &BatchEvent| matches!(one, BatchEvent::Ended(ended) if ended.wrong_environment);
        let is_wrong = news.iter().any(is_wrong);
        if let Some(run) = self.batch_of(ticket) {
            let profile = run.profile;
            run.take(news, now);
            if is_wrong {
                self.context.wrong_environment.insert(profile);
            }
        }
    }

    /// Called when a job ends; records the end if it is that of the current run.
    pub(super) fn batch_ended(&mut self, ticket: Ticket, outcome: &Outcome, is_here: bool) {
        let Some(run) = self.batch_of(ticket) else {
            return;
        };
        match outcome {
            Outcome::BulkEnded(report) => run.finished(report.clone()),
            Outcome::Failed(error) => run.end_with_error(error.text.clone()),
            _ => return,
        }
        let is_edit = matches!(run.kind, BatchKind::Edit(_));
        let is_unknown = run.counts().unknown > 0;
        if is_here {
            if is_unknown {
                self.settle_later(is_edit);
            }
            // The rotations have updated the directory, so the list on the screen is out of date.
            self.context.start(Job::List);
            if self.context.hands_off_to().is_some() {
                self.context.start(Job::DueHandOffs);
            }
        }
    }

    pub(super) fn batch_lost(&mut self, ticket: Ticket) {
        if let Some(run) = self.batch_of(ticket) {
            run.end_with_error("Internal error, stopped".into());
        }
    }

    /// Updates the batch of this session from the journal.
    pub(super) fn batch_read(&mut self, batch: &Batch, items: &[BatchItem]) {
        let here = self.context.current;
        let mine = |run: &&mut BatchRun| run.batch == Some(batch.id) && run.profile == here;
        if let Some(run) = self.context.bulk.as_mut().filter(mine) {
            run.follow_batch(batch);
            run.follow(items);
        }
    }

    /// Called after each key: if the page of a batch is on top, reads it again, because another process may have
    /// settled an item.
    pub(super) fn follow_batch_on_top(&mut self) {
        if let Some(Pane::Bulk(pane)) = self.stack.last() {
            pane.reload(&mut self.context);
        }
    }

    /// Called when the journal may have changed: reads everything again that shows or counts it.
    pub fn follow_journal(&mut self) {
        self.context.live.are_batches_old = true;
        self.context.start(Job::Attention { whole: false });
        for pane in &mut self.stack {
            pane.view_mut().journal_changed(&mut self.context);
        }
    }

    fn batch_of(&mut self, ticket: Ticket) -> Option<&mut BatchRun> {
        let mine = |run: &&mut BatchRun| run.ticket == ticket;
        self.context.bulk.as_mut().filter(mine)
    }

    /// Reports how the batch ended, when its pane has been closed.
    pub(super) fn say_batch_ended(&mut self, place: &str) {
        if let Some(run) = &self.context.bulk {
            let (severity, text) = (run.severity(), format!("{}{place}", run.line()));
            self.context.say(severity, text);
        }
    }

    /// Notes which batches there are, and reports those that an earlier session or another process did not finish, once;
    /// does not resume them.
    pub(super) fn note_batches(&mut self, batches: &[Batch]) {
        let now = batches.iter().map(|batch| batch.id).collect();
        let known = std::mem::replace(&mut self.context.live.batches, now);
        self.context.live.are_batches_old = false;
        let running = self.context.running_batch();
        let running = running.and_then(|run| run.batch);
        let mut unfinished = batches
            .iter()
            .filter(|batch| batch.ended_at.is_none() && !batch.is_run())
            .filter(|batch| Some(batch.id) != running);
        if let Some(newest) = unfinished
            .next()
            .filter(|newest| !known.contains(&newest.id))
        {
            let (id, counts) = (newest.id.0, &newest.counts);
            let key = self.context.keys.key(Focus::List, Action::Batches);
            let resume = self.context.keys.key(Focus::Batches, Action::Resume);
            let text = match counts.not_started + counts.unknown {
                0 => format!(
                    "Batch {id} is not closed: nothing is left. {key} lists it, {resume} closes it"
                ),
                left => format!(
                    "Batch {id} is unfinished: {left} of {} left. {key} lists it, {resume} resumes it",
                    counts.planned()
                ),
            };
            self.context.say(Severity::Warning, text);
        }
    }
}

/// Maximum number of groups named in one message.
const NAMED: usize = 3;

impl App {
    /// Reports what is open, and starts to settle it.
    pub(super) fn report_open_rotations(&mut self, rows: &[RotationRow]) {
        if rows.is_empty() {
            return;
        }
        let text = format!(
            "{} with an unknown result: checking{}",
            rotations(rows.len()),
            self.context.theme.ellipsis()
        );
        self.context.say(Severity::Warning, text);
        self.context.start(Job::Settle);
    }

    /// Reports the results, and schedules the next attempt.
    pub(super) fn settled(&mut self, all: &[Recovered]) {
        let mut settled = Vec::new();
        let mut open = Vec::new();
        let mut alarms = Vec::new();
        let mut again_in = None;
        for each in all {
            match each {
                Recovered::Settled(row) => settled.push(row),
                Recovered::Alarmed(row, alarm) => {
                    settled.push(row);
                    alarms.push(format!("{}: {alarm}", row.user_group_id));
                }
                Recovered::Open(still) => {
                    again_in = again_in.into_iter().chain(still.again_in).min();
                    open.push(still);
                }
            }
        }
        let again = again_in.map(|wait| self.just_after(wait));
        // Another may have ended without a result since this check began.
        let before = self.context.settle_again_at.into_iter();
        self.context.settle_again_at = before.chain(again).min();
        self.context.resolve(Condition::OpenRotations);
        if !settled.is_empty() {
            let is_conflict = |row: &&RotationRow| row.rotation.state == State::Conflict;
            let severity = if settled.iter().any(is_conflict) {
                Severity::Error
            } else {
                Severity::Done
            };
            let text = format!("{} resolved: {}", rotations(settled.len()), ends(&settled));
            self.context.say(severity, text);
            // The reads have updated the directory, so the list on the screen is out of date.
            self.context.start(Job::List);
        }
        for alarm in alarms {
            self.context.say(Severity::Error, alarm);
        }
        if let Some(first) = open.first() {
            let key = self.context.keys.key(Focus::List, Action::Rotations);
            let text = format!(
                "UNKNOWN: {}, {}: {}. Press {key} to see {}; do not rotate",
                rotations(open.len()),
                first.row.user_group_id,
                first.why,
                if open.len() == 1 { "it" } else { "them" }
            );
            self.context
                .say_condition(Condition::OpenRotations, Severity::Unknown, text);
        }
    }

    /// One second after this wait.
    fn just_after(&self, wait: Duration) -> Timestamp {
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::from_hours(1));
        self.context.now + wait + SignedDuration::from_secs(1)
    }

    /// What has just ended without a result, of a rotation or of another change, is checked again when its waiting period
    /// is over.
    pub(super) fn settle_later(&mut self, is_change: bool) {
        let Some(profile) = self.context.profile() else {
            return;
        };
        let at = self.just_after(settle_window(profile.timeout));
        let due = if is_change {
            &mut self.context.settle_changes_at
        } else {
            &mut self.context.settle_again_at
        };
        *due = Some(due.map_or(at, |before| before.min(at)));
    }

    /// Reports which creates and updates are still open.
    pub(super) fn changes_settled(&mut self, open: &[Mutation]) {
        let open: Vec<_> = open
            .iter()
            .filter(|change| change.state.is_open())
            .collect();
        let Some(first) = open.first() else {
            self.context.resolve(Condition::OpenChanges);
            self.context
                .say(Severity::Done, "All open changes are resolved");
            return;
        };
        let key = self.context.keys.key(Focus::List, Action::Attention);
        let text = format!(
            "UNKNOWN after reading: {} ({}). {key} lists what is open",
            counted(open.len(), "change"),
            first.user_group_id
        );
        self.context
            .say_condition(Condition::OpenChanges, Severity::Unknown, text);
    }

    /// The person has abandoned a rotation: earlier messages about it do not apply any more.
    pub(super) fn abandoned(&mut self) {
        self.context.resolve(Condition::OpenRotations);
    }

    /// Settles again once waiting may have helped, and reads batches again whose runner has not been heard of.
    pub(super) fn settle_when_due(&mut self) {
        let now = self.context.now;
        let is_due = |at: &mut Timestamp| now >= *at;
        if self.context.runner_gone_at.take_if(is_due).is_some() {
            self.follow_journal();
        }
        if self.context.settle_again_at.take_if(is_due).is_some() {
            self.context.start(Job::Settle);
        }
        if self.context.settle_changes_at.take_if(is_due).is_some() {
            self.context.start(Job::SettleChanges);
        }
    }
}

fn rotations(count: usize) -> String {
    counted(count, "rotation")
}

fn ends(rows: &[&RotationRow]) -> String {
    let end = |row: &&RotationRow| {
        let state = row.rotation.state.as_str().replace('_', " ");
        format!("{} {state}", row.user_group_id)
    };
    named(rows.iter().map(end), NAMED)
}

impl App {
    /// Does what the person did not stay for: the confirming read, then the hand-off.
    pub(super) fn after_rotation(&mut self, profile: ProfileIndex, done: &Done) {
        if done.rotation.is_none() {
            return;
        }
        let was_read = |warning: &Warning| {
            matches!(warning, Warning::NotReadBack { .. } | Warning::StaleAnswer)
        };
        if done.ending == Ending::Rotated && !done.warnings.iter().any(was_read) {
            let job = Job::Confirm(Box::new(done.clone()));
            self.context.start_in(profile, job);
            return;
        }
        let hands_off = |profile: &crate::config::Profile| profile.handoff.is_some();
        if self.context.profiles.get(profile.0).is_some_and(hands_off) {
            let job = Job::HandOff(Box::new(done.clone()));
            self.context.start_in(profile, job);
        }
    }

    /// Takes over which new tokens have not arrived, and reports those that have been waiting since an earlier session: a
    /// hand-off that failed was reported when it did, and needs attention.
    pub(super) fn report_due_hand_offs(&mut self, rows: &[RotationRow]) {
        let here = self.context.profile().map(|profile| profile.name.clone());
        let (rows, elsewhere): (Vec<_>, Vec<_>) = rows
            .iter()
            .partition(|row| here.as_ref() == Some(&row.profile));
        let waits = |row: &&RotationRow| row.handoff.state == HandOffState::Pending;
        let elsewhere: Vec<_> = elsewhere.into_iter().filter(waits).collect();
        self.say_due_elsewhere(&elsewhere);
        let due = rows.iter().map(|row| (row.user_group_id.clone(), row.id));
        self.context.to_hand_off = due.collect();
        let waiting = rows.into_iter().filter(waits);
        let mut ids: Vec<String> = waiting.map(|row| row.user_group_id.to_string()).collect();
        ids.sort_unstable();
        if ids.is_empty() {
            return;
        }
        let more = if ids.len() > NAMED { ", …" } else { "" };
        ids.truncate(NAMED);
        let keys = &self.context.keys;
        let token = keys.key(Focus::List, Action::Token);
        let hand = keys.key(Focus::Token, Action::HandOff);
        let how = format!("on the group: {token}, then {hand}");
        let how = self.context.how_to_hand_off(how);
        let text = format!(
            "Not handed off yet: the new token of {}{more}; {how}",
            ids.join(", ")
        );
        self.context.say(Severity::Error, text);
    }

    /// Reports tokens whose rotation another profile of the same place started: this profile does not hand them off by
    /// itself.
    fn say_due_elsewhere(&mut self, rows: &[&RotationRow]) {
        for row in rows.iter().take(NAMED) {
            let mut profiles = self.context.profiles.iter();
            let at = profiles.position(|profile| profile.name == row.profile);
            let profile = at.map(|at| &self.context.profiles[at]);
            let nothing_written = self.context.view_only_reason();
            let refused = NextStep::refused_hand_off(&row.profile, profile, nothing_written);
            let refused = refused.map(|why| format!("not from here: {why}"));
            let (profile, number) = (quoted(&row.profile), row.id.0);
            let how = refused.unwrap_or_else(|| {
                format!("to do it here: groupdesk -P {profile} rotations handoff {number}")
            });
            let text = format!(
                "Due in {}: the new token of {} is not handed off yet; {how}",
                row.profile, row.user_group_id
            );
            self.context.say(Severity::Warning, text);
        }
    }

    pub(super) fn note_handed(&mut self, handed: &HandedOff) {
        let waiting = &mut self.context.to_hand_off;
        if handed.is_done() {
            waiting.remove(&handed.user_group_id);
        } else {
            waiting.insert(handed.user_group_id.clone(), handed.rotation);
        }
    }
}
