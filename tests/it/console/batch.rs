//! Many groups on the screen against the real service: marked, checked, confirmed, rotated, and listed in the history.

use futures_util::stream;
use groupdesk::{
    directory::{BatchId, BatchOptions},
    operations::batch::RunLimits,
};

use super::prelude::*;

const MARKED: [&str; 3] = ["acme-us", "globex-retail", "initech"];

#[tokio::test(flavor = "multi_thread")]
async fn three_marked_groups_are_rotated_and_listed_in_the_history() {
    let world = a_world().await;
    let token = |group: &str| world.stored(Side::Testing, group).token;
    let before = MARKED.map(token);
    let other = token("acme-eu");
    let mut console = open(&world, Side::Testing, USUAL).await;
    console
        .keys("j<space>j<space>j<space>")
        .await
        .shows("3 marked");
    console.keys("T").await;
    console.shows_all(["3 ready, 0 skipped", "rotate 3 in testing"]);
    console
        .keys("<shift-tab>leaked<enter>rotate 3 in production<enter>")
        .await;
    console.shows("Text differs; nothing was sent");
    assert_eq!(MARKED.map(token), before);
    console.keys("<ctrl-u>rotate 3 in testing<enter>").await;
    console
        .shows("3 of 3  100%")
        .shows("3 confirmed   of 3")
        .shows("finished: 3 confirmed of 3");
    for (group, before) in MARKED.into_iter().zip(before) {
        let now = token(group);
        assert_ne!(now, before, "{group}");
        console.hides(&now);
        console.shows(group);
    }
    assert_eq!(token("acme-eu"), other, "it was not marked");

    let file = world.folder().join("report.json");
    write_to(&mut console, &file).await.shows("Report saved to");
    let report = std::fs::read_to_string(&file).expect("written");
    assert_private(&file);
    for group in MARKED {
        assert!(report.contains(group) && !report.contains(&token(group)));
    }

    console.keys("<esc>2").await;
    // Each rotation is one row, with its steps below.
    console.shows_all(["15 of 15", "leaked", "steps          rotate rotated"]);
    // All were rotated just now, so all are left out.
    console.keys("<esc><space>T").await;
    console.shows_all(["0 ready, 1 skipped", "less than 24 h ago"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_finishes_requests_in_flight_and_starts_nothing() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let mut console = open_with(vec![operations.clone()]).await;
    let gate = Gate::new();
    for _ in 0..4 {
        proxy.next("GET", ProxyFault::passed().behind(&gate));
    }
    console.keys("*Trotate 7 in testing").await;
    console.burst("<enter>");
    // For all four requests: otherwise the read-back of the first would wait in the place of one.
    for _ in 0..4 {
        gate.reached().await;
    }
    console.until("4 running").await.burst("X");
    gate.open();
    // These events come after the stop on the same channel.
    console.until("1 confirmed").await;
    (0..3).for_each(|_| gate.open());
    console.settle().await;
    console.shows_all(["Stopped as asked: ", "not started   of 7"]);
    assert!(proxy.count("POST") <= 5, "{:?}", proxy.methods());

    let mut console = open_with(vec![operations]).await;
    console.shows_all(["Batch 1 is unfinished:", "!1"]);
    // One's own batch of today: three keys, and no group is sent twice.
    console.keys("5").await;
    console.shows_all(["unfinished: ", "1 unfinished of 1"]);
    console.keys("Ry").await;
    console.shows_all(["7 of 7  100%", "7 confirmed   of 7"]);
    assert_eq!(proxy.count("POST"), 7, "{:?}", proxy.methods());
    console.keys("<esc>").await;
    console.shows_all(["0 unfinished of 1", "+   1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn quitting_waits_for_requests_in_flight_only_so_long() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let mut console = open_with(vec![operations.clone()]).await;
    let gate = Gate::new();
    for _ in 0..4 {
        proxy.next("POST", ProxyFault::passed().behind(&gate));
    }
    console.keys("*Trotate 7 in testing").await;
    console.burst("<enter>");
    for _ in 0..4 {
        gate.reached().await;
    }
    console.runner.patience = Duration::from_millis(50);
    // The terminal is gone.
    let left = console.runner.run(stream::empty(), None);
    let left = tokio::time::timeout(Duration::from_mins(1), left).await;
    let left = left.expect("it does not wait for ever");
    assert_eq!(left.expect("no error"), ExitReason::Signal);
    let batch = &operations.batches().await.expect("readable")[0];
    assert_eq!((batch.counts.unknown, batch.counts.not_started), (4, 3));
    assert_eq!(proxy.count("POST"), 4);
    (0..4).for_each(|_| gate.open());
}

/// What an ended batch did not do stays in sight until it is done, and a retry keeps what the batch included.
#[tokio::test(flavor = "multi_thread")]
async fn groups_that_an_ended_batch_did_not_do_need_attention_until_they_are_retried() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let known = UnknownIdPolicy::KnownOnly;
    for group in &MARKED[..2] {
        let earlier = world.installation(Side::Testing);
        let earlier = earlier.at(NOW - Duration::from_hours(1)).operations();
        let rotated = earlier.rotate(&id(group), None, known).await;
        rotated.expect("rotated");
    }
    let mut console = open_with(vec![operations]).await;
    // Included although they were rotated today. The service refuses one of them.
    proxy.next("POST", ProxyFault::swallowed(Then::Instead(refusal())));
    console.keys("j<space>j<space>T<f7>").await;
    console.shows("2 ready, 0 skipped");
    console
        .keys("<shift-tab>leak of today<enter>rotate 2 in testing<enter>")
        .await;
    console.shows("ended: 1 not applied, 1 confirmed of 2");
    console.shows(" NOT rotated: ");
    console.keys("<esc>").await.shows("!1");
    console.keys("0").await;
    console.shows_all(["! batch partly done", "R retry: 1 of 2 done, 1 not"]);
    console.keys("R").await;
    console.shows_all(["1 ready, 0 skipped", "leak of today"]);
    console.keys("rotate 1 in testing<enter>").await;
    console.shows("finished: 1 confirmed of 1");
    console.keys("<esc>").await.hides("batch partly done");
    console.keys("<esc>").await.hides("!1");
    assert_eq!(proxy.count("POST"), 3);
}

/// A retry here does what `batches retry` does: it keeps the options of the batch, and writes no new token nowhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_retry_keeps_the_options_of_the_batch() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let options = |token_out| BatchOptions {
        hands_off: false,
        concurrency: Some(1),
        rate: Some(50.0),
        stop_after: Some(1),
        token_out,
    };
    let refused = || ProxyFault::swallowed(Then::Instead(refusal()));
    for (groups, token_out) in [(&MARKED[..2], false), (&MARKED[2..], true)] {
        let ids: Vec<_> = groups.iter().map(|group| id(group)).collect();
        let plan = operations.plan_batch(&ids, true).await.expect("readable");
        let begun = operations.begin_batch(&plan, None, options(token_out));
        let batch = begun.await.expect("durable");
        for _ in groups {
            proxy.next("POST", refused());
        }
        let ran = operations.run_through(batch, RunLimits::default());
        ran.await.expect("it starts");
    }
    let mut console = open_with(vec![operations.clone()]).await;
    let sent = proxy.count("POST");
    // The later batch, which wrote a file, is the first.
    console.keys("0").await.shows("! batch partly done");
    console.keys("R").await;
    console.shows("batches retry 2 --token-out FILE");
    assert_eq!(proxy.count("POST"), sent);
    console.keys("<esc>jR").await;
    console.shows("2 ready, 0 skipped");
    proxy.next("POST", refused());
    console.keys("rotate 2 in testing<enter>").await;
    console.shows("1 not applied");
    assert_eq!(proxy.count("POST"), sent + 1, "it stops after one");
    let kept = operations.batch_options(BatchId(3)).await;
    assert_eq!(kept.expect("readable"), options(false));
}

fn refusal() -> Vec<u8> {
    let body = serde_json::json!({"success": 0, "error": "not now"});
    http(
        "403 Forbidden",
        &["Content-Type: application/json"],
        body.to_string(),
    )
}
