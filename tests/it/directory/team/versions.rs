//! Tables of another version, and a migration that runs between two writes.

use groupdesk::directory::{MIGRATIONS, Migration, Role, TeamFault, migrate, team_status};

use super::*;
use crate::support::wait::eventually;

const NEWEST: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// A later migration: clients that know only the current tables may read and write, only read, or neither.
#[rustfmt::skip] // A table: one case per line.
const LATER: [Migration; 4] = [
    MIGRATIONS[MIGRATIONS.len() - 1],
    Migration { version: NEWEST + 1, text: "ALTER TABLE facts ADD COLUMN more TEXT; CREATE TABLE added (a BIGINT);", reads_from: NEWEST, writes_from: NEWEST },
    Migration { version: NEWEST + 2, text: "ALTER TABLE facts ADD COLUMN still_more TEXT", reads_from: NEWEST, writes_from: NEWEST + 2 },
    Migration { version: NEWEST + 3, text: "ALTER TABLE facts RENAME COLUMN more TO most", reads_from: NEWEST + 3, writes_from: NEWEST + 3 },
];
static UP_TO: [&[Migration]; 4] = [
    LATER.split_at(1).0,
    LATER.split_at(2).0,
    LATER.split_at(3).0,
    &LATER,
];

#[tokio::test(flavor = "multi_thread")]
async fn an_older_client_writes_reads_or_is_refused_as_the_tables_allow() {
    let installation = Opened::new();
    let Some(team) = installation.team.clone() else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let mut watch = directory.watch(directory.cursor(place).await.expect("read"));
    let migrate = |known, is_done| {
        let admin = postgres::as_admin(&team);
        tokio::task::block_in_place(|| migrate(&admin, known, is_done)).expect("migrated")
    };
    assert_eq!(migrate(UP_TO[0], true).sql, "", "nothing to do");
    let foreseen = migrate(UP_TO[1], false);
    assert_eq!((foreseen.from, foreseen.to), (NEWEST, NEWEST + 1));
    assert!(foreseen.sql.contains("ADD COLUMN more"), "{}", foreseen.sql);
    assert_eq!(migrate(UP_TO[1], false).from, NEWEST, "nothing was done");

    assert_eq!(migrate(UP_TO[1], true).from, NEWEST);
    // Also as one that is older.
    recorded(&directory, both("acme", 0)).await;

    migrate(UP_TO[2], true);
    let refused = directory.record(place, both("acme", 1)).await;
    assert_eq!(fault_of(refused), TeamFault::NotWritable);
    let again = Directory::open(&team).expect("it may be read");
    assert_eq!(fault_of(again.may(Role::Operator)), TeamFault::NotWritable);
    assert_eq!(lines(&again).await.len(), 1);
    let looked = watch.read_changes(place).await;
    looked.expect("it may be looked at");

    migrate(UP_TO[3], true);
    let (found, known) = (NEWEST + 3, NEWEST);
    let newer = TeamFault::Newer { found, known };
    assert_eq!(fault_of(Directory::open(&team)), newer);
    assert_eq!(fault_of(watch.read_changes(place).await), newer);
    let status = tokio::task::block_in_place(|| team_status(&team)).expect("told");
    assert_eq!((status.schema, status.is_readable), (NEWEST + 3, false));
    let admin = postgres::as_admin(&team);
    let back =
        tokio::task::block_in_place(|| groupdesk::directory::migrate(&admin, MIGRATIONS, true));
    assert_eq!(fault_of(back), newer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_waits_for_writers_and_writers_wait_for_it() {
    let installation = Opened::new();
    let Some(team) = installation.team.clone() else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let server = postgres::server().expect("a server");
    // Asked in a session that is open already: both wait only for a while.
    let (mut writer, mut looking) = (server.session(team.schema()), server.session(team.schema()));
    let number = writer.number();
    writer.say(&format!("BEGIN; SELECT may_write({NEWEST}, FALSE)"));
    let migrating = {
        let admin = postgres::as_admin(&team);
        tokio::task::spawn_blocking(move || migrate(&admin, UP_TO[2], true))
    };
    let waits = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE {number} = ANY (pg_blocking_pids(pid)))"
    );
    eventually("it waits", || looking.say(&waits) == "t").await;
    // Requested while the migration waits: it runs after the migration, and sees the new tables.
    let writing = {
        let directory = directory.clone();
        tokio::spawn(async move { directory.record(place, both("acme", 0)).await })
    };
    let behind = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'schema_versions'::regclass";
    eventually("it waits, too", || looking.say(behind) == "2").await;
    writer.say("COMMIT");
    migrating.await.expect("it ended").expect("migrated");
    let refused = writing.await.expect("it ended");
    assert_eq!(fault_of(refused), TeamFault::NotWritable);
    assert!(lines(&directory).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_is_refused_while_a_change_is_in_progress() {
    let installation = Opened::new();
    let Some(team) = installation.team.clone() else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let migrate = || {
        let admin = postgres::as_admin(&team);
        tokio::task::block_in_place(|| migrate(&admin, UP_TO[1], true))
    };
    let begun = directory.begin_rotation(place, intent("acme", OLD)).await;
    begun.expect("begun");
    let server = postgres::server().expect("a server");
    let begun_ago = |minutes: u32| {
        let set = format!(
            "SET session_replication_role = replica; \
             UPDATE mutations SET boot_clock = now_in_micros() - {minutes} * 60000000::bigint || '@' || timeline()"
        );
        server.execute(team.schema(), &set);
    };
    // The timeout of a profile, and so the time in which its requests may still arrive, can be up to half of that.
    for minutes in [0, 2, 19] {
        begun_ago(minutes);
        match migrate() {
            Err(DirectoryError::UnderWay {
                what,
                minutes: left,
            }) => {
                assert!(what.starts_with("rotation of \"acme\" by "), "{what}");
                assert!(left.abs_diff(20 - u64::from(minutes)) <= 1, "{left}");
            }
            other => panic!("{minutes} min: {other:?}"),
        }
    }
    let sql = tokio::task::block_in_place(|| {
        groupdesk::directory::migrate(&postgres::as_admin(&team), UP_TO[1], false)
    });
    let sql = sql.expect("foreseen").sql;
    let refused = server.try_as(postgres::SUPERUSER, team.schema(), &[&sql]);
    let refused = refused.expect_err("it checks");
    // A message of ours, as the only error; psql shows its number only.
    assert!(refused.contains("P0001"), "{refused}");
    begun_ago(21);
    assert_eq!(migrate().expect("migrated").from, NEWEST);
}

/// Development versions had lower numbers; no migration leads from their tables.
#[tokio::test(flavor = "multi_thread")]
async fn tables_of_a_development_version_are_refused() {
    let installation = Opened::new();
    let Some(team) = installation.team.clone() else {
        return;
    };
    let server = postgres::server().expect("a server");
    server.execute(team.schema(), "UPDATE schema_versions SET version = 13");
    let unreleased = TeamFault::Unreleased { found: 13 };
    assert_eq!(fault_of(Directory::open(&team)), unreleased);
    for is_done in [false, true] {
        let migrated = tokio::task::block_in_place(|| {
            migrate(&postgres::as_admin(&team), MIGRATIONS, is_done)
        });
        assert_eq!(fault_of(migrated), unreleased, "nothing was changed");
    }
}
