//! When the service, the network or the world misbehaves, the console says what is known, and what to do.

use std::time::Duration;

use groupdesk::{
    config::profile::Profile,
    domain::{change::DesiredFields, update::Edit},
    operations::{Operations, UnknownIdPolicy},
    tui::ExitReason,
};
use ratatui::style::Color;

use super::scene::{NOW, a_world, open_with};
use crate::support::{
    console::Console,
    proxy::{FaultyProxy, Gate, ProxyFault, Then},
    world::{Side, World, id},
};

/// The testing profile through a proxy, the production one directly.
pub(super) async fn through_proxy(world: &World) -> (FaultyProxy, Vec<Operations>) {
    let proxy = FaultyProxy::before(world.address()).await;
    let through = world
        .installation(Side::Testing)
        .at(NOW)
        .through(proxy.base_url());
    let direct = world.installation(Side::Production).at(NOW);
    (proxy, vec![through.operations(), direct.operations()])
}

/// A console on both profiles, the testing one through a proxy.
pub(super) async fn open_behind_proxy() -> (World, FaultyProxy, Console) {
    let world = a_world().await;
    let (proxy, operations) = through_proxy(&world).await;
    let console = open_with(operations).await;
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
    let (proxy, operations) = through_proxy(&world).await;
    let other = operations[0].clone();
    let mut console = open_with(operations).await;
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
async fn a_lost_answer_settled_by_a_read_is_recovered() {
    let (world, proxy, mut console) = open_behind_proxy().await;
    console.keys("tT").await;
    proxy.next("POST", ProxyFault::applied(Then::Half));
    console.keys("y").await;
    console
        .shows("RECOVERED")
        .shows("this call or by someone else");
    let token = world.stored(Side::Testing, "acme-eu").token;
    console.keys("v").await.shows(&token);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_service_hangs_every_key_works() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    proxy.next("GET", ProxyFault::swallowed(Then::Hang));
    console.burst("<enter>").draw();
    console.shows("reading it from the service");
    console.burst("<esc>").draw();
    console.shows("7 groups");
    proxy.next("GET", ProxyFault::swallowed(Then::Hang));
    console.burst("t?").draw();
    console.shows("Keys: Token of acme-eu");
    console.burst("<esc>P<down><enter>").draw();
    console.shows(" PRODUCTION ");
    console.settle().await;
    console.keys("<enter>").await;
    console.shows("Customer").shows("200 ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_write_can_be_left_and_reports_its_end() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    let gate = Gate::new();
    console.keys("tT").await;
    proxy.next("POST", ProxyFault::passed().behind(&gate));
    console.burst("y");
    gate.reached().await;
    console.until("Rotating: one request sent").await;
    console.hides("rotate acme-eu");
    console.tick(NOW + jiff::SignedDuration::from_secs(2));
    console
        .shows("rotate acme-eu 2s")
        .shows("Esc leaves, the request continues");
    console.burst("<esc>").draw();
    console.shows("continues").shows("7 groups");
    console.burst("P<down><enter>");
    console.until("7 groups").await;
    console.shows(" PRODUCTION ");
    console.burst("q").draw();
    console.shows("Waiting: rotate acme-eu");
    assert_eq!(console.runner.reason(), None);
    gate.open();
    console.settle().await;
    console.shows("acme-eu confirmed").shows("in testing");
    assert_eq!(console.runner.reason(), Some(ExitReason::Asked));
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
async fn a_vanished_group_stops_the_review() {
    let (world, proxy, mut console) = open_behind_proxy().await;
    console.keys("e<end> plc").await;
    world.vanish(Side::Testing, "acme-eu");
    console.keys("<ctrl-s>").await;
    console.shows("ALARM").shows("CREATED");
    console.keys("yr<enter>y").await.shows("ALARM");
    assert_eq!(proxy.count("PUT"), 0);
    assert_eq!(proxy.count("GET"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_from_the_other_environment_stops_everything() {
    let (_world, proxy, mut console) = open_behind_proxy().await;
    console.keys("t").await;
    proxy.next(
        "POST",
        ProxyFault::change(|answer| {
            answer["user_group"]["api_environment_tag"] = "Customer".into();
        }),
    );
    console.keys("Ty").await.shows("CONFLICT");
    assert_eq!(proxy.count("POST"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_service_is_reported_at_once() {
    let world = a_world().await;
    let gone = world
        .installation(Side::Testing)
        .at(NOW)
        .through("http://127.0.0.1:9")
        .timeout(Duration::from_secs(2));
    let mut console = open_with(vec![gone.operations()]).await;
    console.shows("7 groups");
    console.keys("<enter>").await;
    console
        .shows("Below: the last known values")
        .shows("Acme Europe");
    console.keys("<esc>t").await.shows("r reads the group");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_named_as_the_cause() {
    let world = a_world().await;
    let installation = world.installation(Side::Testing).at(NOW).key("not-a-key");
    let mut console = open_with(vec![installation.operations()]).await;
    console.keys("<enter>").await;
    console.shows("rejected the API key").hides("not-a-key");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_profile_reads_and_nothing_else() {
    let world = a_world().await;
    let installation = world
        .installation(Side::Production)
        .at(NOW)
        .with(|profile: &mut Profile| profile.read_only = true);
    let mut console = open_with(vec![installation.operations()]).await;
    console.shows("READ-ONLY");
    console
        .keys("e")
        .await
        .shows("Not available: this profile is read-only");
    console
        .keys("t")
        .await
        .shows("T would rotate it, but this profile is read-only");
    console
        .keys("T")
        .await
        .shows("Not available: this profile is read-only");
    console.tick(NOW + jiff::SignedDuration::from_secs(1));
    console
        .keys("<esc>onew-one<enter>")
        .await
        .shows("it cannot be created");
}
