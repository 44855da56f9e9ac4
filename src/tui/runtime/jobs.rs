//! Performs the jobs of `state::message::jobs`: calls `operations` and returns the outcome. The only place in the console
//! where work is awaited.

mod batch;
mod search;
mod work;

use std::{
    ffi::OsString,
    sync::{Arc, PoisonError, RwLock},
};

pub use batch::JobContext;

use futures_util::future::BoxFuture;

use crate::{
    domain::{group::UserGroupId, update::Edit},
    operations::{
        Connector, DirectoryError, Done, Failure, Operations, TokenLookup, UnknownIdPolicy,
    },
    tui::state::{
        message::{Job, JobError, Msg, Outcome, ProfileIndex, job_table},
        outage::OutageReason,
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
