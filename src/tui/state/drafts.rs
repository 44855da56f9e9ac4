//! Unsent forms of all profiles: what was typed here, what the directory has, and which drafts still have to be written
//! to it. One save at a time; what is typed meanwhile is saved by the next one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{Job, ProfileIndex, Ticket};
use crate::{
    domain::{DesiredFields, Draft, UserGroupId},
    operations::{DraftHead, KeptDraft},
    tui::state::GroupForm,
};

pub type Key = (ProfileIndex, UserGroupId);

/// The origin of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftOrigin {
    /// Typed in this console.
    Here,
    /// It was in the directory when this console first read it.
    Before { by: String },
    /// It appeared in the directory while this console was open.
    Elsewhere { by: String },
}

/// A draft of this console, of an earlier one, or of another.
#[derive(Debug, Clone)]
pub struct UnsentDraft {
    pub draft: Draft,
    pub from: DraftOrigin,
    /// Typed by this person, on whichever console.
    pub is_own: bool,
    /// The form as it was left, with its cursor and undo history.
    pub form: Option<GroupForm>,
    /// When the stored draft was last changed, according to this process.
    kept: Option<Timestamp>,
}

impl UnsentDraft {
    /// A draft as it is in the directory.
    fn stored(draft: &Draft, from: DraftOrigin, is_own: bool) -> Self {
        Self {
            draft: draft.clone(),
            from,
            is_own,
            form: None,
            kept: Some(draft.changed_at),
        }
    }

    /// Whether this draft is what was sent.
    pub fn is(&self, sent: &DesiredFields) -> bool {
        GroupForm::of_draft(self.draft.clone()).wanted().as_ref() == Ok(sent)
    }
}

/// What still has to be written to the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PendingWrite {
    Keep,
    /// Forget the draft unless it was changed after this time.
    Forget(Timestamp),
}

#[derive(Debug, Default)]
pub struct Drafts {
    unsent: BTreeMap<Key, UnsentDraft>,
    /// Further drafts of a group: those of others, or of other consoles of the same person. The newest first.
    others: BTreeMap<Key, Vec<KeptDraft>>,
    /// The groups and people of which it was said that both have a draft.
    told: BTreeSet<(Key, String)>,
    due: BTreeMap<Key, PendingWrite>,
    /// What was refused for what it is, such as a text that looks like a token: set aside until it changes or the drafts of
    /// its profile are read again.
    refused: BTreeMap<Key, PendingWrite>,
    saving: Option<(Ticket, Key, PendingWrite)>,
    /// Tickets of the running reads, by profile.
    asking: BTreeMap<ProfileIndex, Ticket>,
    /// The time of what was kept last here.
    latest: Option<Timestamp>,
    /// Drafts changed here since a read was started, which are newer than its answer.
    touched: BTreeSet<Key>,
    /// Profiles whose drafts have been read at least once.
    read: BTreeSet<ProfileIndex>,
    /// The directory saves no draft, and this was reported.
    pub is_failing: bool,
}

impl Drafts {
    /// The number of your drafts.
    pub fn own(&self) -> usize {
        self.unsent.values().filter(|unsent| unsent.is_own).count()
    }

    /// Whether there is no draft.
    pub fn is_empty(&self) -> bool {
        self.unsent.is_empty()
    }

    pub fn get(&self, key: &Key) -> Option<&UnsentDraft> {
        self.unsent.get(key)
    }

    /// Further drafts of the group in the directory, the newest first.
    pub fn others(&self, key: &Key) -> &[KeptDraft] {
        self.others.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether the group has a draft of one's own and a different one, of others or of another console.
    pub fn is_contested(&self, key: &Key) -> bool {
        let own = self.unsent.get(key).filter(|unsent| unsent.is_own);
        let differs = |own: &UnsentDraft| {
            let mut others = self.others(key).iter();
            others.any(|other| {
                !other.draft.has_same_content(&own.draft) && !self.is_earlier(key, other)
            })
        };
        own.is_some_and(differs)
    }

    /// Whether one's own draft of the group goes on from this version.
    pub fn is_earlier(&self, key: &Key, version: &KeptDraft) -> bool {
        let own = self.unsent.get(key).filter(|unsent| unsent.is_own);
        own.is_some_and(|own| own.draft.continues.contains(&version.draft.changed_at))
    }

    /// Whether it is news that this person also has a draft of the group.
    pub fn is_news(&mut self, key: &Key, by: &str) -> bool {
        self.told.insert((key.clone(), by.to_owned()))
    }

    /// Whether the drafts of a profile have been read and are not being read again.
    pub fn are_read(&self, profile: ProfileIndex) -> bool {
        self.read.contains(&profile) && !self.asking.contains_key(&profile)
    }

    /// The drafts of a profile, most recently changed first.
    pub fn of(&self, profile: ProfileIndex) -> Vec<&UnsentDraft> {
        let all = self.unsent.iter();
        let mut here: Vec<_> = all.filter(|((at, _), _)| *at == profile).collect();
        here.sort_by_key(|(_, unsent)| std::cmp::Reverse(unsent.draft.changed_at));
        here.into_iter().map(|(_, unsent)| unsent).collect()
    }

    /// Number of drafts that would be lost with the console because they could not be written.
    pub fn unsaved(&self, is_away: bool) -> usize {
        let all = self.unsent.keys();
        all.filter(|key| self.is_unsaved(key, is_away)).count()
    }

    /// Whether the current version of the draft could not be written: it was refused, or the directory fails or is away.
    pub fn is_unsaved(&self, key: &Key, is_away: bool) -> bool {
        let unsent = self.unsent.get(key);
        (is_away || self.is_failing || self.refused.contains_key(key))
            && unsent.is_some_and(|unsent| unsent.kept != Some(unsent.draft.changed_at))
    }

    /// Keeps what was typed; does nothing if it equals the stored draft.
    pub fn keep(&mut self, profile: ProfileIndex, mut draft: Draft) {
        let key = (profile, draft.user_group_id.clone());
        // What somebody else typed is neither continued nor replaced: from now on there are two.
        let old = self.unsent.get(&key).filter(|old| old.is_own);
        // One that is neither in the directory nor on its way there is saved again.
        let is_safe = |old: &UnsentDraft| old.kept.is_some() || self.is_newer_here(&key);
        if old.is_some_and(|old| old.draft.has_same_content(&draft) && is_safe(old)) {
            return;
        }
        // A version that is still to be forgotten is replaced instead.
        let to_forget = match self.due.get(&key).or(self.refused.get(&key)) {
            Some(PendingWrite::Forget(at)) => Some(*at),
            _ => None,
        };
        // A version of another console may still be in its form: it stays, and this is another one.
        let (mut continued, mut beside) = (None, None);
        if let Some(old) = old {
            match &old.from {
                DraftOrigin::Here => {
                    continued = old.kept;
                    draft.continues.extend(&old.draft.continues);
                }
                DraftOrigin::Before { by } => {
                    draft.continues.extend(old.kept);
                    draft.continues.extend(&old.draft.continues);
                    beside = Some((&old.draft, by));
                }
                DraftOrigin::Elsewhere { by } => beside = Some((&old.draft, by)),
            }
        }
        let beside = beside.map(|(draft, by)| KeptDraft {
            draft: draft.clone(),
            by: by.clone(),
        });
        let kept = continued.or(to_forget);
        let before = old.map(|old| old.draft.changed_at).max(self.latest);
        if let Some(before) = before.filter(|before| *before >= draft.changed_at) {
            // Two changes with the same time must still be distinguishable.
            draft.changed_at = before + SignedDuration::from_micros(1);
        }
        self.latest = Some(draft.changed_at);
        if let Some(beside) = beside {
            self.others
                .entry(key.clone())
                .or_default()
                .insert(0, beside);
        }
        self.due.insert(key.clone(), PendingWrite::Keep);
        self.touched.insert(key.clone());
        let unsent = UnsentDraft {
            draft,
            from: DraftOrigin::Here,
            is_own: true,
            form: None,
            kept,
        };
        self.unsent.insert(key, unsent);
    }

    /// Remembers the form of a draft as it was left.
    pub fn leave(&mut self, key: &Key, form: GroupForm) {
        if let Some(unsent) = self.unsent.get_mut(key) {
            unsent.form = Some(form);
        }
    }

    /// Removes a draft because it was sent, discarded, or edited back to the original. A newer draft of another
    /// console is a different one, and stays; so does what somebody else typed, which stands for the group now.
    pub fn remove(&mut self, key: &Key, is_own: impl Fn(&str) -> bool) {
        if !self.unsent.get(key).is_some_and(|unsent| unsent.is_own) {
            return;
        }
        if let Some(unsent) = self.unsent.remove(key) {
            // The version in the directory; one that is being saved replaces it when it has been (`ended`).
            // Of one that was never stored, that which it goes on from.
            let first = unsent.draft.continues.first().copied();
            let until = unsent.kept.or(first).unwrap_or(unsent.draft.changed_at);
            self.due.insert(key.clone(), PendingWrite::Forget(until));
            self.touched.insert(key.clone());
        }
        if let Some(other) = self.others(key).iter().find(|other| !is_own(&other.by)) {
            let from = DraftOrigin::Elsewhere {
                by: other.by.clone(),
            };
            let unsent = UnsentDraft::stored(&other.draft, from, false);
            self.unsent.insert(key.clone(), unsent);
        }
    }

    /// Starts the next write, unless one is running; calls `start` only then.
    pub fn next(&mut self, start: impl FnOnce(ProfileIndex, Job) -> Ticket) {
        if self.saving.is_some() {
            return;
        }
        let Some((key, due)) = self.due.pop_first() else {
            return;
        };
        let job = match &due {
            PendingWrite::Forget(until) => Job::ForgetDraft(key.1.clone(), *until),
            PendingWrite::Keep => match self.unsent.get(&key).filter(|unsent| unsent.is_own) {
                Some(unsent) => Job::KeepDraft(Box::new(unsent.draft.clone()), unsent.kept),
                None => return,
            },
        };
        let ticket = start(key.0, job);
        self.saving = Some((ticket, key, due));
    }

    pub fn is_saving(&self) -> bool {
        self.saving.is_some()
    }

    /// A save has ended, successfully or not; returns its group. A failed save is tried again at the next change.
    pub fn ended(&mut self, ticket: Ticket, saved: Option<Timestamp>) -> Option<Key> {
        let (_, key, due) = self.saving.take_if(|(saving, ..)| *saving == ticket)?;
        self.touched.insert(key.clone());
        if due == PendingWrite::Keep
            && let (Some(at), Some(others)) = (saved, self.others.get_mut(&key))
        {
            // A read may have found it before it was known to be saved.
            others.retain(|other| other.draft.changed_at != at);
        }
        if saved.is_some() {
            self.refused.remove(&key);
        }
        let own = self.unsent.get_mut(&key).filter(|unsent| unsent.is_own);
        match (saved, own) {
            (Some(at), Some(unsent)) if due == PendingWrite::Keep => unsent.kept = Some(at),
            // It was sent or discarded while it was being saved.
            (Some(at), None) if due == PendingWrite::Keep => {
                if let Some(PendingWrite::Forget(until)) = self.due.get_mut(&key) {
                    *until = at;
                }
            }
            (None, _) => {
                self.due.entry(key.clone()).or_insert(due);
            }
            (Some(_), _) => {}
        }
        Some(key)
    }

    /// A save was refused for what it is. The others are still saved. Returns its group if that is news.
    pub fn set_aside(&mut self, ticket: Ticket) -> Option<Key> {
        let (_, key, due) = self.saving.take_if(|(saving, ..)| *saving == ticket)?;
        self.touched.insert(key.clone());
        let is_news = self.refused.insert(key.clone(), due).is_none();
        is_news.then_some(key)
    }

    /// Reads the drafts of a profile from the directory, unless that is already running.
    pub fn ask(&mut self, profile: ProfileIndex, start: impl FnOnce(ProfileIndex, Job) -> Ticket) {
        if !self.asking.contains_key(&profile) {
            self.touched.retain(|(at, _)| *at != profile);
            let ticket = start(profile, Job::Drafts);
            self.asking.insert(profile, ticket);
        }
    }

    /// Whether the directory has other drafts of a profile than this console knows.
    pub fn differ(&self, profile: ProfileIndex, heads: &[DraftHead]) -> bool {
        if !self.read.contains(&profile) {
            // The first read has not been answered yet.
            return false;
        }
        let known = |head: &DraftHead| {
            let key = (profile, head.id.clone());
            let unsent = self.unsent.get(&key);
            unsent.is_some_and(|unsent| unsent.kept == Some(head.at))
                || self
                    .others(&key)
                    .iter()
                    .any(|other| other.draft.changed_at == head.at)
        };
        let is_there = |key: &Key, at| heads.iter().any(|head| head.id == key.1 && head.at == at);
        let mut others = self.others.iter().filter(|((at, _), _)| *at == profile);
        let ended = others.any(|(key, others)| {
            others
                .iter()
                .any(|other| !is_there(key, other.draft.changed_at))
        });
        let mut kept = self.unsent.iter().filter(|((at, _), _)| *at == profile);
        ended
            || !heads.iter().all(known)
            || kept.any(|(key, unsent)| unsent.kept.is_some_and(|at| !is_there(key, at)))
    }

    /// A read has ended, successfully or not.
    pub fn answered(&mut self, ticket: Ticket) {
        self.asking.retain(|_, asking| *asking != ticket);
    }

    /// Takes over the drafts of a profile from the directory; what was typed here is never replaced. Returns whether it
    /// is the first time, and the groups whose draft is another one now. Groups in `busy` are being typed in here;
    /// `is_own` tells whether this person typed a draft.
    pub fn found(
        &mut self,
        profile: ProfileIndex,
        found: &[KeptDraft],
        busy: &[UserGroupId],
        is_own: impl Fn(&str) -> bool,
    ) -> (bool, Vec<UserGroupId>) {
        let is_first = self.read.insert(profile);
        // The environment is known: what was refused for the profile is saved now.
        for (key, due) in self.refused.iter().filter(|((at, _), _)| *at == profile) {
            self.due.entry(key.clone()).or_insert_with(|| due.clone());
        }
        let mut by_group: BTreeMap<Key, Vec<&KeptDraft>> = BTreeMap::new();
        for kept in found {
            let key = (profile, kept.draft.user_group_id.clone());
            by_group.entry(key).or_default().push(kept);
        }
        // Sent or discarded by another console. What was typed here stays, whatever happened to it there.
        let is_gone = |(key, unsent): &(&Key, &UnsentDraft)| {
            let stored = by_group.get(*key).into_iter().flatten();
            let is_it = |kept: &&KeptDraft| unsent.kept == Some(kept.draft.changed_at);
            let has_one = { stored }.any(|kept| is_own(&kept.by) == unsent.is_own && is_it(kept));
            key.0 == profile && unsent.from != DraftOrigin::Here && !has_one
        };
        let gone: Vec<Key> = self
            .unsent
            .iter()
            .filter(is_gone)
            .map(|(key, _)| key.clone())
            .filter(|key| !self.is_newer_here(key) && !busy.contains(&key.1))
            .collect();
        for key in gone {
            self.unsent.remove(&key);
        }
        self.save_replaced(profile, &by_group, &is_own);
        self.others.retain(|(at, _), _| *at != profile);
        let mut changed = Vec::new();
        for (key, mut stored) in by_group {
            stored.sort_by_key(|kept| std::cmp::Reverse(kept.draft.changed_at));
            if self.take_over(&key, &stored, is_first, busy, &is_own) {
                changed.push(key.1.clone());
            }
            let shown = self.unsent.get(&key);
            let is_other = |kept: &&&KeptDraft| {
                let at = kept.draft.changed_at;
                !shown
                    .is_some_and(|shown| shown.kept == Some(at) && shown.is_own == is_own(&kept.by))
                    || !is_own(&kept.by)
            };
            let others = stored.iter().filter(is_other);
            let others: Vec<_> = others.map(|kept| (*kept).clone()).collect();
            if !others.is_empty() {
                self.others.insert(key, others);
            }
        }
        (is_first, changed)
    }

    /// What was typed here and is no longer in the directory is no longer kept. If another console has put its text in
    /// its place, or it is still in the form, it is saved again, beside.
    fn save_replaced(
        &mut self,
        profile: ProfileIndex,
        found: &BTreeMap<Key, Vec<&KeptDraft>>,
        is_own: impl Fn(&str) -> bool,
    ) {
        let typed = |(key, unsent): &(&Key, &UnsentDraft)| {
            key.0 == profile && unsent.is_own && unsent.from == DraftOrigin::Here
        };
        let all: Vec<Key> = { self.unsent.iter().filter(typed) }
            .map(|(key, _)| key.clone())
            .filter(|key| !self.is_newer_here(key))
            .collect();
        for key in all {
            let own = found.get(&key).into_iter().flatten();
            let mut own = own.filter(|kept| is_own(&kept.by)).peekable();
            let is_replaced = own.peek().is_some();
            let Some(unsent) = self.unsent.get_mut(&key) else {
                continue;
            };
            if own.any(|stored| unsent.kept == Some(stored.draft.changed_at)) {
                continue;
            }
            unsent.kept = None;
            if is_replaced || unsent.form.is_none() {
                self.due.insert(key, PendingWrite::Keep);
            }
        }
    }

    /// Takes over the draft that stands for the group: one's own if there is one. Returns whether it is another one now.
    fn take_over(
        &mut self,
        key: &Key,
        stored: &[&KeptDraft],
        is_first: bool,
        busy: &[UserGroupId],
        is_own: impl Fn(&str) -> bool,
    ) -> bool {
        let own = stored.iter().find(|kept| is_own(&kept.by));
        let Some(KeptDraft { draft, by }) = own.or(stored.first()) else {
            return false;
        };
        let old = self.unsent.get(key);
        let is_old = old.is_some_and(|old| {
            let typed_here = old.from == DraftOrigin::Here;
            typed_here || old.is_own == own.is_some() && old.draft.changed_at >= draft.changed_at
        });
        if is_old || self.is_newer_here(key) || busy.contains(&key.1) {
            return false;
        }
        let by = by.clone();
        let from = if is_first {
            DraftOrigin::Before { by }
        } else {
            DraftOrigin::Elsewhere { by }
        };
        let unsent = UnsentDraft::stored(draft, from, own.is_some());
        self.unsent.insert(key.clone(), unsent);
        true
    }

    fn is_newer_here(&self, key: &Key) -> bool {
        let is_saving = self
            .saving
            .as_ref()
            .is_some_and(|(_, saving, _)| saving == key);
        let waits = self.due.contains_key(key) || self.refused.contains_key(key);
        is_saving || waits || self.touched.contains(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{DesiredFields, draft::DraftFields};

    const HERE: ProfileIndex = ProfileIndex(0);

    fn draft(id: &str, name: &str) -> Draft {
        Draft {
            user_group_id: UserGroupId::parse(id).expect("an ID"),
            creating: false,
            typed: DraftFields {
                name: name.into(),
                ..DraftFields::default()
            },
            loaded_from: None,
            taken_over: BTreeSet::new(),
            continues: Vec::new(),
            base: DesiredFields::default(),
            base_at: Timestamp::UNIX_EPOCH,
            changed_at: Timestamp::UNIX_EPOCH,
        }
    }

    /// Starts the next save under this number; returns its draft.
    fn next(drafts: &mut Drafts, number: u64) -> Option<Draft> {
        let mut started = None;
        drafts.next(|_, job| {
            started = Some(job);
            Ticket(number)
        });
        match started? {
            Job::KeepDraft(draft, _) => Some(*draft),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_refused_draft_is_set_aside_until_it_changes_and_the_others_are_saved() {
        let mut drafts = Drafts::default();
        drafts.keep(HERE, draft("a", "like a token"));
        drafts.keep(HERE, draft("b", "fine"));
        let refused = next(&mut drafts, 1).expect("a save");
        let key = (HERE, refused.user_group_id);
        assert_eq!(drafts.set_aside(Ticket(1)), Some(key.clone()));
        let saved = next(&mut drafts, 2).expect("a save");
        assert_eq!(saved.user_group_id.as_str(), "b");
        drafts.ended(Ticket(2), Some(saved.changed_at));
        assert_eq!(next(&mut drafts, 3), None, "it would be refused again");
        assert_eq!((drafts.unsaved(false), drafts.is_failing), (1, false));
        assert!(drafts.is_unsaved(&key, false));

        drafts.keep(HERE, draft("a", "like a token"));
        assert_eq!(next(&mut drafts, 4), None, "it is the same");
        drafts.keep(HERE, draft("a", "like a token again"));
        assert!(next(&mut drafts, 5).is_some());
        assert_eq!(drafts.set_aside(Ticket(5)), None, "it was said");
        // The environment may not have been known.
        drafts.found(HERE, &[], &[], |_| true);
        let saved = next(&mut drafts, 6).expect("a save");
        drafts.ended(Ticket(6), Some(saved.changed_at));
        assert_eq!((next(&mut drafts, 7), drafts.unsaved(false)), (None, 0));
    }

    /// What was left before this console began ends with the draft that goes on from it, even if that was never stored.
    #[test]
    fn a_draft_that_another_one_goes_on_from_does_not_come_back() {
        let mut drafts = Drafts::default();
        let left = KeptDraft {
            draft: draft("a", "left"),
            by: "ana".into(),
        };
        drafts.found(HERE, &[left], &[], |_| true);
        drafts.keep(HERE, draft("a", "going on"));
        let key = (HERE, draft("a", "").user_group_id);
        drafts.remove(&key, |_| true);
        let mut started = None;
        drafts.next(|_, job| {
            started = Some(job);
            Ticket(1)
        });
        let Some(Job::ForgetDraft(_, at)) = started else {
            panic!("{started:?}");
        };
        assert_eq!(at, draft("a", "left").changed_at);
    }

    /// One that was sent does not come back.
    #[test]
    fn what_cannot_be_forgotten_now_is_forgotten_later() {
        let mut drafts = Drafts::default();
        drafts.keep(HERE, draft("a", "sent"));
        let saved = next(&mut drafts, 1).expect("a save");
        drafts.ended(Ticket(1), Some(saved.changed_at));
        drafts.remove(&(HERE, saved.user_group_id), |_| true);
        let forgets = |drafts: &mut Drafts| {
            let mut forgets = false;
            drafts.next(|_, job| {
                forgets = matches!(job, Job::ForgetDraft(..));
                Ticket(2)
            });
            forgets
        };
        assert!(forgets(&mut drafts));
        drafts.set_aside(Ticket(2));
        assert!(!forgets(&mut drafts));
        drafts.found(HERE, &[], &[], |_| true);
        assert!(forgets(&mut drafts));
    }
}
