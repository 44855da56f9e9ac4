//! The everyday tasks at 80×24, each at its decisive moment.

use super::compare_or_write;
use crate::{
    console::{NOW, USUAL, a_world, open, open_with},
    support::{
        proxy::{FaultyProxy, ProxyFault, Then},
        world::Side,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn one_row_of_a_production_mapping() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    console.keys("/acme-eu<enter>e<tab><right><enter>").await;
    console
        .keys("<ctrl-u>999<enter><ctrl-s>")
        .await
        .shows("40  213 → 999");
    compare_or_write("errand-mapping", console.buffer());
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_token_leaked() {
    let world = a_world().await;
    let token = world.stored(Side::Production, "globex-retail").token;
    let mut console = open(&world, Side::Production, USUAL).await;
    console.keys("W").await;
    console.paste(&token).await;
    console.keys("<enter>").await;
    console
        .shows("current  token of globex-retail")
        .hides(&token);
    compare_or_write("errand-leak", console.buffer());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_looks_like_another() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    console.keys("o").await;
    console.paste("\u{0430}cme-eu").await;
    console.shows("looks like \"a\"");
    compare_or_write("errand-look-alike", console.buffer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_hangs() {
    let world = a_world().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let hanging = world.installation(Side::Testing).at(NOW);
    let hanging = hanging.through(proxy.base_url()).operations();
    let working = world.installation(Side::Production).at(NOW).operations();
    let mut console = open_with(vec![hanging, working]).await;
    proxy.next("GET", ProxyFault::swallowed(Then::Hang));
    console.burst("<enter>P<down>").draw();
    console.shows(" >  production");
    compare_or_write("errand-dead-service", console.buffer());
    console.keys("<enter><enter>").await;
    console.shows(" PRODUCTION ").shows("read at");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_was_left() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    console.keys("e<end> plc<tab><right><enter>9").await;
    drop(console);
    let mut console = open(&world, Side::Production, USUAL).await;
    console.shows("1 unsent draft");
    console.keys("e").await;
    console.shows("Your unsent draft").shows("Acme Europe plc");
    compare_or_write("errand-draft", console.buffer());
}
