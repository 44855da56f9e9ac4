//! Does one job: `operations` in, outcome out. The only place of the console where work is awaited.

mod connecting;
mod running;

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use super::message::{Job, Outcome, ProfileIndex, Trouble};
pub use running::Link;

use crate::{
    config::files::{write_new_private, write_new_token},
    operations::{Assurance, Connector, DirectoryError, Done, Failure, Operations},
};

/// The operations of every profile, in the order of the configuration.
#[derive(Clone)]
pub struct Works(Arc<Inner>);

struct Inner {
    /// Grows when a profile is added, and never shrinks: an index stays what it is.
    operations: RwLock<Vec<Operations>>,
    connector: Option<Connector>,
}

impl Works {
    /// `connector`: profiles can be added.
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

    fn add(&self, added: Operations) -> ProfileIndex {
        let operations = self.0.operations.write();
        let mut operations = operations.unwrap_or_else(PoisonError::into_inner);
        operations.push(added);
        ProfileIndex(operations.len() - 1)
    }

    pub async fn run(&self, profile: ProfileIndex, job: Job, link: Link) -> Outcome {
        let job = match job {
            Job::Check(new, key) => return connecting::check(self, &new, key).await,
            Job::AddProfile(new, key) => return connecting::add(self, &new, key).await,
            job => job,
        };
        let Some(operations) = self.of(profile) else {
            return Outcome::Failed(Trouble {
                text: "this profile is gone; choose another".into(),
                ending: None,
            });
        };
        let result = match job {
            Job::List => listed(operations.list().await.map(Outcome::Listed)),
            Job::OpenRotations => listed(
                operations
                    .open_rotations()
                    .await
                    .map(Outcome::OpenRotations),
            ),
            Job::History(id) => {
                let limit = Some(HISTORY_SHOWN);
                listed(operations.history(id, limit).await.map(Outcome::History))
            }
            Job::LookUp(id) => done(operations.look_up(&id, Assurance::KnownOnly).await),
            Job::Create(id, wanted) => done(operations.create(&id, &wanted).await),
            Job::Update { id, base, wanted } => done(
                operations
                    .update(&id, &base, &wanted, Assurance::KnownOnly)
                    .await,
            ),
            Job::Rotate { id, seen, reason } => done(
                operations
                    .rotate_seen(&id, seen, reason, Assurance::KnownOnly)
                    .await,
            ),
            Job::Confirm(rotated) => done(Ok(operations.confirm(*rotated).await)),
            Job::Rotations => listed(operations.rotations().await.map(Outcome::Rotations)),
            Job::Settle => listed(
                operations
                    .recover(&[], SETTLED_AT_ONCE, |_| {})
                    .await
                    .map(Outcome::Recovered),
            ),
            Job::Abandon(id, reason) => match operations.abandon(id, &reason).await {
                Ok(row) => Ok(Outcome::Abandoned(Box::new(row))),
                Err(failure) => Err(failure.into()),
            },
            Job::Whose(token) => listed(
                operations
                    .directory()
                    .whose(&token)
                    .await
                    .map(Outcome::Whose),
            ),
            Job::PendingHandOffs => listed(
                operations
                    .pending_hand_offs()
                    .await
                    .map(Outcome::PendingHandOffs),
            ),
            Job::HandOff(done) => Ok(Outcome::HandedOff(
                operations.hand_off(&done).await.map(Box::new),
            )),
            Job::HandOffAgain(rotation, _) => Ok(match operations.hand_off_again(rotation).await {
                Ok(handed) => Outcome::HandedOff(Some(Box::new(handed))),
                Err(failure) => Outcome::NotHandedOff(failure.into()),
            }),
            Job::Batches => listed(operations.batches().await.map(Outcome::Batches)),
            Job::PlanBulk(ids) => listed(operations.plan_bulk(&ids).await.map(Outcome::Planned)),
            Job::Bulk { plan, reason } => running::run(&operations, &plan, reason, link).await,
            Job::Check(..) | Job::AddProfile(..) => Err(Trouble {
                text: "this needs no profile".into(),
                ending: None,
            }),
            Job::WriteReport(report, path) => write_report(report, path).await,
            Job::WriteToken(token, path) => {
                let written = path.clone();
                let contents = format!("{}\n", token.expose());
                let result = tokio::task::spawn_blocking(move || {
                    write_new_token(&path, contents.as_bytes())
                })
                .await;
                match result {
                    Ok(Ok(())) => Ok(Outcome::TokenWritten(written)),
                    Ok(Err(error)) => Err(format!("the token was not written: {error}")),
                    Err(_) => Err("the token was not written: the job broke off".into()),
                }
                .map_err(|text| Trouble { text, ending: None })
            }
        };
        result.unwrap_or_else(Outcome::Failed)
    }
}

/// Entries read for the history pane; older ones are on the command line.
const HISTORY_SHOWN: usize = 2_000;

/// Groups read at the same time in the background.
const SETTLED_AT_ONCE: usize = 4;

fn listed(result: Result<Outcome, DirectoryError>) -> Result<Outcome, Trouble> {
    result.map_err(|error| Trouble {
        text: error.to_string(),
        ending: None,
    })
}

async fn write_report(report: String, path: PathBuf) -> Result<Outcome, Trouble> {
    let to = path.clone();
    let writing = move || write_new_private(&to, report.as_bytes());
    let text = match tokio::task::spawn_blocking(writing).await {
        Ok(Ok(())) => return Ok(Outcome::ReportWritten(path)),
        Ok(Err(error)) => format!("the report was not written: {error}"),
        Err(_) => "the report was not written: the job broke off".into(),
    };
    Err(Trouble { text, ending: None })
}

fn done(result: Result<Done, Failure>) -> Result<Outcome, Trouble> {
    Ok(Outcome::Done(Box::new(result?)))
}
