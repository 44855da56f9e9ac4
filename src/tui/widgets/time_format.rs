//! Formats times as text that stays correct on an idle screen.

use std::time::Duration;

use jiff::Timestamp;

use crate::{domain::age, tui::state::context::Context};

impl Context {
    /// A time for text that stays on the screen while nobody does anything: `at 14:05 CET`, and `3d ago` for
    /// another day.
    ///
    /// An age would not be updated on an idle screen, and so become wrong.
    pub fn moment(&self, at: Timestamp) -> String {
        let is_today = self.now.duration_since(at).as_hours() < 24;
        if is_today {
            let at = at.to_zoned(self.zone.clone());
            at.strftime("at %H:%M %Z").to_string()
        } else {
            format!("{} ago", self.age(at))
        }
    }

    /// Like [`Context::moment`], for use after a word such as "since": `14:05 CET`, `3d ago`.
    pub fn when(&self, at: Timestamp) -> String {
        self.moment(at).trim_start_matches("at ").to_owned()
    }

    /// Like [`Context::moment`], in few cells: `14:05`, and `3d` for another day.
    pub fn clock(&self, at: Timestamp) -> String {
        if self.now.duration_since(at).as_hours() < 24 {
            let at = at.to_zoned(self.zone.clone());
            at.strftime("%H:%M").to_string()
        } else {
            self.age(at)
        }
    }

    /// The age as text: `12s`, `3m`, `5h`, `388d`.
    pub fn age(&self, at: Timestamp) -> String {
        age::in_words(at, self.now)
    }
}

/// An age in days, which does not change while somebody looks at it.
pub fn days(age: Duration) -> String {
    match age.as_secs() / 86_400 {
        0 => "<1d".into(),
        days => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::tui::{state::message::ProfileIndex, theme::Theme};

    #[test]
    fn the_time_of_a_reading_does_not_grow_old_on_the_screen() {
        let read: Timestamp = "2026-11-20T14:05:59Z".parse().expect("a time");
        let at = |now: &str| {
            let now = now.parse().expect("a time");
            let context =
                Context::new(vec![], ProfileIndex(0), "ana".into(), Theme::default(), now);
            context.moment(read)
        };
        assert_eq!(at("2026-11-20T14:06:00Z"), "at 14:05 UTC");
        assert_eq!(at("2026-11-21T14:05:00Z"), "at 14:05 UTC");
        assert_eq!(at("2026-11-23T14:06:00Z"), "3d ago");
        let now = "2026-11-20T14:06:00Z".parse().expect("a time");
        let mut context =
            Context::new(vec![], ProfileIndex(0), "ana".into(), Theme::default(), now);
        context.zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a time zone");
        assert_eq!(context.moment(read), "at 15:05 CET");
    }
}
