//! Does one job: `operations` in, outcome out. The only place of the console where work is awaited.

use std::sync::Arc;

use super::message::{Job, Outcome, ProfileIndex, Trouble};
use crate::{
    config::files::write_new_private,
    operations::{Assurance, DirectoryError, Done, Failure, Operations},
};

/// The operations of every profile, in the order of the configuration.
#[derive(Clone)]
pub struct Works(Arc<Vec<Operations>>);

impl Works {
    pub fn new(operations: Vec<Operations>) -> Self {
        Self(Arc::new(operations))
    }

    pub fn of(&self, profile: ProfileIndex) -> Option<&Operations> {
        self.0.get(profile.0)
    }

    pub async fn run(&self, profile: ProfileIndex, job: Job) -> Outcome {
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
            Job::WriteToken(token, path) => {
                let written = path.clone();
                let contents = format!("{}\n", token.expose());
                let result = tokio::task::spawn_blocking(move || {
                    write_new_private(&path, contents.as_bytes())
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

fn listed(result: Result<Outcome, DirectoryError>) -> Result<Outcome, Trouble> {
    result.map_err(|error| Trouble {
        text: error.to_string(),
        ending: None,
    })
}

fn done(result: Result<Done, Failure>) -> Result<Outcome, Trouble> {
    Ok(Outcome::Done(Box::new(result?)))
}
