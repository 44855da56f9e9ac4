//! Progress of work under way: each step of a rotation, each group of a batch, each page that waits for an answer.

use super::{prelude::*, trouble::open_behind_proxy};

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_of_a_batch_show_their_requests_in_flight() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    console.keys("j<space>T").await;
    let (read, sent) = (Gate::new(), Gate::new());
    proxy.next("GET", ProxyFault::passed().behind(&read));
    proxy.next("POST", ProxyFault::passed().behind(&sent));
    console.burst("rotate 1 in testing<enter>");
    read.reached().await;
    console.until("/ reading").await;
    read.open();
    sent.reached().await;
    console.until("/ sending").await;
    console.hides("/ reading");
    sent.open();
    console.settle().await;
    console.shows("+ confirmed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_names_the_last_updates_beside_the_changes() {
    let world = a_world().await;
    let mut theirs = wanted("Acme Europe", &[("40", "555")], "{}");
    theirs.properties = None;
    li_sends(&world, &theirs).await;
    let mut console = open(&world, Side::Testing, (120, 36)).await;
    console.keys("e").await.shows("Last updates");
    let screen = console.screen();
    let update = screen.lines().find(|line| line.contains("mapping 40 "));
    let update = update.expect("it is listed");
    assert!(update.contains("555") && update.contains("li "), "{update}");
    // Below 100 columns there is no room beside the form.
    console.resize((80, 24));
    console.hides("Last updates");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_is_shown_beside_the_changes_if_there_is_room() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, (120, 36)).await;
    console.keys("e<tab><enter><end>9<enter><ctrl-s>").await;
    console
        .shows("Request  PUT /api/user")
        .shows("~ 40  213 → 2139")
        .shows("~     \"40\": \"2139\"");
    console.keys("v").await;
    console.shows_all(["The request: PUT http", "~     \"40\": \"2139\""]);
    console.resize((80, 24));
    console.keys("vv").await;
    console.shows("v shows it").hides("\"2139\"");
}
