//! One id in two environments: side by side, with no request before it is asked for, and one row copied over.

use groupdesk::operations::UnknownIdPolicy;
use serde_json::json;

use super::scene::{NOW, USUAL, a_world, li, open, open_with, wanted};
use crate::support::{
    proxy::FaultyProxy,
    world::{LI, Side, id},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_copied_from_testing_to_production() {
    let world = a_world().await;
    let li = li(&world);
    let mut tried = wanted("Acme Europe", &[("40", "555"), ("9", "1")], "{}");
    tried.properties = None;
    li.update(&id("acme-eu"), &tried, &tried, UnknownIdPolicy::KnownOnly)
        .await
        .expect("updated");
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
    console.resize((160, 50));
    console.shows("this profile").shows("the other one");
    console.resize(USUAL);
    console.keys("<enter>").await;
    console
        .shows("mapping 40 taken from testing")
        .shows("1 change");
    console.keys("<ctrl-s>").await;
    console.shows("~ 40  213 → 555").shows("PRODUCTION");
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
async fn no_service_is_asked_before_r_and_then_both_are() {
    let world = a_world().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let operations = [Side::Testing, Side::Production].map(|side| {
        world
            .installation(side)
            .at(NOW)
            .through(proxy.base_url())
            .operations()
    });
    let mut console = open_with(operations.into()).await;
    let elsewhere = world.other_directory("li");
    let li = world
        .installation(Side::Production)
        .by(LI)
        .on(&elsewhere)
        .at(NOW);
    let mut theirs = wanted("Acme Live", &[], "{}");
    (theirs.mapping, theirs.properties) = (None, None);
    li.operations()
        .update(&id("acme-eu"), &theirs, &theirs, UnknownIdPolicy::Exists)
        .await
        .expect("updated");
    console.keys("x").await;
    console.shows("no difference").hides("Acme Live");
    assert_eq!(proxy.methods(), Vec::<String>::new());
    console.keys("r").await;
    console.shows("Acme Live").shows("1 difference");
    assert_eq!(proxy.methods(), ["GET", "GET"]);
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
