//! An interrupted rotation, and a token that turned up somewhere.

use super::prelude::*;

/// Rotates on the screen; the answer is lost, and so is the read after it.
async fn lose_an_answer(proxy: &FaultyProxy, operations: &Operations, applied: bool) {
    let mut console = open_with(vec![operations.clone()]).await;
    console.keys("tT").await;
    let fault = if applied {
        ProxyFault::applied(Then::Drop)
    } else {
        ProxyFault::swallowed(Then::Drop)
    };
    proxy.next("POST", fault);
    proxy.next("GET", ProxyFault::passed());
    proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    console.keys("y").await.shows("UNKNOWN");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_start_settles_a_rotation_and_says_so() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    lose_an_answer(&proxy, &operations, true).await;
    let mut console = open_with(vec![operations]).await;
    console.shows("1 rotation resolved: acme-eu recovered");
    assert_eq!(proxy.count("POST"), 1, "nothing is rotated to find out");
    console.keys("3").await;
    console.shows_all(["0 open", "recovered"]);
    console.keys("<enter>t").await;
    let token = world.stored(Side::Testing, "acme-eu").token;
    console.hides(&token);
    console.keys("v").await.shows(&token);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_rotation_is_shown_settled_and_abandoned_in_its_pane() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    lose_an_answer(&proxy, &operations, false).await;
    // The service is unreachable at the start.
    proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let mut console = open_with(vec![operations]).await;
    console.shows("UNKNOWN: 1 rotation, acme-eu");
    console.keys("3").await;
    console.shows_all(["1 open", "unknown"]);
    console.keys("r").await;
    console.shows_all(["1 open", "UNKNOWN: 1 rotation"]);
    console.keys("A").await;
    console.shows_all(["Abandon a rotation", "If you abandon it"]);
    console.keys("the customer left<enter>y").await;
    console.shows_all(["0 open", "abandoned"]);
    console.keys("<esc>2").await;
    console.shows_all(["abandoned", "the customer left"]);
    assert_eq!(proxy.count("POST"), 1);
}
