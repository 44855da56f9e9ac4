//! What is found in memory, beside the loop: the groups of a profile made ready, a search, the nearest ids. A search that
//! is dropped stops.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
};

use crate::{
    domain::{group::UserGroupId, known::KnownGroup},
    operations::{DirectoryError, Operations},
    search::{Builder, Index, SearchRequest, SearchResults, run_search, suggest::near},
    tui::state::{
        groups::Listing,
        message::{JobError, Outcome},
    },
};

/// Near ids shown.
pub(crate) const NEAR: usize = 6;

/// How often the directory may hand over groups before they are taken in.
const AHEAD: usize = 8;

/// All that the directory knows of a profile.
pub(super) async fn list(operations: &Operations) -> Result<Outcome, DirectoryError> {
    // First, so that nothing falls between the list and the watch.
    let since = operations.cursor().await?;
    let (index, view, open, annotations, saved_views) = tokio::try_join!(
        index(operations),
        operations.view(),
        operations.open_rotations(),
        operations.annotations(),
        operations.saved_views()
    )?;
    let mut listing = Listing::from(index);
    let state = |row: crate::operations::RotationRow| (row.user_group_id, row.rotation.state);
    listing.open = Some(open.into_iter().map(state).collect());
    listing.view = view;
    listing.since = Some(since);
    listing.annotations = Some(annotations);
    listing.saved_views = Some(saved_views);
    Ok(Outcome::Listed(Box::new(listing)))
}

/// Groups are taken in while others are still read: they are never all there at once.
async fn index(operations: &Operations) -> Result<Index, DirectoryError> {
    let (sender, groups) = sync_channel::<Vec<KnownGroup>>(AHEAD);
    let building = aside(move |is_wanted| {
        let mut builder = Builder::default();
        for some in groups {
            for group in &some {
                builder.push(group);
            }
            if !is_wanted() {
                return Index::default();
            }
        }
        builder.finish()
    });
    let reading = operations.each_group(move |some| sender.send(some).is_ok());
    let (index, read) = tokio::join!(building, reading);
    read.map(|()| index)
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
