//! Requests about mutations.

use super::{Claimed, Mutation, MutationIntent, MutationStep};
use crate::{
    database::Access,
    directory::{
        Directory, DirectoryError, MutationId, PlaceId, lanes::Subject, sqlite::mutations,
        unsettled_here::CountedStep,
    },
};

impl Directory {
    /// Makes the intent durable, unless another mutation holds the group.
    pub async fn begin_mutation(
        &self,
        place: PlaceId,
        intent: MutationIntent,
    ) -> Result<Claimed, DirectoryError> {
        let subject = Subject::Group(place, intent.user_group_id.clone());
        self.request_about(Some(subject), mutations::BeginMutation { place, intent })
            .await
    }

    /// Takes one step; [`DirectoryError::ClaimMoved`] if the mutation is not in the state that the step starts from.
    pub async fn step_mutation(
        &self,
        place: PlaceId,
        step: MutationStep,
    ) -> Result<(), DirectoryError> {
        let counted_steps = CountedStep::of_mutation(&step);
        let stepped = self.request(mutations::StepMutation { place, step }).await;
        counted_steps.written(stepped.is_ok());
        stepped
    }

    /// Returns the creates and updates of a place whose outcome is unknown, most recently begun first.
    pub async fn open_mutations(&self, place: PlaceId) -> Result<Vec<Mutation>, DirectoryError> {
        self.execute(Access::Long, move |c| mutations::open(c, place))
            .await
    }

    /// Returns one mutation of a place.
    pub async fn mutation(
        &self,
        place: PlaceId,
        id: MutationId,
    ) -> Result<Option<Mutation>, DirectoryError> {
        self.execute(Access::Short, move |c| mutations::one(c, place, id))
            .await
    }
}
