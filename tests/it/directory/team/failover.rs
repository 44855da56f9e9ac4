//! A standby takes over, a standby is missing, and old stamps are deleted.

use groupdesk::directory::{BatchRun, RunId};

use super::*;
use crate::support::{postgres::Server, wait::eventually};

async fn write(directory: &Directory, place: groupdesk::directory::PlaceId, group: &str) {
    let record = observation_record(observation(group, OLD, 0));
    directory.record(place, record).await.expect("written");
}

/// Makes every open rotation and change an hour older.
fn age(server: &Server, schema: &str) {
    server.execute(
        schema,
        "ALTER TABLE rotations DISABLE TRIGGER rotations_timed; \
         UPDATE rotations SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 3600000000 || '@' || timeline(); \
         ALTER TABLE rotations ENABLE TRIGGER rotations_timed",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_failover_horizons_start_again_and_all_changes_are_reported_again() {
    let Some(server) = postgres::own() else {
        return;
    };
    server.set_up("over");
    let standby = tokio::task::block_in_place(|| server.standby());
    let team = server.at_either(&standby, "over");
    let open = || Directory::open(&team).expect("it opens");
    let (ours, theirs) = (open(), open());
    let place = place(&ours, "eu");
    write(&theirs, place, "before").await;
    let rotation = start(&theirs, intent("acme", OLD)).await;
    age(&server, "over");
    let old = ours.rotation(rotation).await.expect("read").expect("there");
    let mut watch = ours.watch(ours.cursor(place).await.expect("read"));
    let written = server.execute("over", "SELECT pg_current_wal_lsn()");
    let arrived = format!("SELECT pg_last_wal_replay_lsn() >= '{written}'");
    let mut looking = standby.session("over");
    eventually("the standby has it", || looking.say(&arrived) == "t").await;
    tokio::task::block_in_place(|| standby.take_over(&server));

    write(&theirs, place, "after").await;
    let now = ours.rotation(rotation).await.expect("read").expect("there");
    let (old, now) = (
        old.boot_clock.expect("a time"),
        now.boot_clock.expect("a time"),
    );
    let between = now.since(&old).expect("one machine");
    assert!(
        between > Duration::from_mins(50),
        "its horizon is not over: {between:?}"
    );
    let stamped = standby.execute(
        "over",
        "SELECT split_part(boot_clock, '@', 2) FROM rotations",
    );
    assert_eq!(
        stamped,
        standby.execute("over", "SELECT timeline()"),
        "written down, once"
    );
    assert_eq!(
        standby.execute("over", "SELECT count(*) FROM audit WHERE what = 'timeline'"),
        "1"
    );
    let told = watch
        .read_changes(place)
        .await
        .expect("read")
        .expect("something");
    let told: Vec<_> = told.groups.iter().map(|group| group.id.as_str()).collect();
    assert_eq!(told, ["before", "after"], "including earlier changes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_only_a_standby_nothing_is_answered_until_it_is_promoted() {
    let Some(server) = postgres::own() else {
        return;
    };
    server.set_up("read");
    let standby = tokio::task::block_in_place(|| server.standby());
    let team = server.at_either(&standby, "read");
    let open = || Directory::open(&team).expect("it opens");
    let ours = open();
    let place = place(&ours, "eu");
    write(&ours, place, "before").await;
    let written = server.execute("read", "SELECT pg_current_wal_lsn()");
    let arrived = format!("SELECT pg_last_wal_replay_lsn() >= '{written}'");
    let mut looking = standby.session("read");
    eventually("the standby has it", || looking.say(&arrived) == "t").await;
    let mut watch = ours.watch(ours.cursor(place).await.expect("read"));
    tokio::task::block_in_place(|| server.stop());

    let read = ours.groups(place).await.map(drop);
    let refused = read.expect_err("it is out of date").to_string();
    assert!(refused.contains("is a standby"), "{refused}");
    let record = observation_record(observation("after", OLD, 0));
    let refused = ours.record(place, record).await;
    refused.expect_err("no writes are possible");

    tokio::task::block_in_place(|| standby.promote());
    write(&ours, place, "after").await;
    watch.read_changes(place).await.expect("read");
    assert!(
        watch.write_refusal().is_none(),
        "{:?}",
        watch.write_refusal()
    );
    assert_eq!(ours.groups(place).await.expect("read").len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_made_read_only_takes_no_write_over_an_open_connection() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("switched");
    let ours = Directory::open(&team).expect("it opens");
    let place = place(&ours, "eu");
    write(&ours, place, "before").await;
    let reload = "SELECT pg_reload_conf()";
    server.execute(
        "switched",
        "ALTER SYSTEM SET default_transaction_read_only = on",
    );
    server.execute("switched", reload);
    let mut looking = server.session("switched");
    eventually("it is read-only", || {
        looking.say("SHOW default_transaction_read_only") == "on"
    })
    .await;
    let record = observation_record(observation("after", OLD, 0));
    let refused = ours.record(place, record).await;
    let refused = refused.expect_err("it is read-only").to_string();
    assert!(refused.contains("read only"), "{refused}");

    server.execute(
        "switched",
        "ALTER SYSTEM RESET default_transaction_read_only",
    );
    server.execute("switched", reload);
    write(&ours, place, "after").await;
    assert_eq!(ours.groups(place).await.expect("read").len(), 2);
}

/// The server answers that the transaction is committed, with a warning that no standby has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_with_a_warning_is_repeated_until_a_standby_has_it_and_is_there_once() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("alone");
    let directory = Directory::open(&team).expect("it opens");
    let place = place(&directory, "eu");
    write(&directory, place, "first").await;
    // One session for all: the write ends within its ten seconds, and starting a client each time can take longer.
    let mut admin = server.session("alone");
    let mut say = |text: &str| admin.say(text);
    say("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    say("SELECT pg_reload_conf()");
    eventually("the server knows", || {
        say("SHOW synchronous_standby_names") == "nobody"
    })
    .await;
    let writing = {
        let directory = directory.clone();
        tokio::spawn(async move {
            directory
                .record(place, history_record(entry("eu", "acme", 1)))
                .await
        })
    };
    let waiting = "SELECT max(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    eventually("it waits for a standby", || !say(waiting).is_empty()).await;
    let first = say(waiting);
    say(&format!("SELECT pg_cancel_backend({first})"));
    eventually("it asks on another line", || {
        !["", &first].contains(&say(waiting).as_str())
    })
    .await;
    assert!(!writing.is_finished(), "the outcome is still unknown");
    say("ALTER SYSTEM SET synchronous_standby_names = ''");
    say("SELECT pg_reload_conf()");
    writing.await.expect("it ended").expect("written");
    let lines = directory
        .history(HistoryFilter::default())
        .await
        .expect("read");
    assert_eq!(lines.len(), 1, "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn stamps_are_deleted_after_a_week_once_a_day() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let server = postgres::server().expect("a server");
    let count = || server.execute(team.schema(), "SELECT count(*) FROM writes WHERE asked");
    let fill = |tidied: &str| {
        server.execute(
            team.schema(),
            &format!(
                "INSERT INTO writes (stamp, at, asked) SELECT gen_random_uuid(), clock_timestamp() - n * interval '1 day', TRUE \
                 FROM generate_series(6, 8, 2) n; UPDATE installation SET tidied_at = clock_timestamp() - interval '{tidied}'"
            ),
        );
    };
    fill("23 hours");
    drop(installation.open());
    assert_eq!(count(), "2", "it is not time yet");
    fill("25 hours");
    drop(installation.open());
    assert_eq!(count(), "2", "two of six days");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_required_standby_nothing_is_written_without_one() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let place = place(&installation.open(), "eu");
    let directory = Directory::open(&team.clone().only_synchronous()).expect("it opens");
    assert!(directory.groups(place).await.expect("read").is_empty());
    let refused = directory
        .record(place, history_record(entry("eu", "acme", 0)))
        .await;
    let error = refused.expect_err("refused").to_string();
    assert!(error.contains("require_synchronous"), "{error}");
}

/// By the clock of the server, because each machine has its own clock.
#[tokio::test]
async fn the_silence_of_a_run_is_measured_by_the_server() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let at = jiff::Timestamp::now();
    let run = BatchRun {
        id: RunId(7),
        by: "ana".into(),
        process: None,
        is_paused: false,
        since: at,
        seen: at,
        boot_clock: None,
    };
    let begun = directory.begin_scheduled_run(place, run, None).await;
    assert!(begun.expect("written"));
    let heard = async || {
        let stands = directory.scheduled_run(place).await.expect("read");
        stands.and_then(|run| run.boot_clock).expect("a time")
    };
    let before = heard().await;
    let server = postgres::server().expect("a server");
    server.execute(
        team.schema(),
        "ALTER TABLE scheduled_runs DISABLE TRIGGER scheduled_runs_heard_of; \
         UPDATE scheduled_runs SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 3600000000 || '@' || timeline(); \
         ALTER TABLE scheduled_runs ENABLE TRIGGER scheduled_runs_heard_of",
    );
    let silent = before.since(&heard().await).expect("one clock");
    assert!(silent > Duration::from_mins(50), "{silent:?}");
}

/// The procedure in the operations guide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_restored_on_another_server_is_the_same_directory() {
    let installation = Opened::new();
    let (Some(team), Some(other)) = (&installation.team, postgres::another()) else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    write(&directory, place, "acme").await;
    let rotation = start(&directory, intent("acme", OLD)).await;
    let schema = team.schema();
    for role in ["owner", "viewer", "operator", "admin"] {
        other.execute("public", &format!("CREATE ROLE {schema}_{role}"));
    }
    other.execute(
        "public",
        &format!("GRANT {schema}_viewer TO {schema}_operator"),
    );
    other.let_in("ana", schema, &["operator"]);
    let dump = postgres::server().expect("a server").dump(schema);
    let mut restoring = other.writer(&dump);
    eventually("it is put back", || !restoring.is_running()).await;
    let there = Directory::open(&postgres::at(other.folder(), schema)).expect("the same key");
    let groups = there.groups(place).await.expect("read");
    assert_eq!(groups, directory.groups(place).await.expect("read"));
    let mut watch = there.watch(there.cursor(place).await.expect("read"));
    let ours = Directory::open(&postgres::at(other.folder(), schema)).expect("it opens");
    let row = ours.rotation(rotation).await.expect("read").expect("there");
    assert_eq!(row.rotation, Rotation::intended(OLD));
    write(&ours, place, "after").await;
    let told = watch
        .read_changes(place)
        .await
        .expect("read")
        .expect("something");
    let told: Vec<_> = told.groups.iter().map(|group| group.id.as_str()).collect();
    assert_eq!(told, ["after"]);
}
