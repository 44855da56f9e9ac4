//! The age of a token as far as it is known here, and what counts as too old: one rule for the list, its filter and
//! every selection by age. A token whose last change is unknown has no age.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::known::KnownGroup;
use crate::intake::duration;

const DAY: u64 = 24 * 60 * 60;

/// Nobody means a longer age.
const MAX_AGE: u64 = 3_650 * DAY;

/// Why a text is not a valid age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAge {
    #[error("{0}")]
    Unreadable(duration::InvalidAge),
    #[error("is zero, which every token exceeds at once; write for example 90d")]
    Zero,
    #[error("is too long; at most 3650d is allowed")]
    TooLong,
}

/// Parses a whole number with `h`, `d` or `w`; more than zero and at most ten years.
pub fn parse(text: &str) -> Result<Duration, InvalidAge> {
    let age = duration::age(text).map_err(InvalidAge::Unreadable)?;
    match age.as_secs() {
        0 => Err(InvalidAge::Zero),
        1..=MAX_AGE => Ok(age),
        _ => Err(InvalidAge::TooLong),
    }
}

/// Time since the token was last seen to change; `None` if that is unknown.
pub fn age(group: &KnownGroup, now: Timestamp) -> Option<Duration> {
    of(since_when(group)?, now)
}

/// When the token came into being, as far as known: a group that was never rotated has its first one.
pub fn since_when(group: &KnownGroup) -> Option<Timestamp> {
    let last = group.last_rotated.as_ref().map(|last| last.at);
    last.or(group.created_at)
}

/// Clocks of two machines may differ by this much.
pub const APART: Duration = Duration::from_mins(5);

/// The age of what happened then. A time in the future is that of a clock that was wrong, so the age is unknown.
pub fn of(then: Timestamp, now: Timestamp) -> Option<Duration> {
    let is_future = then.duration_since(now) > SignedDuration::try_from(APART).unwrap_or_default();
    (!is_future).then(|| since(then, now))
}

/// What is shown instead of an age that is unknown because the time is in the future.
pub const AHEAD: &str = "in the future";

/// Time since then, in its largest unit: `12s`, `3m`, `5h`, `388d`.
pub fn in_words(then: Timestamp, now: Timestamp) -> String {
    let Some(age) = of(then, now) else {
        return AHEAD.into();
    };
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The same in a column: `now`, `3m`.
pub fn passed(then: Timestamp, now: Timestamp) -> String {
    match of(then, now).map(|age| age.as_secs()) {
        Some(0) => "now".into(),
        _ => in_words(then, now),
    }
}

/// An age in days, which does not change while somebody looks at it.
pub fn days(age: Duration) -> String {
    match age.as_secs() / DAY {
        0 => "<1d".into(),
        days => format!("{days}d"),
    }
}

/// Time since then; zero when the clock went back.
pub fn since(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or_default()
}

/// Whether the token is known to be older than `limit`.
pub fn is_older(group: &KnownGroup, limit: Duration, now: Timestamp) -> bool {
    exceeds(age(group, now), limit)
}

/// Whether an age is known and over a limit.
pub fn exceeds(age: Option<Duration>, limit: Duration) -> bool {
    age.is_some_and(|age| age > limit)
}

/// The default limit for colours, counts and filters.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(90 * DAY);

/// How long before its limit a token is due: a sixth of the limit but at least 7 days; at most half of a short limit,
/// because otherwise every token would be due at once.
pub fn due_within(limit: Duration) -> Duration {
    (limit / 6).max(Duration::from_secs(7 * DAY)).min(limit / 2)
}

/// How close a token is to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenAge {
    Fresh,
    /// In the last sixth of the limit, at least 7 days.
    Due,
    Over,
    /// More than twice the limit.
    Far,
    /// It is unknown when the token was rotated.
    Unknown,
}

impl TokenAge {
    /// Judges an age by this limit, or by the default.
    pub fn of(age: Option<Duration>, limit: Option<Duration>) -> Self {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        match age {
            None => Self::Unknown,
            Some(age) if age > limit * 2 => Self::Far,
            Some(age) if age > limit => Self::Over,
            Some(age) if age >= limit.saturating_sub(due_within(limit)) => Self::Due,
            Some(_) => Self::Fresh,
        }
    }

    /// A sign with the same meaning as the colour.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Due => "!",
            Self::Over | Self::Far => "!!",
            Self::Fresh | Self::Unknown => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{known::LastRotated, testing::id};

    fn rotated(ago: Option<i64>) -> (KnownGroup, Timestamp) {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 1_000);
        let at = |days| now - SignedDuration::from_hours(24 * days);
        let last = |days| LastRotated {
            at: at(days),
            by: None,
        };
        let mut group = KnownGroup::new(id("acme"));
        group.last_rotated = ago.map(last);
        (group, now)
    }

    #[test]
    fn a_time_in_the_future_tells_no_age() {
        let (group, now) = rotated(Some(-1));
        assert_eq!(age(&group, now), None);
        // Two clocks are never the same.
        let soon = now + SignedDuration::from_secs(60);
        assert_eq!(of(soon, now), Some(Duration::ZERO));
        assert_eq!(in_words(soon, now), "0s");
        let ahead = now + SignedDuration::from_hours(72);
        assert_eq!(in_words(ahead, now), "in the future", "not 0s");
        assert_eq!(passed(ahead, now), "in the future");
    }

    /// What else is refused: in `intake::duration`.
    #[test]
    fn ages_are_read_within_limits() {
        for (text, age) in [
            ("90d", Ok(Duration::from_secs(90 * DAY))),
            ("36h", Ok(Duration::from_hours(36))),
            ("2w", Ok(Duration::from_secs(14 * DAY))),
            ("0d", Err(InvalidAge::Zero)),
            ("3651d", Err(InvalidAge::TooLong)),
            ("99999999999999999999d", Err(InvalidAge::TooLong)),
        ] {
            assert_eq!(parse(text), age, "{text}");
        }
        assert!(matches!(parse("3m"), Err(InvalidAge::Unreadable(_))));
    }

    #[test]
    fn only_a_known_age_is_old() {
        let limit = Duration::from_secs(90 * DAY);
        for (ago, is_old) in [
            (Some(91), true),
            (Some(90), false),
            // A clock that was ahead tells no age.
            (Some(-3), false),
            (None, false),
        ] {
            let (group, now) = rotated(ago);
            assert_eq!(is_older(&group, limit, now), is_old, "{ago:?}");
        }
    }

    #[test]
    fn a_token_is_due_in_the_last_sixth_of_its_limit_and_far_over_twice_of_it() {
        let of = |age: u64, limit: Option<u64>| {
            let days = |days| Duration::from_secs(days * DAY);
            TokenAge::of(Some(days(age)), limit.map(days))
        };
        for (limit, ages) in [
            (None, [74, 75, 90, 91, 180, 181]),
            (Some(30), [22, 23, 30, 31, 60, 61]),
            (Some(10), [4, 5, 10, 11, 20, 21]),
        ] {
            let found = ages.map(|age| of(age, limit));
            let [due, over, far] = [TokenAge::Due, TokenAge::Over, TokenAge::Far];
            assert_eq!(found, [TokenAge::Fresh, due, due, over, over, far]);
        }
        assert_eq!(TokenAge::of(None, None), TokenAge::Unknown);
    }
}
