//! The main task from end to end: find, edit, review, send, rotate, hand over; and the history lists all of it.

use super::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_production_token_is_rotated_shown_copied_and_written() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    let before = world.stored(Side::Production, "globex-retail").token;
    console.keys("/globex<enter>tT").await;
    console.shows_all(["PRODUCTION", "nothing is sent yet"]);
    console.keys("<shift-tab>leaked in a ticket<enter>").await;
    console.keys("globex-retail<enter>").await;
    console.shows_all(["ROTATED", "confirmation   confirmed", "Customer"]);
    let token = world.stored(Side::Production, "globex-retail").token;
    assert_ne!(token, before);

    console.hides(&token);
    console.keys("v").await;
    console.shows(&token).shows("hidden again in 20 s");
    console.tick(NOW + SignedDuration::from_secs(13));
    console.shows(&token).shows("hidden again in 7 s");
    console.tick(NOW + SignedDuration::from_secs(20));
    console.hides(&token).shows("v shows it");

    console.keys("y").await;
    assert_eq!(console.runner.screen.copied, std::slice::from_ref(&token));
    console.shows("it does not confirm");

    let file = world.folder().join("new.token");
    console.keys("w").await.shows("~/globex-retail-");
    console.keys("<esc>").await;
    write_to(&mut console, &file).await.shows("Token saved to");
    let written = std::fs::read_to_string(&file).expect("written");
    assert_eq!(written.trim_end(), token);
    assert_private(&file);
    let console = write_to(&mut console, &file).await;
    console.shows("the token was not written");
    console.keys("<esc>").await;

    console.keys("<esc><esc>2").await;
    console.shows_all(["rotate", "confirmed"]);
    console.shows("leaked in a ticket");
    console.hides(&token).hides(&before);
    world.scan_installations(&world.secrets());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_id_is_created_through_its_review() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("oacme-ue").await;
    console.shows_all(["sending creates the group", "acme-eu", "Did you mean"]);
    console.keys("<enter>").await;
    let keys = "Acme Ue<tab>a40<tab>5<enter><tab>{{\"tier\": \"new\"";
    console.keys(keys).await;
    console.keys("<f2>").await.shows("a problem");
    assert!(world.find_stored(Side::Testing, "acme-ue").is_none());
    let empties = format!("<end>{}", "<backspace>".repeat(17));
    console.keys(&empties).await;
    console.keys("{\"tier\": \"new\"}<ctrl-s>").await;
    console.shows_all(["new group", "nothing can delete it", "v shows it"]);
    assert!(world.find_stored(Side::Testing, "acme-ue").is_none());
    console.keys("y").await;
    console.shows_all(["CREATED", "Acme Ue"]);
    let stored = world.stored(Side::Testing, "acme-ue");
    assert_eq!(stored.mapping, json!({"40": "5"}));
    assert_eq!(stored.properties, json!({"tier": "new"}));
    console.keys("<enter>").await.shows("8 groups");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_alike_id_gets_a_warning() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("o").await;
    console.paste("\u{0430}cme-eu").await;
    console
        .shows("character 1: U+0430 \"\u{0430}\" looks like \"a\"")
        .shows("sending creates the group")
        .shows("  acme-eu");
    console
        .keys("<down><enter>")
        .await
        .shows("Groups › Acme Europe");
    console.keys("<esc>o").await;
    console.paste("acme-eu\u{200b}").await;
    console.shows_all(["invisible", "sending creates the group"]);
    console.keys("<enter>").await;
    console.keys("x<ctrl-s>").await.shows("acme-eu\\u{200b}");
    assert!(
        world
            .find_stored(Side::Testing, "acme-eu\u{200b}")
            .is_none()
    );
}
