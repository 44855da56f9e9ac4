//! Create: what it created, what existed already, and what is unknown when the answer is lost.

use super::*;

const NEW: &str = "globex-retail";

fn globex() -> DesiredFields {
    wanted(
        "Globex",
        &[("7", "40"), ("8", "2")],
        &json!({"tier": "gold"}),
    )
}

async fn create(scene: &Scene) -> Result<Done, Failure> {
    scene.ana.create(&id(NEW), &globex()).await
}

async fn read(operations: &Operations) -> Result<Done, Failure> {
    operations.look_up(&id(NEW), EXISTS).await
}

/// An answer that does not say whether the group is new.
fn without_novelty() -> ProxyFault {
    ProxyFault::change(|body| drop(body.as_object_mut().expect("one").remove("new_user_group")))
}

#[tokio::test]
async fn a_new_group_is_created_with_all_its_fields() {
    let scene = Scene::new().await;
    let done = create(&scene).await.expect("done");
    assert_eq!(done.ending, Ending::Created);
    assert_eq!(done.warnings, []);
    let stored = scene.world.stored(Side::Testing, NEW);
    assert_eq!(exposed(&done), stored.token);
    let mapping = json!({"7": "40", "8": "2"});
    assert_eq!((&*stored.name, &stored.mapping), ("Globex", &mapping));
    assert_eq!(stored.properties, json!({"tier": "gold"}));
    let sent = json!({
        "name": "Globex", "user_group_id": NEW,
        "mapping": mapping, "properties": {"tier": "gold"},
    });
    assert_eq!(scene.proxy.bodies("GET"), [sent]);
    assert_eq!(done.group.mapping.expect("known").source, Source::Sent);
    let properties = done.group.properties.expect("known");
    assert_eq!(properties.source, Source::Returned);
    let lines = history(&scene.ana).await;
    assert_eq!(
        scene.history().await,
        [(Operation::Create, Ending::Created)]
    );
    let changes = json!({
        "name": [null, "Globex"],
        "mapping": {"7": [null, "40"], "8": [null, "2"]},
        "properties": {"tier": [null, "\"gold\""]},
    });
    assert_eq!(lines[0].changes, Some(changes));
    let fingerprint = done.group.fingerprint.map(|known| known.value);
    assert_eq!(lines[0].fingerprint, fingerprint);
    let known = scene.ana.look_up(&id(NEW), KNOWN).await;
    assert_eq!(known.expect("known now").ending, Ending::Found);
}

#[tokio::test]
async fn an_existing_group_is_unchanged_and_the_differences_are_named() {
    let scene = Scene::new().await;
    let before = scene.stored();
    let other = wanted("Other", &[("9", "9")], &json!({"tier": "lead"}));
    let done = scene.ana.create(&id(ACME), &other).await.expect("done");
    assert_eq!(done.ending, Ending::Existed);
    assert_eq!(scene.stored(), before);
    let differs = |field, asked: &str, theirs: &str| {
        Warning::Differs(Difference {
            field,
            asked: asked.into(),
            kept: theirs.into(),
        })
    };
    let mut got = done.warnings;
    got.retain(|warning| matches!(warning, Warning::Differs(_)));
    let expected = [
        differs("name", "Other", "Acme Europe"),
        differs("properties", r#"{"tier":"lead"}"#, r#"{"tier":"gold"}"#),
    ];
    assert_eq!(got, expected);
    assert_eq!(done.group.mapping, None, "an ignored value is not recorded");
    let name = done.group.name.expect("a name");
    let name = (name.value.as_str(), name.source);
    assert_eq!(name, ("Acme Europe", Source::Returned));
    assert_eq!(
        scene.history().await,
        [(Operation::Create, Ending::Existed)]
    );
    assert_eq!(history(&scene.ana).await[0].changes, None);
}

#[tokio::test]
async fn an_answer_without_new_user_group_does_not_count_as_created() {
    let scene = Scene::new().await;
    scene.proxy.next("GET", without_novelty());
    let done = create(&scene).await.expect("done");
    assert_eq!(done.ending, Ending::Existed);
    assert_eq!(done.warnings, [Warning::CreationUnclear]);
}

/// Neither answer says who created the group, but it exists: nothing is left to find out.
#[tokio::test]
async fn an_unknown_create_ends_when_its_group_is_seen() {
    for is_read in [false, true] {
        let scene = Scene::new().await;
        let unnamed = ProxyFault::change(|body| {
            let group = body["user_group"].as_object_mut().expect("an object");
            group.remove("provided_id");
        });
        scene.next("GET", [unnamed, without_novelty()]);
        create(&scene)
            .await
            .expect_err("the response names no group");
        assert_eq!(scene.open().await.len(), 1);
        let again = if is_read {
            read(&scene.ana).await
        } else {
            create(&scene).await
        };
        again.expect("done");
        assert_eq!(scene.open().await, [], "read: {is_read}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_unknown_and_a_second_create_finds_out() {
    let ends = [Then::Drop, Then::Reset, Then::Half];
    for then in long::sampled(ends, module_path!(), 3) {
        let scene = Scene::new().await;
        scene.proxy.next("GET", ProxyFault::applied(then));
        let failure = create(&scene).await.expect_err("lost");
        assert_is!(
            failure,
            Failure::Unknown {
                operation: "create",
                ..
            }
        );
        assert_eq!(scene.ana.show(&id(NEW)).await.expect("readable"), None);
        assert_eq!(
            scene.history().await,
            [(Operation::Create, Ending::Unknown)]
        );
        assert_eq!(scene.history_notes().await, [failure.to_string()]);
        let done = create(&scene).await.expect("done");
        assert_eq!(done.ending, Ending::Existed);
        // Hazard 6: after a lost answer, an existing group proves nothing.
        assert_eq!(done.warnings, [Warning::CreationUnclear]);
        assert_eq!(scene.open().await, []);
        let again = create(&scene).await.expect("done");
        assert_eq!(again.warnings, [], "by now the group is known");
    }
}

/// It may take effect late, with other fields: nobody else gets in between.
#[tokio::test]
async fn a_lost_create_holds_its_group_for_all_but_the_same_create_of_the_same_person() {
    let scene = Scene::new().await;
    scene.proxy.next("GET", unanswered());
    assert_unknown(&create(&scene).await);
    let sent = scene.proxy.count("GET");
    let ben = scene.installation().by("ben@desk").operations();
    let other = wanted("Other", &[], &json!({}));
    for held in [
        ben.create(&id(NEW), &globex()).await,
        read(&ben).await,
        scene.ana.create(&id(NEW), &other).await,
    ] {
        assert_is!(held, Err(Failure::Held(_)));
    }
    assert_eq!(scene.proxy.count("GET"), sent, "nothing was sent");
    let done = create(&scene).await.expect("done");
    assert_eq!(done.ending, Ending::Existed);
    let read = ben.look_up(&id(NEW), KNOWN).await;
    assert_eq!(read.expect("free").ending, Ending::Found);
}

#[tokio::test]
async fn a_create_that_never_arrived_is_repeated_and_creates() {
    let scene = Scene::new().await;
    scene.next("GET", [lost(), lost()]);
    assert_unknown(&create(&scene).await);
    assert_unknown(&create(&scene).await);
    // The repetition is the same create.
    assert_eq!(scene.open().await.len(), 1);
    let done = create(&scene).await.expect("done");
    assert_eq!(done.ending, Ending::Created);
    let mapping = done.group.mapping.map(|known| known.value);
    assert_eq!(mapping, globex().mapping);
    assert_eq!(scene.open().await, []);
    let endings = scene.history().await.into_iter().map(|(_, ending)| ending);
    let mut endings: Vec<_> = endings.collect();
    endings.retain(|ending| *ending != Ending::NotApplied);
    assert_eq!(endings, [Ending::Unknown, Ending::Created]);
}

/// A bare get would create the group without its fields.
#[tokio::test]
async fn reading_the_group_of_a_lost_create_sends_the_same_create() {
    for (fault, ending) in [(unanswered(), Ending::Found), (lost(), Ending::Created)] {
        let scene = Scene::new().await;
        scene.proxy.next("GET", fault);
        assert_unknown(&create(&scene).await);
        let new = id(NEW);
        let would = scene.ana.would_look_up(&new, UnknownIdPolicy::Exists);
        assert_eq!(would.await.expect("permitted"), Some(globex()));
        assert_eq!(read(&scene.ana).await.expect("settled").ending, ending);
        let [first, second] = &scene.proxy.bodies("GET")[..] else {
            panic!("two requests");
        };
        assert_eq!(first, second);
        assert_eq!(scene.world.stored(Side::Testing, NEW).name, "Globex");
        assert_eq!(scene.open().await, []);
    }
}

#[tokio::test]
async fn a_first_read_whose_answer_was_lost_is_repeated_at_once() {
    let scene = Scene::new().await;
    scene.proxy.next("GET", unanswered());
    assert_is!(read(&scene.ana).await, Err(Failure::Unknown { .. }));
    let read = read(&scene.ana).await;
    assert_eq!(read.expect("settled").ending, Ending::Found);
    assert_eq!(scene.open().await, []);
}

#[tokio::test]
async fn a_refusal_is_reported_in_the_words_of_the_service() {
    let scene = Scene::new().await;
    // In a third environment no ID of the others may exist.
    let third = scene.world.new_key("third", None);
    let taken = scene.world.installation(Side::Testing).key(&third);
    let failure = taken.operations().create(&id(ACME), &globex()).await;
    let Err(Failure::Refused {
        status: 409,
        words: Some(words),
        ..
    }) = failure
    else {
        panic!("{failure:?}");
    };
    assert_has(&words, "another environment has a user group");
    assert_eq!(
        scene.history().await,
        [(Operation::Create, Ending::Refused)]
    );
    assert_has(&scene.history_notes().await[0], &words);
    let read_only = scene.world.key_source(Side::Testing, true);
    let reader = scene.installation();
    let reader = reader.with(|profile| profile.api_key = read_only);
    let failure = reader.operations().create(&id(NEW), &globex()).await;
    assert_is!(failure, Err(Failure::Refused { status: 403, .. }));
    assert_eq!(scene.world.find_stored(Side::Testing, NEW), None);
}

#[tokio::test]
async fn an_unreachable_service_and_a_wrong_key_are_told_apart() {
    let scene = Scene::new().await;
    let (_kept, nowhere) = closed_port();
    let nowhere = scene.installation().through(format!("http://{nowhere}"));
    let failure = nowhere.operations().create(&id(NEW), &globex()).await;
    assert_is!(failure, Err(Failure::Unreachable(_)));
    let wrong = scene.installation().key("canary-wrong-key").operations();
    let failure = wrong.create(&id(NEW), &globex()).await;
    assert_is!(failure, Err(Failure::KeyRefused { .. }));
    let busy = json!({"success": 0, "error": {"message": "try later"}});
    let busy = Faults::always(answer("503 Service Unavailable", &busy)).await;
    let failure = scene.installation().through(busy.base_url()).operations();
    assert_unknown(&failure.create(&id(NEW), &globex()).await);
    let ended = scene.history().await.into_iter();
    let expected = [Ending::Unreachable, Ending::Refused, Ending::Unknown];
    assert!(ended.map(|(_, ending)| ending).eq(expected));
}

/// The create that nobody knows the result of is named, not one that would be refused.
#[tokio::test]
async fn an_id_whose_create_has_no_result_is_not_called_only_unknown() {
    let scene = Scene::new().await;
    let globex = id("globex");
    scene.next("GET", [unanswered(), lost(), lost()]);
    let lost = scene.ana.create(&globex, &only_name("Globex")).await;
    lost.expect_err("its answer is lost");
    let unknown = scene.ana.known(&globex, KNOWN).await;
    let Err(Failure::NotKnown {
        open: Some(open), ..
    }) = &unknown
    else {
        panic!("{unknown:?}");
    };
    assert_has(open, "Its create of");
    assert_has(open, "`groupdesk get globex --exists`");
    let other = scene.ana.known(&id("initech"), KNOWN).await;
    assert_is!(other, Err(Failure::NotKnown { open: None, .. }));
}
