//! Which place a profile means: asked before anything is settled, and what a person says about it.

use super::{listed, unreadable};
use crate::{
    domain::group::UserGroupId,
    operations::{BindingAnswer, Failure, Operations},
    tui::state::message::{JobError, Outcome},
};

/// What is to be settled; first whether anything may be sent at all.
pub(super) async fn open_rotations(operations: &Operations) -> Result<Outcome, JobError> {
    if let Some(problem) = operations.held().await {
        return Err(Failure::Place(problem).into());
    }
    // Without a key that can be read nobody can be asked.
    let elsewhere = operations.known_elsewhere().await;
    if let Some(line) = elsewhere.map_err(|error| unreadable(&error))? {
        return Err(JobError::of(line));
    }
    let open = operations.open_rotations().await;
    listed(open.map(Outcome::OpenRotations))
}

pub(super) async fn answer(
    operations: &Operations,
    answer: BindingAnswer,
) -> Result<Outcome, JobError> {
    let bound = operations.answer_binding(answer).await?;
    Ok(Outcome::PlaceBound(Box::new(bound)))
}

pub(super) async fn prove(operations: &Operations, id: &UserGroupId) -> Result<Outcome, JobError> {
    operations.prove(id).await?;
    Ok(Outcome::Proven)
}

pub(super) async fn acknowledge(
    operations: &Operations,
    place: &str,
    reason: &str,
) -> Result<Outcome, JobError> {
    operations.acknowledge_at(place, reason).await?;
    Ok(Outcome::Acknowledged)
}
