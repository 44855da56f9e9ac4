//! Reading all known groups again: the result for each, and their counts.

use std::fmt;

use super::{text::listed, word_enum::word_enum};

word_enum! {
    /// What a read of a known group found. The words are those of the JSON output.
    pub enum ReadResult {
        /// As it was last seen here, as far as the service tells.
        Unchanged = "unchanged",
        Changed = "changed",
        /// Nothing the service said was known here before.
        FirstSeen = "first_seen",
        /// It had vanished, and this read made it again, empty (hazard 1 of docs/design/service.md).
        CreatedAgain = "created_again",
        /// Only a file had told of it; this read made it, empty (hazard 1).
        Created = "created",
        /// Hazard 11.
        WrongEnvironment = "wrong_environment",
        /// No answer of use.
        Failed = "failed",
    }
}

/// Number of groups by result. They add up: see [`Counts::planned`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of those that ended, in the order of [`ReadResult::ALL`].
    pub(crate) ended: [usize; ReadResult::ALL.len()],
    /// Read by an earlier run of the same refresh.
    pub done_before: usize,
    pub not_started: usize,
}

impl Counts {
    /// Counts the result of one that was not started.
    pub fn ended(&mut self, found: ReadResult) {
        self.not_started = self.not_started.saturating_sub(1);
        self.ended[found as usize] += 1;
    }

    /// How many ended like this.
    pub fn of(&self, found: ReadResult) -> usize {
        self.ended[found as usize]
    }

    /// The words of the JSON output, in the order of the report.
    fn each(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let others = [
            ("done_before", self.done_before),
            ("not_started", self.not_started),
        ];
        let ended = ReadResult::ALL.map(|found| (found.as_str(), self.of(found)));
        ended.into_iter().chain(others)
    }

    /// All of them.
    pub fn planned(&self) -> usize {
        self.each().map(|(_, count)| count).sum()
    }

    /// All but those not started.
    pub fn done(&self) -> usize {
        self.planned() - self.not_started
    }

    /// Groups that were successfully read, now or before.
    pub fn read(&self) -> usize {
        self.done() - self.of(ReadResult::Failed)
    }

    pub fn alarms(&self) -> usize {
        use ReadResult::{Created, CreatedAgain, WrongEnvironment};
        let alarms = [CreatedAgain, Created, WrongEnvironment];
        alarms.map(|found| self.of(found)).iter().sum()
    }

    /// Whether nothing is left to do.
    pub fn is_complete(&self) -> bool {
        let is_left = [ReadResult::Failed, ReadResult::WrongEnvironment];
        self.not_started == 0 && is_left.iter().all(|found| self.of(*found) == 0)
    }
}

/// As text: `1 CREATED AGAIN, 7 unchanged, 2 not started of 10`. What needs a person comes first; zeros are left out.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: Vec<_> = self.each().collect();
        counts.sort_by_key(|(word, _)| match *word {
            "created_again" | "created" | "wrong_environment" => 0,
            "failed" => 1,
            _ => 2,
        });
        let counts = counts.into_iter().map(|(word, count)| {
            let shown = word.replace('_', " ");
            match word {
                "created_again" | "created" | "wrong_environment" => (count, shown.to_uppercase()),
                _ => (count, shown),
            }
        });
        match listed(counts) {
            none if none.is_empty() => f.write_str("nothing to read"),
            counts => write!(f, "{counts} of {}", self.planned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_add_up_whatever_was_found() {
        let all = ReadResult::ALL;
        let mut counts = Counts {
            not_started: all.len() + 1,
            done_before: 2,
            ..Counts::default()
        };
        let planned = counts.planned();
        for found in all {
            counts.ended(found);
            assert_eq!(counts.planned(), planned);
        }
        assert_eq!((counts.done(), counts.read()), (9, 8));
        assert_eq!(counts.alarms(), 3);
        assert!(!counts.is_complete());
        assert_eq!(
            counts.to_string(),
            "1 CREATED AGAIN, 1 CREATED, 1 WRONG ENVIRONMENT, 1 failed, 1 unchanged, 1 changed, 1 first seen, \
             2 done before, 1 not started of 10"
        );
    }

    #[test]
    fn an_alarm_alone_leaves_nothing_to_do_but_a_failure_does() {
        let after = |found| {
            let mut counts = Counts {
                not_started: 1,
                ..Counts::default()
            };
            counts.ended(found);
            counts.is_complete()
        };
        assert!(after(ReadResult::Unchanged) && after(ReadResult::CreatedAgain));
        assert!(!after(ReadResult::Failed) && !after(ReadResult::WrongEnvironment));
    }
}
