//! Progress of work under way: each step of a rotation, each group of a batch, each page that waits for an answer.

use groupdesk::operations::UnknownIdPolicy;
use jiff::SignedDuration;

use super::{
    scene::{NOW, a_world, li, open, wanted},
    trouble::open_behind_proxy,
};
use crate::support::{
    console::Console,
    proxy::{Gate, ProxyFault, Then},
    world::{Side, id},
};

fn later(console: &mut Console, seconds: i64) -> &Console {
    console.tick(NOW + SignedDuration::from_secs(seconds))
}

/// The line of the screen with this text.
#[track_caller]
fn line(console: &Console, text: &str) -> String {
    let screen = console.screen();
    let found = screen.lines().find(|line| line.contains(text));
    found
        .unwrap_or_else(|| panic!("{text:?}:\n{screen}"))
        .trim()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_of_a_rotation_shows_its_progress() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    console.keys("tT").await;
    console.shows("·  2  Send one rotate request; the old token stops working at once");
    let (read, sent, back) = (Gate::new(), Gate::new(), Gate::new());
    proxy.next("GET", ProxyFault::passed().behind(&read));
    proxy.next("POST", ProxyFault::passed().behind(&sent));
    proxy.next("GET", ProxyFault::passed().behind(&back));
    console.burst("y");
    read.reached().await;
    console
        .until("1  Read the group                    reading")
        .await;
    console.shows("Rotating: nothing is sent yet");
    later(&mut console, 3).shows("reading 3s of 20s");
    assert_eq!(line(&console, "2  Send"), "·  2  Send one rotate request");
    read.open();
    sent.reached().await;
    console.until("Rotating: one request sent").await;
    assert!(line(&console, "1  Read the group ").starts_with("+  1"));
    assert!(line(&console, "1  Read the group ").contains("done 0."));
    later(&mut console, 3);
    assert!(line(&console, "2  Send").contains("sending 3s of 20s"));
    sent.open();
    console.until("confirmation   confirming").await;
    back.reached().await;
    later(&mut console, 5);
    let confirming = line(&console, "confirmation ");
    assert!(confirming.contains("confirm acme-eu"), "{confirming}");
    back.open();
    console.settle().await;
    console.shows("confirmation   confirmed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_whose_answer_is_lost_shows_the_step_that_is_unknown() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    console.keys("tT").await;
    proxy.next("POST", ProxyFault::applied(Then::Drop));
    for _ in 0..8 {
        proxy.next("GET", ProxyFault::passed());
        proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    }
    console.keys("y").await;
    assert!(line(&console, "1  Read the group ").starts_with("+  1"));
    let sent = line(&console, "2  Send");
    assert!(
        sent.starts_with("?  2") && sent.ends_with("UNKNOWN"),
        "{sent}"
    );
    assert_eq!(proxy.count("POST"), 1);
    proxy.calm("GET");
    // Reading the token shows its page again, without steps.
    console.keys("r").await.hides("2  Send one rotate request");
}

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
async fn a_waiting_comparison_says_for_what() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    console.keys("x").await;
    let gate = Gate::new();
    proxy.next("GET", ProxyFault::passed().behind(&gate));
    console.burst("r");
    gate.reached().await;
    console.draw();
    later(&mut console, 2);
    let screen = console.screen();
    let body: Vec<&str> = screen.lines().skip(2).collect();
    let told = body
        .iter()
        .any(|line| line.contains("read acme-eu 2s  Esc cancels"));
    assert!(told, "{screen}");
    gate.open();
    console.settle().await;
    console.hides("read acme-eu 2s");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_names_the_last_updates_beside_the_changes() {
    let world = a_world().await;
    let li = li(&world);
    let known = li
        .show(&id("acme-eu"))
        .await
        .expect("readable")
        .expect("known");
    let before = groupdesk::domain::change::DesiredFields::of(&known);
    let mut after = wanted("Acme Europe", &[("40", "555")], "{}");
    (after.name, after.properties) = (before.name.clone(), before.properties.clone());
    li.update(&id("acme-eu"), &before, &after, UnknownIdPolicy::KnownOnly)
        .await
        .expect("updated");
    let mut console = open(&world, Side::Testing, (120, 36)).await;
    console.keys("e").await.shows("Last updates");
    let update = line(&console, "mapping 40 213 → 555");
    assert!(update.contains("li "), "{update}");
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
    console
        .shows("The request: PUT http")
        .shows("~     \"40\": \"2139\"");
    console.resize((80, 24));
    console.keys("vv").await;
    console.shows("v shows it").hides("\"2139\"");
}
