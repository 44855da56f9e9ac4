//! One id in two environments: side by side, with no request before it is asked for, and one row copied over.

use super::prelude::*;

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
