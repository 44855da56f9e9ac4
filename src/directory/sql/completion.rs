//! Completes ids for a shell: reads without a lock that would block a writer, and without creating files.

use std::{fmt::Write, path::Path};

use rusqlite::{Connection, OpenFlags};
use secrecy::SecretString;

use super::{fault::Fault, places};
use crate::{
    database::{Tx, values},
    platform::private_files::with_suffix,
};

/// Maximum number of suggestions; a shell continues with their common prefix.
const MOST: usize = 100;

const BEGINNING: &str = "\
SELECT user_group_id FROM user_groups WHERE place = $1 AND user_group_id >= $2 AND user_group_id < $3 \
ORDER BY user_group_id LIMIT 100";
const LAST: &str = "\
SELECT user_group_id FROM user_groups WHERE place = $1 AND user_group_id >= $2 AND user_group_id < $3 \
ORDER BY user_group_id DESC LIMIT 1";

/// The profile for which ids are completed.
#[derive(Debug, Clone, Copy)]
pub struct CompletedProfile<'a> {
    pub name: &'a str,
    pub url: &'a str,
    /// The API key to compare, if it can be read at once.
    pub key: Option<&'a SecretString>,
    pub from_variables: bool,
}

/// The ids with this prefix in the place of this profile; none if they cannot be read, or if the place does not know
/// the API key. If there are many, the first ones and the last one, which have the same common prefix as all of them.
pub fn ids_beginning(file: &Path, profile: CompletedProfile<'_>, begin: &str) -> Vec<String> {
    read(file, profile, begin).unwrap_or_default()
}

fn read(file: &Path, profile: CompletedProfile<'_>, begin: &str) -> Result<Vec<String>, Fault> {
    let connection = open(file)?;
    let tx = Tx::of(&connection);
    let CompletedProfile {
        name,
        url,
        key,
        from_variables,
    } = profile;
    let place = match key {
        Some(key) => {
            let key = super::open::key(&connection)?.of_key(key);
            places::with_key(&tx, (name, url), key, from_variables)?
        }
        None => places::place_of(&tx, name, url)?,
    };
    let Some(place) = place else {
        return Ok(Vec::new());
    };
    let end = format!("{begin}{}", char::MAX);
    let asked = || values![place, begin, &end];
    let mut ids: Vec<String> = tx.all(BEGINNING, asked())?;
    if ids.len() == MOST {
        let last: Option<String> = tx.one(LAST, asked())?;
        ids.extend(last);
        ids.dedup();
    }
    Ok(ids)
}

/// If nobody has the file open, a reader would create the log files; then it is opened as immutable.
fn open(file: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if with_suffix(file, "-shm").exists() {
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
