//! A terminal that does not read for a while, like a stalled SSH connection: a bulk rotation continues, is recorded,
//! and is shown when the terminal reads again. On the command line: `batch::binary`.

use super::{
    batch::{Scene, all_arrived, confirmed},
    prelude::*,
};

const GROUPS: usize = 50;
/// Requests in flight at the same time.
const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_rotation_in_the_console_continues() {
    let scene = Scene::new(GROUPS).await;
    let gate = Gate::new();
    scene.hold(&gate, AT_ONCE);
    let mut session = scene.rotating();
    all_arrived(&gate, AT_ONCE).await;
    // Nobody reads while nearly all of it happens.
    session.stall();
    (0..AT_ONCE).for_each(|_| gate.open());
    assert_eq!(scene.wait_for_end().await, confirmed(GROUPS));
    scene.assert_sent_once();
    session.read_on();
    session.wait_for("50 confirmed of 50", PATIENCE);
    session.send("\x03\x03");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    super::assert_given_back(&mut session);
}

/// The signal arrives while the console waits for the terminal.
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_meanwhile_still_stops_the_run() {
    let scene = Scene::new(GROUPS).await;
    let (first, later) = (Gate::new(), Gate::new());
    scene.hold(&first, AT_ONCE);
    // Enough events for the console to have drawn.
    scene.pass(2 * AT_ONCE);
    scene.hold(&later, AT_ONCE);
    let mut session = scene.rotating();
    all_arrived(&first, AT_ONCE).await;
    session.stall();
    (0..AT_ONCE).for_each(|_| first.open());
    all_arrived(&later, AT_ONCE).await;
    session.signal(Signal::HUP);
    (0..AT_ONCE).for_each(|_| later.open());
    let counts = scene.wait_until_quiet().await;
    session.read_on();
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert!(counts.not_started > 0, "{counts}");
    assert_eq!(
        scene.wait_until_quiet().await,
        counts,
        "nothing new was sent"
    );
    assert_eq!(scene.proxy.count("POST"), counts.confirmed);
}
