//! Update: the whole body on the wire, the read-back, and honest reports about unknown values.

use groupdesk::{
    domain::{
        change::{DesiredFields, Difference},
        history::{Ending, Operation},
        known::{KnownGroup, Source},
    },
    operations::{Class, Failure, UnknownIdPolicy, Warning},
};
use serde_json::json;

use super::{ACME, Scene, exposed, has, history, look_up, rotate, update, wanted};
use crate::support::{
    proxy::{ProxyFault, Then},
    world::{Side, id},
};

fn base() -> DesiredFields {
    wanted("Acme Europe", &[("7", "40")], &json!({"tier": "gold"}))
}

fn edited() -> DesiredFields {
    wanted(
        "Acme EU",
        &[("7", "213"), ("8", "1")],
        &json!({"tier": "gold", "n": 1}),
    )
}

#[tokio::test]
async fn the_whole_body_is_sent_and_read_back() {
    let scene = Scene::new().await;
    let done = update(&scene.ana, &base(), &edited())
        .await
        .expect("updated");
    assert_eq!(done.ending, Ending::Updated);
    assert_eq!(done.warnings, []);
    assert_eq!(scene.proxy.methods(), ["GET", "PUT", "GET"]);
    let sent = json!({
        "name": "Acme EU", "user_group_id": ACME,
        "mapping": {"7": "213", "8": "1"}, "properties": {"tier": "gold", "n": 1},
    });
    assert_eq!(scene.proxy.bodies("PUT"), [sent]);
    let stored = scene.world.stored(Side::Testing, ACME);
    assert_eq!(stored.mapping, json!({"7": "213", "8": "1"}));
    assert_eq!(exposed(&done), stored.token);

    let group = done.group;
    assert_eq!(group.name.expect("known").source, Source::Returned);
    assert_eq!(group.mapping.expect("known").source, Source::Sent);
    let tag = group.environment_tag.expect("returned by the update");
    assert_eq!(tag.value, Side::Testing.tag());
    let lines = history(&scene.ana).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].ending, Ending::Updated);
    let changes = json!({
        "name": ["Acme Europe", "Acme EU"],
        "mapping": {"7": ["40", "213"], "8": [null, "1"]},
        "properties": {"n": [null, "1"]},
    });
    assert_eq!(lines[0].changes, Some(changes));
}

#[tokio::test]
async fn an_omitted_field_is_not_sent_and_stays() {
    let scene = Scene::new().await;
    let only_name = DesiredFields {
        name: Some("Acme EU".into()),
        ..DesiredFields::default()
    };
    let done = update(&scene.ana, &base(), &only_name)
        .await
        .expect("updated");
    let sent = json!({"name": "Acme EU", "user_group_id": ACME});
    assert_eq!(scene.proxy.bodies("PUT"), [sent]);
    let stored = scene.world.stored(Side::Testing, ACME);
    assert_eq!(stored.mapping, json!({"7": "40"}));
    assert_eq!(stored.properties, json!({"tier": "gold"}));
    assert_eq!(done.group.mapping, None, "not known before, not known now");
    let changes = json!({"name": ["Acme Europe", "Acme EU"]});
    assert_eq!(history(&scene.ana).await[0].changes, Some(changes));
}

#[tokio::test]
async fn a_value_ignored_by_the_service_is_named() {
    let scene = Scene::new().await;
    scene.proxy.next(
        "PUT",
        ProxyFault::change(|body| body["user_group"]["name"] = json!("ACME EU")),
    );
    let done = update(&scene.ana, &base(), &edited())
        .await
        .expect("updated");
    let differs = Warning::Differs(Difference {
        field: "name",
        asked: "Acme EU".into(),
        kept: "ACME EU".into(),
    });
    assert!(done.warnings.contains(&differs), "{:?}", done.warnings);
}

#[tokio::test]
async fn an_update_that_cannot_be_read_back_is_still_done() {
    let scene = Scene::new().await;
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let done = update(&scene.ana, &base(), &edited())
        .await
        .expect("updated");
    assert_eq!(done.ending, Ending::Updated);
    assert!(has(&done, |warning| matches!(
        warning,
        Warning::NotReadBack { .. }
    )));
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::Updated)]
    );
}

#[tokio::test]
async fn an_unclear_answer_is_unknown_and_in_the_history() {
    let wrong = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".to_vec();
    for then in [Then::Instead(wrong), Then::Drop, Then::Half] {
        let scene = Scene::new().await;
        look_up(&scene.ana).await.expect("found");
        let told = |group: Option<KnownGroup>| group.map(|group| (group.name, group.mapping));
        let known = scene.ana.show(&id(ACME)).await.expect("readable");
        let known = told(known).map(|(name, mapping)| (name.map(|name| name.value), mapping));
        scene.proxy.next("PUT", ProxyFault::applied(then));
        let failure = update(&scene.ana, &base(), &edited())
            .await
            .expect_err("unclear");
        let Failure::Unknown {
            operation, next, ..
        } = &failure
        else {
            panic!("{failure:?}");
        };
        assert_eq!(*operation, "update");
        assert!(next.contains("same update again is safe"), "{next}");
        assert_eq!(
            scene.history().await,
            [(Operation::Update, Ending::Unknown)]
        );
        let now = told(scene.ana.show(&id(ACME)).await.expect("readable"));
        let now = now.map(|(name, mapping)| (name.map(|name| name.value), mapping));
        assert_eq!(now, known);
        assert_eq!(
            scene.proxy.methods(),
            ["GET", "GET", "PUT"],
            "nothing is repeated"
        );
    }
}

#[tokio::test]
async fn a_refusal_changes_neither_the_directory_nor_the_service() {
    let scene = Scene::new().await;
    let name =
        |group: Option<KnownGroup>| group.and_then(|group| group.name.map(|name| name.value));
    look_up(&scene.ana).await.expect("found");
    let known = name(scene.ana.show(&id(ACME)).await.expect("readable"));
    let stored = scene.world.stored(Side::Testing, ACME);
    let read_only = scene.world.key_source(Side::Testing, true);
    let reader = scene
        .installation()
        .with(|profile| profile.api_key = read_only);
    let failure = update(&reader.operations(), &base(), &edited()).await;
    assert!(
        matches!(failure, Err(Failure::Refused { status: 403, .. })),
        "{failure:?}"
    );
    assert_eq!(scene.world.stored(Side::Testing, ACME), stored);
    let now = name(scene.ana.show(&id(ACME)).await.expect("readable"));
    assert_eq!(now, known);
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::Refused)]
    );

    // The group is read first, and a read can create it.
    let nobody = id("nobody");
    let failure = scene
        .ana
        .update(&nobody, &base(), &edited(), UnknownIdPolicy::Exists)
        .await;
    assert!(
        matches!(failure, Err(Failure::CreatedByGet { .. })),
        "{failure:?}"
    );
    assert_eq!(scene.proxy.count("PUT"), 1, "nothing followed");
}

#[tokio::test]
async fn after_an_answer_from_another_environment_nothing_is_sent() {
    let scene = Scene::new().await;
    scene.proxy.next(
        "PUT",
        ProxyFault::change(|body| body["user_group"]["api_environment_tag"] = json!("Customer")),
    );
    let done = update(&scene.ana, &base(), &edited())
        .await
        .expect("an answer");
    assert!(done.warnings.iter().any(Warning::is_alarm));
    assert_eq!(scene.proxy.methods(), ["GET", "PUT"]);
    let note = history(&scene.ana).await[0].note.clone().expect("a note");
    assert!(note.contains("ALARM"), "{note}");
}

#[tokio::test]
async fn a_conditional_edit_whose_group_differs_only_reads() {
    let scene =
        Scene::with(|installation| installation.with(|profile| profile.read_properties = true))
            .await;
    let same = scene.ana.look_up_unchanged(&id(ACME)).await;
    assert_eq!(same.expect("as it was").ending, Ending::Found);
    let other = |answer: &mut serde_json::Value| {
        answer["user_group"]["name"] = "Of somebody else".into();
        answer["user_group"]["properties"] = json!({"tier": "iron", "\u{202e}": 1});
    };
    scene.proxy.next("GET", ProxyFault::change(other));
    let refused = scene.ana.look_up_unchanged(&id(ACME)).await;
    let refused = refused.expect_err("changed elsewhere");
    assert_eq!(refused.class(), Class::Guarded);
    let what = refused.to_string();
    assert!(
        what.contains("(name, properties tier, properties "),
        "{what}"
    );
    assert!(!what.contains('\u{202e}'), "hidden characters are shown");
    assert_eq!(scene.proxy.methods(), ["GET", "GET"]);
    // When the read created the group, that is reported.
    let created = |answer: &mut serde_json::Value| {
        answer["new_user_group"] = true.into();
        answer["user_group"]["name"] = ACME.into();
    };
    scene.proxy.next("GET", ProxyFault::change(created));
    let alarm = scene.ana.look_up_unchanged(&id(ACME)).await;
    assert_eq!(
        alarm.expect("an alarm of its own").ending,
        Ending::CreatedByGet
    );
}

#[tokio::test]
async fn a_stale_answer_does_not_prove_that_nothing_changed() {
    let scene = Scene::new().await;
    let old = scene.world.stored(Side::Testing, ACME).token;
    rotate(&scene.ana).await.expect("rotated");
    // A replica lags behind.
    let lagging = move |answer: &mut serde_json::Value| {
        answer["user_group"]["token"] = old.clone().into();
    };
    scene.proxy.next("GET", ProxyFault::change(lagging));
    let late = scene.ana.look_up_unchanged(&id(ACME)).await;
    let late = late.expect_err("of no use");
    assert!(matches!(late, Failure::Unreadable(_)), "{late:?}");
    let said = late.to_string();
    assert!(
        said.contains("nothing was changed") && said.contains("older token"),
        "{said}"
    );
}

/// A property may have the name of a field.
#[tokio::test]
async fn the_history_tells_a_property_called_name_from_the_field() {
    let scene = Scene::new().await;
    let base = base();
    let mut edited = base.clone();
    let properties = edited.properties.as_mut().expect("some");
    properties.insert("name".into(), json!("inside"));
    let done = update(&scene.ana, &base, &edited).await;
    done.expect("updated");
    let changes = history(&scene.ana).await.pop().expect("a line").changes;
    let changes = changes.expect("something changed");
    assert_eq!(changes["properties"]["name"][1], json!("\"inside\""));
    assert_eq!(changes.get("name"), None);
}
