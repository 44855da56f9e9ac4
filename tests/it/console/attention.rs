//! The concerns of both profiles, from the real directory.

use super::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn tokens_over_their_limit_are_counted_in_every_profile_and_lead_to_their_list() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("0").await;
    console
        .shows("2 items in 2 profiles")
        .shows("! 6 tokens overdue")
        .shows("Enter list: oldest 402d")
        .shows("Token age  usual limit 90d");
    // The second row leads to the list of the other profile, filtered.
    console.keys("j<enter>").await;
    console.shows_all(["PRODUCTION", "6 of 7"]).hides("acme-eu");
}
