//! A key that is not proven yet, and an unresolved alarm: what is allowed, and what is forgotten.

use groupdesk::{
    directory::{BindingAnswer, DirectoryError},
    domain::{batch::Plan, rotation::State},
    operations::{Failure, PlaceProblem},
};

use super::{
    ACME, Scene, look_up,
    places::{lose_rotation, stranger},
};
use crate::support::{
    proxy::ProxyFault,
    world::{Side, id},
};

#[tokio::test]
async fn nothing_is_recorded_with_a_key_on_trial_and_none_is_proven_under_an_alarm() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let li = || scene.installation().key(&renewed).unbound();
    let same = BindingAnswer::Same {
        place: None,
        unproven: false,
    };
    li().answer_binding(same).await.expect("bound");
    let on_trial = |failure: &Failure| {
        assert!(
            matches!(failure, Failure::Place(PlaceProblem::OnTrial { .. })),
            "{failure}"
        );
    };
    let rows = li().rotations().await.expect("readable");
    on_trial(&li().abandon(rows[0].id, "why").await.expect_err("held"));
    on_trial(&li().state_facts(vec![]).await.expect_err("held"));
    let plan = Plan {
        ready: vec![id(ACME)],
        ..Plan::default()
    };
    on_trial(&li().begin_batch(&plan, None).await.expect_err("held"));
    let refused = li().begin_import([0; 32]).await.expect_err("held");
    assert!(
        matches!(refused, DirectoryError::NotBound(_)),
        "{refused:?}"
    );
    let refused = li().import(Vec::new(), false).await.expect_err("held");
    assert!(
        refused.to_string().contains("not verified yet"),
        "{refused}"
    );
    assert_eq!(scene.states().await, [State::Unknown]);

    scene.ana.recover(&[], 1, |_| {}).await.expect("readable");
    let wrong_tag = |body: &mut serde_json::Value| {
        body["user_group"]["api_environment_tag"] = "Customer".into();
    };
    scene.proxy.next("GET", ProxyFault::change(wrong_tag));
    look_up(&scene.ana).await.expect("an answer");
    let sent = scene.proxy.methods().len();
    let held = li()
        .prove(&id(ACME))
        .await
        .expect_err("there is an unresolved alarm");
    assert!(
        matches!(held, Failure::Place(PlaceProblem::Alarmed { .. })),
        "{held}"
    );
    assert_eq!(scene.proxy.methods().len(), sent, "nothing was sent");
}

#[tokio::test]
async fn only_the_profile_with_the_alarm_resets_the_tag_of_the_place() {
    let scene = Scene::new().await;
    let other_tag = |body: &mut serde_json::Value| {
        body["user_group"]["api_environment_tag"] = "Customer".into();
    };
    let testing = async || {
        let places = scene.ana.places().await.expect("readable");
        let place = places.into_iter().find(|place| place.name == "testing");
        place.expect("it is there")
    };
    let tag = testing().await.tag;
    assert!(tag.is_some());
    scene.proxy.next("GET", ProxyFault::change(other_tag));
    look_up(&scene.ana).await.expect("an answer");
    let elsewhere = scene.world.operations(Side::Production);
    let count = elsewhere.acknowledge(&testing().await, "seen").await;
    assert_eq!(count.expect("written"), 1);
    assert_eq!(testing().await.tag, tag);
    // A profile of the place that declares no tag forgets it, with the tags of its groups.
    let untold = stranger(&scene, |profile| profile.environment = None).unbound();
    let count = untold
        .acknowledge(&testing().await, "it has another name")
        .await;
    assert_eq!(count.expect("written"), 0);
    assert_eq!(testing().await.tag, None);
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    assert!(known.expect("known").environment_tag.is_none());
}
