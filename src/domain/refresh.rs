//! Reading all known groups again: the result for each, and their counts.

use std::fmt;

use super::{text::listed, word_enum::word_enum};

word_enum! {
    /// What a read of a known group found. The words are those of the JSON output.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub unchanged: usize,
    pub changed: usize,
    pub first_seen: usize,
    pub created_again: usize,
    pub created: usize,
    pub wrong_environment: usize,
    pub failed: usize,
    /// Read by an earlier run of the same refresh.
    pub done_before: usize,
    pub not_started: usize,
}

impl Counts {
    /// Counts the result of one that was not started.
    pub fn ended(&mut self, found: ReadResult) {
        self.not_started = self.not_started.saturating_sub(1);
        *match found {
            ReadResult::Unchanged => &mut self.unchanged,
            ReadResult::Changed => &mut self.changed,
            ReadResult::FirstSeen => &mut self.first_seen,
            ReadResult::CreatedAgain => &mut self.created_again,
            ReadResult::Created => &mut self.created,
            ReadResult::WrongEnvironment => &mut self.wrong_environment,
            ReadResult::Failed => &mut self.failed,
        } += 1;
    }

    /// The words of the JSON output, in the order of the report.
    pub fn each(&self) -> [(&'static str, usize); 9] {
        [
            (ReadResult::Unchanged.as_str(), self.unchanged),
            (ReadResult::Changed.as_str(), self.changed),
            (ReadResult::FirstSeen.as_str(), self.first_seen),
            (ReadResult::CreatedAgain.as_str(), self.created_again),
            (ReadResult::Created.as_str(), self.created),
            (
                ReadResult::WrongEnvironment.as_str(),
                self.wrong_environment,
            ),
            (ReadResult::Failed.as_str(), self.failed),
            ("done_before", self.done_before),
            ("not_started", self.not_started),
        ]
    }

    /// All of them.
    pub fn planned(&self) -> usize {
        self.each().iter().map(|(_, count)| count).sum()
    }

    /// All but those not started.
    pub fn done(&self) -> usize {
        self.planned() - self.not_started
    }

    /// Groups that were successfully read, now or before.
    pub fn read(&self) -> usize {
        self.done() - self.failed
    }

    pub fn alarms(&self) -> usize {
        self.created_again + self.created + self.wrong_environment
    }

    /// Whether nothing is left to do.
    pub fn is_complete(&self) -> bool {
        self.not_started + self.failed + self.wrong_environment == 0
    }
}

/// As text: `1 CREATED AGAIN, 7 unchanged, 2 not started of 10`. What needs a person comes first; zeros are left out.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts = self.each();
        counts.sort_by_key(|(word, _)| match *word {
            "created_again" | "created" | "wrong_environment" => 0,
            "failed" => 1,
            _ => 2,
        });
        let counts = counts.map(|(word, count)| {
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
