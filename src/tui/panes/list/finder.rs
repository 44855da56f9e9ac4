//! The rows of the list: the results for its filter and order. Few groups are searched synchronously, many in a job;
//! until it ends the last results stay, and a newer search cancels an older one.

use std::sync::Arc;

use crate::tui::panes::prelude::*;
use crate::{
    search::{Entry, Index, ListView, Query, SearchRequest, SearchResults, SortBy, run_search},
    tui::state::Loading,
};

/// Up to this number of groups, searching takes less time than starting a job.
pub(crate) const MAX_SYNCHRONOUS: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct Finder {
    pub(super) sort: SortBy,
    pub(super) reverse: bool,
    /// Best match first, as long as the filter has words.
    pub(super) best_first: bool,
    pub(super) query: Query,
    found: Option<Arc<SearchResults>>,
    pending: Option<Box<PendingSearch>>,
    /// A search that failed; the same one is not started again automatically.
    broken: Option<Box<PendingSearch>>,
    /// The search waits until all groups are loaded: among the first ones it would find something else.
    waits_for_all: bool,
    /// Some rows are kept although the filter does not match them any more.
    has_kept_rows: bool,
    /// The person applied the same filter again: rows that do not match any more are removed.
    is_applied_again: bool,
}

/// A running search.
#[derive(Debug)]
struct PendingSearch {
    ticket: Ticket,
    index: Index,
    request: SearchRequest,
}

impl Finder {
    pub(super) fn of(view: &ListView) -> Self {
        Self {
            sort: view.sort.clone(),
            reverse: view.reverse,
            best_first: view.best_first,
            ..Self::default()
        }
    }

    /// The person applies the filter, perhaps the same again: rows that do not match any more are removed.
    pub(super) fn apply_again(&mut self, context: &mut Context) {
        context.let_rows_move();
        self.is_applied_again = self.has_kept_rows;
    }

    /// The current filter with current data, to tell which rows still match; `None` if all rows do.
    pub(super) fn current_request(&self, context: &Context) -> Option<SearchRequest> {
        let found = self.found.as_ref()?;
        let is_old = self.has_kept_rows || context.holds_rows();
        (is_old && !found.request.query.is_empty()).then(|| SearchRequest {
            open: context.open.clone(),
            extras: context.group_extras(&found.request.query),
            ..found.request.clone()
        })
    }

    /// Keeps the old results until there are new ones.
    pub(super) fn keep_results(&mut self, old: Self) {
        self.found = old.found;
        self.pending = old.pending;
        self.broken = old.broken;
    }

    /// Whether the rows are sorted by best match.
    pub(super) fn is_ranked(&self) -> bool {
        self.best_first && !self.query.words.is_empty()
    }

    /// The name of the sort order.
    pub(super) fn order(&self) -> String {
        if self.is_ranked() {
            "best match".into()
        } else {
            self.sort.word()
        }
    }

    /// Switches to the next sort order; with words in the filter, best match is one of them.
    pub(super) fn sort_by_next(&mut self) {
        if self.is_ranked() {
            self.best_first = false;
            return;
        }
        let next = self.sort.next();
        self.best_first |= next.is_none();
        self.sort = next.unwrap_or_default();
    }

    /// Whether the current search has no results yet.
    pub(super) fn is_searching(&self) -> bool {
        self.pending.is_some() || self.broken.is_some() || self.waits_for_all
    }

    pub(super) fn waits_for(&self, ticket: Ticket) -> bool {
        self.pending
            .as_ref()
            .is_some_and(|pending| pending.ticket == ticket)
    }

    /// A search that is not running any more will deliver no results.
    pub(super) fn drop_ended(&mut self, context: &Context) {
        let has_ended =
            |pending: &mut Box<PendingSearch>| !context.running.contains_key(&pending.ticket);
        if let Some(broken) = self.pending.take_if(has_ended) {
            self.broken = Some(broken);
        }
    }

    pub(super) fn found(&self) -> Option<&Arc<SearchResults>> {
        self.found.as_ref()
    }

    /// A problem of the filter: a part that cannot be parsed, an exclusion that is a mistake, or a word that looks like a
    /// test and is found nowhere.
    pub(super) fn mistake(&self) -> Option<&String> {
        let is_found = |found: &Arc<SearchResults>| found.shown.len() > found.loose;
        let doubtful = self.query.doubtful.first();
        let doubtful = doubtful.filter(|_| !self.found.as_ref().is_some_and(is_found));
        let refused = self.found.as_ref();
        let refused = refused.and_then(|found| found.exclusions.refused.first());
        self.query.wrong.first().or(refused).or(doubtful)
    }

    /// What is to be said of the filter: a mistake, or that something excludes nothing.
    pub(super) fn remark(&self) -> Option<&String> {
        let told = || self.found.as_ref()?.exclusions.told.first();
        self.mistake().or_else(told)
    }

    /// The index numbers of the rows, in order.
    pub(super) fn shown(&self) -> &[u32] {
        self.found.as_ref().map_or(&[], |found| &found.shown)
    }

    pub(super) fn entry(&self, number: u32) -> Option<Entry<'_>> {
        self.found.as_ref()?.index.entry(number)
    }

    pub(super) fn id(&self, row: usize) -> Option<UserGroupId> {
        let entry = self.entry(*self.shown().get(row)?)?;
        UserGroupId::parse(entry.id()).ok()
    }

    /// Searches if filter, order or groups have changed since the last search; returns results that are
    /// available at once.
    pub(super) fn search(
        &mut self,
        filter: &str,
        context: &mut Context,
    ) -> Option<Arc<SearchResults>> {
        let limit = context.profile().and_then(|profile| profile.max_token_age);
        self.query = Query::parse_with(filter, limit, &context.annotations.filters);
        let mut pending = SearchRequest {
            at: if self.query.depends_on_time() {
                // Rounded down, because ages are shown in minutes at best.
                let second = context.now.as_second();
                Timestamp::from_second(second - second.rem_euclid(60)).unwrap_or(context.now)
            } else {
                Timestamp::UNIX_EPOCH
            },
            query: self.query.clone(),
            sort: self.sort.clone(),
            reverse: self.reverse,
            best_first: self.is_ranked(),
            open: context.open_listed().clone(),
            extras: context.group_extras(&self.query),
        };
        let is_moved = |found: &Arc<SearchResults>| {
            let request = &found.request;
            request.query != pending.query
                || (&request.sort, request.reverse) != (&pending.sort, pending.reverse)
                || request.best_first != pending.best_first
        };
        let is_of_all = |loading: &Loading| {
            let rows = &loading.rows;
            !pending.query.is_empty()
                || (&rows.sort, rows.reverse) != (&pending.sort, pending.reverse)
        };
        // If the other groups will not arrive, partial results are better than none.
        self.waits_for_all =
            context.groups.loading().is_some_and(is_of_all) && context.is_reading_groups();
        if self.waits_for_all {
            self.give_up(context);
            return None;
        }
        if self.found.as_ref().is_some_and(is_moved) {
            context.let_rows_move();
            pending.open = context.open.clone();
        }
        let index = context.groups.listed();
        let is_same =
            |found: &Arc<SearchResults>| found.request == pending && found.index == *index;
        if !self.is_applied_again && self.found.as_ref().is_some_and(is_same) {
            self.give_up(context);
            return None;
        }
        let is_this = |asking: &PendingSearch| asking.request == pending && asking.index == *index;
        if self
            .pending
            .iter()
            .chain(&self.broken)
            .any(|one| is_this(one))
        {
            return None;
        }
        let index = index.clone();
        self.give_up(context);
        if index.len() <= MAX_SYNCHRONOUS {
            return run_search(&index, pending, self.found.as_deref(), &|| true).map(Arc::new);
        }
        let ticket = context.start(Job::Search {
            index: index.clone(),
            request: pending.clone(),
            before: self.found.clone(),
        });
        self.pending = Some(Box::new(PendingSearch {
            ticket,
            index,
            request: pending,
        }));
        None
    }

    pub(super) fn give_up(&mut self, context: &mut Context) {
        if let Some(pending) = self.pending.take() {
            context.cancel(pending.ticket);
        }
    }

    /// Takes over new results. Returns the row for the cursor: that of the group whose whole ID or name is now typed, or of the
    /// one that keeps it; `None` if that is not among them, or if it only matches letter by letter while another group
    /// matches literally.
    pub(super) fn take(
        &mut self,
        found: Arc<SearchResults>,
        on: Option<&UserGroupId>,
    ) -> Option<usize> {
        let old = self.found.take();
        let is_typed = old
            .as_ref()
            .is_some_and(|old| old.request.query != found.request.query);
        let old = old.filter(|_| !std::mem::take(&mut self.is_applied_again));
        let kept = old
            .and_then(|old| found.keeping_rows_of(&old))
            .map(Arc::new);
        self.has_kept_rows = kept.is_some();
        let found = kept.unwrap_or(found);
        let number = on.and_then(|id| found.index.number(id.as_str()));
        let row = number.and_then(|number| found.shown.iter().position(|at| *at == number));
        let is_best = |number: u32| {
            let first = found.shown.first();
            !found.request.best_first
                || found.is_exact(number)
                || !first.is_some_and(|first| found.is_exact(*first))
        };
        let row = row.filter(|_| number.is_some_and(is_best));
        let named = is_typed.then(|| found.named_row()).flatten();
        self.pending = None;
        self.broken = None;
        self.found = Some(found);
        named.or(row)
    }
}
