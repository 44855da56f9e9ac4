//! Performs jobs: calls `operations` and returns the outcome. The only place in the console where work is awaited.

mod annotations;
mod batch;
mod files;
mod places;
mod profiles;
mod search;

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
        message::{Job, JobError, Msg, Outcome, ProfileIndex},
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
        let job = match job {
            Job::Check(new, key) => return profiles::check(self, &new, key).await,
            Job::AddProfile(new, key) => return profiles::add(self, &new, key).await,
            job => job,
        };
        let Some(operations) = self.of(profile) else {
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
        // In boxes: the states of one job would otherwise be compiled into those of all.
        let work: BoxFuture<'_, Result<Outcome, JobError>> = match job {
            Job::List => Box::pin(async move { listed(search::list(operations, &context).await) }),
            Job::Search {
                index,
                request,
                before,
            } => Box::pin(async move { search::search(index, request, before).await }),
            Job::SimilarIds(index, typed) => {
                Box::pin(async move { Ok(search::similar_ids(index, typed).await) })
            }
            Job::KeepView(view) => Box::pin(async move {
                operations.keep_view(view).await?;
                Ok(Outcome::ViewKept)
            }),
            Job::Annotate(ids, change) => {
                Box::pin(async move { annotations::annotate(operations, ids, *change).await })
            }
            Job::SaveView(name, view) => {
                Box::pin(async move { annotations::save_view(operations, &name, view).await })
            }
            Job::RemoveView(name) => {
                Box::pin(async move { annotations::remove_view(operations, &name).await })
            }
            Job::OpenRotations => Box::pin(async move { places::open_rotations(operations).await }),
            Job::History(id) => Box::pin(async move {
                let limit = Some(MAX_HISTORY);
                listed(operations.history(id, limit).await.map(Outcome::History))
            }),
            Job::Drafts => {
                Box::pin(async move { listed(operations.drafts().await.map(Outcome::Drafts)) })
            }
            Job::KeepDraft(draft, seen) => Box::pin(async move {
                let at = draft.changed_at;
                let saved = operations.keep_draft(*draft, seen).await;
                listed(saved.map(|saved| Outcome::DraftKept(at, saved)))
            }),
            Job::ForgetDraft(id, until) => Box::pin(async move {
                let forgotten = operations.forget_draft(&id, until).await;
                listed(forgotten.map(|()| Outcome::DraftForgotten))
            }),
            Job::LookUp(id) => Box::pin(async move {
                let read = operations.look_up(&id, UnknownIdPolicy::KnownOnly).await;
                done(&id, "read", read)
            }),
            Job::SameId(id) => Box::pin(async move { self.same_id(&id).await }),
            Job::Create(id, wanted) => Box::pin(async move {
                let operations = operations.cancelled_by(context.cancel);
                done(&id, "created", operations.create(&id, &wanted).await)
            }),
            Job::Update {
                id,
                base,
                wanted,
                replace,
                sends_unchanged,
            } => Box::pin(async move {
                let edit = Edit {
                    base,
                    wanted,
                    replace,
                    sends_unchanged,
                    whole: Vec::new(),
                };
                let operations = operations.cancelled_by(context.cancel);
                let known = UnknownIdPolicy::KnownOnly;
                done(
                    &id,
                    "updated",
                    operations.update_edit(&id, &edit, known).await,
                )
            }),
            Job::Rotate { id, seen, reason } => Box::pin(async move {
                // Nothing is spared: the page has shown who rotated it last, and when.
                let operations = operations.cancelled_by(context.cancel);
                let known = UnknownIdPolicy::KnownOnly;
                let rotated = operations.rotate_seen(&id, seen, reason, known).await;
                done(&id, "rotated", rotated)
            }),
            Job::Confirm(rotated) => {
                Box::pin(
                    async move { Ok(Outcome::Done(Box::new(operations.confirm(*rotated).await))) },
                )
            }
            Job::Rotations => {
                Box::pin(
                    async move { listed(operations.rotations().await.map(Outcome::Rotations)) },
                )
            }
            Job::Settle => Box::pin(async move {
                match operations.recover(&[], CONCURRENT_SETTLES, |_| {}).await {
                    Ok(recovered) => Ok(Outcome::Recovered(recovered)),
                    Err(failure) => Err(failure.into()),
                }
            }),
            Job::SettleChanges => Box::pin(async move {
                listed(
                    operations
                        .settle_changes()
                        .await
                        .map(Outcome::ChangesSettled),
                )
            }),
            Job::Abandon(id, reason) => Box::pin(async move {
                match operations.abandon(id, &reason).await {
                    Ok(row) => Ok(Outcome::Abandoned(Box::new(row))),
                    Err(failure) => Err(failure.into()),
                }
            }),
            Job::FindTokenOwners(token) => Box::pin(async move {
                listed(
                    TokenLookup::of(operations.directory(), &token)
                        .await
                        .map(Outcome::TokenOwners),
                )
            }),
            Job::FindSecret(text) => Box::pin(async move {
                let found = operations.knows_secret_in(&text).await?;
                Ok(Outcome::SecretFound(found))
            }),
            Job::PendingHandOffs => Box::pin(async move {
                listed(
                    operations
                        .pending_hand_offs()
                        .await
                        .map(Outcome::PendingHandOffs),
                )
            }),
            Job::HandOff(done) => Box::pin(async move {
                Ok(Outcome::HandedOff(
                    operations.hand_off(&done).await.map(Box::new),
                ))
            }),
            Job::HandOffAgain(rotation, _) => Box::pin(async move {
                Ok(match operations.hand_off_again(rotation).await {
                    Ok(handed) => Outcome::HandedOff(Some(Box::new(handed))),
                    Err(failure) => Outcome::NotHandedOff(failure.into()),
                })
            }),
            Job::Batches => {
                Box::pin(async move { listed(operations.batches().await.map(Outcome::Batches)) })
            }
            Job::Batch(id) => {
                Box::pin(async move { listed(batch::read_batch(operations, id).await) })
            }
            Job::Attention { whole } => Box::pin(async move {
                let found = Operations::attention(&self.all(), profile.0, whole).await;
                listed(found.map(|found| Outcome::Attention(Box::new(found))))
            }),
            Job::AllBatches => {
                Box::pin(async move { listed(batch::all_batches(&self.all(), profile).await) })
            }
            Job::PlanResumption(id, include_old) => Box::pin(async move {
                let planned = operations.plan_resumption(id, include_old).await;
                let planned = planned.map_err(JobError::from);
                planned.map(|resumption| Outcome::Resumable(Box::new(resumption)))
            }),
            Job::Resume(id, _, left_out) => {
                Box::pin(async move { batch::resume(operations, id, &left_out, context).await })
            }
            Job::PlanBulk {
                ids,
                include_recent,
                retries,
            } => Box::pin(async move {
                let plan = match retries {
                    Some(batch) => operations.plan_retry(&ids, batch).await,
                    None => operations.plan_batch(&ids, include_recent).await,
                };
                listed(plan.map(Outcome::Planned))
            }),
            Job::Bulk { plan, reason } => {
                Box::pin(async move { batch::run(operations, &plan, reason, context).await })
            }
            Job::PlanEdit { asked, include_old } => {
                Box::pin(
                    async move { listed(batch::plan_edit(operations, asked, include_old).await) },
                )
            }
            Job::BulkEdit(plan) => {
                Box::pin(async move { batch::edit(operations, &plan, context).await })
            }
            Job::AnswerPlace(answer) => {
                Box::pin(async move { places::answer(operations, answer).await })
            }
            Job::Proof => {
                Box::pin(
                    async move { listed(operations.proof_candidate().await.map(Outcome::Proof)) },
                )
            }
            Job::Prove(id) => Box::pin(async move { places::prove(operations, &id).await }),
            Job::Acknowledge(place, reason) => {
                Box::pin(async move { places::acknowledge(operations, &place, &reason).await })
            }
            Job::Check(..) | Job::AddProfile(..) => {
                Box::pin(async move { Err(JobError::of("this needs no profile")) })
            }
            Job::WriteReport(report, path) => {
                Box::pin(async move { files::report(report, path).await })
            }
            Job::WriteToken(token, path) => {
                Box::pin(async move { files::token(token, path).await })
            }
            Job::Export {
                index,
                annotations,
                ids,
                format,
                path,
            } => {
                Box::pin(async move { files::export(index, annotations, ids, format, path).await })
            }
        };
        work.await.unwrap_or_else(Outcome::Failed)
    }

    async fn same_id(&self, id: &UserGroupId) -> Result<Outcome, JobError> {
        let mut found = Vec::new();
        for (index, operations) in self.all().iter().enumerate() {
            let known = operations
                .show(id)
                .await
                .map_err(|error| unreadable(&error))?;
            found.extend(known.map(|group| (ProfileIndex(index), group)));
        }
        Ok(Outcome::SameId(found))
    }
}

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
