//! What each role may do: with SQL in the database, and with groupdesk.

use std::{collections::BTreeSet, sync::OnceLock};

use groupdesk::{
    config::{
        Environment,
        profile::{KeySource, Profile},
    },
    directory::{
        AuditFilter, BatchOptions, NewBatch, Role, RunId, ServerFault, TeamFault, grant, members,
        revoke, set_up,
    },
    domain::batch::BatchKind,
    operations::{Clock, Operations},
    search::ListView,
};

use super::*;
use crate::support::postgres::Server;

/// A schema with a row of every kind, and three users, whose names begin with the schema's.
pub(super) fn scene(schema: &str) -> Option<&'static Server> {
    let server = postgres::server()?;
    let desk = postgres::at_as("desk", server.folder(), schema);
    set_up(&desk).expect("a schema");
    let people = Role::GRANTED.map(|role| (format!("{schema}_{}_person", role.as_str()), role));
    let made = people
        .iter()
        .map(|(who, _)| format!("CREATE ROLE {who} LOGIN; "));
    server.execute(schema, &(made.collect::<String>() + ONE_OF_EVERYTHING));
    for (who, role) in people {
        grant(&desk, &who, role).expect("granted");
    }
    Some(server)
}

/// The schema of all tests that change nothing in it.
pub(super) const SHARED: &str = "granted";

/// The scene in that schema.
pub(super) fn shared() -> Option<&'static Server> {
    static MADE: OnceLock<Option<&'static Server>> = OnceLock::new();
    *MADE.get_or_init(|| scene(SHARED))
}

const ONE_OF_EVERYTHING: &str = "\
INSERT INTO places (name, made_at, made_by) VALUES ('eu', 1, 'desk'); \
INSERT INTO place_keys (place, fingerprint, state, added_at, added_by) VALUES (1, sha256(''), 'trusted', 1, 'desk'); \
INSERT INTO alarms (place, what, raised_at, raised_by) VALUES (1, 'x', 1, 'desk'); \
INSERT INTO user_groups (place, user_group_id, origin) VALUES (1, 'acme', '{}'); \
INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) VALUES (1, 'desk', 'eu', 'acme', 'get', 'found', 1); \
INSERT INTO rotations (place, profile, user_group_id, state, previous, refused, read_unchanged, by, started_at) \
 VALUES (1, 'eu', 'acme', 'intended', sha256(''), FALSE, FALSE, 'desk', 1); \
INSERT INTO rotation_events (rotation_id, seq, at, event, horizon_passed, state) VALUES (1, 1, 1, 'intended', FALSE, 'intended'); \
INSERT INTO all_drafts (author, place, user_group_id, creating, name, mapping, properties, base, base_at, changed_at, by) \
 VALUES ('desk', 1, 'acme', FALSE, '', '[]', '', '{}', 1, 1, 'desk'); \
INSERT INTO saved_views (author, name, filter, sort, reverse, best_first, columns, at, by) \
 VALUES ('desk', 'ours', '', 'id', FALSE, FALSE, '', 1, 'desk')";

const VIEWER: u8 = 0;
const OPERATOR: u8 = 1;
const ADMIN: u8 = 2;
const OWNER: u8 = 3;
const NOBODY: u8 = 4;

/// SQL statements, and the first role that may execute them.
#[rustfmt::skip] // A table: one case per line.
const STATEMENTS: &[(&str, u8)] = &[
    ("SELECT FROM user_groups, history, rotations, audit, schema_versions", VIEWER),
    ("SELECT care()", VIEWER),
    ("SELECT FROM fingerprint_key", OPERATOR),
    ("UPDATE fingerprint_key SET key = key", OWNER),
    ("INSERT INTO writes (stamp) VALUES (gen_random_uuid())", OPERATOR),
    ("INSERT INTO writes (stamp, at) VALUES (gen_random_uuid(), 'epoch')", OWNER),
    ("DELETE FROM writes", OWNER),
    // Append-only tables.
    ("INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) VALUES (1, session_user || '@desk1', 'eu', 'acme', 'get', 'found', 1)", OPERATOR),
    ("INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) VALUES (1, 'somebody@desk1', 'eu', 'acme', 'get', 'found', 1)", OWNER),
    ("INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) VALUES (1, session_user || 'x@desk1', 'eu', 'acme', 'get', 'found', 1)", OWNER),
    ("INSERT INTO history (at, by, profile, user_group_id, operation, ending, place, db_user) VALUES (1, session_user, 'eu', 'acme', 'get', 'found', 1, 'desk')", OWNER),
    ("INSERT INTO history (number, at, by, profile, user_group_id, operation, ending, place) OVERRIDING SYSTEM VALUE VALUES (99, 1, session_user, 'eu', 'acme', 'get', 'found', 1)", OWNER),
    ("UPDATE history SET by = 'x'", NOBODY),
    ("UPDATE history SET place = 1", OWNER),
    ("DELETE FROM history", NOBODY),
    ("TRUNCATE history", OWNER),
    ("UPDATE rotation_events SET at = 2", NOBODY),
    ("DELETE FROM rotation_events", NOBODY),
    ("INSERT INTO audit (who, what) VALUES ('x', 'y')", OWNER),
    ("UPDATE audit SET who = 'x'", OWNER),
    ("DELETE FROM audit", OWNER),
    ("TRUNCATE audit", OWNER),
    // Rotations.
    ("UPDATE rotations SET state = 'unknown'", OPERATOR),
    ("UPDATE rotations SET state = 'sent'", OWNER),
    ("UPDATE rotations SET previous = previous", OWNER),
    ("UPDATE rotations SET user_group_id = 'x'", OWNER),
    ("UPDATE rotations SET place = place", OWNER),
    ("UPDATE rotations SET by = by", OWNER),
    ("SELECT nextval('order_of_changes')", OPERATOR),
    ("SELECT setval('order_of_changes', 99)", OWNER),
    ("DELETE FROM mutations", OWNER),
    ("TRUNCATE rotations CASCADE", OWNER),
    ("INSERT INTO mutations (place, user_group_id, operation, state, by, profile, started_at) VALUES (1, 'globex', 'create', 'intended', 'desk', 'eu', 1)", OWNER),
    ("INSERT INTO mutations (place, user_group_id, operation, state, by, profile, started_at) VALUES (1, 'globex', 'create', 'intended', session_user, 'eu', 1)", OPERATOR),
    // Groups.
    ("INSERT INTO user_groups (place, user_group_id, origin) VALUES (1, 'globex', '{}')", OPERATOR),
    ("UPDATE user_groups SET name = 'x'", OPERATOR),
    ("UPDATE user_groups SET user_group_id = 'x'", OWNER),
    ("DELETE FROM user_groups", OWNER),
    // Places and their properties.
    ("INSERT INTO places (name, made_at, made_by) VALUES ('us', 1, session_user)", OPERATOR),
    ("UPDATE places SET made_by = session_user", OWNER),
    ("UPDATE places SET name = 'us'", OPERATOR),
    ("DELETE FROM place_keys", OWNER),
    ("UPDATE place_keys SET state = 'withdrawn'", OPERATOR),
    ("UPDATE place_keys SET fingerprint = sha256('x')", OWNER),
    ("INSERT INTO facts (place, fact, value, source, at, by) VALUES (1, 'f', 'v', 'told', 1, session_user)", OPERATOR),
    ("INSERT INTO facts (place, fact, value, source, at, by) VALUES (1, 'f', 'v', 'told', 1, 'x')", OWNER),
    ("UPDATE alarms SET acknowledged_at = 1, acknowledged_by = session_user, reason = 'r'", OPERATOR),
    ("UPDATE alarms SET acknowledged_at = 1, acknowledged_by = 'x', reason = 'r'", OWNER),
    ("UPDATE alarms SET what = 'y'", OWNER),
    ("DELETE FROM alarms", OWNER),
    // One's own rows and those of others.
    ("INSERT INTO bindings (profile, url, place, at) VALUES ('eu', 'u', 1, 1)", OPERATOR),
    ("INSERT INTO all_bindings (author, profile, url, place, at) VALUES ('desk', 'eu', 'u', 1, 1)", OWNER),
    ("INSERT INTO drafts (place, user_group_id, creating, name, mapping, properties, base, base_at, changed_at, by) VALUES (1, 'globex', FALSE, '', '[]', '', '{}', 1, 1, session_user)", OPERATOR),
    ("DELETE FROM drafts", OPERATOR),
    ("UPDATE all_drafts SET name = 'x'", OWNER),
    ("DELETE FROM all_drafts", OWNER),
    ("INSERT INTO saved_views (name, filter, sort, reverse, best_first, columns, at, by) VALUES ('mine', '', 'id', FALSE, FALSE, '', 1, session_user)", OPERATOR),
    // No change in views of other people.
    ("WITH changed AS (UPDATE saved_views SET filter = 'x' RETURNING 1) SELECT 1 / count(*) FROM changed", OWNER),
    ("WITH gone AS (DELETE FROM saved_views RETURNING 1) SELECT 1 / count(*) FROM gone", OWNER),
    ("SELECT merge_of_all(1, 1)", OWNER),
    // The tables themselves.
    ("INSERT INTO schema_versions (version, reads_from, writes_from) VALUES (99, 99, 99)", OWNER),
    ("LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE", OWNER),
    ("UPDATE installation SET moved_to = 'x'", OWNER),
    ("ALTER TABLE history DISABLE TRIGGER USER", OWNER),
    ("CREATE TABLE more ()", OWNER),
    ("DROP VIEW shown_drafts", OWNER),
    ("SET session_replication_role = replica", NOBODY),
    ("SET ROLE granted_owner", ADMIN),
];

#[test]
fn each_role_may_do_what_the_list_says_and_no_more() {
    let schema = SHARED;
    let Some(server) = shared() else {
        return;
    };
    let set_role = format!("SET ROLE {schema}_owner");
    let mut wrong = Vec::new();
    let texts: Vec<_> = STATEMENTS.iter().map(|(text, _)| *text).collect();
    let roles = ["viewer", "operator", "admin", "owner"];
    for (role, name) in (VIEWER..).zip(roles) {
        // An admin may work as the owner.
        let (person, before) = match name {
            "owner" => (format!("{schema}_admin_person"), format!("{set_role};")),
            name => (format!("{schema}_{name}_person"), String::new()),
        };
        let done = server.try_each_as(&person, schema, &before, &texts);
        for ((text, from), done) in STATEMENTS.iter().zip(done) {
            if done.is_ok() != (role >= *from) {
                wrong.push(format!("{name}: {text}: {done:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for name in ["viewer", "operator"] {
        let person = format!("{schema}_{name}_person");
        assert!(
            server.try_as(&person, schema, &[&set_role]).is_err(),
            "{name}"
        );
    }
}

/// Also for tables that are added later.
#[test]
fn operators_can_delete_only_from_the_listed_tables() {
    let schema = SHARED;
    let Some(server) = shared() else {
        return;
    };
    let is_there = format!("relnamespace = '{schema}'::regnamespace AND relkind IN ('r', 'v')");
    let tables = format!("SELECT relname FROM pg_class WHERE {is_there}");
    let tables = server.execute(schema, &tables);
    let granted = format!(
        "SELECT concat_ws(' ', role, relname, what) FROM pg_class, unnest(ARRAY['viewer', 'operator']) role, \
         unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) what WHERE {is_there} AND \
         CASE WHEN what IN ('DELETE', 'TRUNCATE') THEN has_table_privilege('{schema}_' || role, pg_class.oid, what) \
         ELSE has_any_column_privilege('{schema}_' || role, pg_class.oid, what) END"
    );
    let granted = server.execute(schema, &granted);
    let granted: BTreeSet<_> = granted.lines().collect();
    let may =
        |role: &str, table: &str, what: &str| granted.contains(&*format!("{role} {table} {what}"));
    for table in tables.lines() {
        let is_key = table == "fingerprint_key";
        assert_eq!(may("viewer", table, "SELECT"), !is_key, "{table}");
        let written = ["INSERT", "UPDATE", "DELETE", "TRUNCATE"];
        assert!(
            !written.iter().any(|what| may("viewer", table, what)),
            "{table}"
        );
        let own = [
            "bindings",
            "drafts",
            "console_views",
            "saved_views",
            "import_rows",
        ];
        let deletes = may("operator", table, "DELETE");
        assert_eq!(deletes, own.contains(&table), "{table}");
        assert!(!may("operator", table, "TRUNCATE"), "{table}");
        let is_of_the_owner = table.starts_with("all_")
            || [
                "schema_versions",
                "installation",
                "fingerprint_key",
                "audit",
                "shown_drafts",
            ]
            .contains(&table);
        assert_eq!(
            may("operator", table, "INSERT"),
            !is_of_the_owner,
            "{table}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_only_reads_and_the_database_checks_names_of_writers() {
    let schema = "viewed";
    let Some(server) = scene(schema) else {
        return;
    };
    let open = |role: &str| {
        let person = format!("{schema}_{role}_person");
        Directory::open(&postgres::at_as(&person, server.folder(), schema)).expect("it opens")
    };
    let (viewer, operator) = (open("viewer"), open("operator"));
    assert_eq!(viewer.role(), Some(Role::Viewer));
    // A viewer sends nothing, so no key is missed.
    let without_key = |directory: &Directory| {
        let profile = Profile::new("eu", "http://127.0.0.1:9", KeySource::Unset);
        let environment = Environment::default();
        let directory = directory.clone();
        Operations::new(
            profile,
            environment,
            directory,
            "vera".into(),
            Clock::System,
        )
    };
    assert!(!without_key(&viewer).lacks_key().await);
    assert!(without_key(&operator).lacks_key().await);
    assert_eq!(operator.user(), Some("viewed_operator_person"));
    let place = place(&viewer, "eu");
    assert_eq!(viewer.groups(place).await.expect("read").len(), 1);
    let line = || history_record(entry("eu", "acme", 0));
    let (needs, has) = (Role::Operator, Role::Viewer);
    let refused = fault_of(viewer.record(place, line()).await);
    assert_eq!(refused, TeamFault::NeedsRole { needs, has });
    // The database itself refuses a history line in another name.
    let forged = fault_of(operator.record(place, line()).await);
    let not_allowed = ServerFault::NotAllowed("42501".into());
    assert_eq!(forged, TeamFault::Server(not_allowed));
    let mut own = entry("eu", "acme", 0);
    own.by = "viewed_operator_person@desk7".into();
    recorded(&operator, history_record(own)).await;
    let others = operator.merge_places(place, place, second(0), "x").await;
    let (needs, has) = (Role::Admin, Role::Operator);
    assert_eq!(fault_of(others), TeamFault::NeedsRole { needs, has });
    // A view belongs to its author.
    let operations = without_key(&operator);
    let views = async || operations.saved_views().await.expect("read");
    let ours = views().await.remove(0);
    let seen = Some(ours.clone());
    let saved = operations.save_view("ours", ListView::default(), seen);
    assert_eq!(saved.await.expect("asked"), Err(ours.clone()));
    assert!(!operations.remove_view(&ours).await.expect("asked"));
    assert_eq!(views().await, [ours]);
    // A revoked right is gone with the next statement.
    let desk = postgres::at_as("desk", server.folder(), schema);
    revoke(&desk, "viewed_operator_person").expect("revoked");
    let after = fault_of(operator.record(place, line()).await);
    assert_is!(
        after,
        TeamFault::Server(ServerFault::NotAllowed(_) | ServerFault::NotThere)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_run_of_a_batch_says_whether_its_person_was_revoked() {
    let schema = "revoked_run";
    let Some(server) = scene(schema) else {
        return;
    };
    let person = "revoked_run_operator_person";
    let open = |who: &str| {
        let at = postgres::at_as(who, server.folder(), schema);
        (Directory::open(&at).expect("it opens"), at)
    };
    let ((operator, _), (desk, at)) = (open(person), open("desk"));
    let place = place(&operator, "eu");
    let batch = NewBatch {
        by: person.into(),
        reason: None,
        at: second(0),
        kind: BatchKind::Rotate,
        noted: 0,
        options: BatchOptions::default(),
        items: vec![(id("acme"), None)],
    };
    let batch = operator.begin_batch(place, batch).await.expect("durable");
    let run = begun_run(RunId(7), &format!("{person}@desk7"), second(0));
    operator.begin_run(batch, run).await.expect("durable");
    let is_revoked = async || {
        let batches = desk.batches(place).await.expect("read");
        batches[0].runs[0].is_revoked
    };
    assert!(!is_revoked().await);
    revoke(&at, person).expect("revoked");
    assert!(is_revoked().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_lists_operations_and_marks_lines_without_evidence() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let rotation = start(&directory, intent("acme", OLD)).await;
    let mut standing = Rotation::intended(OLD);
    for (event, at) in [
        (Event::Sending, 1),
        (Event::Answered(RotateOutcome::NewToken(NEW)), 2),
    ] {
        let step = step(rotation, standing, event, at);
        standing = step.after;
        recorded(&directory, step_record(step)).await;
    }
    // No rotation belongs to this line.
    let mut line = entry("eu", "globex", 3);
    (line.operation, line.ending) = (Operation::Rotate, Ending::Rotated);
    recorded(&directory, history_record(line)).await;
    let filter = AuditFilter {
        user_group_id: Some(id("acme")),
        ..AuditFilter::default()
    };
    let lines = directory.audit(filter).await.expect("read");
    let states: Vec<_> = lines
        .iter()
        .rev()
        .filter(|line| line.what == "rotation")
        .map(|line| (line.before.as_deref(), line.after.as_deref()))
        .collect();
    let rotated = standing.state.as_str();
    assert_eq!(
        states,
        [
            (None, Some("intended")),
            (Some("intended"), Some("sent")),
            (Some("sent"), Some(rotated))
        ]
    );
    assert!(
        lines
            .iter()
            .all(|line| line.who == "ana" && line.number.is_some())
    );
    let all = directory.audit(AuditFilter::default()).await.expect("read");
    let marked: Vec<_> = all.iter().filter(|line| line.number.is_none()).collect();
    assert_eq!(marked.len(), 1, "{marked:?}");
    assert_eq!(marked[0].user_group_id.as_deref(), Some("globex"));
    let since = AuditFilter {
        since: Some(Timestamp::now() + Duration::from_hours(1)),
        ..AuditFilter::default()
    };
    assert!(directory.audit(since).await.expect("read").is_empty());
    let server = postgres::server().expect("a server");
    let keys = server.execute(
        team.schema(),
        "SELECT count(*) FROM audit WHERE what = 'fingerprint key'",
    );
    assert_eq!(keys, "1");
}

#[test]
fn a_role_is_not_granted_to_somebody_who_would_not_inherit_its_rights() {
    let schema = "inheriting";
    let Some(server) = scene(schema) else {
        return;
    };
    let nina = "inheriting Nina";
    server.execute(schema, "CREATE ROLE \"inheriting Nina\" LOGIN NOINHERIT");
    let desk = postgres::at_as("desk", server.folder(), schema);
    for role in Role::GRANTED {
        let refused = TeamFault::NotInherited("\"inheriting Nina\"".into());
        assert_eq!(fault_of(grant(&desk, nina, role)), refused, "{role}");
    }
    let named = members(&desk).expect("read");
    assert!(!named.iter().any(|(name, _)| name == nina), "{named:?}");
    // What the message says.
    server.execute(schema, "ALTER ROLE \"inheriting Nina\" INHERIT");
    revoke(&desk, nina).expect("revoked");
    grant(&desk, nina, Role::Operator).expect("granted");
}

#[test]
fn nobody_revokes_or_changes_his_own_role() {
    let schema = "own_role";
    let Some(server) = scene(schema) else {
        return;
    };
    let person = "own_role_admin_person";
    let admin = postgres::at_as(person, server.folder(), schema);
    let before = members(&admin).expect("listed");
    for role in Role::GRANTED {
        let refused = fault_of(grant(&admin, person, role));
        assert_eq!(refused, TeamFault::OwnRole, "{role}");
    }
    assert_eq!(fault_of(revoke(&admin, person)), TeamFault::OwnRole);
    assert_eq!(members(&admin).expect("listed"), before);
    // Whoever granted it.
    let desk = postgres::at_as("desk", server.folder(), schema);
    revoke(&desk, person).expect("revoked");
}

#[test]
fn the_roles_of_a_directory_are_neither_granted_nor_revoked() {
    let schema = "own_roles";
    let Some(server) = scene(schema) else {
        return;
    };
    let desk = postgres::at_as("desk", server.folder(), schema);
    for role in ["viewer", "operator", "admin", "owner"] {
        let own = format!("own_roles_{role}");
        let refused = TeamFault::NoLogin(own.clone());
        assert_eq!(fault_of(revoke(&desk, &own)), refused);
        assert_eq!(fault_of(grant(&desk, &own, Role::Operator)), refused);
        // Of another directory: its people would be let in here.
        shared();
        let other = format!("{SHARED}_{role}");
        let refused = TeamFault::NoLogin(other.clone());
        assert_eq!(fault_of(grant(&desk, &other, Role::Viewer)), refused);
        assert!(!revoke(&desk, &other).expect("asked"));
    }
    let admin = postgres::at_as("own_roles_admin_person", server.folder(), schema);
    server.execute(
        schema,
        "CREATE ROLE \"own_roles-Nina\" LOGIN; CREATE ROLE own_roles_crew",
    );
    let crew = fault_of(grant(&admin, "own_roles_crew", Role::Operator));
    assert_eq!(crew, TeamFault::NoLogin("own_roles_crew".into()));
    grant(&admin, "own_roles-Nina", Role::Viewer).expect("granted");
    let nobody = fault_of(grant(&admin, "own-Nobody", Role::Viewer));
    assert!(
        nobody
            .to_string()
            .ends_with("CREATE ROLE \"own-Nobody\" LOGIN"),
        "{nobody}"
    );
    let nobody = fault_of(revoke(&admin, "own-Nobody"));
    assert!(
        nobody
            .to_string()
            .contains("no role of the name own-Nobody;"),
        "{nobody}"
    );
}

#[test]
fn members_are_listed_by_name_with_their_highest_role() {
    let schema = "members";
    let Some(server) = scene(schema) else {
        return;
    };
    // By way of another role, and in two roles.
    server.execute(
        schema,
        "CREATE ROLE \"members Team\"; CREATE ROLE members_of_team LOGIN; GRANT members_viewer TO \"members Team\"; \
         GRANT \"members Team\" TO members_of_team; GRANT members_operator TO \"members Team\"; \
         CREATE ROLE members_owning LOGIN; GRANT members_owner TO members_owning",
    );
    let named = |found: Vec<(String, Role)>| -> Vec<String> {
        let found = found
            .into_iter()
            .map(|(name, role)| format!("{name}: {role}"));
        found.collect()
    };
    let viewer = postgres::at_as("members_viewer_person", server.folder(), schema);
    let mut wanted = vec![
        "desk: admin",
        "members Team: operator",
        "members_admin_person: admin",
        "members_of_team: operator",
        "members_operator_person: operator",
        "members_owning: owner",
        "members_viewer_person: viewer",
    ];
    assert_eq!(named(members(&viewer).expect("listed")), wanted);
    let desk = postgres::at_as("desk", server.folder(), schema);
    revoke(&desk, "members_operator_person").expect("revoked");
    wanted.remove(4);
    assert_eq!(named(members(&desk).expect("listed")), wanted);
    server.let_in("members_nobody", schema, &[]);
    let nobody = postgres::at_as("members_nobody", server.folder(), schema);
    assert!(members(&nobody).is_err());
}

#[test]
fn a_role_that_another_role_gives_is_told_with_that_role() {
    let schema = "through";
    let Some(server) = scene(schema) else {
        return;
    };
    server.execute(
        schema,
        "CREATE ROLE through_crew; CREATE ROLE through_eve LOGIN; CREATE ROLE through_none LOGIN; \
         GRANT through_operator TO through_crew; GRANT through_crew TO through_eve",
    );
    let desk = postgres::at_as("desk", server.folder(), schema);
    let stays = TeamFault::RightStays(Some("through_crew".into()));
    assert_eq!(fault_of(grant(&desk, "through_eve", Role::Viewer)), stays);
    assert_eq!(fault_of(revoke(&desk, "through_eve")), stays);
    grant(&desk, "through_eve", Role::Operator).expect("granted");
    grant(&desk, "through_eve", Role::Admin).expect("granted");
    assert!(!revoke(&desk, "through_none").expect("there is nothing to revoke"));
    assert!(revoke(&desk, "through_viewer_person").expect("revoked"));
}

/// A session goes on as the role that it began with.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_was_dropped_and_made_again_works_without_a_restart() {
    let schema = "made_again";
    let Some(server) = scene(schema) else {
        return;
    };
    let person = "made_again_operator_person";
    let desk = postgres::at_as("desk", server.folder(), schema);
    let directory = Directory::open(&postgres::at_as(person, server.folder(), schema));
    let directory = directory.expect("it opens");
    let line = || {
        let mut own = entry("eu", "acme", 0);
        own.by = person.into();
        history_record(own)
    };
    let place = place(&directory, "eu");
    recorded(&directory, line()).await;
    revoke(&desk, person).expect("revoked");
    server.execute(
        "public",
        &format!("DROP ROLE {person}; CREATE ROLE {person} LOGIN"),
    );
    assert!(directory.record(place, line()).await.is_err());
    grant(&desk, person, Role::Operator).expect("granted");
    directory.record(place, line()).await.expect("written");
}
