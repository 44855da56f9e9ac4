//! Tests whether a group matches a query.

use jiff::SignedDuration;

use super::{
    Entry, SearchRequest,
    normalize::{is_same, lower},
    query::{Condition, Number, Query},
    words::{MatchScore, Words},
};
use crate::domain::age;

/// A query that is prepared for checking many groups.
pub(super) struct QueryMatcher<'q> {
    words: Words,
    tests: &'q [Condition],
    without: Vec<Self>,
}

impl<'q> QueryMatcher<'q> {
    pub(super) fn of(query: &'q Query) -> Self {
        Self {
            words: Words::of(query),
            tests: &query.tests,
            without: query.without.iter().map(Self::of).collect(),
        }
    }

    /// Returns `None` if the group does not match.
    pub(super) fn fit(&mut self, entry: Entry<'_>, request: &SearchRequest) -> Option<MatchScore> {
        let holds = self.tests.iter().all(|test| holds(test, entry, request));
        let fit = holds.then(|| self.words.fit(entry)).flatten()?;
        let mut without = self.without.iter_mut();
        let is_out = without.any(|matcher| matcher.fit(entry, request).is_some());
        (!is_out).then_some(fit)
    }
}

fn holds(test: &Condition, entry: Entry<'_>, request: &SearchRequest) -> bool {
    let age = || {
        let (rotated, created, _) = entry.times();
        let last = rotated.or(created)?;
        age::of(last, request.at)
    };
    let annotation = || request.extras.annotations.get(entry.id());
    match test {
        Condition::Tag(start) => entry.tag().is_some_and(|tag| starts_with(tag, start)),
        Condition::TagUnknown => entry.tag().is_none(),
        Condition::Age(side, than) => age().is_some_and(|age| side.admits(age.cmp(than))),
        Condition::Map(id) => {
            let mut rows = entry.mapping();
            rows.any(|(schema, source)| is_same(schema, id) || is_same(source, id))
        }
        Condition::MapRow(schema, source) => {
            let mut rows = entry.mapping();
            rows.any(|(one, other)| is_same(one, schema) && is_same(other, source))
        }
        Condition::Property(key, value) => entry.properties().any(|(known, text)| {
            is_same(known, key) && value.as_ref().is_none_or(|value| is_same(text, value))
        }),
        Condition::PropertyNumber(key, side, than) => entry.properties().any(|(known, text)| {
            let is_one = |number: Number| side.admits(number.cmp(than));
            is_same(known, key) && Number::parse(text).is_some_and(is_one)
        }),
        Condition::Rows(side, than) => entry
            .mapped()
            .is_some_and(|rows| side.admits(rows.cmp(than))),
        Condition::Keys(side, than) => entry.keys().is_some_and(|keys| side.admits(keys.cmp(than))),
        Condition::Due {
            side,
            within,
            limit,
        } => age().is_some_and(|age| {
            let signed = |span| SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX);
            let left = signed(*limit).saturating_sub(signed(age));
            side.admits(left.cmp(&signed(*within)))
        }),
        Condition::Read(side, span) => entry
            .seen()
            .and_then(|at| age::of(at, request.at))
            .is_some_and(|age| side.admits(age.cmp(span))),
        Condition::Rotation(state) => request
            .open
            .get(entry.id())
            .is_some_and(|open| state.is_none_or(|state| state == *open)),
        Condition::Label(label) => annotation().is_some_and(|annotation| {
            let mut labels = annotation.labels.iter();
            labels.any(|known| label.as_deref().is_none_or(|label| known.as_str() == label))
        }),
        Condition::Favourite => annotation().is_some_and(|annotation| annotation.is_favourite),
        Condition::Note(word) => annotation()
            .and_then(|annotation| annotation.note.as_deref())
            .is_some_and(|note| word.as_ref().is_none_or(|word| word.is_in(note))),
        Condition::Changed => request.extras.changed.contains(entry.id()),
        Condition::New => request.extras.new.contains(entry.id()),
        Condition::Draft => request.extras.drafts.contains(entry.id()),
        Condition::By(start) => entry.operators().any(|by| starts_with(by, start)),
    }
}

/// Whether a text begins with `start`, which is in lower case; the case of the text is ignored.
fn starts_with(text: &str, start: &str) -> bool {
    let mut letters = text.chars().map(lower);
    start.chars().all(|c| letters.next() == Some(c))
}
