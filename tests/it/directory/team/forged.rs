//! An operator with psql who writes in another name: by temporary tables named like those of the catalogue, by functions
//! and operators in `public`, by another role or search path. And that no function or column is forgotten: both are read
//! from the catalogue.

use std::collections::BTreeSet;

use super::roles::{SHARED, scene, shared};
use crate::support::postgres::Server;

const PERSON: &str = "forging_operator_person";

/// What a forger does before the statement, and the search path it then has.
const PREPARED: &[(&str, &[&str])] = &[
    ("nothing", &[]),
    (
        "temporary tables",
        &[
            "CREATE TEMP TABLE pg_class AS SELECT oid, 'forging_operator_person'::regrole::oid AS relowner FROM pg_catalog.pg_class",
            "CREATE TEMP TABLE pg_roles (rolname NAME)",
            "CREATE TEMP TABLE rotations AS SELECT 1::bigint AS place, 'acme'::text AS user_group_id, 'ana'::text AS by",
            "CREATE TEMP TABLE mutations AS SELECT * FROM rotations",
            "CREATE TEMP TABLE text (x int)",
        ],
    ),
    (
        "temporary tables first",
        &[
            "CREATE TEMP TABLE pg_class AS SELECT oid, 'forging_operator_person'::regrole::oid AS relowner FROM pg_catalog.pg_class",
            "SET LOCAL search_path = pg_temp, pg_catalog, forging",
        ],
    ),
    (
        "functions and an operator in public",
        &[
            "CREATE FUNCTION public.is_oneself(TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
            "CREATE FUNCTION public.is_owner(OID) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
            "CREATE FUNCTION public.starts_with(TEXT, TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
            "CREATE FUNCTION public.pg_has_role(NAME, OID, TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
            "CREATE FUNCTION public.same(TEXT, TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
            "CREATE OPERATOR public.= (LEFTARG = TEXT, RIGHTARG = TEXT, FUNCTION = public.same)",
            "SET LOCAL search_path = public, forging, pg_catalog",
        ],
    ),
    ("another role", &["SET LOCAL ROLE forging_operator"]),
];

/// Refused to an operator, whatever was prepared. `ana` is somebody else; group `acme` and its rows are hers.
#[rustfmt::skip] // A table: one case per line.
const FORGED: &[&str] = &[
    "INSERT INTO forging.history (at, by, profile, user_group_id, operation, ending, place) VALUES (1, 'ana', 'eu', 'acme', 'get', 'found', 1)",
    "INSERT INTO forging.history (at, by, profile, user_group_id, operation, ending, place) VALUES (1, 'ana@desk1', 'eu', 'acme', 'get', 'found', 1)",
    "INSERT INTO forging.rotations (place, profile, user_group_id, state, previous, refused, read_unchanged, by, started_at) VALUES (1, 'eu', 'other', 'intended', sha256('y'), FALSE, FALSE, 'ana', 1)",
    "INSERT INTO forging.mutations (place, user_group_id, operation, state, by, profile, started_at) VALUES (1, 'globex', 'create', 'intended', 'ana', 'eu', 1)",
    "INSERT INTO forging.batches (place, profile, by, started_at) VALUES (1, 'eu', 'ana', 1)",
    "INSERT INTO forging.batch_runs (batch_id, run, by, paused, stands_since, seen) VALUES (1, 2, 'ana', FALSE, 1, 1)",
    "INSERT INTO forging.scheduled_runs (place, run, by, stands_since, seen) VALUES (1, 2, 'ana', 1, 1)",
    "INSERT INTO forging.imports (place, profile, digest, started_at, by) VALUES (1, 'eu', sha256('x'), 1, 'ana')",
    "INSERT INTO forging.places (name, made_at, made_by) VALUES ('us', 1, 'ana')",
    "INSERT INTO forging.place_keys (place, fingerprint, state, added_at, added_by) VALUES (1, sha256('x'), 'trusted', 1, 'ana')",
    "UPDATE forging.place_keys SET added_by = 'ana@elsewhere'",
    "UPDATE forging.place_keys SET added_at = 2",
    "INSERT INTO forging.place_events (place, at, by, profile, event) VALUES (1, 1, 'ana', 'eu', 'made')",
    "INSERT INTO forging.alarms (place, what, raised_at, raised_by) VALUES (1, 'y', 1, 'ana')",
    "UPDATE forging.alarms SET acknowledged_at = 1, acknowledged_by = 'ana', reason = 'r' WHERE acknowledged_by IS NULL",
    "UPDATE forging.alarms SET reason = 'another' WHERE acknowledged_by = 'ana'",
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'absent_name', 'keep', 'told', 1, 'ana')",
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'absent_name', 'keep', 'proven', 1, 'the service')",
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'absent_name', 'keep', 'told', 1, 'the service')",
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'absent_name', 'keep', 'announced', 1, 'ana')",
    "UPDATE forging.facts SET value = 'no'",
    "UPDATE forging.facts SET at = 2",
    "INSERT INTO forging.annotations (place, user_group_id, note, noted_at, noted_by, labels, favourite) VALUES (1, 'globex', 'n', 1, 'ana', '[]', FALSE)",
    "INSERT INTO forging.annotations (place, user_group_id, labels, labelled_at, labelled_by, favourite) VALUES (1, 'globex', '[\"x\"]', 1, 'ana', FALSE)",
    "UPDATE forging.annotations SET note = 'another'",
    "UPDATE forging.annotations SET labels = '[\"another\"]'",
    "INSERT INTO forging.saved_views (name, filter, sort, reverse, best_first, columns, at, by) VALUES ('v', '', 'id', FALSE, FALSE, '', 1, 'ana')",
    "INSERT INTO forging.drafts (place, user_group_id, creating, name, mapping, properties, base, base_at, changed_at, by) VALUES (1, 'globex', FALSE, '', '[]', '', '{}', 1, 1, 'ana')",
    "INSERT INTO forging.user_groups (place, user_group_id, origin, last_rotated_at, last_rotated_by) VALUES (1, 'globex', '{}', 1, 'ana')",
    "INSERT INTO forging.user_groups (place, user_group_id, origin, name) VALUES (1, 'globex', '{\"name\": [\"sent\", 1, \"ana@desk\"]}', 'G')",
    "UPDATE forging.user_groups SET last_rotated_by = 'li' WHERE user_group_id = 'acme'",
    "UPDATE forging.user_groups SET last_rotated_at = 9 WHERE user_group_id = 'named'",
    "UPDATE forging.user_groups SET last_rotated_at = 9, last_rotated_by = 'ana' WHERE user_group_id = 'changed'",
    "UPDATE forging.user_groups SET name = 'another' WHERE user_group_id = 'named'",
    "UPDATE forging.user_groups SET origin = '{\"name\": [\"returned\", 2, \"ana\"]}' WHERE user_group_id = 'named'",
    "CREATE TRIGGER mine BEFORE INSERT ON forging.history FOR EACH ROW EXECUTE FUNCTION forging.recorded()",
    "CREATE OR REPLACE FUNCTION forging.is_oneself(said pg_catalog.text) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
    "ALTER TABLE forging.history DISABLE TRIGGER USER",
    "ALTER FUNCTION forging.is_oneself RESET search_path",
    "CREATE RULE mine AS ON INSERT TO forging.history DO NOTHING",
    "SET LOCAL ROLE forging_owner",
    "SET LOCAL SESSION AUTHORIZATION ana",
    "UPDATE forging.facts SET db_user = 'ana'",
    // Nobody's name is not another way.
    "UPDATE forging.alarms SET acknowledged_at = 1, acknowledged_by = NULL, reason = 'r' WHERE acknowledged_by IS NULL",
    "UPDATE forging.alarms SET acknowledged_at = NULL, acknowledged_by = NULL, reason = NULL WHERE acknowledged_by = 'ana'",
    "UPDATE forging.annotations SET note = 'go ahead', noted_by = NULL",
    "INSERT INTO forging.annotations (place, user_group_id, note, labels, favourite) VALUES (1, 'globex', 'n', '[]', FALSE)",
    "UPDATE forging.rotations SET handoff_by = NULL, handoff_run = 7",
    // What no service announces, and what no answer contains.
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'sole_writer', 'yes', 'told', 2, 'the service') \
     ON CONFLICT (place, fact) DO UPDATE SET at = excluded.at, by = excluded.by",
    "UPDATE forging.facts SET value = 'no', by = 'the service'",
    "UPDATE forging.user_groups SET mapping = '{\"7\": \"666\"}' WHERE user_group_id = 'mapped'",
    "UPDATE forging.user_groups SET mapping = '{\"7\": \"50\", \"8\": \"1\"}' WHERE user_group_id = 'mapped'",
    "UPDATE forging.user_groups SET mapping = '{\"7\": \"50\"}', origin = '{\"mapping\": [\"sent\", 9, \"ana\"]}' WHERE user_group_id = 'changed'",
    "UPDATE forging.mutations SET sent = '{\"mapping\": {\"7\": \"666\"}}' WHERE state = 'sent' AND by = 'ana'",
    "UPDATE forging.mutations SET changes = '{\"mapping\": {\"7\": [null, \"666\"]}}' WHERE state = 'sent' AND by = 'ana'",
    // What only the sender of a request can say of it, and what only whoever took a hand-off. Rotation 2 is hers, 3 has ended.
    "INSERT INTO forging.rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (2, 2, 1, 'answered_refused', FALSE, 'rotated')",
    "INSERT INTO forging.rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (2, 2, 1, 'sending', FALSE, 'sent')",
    "INSERT INTO forging.rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (2, 2, 1, 'abandon', FALSE, 'abandoned')",
    "INSERT INTO forging.rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (3, 2, 1, 'read_contradicts', FALSE, 'confirmed')",
    "UPDATE forging.rotations SET state = 'sent' WHERE id = 1",
    "UPDATE forging.rotations SET state = 'rotated', fingerprint = sha256('z') WHERE id = 1",
    "UPDATE forging.rotations SET fingerprint = sha256('z') WHERE id = 2",
    "INSERT INTO forging.history (at, by, profile, user_group_id, operation, ending, place, rotation) VALUES (1, session_user, 'eu', 'globex', 'rotate', 'rotated', 1, 2)",
    "UPDATE forging.rotations SET sent_at = 5 WHERE id = 2",
    "UPDATE forging.rotations SET refused = TRUE WHERE id = 2",
    "UPDATE forging.rotations SET handoff = 'done', handoff_exit = 0 WHERE id = 2",
    "UPDATE forging.mutations SET sent_at = 5 WHERE user_group_id = 'changed'",
    "INSERT INTO forging.last_changes (place, user_group_id, part, number, rotation) VALUES (1, 'globex', 'token', 1, 2)",
    // Of a batch of hers, with one item that was rotated.
    "INSERT INTO forging.batch_items (batch_id, position, user_group_id) VALUES (1, 999, 'other')",
    "WITH mine AS (INSERT INTO forging.batch_runs (batch_id, run, by, paused, stands_since, seen) VALUES (1, 2, session_user, FALSE, 1, 1)) \
     INSERT INTO forging.batch_items (batch_id, position, user_group_id) VALUES (1, 999, 'other')",
    "UPDATE forging.batch_items SET outcome = 'unreachable' WHERE batch_id = 1",
    "UPDATE forging.batch_items SET rotation_id = 1 WHERE batch_id = 1 AND rotation_id IS NULL",
    "UPDATE forging.batches SET stopped = NULL, ended_at = 1 WHERE by = 'ana'",
    "UPDATE forging.batch_runs SET ended = TRUE WHERE by = 'ana'",
];

/// Allowed: the same in the own name, or where the other's own rows prove the name.
#[rustfmt::skip] // A table: one case per line.
const TRUE_NAMES: &[&str] = &[
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'absent_name', 'keep', 'announced', 1, session_user)",
    "INSERT INTO forging.rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (2, 2, 1, 'read_contradicts', FALSE, 'rotated')",
    "UPDATE forging.rotations SET state = 'confirmed' WHERE id = 2; \
     INSERT INTO forging.rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (2, 2, 1, 'read', FALSE, 'confirmed')",
    "INSERT INTO forging.last_changes (place, user_group_id, part, number, rotation) VALUES (1, 'acme', 'token', 1, 2)",
    "UPDATE forging.facts SET value = 'no', by = session_user",
    "UPDATE forging.annotations SET note = 'another', noted_by = session_user || '@desk'",
    "UPDATE forging.annotations SET favourite = TRUE",
    "UPDATE forging.user_groups SET last_rotated_at = 2, last_rotated_by = 'ana', fingerprint = sha256('x') WHERE user_group_id = 'acme'",
    "UPDATE forging.user_groups SET last_seen = 5 WHERE user_group_id = 'named'",
    "UPDATE forging.user_groups SET name = 'x', origin = json_build_object('name', json_build_array('sent', 1, session_user)) WHERE user_group_id = 'named'",
    "INSERT INTO forging.user_groups (place, user_group_id, origin, last_rotated_at, last_rotated_by) \
     SELECT place, user_group_id, origin, last_rotated_at, last_rotated_by FROM forging.user_groups WHERE user_group_id = 'named' \
     ON CONFLICT (place, user_group_id) DO UPDATE SET last_seen = 7",
    // Whoever reads a group settles what ana sent, and takes it over in her name.
    "WITH ended AS (UPDATE forging.mutations SET state = 'ended', ending = 'updated', sent = NULL WHERE user_group_id = 'mapped' RETURNING 1) \
     UPDATE forging.user_groups SET mapping = '{\"7\": \"213\"}', origin = '{\"mapping\": [\"sent\", 2, \"ana\"]}' WHERE user_group_id = 'mapped'",
    "UPDATE forging.mutations SET sent = '{}' WHERE user_group_id = 'mapped'",
    "UPDATE forging.rotations SET handoff = 'pending', handoff_by = NULL, handoff_run = NULL",
    "INSERT INTO forging.batch_runs (batch_id, run, by, paused, stands_since, seen) VALUES (1, 2, session_user, FALSE, 1, 1); \
     UPDATE forging.batch_items SET outcome = 'refused' WHERE position = 1; UPDATE forging.batches SET ended_at = 1",
];

/// Columns of what has ended that may still change: its hand-off, the token file, and what a merge of places or a token that came
/// back need. The server ignores the clocks that a client names.
const STILL_OPEN: &[&str] = &[
    "mutations.boot_clock",
    "rotations.boot_clock",
    "rotations.handoff_at",
    "rotations.handoff_clock",
    "rotations.handoff_exit",
    "rotations.handoff_limit",
    "rotations.handoff_note",
    "rotations.handoff_process",
    "rotations.profile",
    "rotations.revived",
    "rotations.unwritten",
];

/// The columns of the tables and views of the schema that is asked. By number: a privilege that is asked for by name is also
/// asked for tables of other schemas, which this one may lack.
const COLUMNS: &str = "FROM pg_class c JOIN pg_attribute ON attrelid = c.oid \
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped";

/// Also for columns that are added later.
#[test]
fn what_has_ended_stays_as_it_was_but_for_its_hand_off() {
    let Some(server) = forging("frozen") else {
        return;
    };
    let list = format!(
        "SELECT relname || ' ' || attname || ' ' || CASE atttypid WHEN 'boolean'::regtype THEN 'TRUE' \
          WHEN 'bytea'::regtype THEN 'sha256(''x'')' WHEN 'bigint'::regtype THEN '7' ELSE quote_literal('{{}}') END {COLUMNS} \
         AND relname IN ('rotations', 'mutations') AND has_column_privilege('frozen_operator', c.oid, attnum, 'UPDATE') ORDER BY 1"
    );
    let columns = server.execute("frozen", &list);
    let columns: Vec<[&str; 3]> = (columns.lines())
        .map(|line| {
            let mut parts = line.splitn(3, ' ');
            [(); 3].map(|()| parts.next().expect("three"))
        })
        .collect();
    let texts: Vec<_> = (columns.iter())
        .map(|[table, column, value]| {
            format!("UPDATE {table} SET {column} = {value} WHERE user_group_id = 'closed'")
        })
        .collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let done = server.try_each_as("frozen_operator_person", "frozen", "", &texts);
    let open: Vec<_> = (columns.iter().zip(done))
        .filter(|(_, done)| done.is_ok())
        .map(|([table, column, _], _)| format!("{table}.{column}"))
        .collect();
    assert_eq!(open, STILL_OPEN);
}

/// A sequence keeps what a transaction that is taken back has done to it.
#[test]
fn no_number_that_an_operator_names_is_in_the_way_of_the_next_one() {
    const LAST: &str = "9223372036854775807";
    let Some(server) = shared() else {
        return;
    };
    let count = |number: &str, clock: &str| {
        format!(
            "INSERT INTO last_changes (place, user_group_id, part, number, boot_clock) VALUES (1, 'acme', 'fields', {number}, {clock}) \
             ON CONFLICT (place, user_group_id, part) DO UPDATE SET number = excluded.number, boot_clock = excluded.boot_clock"
        )
    };
    let event = |number: &str| {
        format!(
            "INSERT INTO rotation_events (rotation_id, seq, at, event, horizon_passed, state) \
             SELECT 1, {number}, 1, 'read', FALSE, 'intended' FROM rotation_events WHERE rotation_id = 1 HAVING count(*) > 0"
        )
    };
    let group = |number: &str| {
        format!(
            "UPDATE user_groups SET change = (SELECT {number} FROM user_groups WHERE change > 0) WHERE user_group_id = 'acme'"
        )
    };
    for texts in [
        [count(LAST, "NULL"), count("1", "'0@x'")],
        [count(LAST, "'0@x'"), count("1", "'0@x'")],
        [event(LAST), event("COALESCE(MAX(seq), 0) + 1")],
        [
            "UPDATE user_groups SET change = 9223372036854775807".to_owned(),
            group("COALESCE(MAX(change), 0) + 1"),
        ],
    ] {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let done = server.try_as("granted_operator_person", SHARED, &texts);
        assert_eq!(done, Ok(()), "{texts:?}");
    }
    let last = server.execute(SHARED, "SELECT last_value < 1000 FROM order_of_changes");
    assert_eq!(last, "t");
}

/// Also for tables that are added later.
#[test]
fn every_table_of_a_batch_is_of_its_people() {
    let Some(server) = shared() else {
        return;
    };
    let tables = server.execute(
        SHARED,
        "SELECT relname || ' ' || (SELECT count(*) FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid \
          WHERE tgrelid = pg_class.oid AND proname = 'of_batch') FROM pg_class WHERE oid = 'batches'::regclass \
         OR oid IN (SELECT conrelid FROM pg_constraint WHERE confrelid = 'batches'::regclass) ORDER BY 1",
    );
    assert_eq!(tables, "batch_items 1\nbatch_runs 1\nbatches 1");
}

/// Also for tables that are added later: a row of a colleague's rotation, change, batch or import says something in that name.
#[test]
fn what_is_written_about_a_row_with_a_name_is_guarded() {
    let Some(server) = shared() else {
        return;
    };
    let found = server.execute(
        SHARED,
        "SELECT conrelid::regclass || '.' || attname || ': ' || COALESCE((SELECT string_agg(proname, ' ' ORDER BY proname) \
          FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgrelid = conrelid \
          AND proname IN ('of_batch', 'of_rotation', 'from_rotation', 'by_oneself')), 'open') \
         FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] \
         WHERE contype = 'f' AND connamespace = 'granted'::regnamespace AND EXISTS ( \
          SELECT FROM pg_attribute named WHERE named.attrelid = confrelid AND named.attname = 'by') ORDER BY 1",
    );
    // Whoever has the same file goes on with the import of a colleague.
    let expected = "batch_items.batch_id: of_batch\nbatch_items.mutation_id: of_batch\nbatch_items.rotation_id: of_batch\n\
                    batch_runs.batch_id: by_oneself of_batch\nimport_rows.import_id: open\nlast_changes.rotation: from_rotation\n\
                    mutations.rotation_id: by_oneself\nrotation_events.rotation_id: of_rotation";
    assert_eq!(found, expected);
}

/// Whatever is read as a word, a time or an ID: one row that is none would stop whoever reads the table.
#[test]
fn only_words_times_and_ids_that_can_be_read_are_written() {
    let Some(server) = shared() else {
        return;
    };
    let open = server.execute(
        SHARED,
        "SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid \
         WHERE relnamespace = 'granted'::regnamespace AND relkind = 'r' AND relname <> 'audit' AND attnum > 0 \
         AND (attname IN ('state', 'operation', 'ending', 'outcome', 'event', 'handoff', 'kind', 'part', 'source', 'user_group_id') \
          OR atttypid = 'bigint'::regtype AND attname ~ '^(at|.*_at|.*seen|stands_since)$') \
         AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum]) ORDER BY 1",
    );
    // Free text, and what only tells that a row was done.
    assert_eq!(open, "import_rows.outcome\nplace_events.event");
}

const ANAS: &str = "\
INSERT INTO rotations (place, profile, user_group_id, state, previous, refused, read_unchanged, by, started_at) \
 VALUES (1, 'eu', 'acme', 'rotated', sha256('before'), FALSE, FALSE, 'ana', 1); \
INSERT INTO user_groups (place, user_group_id, origin, name, last_rotated_at, last_rotated_by) \
 VALUES (1, 'named', '{\"name\": [\"sent\", 1, \"ana\"]}', 'N', 1, 'ana'); \
INSERT INTO user_groups (place, user_group_id, origin) VALUES (1, 'changed', '{}'); \
INSERT INTO mutations (place, profile, user_group_id, operation, state, by, started_at) \
 VALUES (1, 'eu', 'changed', 'update', 'sent', 'ana', 1); \
UPDATE place_keys SET added_by = 'ana'; \
INSERT INTO alarms (place, what, raised_at, raised_by, acknowledged_at, acknowledged_by, reason) VALUES (1, 'z', 1, 'ana', 1, 'ana', 'seen'); \
INSERT INTO facts (place, fact, value, source, at, by) VALUES (1, 'sole_writer', 'yes', 'told', 1, 'ana'); \
INSERT INTO annotations (place, user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite) \
 VALUES (1, 'acme', 'n', 1, 'ana', '[]', 1, 'ana', FALSE); \
INSERT INTO batches (place, profile, by, started_at) VALUES (1, 'eu', 'ana', 1); \
INSERT INTO batch_runs (batch_id, run, by, paused, stands_since, seen) VALUES (1, 1, 'ana', FALSE, 1, 1); \
INSERT INTO batch_items (batch_id, position, user_group_id, rotation_id) VALUES (1, 0, 'acme', 2); \
INSERT INTO batch_items (batch_id, position, user_group_id) VALUES (1, 1, 'globex'); \
INSERT INTO user_groups (place, user_group_id, origin, mapping) \
 VALUES (1, 'mapped', '{\"mapping\": [\"sent\", 1, \"ana\"]}', '{\"7\": \"50\"}'); \
INSERT INTO mutations (place, profile, user_group_id, operation, state, by, started_at, sent) \
 VALUES (1, 'eu', 'mapped', 'update', 'sent', 'ana', 1, '{\"mapping\": {\"7\": \"213\"}}'); \
INSERT INTO rotations (place, profile, user_group_id, state, previous, fingerprint, refused, read_unchanged, by, started_at) \
 VALUES (1, 'eu', 'closed', 'confirmed', sha256('before'), sha256('now'), FALSE, FALSE, 'ana', 1); \
INSERT INTO rotation_events (rotation_id, seq, at, event, horizon_passed, state) \
 VALUES (2, 1, 1, 'answered_new_token', FALSE, 'rotated'), (3, 1, 1, 'read', FALSE, 'confirmed'); \
INSERT INTO mutations (place, profile, user_group_id, operation, state, by, started_at, ending) \
 VALUES (1, 'eu', 'closed', 'update', 'ended', 'ana', 1, 'updated')";

fn forging(schema: &str) -> Option<&'static Server> {
    let server = scene(schema)?;
    server.execute(schema, ANAS);
    server.execute(
        "public",
        &format!("GRANT CREATE ON SCHEMA public TO {PERSON}"),
    );
    Some(server)
}

#[test]
fn an_operator_writes_in_no_other_name_whatever_the_session_has_prepared() {
    let Some(server) = forging("forging") else {
        return;
    };
    let mut wrong = Vec::new();
    for (how, prepared) in PREPARED {
        // A statement that is done ends the transaction with an error of its own, so that one session is enough.
        let each = |text: &str| {
            format!(
                "DO $all$ BEGIN EXECUTE $one${text}$one$; RAISE EXCEPTION USING ERRCODE = 'GD999'; \
                 EXCEPTION WHEN insufficient_privilege OR invalid_parameter_value OR raise_exception THEN NULL; END $all$"
            )
        };
        let statements: Vec<_> = FORGED.iter().map(|text| each(text)).collect();
        let with = |texts: &[&str]| server.try_as(PERSON, "forging", &[*prepared, texts].concat());
        let all: Vec<_> = statements.iter().map(String::as_str).collect();
        if with(&all).is_err() {
            let one_by_one = FORGED.iter().zip(&statements);
            wrong.extend(one_by_one.filter_map(|(text, tried)| {
                let why = with(&[tried]).err()?;
                Some(format!("{how}: {text}: {why}"))
            }));
            wrong.extend(with(&[]).err());
        }
    }
    for text in TRUE_NAMES {
        if let Err(why) = server.try_as(PERSON, "forging", &[text]) {
            wrong.push(format!("refused: {text}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `ana@eu` may be a person too.
#[test]
fn a_longer_name_belongs_to_the_role_that_has_it() {
    let Some(server) = shared() else {
        return;
    };
    let person = "granted_operator_person";
    server.execute("public", &format!("CREATE ROLE \"{person}@eu\" LOGIN"));
    let written = |by: &str| {
        let text = format!(
            "INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) \
             VALUES (1, '{person}{by}', 'eu', 'acme', 'get', 'found', 1)"
        );
        server.try_as(person, SHARED, &[&text]).is_ok()
    };
    for (by, is_written) in [
        ("", true),
        ("@desk", true),
        ("@desk@eu", true),
        ("@eu", false),
        ("@eu@desk", false),
        ("x", false),
    ] {
        assert_eq!(written(by), is_written, "{by}");
    }
}

#[test]
fn every_function_has_a_search_path_of_its_own() {
    let Some(server) = shared() else {
        return;
    };
    let others = server.execute(
        SHARED,
        "SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'granted'::regnamespace \
         AND NOT COALESCE(proconfig @> ARRAY['search_path=granted, pg_catalog, pg_temp'], FALSE)",
    );
    assert_eq!(others, "", "SET search_path FROM CURRENT");
    let count = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'granted'::regnamespace";
    assert!(
        server
            .execute(SHARED, count)
            .parse::<u32>()
            .expect("a number")
            > 15
    );
}

/// Texts that an operator may write and that name no person. Whoever adds a column with a name in it adds a trigger.
#[rustfmt::skip] // A table: one table per line.
const NO_NAMES: &[(&str, &[&str])] = &[
    ("alarms", &["user_group_id", "what"]),
    ("annotations", &["user_group_id"]),
    ("batch_items", &["edit", "note", "outcome", "user_group_id"]),
    ("batch_runs", &["boot_clock", "process"]),
    ("batches", &["change", "kind", "profile", "reason", "stopped"]),
    ("bindings", &["environment", "profile", "url"]),
    ("console_views", &["columns", "filter", "profile", "sort"]),
    ("drafts", &["base", "group_text", "mapping", "mapping_text", "name", "properties", "user_group_id"]),
    ("facts", &["fact"]),
    ("fingerprints", &["user_group_id"]),
    ("history", &["changes", "ending", "note", "operation", "profile", "reason", "user_group_id"]),
    ("import_rows", &["outcome"]),
    ("imports", &["profile"]),
    ("last_changes", &["boot_clock", "part", "user_group_id"]),
    ("mutations", &["boot_clock", "changes", "ending", "note", "operation", "profile", "reason", "sent", "state", "user_group_id"]),
    ("place_events", &["event", "note", "profile"]),
    ("place_keys", &["state"]),
    ("place_urls", &["url"]),
    ("places", &["name", "tag"]),
    ("rotation_events", &["event", "note", "state"]),
    ("rotations", &["boot_clock", "handoff", "handoff_clock", "handoff_note", "note", "process", "profile", "reason", "state", "user_group_id"]),
    ("saved_views", &["columns", "name", "sort"]),
    ("scheduled_runs", &["boot_clock"]),
    ("user_groups", &["environment_tag", "mapping", "name", "properties", "title", "user_group_id"]),
];

#[test]
fn every_column_that_may_name_a_person_has_a_trigger() {
    let Some(server) = shared() else {
        return;
    };
    let rows = |text: &str| -> BTreeSet<String> {
        let found = server.execute(SHARED, text);
        found.lines().map(str::to_owned).collect()
    };
    // Of every text or name that an operator may write.
    let written = rows(&format!(
        "SELECT relname || '.' || attname {COLUMNS} \
         AND atttypid IN ('text'::regtype, 'name'::regtype, 'json'::regtype, 'jsonb'::regtype, 'varchar'::regtype) \
         AND (has_column_privilege('granted_operator', c.oid, attnum, 'INSERT') \
          OR has_column_privilege('granted_operator', c.oid, attnum, 'UPDATE'))"
    ));
    let guarded = rows(
        "SELECT replace(relname, 'all_drafts', 'drafts') || '.' || guarded FROM pg_trigger \
         JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid, \
         LATERAL unnest(CASE proname WHEN 'by_oneself' THEN ARRAY['by'] WHEN 'known_by' THEN ARRAY['last_rotated_by', 'origin'] \
          WHEN 'said_by' THEN string_to_array(encode(tgargs, 'escape'), '\\000') END) guarded \
         WHERE relnamespace = 'granted'::regnamespace AND guarded <> ''",
    );
    let listed: BTreeSet<_> = NO_NAMES
        .iter()
        .flat_map(|(table, columns)| {
            columns
                .iter()
                .map(move |column| format!("{table}.{column}"))
        })
        .collect();
    let open: Vec<_> = written.difference(&guarded).cloned().collect();
    let listed: Vec<_> = listed.into_iter().collect();
    assert_eq!(
        open, listed,
        "each is guarded, or listed because it names nobody"
    );
    assert!(guarded.len() > 20, "{guarded:?}");
}
