//! How long and how often an item waits for a busy service, and that it waits for a lost directory.

use std::time::Duration;

use crate::operations::Failure;

/// How often a busy service is asked again for one item.
const TRIES: u32 = 10;
/// First wait if the service does not say how long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// If the service asks for a longer wait, give up.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// Wait before another attempt after one that already waited for the directory.
const DIRECTORY_AGAIN: Duration = Duration::from_secs(2);

/// What an item waits for before it is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// The pause of a busy service.
    Service(Duration),
    /// The directory is unreachable, and no change was sent.
    Directory,
}

impl Hold {
    /// The pause that the service asked for when it refused a change which is not sent again; the next ones wait for it.
    pub(crate) fn asked<T>(answer: &Result<T, Failure>) -> Option<Self> {
        match answer {
            Err(Failure::Refused {
                retry_after: Some(wait),
                ..
            }) if *wait <= LONGEST_WAIT => Some(Self::Service(*wait)),
            _ => None,
        }
    }

    pub(crate) fn wait(self) -> Duration {
        match self {
            Self::Service(wait) => wait,
            Self::Directory => DIRECTORY_AGAIN,
        }
    }
}

/// The remaining retries of one item.
pub(crate) struct RetryBudget {
    tries: u32,
    wait: Duration,
}

impl RetryBudget {
    pub(crate) fn new() -> Self {
        Self {
            tries: TRIES,
            wait: FIRST_WAIT,
        }
    }

    /// What to wait for after this answer; `None` if the service is not busy or the budget is used up, and the directory
    /// is there. Only a read counts as busy: a rotation that was refused is never sent again automatically.
    pub(crate) fn put_off<T>(&mut self, answer: &Result<T, Failure>) -> Option<Hold> {
        match answer {
            Err(Failure::Busy { retry_after, .. }) => self.wait(*retry_after),
            Err(failure) if failure.lacks_directory() => Some(Hold::Directory),
            _ => None,
        }
    }

    /// As [`Self::put_off`], but also retries a create or an update after a 429, or after a 503 that states that
    /// nothing was done: sending those twice changes nothing twice.
    pub(crate) fn put_off_row<T>(&mut self, answer: &Result<T, Failure>) -> Option<Hold> {
        match answer {
            Err(Failure::Refused {
                status: 429 | 503,
                retry_after,
                ..
            }) => self.wait(*retry_after),
            answer => self.put_off(answer),
        }
    }

    fn wait(&mut self, asked: Option<Duration>) -> Option<Hold> {
        self.tries = self.tries.checked_sub(1)?;
        let wait = asked.unwrap_or(self.wait);
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
        (wait <= LONGEST_WAIT).then_some(Hold::Service(wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(retry_after: Option<Duration>) -> Result<(), Failure> {
        Err(Failure::Busy {
            status: 503,
            why: String::new(),
            retry_after,
        })
    }

    #[test]
    fn each_wait_is_twice_as_long_until_it_is_enough() {
        let mut patience = RetryBudget::new();
        assert_eq!(patience.put_off(&Ok(())), None);
        let waits: Vec<_> = (0..12)
            .map_while(|_| patience.put_off(&busy(None)))
            .map(|hold| hold.wait().as_secs())
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    }

    #[test]
    fn a_refused_change_holds_back_the_next_ones_as_long_as_the_service_asks() {
        let refused = |retry_after: Option<u64>| -> Result<(), Failure> {
            Err(Failure::Refused {
                status: 429,
                stated: true,
                via: None,
                words: None,
                retry_after: retry_after.map(Duration::from_secs),
                bodiless: false,
            })
        };
        let minute = Hold::Service(Duration::from_mins(1));
        assert_eq!(Hold::asked(&refused(Some(60))), Some(minute));
        assert_eq!(Hold::asked(&refused(None)), None);
        assert_eq!(Hold::asked(&refused(Some(301))), None);
        assert_eq!(Hold::asked(&busy(Some(minute.wait()))), None);
    }

    #[test]
    fn what_the_service_asks_for_is_waited_for_unless_it_is_too_long() {
        let mut patience = RetryBudget::new();
        let mut after = |seconds| patience.put_off(&busy(Some(Duration::from_secs(seconds))));
        assert_eq!(after(7), Some(Hold::Service(Duration::from_secs(7))));
        assert_eq!(after(300), Some(Hold::Service(LONGEST_WAIT)));
        assert_eq!(after(301), None);
    }
}
