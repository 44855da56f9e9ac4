//! Renames a profile: what the directory stores under the old name moves along.

use jiff::Timestamp;

use super::add_event;
use crate::{
    database::values,
    directory::{Directory, DirectoryError, PlaceId},
};

impl Directory {
    /// Renames a profile. Its place, with everything in it, stays; what this installation stores under the old name
    /// moves along. If the new name means another environment at the same address, nothing is done and the name of that
    /// environment is returned.
    pub async fn rename_profile(
        &self,
        name: &str,
        to: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<Result<Vec<PlaceId>, String>, DirectoryError> {
        let (name, to, by) = (name.to_owned(), to.to_owned(), by.to_owned());
        self.write(move |tx| {
            let (name, to, by) = (&name, &to, &by);
            let taken: Option<String> = tx.one(TAKEN, values![name, to])?;
            if let Some(place) = taken {
                return Ok(Err(place));
            }
            let places: Vec<PlaceId> = tx.all(PLACES, values![name])?;
            for text in MOVE {
                tx.put(text, values![to, name])?;
            }
            tx.put(HAND_OFFS, values![to, name, by])?;
            for place in &places {
                let note = format!("{name} is called {to}");
                add_event(tx, *place, (at, by, to), "profile_renamed", Some(&note))?;
            }
            Ok(Ok(places))
        })
        .await
    }
}

/// Another environment that had the new name at the same address.
const TAKEN: &str = "\
SELECT p.name FROM bindings was JOIN bindings other ON other.url = was.url AND other.place <> was.place \
 JOIN places p ON p.number = other.place WHERE was.profile = $1 AND other.profile = $2 LIMIT 1";

const PLACES: &str = "SELECT DISTINCT place FROM bindings WHERE profile = $1";

/// From the second name to the first. In a team, rows of other people are not touched: bindings and views are per
/// person.
const MOVE: [&str; 4] = [
    "DELETE FROM bindings WHERE profile = $1 AND url IN (SELECT was.url FROM bindings was WHERE was.profile = $2)",
    "UPDATE bindings SET profile = $1 WHERE profile = $2",
    "DELETE FROM console_views WHERE profile = $1 AND EXISTS (SELECT 1 FROM console_views was WHERE was.profile = $2)",
    "UPDATE console_views SET profile = $1 WHERE profile = $2",
];

/// Rotations whose new token this profile is still to hand off, started by the same person.
const HAND_OFFS: &str = "\
UPDATE rotations SET profile = $1 WHERE profile = $2 AND by = $3 \
 AND (handoff IN ('pending', 'failed') OR state IN ('intended', 'sent', 'rotated', 'unknown'))";
