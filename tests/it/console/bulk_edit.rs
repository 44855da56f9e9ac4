//! One change to the marked groups on the screen, against the real service.

use super::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn marked_groups_are_edited_and_the_others_stay() {
    let world = a_world().await;
    let groups = ["acme-us", "globex-retail"];
    let other = world.stored(Side::Testing, "initech");
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("j<space>j<space>B").await;
    console.shows_all(["Edit 2 marked groups", "Type a schema ID"]);
    console
        .keys("<shift-tab><right><right><tab>tier<tab>copper")
        .await;
    console.shows_all(["2 change", "\"copper\""]);
    console.keys("<ctrl-s>y").await;
    console.shows_all(["2 updated of 2", "Batch 1 finished"]);
    for group in groups {
        let stored = world.stored(Side::Testing, group);
        assert_eq!(stored.properties["tier"], json!("copper"), "{group}");
    }
    assert_eq!(world.stored(Side::Testing, "initech"), other);
}
