//! What can be asked of a directory about the facts of a place, and told to it.

use super::Statement;
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, PlaceId, sqlite::facts},
    domain::facts::Facts,
};

impl Directory {
    /// What is known of this place; by default nothing.
    pub async fn facts(&self, place: PlaceId) -> Result<Facts, DirectoryError> {
        self.ask(Access::Short, move |c| facts::of(c, place)).await
    }

    /// Keeps what was stated, in the place of what was known before.
    pub async fn state_facts(
        &self,
        place: PlaceId,
        statements: Vec<Statement>,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| Ok(tx.write_all(facts::state(place, &statements))?))
            .await
    }
}
