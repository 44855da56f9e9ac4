//! Every fingerprint that a group ever had, and so whose a token is or was.

use rusqlite::{Connection, params};

use super::{fault::Fault, rows};
use crate::{
    directory::{Owner, PlaceId, sql},
    domain::{group::UserGroupId, token::Fingerprint},
};

/// Remembers for ever that a group had this token.
pub(super) fn keep(
    tx: &Connection,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
    at: i64,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::KEEP_FINGERPRINT)?.execute(params![
        fingerprint.as_bytes(),
        place.0,
        id.as_str(),
        at
    ])?;
    Ok(())
}

pub(in crate::directory) fn owners(
    connection: &Connection,
    fingerprint: Fingerprint,
) -> Result<Vec<Owner>, Fault> {
    let mut statement = connection.prepare_cached(sql::OWNERS)?;
    let mut found = statement.query([fingerprint.as_bytes()])?;
    let mut owners = Vec::new();
    while let Some(row) = found.next()? {
        owners.push(rows::owner(row)?.ok_or(Fault::Row("fingerprints"))?);
    }
    Ok(owners)
}
