//! Formats times as text that stays correct on an idle screen.

use std::time::Duration;

use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::{
    domain::{age, when},
    tui::state::Context,
};

impl Context {
    /// A time for text that stays on the screen while nobody does anything: `at 14:05 CET`, `at 22:39 CET on 25 Nov` for a
    /// few hours before midnight, and `3d ago` for an earlier time.
    ///
    /// An age would not be updated on an idle screen, and so become wrong.
    pub fn moment(&self, at: Timestamp) -> String {
        if self.is_recent(at) {
            let format = if self.is_today(at) {
                "at %H:%M %Z"
            } else {
                "at %H:%M %Z on %-d %b"
            };
            self.zoned(at).strftime(format).to_string()
        } else {
            self.ago(at)
        }
    }

    /// Like [`Context::moment`], for use after a word such as "since": `14:05 CET`, `3d ago`.
    pub fn when(&self, at: Timestamp) -> String {
        self.moment(at).trim_start_matches("at ").to_owned()
    }

    /// Like [`Context::moment`], in few cells: `14:05`, `25 Nov`, `3d`.
    pub fn clock(&self, at: Timestamp) -> String {
        if self.is_recent(at) {
            let format = if self.is_today(at) { "%H:%M" } else { "%-d %b" };
            self.zoned(at).strftime(format).to_string()
        } else {
            self.age(at)
        }
    }

    /// Whether it is less than a day ago; a time in the future is not.
    pub fn is_recent(&self, at: Timestamp) -> bool {
        age::of(at, self.now).is_some_and(|age| age < Duration::from_hours(24))
    }

    /// Whether it is of the calendar day of now, in the zone of the screen.
    fn is_today(&self, at: Timestamp) -> bool {
        self.zoned(at).date() == self.zoned(self.now).date()
    }

    /// For a column of a list of what was done: `14:05` today, `21 Nov 14:05` on another day of this year, otherwise
    /// `2025-11-21`. A time in the future, which is that of another clock, is not taken for one of today.
    pub fn stamp(&self, at: Timestamp) -> String {
        if age::of(at, self.now).is_none() {
            return age::AHEAD.into();
        }
        let (at, now) = (self.zoned(at), self.zoned(self.now));
        let format = if at.date() == now.date() {
            "%H:%M"
        } else if at.year() == now.year() {
            "%e %b %H:%M"
        } else {
            "%Y-%m-%d"
        };
        at.strftime(format).to_string().trim_start().to_owned()
    }

    /// Like [`Context::stamp`], to the second: `14:05:09` today, otherwise `21 Nov 14:05:09`.
    pub fn second(&self, at: Timestamp) -> String {
        let format = if self.is_today(at) {
            "%H:%M:%S"
        } else {
            "%-d %b %H:%M:%S"
        };
        self.zoned(at).strftime(format).to_string()
    }

    /// The whole time, for details: `2026-11-21 14:05:09 CET`.
    pub fn whole_time(&self, at: Timestamp) -> String {
        let at = self.zoned(at);
        at.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    fn zoned(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.zone.clone().unwrap_or(TimeZone::UTC))
    }

    /// The age in a sentence: `just now`, `12s ago`, `388d ago`.
    pub fn ago(&self, at: Timestamp) -> String {
        when::ago(at, self.now)
    }

    /// The age as text: `12s`, `3m`, `5h`, `388d`.
    pub fn age(&self, at: Timestamp) -> String {
        age::in_words(at, self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::{state::ProfileIndex, theme::Theme};

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
        assert_eq!(at("2026-11-21T14:05:00Z"), "at 14:05 UTC on 20 Nov");
        assert_eq!(at("2026-11-23T14:06:00Z"), "3d ago");
        let ahead = "in the future: 2026-11-20 14:05:59 UTC";
        assert_eq!(at("2026-11-20T13:06:00Z"), ahead, "a clock was wrong");
        let now = "2026-11-20T14:06:00Z".parse().expect("a time");
        let mut context =
            Context::new(vec![], ProfileIndex(0), "ana".into(), Theme::default(), now);
        context.zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").ok();
        assert_eq!(context.moment(read), "at 15:05 CET");
    }

    #[test]
    fn a_time_of_a_list_has_its_date_unless_it_is_today() {
        let now = "2026-11-20T23:30:00Z".parse().expect("a time");
        let mut context =
            Context::new(vec![], ProfileIndex(0), "ana".into(), Theme::default(), now);
        let stamp = |context: &Context, at: &str| context.stamp(at.parse().expect("a time"));
        assert_eq!(stamp(&context, "2026-11-20T00:05:59Z"), "00:05");
        assert_eq!(stamp(&context, "2026-11-19T23:45:00Z"), "19 Nov 23:45");
        assert_eq!(stamp(&context, "2026-02-03T04:05:00Z"), "3 Feb 04:05");
        assert_eq!(stamp(&context, "2025-12-31T04:05:00Z"), "2025-12-31");
        assert_eq!(stamp(&context, "2026-11-20T23:59:00Z"), "in the future");
        let second = |at: &str| context.second(at.parse().expect("a time"));
        assert_eq!(second("2026-11-20T00:05:59Z"), "00:05:59");
        assert_eq!(second("2026-11-09T00:05:59Z"), "9 Nov 00:05:59");
        let at = "2026-11-20T00:05:59Z".parse().expect("a time");
        assert_eq!(context.whole_time(at), "2026-11-20 00:05:59 UTC");
        context.zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").ok();
        assert_eq!(
            stamp(&context, "2026-11-20T22:30:00Z"),
            "20 Nov 23:30",
            "it is the 21st there"
        );
    }
}
