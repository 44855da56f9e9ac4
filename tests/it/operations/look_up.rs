//! Look-up: only known ids are read, an answer adds and never erases, and changes by others are noticed.

use groupdesk::{
    domain::{
        history::{Ending, Operation},
        known::Source,
    },
    operations::{Failure, UnknownIdPolicy, Warning},
};
use serde_json::json;

use super::{ACME, Scene, exposed, has, history, look_up, rotate, update, wanted};
use crate::support::{
    assertions::assert_has,
    faults::{Fault, Faults, http, json as answer},
    proxy::ProxyFault,
    world::{LI, Side, World, id},
};

#[tokio::test]
async fn an_unknown_id_is_refused_with_the_near_ones_and_nothing_is_sent() {
    let world = World::new().await;
    for known in ["acme-eu", "acme-us", "globex"] {
        world.seed(Side::Testing, known, known, &[], &json!({}));
        let done = world.operations(Side::Testing);
        let done = done.look_up(&id(known), UnknownIdPolicy::Exists).await;
        done.expect("it exists");
    }
    let server = Faults::always(Fault::Close).await;
    let installation = world.installation(Side::Testing).through(server.base_url());
    let operations = installation.operations();
    let typed = id("acme-ue");
    let base = wanted("Acme", &[], &json!({}));
    let failures = [
        operations.look_up(&typed, UnknownIdPolicy::KnownOnly).await,
        operations
            .update(&typed, &base, &base, UnknownIdPolicy::KnownOnly)
            .await,
        operations
            .rotate(&typed, None, UnknownIdPolicy::KnownOnly)
            .await,
    ];
    for failure in failures {
        let failure = failure.expect_err("refused");
        let said = failure.to_string();
        let Failure::NotKnown {
            id: asked, near, ..
        } = failure
        else {
            panic!("{said}");
        };
        assert_eq!(asked, typed);
        assert_eq!(near, [id("acme-eu"), id("acme-us")]);
        assert!(said.contains("nothing was sent"), "{said}");
        assert!(said.contains("did you mean \"acme-eu\""), "{said}");
    }
    assert_eq!(server.connections(), 0);
    assert_eq!(history(&operations).await, []);
}

#[tokio::test]
async fn ids_known_to_another_profile_are_not_known_here() {
    let scene = Scene::new().await;
    let production = scene.world.operations(Side::Production);
    let failure = look_up(&production).await;
    assert!(matches!(failure, Err(Failure::NotKnown { near, .. }) if near.is_empty()));
}

#[tokio::test]
async fn a_get_without_news_leaves_no_history() {
    let scene = Scene::new().await;
    let done = look_up(&scene.ana).await;
    let done = done.expect("found");
    assert_eq!(done.ending, Ending::Found);
    assert_eq!(done.status, 200);
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(done.warnings, []);
    assert_eq!(scene.history().await, []);
    let sent = scene.proxy.bodies("GET");
    assert_eq!(sent, [json!({"user_group_id": ACME})], "the ID and no more");
}

#[tokio::test]
async fn a_vanished_group_is_an_alarm_when_the_get_makes_it_again() {
    let scene = Scene::new().await;
    let before = scene.ana.show(&id(ACME)).await.expect("readable");
    let before = before.and_then(|group| group.fingerprint).expect("known");
    scene.world.vanish(Side::Testing, ACME);
    for assurance in [UnknownIdPolicy::Exists, UnknownIdPolicy::KnownOnly] {
        let done = scene.ana.look_up(&id(ACME), assurance).await;
        let done = done.expect("an answer");
        if assurance == UnknownIdPolicy::Exists {
            assert_eq!(done.ending, Ending::CreatedByGet);
            assert!(done.warnings.iter().any(Warning::is_alarm), "{done:?}");
            assert_eq!(done.previous_fingerprint, Some(before.value));
        } else {
            assert_eq!(done.ending, Ending::Found, "it is there by now");
        }
    }
    let history = history(&scene.ana).await;
    assert_eq!(history.len(), 1, "{history:?}");
    assert_eq!(history[0].ending, Ending::CreatedByGet);
    assert_eq!(history[0].previous_fingerprint, Some(before.value));
    let note = history[0].note.as_deref().expect("a note");
    assert!(note.contains("ALARM"), "{note}");
}

#[tokio::test]
async fn values_of_an_answer_are_recorded_with_their_source() {
    let scene = Scene::with(|installation| installation.by(LI)).await;
    let done = look_up(&scene.ana).await;
    let group = done.expect("found").group;
    let stored = scene.world.stored(Side::Testing, ACME);
    let name = group.name.expect("a name");
    assert_eq!((name.value.as_str(), name.by.as_str()), ("Acme Europe", LI));
    assert_eq!(name.source, Source::Returned);
    assert_eq!(group.team_id.expect("a number").value, stored.team_id);
    assert!(group.last_seen.is_some());
    assert_eq!(group.mapping, None, "the service never returns it");
    assert_eq!(group.properties, None, "they were not asked for");
    assert_eq!(group.environment_tag, None, "a get does not return it");
}

#[tokio::test]
async fn properties_are_read_if_the_profile_asks_for_them() {
    let scene =
        Scene::with(|installation| installation.with(|profile| profile.read_properties = true))
            .await;
    let ana = scene.ana.show(&id(ACME)).await.expect("readable");
    let known = ana.and_then(|group| group.properties);
    let first = known.map_or_else(|| json!({}), |known| json!(known.value));
    for sent in [first, json!({"tier": "gold"})] {
        let done = look_up(&scene.ana).await;
        let properties = done.expect("found").group.properties.expect("returned");
        assert_eq!(properties.source, Source::Returned);
        assert_eq!(json!(properties.value), json!({"tier": "gold"}));
        let bodies = scene.proxy.bodies("GET");
        let expected = json!({"user_group_id": ACME, "properties": sent});
        assert_eq!(bodies.last(), Some(&expected), "the last known ones");
    }
    let stored = scene.world.stored(Side::Testing, ACME);
    assert_eq!(stored.properties, json!({"tier": "gold"}));
}

#[tokio::test]
async fn null_and_absent_fields_erase_nothing() {
    let scene = Scene::new().await;
    let all = wanted("Acme", &[("7", "41")], &json!({"tier": "silver"}));
    let known = update(&scene.ana, &all, &all).await.expect("updated").group;
    scene.proxy.next(
        "GET",
        ProxyFault::change(|body| {
            let group = body["user_group"].as_object_mut().expect("a group");
            group.insert("name".into(), json!(null));
            group.insert("properties".into(), json!(null));
            group.insert("api_environment_tag".into(), json!(null));
            group.remove("team_id");
        }),
    );
    let done = look_up(&scene.ana).await;
    let group = done.expect("found").group;
    assert_eq!(group.name, known.name);
    assert_eq!(group.team_id, known.team_id);
    assert_eq!(group.mapping, known.mapping);
    assert_eq!(group.properties, known.properties);
    assert_eq!(group.environment_tag, known.environment_tag);
    assert!(group.mapping.is_some() && group.environment_tag.is_some());
}

#[tokio::test]
async fn a_name_and_a_token_changed_elsewhere_are_noticed_once() {
    let scene = Scene::new().await;
    let old = scene.token();
    let elsewhere = scene.world.installation(Side::Testing).by(LI);
    let elsewhere = elsewhere
        .on(&scene.world.other_directory("li"))
        .operations();
    let renamed = wanted("Acme SE", &[("7", "40")], &json!({}));
    elsewhere
        .update(&id(ACME), &renamed, &renamed, UnknownIdPolicy::Exists)
        .await
        .expect("renamed");
    rotate(&elsewhere).await.expect("rotated");

    let done = look_up(&scene.ana).await;
    let done = done.expect("found");
    assert_ne!(exposed(&done), old);
    let was = "Acme Europe".to_owned();
    let expected = [
        Warning::TokenChangedElsewhere,
        Warning::NameChangedElsewhere { was },
    ];
    assert_eq!(done.warnings, expected);
    let last = done.group.last_rotated.expect("seen to change");
    assert_eq!(last.by, None, "not by this installation");
    let lines = history(&scene.ana).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].operation, Operation::Get);
    assert_eq!(lines[0].previous_fingerprint, done.previous_fingerprint);
    let note = lines[0].note.as_deref().expect("a note");
    assert_has(note, "token");
    assert_has(note, "Acme Europe");

    let again = look_up(&scene.ana).await;
    assert_eq!(again.expect("found").warnings, []);
    assert_eq!(scene.history().await.len(), 1);
}

#[tokio::test]
async fn another_environment_is_an_alarm_and_history() {
    let scene = Scene::new().await;
    scene.proxy.next(
        "GET",
        ProxyFault::change(|body| {
            body["user_group"]["api_environment_tag"] = json!("Customer");
        }),
    );
    let done = look_up(&scene.ana).await;
    let done = done.expect("an answer");
    assert!(has(&done, |warning| matches!(
        warning,
        Warning::WrongTag { .. }
    )));
    assert!(done.warnings.iter().any(Warning::is_alarm));
    assert_eq!(scene.history().await, [(Operation::Get, Ending::Found)]);
}

#[tokio::test]
async fn an_unusable_answer_changes_nothing() {
    let scene = Scene::new().await;
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    let other = json!({"success": 1, "user_group": {"token": "other", "provided_id": "globex"}});
    let server = Faults::start([
        answer("200 OK", &other),
        Fault::Answer(http("200 OK", &[], "<html>login</html>")),
        answer("200 OK", &json!({"success": 0, "error": "no words"})),
        answer("401 Unauthorized", &json!({"message": "who are you"})),
        Fault::Close,
    ])
    .await;
    let ana = scene
        .world
        .installation(Side::Testing)
        .through(server.base_url());
    let ana = ana.operations();
    for expected in ["globex", "web page", "no words", "who are you", "broke"] {
        let failure = look_up(&ana).await;
        let failure = failure.expect_err("no use");
        let said = failure.to_string();
        assert!(said.contains(expected), "{said}");
        let kind = match expected {
            "globex" | "web page" => matches!(failure, Failure::Unreadable(_)),
            "no words" => matches!(failure, Failure::Refused { status: 200, .. }),
            "who are you" => matches!(failure, Failure::KeyRefused { .. }),
            _ => matches!(failure, Failure::Unreachable(_)),
        };
        assert!(kind, "{failure:?}");
    }
    assert_eq!(scene.ana.show(&id(ACME)).await.expect("readable"), known);
    assert_eq!(scene.history().await, []);
}

#[tokio::test]
async fn an_answer_sent_before_a_rotation_does_not_bring_back_the_old_token() {
    let scene = Scene::new().await;
    let gate = crate::support::proxy::Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let (here, acme) = (scene.ana.clone(), id(ACME));
    let late = tokio::spawn(async move { here.look_up(&acme, UnknownIdPolicy::KnownOnly).await });
    gate.reached().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    gate.open();
    let late = late.await.expect("it ends").expect("an answer");
    let confirmed = Ending::Confirmed;
    let settled = Warning::RotationSettled { ending: confirmed };
    assert_eq!(late.warnings, [settled]);
    assert_eq!(
        late.token(),
        rotated.token(),
        "read again: the old one is dead"
    );
    let value =
        |group: groupdesk::domain::known::KnownGroup| group.fingerprint.map(|known| known.value);
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    assert_eq!(known.map(value), Some(value(rotated.group)));
    let expected = [
        (Operation::Rotate, Ending::Rotated),
        (Operation::Rotate, confirmed),
    ];
    assert_eq!(scene.history().await, expected);
}
