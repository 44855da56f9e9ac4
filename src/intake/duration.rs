//! A whole number and its unit. Ages and times past have `h`, `d` or `w`: one grammar for options, filters and settings.
//! Minutes are no age: `3m` could be meant as months, and would then select every token. How long to wait has `ms`, `s` or `m`.

use std::time::Duration;

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Units of an age, in seconds.
pub const AGES: [(&str, u64); 3] = [("h", HOUR), ("d", DAY), ("w", 7 * DAY)];

/// Words that people write for a unit, and its length in days or hours.
const MEANT: [(&[&str], u64, &str); 6] = [
    (&["hour", "hours", "hr", "hrs"], 1, "h"),
    (&["day", "days"], 1, "d"),
    (&["week", "weeks", "wk"], 1, "w"),
    (&["mo", "month", "months", "M"], 30, "d"),
    (&["y", "yr", "year", "years", "Y"], 365, "d"),
    (&["q", "quarter", "quarters"], 91, "d"),
];

/// Why a text is not an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAge {
    #[error("is not an age; write a whole number and its unit: 90d, 12w or 36h")]
    Unreadable,
    /// Minutes, or months.
    #[error("could be minutes or months; write 1h or more in h, d or w: {0} {are} {1}d", are = if *.0 == 1 { "month is" } else { "months are" })]
    Minutes(u64, u64),
    #[error("has no unit; write {0}d, {0}w or {0}h")]
    NoUnit(u64),
    #[error("is not an age; write {0}{1}")]
    Meant(u64, &'static str),
}

/// Splits a whole number from its unit.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return None;
    }
    // All digits, so parsing fails only if it is too large.
    Some((number.parse().unwrap_or(u64::MAX), unit))
}

/// Reads a whole number with one of these units; `None` if it is not one. Too large a number is the longest time.
fn with_units(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let (_, each) = units.iter().find(|(name, _)| *name == unit)?;
    Some(number.saturating_mul(*each))
}

/// Reads an age. Zero is an age. The unit may be a capital: `90D`.
pub fn age(text: &str) -> Result<Duration, InvalidAge> {
    if let Some(seconds) = with_units(&text.to_ascii_lowercase(), &AGES) {
        return Ok(Duration::from_secs(seconds));
    }
    let (number, unit) = number_and_unit(text).ok_or(InvalidAge::Unreadable)?;
    let unit = unit.trim();
    if matches!(unit, "m" | "min" | "mins" | "minute" | "minutes") {
        return Err(InvalidAge::Minutes(number, number.saturating_mul(30)));
    }
    if unit.is_empty() {
        return Err(InvalidAge::NoUnit(number));
    }
    let is_written = AGES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let is_written = is_written.map(|(name, _)| (1, *name));
    let meant = MEANT.iter().find(|(words, ..)| words.contains(&unit));
    let meant = is_written.or(meant.map(|(_, each, unit)| (*each, *unit)));
    Err(meant.map_or(InvalidAge::Unreadable, |(each, unit)| {
        InvalidAge::Meant(number.saturating_mul(each), unit)
    }))
}

/// Nobody waits longer than this for one answer.
pub const LONGEST_WAIT: Duration = Duration::from_mins(10);

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

/// Reads a whole number with `ms`, `s` or `m`; more than zero and at most [`LONGEST_WAIT`].
pub fn wait(text: &str) -> Result<Duration, InvalidDuration> {
    let milliseconds = with_units(text, &[("ms", 1), ("s", 1_000), ("m", 60_000)]);
    let duration = Duration::from_millis(milliseconds.ok_or(InvalidDuration::Unreadable)?);
    if duration.is_zero() {
        Err(InvalidDuration::Zero)
    } else if duration > LONGEST_WAIT {
        Err(InvalidDuration::TooLong)
    } else {
        Ok(duration)
    }
}
