//! A file whose directory was moved to a team's database: no groupdesk opens it any more, and this version says where
//! it is.

use rusqlite::{Connection, OptionalExtension};

use super::{fault::Fault, schema::NEWEST};
use crate::directory::DirectoryError;

/// Newer than any schema, so that older versions refuse the file as well.
const MOVED: i64 = 1_000_000;

const TO: &str = "moved_to";

/// Marks the file within the open transaction.
pub(in crate::directory) fn mark(connection: &Connection, to: &str) -> Result<(), Fault> {
    connection.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
        (TO, to.as_bytes()),
    )?;
    connection.pragma_update(None, "user_version", MOVED)?;
    Ok(())
}

/// The error for a schema version that this groupdesk does not know.
pub(super) fn newer(connection: &Connection, found: i64) -> Fault {
    let known = NEWEST;
    let text = "SELECT value FROM meta WHERE key = ?1";
    let to = connection.query_row(text, [TO], |row| row.get::<_, Vec<u8>>(0));
    match to.optional() {
        Ok(Some(to)) if found == MOVED => {
            let to = String::from_utf8_lossy(&to).into_owned();
            Fault::Refused(DirectoryError::MovedAway { to })
        }
        _ => Fault::Newer { found, known },
    }
}
