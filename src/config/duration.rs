//! Durations as a person writes them: `1500ms`, `30s`, `2m`.

use std::time::Duration;

use crate::intake::duration::with_units;

/// Nobody waits longer than this for one answer.
pub const LONGEST: Duration = Duration::from_mins(10);

/// Why a text is not a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDuration {
    #[error("is not a duration; write a whole number and its unit: \"1500ms\", \"30s\" or \"2m\"")]
    Unreadable,
    #[error("is zero, so no response could arrive; write for example \"30s\"")]
    Zero,
    #[error("is too long; at most \"10m\" is allowed")]
    TooLong,
}

/// Reads a whole number with `ms`, `s` or `m`; more than zero and at most [`LONGEST`].
pub fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let milliseconds = with_units(text, &[("ms", 1), ("s", 1_000), ("m", 60_000)]);
    let duration = Duration::from_millis(milliseconds.ok_or(InvalidDuration::Unreadable)?);
    if duration.is_zero() {
        Err(InvalidDuration::Zero)
    } else if duration > LONGEST {
        Err(InvalidDuration::TooLong)
    } else {
        Ok(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rotation::{LONGEST_SETTLE_WINDOW, settle_window};

    #[test]
    fn no_settle_window_is_longer_than_the_longest() {
        assert_eq!(settle_window(LONGEST), LONGEST_SETTLE_WINDOW);
    }

    #[test]
    fn the_three_units_are_read() {
        assert_eq!(parse("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse("10m"), Ok(LONGEST));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["", "30", "s", "-1s", "1.5s", "30 s", "1h", "٣s", "30S"] {
            assert_eq!(parse(text), Err(InvalidDuration::Unreadable), "{text}");
        }
        assert_eq!(parse("0ms"), Err(InvalidDuration::Zero));
        assert_eq!(parse("601s"), Err(InvalidDuration::TooLong));
        assert_eq!(
            parse("99999999999999999999s"),
            Err(InvalidDuration::TooLong)
        );
    }
}
