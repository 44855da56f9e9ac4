//! A clock that tests move forward, so that no test waits for the settle window.

use groupdesk::domain::rotation::State;

use super::{Scene, look_up, rotate, settle::MODEL_HORIZON};
use crate::support::{
    clock::TestClock,
    proxy::{ProxyFault, Then},
    world::LI,
};

#[tokio::test]
async fn moving_the_clock_forward_ends_the_settle_horizon() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = TestClock::new(folder.path());
    let scene = Scene::with(|installation| installation.clock(clock.clock())).await;
    let other = scene
        .installation()
        .by(LI)
        .clock(clock.clock())
        .operations();
    // By the clock of the process that sent the request, and by that of another process.
    for installation in [&scene.ana, &other] {
        scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
        rotate(&scene.ana).await.expect_err("unknown");
        let last = async || *scene.states().await.last().expect("a rotation");
        for _ in 0..2 {
            look_up(installation).await.expect("found");
            assert_eq!(last().await, State::Unknown, "too early to say");
        }
        clock.forward(MODEL_HORIZON);
        look_up(installation).await.expect("found");
        assert_eq!(last().await, State::NotApplied);
    }
    let rows = scene.journal().await;
    let apart = rows[0].started_at.duration_since(rows[1].started_at);
    assert!(apart >= MODEL_HORIZON.try_into().expect("a minute"));
    scene.check().await;
}
