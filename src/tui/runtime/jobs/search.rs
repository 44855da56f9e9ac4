//! What is found in memory, beside the loop: the groups of a profile made ready, a search, the nearest ids. A search that
//! is dropped stops.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::JobContext;
use crate::{
    domain::group::UserGroupId,
    operations::{DirectoryError, Operations, RotationRow},
    search::{Index, SearchRequest, SearchResults, run_search, suggest::near},
    tui::state::{
        groups::{FirstRows, Listing, ReadBeside},
        message::{JobError, Msg, Outcome},
    },
};

/// Near ids shown.
pub(crate) const NEAR: usize = 6;

/// Up to so many groups are read at once; of more, so many fill any screen until the others are there.
const ALL_AT_ONCE: usize = 2_000;
const FIRST: usize = 400;

/// All that the directory knows of a profile. Of many groups the first are told before the others are read.
pub(super) async fn list(
    operations: &Operations,
    context: &JobContext,
) -> Result<Outcome, DirectoryError> {
    // First, so that nothing falls between the list and the watch.
    let since = operations.cursor().await?;
    let (view, open, annotations, saved_views) = tokio::try_join!(
        operations.view(),
        operations.open_rotations(),
        operations.annotations(),
        operations.saved_views()
    )?;
    let at_work = operations.at_work(&open).await?;
    let order = view.clone().unwrap_or_default();
    let first = operations.first_groups(&order, ALL_AT_ONCE, FIRST).await?;
    let mut listing = Listing::from(first.index);
    let state = |row: RotationRow| (row.user_group_id, row.rotation.state);
    listing.beside = Some(ReadBeside {
        open: open.into_iter().map(state).collect(),
        at_work,
        place_name: operations.place_name().await?,
        annotations,
        saved_views,
    });
    listing.view = view;
    listing.since = Some(since);
    if !first.is_all {
        listing.first = Some(FirstRows {
            total: first.total,
            sort: order.sort,
            reverse: order.reverse,
        });
        let first = Msg::FirstRows(context.ticket, Box::new(listing.clone()));
        // A loop that has ended wants no list either.
        drop(context.news.send(first).await);
        listing.replace_index(all(operations, context).await?);
    }
    Ok(Outcome::Listed(Box::new(listing)))
}

/// All groups. They are packed as they are read: they are never there as they are.
async fn all(operations: &Operations, context: &JobContext) -> Result<Index, DirectoryError> {
    let (news, ticket) = (context.news.clone(), context.ticket);
    let is_wanted = Arc::new(AtomicBool::new(true));
    let _wanted = StillWanted(is_wanted.clone());
    let tell = move |read| {
        // Not worth waiting for: the next one says more.
        let _ = news.try_send(Msg::Read(ticket, read));
        is_wanted.load(Ordering::Relaxed)
    };
    let builder = operations.load_groups(tell).await?;
    Ok(aside(move |_| builder.finish()).await)
}

pub(super) async fn search(
    index: Index,
    asked: SearchRequest,
    before: Option<Arc<SearchResults>>,
) -> Result<Outcome, JobError> {
    let found =
        aside(move |is_wanted| run_search(&index, asked, before.as_deref(), is_wanted)).await;
    // Only what was dropped finds nothing, and its answer goes nowhere.
    found
        .map(|found| Outcome::Found(Arc::new(found)))
        .ok_or_else(|| JobError::of("the search was cancelled"))
}

pub(super) async fn nearest(index: Index, typed: String) -> Outcome {
    Outcome::Near(aside(move |_| nearest_in(&index, &typed)).await)
}

/// The known ids nearest to a typed one.
pub(crate) fn nearest_in(index: &Index, typed: &str) -> Vec<UserGroupId> {
    let ids = index.entries().map(crate::search::Entry::id);
    let near = near(typed, ids, NEAR).into_iter();
    near.filter_map(|id| UserGroupId::parse(id).ok()).collect()
}

/// Tells the work that nobody waits for it any more.
struct StillWanted(Arc<AtomicBool>);

impl Drop for StillWanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Does work that only computes on a thread of its own.
async fn aside<T: Send + 'static>(
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send + 'static,
) -> T {
    let is_wanted = Arc::new(AtomicBool::new(true));
    let _wanted = StillWanted(is_wanted.clone());
    let working =
        tokio::task::spawn_blocking(move || work(&|| is_wanted.load(Ordering::Relaxed))).await;
    match working {
        Ok(done) => done,
        Err(broken) => resume_unwind(broken.into_panic()),
    }
}
