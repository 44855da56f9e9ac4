//! In-memory work outside of the event loop: preparing the groups of a profile, searching, finding similar ids. A
//! search stops when its future is dropped.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::JobContext;
use crate::{
    operations::{DirectoryError, Operations, RotationRow},
    search::{Index, SearchRequest, SearchResults, run_search},
    tui::state::{
        groups::{self, FirstRows, Listing, ListingExtras},
        message::{JobError, Msg, Outcome},
    },
};

/// Up to this number of groups are read in one go; if there are more, the first `FIRST_GROUPS` of them fill any screen until
/// the others arrive.
const MAX_ONE_READ: usize = 2_000;
const FIRST_GROUPS: usize = 400;

/// Reads everything that the directory knows about a profile. If there are many groups, sends the first ones before the
/// others are read.
pub(super) async fn list(
    operations: &Operations,
    context: &JobContext,
) -> Result<Outcome, DirectoryError> {
    // Taken first, so that no change is lost between reading the list and watching.
    let since = operations.cursor().await?;
    let (view, open, annotations, saved_views) = tokio::try_join!(
        operations.view(),
        operations.open_rotations(),
        operations.annotations(),
        operations.saved_views()
    )?;
    let at_work = operations.at_work(&open).await?;
    let order = view.clone().unwrap_or_default();
    let first = operations
        .first_groups(&order, MAX_ONE_READ, FIRST_GROUPS)
        .await?;
    let mut listing = Listing::from(first.index);
    let state = |row: RotationRow| (row.user_group_id, row.rotation.state);
    listing.extras = Some(ListingExtras {
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
        // Fails when the event loop has ended, which needs no list either.
        drop(context.news.send(first).await);
        listing.replace_index(all(operations, context).await?);
    }
    Ok(Outcome::Listed(Box::new(listing)))
}

/// Reads all groups. Each becomes a row as it is read, so that they are never all in memory as they are stored.
async fn all(operations: &Operations, context: &JobContext) -> Result<Index, DirectoryError> {
    let (news, ticket) = (context.news.clone(), context.ticket);
    let is_wanted = Arc::new(AtomicBool::new(true));
    let _wanted = CancelOnDrop(is_wanted.clone());
    let tell = move |read| {
        // Dropped if the queue is full: the next one reports more.
        let _ = news.try_send(Msg::ReadProgress(ticket, read));
        is_wanted.load(Ordering::Relaxed)
    };
    let builder = operations.load_groups(tell).await?;
    Ok(on_blocking_thread(move |_| builder.finish()).await)
}

pub(super) async fn search(
    index: Index,
    asked: SearchRequest,
    before: Option<Arc<SearchResults>>,
) -> Result<Outcome, JobError> {
    let found = on_blocking_thread(move |is_wanted| {
        run_search(&index, asked, before.as_deref(), is_wanted)
    })
    .await;
    // Only a dropped search finds nothing, and its result goes nowhere.
    found
        .map(|found| Outcome::Found(Arc::new(found)))
        .ok_or_else(|| JobError::of("the search was cancelled"))
}

pub(super) async fn similar_ids(index: Index, typed: String) -> Outcome {
    Outcome::SimilarIds(on_blocking_thread(move |_| groups::similar_ids(&index, &typed)).await)
}

/// On drop, tells the work that nobody waits for it any more.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Runs CPU-bound work on a blocking thread.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send + 'static,
) -> T {
    let is_wanted = Arc::new(AtomicBool::new(true));
    let _wanted = CancelOnDrop(is_wanted.clone());
    let working =
        tokio::task::spawn_blocking(move || work(&|| is_wanted.load(Ordering::Relaxed))).await;
    match working {
        Ok(done) => done,
        Err(broken) => resume_unwind(broken.into_panic()),
    }
}
