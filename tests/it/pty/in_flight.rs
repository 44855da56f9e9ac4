//! A request on its way when the terminal hangs up: it is finished and recorded, and waiting for it costs nothing.

use groupdesk::domain::history::Ending;

use super::{batch::through, idle::assert_comes_to_rest, prelude::*};

/// A console whose rotation has reached the service, and whose answer waits at the gate.
async fn rotating(world: &World, place: &TempHome, gate: &Gate, proxy: &FaultyProxy) -> Session {
    world.seed(Side::Testing, "acme", "Acme", &[], &json!({}));
    let known = world.operations(Side::Testing);
    known
        .look_up(&id("acme"), UnknownIdPolicy::Exists)
        .await
        .expect("found");
    proxy.next("POST", ProxyFault::passed().behind(gate));
    let mut session = through(world, place, proxy, &[]).start();
    session.wait_for(" 1 group ", PATIENCE);
    session.type_until("t", "T rotates it", PATIENCE);
    session.type_until("T", "y rotates", PATIENCE);
    session.type_until("y", "Rotating: one request sent", PATIENCE);
    gate.reached().await;
    session
}

async fn last_ending(world: &World) -> Ending {
    let operations = world.operations(Side::Testing);
    let history = operations.history(Some(id("acme")), Some(1)).await;
    history.expect("readable")[0].value.ending
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_waits_for_a_rotation_says_so_and_after_a_hangup_it_costs_nothing() {
    let (world, place, gate) = (World::new().await, TempHome::new(), Gate::new());
    let proxy = FaultyProxy::before(world.address()).await;
    let mut session = rotating(&world, &place, &gate, &proxy).await;
    session.signal(Signal::TERM);
    session.wait_for("Waiting: rotate acme", PATIENCE);
    session.hang_up();
    // Once it has noticed the hangup, nothing may be busy with a terminal that is gone.
    assert_comes_to_rest(&mut session, "after the hangup");
    gate.open();
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert_eq!(last_ending(&world).await, Ending::Confirmed);
    assert_eq!(proxy.count("POST"), 1);
}
