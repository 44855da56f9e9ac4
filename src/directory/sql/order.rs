//! The last recorded change of each group, of its fields and of its token, numbered in the order of the directory. What
//! is older than an answer, or younger, is decided by these numbers, never by the clocks of two machines.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;

use super::fault::Fault;
use crate::{
    db::{Access, Tx, values},
    directory::{Directory, Noted, PlaceId, Result, RotationId, TokenChange, columns::boot_clock},
    domain::{group::UserGroupId, word_enum::word_enum},
};

impl Directory {
    /// The last number in the order of the directory.
    pub async fn last_number(&self) -> Result<i64> {
        let text = "SELECT COALESCE(MAX(number), 0) FROM last_changes";
        Ok(self.one(text, values![]).await?.unwrap_or_default())
    }

    /// Forgets when the recorded changes were recorded, for a past that was made up.
    pub(crate) async fn forget_order(&self) -> Result<()> {
        self.write(|tx| Ok(tx.put("DELETE FROM last_changes", values![])?))
            .await
    }

    /// The groups of a place whose last change of the token was recorded after this number, whoever changed it.
    pub async fn token_changed_since(
        &self,
        place: PlaceId,
        number: i64,
    ) -> Result<HashMap<UserGroupId, TokenChange>> {
        self.execute(Access::Short, move |tx| {
            let rows = tx.all::<(UserGroupId, TokenChange)>(CHANGED_SINCE, values![place, number]);
            let rows = rows.map_err(|fault| fault.in_table("last_changes"))?;
            Ok(rows.into_iter().collect())
        })
        .await
    }

    /// The groups of a place whose token came from a rotation that was recorded less than this ago by the clock of a
    /// shared database, and when. Empty for a file. What was copied or is of another timeline is left out: its time is
    /// not of this clock.
    pub async fn rotated_within(
        &self,
        place: PlaceId,
        within: Duration,
    ) -> Result<HashMap<UserGroupId, Timestamp>> {
        let within = i64::try_from(within.as_micros()).unwrap_or(i64::MAX);
        self.execute(Access::Short, move |tx| {
            if tx.sqlite().is_some() {
                return Ok(HashMap::new());
            }
            let rows = tx.all::<(UserGroupId, Timestamp)>(ROTATED_WITHIN, values![place, within]);
            let rows = rows.map_err(|fault| fault.in_table("last_changes"))?;
            Ok(rows.into_iter().collect())
        })
        .await
    }

    /// The time of a shared database; `None` for a file.
    pub async fn clock(&self) -> Result<Option<Timestamp>> {
        self.execute(Access::Short, move |tx| {
            if tx.sqlite().is_some() {
                return Ok(None);
            }
            Ok(tx.one("SELECT now_in_micros()", values![])?)
        })
        .await
    }
}

word_enum! {
    /// What of a group changed.
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
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    part: Part,
    rotation: Option<RotationId>,
) -> Result<(), Fault> {
    // Never NULL, by which a server knows a copied row.
    let clock = boot_clock().unwrap_or_default();
    Ok(tx.put(COUNT, values![place, id, part.as_str(), rotation, clock])?)
}

/// Part, number, where a token came from.
type Row = (String, i64, TokenChange);

pub(super) const OF_GROUP: &str = "\
SELECT c.part, c.number, c.rotation, r.by, since(c.boot_clock) FROM last_changes c \
LEFT JOIN rotations r ON r.id = c.rotation WHERE c.place = $1 AND c.user_group_id = $2";

pub(super) fn of_group(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<LastChanges, Fault> {
    of(tx.ask(OF_GROUP, values![place, id])?.all()?)
}

pub(super) fn of(rows: Vec<Row>) -> Result<LastChanges, Fault> {
    let mut last = LastChanges::default();
    for (part, number, token) in rows {
        match Part::parse(&part) {
            Some(Part::Fields) => last.noted.fields = number,
            Some(Part::Token) => {
                last.noted.token = number;
                last.token = Some(token);
            }
            None => return Err(Fault::Row("last_changes")),
        }
    }
    Ok(last)
}

const CHANGED_SINCE: &str = "\
SELECT c.user_group_id, c.rotation, r.by, since(c.boot_clock) FROM last_changes c \
LEFT JOIN rotations r ON r.id = c.rotation WHERE c.place = $1 AND c.part = 'token' AND c.number > $2";

/// A copied change has no time, and one from before a failover has one that is marked.
const ROTATED_WITHIN: &str = "\
SELECT user_group_id, split_part(boot_clock, '@', 1)::bigint FROM last_changes \
WHERE place = $1 AND part = 'token' AND rotation IS NOT NULL \
 AND split_part(boot_clock, '@', 2) = (SELECT timeline()) AND split_part(boot_clock, '@', 3) = '' \
 AND split_part(boot_clock, '@', 1)::bigint > (SELECT now_in_micros()) - $2::bigint";
