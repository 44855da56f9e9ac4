//! Performs the jobs of `state::message::jobs`: calls `operations` and returns the outcome. The only place in the console
//! where work is awaited.
//!
//! In-memory work outside of the event loop: preparing the groups of a profile, searching, finding similar ids. A
//! search stops when its future is dropped.

mod work;

pub use self::work::JobContext;

use std::{
    ffi::OsString,
    panic::resume_unwind,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::future::BoxFuture;

use crate::{
    domain::{UserGroupId, update::Edit},
    operations::{
        Connector, DirectoryError, Done, Failure, Operations, RotationRow, TokenLookup,
        UnknownIdPolicy,
    },
    search::{Index, SearchRequest, SearchResults, run_search},
    tui::state::{
        FirstRows, Job, JobError, Listing, ListingExtras, Msg, OutageReason, Outcome, ProfileIndex,
        groups, message::job_table,
    },
};

/// The operations of every profile, in the order of the configuration.
#[derive(Clone)]
pub struct Backends(Arc<Inner>);

struct Inner {
    /// Grows when a profile is added, and never shrinks, so that indexes stay valid.
    operations: RwLock<Vec<Operations>>,
    connector: Option<Connector>,
}

impl Backends {
    /// With a `connector`, profiles can be added.
    pub fn new(operations: Vec<Operations>, connector: Option<Connector>) -> Self {
        Self(Arc::new(Inner {
            operations: RwLock::new(operations),
            connector,
        }))
    }

    pub fn of(&self, profile: ProfileIndex) -> Option<Operations> {
        let operations = self.0.operations.read();
        let operations = operations.unwrap_or_else(PoisonError::into_inner);
        operations.get(profile.0).cloned()
    }

    /// The operations of all profiles, in order.
    fn all(&self) -> Vec<Operations> {
        let operations = self.0.operations.read();
        operations.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, added: Operations) -> ProfileIndex {
        let operations = self.0.operations.write();
        let mut operations = operations.unwrap_or_else(PoisonError::into_inner);
        operations.push(added);
        ProfileIndex(operations.len() - 1)
    }

    /// The environment of the person's editor: without the API key of any profile.
    pub fn variables_for_editor(&self, profile: ProfileIndex) -> Vec<(OsString, OsString)> {
        let operations = self.of(profile);
        let all = operations
            .iter()
            .flat_map(Operations::variables_for_commands);
        all.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// What may be kept of a text from that editor.
    pub async fn keepable(&self, profile: ProfileIndex, text: &[u8], given: &str) -> Vec<u8> {
        match self.of(profile) {
            Some(operations) => operations.without_secrets(text, given).await,
            None => text.to_vec(),
        }
    }

    pub async fn run(&self, profile: ProfileIndex, job: Job, context: JobContext) -> Outcome {
        let Some(operations) = self.of(profile) else {
            // Only these need no profile.
            match job {
                Job::Check(new, key) => return work::check_profile(self, &new, key).await,
                Job::AddProfile(new, key) => return work::add_profile(self, &new, key).await,
                _ => {}
            }
            return Outcome::Failed(JobError::of(
                "this profile no longer exists; choose another",
            ));
        };
        let news = context.news.clone();
        let operations = &operations
            .with_listener(context.listener.clone())
            .keeping_outcomes()
            .with_wait_listener(Arc::new(move |held| {
                // Dropped if the queue is full: the end of the job says the same.
                let _ = news.try_send(Msg::Waiting(Box::new(held.clone())));
            }));
        let work = work_of(job, self, operations, profile, context);
        work.await.unwrap_or_else(Outcome::Failed)
    }
}

/// Makes the function that does the work of a job from the rows.
macro_rules! work {
    (($all:ident $of:ident $profile:ident $run:ident) $($(#[$doc:meta])* $name:ident
        $(($($given:ident: $type:ty),*))? $({ $($(#[$about:meta])* $field:ident: $kind:ty),* $(,)? })?
    : $spec:expr => $work:expr;)*) => {
        #[allow(unused_variables, reason = "not all work needs everything")]
        fn work_of<'w>(
            job: Job,
            $all: &'w Backends,
            $of: &'w Operations,
            $profile: ProfileIndex,
            $run: JobContext,
        ) -> BoxFuture<'w, Result<Outcome, JobError>> {
            // In boxes: the states of one job would otherwise be compiled into those of all.
            match job {
                $(Job::$name $(($($given),*))? $({ $($field),* })? => Box::pin(async move { $work })),*
            }
        }
    };
}

job_table!(work);

/// Maximum number of entries in the history pane; older ones are available on the command line.
const MAX_HISTORY: usize = 2_000;

/// Number of groups that are read concurrently in the background.
const CONCURRENT_SETTLES: usize = 4;

fn listed(result: Result<Outcome, DirectoryError>) -> Result<Outcome, JobError> {
    result.map_err(|error| unreadable(&error))
}

/// A draft that is refused for what it is, or for its profile, tells nothing of the others.
fn kept_draft(result: Result<Outcome, DirectoryError>) -> Result<Outcome, JobError> {
    match result {
        Err(DirectoryError::NotBound(why)) => Ok(Outcome::DraftRefused(JobError::of(why).text)),
        result => listed(result),
    }
}

fn unreadable(error: &DirectoryError) -> JobError {
    JobError {
        is_directory_outage: OutageReason::of(error).is_some(),
        ..JobError::of(error.to_string())
    }
}

/// The end of a read or a change of one group; a failure names the group and says what did not come about.
fn done(
    id: &UserGroupId,
    changed: &'static str,
    result: Result<Done, Failure>,
) -> Result<Outcome, JobError> {
    let done = result.map_err(|failure| failure.of_change(id, changed))?;
    Ok(Outcome::Done(Box::new(done)))
}

/// Up to this number of groups are read in one go; if there are more, the first `FIRST_GROUPS` of them fill any screen until
/// the others arrive.
const MAX_ONE_READ: usize = 2_000;
const FIRST_GROUPS: usize = 400;

/// Reads everything that the directory knows about a profile. If there are many groups, sends the first ones before the
/// others are read.
async fn list(operations: &Operations, context: &JobContext) -> Result<Outcome, DirectoryError> {
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
    let lacks_key = operations.lacks_key().await;
    let others = if lacks_key {
        operations.known_with_other_keys().await?
    } else {
        Vec::new()
    };
    let state = |row: RotationRow| (row.user_group_id, row.rotation.state);
    listing.extras = Some(ListingExtras {
        open: open.into_iter().map(state).collect(),
        at_work,
        place_name: operations.place_name().await?,
        lacks_key,
        environments: others.into_iter().map(|other| other.name).collect(),
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

async fn search(
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

async fn similar_ids(index: Index, typed: String) -> Outcome {
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
