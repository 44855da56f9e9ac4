//! Which place a profile means: checked before anything is settled, and the person's answers about it.

use super::{listed, unreadable};
use crate::{
    domain::group::UserGroupId,
    operations::{BindingAnswer, Failure, Operations},
    tui::state::message::{JobError, Outcome},
};

/// Returns the rotations to settle, after checking whether anything may be sent at all.
pub(super) async fn open_rotations(operations: &Operations) -> Result<Outcome, JobError> {
    if let Some(problem) = operations.place_problem().await {
        return Err(Failure::Place(problem).into());
    }
    // Without a readable API key, the person cannot be asked about the place.
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
