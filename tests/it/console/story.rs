//! The main task from end to end: find, edit, review, send, rotate, hand over; and the history lists all of it.

use std::os::unix::fs::PermissionsExt;

use groupdesk::operations::UnknownIdPolicy;
use jiff::SignedDuration;
use serde_json::json;

use super::scene::{NOW, USUAL, a_world, li, open, wanted};
use crate::support::world::{LI, Side, id};

#[tokio::test(flavor = "multi_thread")]
async fn a_mapping_row_and_a_property_are_changed_reviewed_and_sent() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/acme eu<enter>").await.shows("1 of 7");
    console
        .keys("e<tab><right><enter><end>9<enter>")
        .await
        .shows("was 213");
    console
        .keys("<tab><down><end><left><left><backspace><backspace><backspace><backspace>gold plus")
        .await;
    console.shows("\"tier\": \"gold plus\",").shows("2 changes");
    console.keys("<f2>").await;
    console
        .shows("Review: update")
        .shows(": unchanged since you started")
        .shows("~ 40  213 → 2139")
        .shows("~ tier  \"gold\" → \"gold plus\"")
        .shows("nothing is sent yet");
    assert_eq!(world.stored(Side::Testing, "acme-eu").mapping["40"], "213");
    console.keys("y").await;
    console
        .shows("UPDATED")
        .shows("tier: \"gold plus\"")
        .shows("40 → 2139")
        .shows("tag            Testing")
        .shows("UTC by ana@bastion2");
    let stored = world.stored(Side::Testing, "acme-eu");
    assert_eq!(stored.mapping["40"], "2139");
    assert_eq!(stored.properties["tier"], "gold plus");
    assert_eq!(stored.properties["seats"], 250, "nothing else changed");
    let production = world.stored(Side::Production, "acme-eu");
    assert_eq!(production.mapping["40"], "213", "the other environment");
    console.keys("<esc>2").await;
    console.shows("> ").shows("update").shows("ana@bastion2");
    console.shows("mapping 40: 213 → 2139");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_production_token_is_rotated_shown_copied_and_written() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    let before = world.stored(Side::Production, "globex-retail").token;
    console.keys("/globex<enter>tT").await;
    console.shows("PRODUCTION").shows("nothing is sent yet");
    console.keys("<shift-tab>leaked in a ticket<enter>").await;
    console.keys("globex-retail<enter>").await;
    console
        .shows("ROTATED")
        .shows("confirmation   confirmed")
        .shows("Customer");
    let token = world.stored(Side::Production, "globex-retail").token;
    assert_ne!(token, before);

    console.hides(&token);
    console.keys("v").await;
    console.shows(&token).shows("hidden again in 20s");
    console.tick(NOW + SignedDuration::from_secs(13));
    console.shows(&token).shows("hidden again in 7s");
    console.tick(NOW + SignedDuration::from_secs(20));
    console.hides(&token).shows("v shows it");

    console.keys("y").await;
    assert_eq!(console.runner.screen.copied, std::slice::from_ref(&token));
    console.shows("it does not confirm");

    let file = world.folder().join("new.token");
    console.keys("w").await.shows("~/globex-retail-");
    console.keys("<ctrl-u>").await;
    console.paste(file.to_str().expect("a plain path")).await;
    console.keys("<enter>").await.shows("Token saved to");
    let written = std::fs::read_to_string(&file).expect("written");
    assert_eq!(written.trim_end(), token);
    let mode = file.metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    console.keys("w<ctrl-u>").await;
    console.paste(file.to_str().expect("a plain path")).await;
    console
        .keys("<enter>")
        .await
        .shows("the token was not written");
    console.keys("<esc>").await;

    console.keys("<esc><esc>2").await;
    console.shows("rotate").shows("confirmed");
    console.shows("leaked in a ticket");
    console.hides(&token).hides(&before);
    world.scan_installations(&world.secrets());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_id_is_created_through_its_review() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("oacme-ue").await;
    console
        .shows("sending creates the group")
        .shows("acme-eu")
        .shows("Did you mean");
    console.keys("<enter>").await;
    console
        .keys("Acme Ue<tab>a40<tab>5<enter><tab>{{\"tier\": \"new\"")
        .await;
    console.keys("<f2>").await.shows("a problem");
    assert!(world.find_stored(Side::Testing, "acme-ue").is_none());
    console.keys("<end><backspace><backspace><backspace><backspace><backspace><backspace><backspace><backspace>").await;
    console.keys("<backspace><backspace><backspace><backspace><backspace><backspace><backspace><backspace><backspace>").await;
    console.keys("{\"tier\": \"new\"}<ctrl-s>").await;
    console
        .shows("new group")
        .shows("nothing can delete it")
        .shows("v shows it");
    assert!(world.find_stored(Side::Testing, "acme-ue").is_none());
    console.keys("y").await;
    console.shows("CREATED").shows("Acme Ue");
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
    console
        .shows("invisible")
        .shows("sending creates the group");
    console.keys("<enter>").await;
    console.keys("x<ctrl-s>").await.shows("acme-eu\\u{200b}");
    assert!(
        world
            .find_stored(Side::Testing, "acme-eu\u{200b}")
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn creating_what_exists_shows_what_the_service_kept() {
    let world = a_world().await;
    world.seed(
        Side::Testing,
        "hooli",
        "Hooli Inc",
        &[("1", "2")],
        &json!({"tier": "iron"}),
    );
    let mut console = open(&world, Side::Testing, USUAL).await;
    console
        .keys("ohooli<enter>My Hooli<tab>a1<tab>3<enter><ctrl-s>y")
        .await;
    console
        .shows("EXISTED")
        .shows("asked    My Hooli")
        .shows("kept     Hooli Inc");
    assert_eq!(
        world.stored(Side::Testing, "hooli").mapping,
        json!({"1": "2"})
    );
    console.keys("e<ctrl-s>").await;
    console.shows("Review: update").shows("My Hooli");
    console.keys("y").await.shows("UPDATED");
    let stored = world.stored(Side::Testing, "hooli");
    assert_eq!(
        (stored.name.as_str(), &stored.mapping),
        ("My Hooli", &json!({"1": "3"}))
    );
    assert_eq!(stored.properties, json!({"tier": "iron"}), "left out, kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_change_is_shown_with_all_three_values() {
    let world = a_world().await;
    world.alone(false);
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("e<end> plc").await;
    let elsewhere = world.other_directory("li");
    let li = world
        .installation(Side::Testing)
        .by(LI)
        .on(&elsewhere)
        .at(NOW)
        .operations();
    let theirs = wanted("Acme EMEA", &[("40", "1")], "{}");
    li.update(&id("acme-eu"), &theirs, &theirs, UnknownIdPolicy::Exists)
        .await
        .expect("updated");
    console.keys("<ctrl-s>").await;
    console
        .shows("CHANGED BY SOMEONE")
        .shows("> name: it was Acme Europe")
        .shows("( ) theirs  Acme EMEA")
        .shows("(*) mine    Acme Europe plc  ! OVERWRITES theirs");
    assert_eq!(world.stored(Side::Testing, "acme-eu").name, "Acme EMEA");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mapping_sent_meanwhile_from_the_same_directory_is_shown() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("e<end> plc").await;
    let li = li(&world);
    let mut theirs = wanted("Acme Europe", &[("40", "999")], "{}");
    theirs.properties = None;
    li.update(&id("acme-eu"), &theirs, &theirs, UnknownIdPolicy::KnownOnly)
        .await
        .expect("updated");
    console.keys("<ctrl-s>").await;
    console
        .shows("CHANGED BY SOMEONE")
        .shows("> mapping 40: it was 213")
        .shows("(*) theirs  999")
        .shows("( ) mine    213");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_profile_has_its_own_groups_and_is_named_on_the_screen() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("<enter>").await;
    console.shows(" TESTING ").hides("PRODUCTION");
    console.keys("P").await.shows(" PRODUCTION  ");
    console.keys("<down><enter>").await;
    console
        .shows(" PRODUCTION  ")
        .shows("7 groups")
        .hides("TESTING ");
    assert_eq!(
        console
            .screen()
            .lines()
            .nth(1)
            .map(|line| line.starts_with(" Groups  ")),
        Some(true)
    );
}
