//! A moment as a person writes it, a day, a time, or how long ago; and as a person reads it.

use std::{str::FromStr, time::Duration};

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{
    age::{self, InvalidAge},
    text::visible,
};
use crate::intake::duration;

/// A moment, or how long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    At(Timestamp),
    Ago(Duration),
}

impl Time {
    /// As a moment; what is too long ago is the beginning.
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
        }
    }
}

/// `2026-11-30 14:02:11 UTC`, where the order of events may matter.
pub fn second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2026-11-30 14:02 UTC`.
pub fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// How long ago, in a sentence: `just now`, `3m ago`. A time in the future is that of a clock that was wrong.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    match age::of(then, now).map(|age| age.as_secs()) {
        None => format!("{}: {}", age::AHEAD, second(then)),
        Some(0) => "just now".into(),
        Some(_) => format!("{} ago", age::in_words(then, now)),
    }
}

/// Reads a day (in UTC), a time or an age.
impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::At(at));
        }
        // A time without a time zone is not accepted as a day.
        if text.len() == "2026-11-30".len()
            && let Ok(day) = text.parse::<Date>()
        {
            let midnight = day.to_zoned(TimeZone::UTC);
            return midnight
                .map(|midnight| Self::At(midnight.timestamp()))
                .map_err(|_| "there is no such day".to_owned());
        }
        age::parse(text).map(Self::Ago).map_err(|why| match why {
            InvalidAge::Unreadable(duration::InvalidAge::Unreadable) => {
                "write a day (2026-11-30, in UTC), a time (2026-11-30T08:00:00Z), or an age (7d, 12h, 2w)"
                    .to_owned()
            }
            InvalidAge::Zero => format!(
                "\"{}\" is zero, so nothing could match; write for example 7d",
                visible(text)
            ),
            why => format!("\"{}\" {why}", visible(text)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_day_a_moment_or_an_age() {
        let at = |text: &str| Time::At(text.parse().expect("a time"));
        assert_eq!(Time::from_str("2026-11-30"), Ok(at("2026-11-30T00:00:00Z")));
        assert_eq!(
            Time::from_str("2026-11-30T08:00:00+01:00"),
            Ok(at("2026-11-30T07:00:00Z"))
        );
        assert_eq!(
            Time::from_str("7d"),
            Ok(Time::Ago(Duration::from_hours(7 * 24)))
        );
        for wrong in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-11-30T08:00",
            "7",
            "3m",
            "30min",
        ] {
            assert!(Time::from_str(wrong).is_err(), "{wrong}");
        }
    }
}
