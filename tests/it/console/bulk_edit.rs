//! One change over marked groups at the screen, against the real service.

use serde_json::json;

use super::scene::{USUAL, a_world, open};
use crate::support::world::Side;

#[tokio::test(flavor = "multi_thread")]
async fn marked_groups_are_edited_and_the_rest_is_left() {
    let world = a_world().await;
    let groups = ["acme-us", "globex-retail"];
    let other = world.stored(Side::Testing, "initech");
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("j<space>j<space>B").await;
    console
        .shows("Edit 2 marked groups")
        .shows("Name a schema id");
    console
        .keys("<shift-tab><right><right><tab>tier<tab>copper")
        .await;
    console.shows("2 change").shows("\"copper\"");
    console.keys("<ctrl-s>y").await;
    console.shows("2 confirmed of 2").shows("Batch 1 finished");
    for group in groups {
        let stored = world.stored(Side::Testing, group);
        assert_eq!(stored.properties["tier"], json!("copper"), "{group}");
    }
    assert_eq!(world.stored(Side::Testing, "initech"), other);
}
