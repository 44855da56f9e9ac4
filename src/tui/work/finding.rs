//! What is found in memory, beside the loop: the groups of a profile made ready, a search, the nearest ids. A search that
//! is dropped stops.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    domain::{
        group::UserGroupId,
        near::near,
        search::{Found, Index, Look, look},
    },
    operations::{DirectoryError, Operations},
    tui::{
        groups::Listing,
        message::{Outcome, Trouble},
        panes::open::NEAR,
    },
};

/// All that the directory knows of a profile.
pub(super) async fn list(operations: &Operations) -> Result<Outcome, DirectoryError> {
    let view = operations.view().await?;
    let open = operations.open_rotations().await?;
    let groups = operations.list().await?;
    let mut listing = aside(move |_| Listing::from(groups)).await;
    let state = |row: crate::operations::JournalRow| (row.user_group_id, row.rotation.state);
    listing.open = Some(open.into_iter().map(state).collect());
    listing.view = view;
    Ok(Outcome::Listed(Box::new(listing)))
}

pub(super) async fn search(
    index: Index,
    asked: Look,
    before: Option<Arc<Found>>,
) -> Result<Outcome, Trouble> {
    let found = aside(move |is_wanted| look(&index, asked, before.as_deref(), is_wanted)).await;
    // Only what was dropped finds nothing, and its answer goes nowhere.
    found
        .map(|found| Outcome::Found(Arc::new(found)))
        .ok_or_else(|| Trouble::of("the search was given up"))
}

pub(super) async fn nearest(index: Index, typed: String) -> Outcome {
    Outcome::Near(aside(move |_| nearest_in(&index, &typed)).await)
}

/// The known ids nearest to a typed one.
pub(in crate::tui) fn nearest_in(index: &Index, typed: &str) -> Vec<UserGroupId> {
    let ids = index.entries().map(crate::domain::search::Entry::id);
    let near = near(typed, ids, NEAR).into_iter();
    near.filter_map(|id| UserGroupId::parse(id).ok()).collect()
}

/// Tells the work that nobody waits for it any more.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Does work that only computes on a thread of its own.
async fn aside<T: Send + 'static>(work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static) -> T {
    let is_wanted = Arc::new(AtomicBool::new(true));
    let _wanted = Wanted(is_wanted.clone());
    let working =
        tokio::task::spawn_blocking(move || work(&|| is_wanted.load(Ordering::Relaxed))).await;
    match working {
        Ok(done) => done,
        Err(broken) => resume_unwind(broken.into_panic()),
    }
}
