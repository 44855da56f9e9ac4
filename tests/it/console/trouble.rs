//! When the service, the network or the world misbehaves, the console says what is known, and what to do.

use groupdesk::domain::update::Edit;

use super::prelude::*;

/// A console on the testing profile, through a proxy.
pub(super) async fn open_behind_proxy() -> (World, FaultyProxy, Console) {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let console = open_with(vec![operations]).await;
    (world, proxy, console)
}

/// The colour of the first cell of a text.
fn colour_of(console: &Console, text: &str) -> Option<Color> {
    let screen = console.screen();
    let (y, line) = screen
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains(text))?;
    let x = line[..line.find(text)?].chars().count();
    Some(console.buffer()[(x as u16, y as u16)].fg)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_without_an_answer_is_unknown_and_says_what_to_do() {
    let (world, proxy, mut console) = open_behind_proxy().await;
    console.keys("e<end> plc<ctrl-s>").await;
    proxy.next("PUT", ProxyFault::applied(Then::Drop));
    console.keys("y").await;
    console
        .shows("UNKNOWN whether the update of")
        .shows("Read the group")
        .shows("Your text is kept");
    assert_eq!(colour_of(&console, "UNKNOWN whether"), Some(Color::Magenta));
    assert_eq!(proxy.count("PUT"), 1, "nothing is repeated by itself");
    assert_eq!(
        world.stored(Side::Testing, "acme-eu").name,
        "Acme Europe plc"
    );
    // A read settles it: the wanted values are there.
    console.keys("r").await;
    console
        .shows("it already has your name")
        .hides("BY SOMEONE");
    console.keys("<esc><esc>2").await.shows("unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_another_writer_names_the_writer() {
    let world = a_world().await;
    let (proxy, other) = through_a_proxy(&world).await;
    let mut console = open_with(vec![other.clone()]).await;
    console.keys("e<end> plc<ctrl-s>").await;
    // Another process changes the group meanwhile, and takes its time.
    let gate = Gate::new();
    proxy.next("PUT", ProxyFault::passed().behind(&gate));
    let updating = tokio::spawn(async move {
        let acme = id("acme-eu");
        let shown = other.show(&acme).await.expect("readable");
        let base = shown.as_ref().map(DesiredFields::of).unwrap_or_default();
        let mut wanted = base.clone();
        wanted.name = Some("Somebody's".into());
        let edit = Edit::whole(&base, &wanted);
        other
            .update_edit(&acme, &edit, UnknownIdPolicy::KnownOnly)
            .await
    });
    gate.reached().await;
    console.burst("y");
    console
        .until("Waiting: \"acme-eu\" is locked by the update of")
        .await;
    gate.open();
    updating.await.expect("no panic").expect("updated");
    console.settle().await;
    console.shows("Somebody's");
    assert_eq!(proxy.count("PUT"), 1, "the review is out of date");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_without_an_answer_is_settled_by_reading_only() {
    let (world, proxy, mut console) = open_behind_proxy().await;
    console.keys("tT").await;
    proxy.next("POST", ProxyFault::applied(Then::Reset));
    proxy.next("GET", ProxyFault::passed());
    proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    console.keys("y").await;
    console
        .shows("UNKNOWN")
        .tells("Never rotate again to find out")
        .shows("r reads the group");
    assert_eq!(colour_of(&console, "UNKNOWN"), Some(Color::Magenta));
    console.keys("T").await;
    console.tick(NOW + jiff::SignedDuration::from_secs(4));
    console.shows("the token must be read first");
    console.keys("r").await.shows("resolved: recovered");
    assert_eq!(proxy.count("POST"), 1);
    let token = world.stored(Side::Testing, "acme-eu").token;
    console.keys("v").await.shows(&token);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_does_not_wait_and_the_journal_has_the_rotation() {
    let (world, proxy, mut console) = open_behind_proxy().await;
    let gate = Gate::new();
    console.keys("tT").await;
    proxy.next("POST", ProxyFault::passed().behind(&gate));
    console.burst("y");
    gate.reached().await;
    console.burst("<ctrl-c><ctrl-c>");
    assert_eq!(console.runner.reason(), None);
    console.burst("<ctrl-c>");
    assert_eq!(console.runner.reason(), Some(ExitReason::Signal));
    let open = world.operations(Side::Testing).open_rotations().await;
    assert_eq!(open.expect("readable").len(), 1);
    gate.open();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_named_as_the_cause() {
    let world = a_world().await;
    let installation = world.installation(Side::Testing).at(NOW).key("not-a-key");
    let mut console = open_with(vec![installation.operations()]).await;
    console.keys("<enter>").await;
    console.shows("rejected the API key").hides("not-a-key");
}
