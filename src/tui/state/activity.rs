//! What others are doing to the groups of the current place: changing them right now, or writing a draft.

use jiff::{SignedDuration, Timestamp};

use super::{
    context::Context,
    drafts::{DraftOrigin, UnsentDraft},
    live::Busy,
};
use crate::{
    domain::{
        active_change::ActiveChange,
        batch::ItemStatus,
        group::UserGroupId,
        text::{is_same_person, person, visible},
    },
    tui::state::batch::BatchRun,
};

/// Until this age, the age of somebody's draft is shown and updated; after that, the time of its last change.
const FRESH: SignedDuration = SignedDuration::from_hours(1);
const MINUTE: i64 = 60;

/// What somebody else does: "rotating: ben@bastion1, 12s", and a shorter form for little room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherActivity {
    what: &'static str,
    by: String,
    when: String,
    /// As opposed to a draft that was left.
    pub is_now: bool,
}

impl OtherActivity {
    /// The text in at most `room` cells; `None` if even the short form does not fit.
    pub fn in_cells(&self, room: usize, columns: impl Fn(&str) -> usize) -> Option<String> {
        let Self { what, by, when, .. } = self;
        let person = person(by);
        let forms = [
            format!("{what}: {by}, {when}"),
            format!("{what}: {person}, {when}"),
            format!("{what}: {person}"),
        ];
        forms.into_iter().find(|form| columns(form) <= room)
    }

    pub fn in_words(&self) -> String {
        format!("{}: {}, {}", self.what, self.by, self.when)
    }
}

impl Context {
    /// Sets who is changing which group; replaces the previous list.
    pub fn note_at_work(&mut self, all: &[ActiveChange]) {
        let now = self.now;
        // What is done in this console is shown by its own page.
        let others = all.iter().filter(|one| !self.is_changed_here(&one.id));
        let busy = others.map(|one| {
            let busy = Busy {
                kind: one.kind,
                by: one.by.clone(),
                since: now - one.age,
                until: now + one.left,
            };
            (one.id.clone(), busy)
        });
        self.live.at_work = busy.collect();
    }

    /// The process of somebody else that is changing the group.
    fn busy(&self, id: &UserGroupId) -> Option<&Busy> {
        let busy = self.live.at_work.get(id)?;
        (busy.until > self.now).then_some(busy)
    }

    /// Whether a job of this console is changing the group.
    fn is_changed_here(&self, id: &UserGroupId) -> bool {
        let mut running = self.running.values();
        let is_own = running.any(|running| {
            running.job.is_write
                && running.profile == self.current
                && running.job.group.as_ref() == Some(id)
        });
        let is_at_it = |run: &BatchRun| {
            let mut rows = run.rows.iter();
            rows.any(|row| row.id == *id && row.status == ItemStatus::UnderWay)
        };
        let bulk = self.bulk.as_ref().filter(|run| run.is_under_way());
        is_own || bulk.is_some_and(is_at_it)
    }

    /// What somebody else is doing to a group, or has drafted for it.
    pub fn doing(&self, id: &UserGroupId) -> Option<OtherActivity> {
        if let Some(busy) = self.busy(id) {
            return Some(OtherActivity {
                what: busy.kind.as_str(),
                by: visible(&busy.by).into_owned(),
                when: self.age(busy.since),
                is_now: true,
            });
        }
        let (by, at) = self.draft_of_others(id)?;
        let is_fresh = self.now.duration_since(at) < FRESH;
        Some(OtherActivity {
            what: "draft",
            by: visible(by).into_owned(),
            when: if is_fresh {
                self.age(at)
            } else {
                self.when(at)
            },
            is_now: false,
        })
    }

    /// Who else wrote a draft for the group, and when it was last changed.
    fn draft_of_others(&self, id: &UserGroupId) -> Option<(&str, Timestamp)> {
        if self.drafts.is_empty() {
            return None;
        }
        let key = (self.current, id.clone());
        let mut others = self.drafts.others(&key).iter();
        if let Some(other) = others.find(|other| self.is_other_person(&other.by)) {
            return Some((&other.by, other.draft.changed_at));
        }
        let unsent = self.drafts.get(&key)?;
        let by = match &unsent.from {
            DraftOrigin::Here => return None,
            // From an earlier console of the same person.
            DraftOrigin::Before { by } if *by == self.operator => return None,
            DraftOrigin::Before { by } | DraftOrigin::Elsewhere { by } => by,
        };
        Some((by, unsent.draft.changed_at))
    }

    /// Whether somebody else has this name, whichever machine it names.
    pub fn is_other_person(&self, by: &str) -> bool {
        !is_same_person(by, &self.operator)
    }

    /// The other person whose draft this is, whichever console it was typed in.
    pub fn other_author<'a>(&self, unsent: &'a UnsentDraft) -> Option<&'a str> {
        match &unsent.from {
            DraftOrigin::Here => None,
            DraftOrigin::Before { by } | DraftOrigin::Elsewhere { by } => {
                self.is_other_person(by).then_some(by)
            }
        }
    }

    /// Whether somebody else is changing a group, or has drafted something for one.
    pub fn others_do_something(&self) -> bool {
        !self.live.at_work.is_empty() || !self.drafts.is_empty()
    }

    /// When the text about others changes without any event.
    pub fn others_due(&self) -> Option<Timestamp> {
        let ids = self.live.at_work.keys();
        let busy = ids.filter_map(|id| self.busy(id));
        let next_second = busy.map(|_| self.now + SignedDuration::from_secs(1)).next();
        let drafts = self.drafts.of(self.current).into_iter();
        let others = drafts.filter_map(|unsent| self.draft_of_others(&unsent.draft.user_group_id));
        let next_minute = others.filter_map(|(_, at)| {
            let age = self.now.duration_since(at);
            let step = if age.as_secs() < MINUTE { 1 } else { MINUTE };
            let next = (age.as_secs() / step + 1) * step;
            (age < FRESH).then(|| at + SignedDuration::from_secs(next))
        });
        next_minute.chain(next_second).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_little_room_the_machine_goes_first_and_then_the_time() {
        let doing = OtherActivity {
            what: "rotating",
            by: "ben@bastion1".into(),
            when: "12s".into(),
            is_now: true,
        };
        let in_cells = |room| doing.in_cells(room, str::len);
        assert_eq!(in_cells(27).as_deref(), Some("rotating: ben@bastion1, 12s"));
        assert_eq!(in_cells(26).as_deref(), Some("rotating: ben, 12s"));
        assert_eq!(in_cells(17).as_deref(), Some("rotating: ben"));
        assert_eq!(in_cells(12), None, "no half word");
    }
}
