//! Update: the whole body on the wire, the read-back, and honest reports about unknown values.

use super::*;

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

/// The usual update.
async fn update_all(scene: &Scene) -> Result<Done, Failure> {
    update(&scene.ana, &base(), &edited()).await
}

#[tokio::test]
async fn the_whole_body_is_sent_and_read_back() {
    let scene = Scene::new().await;
    let done = update_all(&scene).await.expect("updated");
    assert_eq!(done.ending, Ending::Updated);
    assert_eq!(done.warnings, []);
    assert_eq!(scene.proxy.methods(), ["GET", "PUT", "GET"]);
    let sent = json!({
        "name": "Acme EU", "user_group_id": ACME,
        "mapping": {"7": "213", "8": "1"}, "properties": {"tier": "gold", "n": 1},
    });
    assert_eq!(scene.proxy.bodies("PUT"), [sent]);
    let stored = scene.stored();
    assert_eq!(stored.mapping, json!({"7": "213", "8": "1"}));
    assert_eq!(exposed(&done), stored.token);
    let group = done.group;
    assert_eq!(group.name.expect("known").source, Source::Returned);
    assert_eq!(group.mapping.expect("known").source, Source::Sent);
    let tag = group.environment_tag.expect("returned by the update");
    assert_eq!(tag.value, Side::Testing.tag());
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::Updated)]
    );
    let changes = json!({
        "name": ["Acme Europe", "Acme EU"],
        "mapping": {"7": ["40", "213"], "8": [null, "1"]},
        "properties": {"n": [null, "1"]},
    });
    assert_eq!(history(&scene.ana).await[0].changes, Some(changes));
}

#[tokio::test]
async fn an_omitted_field_is_not_sent_and_stays() {
    let scene = Scene::new().await;
    let done = update(&scene.ana, &base(), &only_name("Acme EU")).await;
    let group = done.expect("updated").group;
    let sent = json!({"name": "Acme EU", "user_group_id": ACME});
    assert_eq!(scene.proxy.bodies("PUT"), [sent]);
    let stored = scene.stored();
    assert_eq!(stored.mapping, json!({"7": "40"}));
    assert_eq!(stored.properties, json!({"tier": "gold"}));
    assert_eq!(group.mapping, None, "not known before, not known now");
    let changes = json!({"name": ["Acme Europe", "Acme EU"]});
    assert_eq!(history(&scene.ana).await[0].changes, Some(changes));
}

#[tokio::test]
async fn an_update_that_cannot_be_read_back_is_still_done() {
    let scene = Scene::new().await;
    scene.next("GET", [ProxyFault::passed(), lost()]);
    let done = update_all(&scene).await.expect("updated");
    assert_eq!(done.ending, Ending::Updated);
    let is_told = |warning: &Warning| matches!(warning, Warning::NotReadBack { .. });
    assert!(has(&done, is_told), "{:?}", done.warnings);
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::Updated)]
    );
}

#[tokio::test]
async fn an_unclear_answer_is_unknown_and_in_the_history() {
    let wrong = http("502 Bad Gateway", &[], "");
    for then in [Then::Instead(wrong), Then::Drop, Then::Half] {
        let scene = Scene::new().await;
        let known = DesiredFields::of(&scene.known().await);
        scene.proxy.next("PUT", ProxyFault::applied(then));
        let failure = update_all(&scene).await.expect_err("unclear");
        let Failure::Unknown {
            operation, next, ..
        } = &failure
        else {
            panic!("{failure:?}");
        };
        assert_eq!(*operation, "update");
        assert_has(
            next,
            "waiting period is over, sending the same update again is safe",
        );
        assert_eq!(
            scene.history().await,
            [(Operation::Update, Ending::Unknown)]
        );
        assert_eq!(DesiredFields::of(&scene.known().await), known);
        assert_eq!(scene.proxy.methods(), ["GET", "PUT"], "once");
    }
}

#[tokio::test]
async fn a_refusal_changes_neither_the_directory_nor_the_service() {
    let scene = Scene::new().await;
    let (known, stored) = (scene.known().await.name, scene.stored());
    let read_only = scene.world.key_source(Side::Testing, true);
    let reader = scene.installation();
    let reader = reader.with(|profile| profile.api_key = read_only);
    let failure = update(&reader.operations(), &base(), &edited()).await;
    assert_is!(failure, Err(Failure::Refused { status: 403, .. }));
    assert_eq!(scene.stored(), stored);
    let value = |name: Option<Known<String>>| name.map(|name| name.value);
    assert_eq!(value(scene.known().await.name), value(known));
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::Refused)]
    );
    // The group is read first, and a read can create it.
    let nobody = id("nobody");
    let made = scene.ana.update(&nobody, &base(), &edited(), EXISTS).await;
    assert_is!(made, Err(Failure::CreatedByGet { .. }));
    assert_eq!(scene.proxy.count("PUT"), 1, "nothing followed");
}

#[tokio::test]
async fn a_conditional_edit_whose_group_differs_only_reads() {
    let scene = Scene::with(super::claims::readable).await;
    let look = async || scene.ana.look_up_unchanged(&id(ACME)).await;
    assert_eq!(look().await.expect("as it was").ending, Ending::Found);
    let other = |answer: &mut serde_json::Value| {
        answer["user_group"]["name"] = "Of somebody else".into();
        answer["user_group"]["properties"] = json!({"tier": "iron", "\u{202e}": 1});
    };
    scene.proxy.next("GET", ProxyFault::change(other));
    let refused = look().await.expect_err("changed elsewhere");
    assert_eq!(refused.class(), Class::Guarded);
    let what = refused.to_string();
    assert_has(&what, "(name, properties tier, properties ");
    assert!(!what.contains('\u{202e}'), "hidden characters are shown");
    assert_eq!(scene.proxy.methods(), ["GET", "GET"]);
    // When the read created the group, that is reported.
    let created = |answer: &mut serde_json::Value| {
        answer["new_user_group"] = true.into();
        answer["user_group"]["name"] = ACME.into();
    };
    scene.proxy.next("GET", ProxyFault::change(created));
    let alarm = look().await.expect("an alarm of its own");
    assert_eq!(alarm.ending, Ending::CreatedByGet);
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
    assert_is!(late, Failure::Unreadable(_));
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
