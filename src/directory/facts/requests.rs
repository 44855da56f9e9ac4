//! Requests that read and record the facts of a place.

use super::Statement;
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, PlaceId, sqlite::facts},
    domain::facts::Facts,
};

impl Directory {
    /// Returns the facts of this place; by default nothing is known.
    pub async fn facts(&self, place: PlaceId) -> Result<Facts, DirectoryError> {
        self.execute(Access::Short, move |c| facts::of(c, place))
            .await
    }

    /// Records the stated facts, replacing what was known before.
    pub async fn state_facts(
        &self,
        place: PlaceId,
        statements: Vec<Statement>,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| Ok(tx.write_all(facts::state(place, &statements))?))
            .await
    }
}
