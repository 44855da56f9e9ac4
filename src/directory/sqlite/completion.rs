//! Ids for a shell that completes one: read without a lock that a writer waits for, without a file that was not there.

use std::{fmt::Write, path::Path};

use rusqlite::{Connection, OpenFlags};

use super::{fault::Fault, places, schema::beside};
use crate::database::{Tx, values};

/// Shown at once; a shell goes on with what all of them begin with.
const MOST: usize = 100;

const BEGINNING: &str = "\
SELECT user_group_id FROM user_groups WHERE place = $1 AND user_group_id >= $2 AND user_group_id < $3 \
ORDER BY user_group_id LIMIT 100";
const LAST: &str = "\
SELECT user_group_id FROM user_groups WHERE place = $1 AND user_group_id >= $2 AND user_group_id < $3 \
ORDER BY user_group_id DESC LIMIT 1";

/// The ids that begin so, of the place that this profile means by its name and address; none where that cannot be read. Where
/// there are many: the first ones and the last one, which tell as well what all of them begin with.
pub fn ids_beginning(file: &Path, (profile, url): (&str, &str), begin: &str) -> Vec<String> {
    read(file, (profile, url), begin).unwrap_or_default()
}

fn read(file: &Path, (profile, url): (&str, &str), begin: &str) -> Result<Vec<String>, Fault> {
    let connection = open(file)?;
    let tx = Tx::of(&connection);
    let Some(place) = places::place_of(&tx, profile, url)? else {
        return Ok(Vec::new());
    };
    let end = format!("{begin}{}", char::MAX);
    let asked = || values![place.0, begin, &end];
    let mut ids: Vec<String> = tx.all(BEGINNING, asked(), |row| row.get(0))?;
    if ids.len() == MOST {
        let last: Option<String> = tx.one(LAST, asked(), |row| row.get(0))?;
        ids.extend(last);
        ids.dedup();
    }
    Ok(ids)
}

/// Where nobody has it open, a reader would make the files of the log anew: then it is read as a file that stands still.
fn open(file: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if beside(file, "-shm").exists() {
        Connection::open_with_flags(file, flags)?
    } else {
        let mut uri = "file:".to_owned();
        for byte in file.as_os_str().as_encoded_bytes() {
            let _ = write!(uri, "%{byte:02x}");
        }
        uri.push_str("?immutable=1");
        Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    Ok(connection)
}
