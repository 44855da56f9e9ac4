//! Places: which one a profile means, the keys of each, alarms, and merging.

mod answering;
mod binding;
mod merging;

use std::{collections::HashSet, sync::LazyLock};

use jiff::Timestamp;

pub(super) use binding::PLACE_OF;
pub(crate) use binding::{preview_binding, with_key};
#[cfg(test)]
pub(super) use merging::MERGE;

use super::{
    fault::Fault,
    groups, history,
    states::{conflicts, is_open, open_states, restored},
};
use crate::{
    db::{Access, Asked, Tx, Value, placeholders, record, row, values},
    directory::{
        Alarm, Caller, Directory, Gate, KeyId, KeyState, Place, PlaceEvent, PlaceId, Result,
    },
    domain::{
        group::{EnvironmentTag, UserGroupId},
        token::Fingerprint,
    },
};

impl Directory {
    /// Returns the name of a place; `None` if there is no place with that number.
    pub async fn place_name(&self, place: PlaceId) -> Result<Option<String>> {
        self.one(NAME, values![place]).await
    }

    /// Returns the alarms of a place that are not acknowledged, oldest first.
    pub async fn alarms(&self, place: PlaceId) -> Result<Vec<Alarm>> {
        self.all(Access::Short, ALARMS, values![place]).await
    }

    /// Returns what blocks requests with this key.
    pub async fn gate(&self, place: PlaceId, key: KeyId) -> Result<Gate> {
        self.execute(Access::Short, move |tx| ask_gate(tx, place, key)?.read())
            .await
    }

    /// Whether the group of this place ever had this token.
    pub async fn had_token(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        token: Fingerprint,
    ) -> Result<bool> {
        let had = self.one::<()>(history::HAD, values![token, place, id]);
        Ok(had.await?.is_some())
    }

    /// Returns the indices of the fingerprints that are those of a token or an API key seen before, ascending.
    pub async fn known_secrets(&self, fingerprints: Vec<Fingerprint>) -> Result<Vec<usize>> {
        if fingerprints.is_empty() {
            return Ok(Vec::new());
        }
        self.execute(Access::Short, move |tx| known_secrets(tx, &fingerprints))
            .await
    }

    /// Returns all places, by name.
    pub async fn places(&self) -> Result<Vec<Place>> {
        self.execute(Access::Long, all).await
    }

    /// Returns the events of a place, oldest first.
    pub async fn place_events(&self, place: PlaceId) -> Result<Vec<PlaceEvent>> {
        let text = "SELECT * FROM place_events WHERE place = $1 ORDER BY number";
        self.all(Access::Long, text, values![place]).await
    }

    /// Renames a place; `false` if another one has that name.
    pub async fn rename_place(
        &self,
        place: PlaceId,
        name: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<bool> {
        let (to, by) = (name.to_owned(), by.to_owned());
        self.write(move |tx| {
            let was = self::name(tx, place)?;
            if was == to || names_beside(tx, place)?.contains(&to.to_lowercase()) {
                return Ok(false);
            }
            tx.put(RENAME, values![&to, place])?;
            let note = format!("{was} was renamed to {to}");
            add_event(tx, place, (at, &by, ""), "renamed", Some(&note))?;
            Ok(true)
        })
        .await
    }

    /// Acknowledges all alarms of a place and returns their number. `tag` is what answers are compared with from now
    /// on.
    pub async fn acknowledge(
        &self,
        place: PlaceId,
        tag: Option<EnvironmentTag>,
        at: Timestamp,
        by: &str,
        reason: &str,
    ) -> Result<usize> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        self.write(move |tx| {
            let (tag, by, reason) = (tag.as_ref(), by.as_str(), reason.as_str());
            let count = tx.ask::<()>(ACKNOWLEDGE, values![at, by, reason, place])?;
            tx.put(SET_TAG, values![tag, place])?;
            // The tags that raised the alarms are not knowledge about this place.
            tx.put(groups::FORGET_TAGS, values![Value::Writer, place, tag])?;
            add_event(tx, place, (at, by, ""), "alarms acknowledged", Some(reason))?;
            Ok(count.changed()?)
        })
        .await
    }
}

const TABLE: &str = "places";

const KEY_STATE: &str = "SELECT k.state, p.tag FROM place_keys k JOIN places p ON p.number = k.place \
     WHERE k.number = $1 AND k.place = $2";

/// What blocks requests, once it is awaited.
pub(super) struct GateAsked<'t, 'c> {
    /// State and tag.
    key: Asked<'t, 'c, (String, Option<EnvironmentTag>)>,
    alarms: Asked<'t, 'c, Alarm>,
}

pub(super) fn ask_gate<'t, 'c>(
    tx: &'t Tx<'c>,
    place: PlaceId,
    key: KeyId,
) -> Result<GateAsked<'t, 'c>, Fault> {
    Ok(GateAsked {
        key: tx.ask(KEY_STATE, values![key, place])?,
        alarms: tx.ask(ALARMS, values![place])?,
    })
}

impl GateAsked<'_, '_> {
    pub(super) fn read(self) -> Result<Gate, Fault> {
        let (state, tag) = self.key.one()?.unzip();
        // A key that is there no more went with a place that became part of another.
        let state = state.and_then(|state| KeyState::parse(&state));
        Ok(Gate {
            key: state.unwrap_or(KeyState::Withdrawn),
            tag: tag.flatten(),
            alarms: self.alarms.all()?,
        })
    }
}

const ALARMS: &str =
    "SELECT * FROM alarms WHERE place = $1 AND acknowledged_at IS NULL ORDER BY number";

/// From here on nothing by id is sent for the place. An alarm that already exists is not raised twice.
pub(super) const ADD_ALARM: &str = "\
INSERT INTO alarms (place, user_group_id, what, raised_at, raised_by) \
SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM alarms \
 WHERE place = $1 AND user_group_id IS NOT DISTINCT FROM $2 AND what = $3 AND acknowledged_at IS NULL)";

const ACKNOWLEDGE: &str = "\
UPDATE alarms SET acknowledged_at = $1, acknowledged_by = $2, reason = $3 \
WHERE place = $4 AND acknowledged_at IS NULL";

const SET_TAG: &str = "UPDATE places SET tag = $1 WHERE number = $2";

/// Fingerprints that are looked up with one statement.
const AT_ONCE: usize = 128;

/// As [`Directory::known_secrets`].
pub(super) fn known_secrets(
    tx: &Tx<'_>,
    fingerprints: &[Fingerprint],
) -> Result<Vec<usize>, Fault> {
    let mut known = HashSet::new();
    for some in fingerprints.chunks(AT_ONCE) {
        let last = some.last().into_iter().cycle();
        let values = some.iter().chain(last).take(AT_ONCE);
        let values = values.map(Value::from).collect();
        known.extend(tx.all::<[u8; 32]>(SECRETS.as_str(), values)?);
    }
    let is_known = |one: &Fingerprint| known.contains(one.as_bytes());
    let all = fingerprints.iter().enumerate();
    Ok(all
        .filter(|(_, one)| is_known(one))
        .map(|(at, _)| at)
        .collect())
}

/// Tokens and API keys that were ever seen, in any place.
static SECRETS: LazyLock<String> = LazyLock::new(|| {
    let all = placeholders(AT_ONCE);
    format!(
        "SELECT fingerprint FROM fingerprints WHERE fingerprint IN ({all}) \
         UNION SELECT fingerprint FROM place_keys WHERE fingerprint IN ({all})"
    )
});

record!(Place, "places" {
    id = "p.number", name = "p.name", tag = "p.tag",
    groups = "(SELECT COUNT(*) FROM user_groups g WHERE g.place = p.number)",
    open = (concat!(
        "(SELECT COUNT(*) FROM rotations WHERE place = p.number AND (", open_states!(), " OR ", conflicts!(), " OR handoff IN ('pending', 'failed'))) \
        + (SELECT COUNT(*) FROM mutations WHERE place = p.number AND operation <> 'rotate' AND ", is_open!(), ")"
    )),
    last_used = "(SELECT MAX(h.at) FROM history h WHERE h.place = p.number)" or None,
    restored_at = (concat!(
        "(SELECT f.at FROM facts f WHERE f.place = p.number AND f.fact = 'sole_writer' AND f.value = 'no' AND f.by = ",
        restored!(), ")"
    )) or None,
} with { urls: Vec::new(), keys: Vec::new(), profiles: Vec::new(), alarms: Vec::new() });

pub(super) fn all(tx: &Tx<'_>) -> Result<Vec<Place>, Fault> {
    let mut places: Vec<Place> = tx.all("SELECT * FROM places p ORDER BY p.name", values![])?;
    for place in &mut places {
        let of_place = || values![place.id];
        let urls = tx.ask(
            "SELECT url FROM place_urls WHERE place = $1 ORDER BY url",
            of_place(),
        )?;
        let profiles = tx.ask(
            "SELECT DISTINCT profile FROM bindings WHERE place = $1 ORDER BY profile",
            of_place(),
        )?;
        let keys = tx.ask(
            "SELECT * FROM place_keys k WHERE k.place = $1 ORDER BY k.number",
            of_place(),
        )?;
        let alarms = tx.ask(ALARMS, of_place())?;
        place.urls = urls.all()?;
        place.profiles = profiles.all()?;
        place.keys = keys.all()?;
        place.alarms = alarms.all()?;
    }
    Ok(places)
}

/// When, who, and with which profile.
fn who(caller: &Caller) -> (Timestamp, &str, &str) {
    (caller.at, &caller.by, &caller.profile)
}

fn add_event(
    tx: &Tx<'_>,
    place: PlaceId,
    (at, by, profile): (Timestamp, &str, &str),
    event: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    let row = row! { place, at, by, profile, event, note };
    Ok(tx.insert("place_events", row)?)
}

const NAME: &str = "SELECT name FROM places WHERE number = $1";

fn name(tx: &Tx<'_>, place: PlaceId) -> Result<String, Fault> {
    tx.one(NAME, values![place])?.ok_or(Fault::Row(TABLE))
}

const HAS_KEY: &str = "SELECT 1 FROM place_keys WHERE place = $1 AND state <> 'withdrawn' LIMIT 1";

fn has_no_key(tx: &Tx<'_>, place: PlaceId) -> Result<bool, Fault> {
    Ok(tx.one::<()>(HAS_KEY, values![place])?.is_none())
}

const HAS_TOKEN: &str = "SELECT 1 FROM fingerprints WHERE place = $1 LIMIT 1";

fn has_no_tokens(tx: &Tx<'_>, place: PlaceId) -> Result<bool, Fault> {
    Ok(tx.one::<()>(HAS_TOKEN, values![place])?.is_none())
}

const RENAME: &str = "UPDATE places SET name = $1 WHERE number = $2";

const NAMES: &str = "SELECT name FROM places WHERE number <> $1";

/// The names of all other places, in lower case: two that differ only in case would be taken for each other. Databases do
/// not agree on the case of letters.
fn names_beside(tx: &Tx<'_>, place: PlaceId) -> Result<HashSet<String>, Fault> {
    let names: Vec<String> = tx.all(NAMES, values![place])?;
    Ok(names.iter().map(|name| name.to_lowercase()).collect())
}
