//! Merges two places that turn out to be the same, and renames a profile: what the directory stores under the old name
//! moves along.

use jiff::Timestamp;

use super::{add_event, name};
use crate::{
    db::{Tx, values},
    directory::{
        Directory, PlaceId, Refusal, Result, Role,
        sql::{
            fault::Fault,
            groups,
            states::{open_states, restored},
        },
    },
    domain::rotation::LONGEST_SETTLE_WINDOW,
    platform::boot_time::BootTime,
};

impl Directory {
    /// Merges two places in one transaction: of each field the newer value stays; history, fingerprints, journals and
    /// batches are united; drafts of both are kept.
    pub async fn merge_places(
        &self,
        from: PlaceId,
        into: PlaceId,
        at: Timestamp,
        by: &str,
    ) -> Result<Result<(), Refusal>> {
        self.may(Role::Admin)?;
        let by = by.to_owned();
        self.write(move |tx| merge(tx, from, into, at, &by)).await
    }

    /// Renames a profile. Its place, with everything in it, stays; what this installation stores under the old name
    /// moves along. If the new name means another environment at the same address, nothing is done and the name of that
    /// environment is returned.
    pub async fn rename_profile(
        &self,
        name: &str,
        to: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<Result<Vec<PlaceId>, String>> {
        let (name, to, by) = (name.to_owned(), to.to_owned(), by.to_owned());
        self.write(move |tx| {
            let (name, to, by) = (&name, &to, &by);
            let taken: Option<String> = tx.one(TAKEN, values![name, to])?;
            if let Some(place) = taken {
                return Ok(Err(place));
            }
            let places: Vec<PlaceId> = tx.all(PLACES_OF, values![name])?;
            for text in RENAME_PROFILE {
                tx.put(text, values![to, name])?;
            }
            tx.put(HAND_OFFS, values![to, name, by])?;
            for place in &places {
                let note = format!("{name} was renamed to {to}");
                add_event(tx, *place, (at, by, to), "profile_renamed", Some(&note))?;
            }
            Ok(Ok(places))
        })
        .await
    }
}

/// Who is about to send a change, or sent one, and how long ago by the directory's own clock.
const UNDER_WAY: &str = "\
SELECT by, since(boot_clock) FROM mutations WHERE place = $1 AND state IN ('intended', 'sent') ORDER BY id";

/// Place $1 receives the contents of place $2; the groups themselves are united before.
pub(crate) const MERGE: [&str; 24] = [
    "INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
     SELECT fingerprint, $1, user_group_id, first_seen, last_seen FROM fingerprints WHERE place = $2 \
     ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET \
      first_seen = CASE WHEN excluded.first_seen < fingerprints.first_seen \
       THEN excluded.first_seen ELSE fingerprints.first_seen END, \
      last_seen = CASE WHEN excluded.last_seen > fingerprints.last_seen \
       THEN excluded.last_seen ELSE fingerprints.last_seen END",
    "DELETE FROM fingerprints WHERE place <> $1 AND place = $2",
    "UPDATE history SET place = $1 WHERE place = $2",
    "UPDATE rotations SET place = $1, merged = CASE merged WHEN 0 THEN $2 ELSE merged END WHERE place = $2",
    "UPDATE mutations SET place = $1, merged = CASE merged WHEN 0 THEN $2 ELSE merged END WHERE place = $2",
    "INSERT INTO last_changes (place, user_group_id, part, number, rotation, boot_clock) \
     SELECT $1, user_group_id, part, number, rotation, boot_clock FROM last_changes WHERE place = $2 \
     ON CONFLICT (place, user_group_id, part) DO UPDATE SET number = excluded.number, rotation = excluded.rotation, \
      boot_clock = excluded.boot_clock WHERE excluded.number > last_changes.number",
    "DELETE FROM last_changes WHERE place <> $1 AND place = $2",
    // Of an older copy the later mark stays: what was known before it may lack changes.
    concat!(
        "INSERT INTO facts (place, fact, value, source, at, by) SELECT $1, fact, value, source, at, by FROM facts \
         WHERE place = $2 AND fact = 'sole_writer' AND by = ",
        restored!(),
        " \
     ON CONFLICT (place, fact) DO UPDATE SET value = excluded.value, source = excluded.source, by = excluded.by, \
      at = CASE WHEN facts.by = excluded.by AND facts.at > excluded.at THEN facts.at ELSE excluded.at END"
    ),
    concat!(
        "DELETE FROM facts WHERE place = $1 AND fact = 'sole_writer' AND by <> ",
        restored!(),
        " AND NOT EXISTS \
      (SELECT 1 FROM facts other WHERE other.place = $2 AND other.fact = 'sole_writer' AND other.value = 'yes')"
    ),
    "DELETE FROM facts WHERE place <> $1 AND place = $2",
    "UPDATE batches SET place = $1 WHERE place = $2",
    "UPDATE imports SET place = $1 WHERE place = $2",
    "UPDATE drafts SET place = $1, merged = CASE WHEN EXISTS (SELECT 1 FROM drafts other \
      WHERE other.place = $1 AND other.user_group_id = drafts.user_group_id AND other.merged = drafts.merged) \
      THEN CASE merged WHEN 0 THEN $2 ELSE merged * 1000000 - $2 END ELSE merged END WHERE place = $2",
    // Of two notes, or two sets of labels, of one group the more recently written is kept.
    "INSERT INTO annotations (place, user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite) \
     SELECT $1, user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite \
     FROM annotations WHERE place = $2 ON CONFLICT (place, user_group_id) DO UPDATE SET \
      note = CASE WHEN COALESCE(excluded.noted_at, 0) > COALESCE(annotations.noted_at, 0) \
       THEN excluded.note ELSE annotations.note END, \
      noted_by = CASE WHEN COALESCE(excluded.noted_at, 0) > COALESCE(annotations.noted_at, 0) \
       THEN excluded.noted_by ELSE annotations.noted_by END, \
      noted_at = CASE WHEN COALESCE(excluded.noted_at, 0) > COALESCE(annotations.noted_at, 0) \
       THEN excluded.noted_at ELSE annotations.noted_at END, \
      labels = CASE WHEN COALESCE(excluded.labelled_at, 0) > COALESCE(annotations.labelled_at, 0) \
       THEN excluded.labels ELSE annotations.labels END, \
      labelled_by = CASE WHEN COALESCE(excluded.labelled_at, 0) > COALESCE(annotations.labelled_at, 0) \
       THEN excluded.labelled_by ELSE annotations.labelled_by END, \
      labelled_at = CASE WHEN COALESCE(excluded.labelled_at, 0) > COALESCE(annotations.labelled_at, 0) \
       THEN excluded.labelled_at ELSE annotations.labelled_at END, \
      favourite = annotations.favourite OR excluded.favourite",
    "DELETE FROM annotations WHERE place <> $1 AND place = $2",
    // A run that is active there ends; what it rotated is recorded in the other place.
    "DELETE FROM scheduled_runs WHERE place <> $1 AND place = $2",
    "INSERT INTO place_urls (place, url) SELECT $1, url FROM place_urls WHERE place = $2 ON CONFLICT DO NOTHING",
    "DELETE FROM place_urls WHERE place <> $1 AND place = $2",
    "UPDATE place_keys SET place = $1 WHERE place = $2 AND fingerprint NOT IN \
      (SELECT fingerprint FROM place_keys WHERE place = $1)",
    "DELETE FROM place_keys WHERE place <> $1 AND place = $2",
    "UPDATE bindings SET place = $1 WHERE place = $2",
    "DELETE FROM bindings WHERE place <> $1 AND place = $2",
    "UPDATE alarms SET place = $1 WHERE place = $2",
    "DELETE FROM user_groups WHERE place <> $1 AND place = $2",
];

/// Copies the tag of $1 to $2 if $2 has none.
const MERGE_TAG: &str = "\
UPDATE places SET tag = (SELECT other.tag FROM places other WHERE other.number = $1) \
WHERE number = $2 AND tag IS NULL";

/// On a server only the owner of the tables may move recorded events and other people's rows.
const AS_OWNER: &str = "\
SELECT set_config('role', (SELECT r.rolname FROM pg_roles r JOIN pg_namespace n ON n.nspowner = r.oid \
 WHERE n.nspname = current_schema()), TRUE)";
const OF_ALL: &str = "SELECT merge_of_all($1, $2)";

const REMOVE: &str = "DELETE FROM places WHERE number = $1";

/// Moves everything from one place to the other. A group that both have is united field by field.
pub(crate) fn merge(
    tx: &Tx<'_>,
    from: PlaceId,
    into: PlaceId,
    at: Timestamp,
    by: &str,
) -> Result<Result<(), Refusal>, Fault> {
    if from == into {
        return Ok(Ok(()));
    }
    let was = name(tx, from)?;
    let under_way: Vec<(String, Option<String>)> = tx.all(UNDER_WAY, values![from])?;
    // Of another boot of the machine nothing is under way any more.
    let is_recent = |clock: &Option<String>| {
        let begun = clock.as_deref().and_then(BootTime::parse);
        let ago = BootTime::now()
            .zip(begun)
            .and_then(|(now, begun)| now.since(&begun));
        ago.is_some_and(|ago| ago < LONGEST_SETTLE_WINDOW)
    };
    let begun = under_way.into_iter().find(|(_, clock)| is_recent(clock));
    if let Some((by, _)) = begun {
        return Ok(Err(Refusal::UnderWay { place: was, by }));
    }
    let is_shared = tx.sqlite().is_none();
    if is_shared {
        tx.one::<()>(AS_OWNER, values![])?;
    }
    groups::merge_groups(tx, from, into)?;
    for text in MERGE {
        tx.put(text, values![into, from])?;
    }
    if is_shared {
        tx.one::<()>(OF_ALL, values![from, into])?;
    }
    tx.put(MERGE_TAG, values![from, into])?;
    let note = format!("{was} was merged into this environment");
    add_event(tx, into, (at, by, ""), "merged", Some(&note))?;
    tx.put(REMOVE, values![from])?;
    Ok(Ok(()))
}

/// Another environment that had the new name at the same address.
const TAKEN: &str = "\
SELECT p.name FROM bindings was JOIN bindings other ON other.url = was.url AND other.place <> was.place \
 JOIN places p ON p.number = other.place WHERE was.profile = $1 AND other.profile = $2 LIMIT 1";

const PLACES_OF: &str = "SELECT DISTINCT place FROM bindings WHERE profile = $1";

/// From the second name to the first. In a team, rows of other people are not touched: bindings and views are per
/// person.
const RENAME_PROFILE: [&str; 4] = [
    "DELETE FROM bindings WHERE profile = $1 AND url IN (SELECT was.url FROM bindings was WHERE was.profile = $2)",
    "UPDATE bindings SET profile = $1 WHERE profile = $2",
    "DELETE FROM console_views WHERE profile = $1 AND EXISTS (SELECT 1 FROM console_views was WHERE was.profile = $2)",
    "UPDATE console_views SET profile = $1 WHERE profile = $2",
];

/// Rotations whose new token this profile is still to hand off, started by the same person.
const HAND_OFFS: &str = concat!(
    "UPDATE rotations SET profile = $1 WHERE profile = $2 AND by = $3 AND (handoff IN ('pending', 'failed') OR ",
    open_states!(),
    ")"
);
