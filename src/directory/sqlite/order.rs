//! The last recorded change of each group, of its fields and of its token, numbered in the order of the directory. What
//! is older than an answer, or younger, is decided by these numbers, never by the clocks of two machines.

use std::collections::HashMap;

use super::fault::Fault;
use crate::{
    database::{Access, Results, Row, Statements, Tx, values},
    directory::{
        Directory, DirectoryError, Noted, PlaceId, RotationId, TokenChange, columns::boot_clock,
    },
    domain::{group::UserGroupId, word_enum::word_enum},
    platform::boot_time::BootTime,
};

impl Directory {
    /// The last number in the order of the directory.
    pub async fn last_number(&self) -> Result<i64, DirectoryError> {
        self.execute(Access::Current, |tx| {
            let last = tx.one(LAST, values![], |row| row.get(0))?;
            Ok(last.unwrap_or_default())
        })
        .await
    }

    /// Forgets when the recorded changes were recorded, for a past that was made up.
    pub(crate) async fn forget_order(&self) -> Result<(), DirectoryError> {
        self.write(|tx| {
            tx.write("DELETE FROM last_changes", values![])?;
            Ok(())
        })
        .await
    }

    /// The groups of a place whose token came from a rotation that was recorded after this number.
    pub async fn rotated_since(
        &self,
        place: PlaceId,
        number: i64,
    ) -> Result<HashMap<UserGroupId, TokenChange>, DirectoryError> {
        self.execute(Access::Current, move |tx| {
            let rows = tx.all(ROTATED_SINCE, values![place.0, number], |row| {
                let id = UserGroupId::parse(row.text(0)?).map_err(|_| Fault::Row(TABLE))?;
                Ok::<_, Fault>((id, token_change(row, 1)?))
            })?;
            Ok(rows.into_iter().collect())
        })
        .await
    }
}

const TABLE: &str = "last_changes";

word_enum! {
    /// What of a group changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Part {
        /// Name, mapping or properties.
        Fields = "fields",
        Token = "token",
    }
}

/// The last changes of one group.
#[derive(Debug, Clone, Default)]
pub(super) struct LastChanges {
    pub(super) noted: Noted,
    pub(super) token: Option<TokenChange>,
}

/// A server replaces the number by the next one of its sequence, and the time by its own.
const COUNT: &str = "\
INSERT INTO last_changes (place, user_group_id, part, number, rotation, boot_clock) \
SELECT $1, $2, $3, COALESCE(MAX(number), 0) + 1, $4, $5 FROM last_changes WHERE TRUE \
ON CONFLICT (place, user_group_id, part) DO UPDATE SET number = excluded.number, rotation = excluded.rotation, \
 boot_clock = excluded.boot_clock";

/// Counts a change. `rotation`: where a token came from, if it came from here.
pub(super) fn count(
    writes: &mut Statements,
    place: PlaceId,
    id: &UserGroupId,
    part: Part,
    rotation: Option<RotationId>,
) {
    let values = values![
        place.0,
        id.as_str(),
        part.as_str(),
        rotation.map(|rotation| rotation.0),
        // Never NULL, by which a server knows a copied row.
        boot_clock().unwrap_or_default(),
    ];
    writes.add(COUNT, values);
}

const OF_GROUP: &str = "\
SELECT c.part, c.number, c.rotation, since(c.boot_clock), r.by FROM last_changes c \
LEFT JOIN rotations r ON r.id = c.rotation WHERE c.place = $1 AND c.user_group_id = $2";

/// Reads the last changes of a group.
pub(super) fn query(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.add(OF_GROUP, values![place.0, id.as_str()]);
}

pub(super) fn of_group(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<LastChanges, Fault> {
    let mut last = LastChanges::default();
    tx.each(OF_GROUP, values![place.0, id.as_str()], |row| {
        take(&mut last, row)
    })?;
    Ok(last)
}

pub(super) fn parse(found: &mut Results) -> Result<LastChanges, Fault> {
    let mut last = LastChanges::default();
    found.next().all(|row| take(&mut last, row))?;
    Ok(last)
}

fn take(last: &mut LastChanges, row: &Row<'_>) -> Result<(), Fault> {
    let number = row.get(1)?;
    match Part::parse(row.text(0)?) {
        Some(Part::Fields) => last.noted.fields = number,
        Some(Part::Token) => {
            last.noted.token = number;
            last.token = Some(token_change(row, 2)?);
        }
        None => return Err(Fault::Row(TABLE)),
    }
    Ok(())
}

/// From the columns `rotation`, `since(boot_clock)` and `by`, of which the first is `at`.
fn token_change(row: &Row<'_>, at: usize) -> Result<TokenChange, Fault> {
    let rotation: Option<i64> = row.get(at)?;
    let clock: Option<String> = row.get(at + 1)?;
    Ok(TokenChange {
        rotation: rotation.map(RotationId),
        recorded: clock.and_then(|text| BootTime::parse(&text)),
        by: row.get(at + 2)?,
    })
}

const LAST: &str = "SELECT COALESCE(MAX(number), 0) FROM last_changes";

const ROTATED_SINCE: &str = "\
SELECT c.user_group_id, c.rotation, since(c.boot_clock), r.by FROM last_changes c \
JOIN rotations r ON r.id = c.rotation WHERE c.place = $1 AND c.part = 'token' AND c.number > $2";
