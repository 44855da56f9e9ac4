//! Limits how many items of a run may begin per second.

use std::time::Duration;

use tokio::time::Instant;

/// Delay that is made up for, so that the rate is kept although a timer is up to a millisecond late and a busy machine
/// later still. The rate of no second is exceeded by more than a hundredth.
const CATCH_UP: Duration = Duration::from_millis(10);

/// Computes each start from the previous scheduled start, not from when that item really began.
#[derive(Debug)]
pub(crate) struct Pace {
    apart: Duration,
    next_start: Instant,
}

impl Pace {
    /// Items per second; `None` means no limit.
    pub(super) fn new(rate: Option<f64>) -> Self {
        let apart = rate.filter(|rate| *rate > 0.0);
        let apart = apart.map(|rate| Duration::from_secs_f64(1.0 / rate));
        Self {
            apart: apart.unwrap_or_default(),
            next_start: Instant::now(),
        }
    }

    /// When the next item may begin.
    pub(crate) fn next_start(&self) -> Instant {
        self.next_start
    }

    /// Records that an item begins.
    pub(crate) fn begun(&mut self) {
        if !self.apart.is_zero() {
            self.begun_at(Instant::now());
        }
    }

    fn begun_at(&mut self, now: Instant) {
        let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
        self.next_start = self.next_start.max(earliest) + self.apart;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates ten seconds of starts as early as allowed, on a clock that ticks every millisecond and is sometimes
    /// late.
    fn starts(rate: f64, late: impl Fn(u64) -> u64) -> Vec<Duration> {
        let mut pace = Pace::new(Some(rate));
        let begin = pace.next_start();
        let mut starts = Vec::new();
        let mut now = begin;
        loop {
            if pace.next_start() > now {
                let wait = (pace.next_start() - begin).as_micros().div_ceil(1000) as u64;
                now = begin + Duration::from_millis(wait + late(wait));
            }
            if now - begin >= Duration::from_secs(10) {
                return starts;
            }
            starts.push(now - begin);
            pace.begun_at(now);
        }
    }

    #[test]
    fn a_rate_is_kept_to_a_hundredth() {
        let late: [fn(u64) -> u64; 3] = [|_| 0, |_| 1, |tick| tick % 7];
        for rate in [0.5, 10.0, 150.0, 700.0, 900.0, 3000.0] {
            for late in late {
                let starts = starts(rate, late);
                let wanted = rate * 10.0;
                let off = (starts.len() as f64 - wanted).abs();
                assert!(off <= (wanted / 100.0).max(1.0), "{rate}: {}", starts.len());
            }
        }
    }

    #[test]
    fn a_stall_is_not_made_up_for_by_a_burst() {
        let stalls = |tick: u64| if tick.is_multiple_of(1000) { 800 } else { 0 };
        for rate in [10.0, 700.0] {
            let starts = starts(rate, stalls);
            let most = (rate * 1.01).ceil() as usize + 1;
            for (from, at) in starts.iter().enumerate() {
                let second = starts[from..].iter();
                let second = second.take_while(|start| **start < *at + Duration::from_secs(1));
                assert!(second.count() <= most, "{rate}: {at:?}");
            }
        }
    }
}
