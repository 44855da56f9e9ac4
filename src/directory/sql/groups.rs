//! The groups of a place.

use std::cmp::Ordering;

use tokio::sync::mpsc;

use super::{
    facts,
    fault::Fault,
    history,
    order::{self, Part},
};
use crate::{
    db::{Access, Asked, Tx, Value, values},
    directory::{
        Directory, KeyId, PlaceId, Record, Recorded, Result, Role,
        columns::{self, Origins},
        tables::NEWEST,
    },
    domain::{
        group::UserGroupId,
        known::{KnownGroup, Observation, RecordedOrder},
    },
    search::{natural, title_key},
};

impl Directory {
    /// Passes all groups of a place, ordered by the bytes of their ids, to `take` in chunks, on the directory's thread, so
    /// that they need not all be in memory.
    ///
    /// They are a snapshot of one moment. `take` returns whether it wants more. A field that cannot be read counts as
    /// unknown, so that one damaged row hides no others.
    pub async fn each_group(
        &self,
        place: PlaceId,
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<()> {
        self.each_group_from(place, false, take).await
    }

    /// As [`Self::each_group`], beginning with the last if `reverse`.
    pub async fn each_group_from(
        &self,
        place: PlaceId,
        reverse: bool,
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<()> {
        let each = move |c: &Tx<'_>| each(c, place, reverse, take);
        self.execute(Access::Long, each).await
    }

    /// Returns one group if it is known.
    pub async fn group(&self, place: PlaceId, id: &UserGroupId) -> Result<Option<KnownGroup>> {
        Ok(self.one(GROUP, values![place, id]).await?.flatten())
    }

    /// Adds groups that their places do not know yet, as they arrive, in one transaction; nothing else is written until
    /// the channel ends. They are stored as they are, without history entries.
    pub async fn fill(&self, mut parts: mpsc::Receiver<Vec<(PlaceId, KnownGroup)>>) -> Result<()> {
        // The channel can be read only once.
        let parts = std::iter::from_fn(move || parts.blocking_recv());
        self.may(Role::Operator)?;
        self.execute(Access::WriteOnce, move |tx| {
            if tx.sqlite().is_none() {
                tx.one::<()>("SELECT may_write($1, FALSE)", values![NEWEST])?;
            }
            fill(tx, parts)
        })
        .await
    }

    /// Returns those of these groups that are known, in the order of `ids`. Meant for up to a few thousand ids.
    pub async fn groups_by_ids(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<KnownGroup>>> {
        self.execute(Access::Short, move |tx| by_ids(tx, place, &ids))
            .await
    }

    /// Returns the known ids of a place in ascending order.
    pub async fn known_ids(&self, place: PlaceId) -> Result<Vec<UserGroupId>> {
        self.execute(Access::Long, move |tx| {
            let ids: Vec<String> = tx.all(IDS, values![place])?;
            // As when reading groups, an id that cannot be decoded hides no others.
            Ok(ids.into_iter().flat_map(UserGroupId::parse).collect())
        })
        .await
    }

    /// Whether [`Self::each_group`] passes the groups in the natural order of their ids.
    pub async fn are_in_natural_order(&self, place: PlaceId) -> Result<bool> {
        self.execute(Access::Long, move |tx| {
            let (mut before, mut is_so) = (None::<String>, true);
            tx.each(IDS, values![place], |id: String| {
                is_so = before
                    .as_deref()
                    .is_none_or(|before| natural(before, &id).is_lt());
                before = Some(id);
                Ok::<_, Fault>(is_so)
            })?;
            Ok(is_so)
        })
        .await
    }
}

const TABLE: &str = "user_groups";

const GROUPS: &str = "SELECT * FROM user_groups WHERE place = $1 ORDER BY user_group_id";

fn all(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<KnownGroup>, Fault> {
    let all: Vec<Option<KnownGroup>> = tx.all(GROUPS, values![place])?;
    Ok(all.into_iter().flatten().collect())
}

/// Groups per chunk; few, so that the receiver is almost done when the last chunk arrives.
const CHUNK: usize = 128;

/// In the order of the bytes of the ids.
pub(super) fn each(
    tx: &Tx<'_>,
    place: PlaceId,
    reverse: bool,
    mut take: impl FnMut(Vec<KnownGroup>) -> bool,
) -> Result<(), Fault> {
    let text = format!("{GROUPS}{}", if reverse { " DESC" } else { "" });
    let mut some = Vec::with_capacity(CHUNK);
    let mut is_wanted = true;
    tx.each(text, values![place], |group: Option<KnownGroup>| {
        some.extend(group);
        if some.len() == CHUNK {
            is_wanted = take(std::mem::replace(&mut some, Vec::with_capacity(CHUNK)));
        }
        Ok::<_, Fault>(is_wanted)
    })?;
    if is_wanted {
        take(some);
    }
    Ok(())
}

const IDS: &str = "SELECT user_group_id FROM user_groups WHERE place = $1 ORDER BY user_group_id";

pub(super) const GROUP: &str = "SELECT * FROM user_groups WHERE place = $1 AND user_group_id = $2";

pub(super) fn known(asked: Asked<'_, '_, Option<KnownGroup>>) -> Result<Option<KnownGroup>, Fault> {
    Ok(asked.one()?.flatten())
}

/// In the order of `ids`, asked for together.
pub(super) fn by_ids(
    tx: &Tx<'_>,
    place: PlaceId,
    ids: &[UserGroupId],
) -> Result<Vec<Option<KnownGroup>>, Fault> {
    let groups = ids.iter().map(|id| tx.ask(GROUP, values![place, id]));
    let groups = groups.collect::<Result<Vec<_>, _>>()?;
    groups.into_iter().map(known).collect()
}

/// Applies an observation to the group and writes it back. Counts what of the group was changed by it.
pub(super) fn observe(
    tx: &Tx<'_>,
    known: Option<KnownGroup>,
    place: PlaceId,
    record: &Record,
    mut observation: Observation,
) -> Result<Recorded, Fault> {
    observation.at = columns::at_stored_precision(observation.at);
    let is_new = known.is_none();
    let mut group = known.unwrap_or_else(|| KnownGroup::new(observation.id.clone()));
    let token = group.fingerprint.as_ref().map(|known| known.value);
    let at = observation.at;
    let returned = observation.returned.as_ref();
    let fingerprint = returned.map(|returned| returned.fingerprint);
    if let Some(tag) = returned.and_then(|returned| returned.environment_tag.as_ref()) {
        facts::first_tag(tx, place, tag)?;
    }
    if record.created {
        group.created_at = Some(at);
    }
    let is_other = fingerprint.is_some_and(|new| token.is_some_and(|old| old != new));
    let noticed = group.observe(observation);
    save(tx, place, &group, record.key, is_new)?;
    if is_other && !record.gives_token() {
        let rotation = record.token_from;
        order::count(tx, place, &group.id, Part::Token, rotation)?;
    }
    if noticed.name_was.is_some() || noticed.properties_changed {
        order::count(tx, place, &group.id, Part::Fields, None)?;
    }
    if let Some(fingerprint) = fingerprint {
        history::keep_token(tx, place, &group.id, fingerprint, at)?;
    }
    Ok(Recorded {
        group: Some(group),
        ..Recorded::default()
    })
}

/// Adds groups that are not known yet. Fingerprints are inserted in their own order, so that each page is written once
/// instead of often.
fn fill(tx: &Tx<'_>, parts: impl Iterator<Item = Vec<(PlaceId, KnownGroup)>>) -> Result<(), Fault> {
    let (mut tagged, mut had) = (Vec::new(), Vec::new());
    for part in parts {
        for (place, group) in part {
            let tag = group.environment_tag.as_ref();
            if let Some(tag) = tag.filter(|_| !tagged.contains(&place)) {
                facts::first_tag(tx, place, &tag.value)?;
                tagged.push(place);
            }
            save(tx, place, &group, None, true)?;
            if let Some(known) = group.fingerprint {
                had.push((known.value, place, group.id, known.at));
            }
        }
        tx.flush()?;
    }
    had.sort_unstable_by_key(|(fingerprint, ..)| *fingerprint.as_bytes());
    for some in had.chunks(CHUNK) {
        for (fingerprint, place, id, at) in some {
            history::keep_token(tx, *place, id, *fingerprint, *at)?;
        }
        tx.flush()?;
    }
    Ok(())
}

/// A group that exists in both places is united field by field; the others are moved.
pub(super) fn merge_groups(tx: &Tx<'_>, from: PlaceId, into: PlaceId) -> Result<(), Fault> {
    for group in all(tx, from)? {
        let group = match known(tx.ask(GROUP, values![into, &group.id])?)? {
            Some(other) => {
                let number = |place| order::of_group(tx, place, &group.id);
                let (ours, theirs) = (number(into)?.noted, number(from)?.noted);
                // What was only ever seen has no number: it may be the newer one.
                let compare = |ours: i64, theirs: i64| match (ours, theirs) {
                    (0, _) | (_, 0) => Ordering::Equal,
                    (ours, theirs) => ours.cmp(&theirs),
                };
                let recorded = RecordedOrder {
                    fields: compare(ours.fields, theirs.fields),
                    token: compare(ours.token, theirs.token),
                };
                other.combined_with(group, recorded)
            }
            None => group,
        };
        save(tx, into, &group, None, false)?;
    }
    Ok(())
}

macro_rules! add_group {
    () => {
        "\
INSERT INTO user_groups (place, user_group_id, name, team_id, mapping, properties, environment_tag, fingerprint, \
 origin, last_rotated_at, last_rotated_by, last_seen, key, created_at, desk, title, change) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
 (SELECT COALESCE(MAX(change), 0) + 1 FROM user_groups WHERE place = $1 AND change > 0))"
    };
}

/// On a server with several writers this fails if another one was faster; then the request starts again.
const ADD_GROUP: &str = add_group!();

/// An unknown value never erases a stored one, not even one that could not be read.
const SAVE_GROUP: &str = concat!(
    add_group!(),
    " \
ON CONFLICT (place, user_group_id) DO UPDATE SET \
 name = COALESCE(excluded.name, user_groups.name), \
 team_id = COALESCE(excluded.team_id, user_groups.team_id), \
 mapping = COALESCE(excluded.mapping, user_groups.mapping), \
 properties = COALESCE(excluded.properties, user_groups.properties), \
 environment_tag = COALESCE(excluded.environment_tag, user_groups.environment_tag), \
 fingerprint = COALESCE(excluded.fingerprint, user_groups.fingerprint), \
 origin = excluded.origin, \
 last_rotated_at = excluded.last_rotated_at, \
 last_rotated_by = excluded.last_rotated_by, \
 last_seen = excluded.last_seen, \
 key = COALESCE(excluded.key, user_groups.key), \
 created_at = COALESCE(excluded.created_at, user_groups.created_at), \
 desk = excluded.desk, \
 title = excluded.title, \
 change = excluded.change"
);

pub(super) fn save(
    tx: &Tx<'_>,
    place: PlaceId,
    group: &KnownGroup,
    key: Option<KeyId>,
    is_new: bool,
) -> Result<(), Fault> {
    let origin = serde_json::to_string(&Origins::of(group)).map_err(|_| Fault::Row(TABLE))?;
    let last = group.last_rotated.as_ref();
    let name = group.name.as_ref().map(|known| &known.value);
    let values = values![
        place,
        &group.id,
        name,
        group.team_id.as_ref().map(|known| known.value),
        group.mapping.as_ref().map(|known| &known.value),
        group.properties.as_ref().map(|known| &known.value),
        group.environment_tag.as_ref().map(|known| &known.value),
        group.fingerprint.as_ref().map(|known| known.value),
        origin,
        last.map(|last| last.at),
        last.and_then(|last| last.by.as_ref()),
        group.last_seen,
        key,
        group.created_at,
        Value::Writer,
        title_key(name.map(String::as_str), group.id.as_str()),
    ];
    Ok(tx.put(if is_new { ADD_GROUP } else { SAVE_GROUP }, values)?)
}

/// The number of the last write of a group of this place.
pub(super) const LAST_CHANGE: &str =
    "SELECT COALESCE(MAX(change), 0) FROM user_groups WHERE place = $1 AND change > 0";

const CHANGED: &str = "\
SELECT * FROM user_groups WHERE place = $1 AND change > 0 AND change > $2 AND desk IS DISTINCT FROM $3 \
ORDER BY change LIMIT $4";

/// As [`CHANGED`], for what a snapshot did not see. The oldest transaction of the snapshot only serves the index.
const CHANGED_IN: &str = "\
SELECT * FROM user_groups WHERE place = $1 AND changed_in >= pg_snapshot_xmin(($2::text)::pg_snapshot) \
 AND NOT pg_visible_in_snapshot(changed_in, ($2::text)::pg_snapshot) AND desk IS DISTINCT FROM $3 ORDER BY changed_in LIMIT $4";

/// The groups that others have written since, at most `most`, and whether there are more.
pub(super) fn changed(
    tx: &Tx<'_>,
    place: PlaceId,
    since: Value,
    most: usize,
) -> Result<(Vec<KnownGroup>, bool), Fault> {
    let values = values![place, since, Value::Writer, most + 1];
    let text = tx.sqlite().map_or(CHANGED_IN, |_| CHANGED);
    let mut rows: Vec<Option<KnownGroup>> = tx.all(text, values)?;
    // Rows that cannot be read count, too.
    let are_more = rows.len() > most;
    rows.truncate(most);
    Ok((rows.into_iter().flatten().collect(), are_more))
}

/// Removes tags that this place does not have from all groups.
pub(super) const FORGET_TAGS: &str = "\
UPDATE user_groups SET environment_tag = NULL, origin = json_remove(origin, '$.environment_tag'), desk = $1, \
 change = (SELECT COALESCE(MAX(change), 0) + 1 FROM user_groups WHERE place = $2 AND change > 0) \
WHERE place = $2 AND environment_tag IS NOT NULL AND environment_tag IS DISTINCT FROM $3";
