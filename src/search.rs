//! Finds, ranks and orders the groups that a filter asks for. Pure and interruptible, so that it can run beside the
//! loop; a narrower filter looks only at what the wider one found.

mod arena;
mod ascii;
mod index;
pub mod normalize;
mod order;
mod packed_group;
mod query;
#[cfg(test)]
mod self_match_tests;
mod sorted;
mod substring;
pub mod suggest;
#[cfg(test)]
mod tests;
mod users;
mod words;

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use jiff::Timestamp;

pub use arena::Entry;
pub use index::{Builder, Index};
pub use query::{Condition, FilterError, FilterErrorKind, Query, Word};
use words::{Fit, Words};

use super::{
    domain::{age, group::UserGroupId, rotation::State},
    search::normalize::{is_same, lower},
};

/// A column to order by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    #[default]
    Name,
    Id,
    Tag,
    Mapping,
    Properties,
    Token,
    Rotated,
    Seen,
}

impl SortBy {
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Id,
        Self::Tag,
        Self::Mapping,
        Self::Properties,
        Self::Token,
        Self::Rotated,
        Self::Seen,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Id => "id",
            Self::Tag => "tag",
            Self::Mapping => "map",
            Self::Properties => "props",
            Self::Token => "token",
            Self::Rotated => "rotated",
            Self::Seen => "seen",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }

    /// The column after it; `None` after the last.
    pub fn next(self) -> Option<Self> {
        let at = Self::ALL.iter().position(|known| *known == self)?;
        Self::ALL.get(at + 1).copied()
    }
}

/// How a person left a list: what is kept of it across starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListView {
    pub filter: String,
    pub sort: SortBy,
    pub reverse: bool,
    /// The best match first, as long as the filter has words.
    pub best_first: bool,
}

impl Default for ListView {
    fn default() -> Self {
        Self {
            filter: String::new(),
            sort: SortBy::default(),
            reverse: false,
            best_first: true,
        }
    }
}

/// What to look for, and in which order to give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    pub query: Query,
    pub sort: SortBy,
    pub reverse: bool,
    /// The best match first; the column decides between equals.
    pub best_first: bool,
    /// The open rotations.
    pub open: Arc<BTreeMap<UserGroupId, State>>,
    /// The time from which ages are counted; the epoch where the query asks for none.
    pub at: Timestamp,
}

impl SearchRequest {
    fn has_order_of(&self, other: &Self) -> bool {
        (self.sort, self.reverse) == (other.sort, other.reverse)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    number: u32,
    fit: Fit,
}

/// What was found, by the numbers of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResults {
    pub index: Index,
    pub look: SearchRequest,
    /// In the order to show.
    pub shown: Arc<[u32]>,
    /// How many of them hold a word only letter by letter.
    pub loose: usize,
    /// All groups in the order of the column.
    order: Arc<[u32]>,
    /// In the order of the column; `None` where all are let through.
    hits: Option<Vec<Hit>>,
}

impl SearchResults {
    /// Whether every word is in a group that was found as it stands.
    pub fn is_exact(&self, number: u32) -> bool {
        let Some(hits) = &self.hits else {
            return true;
        };
        hits.iter().any(|hit| hit.number == number && hit.fit.exact)
    }
}

/// Groups between two questions whether the answer is still wanted.
const BREATH: usize = 512;

/// Finds what is looked for; `before` is an earlier answer that may spare work. `None` when nobody wants it any more.
pub fn run_search(
    index: &Index,
    look: SearchRequest,
    before: Option<&SearchResults>,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Option<SearchResults> {
    let order = order::all(index, look.sort, look.reverse, before);
    if !is_wanted() {
        return None;
    }
    if look.query.is_empty() {
        return Some(SearchResults {
            index: index.clone(),
            look,
            shown: order.clone(),
            loose: 0,
            order,
            hits: None,
        });
    }
    let wider = before
        .filter(|before| {
            let (new, old) = (&look, &before.look);
            before.index == *index
                && new.has_order_of(old)
                && new.query.is_within(&old.query)
                && new.at == old.at
                && new.open == old.open
        })
        .and_then(|before| before.hits.as_ref());
    let take = |words: &mut Words, number| {
        let entry = index.entry(number)?;
        let mut tests = look.query.tests.iter();
        let holds = tests.all(|test| holds(test, entry, &look));
        let fit = holds.then(|| words.fit(entry)).flatten()?;
        Some(Hit { number, fit })
    };
    let number = |at: usize| wider.map_or_else(|| order[at], |hits| hits[at].number);
    let some = |range: Range<usize>| {
        let mut words = Words::of(&look.query);
        let mut hits = Vec::new();
        for start in range.clone().step_by(BREATH) {
            is_wanted().then_some(())?;
            let end = range.end.min(start + BREATH);
            hits.extend((start..end).filter_map(|at| take(&mut words, number(at))));
        }
        Some(hits)
    };
    let hits = some(0..wider.map_or(order.len(), Vec::len))?;
    let loose = hits.iter().filter(|hit| !hit.fit.exact).count();
    let shown = if look.best_first {
        ranked(&hits).into()
    } else {
        hits.iter().map(|hit| hit.number).collect()
    };
    Some(SearchResults {
        index: index.clone(),
        look,
        shown,
        loose,
        order,
        hits: Some(hits),
    })
}

/// Scores up to here are counted, not compared.
const COUNTED: u32 = 1 << 15;

/// The best first; equals as they stand.
fn ranked(hits: &[Hit]) -> Vec<u32> {
    let best = hits.iter().map(|hit| hit.fit.score).max().unwrap_or(0);
    if best >= COUNTED {
        let mut ranked: Vec<&Hit> = hits.iter().collect();
        ranked.sort_by_key(|hit| std::cmp::Reverse(hit.fit));
        return ranked.into_iter().map(|hit| hit.number).collect();
    }
    let rank = |fit: Fit| {
        let behind = if fit.exact { 0 } else { best + 1 };
        (behind + best - fit.score) as usize
    };
    let mut starts = vec![0; 2 * (best as usize + 1)];
    for hit in hits {
        starts[rank(hit.fit)] += 1;
    }
    let mut next = 0;
    for start in &mut starts {
        next += std::mem::replace(start, next);
    }
    let mut ranked = vec![0; hits.len()];
    for hit in hits {
        let at = &mut starts[rank(hit.fit)];
        ranked[*at] = hit.number;
        *at += 1;
    }
    ranked
}

/// Marks what a query finds in names and ids.
pub struct Marker(Words);

impl Marker {
    pub fn of(query: &Query) -> Self {
        Self(Words::of(query))
    }

    /// The graphemes to mark in the name and in the id.
    pub fn marks(&mut self, entry: Entry<'_>) -> [Vec<usize>; 2] {
        self.0.marks(entry)
    }
}

fn holds(test: &Condition, entry: Entry<'_>, look: &SearchRequest) -> bool {
    let age = || {
        let last = entry.rotated().or(entry.created())?;
        Some(age::since(last, look.at))
    };
    match test {
        Condition::Tag(start) => entry.tag().is_some_and(|tag| starts_with(tag, start)),
        Condition::TagUnknown => entry.tag().is_none(),
        Condition::Age(filter) => filter.admits(age()),
        Condition::Old(limit) => age::exceeds(age(), *limit),
        Condition::Map(id) => {
            entry.has_row(|schema, source| is_same(schema, id) || is_same(source, id))
        }
        Condition::MapRow(schema, source) => {
            entry.has_row(|one, other| is_same(one, schema) && is_same(other, source))
        }
        Condition::Property(key, value) => entry.has_property(|known, text| {
            is_same(known, key) && value.as_ref().is_none_or(|value| is_same(text, value))
        }),
        Condition::Rotation(state) => look
            .open
            .get(entry.id())
            .is_some_and(|open| state.is_none_or(|state| state == *open)),
    }
}

/// Whether a text begins like one in lower case.
fn starts_with(text: &str, start: &str) -> bool {
    let mut letters = text.chars().map(lower);
    start.chars().all(|c| letters.next() == Some(c))
}
