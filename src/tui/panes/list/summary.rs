//! Statistics over all groups: the ages of their tokens, and whether their tags differ. Recomputed only when the groups
//! or the date have changed.

use std::time::Duration;

use jiff::Timestamp;
use ratatui::style::Style;

use crate::{
    domain::age::{TokenAge, since},
    search::{Entry, Index, Row, in_ranges},
    tui::{
        keymap::{Action, Focus},
        state::{context::Context, groups::Loading},
    },
};

#[derive(Debug, Default)]
pub(super) struct Summary {
    of: Option<(Index, i64, Option<Duration>, Option<String>)>,
    fresh: usize,
    due: usize,
    over: usize,
    unknown: usize,
    pub(super) has_tags: bool,
}

const DAY: i64 = 24 * 60 * 60;

/// The age of a token and its rating in this profile.
pub(super) fn age(entry: Entry<'_>, context: &Context) -> (Option<Duration>, TokenAge) {
    let limit = context.profile().and_then(|profile| profile.max_token_age);
    age_at(entry, context.now, limit)
}

fn age_at(
    entry: Entry<'_>,
    now: Timestamp,
    limit: Option<Duration>,
) -> (Option<Duration>, TokenAge) {
    let (rotated, created, _) = entry.times();
    let age = rotated.or(created);
    let age = age.map(|at| since(at, now));
    (age, TokenAge::of(age, limit))
}

/// When all groups were read, or how many have been read so far.
pub(super) fn how_far(context: &Context, is_waiting: bool) -> String {
    match (context.groups.loading(), context.groups.read_at) {
        (Some(Loading { read, rows }), _) if is_waiting => {
            format!("reading {read} of {}", rows.total)
        }
        // Reading failed; only the first groups are loaded.
        (Some(Loading { rows, .. }), _) => {
            let key = context.keys.key(Focus::List, Action::Refresh);
            let read = context.groups.index().len();
            format!("{read} of {} read: {key}", rows.total)
        }
        (None, None) => "reading".into(),
        (None, Some(at)) => format!("read {}", context.clock(at)),
    }
}

impl Summary {
    pub(super) fn follow(&mut self, context: &Context) {
        if context.groups.loading().is_some() {
            *self = Self::default();
            return;
        }
        let profile = context.profile();
        let limit = profile.and_then(|profile| profile.max_token_age);
        let expected = profile.and_then(|profile| profile.environment.as_ref());
        let expected = expected.map(ToString::to_string);
        let of = Some((
            context.groups.index().clone(),
            context.now.as_second() / DAY,
            limit,
            expected.clone(),
        ));
        if self.of == of {
            return;
        }
        let index = context.groups.index();
        let mut tags = index.entries().filter_map(Row::tag);
        let tag = expected.as_deref().or_else(|| tags.next());
        let (now, count) = (context.now, index.len());
        let parts = in_ranges(count, &|range| {
            let mut part = Self::default();
            let entries = range.filter_map(|number| index.entry(number as u32));
            entries.for_each(|entry| part.add(entry, tag, now, limit));
            part
        });
        *self = Self {
            of,
            ..Self::default()
        };
        for part in parts {
            self.fresh += part.fresh;
            self.due += part.due;
            self.over += part.over;
            self.unknown += part.unknown;
            self.has_tags |= part.has_tags;
        }
    }

    /// `usual` is the tag that the others are compared with.
    fn add(
        &mut self,
        entry: Entry<'_>,
        usual: Option<&str>,
        now: Timestamp,
        limit: Option<Duration>,
    ) {
        *match age_at(entry, now, limit).1 {
            TokenAge::Fresh => &mut self.fresh,
            TokenAge::Due => &mut self.due,
            TokenAge::Over | TokenAge::Far => &mut self.over,
            TokenAge::Unknown => &mut self.unknown,
        } += 1;
        self.has_tags |= entry.tag().is_some_and(|tag| Some(tag) != usual);
    }

    /// `96 ok`, `9 due`, `7 over`, `2 unknown`; without those that are zero.
    pub(super) fn parts(&self, context: &Context) -> Vec<(String, Style)> {
        let theme = context.theme;
        let parts = [
            (self.fresh, "ok", theme.ok()),
            (self.due, "due soon", theme.age(TokenAge::Due)),
            (self.over, "overdue", theme.age(TokenAge::Over)),
            (self.unknown, "unknown", theme.unknown()),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts = parts.map(|(count, word, style)| (format!("{count} {word}"), style));
        parts.collect()
    }
}
