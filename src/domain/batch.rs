//! The rules of bulk rotation (docs/design/rotation.md, "Bulk") and bulk edit: which groups may be worked on now and
//! why others are left out, how the items of a batch are counted, and when a run must stop. Sends nothing and reads no
//! clock.

mod change;
mod edit;
mod plan;
mod runner;

use std::fmt;

use serde_json::Value;

pub use change::{BatchKind, BulkChange, ItemEdit, NotAChange, OnlyWhere, Target};
pub use edit::{
    EditCandidate, EditPlan, EditRow, EditRules, EditSkip, OpenChange, Recent, STALE_AFTER,
    UnsentDraft, UnverifiedField, Verdict, WantedRow,
};
pub use plan::{Candidate, Plan, RECENT, Rules, Skip};
pub use runner::{
    HEARTBEAT_INTERVAL, HEARTBEAT_TIMEOUT, Halt, LastRun, Runner, RunnerState, StopCause,
};

use super::{
    handoff::HandOffState, history::Ending, mutation, rotation::State, text::listed,
    word_enum::word_enum,
};

/// What is said of an item of an edit without its reviewed values.
pub const UNREADABLE: &str = "the reviewed values can no longer be read";

/// What is said of a new token that goes to a file and is not in it.
pub const NOT_IN_FILE: &str = "not in the token file";

word_enum! {
    /// The status of a batch item, in the words of the JSON output.
    pub enum ItemStatus {
        /// Nothing was sent or tried for it.
        NotStarted = "not_started",
        /// In progress in some process, or left open by one that died.
        UnderWay = "sent",
        /// The new token is in place and was read back.
        Confirmed = "confirmed",
        /// The answer contained a new token, which has not been read back yet.
        Rotated = "rotated",
        NotApplied = "not_applied",
        Unknown = "unknown",
        Conflict = "conflict",
        Abandoned = "abandoned",
    }
}

impl ItemStatus {
    /// Whether there is a new token that has not arrived where it was to be handed off. That of an abandoned rotation can
    /// still be handed off.
    pub fn is_not_handed_off(self, handoff: HandOffState) -> bool {
        matches!(self, Self::Confirmed | Self::Rotated | Self::Abandoned)
            && matches!(handoff, HandOffState::Pending | HandOffState::Failed)
    }

    /// From the state of its rotation, or from how it ended without one.
    pub fn of(state: Option<State>, ending: Option<Ending>) -> Self {
        match (state, ending) {
            (None, None) => Self::NotStarted,
            // For an edit: the group already has the wanted value.
            (None, Some(Ending::Found))
            | (Some(State::Confirmed | State::Recovered | State::Superseded), _) => Self::Confirmed,
            // Without a rotation, it ended before anything was sent.
            (None, Some(Ending::CreatedByGet | Ending::Conflict)) | (Some(State::Conflict), _) => {
                Self::Conflict
            }
            (None, Some(_)) | (Some(State::NotApplied), _) => Self::NotApplied,
            (Some(State::Intended | State::Sent), _) => Self::UnderWay,
            (Some(State::Rotated), _) => Self::Rotated,
            (Some(State::Unknown), _) => Self::Unknown,
            (Some(State::Abandoned), _) => Self::Abandoned,
        }
    }

    /// Why a group is left out of the retry or the reverse of the batch with this number.
    pub fn why_not_again(self, batch: i64) -> String {
        match self {
            Self::NotStarted => format!("not started: groupdesk batches resume {batch}"),
            Self::Unknown | Self::UnderWay => format!(
                "the result of its change in batch {batch} is unknown: groupdesk batches check {batch}"
            ),
            Self::Abandoned => {
                format!("its change in batch {batch} was abandoned, and may have taken effect")
            }
            Self::Confirmed | Self::Rotated | Self::NotApplied | Self::Conflict => {
                format!("{} in batch {batch}", self.as_str().replace('_', " "))
            }
        }
    }

    /// From the state of its update in the journal, and how that ended.
    pub fn of_update(state: mutation::State, ending: Option<Ending>) -> Self {
        use mutation::State;
        match (state, ending) {
            (State::Intended | State::Sent, _) => Self::UnderWay,
            (State::Unknown | State::Open, _) | (State::Ended, Some(Ending::Unknown)) => {
                Self::Unknown
            }
            (State::Ended, Some(Ending::Updated)) => Self::Confirmed,
            (State::Ended, Some(Ending::Abandoned)) => Self::Abandoned,
            (State::Ended, Some(Ending::Conflict | Ending::CreatedByGet)) => Self::Conflict,
            (State::Ended, _) => Self::NotApplied,
        }
    }
}

/// Number of batch items by status. They add up: see [`Counts::planned`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub confirmed: usize,
    /// Rotated, not read back yet.
    pub rotated: usize,
    pub not_applied: usize,
    /// Includes items in progress: until they end, their outcome is unknown.
    pub unknown: usize,
    pub conflict: usize,
    pub abandoned: usize,
    pub not_started: usize,
}

impl Counts {
    pub fn of(statuses: impl IntoIterator<Item = ItemStatus>) -> Self {
        let mut counts = Self::default();
        for status in statuses {
            counts.add(status, 1);
        }
        counts
    }

    pub fn add(&mut self, status: ItemStatus, count: usize) {
        *self.count_of(status) += count;
    }

    /// Moves one item from one status to another.
    pub fn moved(&mut self, from: ItemStatus, to: ItemStatus) {
        let before = self.count_of(from);
        *before = before.saturating_sub(1);
        *self.count_of(to) += 1;
    }

    /// All of them: confirmed + rotated + not applied + unknown + conflict + abandoned + not started.
    pub fn planned(&self) -> usize {
        self.each().iter().map(|(_, count, _)| count).sum()
    }

    /// All but those not started.
    pub fn done(&self) -> usize {
        self.planned() - self.not_started
    }

    /// Those that are as wanted: rotated or updated.
    pub fn succeeded(&self) -> usize {
        self.confirmed + self.rotated
    }

    /// Each of them with its words, in the order of every report: what needs a person comes first.
    pub fn each(&self) -> [(ItemStatus, usize, &'static str); 7] {
        [
            (ItemStatus::Unknown, self.unknown, "UNKNOWN"),
            (ItemStatus::Conflict, self.conflict, "CONFLICT"),
            (ItemStatus::NotApplied, self.not_applied, "not applied"),
            (ItemStatus::Confirmed, self.confirmed, "confirmed"),
            (ItemStatus::Rotated, self.rotated, "rotated, not confirmed"),
            (ItemStatus::Abandoned, self.abandoned, "abandoned"),
            (ItemStatus::NotStarted, self.not_started, "not started"),
        ]
    }

    /// As text: a group of an edit is updated, not confirmed.
    pub fn in_words_of(&self, kind: &BatchKind) -> String {
        let text = self.to_string();
        match kind {
            BatchKind::Rotate => text,
            BatchKind::Edit(_) => text.replace(" confirmed", " updated"),
        }
    }

    /// What of it is done: `33 of 40 done, 7 not`.
    pub fn in_short(&self) -> String {
        let (done, all) = (self.succeeded(), self.planned());
        match all - done {
            0 => format!("{done} of {all} done"),
            not => format!("{done} of {all} done, {not} not"),
        }
    }

    /// Adds the counts to the JSON of a report; from `confirmed` to `not_started` they add up to `planned`.
    pub fn add_to(&self, report: &mut Value) {
        for (name, count) in [
            ("planned", self.planned()),
            ("confirmed", self.confirmed),
            ("rotated", self.rotated),
            ("not_applied", self.not_applied),
            ("unknown", self.unknown),
            ("conflict", self.conflict),
            ("abandoned", self.abandoned),
            ("not_started", self.not_started),
        ] {
            report[name] = count.into();
        }
    }

    fn count_of(&mut self, status: ItemStatus) -> &mut usize {
        match status {
            ItemStatus::NotStarted => &mut self.not_started,
            ItemStatus::Confirmed => &mut self.confirmed,
            ItemStatus::Rotated => &mut self.rotated,
            ItemStatus::NotApplied => &mut self.not_applied,
            ItemStatus::Unknown | ItemStatus::UnderWay => &mut self.unknown,
            ItemStatus::Conflict => &mut self.conflict,
            ItemStatus::Abandoned => &mut self.abandoned,
        }
    }
}

/// As text: `1 UNKNOWN, 7 confirmed, 2 not started of 10`. What needs a person comes first; zeros are left out.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match listed(self.each().map(|(_, count, word)| (count, word))) {
            none if none.is_empty() => f.write_str("nothing planned"),
            counts => write!(f, "{counts} of {}", self.planned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        group::EnvironmentTag,
        known::{KnownGroup, LastRotated},
        testing::{id, told},
    };

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_second(hours * 3600).expect("a time")
    }

    fn group(text: &str, rotated_at: i64, tag: EnvironmentTag) -> KnownGroup {
        KnownGroup {
            last_seen: Some(at(0)),
            last_rotated: Some(LastRotated {
                at: at(rotated_at),
                by: None,
            }),
            environment_tag: Some(told(tag)),
            ..KnownGroup::new(id(text))
        }
    }

    fn candidate<'a>(
        text: &str,
        group: Option<&'a KnownGroup>,
        open: Option<State>,
    ) -> Candidate<'a> {
        Candidate {
            id: id(text),
            group,
            open,
            refused: None,
            recent: None,
        }
    }

    #[test]
    fn each_group_is_ready_or_has_its_reason() {
        let old = group("old", 0, EnvironmentTag::Customer);
        let young = group("young", 77, EnvironmentTag::Customer);
        let other = group("other", 0, EnvironmentTag::Testing);
        let rules = Rules {
            environment: Some(EnvironmentTag::Customer),
            most: 2,
            guard: None,
            include_recent: false,
            now: at(100),
        };
        let plan = Plan::of(
            [
                candidate("old", Some(&old), None),
                candidate("old", Some(&old), None),
                candidate("young", Some(&young), None),
                candidate("other", Some(&other), None),
                candidate("open", Some(&old), Some(State::Unknown)),
                candidate("new", None, None),
                candidate("second", Some(&old), None),
                candidate("third", Some(&old), None),
            ],
            &rules,
        );
        assert_eq!(plan.ready, [id("old"), id("second")]);
        let expected = [
            (id("young"), Skip::RotatedRecently(at(77))),
            (id("other"), Skip::OtherEnvironment(EnvironmentTag::Testing)),
            (id("open"), Skip::Open(State::Unknown)),
            (id("new"), Skip::NotKnown),
            (id("third"), Skip::Beyond(2)),
        ];
        assert_eq!(plan.skipped, expected);
        let mut twice = plan.clone();
        let recent = Skip::RotatedRecently(at(99));
        twice.skipped.push((id("younger"), recent));
        let most = (2, "rotated less than 24 h ago".to_owned());
        assert_eq!((twice.reasons().len(), &twice.reasons()[0]), (5, &most));
        let alone = |group: &KnownGroup, rules: &Rules| {
            let plan = Plan::of([candidate("x", Some(group), None)], rules);
            plan.skipped.first().map(|(_, skip)| skip.clone())
        };
        assert_eq!(
            alone(&KnownGroup::new(id("x")), &rules),
            Some(Skip::NotSeen)
        );
        // Its age is unknown, not zero.
        let wrong = at(100 + 24 * 30);
        let ahead = group("ahead", 100 + 24 * 30, EnvironmentTag::Customer);
        assert_eq!(alone(&ahead, &rules), Some(Skip::RotatedInFuture(wrong)));
        // Our clock or that of whoever rotated it is wrong: the database's says so.
        let recent = Candidate {
            recent: Some(at(99)),
            ..candidate("x", Some(&old), None)
        };
        let plan = Plan::of([recent], &rules);
        assert_eq!(plan.skipped, [(id("x"), Skip::RotatedRecently(at(99)))]);
        // A second leak on one day, or 24 h are over.
        let recent = Rules {
            include_recent: true,
            ..rules.clone()
        };
        let exactly = Rules {
            now: at(101),
            ..rules
        };
        assert_eq!(
            (alone(&young, &recent), alone(&young, &exactly)),
            (None, None)
        );
    }

    #[test]
    fn the_counts_add_up_whatever_happened() {
        let states = State::ALL.map(Some).into_iter().chain([None]);
        let statuses: Vec<_> = states
            .map(|state| ItemStatus::of(state, None))
            .chain(Ending::ALL.map(|ending| ItemStatus::of(None, Some(ending))))
            .collect();
        let counts = Counts::of(statuses.iter().copied());
        assert_eq!(counts.planned(), statuses.len());
        // Those three, and a group that an edit found to have the wanted value.
        assert_eq!((counts.confirmed, counts.rotated), (4, 1));
        assert_eq!((counts.unknown, counts.not_started), (3, 1));

        let mut live = Counts {
            not_started: statuses.len(),
            ..Counts::default()
        };
        for status in statuses {
            live.moved(ItemStatus::NotStarted, status);
            assert_eq!(live.planned(), counts.planned());
        }
    }

    #[test]
    fn counts_say_what_there_is_and_of_how_many() {
        assert_eq!(Counts::default().to_string(), "nothing planned");
        let mut counts = Counts {
            confirmed: 7,
            not_started: 2,
            ..Counts::default()
        };
        assert_eq!(counts.to_string(), "7 confirmed, 2 not started of 9");
        counts.unknown = 1;
        let said = counts.to_string();
        assert_eq!(said, "1 UNKNOWN, 7 confirmed, 2 not started of 10");
    }

    #[test]
    fn the_smaller_limit_gives_the_reason() {
        let acme = group("acme", 0, EnvironmentTag::Customer);
        for (most, guard, reason) in [
            (0, 1, Skip::Beyond(0)),
            (1, 1, Skip::Beyond(1)),
            (2, 1, Skip::Guarded(1, "slowly".into())),
        ] {
            let rules = Rules {
                environment: None,
                most,
                guard: Some((guard, "slowly".into())),
                include_recent: false,
                now: at(100),
            };
            let both = ["a", "b"].map(|text| candidate(text, Some(&acme), None));
            let plan = Plan::of(both, &rules);
            assert_eq!(plan.ready.len(), most.min(guard));
            assert_eq!(plan.skipped.last(), Some(&(id("b"), reason)));
        }
    }
}
