//! Open rotations of the current profile: settled by reading when the profile is opened, and again when waiting may
//! have helped. Reports the results.

use jiff::{SignedDuration, Timestamp};

use super::{Action, App, Job, Severity};
use crate::{
    domain::rotation::State,
    operations::{Mutation, Recovered, RotationRow},
    tui::{keymap::Focus, state::notices::Condition},
};

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
        self.context.settle_again_at = again_in.map(|wait| {
            let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::from_hours(1));
            self.context.now + wait + SignedDuration::from_secs(1)
        });
        let now = self.context.now;
        let messages = &mut self.context.messages;
        messages.resolve_condition(now, Condition::OpenRotations);
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
            let open = (Condition::OpenRotations, Severity::Unknown);
            let about = self.context.about;
            self.context.messages.say_condition(now, open, text, about);
        }
    }

    /// Reports which creates and updates are still open.
    pub(super) fn changes_settled(&mut self, open: &[Mutation]) {
        let open: Vec<_> = open
            .iter()
            .filter(|change| change.state.is_open())
            .collect();
        let now = self.context.now;
        let Some(first) = open.first() else {
            let messages = &mut self.context.messages;
            messages.resolve_condition(now, Condition::OpenChanges);
            self.context
                .say(Severity::Done, "All open changes are resolved");
            return;
        };
        let key = self.context.keys.key(Focus::List, Action::Attention);
        let text = format!(
            "UNKNOWN: {} after reading: {}. {key} lists what is open",
            match open.len() {
                1 => "1 change".into(),
                count => format!("{count} changes"),
            },
            first.user_group_id
        );
        let open = (Condition::OpenChanges, Severity::Unknown);
        let about = self.context.about;
        self.context.messages.say_condition(now, open, text, about);
    }

    /// The person has abandoned a rotation: earlier messages about it do not apply any more.
    pub(super) fn abandoned(&mut self) {
        let now = self.context.now;
        let messages = &mut self.context.messages;
        messages.resolve_condition(now, Condition::OpenRotations);
    }

    /// Settles again once waiting may have helped, and reads batches again whose runner has not been heard of.
    pub(super) fn settle_when_due(&mut self) {
        let now = self.context.now;
        let is_due = |at: &mut Timestamp| now >= *at;
        if self.context.runner_gone_at.take_if(is_due).is_some() {
            self.follow_journal();
        }
        if self
            .context
            .settle_again_at
            .is_some_and(|at| self.context.now >= at)
        {
            self.context.settle_again_at = None;
            self.context.start(Job::Settle);
        }
    }
}

fn rotations(count: usize) -> String {
    match count {
        1 => "1 rotation".into(),
        count => format!("{count} rotations"),
    }
}

fn ends(rows: &[&RotationRow]) -> String {
    let named = rows.iter().take(NAMED).map(|row| {
        let state = row.rotation.state.as_str().replace('_', " ");
        format!("{} {state}", row.user_group_id)
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match rows.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
