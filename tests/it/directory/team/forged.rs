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
];

/// Allowed: the same in the own name, or where the other's own rows prove the name.
#[rustfmt::skip] // A table: one case per line.
const TRUE_NAMES: &[&str] = &[
    "INSERT INTO forging.facts (place, fact, value, source, at, by) VALUES (1, 'absent_name', 'keep', 'told', 1, 'the service')",
    "UPDATE forging.facts SET value = 'no', by = session_user",
    "UPDATE forging.annotations SET note = 'another', noted_by = session_user || '@desk'",
    "UPDATE forging.annotations SET favourite = TRUE",
    "UPDATE forging.user_groups SET last_rotated_at = 2, last_rotated_by = 'ana', fingerprint = sha256('x') WHERE user_group_id = 'acme'",
    "UPDATE forging.user_groups SET last_seen = 5 WHERE user_group_id = 'named'",
    "UPDATE forging.user_groups SET name = 'x', origin = json_build_object('name', json_build_array('sent', 1, session_user)) WHERE user_group_id = 'named'",
    "INSERT INTO forging.user_groups (place, user_group_id, origin, last_rotated_at, last_rotated_by) \
     SELECT place, user_group_id, origin, last_rotated_at, last_rotated_by FROM forging.user_groups WHERE user_group_id = 'named' \
     ON CONFLICT (place, user_group_id) DO UPDATE SET last_seen = 7",
];

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
INSERT INTO batches (place, profile, by, started_at) VALUES (1, 'eu', 'ana', 1)";

fn forging() -> Option<&'static Server> {
    let server = scene("forging")?;
    server.execute("forging", ANAS);
    server.execute(
        "public",
        &format!("GRANT CREATE ON SCHEMA public TO {PERSON}"),
    );
    Some(server)
}

#[test]
fn an_operator_writes_in_no_other_name_whatever_the_session_has_prepared() {
    let Some(server) = forging() else {
        return;
    };
    let mut wrong = Vec::new();
    for (how, prepared) in PREPARED {
        // A statement that is done ends the transaction with an error of its own, so that one session is enough.
        let each = |text: &str| {
            format!(
                "DO $all$ BEGIN EXECUTE $one${text}$one$; RAISE EXCEPTION USING ERRCODE = 'GD999'; \
                 EXCEPTION WHEN insufficient_privilege OR invalid_parameter_value THEN NULL; END $all$"
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
    let written = rows(
        "SELECT table_name || '.' || column_name FROM information_schema.columns \
         WHERE table_schema = 'granted' AND data_type IN ('text', 'name', 'json', 'jsonb', 'character varying') \
         AND (has_column_privilege('granted_operator', 'granted.' || table_name, column_name, 'INSERT') \
          OR has_column_privilege('granted_operator', 'granted.' || table_name, column_name, 'UPDATE'))",
    );
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
