//! The database of the directory is away while the answer to a change arrives: the console keeps what came of it, and
//! records and shows it by itself when the database is back.

use groupdesk::domain::batch::ItemStatus;

use super::{
    lost_server::{Scene, scene},
    prelude::*,
};

const DEADLINE: Duration = Duration::from_mins(1);

/// Sends a change by these keys. Its answer arrives while the server is away, which is back some seconds later.
async fn answered_without_server(
    (server, scene): (&Server, &mut Scene),
    method: &'static str,
    then: Then,
    keys: &str,
) {
    let other = operations(scene);
    let gate = Gate::new();
    scene
        .proxy
        .next(method, ProxyFault::applied(then).behind(&gate));
    scene.console.burst(keys);
    let reaching = async {
        loop {
            tokio::select! {
                () = gate.reached() => break,
                drawn = scene.console.runner.step() => drawn.expect("drawn"),
            }
        }
    };
    let reached = tokio::time::timeout(DEADLINE, reaching).await;
    reached.expect("the request arrives");
    tokio::task::block_in_place(|| server.stop());
    gate.open();
    scene.console.until("directory lost, ").await;
    // Longer than anything waits for a server.
    for _ in 0..2 {
        let read = other.show(&id("acme-eu")).await;
        assert!(read.expect_err("away").is_unreachable());
    }
    tokio::task::block_in_place(|| server.start());
    // The record and the feed find the server by themselves, in any order; without the feed the next change is refused.
    let is_back = |console: &Console| console.runner.app.context.outage.is_none();
    scene.console.until_that("the directory", is_back).await;
}

/// A handle of its own, as another program has.
fn operations(scene: &Scene) -> Operations {
    let installation = scene.world.installation(Side::Testing);
    installation.on(&scene.directory).operations()
}

/// No rotation is open, and the directory has the token of the service.
async fn assert_settled(scene: &Scene, posts: usize, group: &str) {
    let operations = operations(scene);
    let open = operations.open_rotations().await.expect("readable");
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(scene.proxy.count("POST"), posts);
    let token = scene.world.stored(Side::Testing, group).token;
    let known = operations.show(&id(group)).await.expect("readable");
    let known = known.and_then(|known| known.fingerprint).expect("known");
    let token = groupdesk::domain::token::Token::new(token);
    let fingerprinter = operations.directory().fingerprinter();
    assert_eq!(known.value, fingerprinter.of(&token));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_that_is_answered_while_the_database_is_away_is_recorded_by_the_console() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("desk");
    let mut scene = scene(&team).await;
    scene.console.keys("tT").await;
    answered_without_server((&server, &mut scene), "POST", Then::Pass, "y").await;
    scene.console.until("ROTATED").await;
    scene.console.settle().await;
    scene.console.shows("confirmed");
    assert_settled(&scene, 1, "acme-eu").await;
    // Without an answer as well: it is settled by reading.
    scene.console.keys("<esc>jtT").await;
    answered_without_server((&server, &mut scene), "POST", Then::Drop, "y").await;
    scene.console.until("RECOVERED").await;
    scene.console.settle().await;
    assert_settled(&scene, 2, "initech").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_is_answered_while_the_database_is_away_is_recorded_by_the_console() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("desk");
    let mut scene = scene(&team).await;
    scene.console.keys("e<end> typed<ctrl-s>").await;
    answered_without_server((&server, &mut scene), "PUT", Then::Pass, "y").await;
    scene.console.until("UPDATED").await;
    scene.console.settle().await;
    assert_eq!(scene.proxy.count("PUT"), 1);
    let operations = operations(&scene);
    let open = operations.open_changes().await.expect("readable");
    assert!(open.is_empty(), "{open:?}");
    let known = operations.show(&id("acme-eu")).await.expect("readable");
    let name = known.and_then(|known| known.name).map(|name| name.value);
    assert_eq!(name.as_deref(), Some("A name typed"));
    assert_eq!(operations.drafts().await.expect("readable"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_a_batch_that_is_answered_while_the_database_is_away_is_recorded_by_the_console()
{
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("desk");
    let mut scene = scene(&team).await;
    scene.console.keys("<space>Trotate 1 in testing").await;
    answered_without_server((&server, &mut scene), "POST", Then::Pass, "<enter>").await;
    scene.console.until("1 confirmed   of 1").await;
    scene.console.settle().await;
    assert_settled(&scene, 1, "acme-eu").await;
    let operations = operations(&scene);
    let batch = operations.batches().await.expect("readable").remove(0);
    assert!(batch.ended_at.is_some());
    let items = operations.batch_items(batch.id).await.expect("readable");
    assert_eq!(items[0].status(), ItemStatus::Confirmed);
    assert_eq!(items[0].state, Some(State::Confirmed));
}
