//! One change to the marked groups on the screen, against the real service.

use serde_json::json;

use super::scene::{USUAL, a_world, open, open_with, through_a_proxy, wanted};
use crate::support::{
    proxy::{Gate, ProxyFault},
    world::{Side, id},
};

#[tokio::test(flavor = "multi_thread")]
async fn marked_groups_are_edited_and_the_others_stay() {
    let world = a_world().await;
    let groups = ["acme-us", "globex-retail"];
    let other = world.stored(Side::Testing, "initech");
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("j<space>j<space>B").await;
    console
        .shows("Edit 2 marked groups")
        .shows("Name a schema ID");
    console
        .keys("<shift-tab><right><right><tab>tier<tab>copper")
        .await;
    console.shows("2 change").shows("\"copper\"");
    console.keys("<ctrl-s>y").await;
    console.shows("2 updated of 2").shows("Batch 1 finished");
    for group in groups {
        let stored = world.stored(Side::Testing, group);
        assert_eq!(stored.properties["tier"], json!("copper"), "{group}");
    }
    assert_eq!(world.stored(Side::Testing, "initech"), other);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_edits_is_stopped_resumed_and_stopped_again() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let fields = wanted("One more", &[("40", "1")], "{}");
    for number in 1..=4 {
        let new = id(&format!("more-{number}"));
        let created = operations.create(&new, &fields).await;
        created.expect("created");
    }
    let mut console = open_with(vec![operations]).await;
    console
        .keys("*B<shift-tab><right><right><tab>tier<tab>copper<ctrl-s>")
        .await;
    for (keys, begins) in [("y", "GET"), ("<esc><esc>5Ry", "GET")] {
        let gate = Gate::new();
        for _ in 0..4 {
            proxy.next(begins, ProxyFault::passed().behind(&gate));
        }
        let (last, first) = (&keys[keys.len() - 1..], &keys[..keys.len() - 1]);
        console.keys(first).await.burst(last);
        gate.reached().await;
        console.until("4 running").await.burst("X");
        (0..4).for_each(|_| gate.open());
        console.until("Stopped as asked: ").await.settle().await;
        console.shows("not started");
    }
    assert!(proxy.count("PUT") < 11, "{:?}", proxy.methods());
}
