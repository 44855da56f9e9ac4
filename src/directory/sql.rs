//! The SQL texts, in the part of the language that SQLite and PostgreSQL share. They touch no database themselves.
//!
//! Parameters are `$1`, `$2`, … and first appear in that order: SQLite numbers them by first appearance.

mod filter;
pub(super) mod mutations;
pub(super) mod places;

pub(super) use filter::{Parameter, history, rotations};

macro_rules! group_columns {
    () => {
        "user_group_id, name, team_id, mapping, properties, environment_tag, fingerprint, origin, \
         last_rotated_at, last_rotated_by, last_seen, created_at"
    };
}

macro_rules! rotation_columns {
    () => {
        "id, profile, user_group_id, state, previous, fingerprint, refused, read_unchanged, by, reason, \
         started_at, sent_at, note, handoff, handoff_exit, handoff_note, boot_clock, place, key, hands_off"
    };
}

macro_rules! open_states {
    () => {
        "state IN ('intended', 'sent', 'rotated', 'unknown')"
    };
}

pub(super) const GROUPS: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM user_groups WHERE place = $1 ORDER BY user_group_id"
);

pub(super) const GROUP: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM user_groups WHERE place = $1 AND user_group_id = $2"
);

/// A value that is not known never erases a stored one, not even one that could not be read.
pub(super) const SAVE_GROUP: &str = "\
INSERT INTO user_groups (place, user_group_id, name, team_id, mapping, properties, environment_tag, fingerprint, \
 origin, last_rotated_at, last_rotated_by, last_seen, key, created_at) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
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
 created_at = COALESCE(excluded.created_at, user_groups.created_at)";

pub(super) const KEEP_FINGERPRINT: &str = "\
INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
VALUES ($1, $2, $3, $4, $4) \
ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET last_seen = excluded.last_seen \
WHERE fingerprints.last_seen < excluded.last_seen";

pub(super) const OWNERS: &str = "\
SELECT p.name, f.user_group_id, COALESCE(g.fingerprint = f.fingerprint, FALSE) AS is_current, f.last_seen, f.place \
FROM fingerprints f JOIN places p ON p.number = f.place \
LEFT JOIN user_groups g ON g.place = f.place AND g.user_group_id = f.user_group_id \
WHERE f.fingerprint = $1 \
ORDER BY is_current DESC, f.last_seen DESC, p.name, f.user_group_id";

pub(super) const ADD_ENTRY: &str = "\
INSERT INTO history (at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason, \
 changes, note, place, key) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

const HISTORY: &str = "\
SELECT number, at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason, \
 changes, note, place FROM history";

/// Nothing is returned where another rotation holds the token.
pub(super) const BEGIN_ROTATION: &str = "\
INSERT INTO rotations (place, user_group_id, state, previous, refused, read_unchanged, by, reason, started_at, \
 boot_clock, profile, key, hands_off) \
VALUES ($1, $2, 'intended', $3, 0, 0, $4, $5, $6, $7, $8, $9, $10) \
ON CONFLICT DO NOTHING RETURNING id";

pub(super) const ADD_BATCH: &str = "\
INSERT INTO batches (place, profile, by, reason, started_at) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4) RETURNING id";

pub(super) const ADD_ITEM: &str = "\
INSERT INTO batch_items (batch_id, position, user_group_id) VALUES ($1, $2, $3)";

pub(super) const BATCHES: &str = "\
SELECT id, by, reason, started_at, ended_at FROM batches WHERE place = $1 ORDER BY id DESC";

/// Where the items of a batch stand: what the journal says of their rotations is never copied.
pub(super) const STANDINGS: &str = "\
SELECT r.state, i.outcome FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id \
WHERE i.batch_id = $1";

pub(super) const HAS_BATCH: &str = "SELECT 1 FROM batches WHERE id = $1 AND place = $2";

pub(super) const ITEMS: &str = "\
SELECT i.position, i.user_group_id, i.rotation_id, r.state, i.outcome, COALESCE(r.note, i.note), r.previous, \
 r.fingerprint \
FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id \
WHERE i.batch_id = $1 ORDER BY i.position";

pub(super) const ITEM: &str = "\
SELECT rotation_id, outcome IS NOT NULL FROM batch_items \
WHERE batch_id = $1 AND position = $2 AND user_group_id = $3";

pub(super) const TAKE_ITEM: &str = "\
UPDATE batch_items SET rotation_id = $1 WHERE batch_id = $2 AND position = $3";

pub(super) const END_ITEM: &str = "\
UPDATE batch_items SET outcome = $1, note = $2 \
WHERE batch_id = $3 AND position = $4 AND rotation_id IS NULL AND outcome IS NULL";

pub(super) const END_BATCH: &str = "UPDATE batches SET ended_at = $1 WHERE id = $2";

pub(super) const OPEN_IMPORT: &str = "\
SELECT id, started_at, by FROM imports \
WHERE place = $1 AND digest = $2 AND ended_at IS NULL ORDER BY id DESC LIMIT 1";

pub(super) const ADD_IMPORT: &str = "\
INSERT INTO imports (place, profile, digest, started_at, by) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4) RETURNING id";

pub(super) const IMPORT_ROWS: &str =
    "SELECT number FROM import_rows WHERE import_id = $1 ORDER BY number";

pub(super) const END_ROW: &str = "\
INSERT INTO import_rows (import_id, number, outcome) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

pub(super) const END_IMPORT: &str = "UPDATE imports SET ended_at = $1 WHERE id = $2";

pub(super) const DRAFTS: &str = "\
SELECT user_group_id, creating, name, mapping, properties, mapping_text, group_text, base, base_at, changed_at, by \
FROM drafts WHERE place = $1 ORDER BY changed_at DESC, user_group_id";

pub(super) const DRAFT_BY: &str =
    "SELECT changed_at, by FROM drafts WHERE place = $1 AND user_group_id = $2 AND merged = 0";

pub(super) const SAVE_DRAFT: &str = "\
INSERT INTO drafts (place, user_group_id, creating, name, mapping, properties, mapping_text, group_text, base, \
 base_at, changed_at, by) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
ON CONFLICT (place, user_group_id, merged) DO UPDATE SET \
 creating = excluded.creating, \
 name = excluded.name, \
 mapping = excluded.mapping, \
 properties = excluded.properties, \
 mapping_text = excluded.mapping_text, \
 group_text = excluded.group_text, \
 base = excluded.base, \
 base_at = excluded.base_at, \
 changed_at = excluded.changed_at, \
 by = excluded.by";

/// A newer one of another console stays.
pub(super) const FORGET_DRAFT: &str = "DELETE FROM drafts WHERE place = $1 AND user_group_id = $2 AND merged = 0 AND changed_at <= $3";

/// Of a place that became part of this one; it is the group's draft now.
pub(super) const NEXT_DRAFT: &str = "\
UPDATE drafts SET merged = 0 WHERE place = $1 AND user_group_id = $2 AND merged = ( \
 SELECT MIN(other.merged) FROM drafts other WHERE other.place = $1 AND other.user_group_id = $2)";

pub(super) const HOLDER: &str = concat!(
    "SELECT ",
    rotation_columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 AND previous = $3 \
     AND state NOT IN ('not_applied', 'abandoned')"
);

pub(super) const UNSETTLED: &str = concat!(
    "SELECT ",
    rotation_columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 \
     AND state IN ('intended', 'sent', 'unknown') ORDER BY id DESC LIMIT 1"
);

pub(super) const ROTATION: &str = concat!(
    "SELECT ",
    rotation_columns!(),
    " FROM rotations WHERE id = $1"
);

const ROTATIONS: &str = concat!("SELECT ", rotation_columns!(), " FROM rotations");

/// Listed by the index `rotations_open`.
pub(super) const OPEN_OF_GROUP: &str = concat!(
    "SELECT ",
    rotation_columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 AND ",
    open_states!(),
    " ORDER BY id DESC"
);

/// Compare and set: changes nothing where the state is not the expected one.
pub(super) const STEP_ROTATION: &str = "\
UPDATE rotations SET state = $1, fingerprint = $2, refused = $3, read_unchanged = $4, \
 sent_at = COALESCE(sent_at, $5), note = COALESCE($6, note), boot_clock = COALESCE($7, boot_clock) \
WHERE id = $8 AND state = $9";

pub(super) const HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3, profile = COALESCE($4, profile) WHERE id = $5";

/// Changes nothing where a later rotation has overtaken it.
pub(super) const END_HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3 WHERE id = $4 AND handoff <> 'none'";

/// What is open of earlier rotations of the same group.
pub(super) const OVERTAKE_HAND_OFFS: &str = "\
UPDATE rotations SET handoff = 'none', handoff_note = $1 \
WHERE id < $2 AND place = $3 AND user_group_id = $4 AND handoff IN ('pending', 'failed')";

/// The latest of the later rotations of the same group that have a hand-off.
pub(super) const HAND_OFF_LATER: &str = "\
UPDATE rotations SET handoff = 'pending', handoff_note = $1 \
WHERE id = (SELECT MAX(later.id) FROM rotations later JOIN rotations this \
 ON later.place = this.place AND later.user_group_id = this.user_group_id \
 WHERE this.id = $2 AND later.id > $2 AND later.handoff <> 'none')";

pub(super) const ADD_HAPPENING: &str = "\
INSERT INTO rotation_events (rotation_id, seq, at, event, fingerprint, since_sent, horizon_passed, state, note) \
SELECT $1, COALESCE(MAX(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM rotation_events WHERE rotation_id = $1";

pub(super) const HAPPENINGS: &str = "\
SELECT at, event, fingerprint, since_sent, horizon_passed, state, note \
FROM rotation_events WHERE rotation_id = $1 ORDER BY seq";

pub(super) const VIEW: &str =
    "SELECT filter, sort, reverse, best_first FROM console_views WHERE profile = $1";

pub(super) const KEEP_VIEW: &str = "\
INSERT INTO console_views (profile, filter, sort, reverse, best_first) VALUES ($1, $2, $3, $4, $5) \
ON CONFLICT (profile) DO UPDATE SET filter = excluded.filter, sort = excluded.sort, reverse = excluded.reverse, \
 best_first = excluded.best_first";

/// How many there are of what a person may have to look after, over all places.
pub(super) const CONTENTS: &str = concat!(
    "SELECT (SELECT COUNT(*) FROM user_groups), (SELECT COUNT(*) FROM rotations WHERE ",
    open_states!(),
    "), (SELECT COUNT(*) FROM rotations WHERE handoff = 'pending'), \
     (SELECT COUNT(*) FROM rotations WHERE handoff = 'failed'), (SELECT COUNT(*) FROM drafts), \
     (SELECT COUNT(*) FROM mutations WHERE rotation_id IS NULL AND state IN ('sent', 'unknown', 'open'))"
);

pub(super) const FACTS: &str = "SELECT fact, value, source, at, by FROM facts WHERE place = $1";

pub(super) const STATE_FACT: &str = "\
INSERT INTO facts (place, fact, value, source, at, by) VALUES ($1, $2, $3, $4, $5, $6) \
ON CONFLICT (place, fact) DO UPDATE SET value = excluded.value, source = excluded.source, at = excluded.at, \
 by = excluded.by";

pub(super) const META: &str = "SELECT value FROM meta WHERE key = $1";

pub(super) const ADD_META: &str = "INSERT INTO meta (key, value) VALUES ($1, $2)";

/// The open states, as the index `rotations_open` lists them.
const OPEN: &str = open_states!();

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        directory::{HistoryFilter, PlaceId, RotationFilter},
        domain::{mutation, rotation::State},
    };

    #[test]
    fn parameters_first_appear_in_order() {
        for text in [
            GROUPS,
            GROUP,
            SAVE_GROUP,
            KEEP_FINGERPRINT,
            OWNERS,
            ADD_ENTRY,
            BEGIN_ROTATION,
            ADD_BATCH,
            ADD_ITEM,
            BATCHES,
            STANDINGS,
            HAS_BATCH,
            ITEMS,
            ITEM,
            TAKE_ITEM,
            END_ITEM,
            END_BATCH,
            DRAFTS,
            DRAFT_BY,
            SAVE_DRAFT,
            FORGET_DRAFT,
            HOLDER,
            UNSETTLED,
            ROTATION,
            OPEN_OF_GROUP,
            STEP_ROTATION,
            HAND_OFF,
            END_HAND_OFF,
            OVERTAKE_HAND_OFFS,
            HAND_OFF_LATER,
            ADD_HAPPENING,
            HAPPENINGS,
            VIEW,
            KEEP_VIEW,
            FACTS,
            STATE_FACT,
            META,
            ADD_META,
            NEXT_DRAFT,
            mutations::HOLDER,
            mutations::BEGIN,
            mutations::ONE,
            mutations::OPEN,
            mutations::OPEN_OF_GROUP,
            mutations::STEP,
            mutations::COUNT_RECORDED,
            mutations::RECORDED,
            mutations::FOLLOW_ROTATION,
        ] {
            must_be_in_order(text);
        }
    }

    pub(in crate::directory) fn must_be_in_order(text: &str) {
        let mut highest = 0;
        for piece in text.split('$').skip(1) {
            let digits: String = piece.chars().take_while(char::is_ascii_digit).collect();
            // A path into JSON begins with the sign, too.
            if digits.is_empty() && piece.starts_with('.') {
                continue;
            }
            let number: usize = digits.parse().expect("a number follows the sign");
            assert!(number <= highest + 1, "${number} is early in {text}");
            highest = highest.max(number);
        }
        assert!(highest > 0, "{text}");
    }

    #[test]
    fn the_open_states_are_those_of_the_domain_and_of_the_index() {
        let words: Vec<_> = State::ALL
            .into_iter()
            .filter(|state| state.is_open())
            .map(|state| format!("'{}'", state.as_str()))
            .collect();
        assert_eq!(OPEN, format!("state IN ({})", words.join(", ")));
        let schema = include_str!("../../assets/migrations/directory/0001_begin.sql");
        assert!(schema.contains(&format!("WHERE {OPEN};")));
    }

    #[test]
    fn the_states_that_hold_and_are_open_are_those_of_the_domain_and_of_the_indexes() {
        let list = |is: fn(mutation::State) -> bool| {
            let words = mutation::State::ALL.into_iter().filter(|state| is(*state));
            let words: Vec<_> = words.map(|state| format!("'{}'", state.as_str())).collect();
            format!("state IN ({})", words.join(", "))
        };
        assert_eq!(mutations::HOLDS, list(mutation::State::holds));
        assert_eq!(mutations::IS_OPEN, list(mutation::State::is_open));
        let schema = include_str!("../../assets/migrations/directory/0008_mutations.sql");
        for states in [mutations::HOLDS, mutations::IS_OPEN] {
            assert!(schema.contains(&format!("WHERE {states};")), "{states}");
        }
    }

    #[test]
    fn filters_become_conditions() {
        let (text, parameters) = history(HistoryFilter {
            place: Some(PlaceId(3)),
            before: Some(7),
            limit: Some(2),
            ..HistoryFilter::default()
        });
        assert!(
            text.ends_with(
                "FROM history WHERE place = $1 AND number < $2 ORDER BY number DESC LIMIT $3"
            ),
            "{text}"
        );
        let expected = [
            Parameter::Integer(3),
            Parameter::Integer(7),
            Parameter::Integer(2),
        ];
        assert_eq!(parameters, expected);
        let (text, _) = rotations(RotationFilter::default());
        assert!(
            text.ends_with("FROM rotations ORDER BY id DESC LIMIT $1"),
            "{text}"
        );
    }
}
