//! A standby takes over, a standby is missing, and old stamps are deleted.

use groupdesk::directory::RunId;

use super::*;
use crate::support::{postgres::Server, wait::eventually};

/// Waits until the standby has all that was written.
async fn until_replicated(server: &Server, standby: &Server, schema: &str) {
    let written = server.execute(schema, "SELECT pg_current_wal_lsn()");
    let arrived = format!("SELECT pg_last_wal_replay_lsn() >= '{written}'");
    let mut looking = standby.session(schema);
    eventually("the standby has it", || looking.say(&arrived) == "t").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_failover_horizons_start_again_and_all_changes_are_reported_again() {
    let Some(server) = postgres::own() else {
        return;
    };
    server.set_up("over");
    let standby = tokio::task::block_in_place(|| server.standby());
    let team = server.at_either(&standby, "over");
    let [ours, theirs] = [(); 2].map(|()| Directory::open(&team).expect("it opens"));
    write(&theirs, "before").await;
    let rotation = start(&theirs, intent("acme", OLD)).await;
    server.execute(
        "over",
        &postgres::an_hour_ago("rotations", "rotations_timed"),
    );
    let began = async || row(&ours, rotation).await.boot_clock.expect("a time");
    let old = began().await;
    let mut watch = watching(&ours).await;
    until_replicated(&server, &standby, "over").await;
    tokio::task::block_in_place(|| standby.take_over(&server));
    write(&theirs, "after").await;
    let between = began().await.since(&old).expect("one machine");
    let is_new = between > Duration::from_mins(50);
    assert!(is_new, "its horizon is not over: {between:?}");
    let ask = |text: &str| standby.execute("over", text);
    let stamped = ask("SELECT split_part(boot_clock, '@', 2) FROM rotations");
    assert_eq!(stamped, ask("SELECT timeline()"));
    let noted = ask("SELECT count(*) FROM audit WHERE what = 'timeline'");
    assert_eq!(noted, "1", "written down, once");
    let told = reported(&mut watch, &ours).await;
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
    let ours = Directory::open(&team).expect("it opens");
    let place = place(&ours, "eu");
    write(&ours, "before").await;
    until_replicated(&server, &standby, "read").await;
    let mut watch = watching(&ours).await;
    tokio::task::block_in_place(|| server.stop());
    let read = ours.groups(place).await.map(drop);
    let refused = read.expect_err("it is out of date").to_string();
    assert!(refused.contains("is a standby"), "{refused}");
    let refused = ours.record(place, both("after", 0)).await;
    refused.expect_err("no writes are possible");
    tokio::task::block_in_place(|| standby.promote());
    write(&ours, "after").await;
    watch.read_changes(place).await.expect("read");
    let refusal = watch.write_refusal();
    assert!(refusal.is_none(), "{refusal:?}");
    assert_eq!(groups(&ours).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_made_read_only_takes_no_write_over_an_open_connection() {
    let Some(server) = postgres::own() else {
        return;
    };
    let ours = Directory::open(&server.set_up("switched")).expect("it opens");
    write(&ours, "before").await;
    server.configure(&["SET default_transaction_read_only = on"]);
    let refused = ours.record(place(&ours, "eu"), both("after", 0)).await;
    let refused = refused.expect_err("it is read-only").to_string();
    assert!(refused.contains("read only"), "{refused}");
    server.configure(&["RESET default_transaction_read_only"]);
    write(&ours, "after").await;
    assert_eq!(groups(&ours).await.len(), 2);
}

/// The server answers that the transaction is committed, with a warning that no standby has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_with_a_warning_is_repeated_until_a_standby_has_it_and_is_there_once() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("alone");
    let directory = Directory::open(&team).expect("it opens");
    write(&directory, "first").await;
    // One session for all: the write ends within its ten seconds, and starting a client each time can take longer.
    let mut admin = server.session("alone");
    let mut say = |text: &str| admin.say(text);
    server.configure(&["SET synchronous_standby_names = 'nobody'"]);
    let waiting = "SELECT max(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    // Whether a commit waits is decided by another process of the server, a moment later.
    let commits = "CREATE TABLE waits (at int); DO $$ BEGIN LOOP INSERT INTO waits VALUES (1); COMMIT; END LOOP; END $$;";
    let until_one_waits = server.writer(commits);
    eventually("the server knows", || !say(waiting).is_empty()).await;
    say("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    drop(until_one_waits);
    eventually("it is gone", || say(waiting).is_empty()).await;
    let writing = {
        let directory = directory.clone();
        tokio::spawn(async move { recorded(&directory, both("acme", 1)).await })
    };
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
    writing.await.expect("it ended");
    assert_eq!(lines(&directory).await.len(), 1, "once");
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
    let refused = directory.record(place, both("acme", 0)).await;
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
    let run = begun_run(RunId(7), "ana", at);
    let begun = directory.begin_scheduled_run(place, run, None).await;
    assert!(begun.expect("written"));
    let heard = async || {
        let stands = directory.scheduled_run(place).await.expect("read");
        stands.and_then(|run| run.boot_clock).expect("a time")
    };
    let before = heard().await;
    let server = postgres::server().expect("a server");
    let older = postgres::an_hour_ago("scheduled_runs", "scheduled_runs_heard_of");
    server.execute(team.schema(), &older);
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
    write(&directory, "acme").await;
    let rotation = start(&directory, intent("acme", OLD)).await;
    say_sole_writer(&directory, second(0)).await;
    let schema = team.schema();
    // Sent by somebody whose clock is ahead.
    let sent = "UPDATE user_groups SET origin = \
                jsonb_set(origin::jsonb, '{mapping}', '[\"sent\", 4102444800000000, \"ana\"]')::text";
    let server = postgres::server().expect("a server");
    server.execute(schema, sent);
    for role in ["owner", "viewer", "operator", "admin"] {
        other.execute("public", &format!("CREATE ROLE {schema}_{role}"));
    }
    let granted = format!("GRANT {schema}_viewer TO {schema}_operator");
    other.execute("public", &granted);
    other.let_in("ana", schema, &["operator"]);
    let dump = server.dump(schema);
    let mut restoring = other.writer(&dump);
    eventually("it is put back", || !restoring.is_running()).await;
    let open = || Directory::open(&postgres::at(other.folder(), schema)).expect("the same key");
    let (there, ours) = (open(), open());
    assert_eq!(groups(&there).await, groups(&directory).await);
    assert!(is_sole_writer(&installation.open()).await);
    // Changes after the dump are missing there.
    assert!(!is_sole_writer(&there).await);
    let facts = there.facts(place(&there, "eu")).await.expect("readable");
    let ahead = Timestamp::from_second(4_102_444_800).expect("a time");
    assert!(
        facts.restored_at().is_some_and(|at| at >= ahead),
        "{facts:?}"
    );
    say_sole_writer(&there, second(1)).await;
    assert!(is_sole_writer(&open()).await, "as it was said again");
    let mut watch = watching(&there).await;
    let kept = row(&ours, rotation).await.rotation;
    assert_eq!(kept, Rotation::intended(OLD));
    write(&ours, "after").await;
    assert_eq!(reported(&mut watch, &there).await, ["after"]);
}
