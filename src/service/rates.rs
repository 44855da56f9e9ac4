//! Rate limit per key: a number of requests per second, also in one burst. Counted per process, and lost when it ends.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The requests of one second may come in one burst.
const SECOND: Duration = Duration::from_secs(1);

pub(super) struct Rates {
    /// Interval between two requests at the limit.
    apart: Duration,
    /// By key: when all of its requests so far would be over at that interval.
    over: Mutex<HashMap<i64, Instant>>,
}

impl Rates {
    pub(super) fn new(a_second: NonZeroU32) -> Self {
        Self {
            apart: SECOND / a_second.get(),
            over: Mutex::default(),
        }
    }

    /// Takes one request from the key's allowance; otherwise returns how long to wait.
    pub(super) fn take(&self, key: i64, now: Instant) -> Result<(), Duration> {
        // Nothing panics while it holds the lock.
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let before = over.get(&key).copied().unwrap_or(now).max(now);
        let after = before + self.apart;
        let early = (after - now).saturating_sub(SECOND);
        if early.is_zero() {
            over.insert(key, after);
            Ok(())
        } else {
            Err(early)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_s_worth_may_come_at_once_and_then_one_after_another() {
        let rates = Rates::new(NonZeroU32::new(4).expect("not zero"));
        let start = Instant::now();
        for _ in 0..4 {
            assert_eq!(rates.take(1, start), Ok(()));
        }
        let wait = Duration::from_millis(250);
        assert_eq!(rates.take(1, start), Err(wait));
        assert_eq!(rates.take(2, start), Ok(()), "each key has its own");
        assert_eq!(
            rates.take(1, start),
            Err(wait),
            "what was refused costs nothing"
        );
        assert_eq!(rates.take(1, start + wait), Ok(()));
        assert!(rates.take(1, start + wait).is_err());
        let later = start + Duration::from_mins(1);
        for _ in 0..4 {
            assert_eq!(rates.take(1, later), Ok(()));
        }
        assert!(
            rates.take(1, later).is_err(),
            "what was not used is not saved up"
        );
    }
}
