//! Hand-offs whose pane has been closed, and those that a crash left behind: no waiting token is forgotten.

use super::{App, Job, ProfileIndex, Severity};
use crate::{
    domain::{history::Ending, proposal::quoted},
    operations::{Done, HandedOff, RotationRow, Warning},
    tui::keymap::{Action, Focus},
};

/// Maximum number of ids named in one message.
const NAMED: usize = 3;

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

    /// Reports new tokens that have been waiting since an earlier session.
    pub(super) fn report_pending_hand_offs(&mut self, rows: &[RotationRow]) {
        let here = self.context.profile().map(|profile| profile.name.clone());
        let (rows, elsewhere): (Vec<_>, Vec<_>) = rows
            .iter()
            .partition(|row| here.as_ref() == Some(&row.profile));
        self.say_due_elsewhere(&elsewhere);
        let waiting = &mut self.context.to_hand_off;
        waiting.clear();
        waiting.extend(rows.iter().map(|row| (row.user_group_id.clone(), row.id)));
        if waiting.is_empty() {
            return;
        }
        let ids: Vec<String> = waiting
            .keys()
            .take(NAMED)
            .map(ToString::to_string)
            .collect();
        let more = if waiting.len() > NAMED { ", …" } else { "" };
        let keys = &self.context.keys;
        let token = keys.key(Focus::List, Action::Token);
        let hand = keys.key(Focus::Token, Action::HandOff);
        let text = format!(
            "Not handed off yet: the new token of {}{more}. On the group: {token}, then {hand}",
            ids.join(", ")
        );
        self.context.say(Severity::Error, text);
    }

    /// Reports tokens whose rotation another profile of the same place started: this profile does not hand them off by
    /// itself.
    fn say_due_elsewhere(&mut self, rows: &[&RotationRow]) {
        for row in rows.iter().take(NAMED) {
            let text = format!(
                "Due in {}: the new token of {} is not handed off yet; to do it here: groupdesk -P {} rotations handoff {}",
                row.profile,
                row.user_group_id,
                quoted(&row.profile),
                row.id.0
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
