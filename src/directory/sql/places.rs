//! The texts about places. Parameters as in the texts about groups.

pub(in crate::directory) const BY_KEY: &str =
    "SELECT place FROM place_keys WHERE fingerprint = $1 AND state <> 'withdrawn' ORDER BY place";

pub(in crate::directory) const BY_URL: &str =
    "SELECT place FROM place_urls WHERE url = $1 ORDER BY place";

pub(in crate::directory) const BY_NAME: &str =
    "SELECT url, place FROM bindings WHERE profile = $1 ORDER BY at DESC";

pub(in crate::directory) const ELSEWHERE: &str = "\
SELECT b.url, p.name FROM bindings b JOIN places p ON p.number = b.place \
WHERE b.profile = $1 AND b.url NOT IN ($2, '') ORDER BY b.at DESC, b.url";

/// With this address, else from before addresses were kept.
pub(in crate::directory) const PLACE_OF: &str = "\
SELECT place FROM bindings WHERE profile = $1 AND url IN ($2, '') ORDER BY url = '' LIMIT 1";

pub(in crate::directory) const WITH_KEY: &str = "\
SELECT u.place FROM place_urls u JOIN place_keys k ON k.place = u.place \
WHERE u.url = $1 AND k.fingerprint = $2 AND k.state = 'trusted' LIMIT 1";

pub(in crate::directory) const BOUND: &str = "\
SELECT p.number, p.name, p.tag, k.number, k.state, b.environment FROM bindings b \
JOIN places p ON p.number = b.place \
JOIN place_urls u ON u.place = p.number AND u.url = b.url \
JOIN place_keys k ON k.place = p.number \
WHERE b.profile = $1 AND b.url = $2 AND k.fingerprint = $3 AND k.state <> 'withdrawn'";

/// Of this address, and what was kept under this name before addresses were.
pub(in crate::directory) const OTHERS: &str = "\
SELECT name, groups, open FROM ( \
 SELECT p.name, \
  (SELECT COUNT(*) FROM user_groups g WHERE g.place = p.number) AS groups, \
  (SELECT COUNT(*) FROM rotations r WHERE r.place = p.number \
   AND r.state IN ('intended', 'sent', 'rotated', 'unknown')) AS open \
 FROM places p WHERE p.number IN (SELECT place FROM place_urls WHERE url = $1 \
  UNION SELECT place FROM bindings WHERE profile = $2 AND url = '') AND p.number <> $3) others \
WHERE groups > 0 OR open > 0 ORDER BY name";

pub(in crate::directory) const ADD_PLACE: &str = "\
INSERT INTO places (name, made_at, made_by) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING number";

/// Another profile of the place that names another tag.
pub(in crate::directory) const TAG_CONFLICT: &str = "\
SELECT p.name, b.profile FROM bindings b JOIN places p ON p.number = b.place \
WHERE b.place = $1 AND b.profile <> $2 AND b.environment <> $3 ORDER BY b.at DESC LIMIT 1";

pub(in crate::directory) const ADD_URL: &str =
    "INSERT INTO place_urls (place, url) VALUES ($1, $2) ON CONFLICT DO NOTHING";

pub(in crate::directory) const ADD_KEY: &str = "\
INSERT INTO place_keys (place, fingerprint, state, added_at, added_by) VALUES ($1, $2, $3, $4, $5) \
ON CONFLICT (fingerprint, place) DO UPDATE SET state = excluded.state, added_at = excluded.added_at, \
 added_by = excluded.added_by";

pub(in crate::directory) const BIND: &str = "\
INSERT INTO bindings (profile, url, place, environment, at) VALUES ($1, $2, $3, $4, $5) \
ON CONFLICT (profile, url) DO UPDATE SET place = excluded.place, environment = excluded.environment, at = excluded.at";

pub(in crate::directory) const UNBIND: &str =
    "DELETE FROM bindings WHERE profile = $1 AND url = $2";

pub(in crate::directory) const SET_TAG: &str = "UPDATE places SET tag = $1 WHERE number = $2";

pub(in crate::directory) const FIRST_TAG: &str =
    "UPDATE places SET tag = $1 WHERE number = $2 AND tag IS NULL";

pub(in crate::directory) const SET_KEY: &str = "UPDATE place_keys SET state = $1 WHERE number = $2";

pub(in crate::directory) const KEY_STATE: &str = "SELECT k.state, p.tag FROM place_keys k JOIN places p ON p.number = k.place \
     WHERE k.number = $1 AND k.place = $2";

pub(in crate::directory) const ALARMS: &str = "\
SELECT number, user_group_id, what, raised_at, raised_by FROM alarms \
WHERE place = $1 AND acknowledged_at IS NULL ORDER BY number";

/// The same alarm is raised once.
pub(in crate::directory) const ADD_ALARM: &str = "\
INSERT INTO alarms (place, user_group_id, what, raised_at, raised_by) \
SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM alarms \
 WHERE place = $1 AND user_group_id IS $2 AND what = $3 AND acknowledged_at IS NULL)";

pub(in crate::directory) const ACKNOWLEDGE: &str = "\
UPDATE alarms SET acknowledged_at = $1, acknowledged_by = $2, reason = $3 \
WHERE place = $4 AND acknowledged_at IS NULL";

pub(in crate::directory) const FORGET_TAGS: &str = "\
UPDATE user_groups SET environment_tag = NULL, origin = json_remove(origin, '$.environment_tag') \
WHERE place = $1 AND environment_tag IS NOT NULL AND environment_tag IS DISTINCT FROM $2";

/// A token or an API key that was ever seen, wherever.
pub(in crate::directory) const IS_SECRET: &str = "\
SELECT 1 FROM fingerprints WHERE fingerprint = $1 \
UNION ALL SELECT 1 FROM place_keys WHERE fingerprint = $1 LIMIT 1";

pub(in crate::directory) const HAD_TOKEN: &str =
    "SELECT 1 FROM fingerprints WHERE fingerprint = $1 AND place = $2 AND user_group_id = $3";

pub(in crate::directory) const PLACES: &str = "\
SELECT p.number, p.name, p.tag, \
 (SELECT COUNT(*) FROM user_groups g WHERE g.place = p.number), \
 (SELECT COUNT(*) FROM rotations r WHERE r.place = p.number \
  AND (r.state IN ('intended', 'sent', 'rotated', 'unknown') OR r.handoff IN ('pending', 'failed'))), \
 (SELECT MAX(h.at) FROM history h WHERE h.place = p.number) \
FROM places p ORDER BY p.name";

pub(in crate::directory) const URLS: &str =
    "SELECT url FROM place_urls WHERE place = $1 ORDER BY url";

pub(in crate::directory) const PROFILES: &str =
    "SELECT DISTINCT profile FROM bindings WHERE place = $1 ORDER BY profile";

pub(in crate::directory) const KEYS: &str = "\
SELECT k.number, k.fingerprint, k.state, k.added_at, k.added_by, \
 (SELECT COUNT(*) FROM history h WHERE h.place = k.place AND h.key = k.number) \
FROM place_keys k WHERE k.place = $1 ORDER BY k.number";

pub(in crate::directory) const EVENTS: &str = "\
SELECT at, by, profile, event, note FROM place_events WHERE place = $1 ORDER BY number";

pub(in crate::directory) const ADD_EVENT: &str = "\
INSERT INTO place_events (place, at, by, profile, event, note) VALUES ($1, $2, $3, $4, $5, $6)";

pub(in crate::directory) const NAME: &str = "SELECT name FROM places WHERE number = $1";

pub(in crate::directory) const IS_USED: &str = "\
SELECT EXISTS (SELECT 1 FROM user_groups WHERE place = $1) \
 OR EXISTS (SELECT 1 FROM history WHERE place = $1) \
 OR EXISTS (SELECT 1 FROM rotations WHERE place = $1) \
 OR EXISTS (SELECT 1 FROM mutations WHERE place = $1) \
 OR EXISTS (SELECT 1 FROM batches WHERE place = $1) \
 OR EXISTS (SELECT 1 FROM imports WHERE place = $1) \
 OR EXISTS (SELECT 1 FROM drafts WHERE place = $1)";

pub(in crate::directory) const HAS_KEY: &str =
    "SELECT 1 FROM place_keys WHERE place = $1 AND state <> 'withdrawn' LIMIT 1";

pub(in crate::directory) const HAS_TOKEN: &str =
    "SELECT 1 FROM fingerprints WHERE place = $1 LIMIT 1";

pub(in crate::directory) const RENAME: &str = "\
UPDATE places SET name = $1 WHERE number = $2 AND NOT EXISTS (SELECT 1 FROM places WHERE name = $1)";

/// Who begins or sends a change, or did a moment ago.
pub(in crate::directory) const UNDER_WAY: &str = "\
SELECT by FROM mutations WHERE place = $1 AND state IN ('intended', 'sent') \
AND COALESCE(sent_at, started_at) > $2 ORDER BY id LIMIT 1";

/// What one place held becomes the other's; the groups themselves are united before. Into $1, from $2.
pub(in crate::directory) const MERGE: [&str; 18] = [
    "INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
     SELECT fingerprint, $1, user_group_id, first_seen, last_seen FROM fingerprints WHERE place = $2 \
     ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET \
      first_seen = MIN(fingerprints.first_seen, excluded.first_seen), \
      last_seen = MAX(fingerprints.last_seen, excluded.last_seen)",
    "DELETE FROM fingerprints WHERE place <> $1 AND place = $2",
    "UPDATE history SET place = $1 WHERE place = $2",
    "UPDATE rotations SET place = $1, merged = CASE merged WHEN 0 THEN $2 ELSE merged END WHERE place = $2",
    "UPDATE mutations SET place = $1, merged = CASE merged WHEN 0 THEN $2 ELSE merged END WHERE place = $2",
    "DELETE FROM facts WHERE place = $1 AND fact = 'sole_writer' AND NOT EXISTS \
      (SELECT 1 FROM facts other WHERE other.place = $2 AND other.fact = 'sole_writer' AND other.value = 'yes')",
    "DELETE FROM facts WHERE place <> $1 AND place = $2",
    "UPDATE batches SET place = $1 WHERE place = $2",
    "UPDATE imports SET place = $1 WHERE place = $2",
    "UPDATE drafts SET place = $1, merged = CASE WHEN EXISTS (SELECT 1 FROM drafts other \
      WHERE other.place = $1 AND other.user_group_id = drafts.user_group_id AND other.merged = drafts.merged) \
      THEN $2 ELSE merged END WHERE place = $2",
    "INSERT INTO place_urls (place, url) SELECT $1, url FROM place_urls WHERE place = $2 ON CONFLICT DO NOTHING",
    "DELETE FROM place_urls WHERE place <> $1 AND place = $2",
    "UPDATE place_keys SET place = $1 WHERE place = $2 AND fingerprint NOT IN \
      (SELECT fingerprint FROM place_keys WHERE place = $1)",
    "DELETE FROM place_keys WHERE place <> $1 AND place = $2",
    "UPDATE bindings SET place = $1 WHERE place = $2 AND url <> ''",
    "DELETE FROM bindings WHERE place <> $1 AND place = $2",
    "UPDATE alarms SET place = $1 WHERE place = $2",
    "DELETE FROM user_groups WHERE place <> $1 AND place = $2",
];

/// From $1, which names one, to $2, which does not.
pub(in crate::directory) const MERGE_TAG: &str = "\
UPDATE places SET tag = (SELECT other.tag FROM places other WHERE other.number = $1) \
WHERE number = $2 AND tag IS NULL";

pub(in crate::directory) const REMOVE: &str = "DELETE FROM places WHERE number = $1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_place_can_hold_counts_as_used_and_goes_along() {
        let holds = [
            "user_groups",
            "history",
            "rotations",
            "mutations",
            "batches",
            "imports",
            "drafts",
        ];
        for table in holds {
            let looked_at = format!("FROM {table} WHERE place = $1");
            assert!(IS_USED.contains(&looked_at), "{table}");
            let moves = MERGE.iter().any(|text| text.contains(table));
            // Groups are united one by one.
            assert!(moves || table == "user_groups", "{table}");
        }
    }

    #[test]
    fn parameters_first_appear_in_order() {
        let texts = [
            BY_KEY,
            BY_URL,
            BY_NAME,
            ELSEWHERE,
            PLACE_OF,
            WITH_KEY,
            BOUND,
            OTHERS,
            ADD_PLACE,
            TAG_CONFLICT,
            ADD_URL,
            ADD_KEY,
            BIND,
            UNBIND,
            SET_TAG,
            FIRST_TAG,
            SET_KEY,
            KEY_STATE,
            ALARMS,
            ADD_ALARM,
            ACKNOWLEDGE,
            FORGET_TAGS,
            HAD_TOKEN,
            IS_SECRET,
            UNDER_WAY,
            URLS,
            PROFILES,
            KEYS,
            EVENTS,
            ADD_EVENT,
            NAME,
            IS_USED,
            HAS_KEY,
            HAS_TOKEN,
            RENAME,
            MERGE_TAG,
            REMOVE,
        ];
        for text in texts.into_iter().chain(MERGE) {
            crate::directory::sql::tests::must_be_in_order(text);
        }
    }
}
