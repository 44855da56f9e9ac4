//! One id in two environments: side by side, with no request before it is asked for, and one row copied over.

use super::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_copied_from_testing_to_production() {
    let world = a_world().await;
    let mut tried = wanted("Acme Europe", &[("40", "555"), ("9", "1")], "{}");
    tried.properties = None;
    li_sends(&world, &tried).await;
    let before = world.stored(Side::Production, "acme-eu");
    let mut console = open(&world, Side::Production, USUAL).await;
    console.keys("x").await;
    console
        .shows(" PRODUCTION  production")
        .shows(" TESTING  testing")
        .shows("5 differences")
        .shows("> ~ mapping 40")
        .shows("PRODUCTION production  213")
        .shows("TESTING testing        555");
    for token in world.secrets() {
        console.hides(&token);
    }
    console.keys("<enter>").await;
    console.shows_all(["mapping 40 taken from testing", "1 change"]);
    console.keys("<ctrl-s>").await;
    console.shows_all(["~ 40  213 → 555", "PRODUCTION"]);
    assert_eq!(
        world.stored(Side::Production, "acme-eu").mapping,
        before.mapping
    );
    console.keys("y").await.shows("UPDATED");
    let after = world.stored(Side::Production, "acme-eu");
    assert_eq!(after.mapping["40"], "555");
    assert_eq!(after.mapping["134"], before.mapping["134"], "one row alone");
    assert_eq!(after.properties, before.properties);
    let testing = world.stored(Side::Testing, "acme-eu");
    assert_eq!(testing.mapping, json!({"40": "555", "9": "1"}), "untouched");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_known_only_here_is_never_read_there() {
    let world = a_world().await;
    let here = world.installation(Side::Testing).at(NOW).operations();
    let only = wanted("Only here", &[], "{}");
    here.create(&id("aaa"), &only).await.expect("created");
    let mut console = open(&world, Side::Testing, USUAL).await;
    console
        .keys("/only here<enter>x")
        .await
        .shows("No other profile knows this ID");
    console.keys("ra<enter>").await;
    assert!(world.find_stored(Side::Production, "aaa").is_none());
    console.shows("Compare aaa");
}
