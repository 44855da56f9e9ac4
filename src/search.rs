//! Filters, ranks and sorts groups. Pure and interruptible, so that it can run in parallel to the event loop; a
//! narrower filter only looks at the results of the wider one.

mod conditions;
mod exclusions;
mod index;
mod natural;
pub mod normalize;
mod query;
mod row;
mod sorted;
mod substring;
pub mod suggest;
#[cfg(test)]
mod tests;
mod views;
mod words;

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    ops::Range,
    panic::resume_unwind,
    sync::{Arc, LazyLock},
    thread,
};

use jiff::Timestamp;

use conditions::QueryMatcher;
pub use exclusions::{ExclusionRemarks, Exclusions};
pub use index::{Builder, Index};
pub use natural::{FirstInOrder, natural, title_key};
pub use query::{
    Query, RowCondition, RowFacts, RowQuery, RowRules, RowTest, Views, Word, filter_tests, quoted,
    row_condition,
};
use row::RowMaker;
pub use row::{Entry, Row};
use sorted::{compare, sorted};
pub use views::{FINGERPRINT, ListColumn, ListView, SavedView, SortBy, column_words};
use words::MatchScore;
pub use words::Words as Marker;

use super::domain::{
    annotation::Annotation, group::UserGroupId, known::KnownGroup, rotation::State,
};

/// What to search for, and how to order the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    pub query: Query,
    pub sort: SortBy,
    pub reverse: bool,
    /// Order by best match, and equal matches by the column.
    pub best_first: bool,
    /// The open rotations.
    pub open: Arc<BTreeMap<UserGroupId, State>>,
    /// Notes, labels, drafts and flags; empty if the query does not use them.
    pub extras: GroupExtras,
    /// The time that ages are relative to; the epoch if the query does not use ages.
    pub at: Timestamp,
}

/// Annotations, drafts and flags of groups, by id; only few groups have them. Shared, so that a search can use a snapshot
/// while it changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupExtras {
    /// Notes, labels and favourites.
    pub annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
    /// Groups with an unsent draft.
    pub drafts: Arc<BTreeSet<UserGroupId>>,
    /// Groups that another console changed.
    pub changed: Arc<BTreeSet<UserGroupId>>,
    /// Groups that another console added.
    pub new: Arc<BTreeSet<UserGroupId>>,
}

impl SearchRequest {
    fn has_same_order_as(&self, other: &Self) -> bool {
        (&self.sort, self.reverse) == (&other.sort, other.reverse)
    }
}

/// Returns a function that tells whether the request matches a group.
pub fn matcher(request: &SearchRequest) -> impl FnMut(Entry<'_>) -> bool {
    let mut matcher = QueryMatcher::of(&request.query);
    move |entry| matcher.fit(entry, request).is_some()
}

/// Like [`matcher`], for groups that are in no index.
pub fn group_matcher(request: &SearchRequest) -> impl FnMut(&KnownGroup) -> bool {
    let (mut matcher, mut maker) = (matcher(request), RowMaker::default());
    move |group| matcher(&maker.row(group))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    number: u32,
    fit: MatchScore,
}

/// The results of a search, as row numbers of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResults {
    pub index: Index,
    pub request: SearchRequest,
    /// In display order.
    pub shown: Arc<[u32]>,
    /// How many results contain a word only as scattered letters.
    pub loose: usize,
    /// What is to be said of exclusions that exclude nothing.
    pub exclusions: ExclusionRemarks,
    /// All groups in the order of the column.
    order: Arc<[u32]>,
    /// The matches in the order of the column; `None` if everything matches.
    hits: Option<Vec<Hit>>,
}

impl SearchResults {
    /// Keeps rows of an earlier result of the same request that no longer match, each at its old position, so that no
    /// row moves while the person works. Returns `None` if there are no such rows.
    pub fn keeping_rows_of(&self, old: &Self) -> Option<Self> {
        let (new, before) = (&self.request, &old.request);
        let is_same = new.query == before.query
            && new.has_same_order_as(before)
            && new.best_first == before.best_first;
        if !is_same || !self.index.has_same_numbers_as(&old.index) {
            return None;
        }
        let mut is_found = vec![false; self.index.len()];
        for number in &*self.shown {
            is_found[*number as usize] = true;
        }
        let gone = old.shown.iter().enumerate();
        let mut gone = gone
            .filter(|(_, number)| is_found.get(**number as usize) == Some(&false))
            .peekable();
        gone.peek()?;
        let mut shown = Vec::with_capacity(self.shown.len().max(old.shown.len()));
        let mut rest = self.shown.iter().copied();
        for (row, number) in gone {
            shown.extend(rest.by_ref().take(row - shown.len()));
            shown.push(*number);
        }
        shown.extend(rest);
        Some(Self {
            shown: shown.into(),
            ..self.clone()
        })
    }

    /// The row of the group whose ID, or else whose name, is what was typed.
    pub fn named_row(&self) -> Option<usize> {
        let words = &self.request.query.words;
        let words: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
        let typed = words.join(" ");
        if typed.is_empty() {
            return None;
        }
        let is_it = |text: &str| {
            if text.is_ascii() {
                text.eq_ignore_ascii_case(&typed)
            } else {
                normalize::letters(text) == typed
            }
        };
        let row_of = |is_it: &dyn Fn(Entry<'_>) -> bool| {
            let mut shown = self.shown.iter();
            shown.position(|number| self.index.entry(*number).is_some_and(is_it))
        };
        let by_id = || row_of(&|entry| is_it(entry.id()));
        let by_name = || row_of(&|entry| entry.name().is_some_and(is_it));
        by_id().or_else(by_name)
    }

    /// Whether every word occurs in the group exactly as typed. The group must be among the results.
    pub fn is_exact(&self, number: u32) -> bool {
        let Some(hits) = &self.hits else {
            return true;
        };
        hits.iter().any(|hit| hit.number == number && hit.fit.exact)
    }
}

/// How many groups are checked between two checks for cancellation.
const GROUPS_PER_CANCEL_CHECK: usize = 512;

/// Runs a search. `before` is an earlier result that may save work. Returns `None` if the search was cancelled.
pub fn run_search(
    index: &Index,
    request: SearchRequest,
    before: Option<&SearchResults>,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Option<SearchResults> {
    let order = all_sorted(index, &request.sort, request.reverse, before);
    if !is_wanted() {
        return None;
    }
    let all = SearchResults {
        index: index.clone(),
        request,
        shown: order.clone(),
        loose: 0,
        exclusions: ExclusionRemarks::default(),
        order,
        hits: None,
    };
    let (request, order) = (&all.request, &all.order);
    if request.query.is_empty() {
        return Some(all);
    }
    let wider = before
        .filter(|before| {
            let (new, old) = (request, &before.request);
            before.index == *index
                && new.has_same_order_as(old)
                && new.query.is_within(&old.query)
                && new.at == old.at
                && new.open == old.open
                && new.extras == old.extras
        })
        .and_then(|before| before.hits.as_ref());
    let count = wider.map_or(order.len(), Vec::len);
    let number = |at: usize| wider.map_or_else(|| order[at], |hits| hits[at].number);
    // Groups lie in memory by number. In the order of a column, nearly every one would be a cache miss.
    let mut is_asked = vec![wider.is_none(); index.len()];
    for hit in wider.into_iter().flatten() {
        is_asked[hit.number as usize] = true;
    }
    let parts = in_ranges(index.len(), &|range| {
        let mut matcher = QueryMatcher::of(&request.query);
        let mut exclusions = Exclusions::of(request);
        let mut fits = Vec::with_capacity(range.len());
        for number in range {
            if number.is_multiple_of(GROUPS_PER_CANCEL_CHECK) && !is_wanted() {
                return None;
            }
            let entry = index.entry(number as u32);
            if let Some(entry) = entry {
                exclusions.see_row(entry);
            }
            let entry = entry.filter(|_| is_asked[number]);
            fits.push(entry.and_then(|entry| matcher.fit(entry, request)));
        }
        Some((fits, exclusions))
    });
    let (mut fits, mut exclusions) = (Vec::with_capacity(index.len()), None::<Exclusions<'_>>);
    for part in parts {
        let (of_part, seen) = part?;
        fits.extend(of_part);
        match &mut exclusions {
            Some(exclusions) => exclusions.join(seen),
            None => exclusions = Some(seen),
        }
    }
    let exclusions = exclusions.map(Exclusions::remarks).unwrap_or_default();
    let hits = (0..count).map(number).filter_map(|number| {
        let fit = fits[number as usize]?;
        Some(Hit { number, fit })
    });
    let hits: Vec<Hit> = hits.collect();
    let loose = hits.iter().filter(|hit| !hit.fit.exact).count();
    let shown = if request.best_first {
        ranked(&hits).into()
    } else {
        hits.iter().map(|hit| hit.number).collect()
    };
    Some(SearchResults {
        shown,
        loose,
        exclusions,
        hits: Some(hits),
        ..all
    })
}

/// All numbers of an index, sorted. An order that `before` has is only updated where groups changed since.
fn all_sorted(
    index: &Index,
    sort: &SortBy,
    reverse: bool,
    before: Option<&SearchResults>,
) -> Arc<[u32]> {
    let mut changed = index.changed();
    let before = before.filter(|before| {
        before.index.has_same_numbers_as(index)
            && (&before.request.sort, before.request.reverse) == (sort, reverse)
    });
    let (order, mut stale) = match before {
        Some(before) if before.index == *index => return before.order.clone(),
        Some(before) => (before.order.clone(), before.index.changed()),
        None if (sort, reverse) == (&SortBy::Name, false) => {
            (index.base.by_name.clone(), Vec::new())
        }
        None => (sorted(&index.base.rows, sort, reverse).into(), Vec::new()),
    };
    stale.extend(&changed);
    if stale.is_empty() {
        return order;
    }
    stale.sort_unstable();
    let is_fresh = |number: &&u32| stale.binary_search(number).is_err();
    let order: Vec<u32> = order.iter().filter(is_fresh).copied().collect();
    let compare = |a: u32, b: u32| match (index.entry(a), index.entry(b)) {
        (Some(a), Some(b)) => compare(a, b, sort, reverse),
        _ => a.cmp(&b),
    };
    changed.sort_unstable_by(|a, b| compare(*a, *b));
    let mut mended = Vec::with_capacity(order.len() + changed.len());
    let mut rest = order.as_slice();
    for number in changed {
        let at = rest.partition_point(|other| compare(*other, number) == Ordering::Less);
        mended.extend_from_slice(&rest[..at]);
        mended.push(number);
        rest = &rest[at..];
    }
    mended.extend_from_slice(rest);
    mended.into()
}

/// Looked up only once, because the answer is read from files.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Groups per thread. With fewer, a thread costs more than it saves.
const GROUPS_PER_THREAD: usize = 1 << 13;

/// Goes through `count` groups with several threads, one range each. Returns the results in the order of the ranges.
pub fn in_ranges<T: Send>(count: usize, work: &(dyn Fn(Range<usize>) -> T + Sync)) -> Vec<T> {
    let parts = (count / GROUPS_PER_THREAD).clamp(1, *PROCESSORS);
    let ends = (0..=parts).map(|part| count * part / parts);
    let ends: Vec<usize> = ends.collect();
    let (first, others) = (ends[0]..ends[1], ends[1..].windows(2));
    thread::scope(|scope| {
        let others = others.map(|ends| {
            let range = ends[0]..ends[1];
            scope.spawn(move || work(range))
        });
        let others: Vec<_> = others.collect();
        let mut results = vec![work(first)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}

/// Scores below this are ranked by counting sort instead of by comparison.
const MAX_COUNTED_SCORE: u32 = 1 << 15;

/// The best matches first. Equal matches keep their order.
fn ranked(hits: &[Hit]) -> Vec<u32> {
    let best = hits.iter().map(|hit| hit.fit.score).max().unwrap_or(0);
    if best >= MAX_COUNTED_SCORE {
        let mut ranked: Vec<&Hit> = hits.iter().collect();
        ranked.sort_by_key(|hit| std::cmp::Reverse(hit.fit));
        return ranked.into_iter().map(|hit| hit.number).collect();
    }
    let rank = |fit: MatchScore| {
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
