//! A token that was rotated away is current again, because the service's data was restored to an older copy.

use super::{
    settle::{HORIZON, after},
    *,
};

async fn concerns(of: &Operations) -> Vec<ConcernKind> {
    let found = Operations::attention(std::slice::from_ref(of), 0, true).await;
    let concerns = found.expect("readable").concerns.into_iter();
    concerns.map(|concern| concern.kind).collect()
}

#[tokio::test]
async fn a_revived_token_is_reported_and_can_be_rotated_once() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    let (world, acme, old) = (&scene.world, id(ACME), scene.token());
    let reason = Some("leak".to_owned());
    let rotated = scene.ana.rotate(&acme, reason, KNOWN).await;
    scene.ana.confirm(rotated.expect("rotated")).await;
    world.revive(Side::Testing, ACME, &old);
    // Until the window is over it may be the answer of a replica that lags behind.
    let early = after(&scene, HORIZON - 1);
    let stale = look_up(&early).await.expect("found");
    assert_eq!(stale.warnings, [Warning::StaleAnswer]);
    rotate(&early).await.expect_err("an old answer");
    assert_eq!(concerns(&early).await, []);
    let late = after(&scene, HORIZON);
    let read = look_up(&late).await.expect("found");
    let is_leak = |warning: &Warning| matches!(warning, Warning::TokenRevived { reason: Some(why), .. } if why == "leak");
    assert_eq!(read.warnings.len(), 1, "{:?}", read.warnings);
    assert!(is_leak(&read.warnings[0]), "{:?}", read.warnings);
    let found = concerns(&late).await;
    assert_is!(&found[..], [ConcernKind::Revived(_, id)] if *id == acme);
    let new = rotate(&late).await.expect("it must not stay valid");
    assert_ne!(exposed(&new), old);
    late.confirm(new).await;
    assert_eq!(concerns(&late).await, []);
    assert_eq!(scene.proxy.count("POST"), 2);
    assert_eq!(scene.states().await, [State::Confirmed, State::Confirmed]);
    // Its row holds the token again.
    let lagging = ProxyFault::change(move |body| body["user_group"]["token"] = json!(old));
    scene.proxy.next("GET", lagging);
    rotate(&late).await.expect_err("an old answer");
    assert_eq!(scene.proxy.count("POST"), 2);
}

/// Whoever read the token before it was replaced finds the rotation that did so without a mark.
#[tokio::test]
async fn an_answer_from_before_the_rotation_revives_nothing() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    scene
        .proxy
        .next("GET", ProxyFault::applied(Then::Pass).behind(&gate));
    let slow = scene.ana.clone();
    let reading = tokio::spawn(async move { look_up(&slow).await });
    gate.reached().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    scene.ana.confirm(rotated).await;
    gate.open();
    reading.await.expect("it ends").expect("read again");
    assert_eq!(concerns(&scene.ana).await, []);
}
