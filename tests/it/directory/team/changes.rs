//! What is reported about the writes of others, whatever else happens at the server.

use super::*;

#[tokio::test]
async fn rows_of_an_open_transaction_are_reported_when_it_ends_and_others_once() {
    let installation = Opened::new();
    let (ours, theirs) = (installation.open(), installation.open());
    let Some(team) = &installation.team else {
        return;
    };
    write(&theirs, "late").await;
    let mut long = postgres::server().expect("a server").session(team.schema());
    long.say("BEGIN; UPDATE user_groups SET name = NULL");
    let mut watch = watching(&ours).await;
    for group in ["a", "b", "c"] {
        write(&theirs, group).await;
        assert_eq!(reported(&mut watch, &ours).await, [group]);
    }
    // A reader that took the last number as its position would ask for this one.
    let newest = installation.ask("SELECT max(changed_in::text::bigint) FROM user_groups");
    long.say("COMMIT");
    let after =
        format!("SELECT count(*) FROM user_groups WHERE changed_in::text::bigint > {newest}");
    assert_eq!(
        installation.ask(&after),
        "0",
        "a reader by numbers misses it"
    );
    assert_eq!(reported(&mut watch, &ours).await, ["late"]);
    assert!(reported(&mut watch, &ours).await.is_empty(), "told once");
}

/// Transaction numbers that were not on disk are used again.
#[tokio::test(flavor = "multi_thread")]
async fn writes_after_a_crash_are_reported() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("crashing");
    let open = || Directory::open(&team).expect("it opens");
    let (ours, theirs) = (open(), open());
    server.configure(&["SET wal_writer_delay = '10s'"]);
    write(&theirs, "before").await;
    let mut others = server.session("crashing");
    others.say(
        "DO $$ BEGIN FOR n IN 1..100 LOOP PERFORM pg_current_xact_id(); ROLLBACK; END LOOP; END $$",
    );
    let mut watch = watching(&ours).await;
    assert!(reported(&mut watch, &ours).await.is_empty());
    drop(others);
    tokio::task::block_in_place(|| server.crash());
    write(&theirs, "after").await;
    let told = reported(&mut watch, &ours).await;
    assert!(told.contains(&"after".to_owned()), "{told:?}");
}

/// They have numbers of transactions that this server has not reached yet.
#[tokio::test]
async fn rows_of_a_restored_backup_are_not_reported() {
    let installation = Opened::new();
    let theirs = installation.open();
    if installation.team.is_none() {
        return;
    }
    write(&theirs, "restored").await;
    installation.tamper(
        "ALTER TABLE user_groups DISABLE TRIGGER user_groups_written; \
         UPDATE user_groups SET changed_in = '900000000000'; \
         ALTER TABLE user_groups ENABLE TRIGGER user_groups_written",
    );
    let ours = installation.open();
    let mut watch = watching(&ours).await;
    for group in ["a", "b"] {
        write(&theirs, group).await;
        assert_eq!(reported(&mut watch, &ours).await, [group]);
    }
}
