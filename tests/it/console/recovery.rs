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
    proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    // Its request can no longer arrive.
    let late = world
        .installation(Side::Testing)
        .at(NOW + Duration::from_mins(1));
    let late = late.through(proxy.base_url()).operations();
    let mut console = open_with(vec![late]).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn a_found_token_is_traced_and_nothing_is_sent() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let old = world.stored(Side::Testing, "acme-us").token;
    let rotating = world.installation(Side::Testing).at(NOW).operations();
    let known = groupdesk::operations::UnknownIdPolicy::KnownOnly;
    let acme = crate::support::world::id("acme-us");
    rotating.rotate(&acme, None, known).await.expect("rotated");
    let new = world.stored(Side::Testing, "acme-us").token;
    let direct = world.installation(Side::Production).at(NOW).operations();
    let mut console = open_with(vec![operations, direct]).await;
    let settling = proxy.methods().len();
    for (token, words) in [
        (&new, "current  token of acme-us in testing"),
        (&old, "former   token of acme-us in testing"),
    ] {
        console.keys("W").await.paste(token).await;
        console.hides(token);
        console.keys("<enter>").await;
        console.shows(words).hides(token);
        assert_eq!(proxy.methods().len(), settling, "nothing is sent");
        console.keys("<esc>").await;
    }
    console.keys("W").await.paste(&new).await;
    console.keys("<enter>t").await;
    console.shows("Token of acme-us").hides(&new);
}
