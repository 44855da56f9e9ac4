//! A key that is not proven yet, and an unresolved alarm: what is allowed, and what is forgotten.

use std::{fs::Permissions, os::unix::fs::PermissionsExt};

use super::*;

#[tokio::test]
async fn nothing_is_recorded_with_a_key_on_trial_and_none_is_proven_under_an_alarm() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let li = || scene.installation().key(&renewed).unbound();
    li().answer_binding(SAME).await.expect("bound");
    let rows = li().rotations().await.expect("readable");
    let plan = Plan {
        ready: vec![id(ACME)],
        ..Plan::default()
    };
    for held in [
        li().abandon(rows[0].id, "why").await.map(drop),
        li().state_facts(vec![]).await.map(drop),
        li().begin(&plan).await.map(drop),
    ] {
        assert_is!(held, Err(Failure::Place(PlaceProblem::OnTrial { .. })));
    }
    let refused = li().begin_import([0; 32], false).await;
    assert_is!(refused, Err(DirectoryError::NotBound(_)));
    let refused = li().import(Vec::new(), false).await.expect_err("held");
    assert_has(&refused.to_string(), "not verified yet");
    assert_eq!(scene.states().await, [State::Unknown]);
    scene.ana.recover(&[], 1, |_| {}).await.expect("readable");
    scene.proxy.next("GET", tagged("Customer"));
    look_up(&scene.ana).await.expect("an answer");
    let sent = scene.proxy.methods().len();
    let held = li().prove(&id(ACME)).await;
    assert_is!(held, Err(Failure::Place(PlaceProblem::Alarmed { .. })));
    assert_eq!(scene.proxy.methods().len(), sent, "nothing was sent");
}

#[tokio::test]
async fn only_the_profile_with_the_alarm_resets_the_tag_of_the_place() {
    let scene = Scene::new().await;
    let testing = async || place_of(&scene, "testing").await;
    let tag = testing().await.tag;
    assert!(tag.is_some());
    scene.proxy.next("GET", tagged("Customer"));
    look_up(&scene.ana).await.expect("an answer");
    let elsewhere = scene.world.operations(Side::Production);
    let count = elsewhere.acknowledge(&testing().await, "seen").await;
    assert_eq!(count.expect("written"), 1);
    assert_eq!(testing().await.tag, tag);
    // A profile of the place that declares no tag forgets it, with the tags of its groups.
    let untold = scene.installation();
    let untold = untold.with(|profile| profile.environment = None).unbound();
    let why = "it has another name";
    let count = untold.acknowledge(&testing().await, why).await;
    assert_eq!(count.expect("written"), 0);
    assert_eq!(testing().await.tag, None);
    assert!(scene.known().await.environment_tag.is_none());
}

/// No command is run for it.
#[tokio::test]
async fn a_key_is_missed_only_where_it_can_be_looked_for() {
    let scene = Scene::new().await;
    let folder = crate::support::folder::temporary();
    let (file, ran) = (folder.path().join("key"), folder.path().join("ran"));
    let lacks = async |source: KeySource| {
        let of = scene.installation();
        let of = of.with(|profile| profile.api_key = source).unbound();
        of.lacks_key().await
    };
    let of_file = || KeySource::File(file.clone());
    assert!(lacks(KeySource::Unset).await);
    assert!(lacks(KeySource::Env("NOT_SET".into())).await);
    assert!(lacks(of_file()).await, "there is no file");
    fs::write(&file, "a-key\n").expect("written");
    let allow = |mode| fs::set_permissions(&file, Permissions::from_mode(mode)).expect("set");
    allow(0o644);
    assert!(lacks(of_file()).await, "others can read it");
    allow(0o600);
    assert!(!lacks(of_file()).await);
    let touch = ["touch".to_owned(), ran.display().to_string()];
    assert!(!lacks(KeySource::Command(touch.into())).await);
    assert!(!ran.exists());
}

/// A key of a known environment that was taken for that of a new one.
#[tokio::test]
async fn a_token_of_another_environment_says_which_and_what_to_do() {
    let scene = Scene::new().await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let li = || scene.installation().key(&renewed).unbound();
    li().answer_binding(BindingAnswer::New)
        .await
        .expect("bound");
    for is_first in [true, false] {
        let done = li().look_up(&id(ACME), EXISTS).await.expect("found");
        let said: Vec<_> = done.warnings.iter().map(ToString::to_string).collect();
        let said = said.join("\n");
        if is_first {
            assert_has(&said, "its token is known in environment testing.");
            assert_has(&said, "profile bind testing --same-environment testing");
        } else {
            assert_lacks(&said, "--same-environment");
        }
    }
}
