//! What the list shows: the answer to its filter and order. Few groups are searched at once, many beside the loop; until
//! then the last answer stands, and a newer question gives up the older one.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    domain::group::UserGroupId,
    search::{
        Beside, Entry, FilterError, Index, ListView, Query, SearchRequest, SearchResults, SortBy,
        run_search,
    },
    tui::state::{
        context::Context,
        groups::Loading,
        message::{Job, Ticket},
    },
};

/// Up to so many groups a search takes less time than a job would.
pub(crate) const AT_ONCE: usize = 2_000;

#[derive(Debug)]
pub(super) struct Finder {
    pub(super) sort: SortBy,
    pub(super) reverse: bool,
    /// The best match first, as long as the filter has words.
    pub(super) best_first: bool,
    pub(super) query: Query,
    found: Option<Arc<SearchResults>>,
    asked: Option<Box<PendingSearch>>,
    /// A search that broke off; the same is not begun again by itself.
    broken: Option<Box<PendingSearch>>,
    /// What is asked is answered when all groups are there: among the first ones the answer would be another.
    waits_for_all: bool,
    /// Some rows stand there that are not found any more.
    has_kept: bool,
    /// The same was asked for again by the person: what is not found any more goes.
    is_asked_again: bool,
}

/// A search under way.
#[derive(Debug)]
struct PendingSearch {
    ticket: Ticket,
    index: Index,
    look: SearchRequest,
}

impl Finder {
    pub(super) fn of(view: &ListView) -> Self {
        Self {
            sort: view.sort.clone(),
            reverse: view.reverse,
            best_first: view.best_first,
            query: Query::default(),
            found: None,
            asked: None,
            broken: None,
            waits_for_all: false,
            has_kept: false,
            is_asked_again: false,
        }
    }

    /// The person applies the filter, also the same again: rows that are not found any more go.
    pub(super) fn ask_again(&mut self, context: &mut Context) {
        context.let_rows_move();
        self.is_asked_again = self.has_kept;
    }

    /// What is asked, as it would be answered now; `None` where what stands there is all found.
    pub(super) fn asked_now(&self, context: &Context) -> Option<SearchRequest> {
        let found = self.found.as_ref()?;
        let is_old = self.has_kept || context.holds_rows();
        (is_old && !found.look.query.is_empty()).then(|| SearchRequest {
            open: context.open.clone(),
            beside: if found.look.query.is_beside() {
                context.beside()
            } else {
                Beside::default()
            },
            ..found.look.clone()
        })
    }

    /// What was found goes on standing there until there is an answer.
    pub(super) fn keep_found(&mut self, old: Self) {
        self.found = old.found;
        self.asked = old.asked;
        self.broken = old.broken;
    }

    /// Whether the rows stand by how well they match.
    pub(super) fn is_ranked(&self) -> bool {
        self.best_first && !self.query.words.is_empty()
    }

    /// What the rows are ordered by.
    pub(super) fn order(&self) -> String {
        if self.is_ranked() {
            "best match".into()
        } else {
            self.sort.to_string()
        }
    }

    /// The next column; where words are searched, the best match is one of them.
    pub(super) fn sort_by_next(&mut self) {
        if self.is_ranked() {
            self.best_first = false;
            return;
        }
        let next = self.sort.next();
        self.best_first |= next.is_none();
        self.sort = next.unwrap_or_default();
    }

    /// What is asked now is not answered yet.
    pub(super) fn is_searching(&self) -> bool {
        self.asked.is_some() || self.broken.is_some() || self.waits_for_all
    }

    pub(super) fn waits_for(&self, ticket: Ticket) -> bool {
        self.asked
            .as_ref()
            .is_some_and(|asked| asked.ticket == ticket)
    }

    /// A search that is not under way any more will not be answered.
    pub(super) fn forget_ended(&mut self, context: &Context) {
        let has_ended =
            |asked: &mut Box<PendingSearch>| !context.running.contains_key(&asked.ticket);
        if let Some(broken) = self.asked.take_if(has_ended) {
            self.broken = Some(broken);
        }
    }

    pub(super) fn found(&self) -> Option<&Arc<SearchResults>> {
        self.found.as_ref()
    }

    /// What is to be said of the filter: a part that cannot be read, or a word that looks like a test and is nowhere.
    pub(super) fn remark(&self) -> Option<&FilterError> {
        let is_found = |found: &Arc<SearchResults>| found.shown.len() > found.loose;
        let doubtful = self.query.doubtful.first();
        let doubtful = doubtful.filter(|_| !self.found.as_ref().is_some_and(is_found));
        self.query.wrong.first().or(doubtful)
    }

    /// The numbers of the rows, in order.
    pub(super) fn shown(&self) -> &[u32] {
        self.found.as_ref().map_or(&[], |found| &found.shown)
    }

    pub(super) fn entry(&self, number: u32) -> Option<Entry<'_>> {
        self.found.as_ref()?.index.entry(number)
    }

    /// The groups that are shown, in their order.
    pub(super) fn ids(&self) -> Vec<UserGroupId> {
        let rows = 0..self.shown().len();
        rows.filter_map(|row| self.id(row)).collect()
    }

    pub(super) fn id(&self, row: usize) -> Option<UserGroupId> {
        let entry = self.entry(*self.shown().get(row)?)?;
        UserGroupId::parse(entry.id()).ok()
    }

    /// Asks where filter, order or groups differ from what was asked last; an answer that is there at once.
    pub(super) fn look_again(
        &mut self,
        filter: &str,
        context: &mut Context,
    ) -> Option<Arc<SearchResults>> {
        let limit = context.profile().and_then(|profile| profile.max_token_age);
        self.query = Query::parse_with(filter, limit, &context.annotations.filters);
        let mut asked = SearchRequest {
            at: if self.query.is_timed() {
                // Ages are shown in minutes at the finest.
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
            beside: if self.query.is_beside() {
                context.beside()
            } else {
                Beside::default()
            },
        };
        let is_moved = |found: &Arc<SearchResults>| {
            let look = &found.look;
            look.query != asked.query
                || (&look.sort, look.reverse) != (&asked.sort, asked.reverse)
                || look.best_first != asked.best_first
        };
        let is_of_all = |loading: &Loading| {
            let rows = &loading.rows;
            !asked.query.is_empty() || (&rows.sort, rows.reverse) != (&asked.sort, asked.reverse)
        };
        // Where the others do not come, a part is better than nothing.
        self.waits_for_all =
            context.groups.loading().is_some_and(is_of_all) && context.is_reading_groups();
        if self.waits_for_all {
            self.give_up(context);
            return None;
        }
        if self.found.as_ref().is_some_and(is_moved) {
            context.let_rows_move();
            asked.open = context.open.clone();
        }
        let index = context.groups.listed();
        let is_same = |found: &Arc<SearchResults>| found.look == asked && found.index == *index;
        if !self.is_asked_again && self.found.as_ref().is_some_and(is_same) {
            self.give_up(context);
            return None;
        }
        let is_this = |asking: &PendingSearch| asking.look == asked && asking.index == *index;
        if self
            .asked
            .iter()
            .chain(&self.broken)
            .any(|one| is_this(one))
        {
            return None;
        }
        let index = index.clone();
        self.give_up(context);
        if index.len() <= AT_ONCE {
            return run_search(&index, asked, self.found.as_deref(), &|| true).map(Arc::new);
        }
        let ticket = context.start(Job::Search {
            index: index.clone(),
            look: asked.clone(),
            before: self.found.clone(),
        });
        self.asked = Some(Box::new(PendingSearch {
            ticket,
            index,
            look: asked,
        }));
        None
    }

    pub(super) fn give_up(&mut self, context: &mut Context) {
        if let Some(asked) = self.asked.take() {
            context.cancel(asked.ticket);
        }
    }

    /// Shows another answer. Returns the row of a group that is to keep the cursor; `None` where it is not there, or
    /// where it holds the words only letter by letter and another has them whole.
    pub(super) fn take(
        &mut self,
        found: Arc<SearchResults>,
        on: Option<&UserGroupId>,
    ) -> Option<usize> {
        let old = self
            .found
            .take()
            .filter(|_| !std::mem::take(&mut self.is_asked_again));
        let kept = old.and_then(|old| found.with_rows_of(&old)).map(Arc::new);
        self.has_kept = kept.is_some();
        let found = kept.unwrap_or(found);
        let number = on.and_then(|id| found.index.number(id.as_str()));
        let row = number.and_then(|number| found.shown.iter().position(|at| *at == number));
        let is_best = |number: u32| {
            let first = found.shown.first();
            !found.look.best_first
                || found.is_exact(number)
                || !first.is_some_and(|first| found.is_exact(*first))
        };
        let row = row.filter(|_| number.is_some_and(is_best));
        self.asked = None;
        self.broken = None;
        self.found = Some(found);
        row
    }
}
