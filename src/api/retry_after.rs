//! Parses the pause that a service asks for.

use std::time::Duration;

const LONGEST: Duration = Duration::from_hours(24);

/// Seconds or a date (RFC 9110, section 10.2.3); at most a day.
pub(super) fn retry_after(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    let text = text.trim();
    let wait = if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO)
    };
    Some(wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = "2026-11-01T10:00:00Z".parse().expect("a time");
        let read = |text| retry_after(text, now).map(|wait| wait.as_secs());
        assert_eq!(read("7"), Some(7));
        assert_eq!(read("99999999999999999999999"), Some(86_400));
        assert_eq!(read("Sun, 01 Nov 2026 10:02:00 GMT"), Some(120));
        assert_eq!(read("Sun, 01 Nov 2026 09:00:00 GMT"), Some(0));
        assert_eq!(read("soon"), None);
        assert_eq!(read(""), None);
    }
}
