//! A watch is notified when others write, and again after its connection broke.

use groupdesk::directory::{PlaceId, Watch};

use super::*;

/// Waits until the watch reports this group.
async fn told_of(watch: &mut Watch, place: PlaceId, group: &str) {
    let telling = async {
        loop {
            watch.maybe_written().await;
            let changes = watch.read_changes(place).await.ok().flatten();
            let mut groups = changes.iter().flat_map(|changes| &changes.groups);
            if groups.any(|known| known.id.as_str() == group) {
                return;
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_mins(1), telling).await;
    told.unwrap_or_else(|_| panic!("nothing is told of {group}"));
}

/// Without hints it would look only every five seconds, which takes longer than the deadline.
#[tokio::test(flavor = "multi_thread")]
async fn thirty_writes_of_another_console_are_each_reported_without_polling() {
    let installation = Opened::new();
    if installation.team.is_none() {
        return;
    }
    let (ours, theirs) = (installation.open(), installation.open());
    let place = place(&ours, "eu");
    let mut watch = ours.watch(ours.cursor(place).await.expect("read"));
    assert!(watch.has_events());
    let telling = async {
        for number in 0..30 {
            let group = format!("g{number}");
            write(&theirs, &group).await;
            told_of(&mut watch, place, &group).await;
        }
    };
    let told = tokio::time::timeout(Duration::from_mins(2), telling).await;
    told.expect("hints arrive");
}

/// A console that died between its commit and its hint.
#[tokio::test(flavor = "multi_thread")]
async fn writes_without_a_hint_are_still_reported() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let ours = installation.open();
    let place = place(&ours, "eu");
    write(&ours, "acme").await;
    let mut watch = ours.watch(ours.cursor(place).await.expect("read"));
    // The first when the connection is up, the second because it is time to look.
    for _ in 0..2 {
        let maybe_written =
            tokio::time::timeout(Duration::from_mins(1), watch.maybe_written()).await;
        maybe_written.expect("a look in any case");
        watch.read_changes(place).await.expect("read");
    }
    let server = postgres::server().expect("a server");
    server.execute(
        team.schema(),
        "UPDATE user_groups SET name = 'New', desk = 1",
    );
    told_of(&mut watch, place, "acme").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_write_of_a_burst_and_writes_after_a_lost_connection_are_reported() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let (ours, theirs) = (installation.open(), installation.open());
    let place = place(&ours, "eu");
    let mut watch = ours.watch(ours.cursor(place).await.expect("read"));
    for number in 0..50 {
        write(&theirs, &format!("g{number}")).await;
    }
    told_of(&mut watch, place, "g49").await;
    let server = postgres::server().expect("a server");
    server.execute(
        team.schema(),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LISTEN groupdesk_' || \
         (SELECT left(replace(instance::text, '-', ''), 16) FROM installation) || '%' AND pid <> pg_backend_pid()",
    );
    write(&theirs, "later").await;
    told_of(&mut watch, place, "later").await;
}
