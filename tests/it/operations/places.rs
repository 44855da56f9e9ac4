//! Which place a profile means (hazard 12): a second key, a second name, a renamed profile, an alarm that stays.

use super::*;

async fn asks_for_place(operations: &Operations) -> bool {
    let bound = operations.bound().await;
    matches!(bound, Err(Failure::Place(PlaceProblem::Asked { .. })))
}

/// The same profile in other words, not bound to a place yet.
pub(super) fn named(scene: &Scene, name: &str) -> Operations {
    let installation = scene.installation();
    installation
        .with(|profile| profile.name = name.into())
        .unbound()
}

pub(super) const SAME: BindingAnswer = BindingAnswer::Same {
    place: None,
    unproven: false,
};

/// A rotation whose answer was lost, and which the service did not apply.
pub(super) async fn lose_rotation(scene: &Scene) {
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Reset));
    super::assert_unknown(&rotate(&scene.ana).await);
    assert_eq!(scene.states().await, [State::Unknown]);
}

#[tokio::test]
async fn a_key_of_another_environment_settles_and_creates_nothing() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let other = scene.world.new_key("elsewhere", None);
    let untold = scene.installation().key(&other);
    let untold = untold.with(|profile| profile.environment = None);
    let li = untold.clone().unbound();
    assert!(asks_for_place(&li).await, "the key is new at this address");
    let before = scene.proxy.methods().len();
    let settled = li.recover(&[], 4, |_| {}).await;
    assert_is!(settled, Err(Failure::Place(PlaceProblem::Asked { .. })));
    let got = li.look_up(&id(ACME), EXISTS).await;
    assert_is!(got, Err(Failure::Place(_)));
    // A profile of another name, made of variables, goes to a place of its own: it settles nothing of this one.
    let own = untold.with(|profile| {
        profile.name = "127.0.0.1".into();
        profile.from_variables = true;
    });
    let own = own.unbound();
    let place = own.bound().await.expect("an environment of its own").place;
    assert_ne!(place, scene.world.place(Side::Testing));
    let nothing = own.recover(&[], 4, |_| {}).await.expect("readable");
    assert!(nothing.is_empty());
    assert!(own.has_open_elsewhere().await.expect("readable"));
    let refused = own.look_up(&id(ACME), KNOWN).await;
    assert_is!(refused, Err(Failure::NotKnown { .. }));
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    assert_eq!(scene.states().await, [State::Unknown], "nothing is settled");
    // With the key of the place the rotation is settled, and the leaked token can be rotated.
    let recovered = scene.ana.recover(&[], 4, |_| {}).await.expect("readable");
    assert_eq!(recovered.len(), 1);
}

#[tokio::test]
async fn two_profiles_of_one_service_and_key_are_one_place() {
    let scene = Scene::new().await;
    let second = named(&scene, "second");
    let place = second.bound().await.expect("address and key decide").place;
    assert_eq!(place, scene.world.place(Side::Testing));
    let seen = known(&second).await.fingerprint.map(|known| known.value);
    rotate(&scene.ana).await.expect("rotated");
    let again = second.rotate_seen(&id(ACME), seen, None, KNOWN).await;
    assert_is!(again, Err(Failure::TokenChanged { .. }));
    assert_eq!(scene.proxy.count("POST"), 1, "one rotation of a seen token");
}

#[tokio::test]
async fn a_renamed_profile_finds_what_is_open() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let renamed = named(&scene, "renamed");
    let open = renamed.open_rotations().await.expect("readable");
    assert_eq!(open.len(), 1, "before anything was sent");
    let recovered = renamed.recover(&[], 4, |_| {}).await.expect("readable");
    assert_eq!(recovered.len(), 1);
    assert_eq!(renamed.list().await.expect("readable").len(), 1);
}

/// The place of this name.
pub(super) async fn place_of(scene: &Scene, name: &str) -> Place {
    let places = scene.ana.directory().places().await.expect("readable");
    let place = places.into_iter().find(|place| place.name == name);
    place.expect("it is there")
}

/// In any letters: of the database's own rules none is asked for.
#[tokio::test]
async fn two_environments_never_differ_in_case_alone() {
    let scene = Scene::new().await;
    let places = scene.ana.directory().places().await.expect("readable");
    let [one, other] = &places[..] else {
        panic!("{places:?}");
    };
    for (place, name, is_free) in [
        (one, "Größe-É", true),
        (other, "größe-é", false),
        (other, "GRÖSSE-É", true),
        (one, "größe-é", true),
        (one, "größe-é", false),
    ] {
        let renamed = scene.ana.rename_place(place, name).await;
        assert_eq!(renamed.is_ok(), is_free, "{name}: {renamed:?}");
    }
}

#[tokio::test]
async fn an_alarm_of_a_wrong_tag_stays_until_a_person_resolves_it() {
    let scene = Scene::new().await;
    scene.proxy.next("GET", tagged("Customer"));
    let read = look_up(&scene.ana).await.expect("an answer");
    let alarms = read.warnings.iter().filter(|warning| warning.is_alarm());
    assert_is!(alarms.collect::<Vec<_>>()[..], [Warning::WrongTag { .. }]);
    assert_eq!(scene.history().await, [(Operation::Get, Ending::Found)]);
    let before = scene.proxy.methods().len();
    // In this process and in another one, for reads and changes alike.
    for operations in [scene.ana.clone(), scene.installation().operations()] {
        for held in [look_up(&operations).await, rotate(&operations).await] {
            let failure = held.expect_err("held");
            assert_is!(failure, Failure::Place(PlaceProblem::Alarmed { .. }));
            assert_has(&failure.to_string(), "environment acknowledge testing");
        }
    }
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    let place = place_of(&scene, "testing").await;
    let refused = scene.ana.acknowledge(&place, "  ").await;
    let refused = refused.expect_err("no reason").to_string();
    assert_has(&refused, "a reason is required");
    let count = scene.ana.acknowledge(&place, "proxy fixed").await;
    assert_eq!(count.expect("written"), 1);
    let read = look_up(&scene.ana).await.expect("an answer");
    let is_alarmed = read.warnings.iter().any(Warning::is_alarm);
    assert!(!is_alarmed, "{:?}", read.warnings);
    rotate(&scene.ana).await.expect("rotated");
}

#[tokio::test]
async fn a_new_key_is_proven_by_a_token_known_at_the_place() {
    let scene = Scene::new().await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let li = || scene.installation().key(&renewed).unbound();
    assert!(asks_for_place(&li()).await);
    let bound = li().answer_binding(SAME).await.expect("bound");
    assert!(bound.on_trial);
    let held = rotate(&li()).await;
    assert_is!(held, Err(Failure::Place(PlaceProblem::OnTrial { .. })));
    let again = li().answer_binding(SAME).await.expect("bound");
    assert!(again.on_trial, "a second answer proves nothing");
    let unknown = li().prove(&id("never-seen")).await;
    assert_is!(unknown, Err(Failure::Place(PlaceProblem::NoProof { .. })));
    assert!(li().prove(&id(ACME)).await.expect("proven"));
    assert!(!li().prove(&id(ACME)).await.expect("no trial is left"));
    rotate(&li()).await.expect("rotated");
    rotate(&scene.ana).await.expect("the old key is good, too");
    // A key that was withdrawn is proven again, also if it was the only one.
    execute(&scene, "UPDATE place_keys SET state = 'withdrawn'");
    let again = li().answer_binding(SAME).await.expect("bound");
    assert!(again.on_trial);
}

#[tokio::test]
async fn a_key_that_was_withdrawn_during_its_proof_stays_withdrawn() {
    let scene = Scene::new().await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let li = || scene.installation().key(&renewed).unbound();
    li().answer_binding(SAME).await.expect("on trial");
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let here = li();
    let proving = tokio::spawn(async move { here.prove(&id(ACME)).await });
    gate.reached().await;
    let undone = li().answer_binding(BindingAnswer::Undo).await;
    undone.expect("withdrawn");
    gate.open();
    let proven = proving.await.expect("it ends");
    assert_is!(proven, Err(Failure::Place(PlaceProblem::NoProof { .. })));
    assert!(asks_for_place(&li()).await, "the key says nothing");
}

#[tokio::test]
async fn a_key_that_reads_another_token_is_unbound() {
    let scene = Scene::new().await;
    // Another environment of the same address: reading the id there creates it.
    scene.world.vanish(Side::Production, ACME);
    let foreign = scene.world.new_key("elsewhere", Some("Customer"));
    let installation = scene.installation().key(&foreign);
    let installation = installation.with(|profile| profile.environment = None);
    let here = || installation.clone().unbound();
    here().answer_binding(SAME).await.expect("on trial");
    let failure = here().prove(&id(ACME)).await;
    let failure = failure.expect_err("made by the read");
    assert_is!(failure, Failure::Place(PlaceProblem::NotProven { .. }));
    assert!(failure.to_string().starts_with("ALARM"), "{failure}");
    assert!(asks_for_place(&here()).await, "the binding is taken back");
    let token = scene.known().await.fingerprint.map(|known| known.value);
    assert_eq!(token, Some(scene.current()), "nothing was recorded");
}

#[tokio::test]
async fn only_clear_cases_are_bound_without_a_question() {
    let world = World::new().await;
    let directory = world.other_directory("table");
    let (here, there) = ("https://a.example/api/user", "https://b.example/api/user");
    for (profile, url, key, expected, why) in [
        (
            "eu",
            here,
            "k1",
            Some("eu"),
            "all unknown: a new environment",
        ),
        ("eu", here, "k1", Some("eu"), "as before"),
        ("europe", here, "k1", Some("eu"), "another name of it"),
        ("eu", here, "k2", None, "another key"),
        ("test", here, "k2", None, "another key and name"),
        ("eu", there, "k1", None, "another address"),
        ("test", there, "k1", None, "a known key elsewhere"),
        ("eu", there, "k2", None, "the name is known elsewhere"),
        ("us", there, "k2", Some("us"), "all unknown"),
        ("us", here, "k1", None, "the name is bound elsewhere"),
    ] {
        let caller = Caller {
            profile: profile.into(),
            url: url.into(),
            key: directory.fingerprinter().of_key(&key.to_owned().into()),
            environment: None,
            from_variables: false,
            key_changes: false,
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
        };
        let bound = match directory.bind(caller).await.expect("readable") {
            Binding::Bound(bound) => Some(bound.name),
            Binding::Asked(_) | Binding::TagConflict { .. } => None,
        };
        assert_eq!(bound.as_deref(), expected, "{why}");
    }
    let places = directory.places().await.expect("readable");
    assert_eq!(places.len(), 2, "questions make no environments");
}

#[tokio::test]
async fn two_records_of_one_place_are_merged_and_nothing_is_lost() {
    let scene = Scene::new().await;
    // A second name, from before keys were compared: it knows the same group and has the same token.
    let second = named(&scene, "second");
    crate::support::world::place(scene.world.directory(), "second");
    let sent = [Event::Sending, Event::Answered(Answered::Unclear)];
    leave_behind(&second, ACME, scene.current(), &sent).await;
    lose_rotation(&scene).await;
    let from = place_of(&scene, "second").await;
    let into = place_of(&scene, "testing").await;
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let ana = scene.ana.clone();
    let creating = tokio::spawn(async move { ana.look_up(&id("globex"), EXISTS).await });
    gate.reached().await;
    let admin = scene.installation().by(ADMIN).operations();
    let refused = admin.merge_places(&into, &from).await;
    let Err(Failure::Place(PlaceProblem::Refused { refusal })) = refused else {
        panic!("{refused:?}");
    };
    assert_is!(refusal, Refusal::UnderWay { by, .. } if by.starts_with("ana"));
    gate.open();
    creating.await.expect("no panic").expect("an answer");
    let merged = admin.merge_places(&from, &into).await;
    merged.expect("united");
    // Both stay open, to be settled by reads.
    assert_eq!(scene.states().await, [State::Unknown, State::Unknown]);
    let places = scene.ana.directory().places().await.expect("readable");
    assert!(places.iter().all(|place| place.name != "second"));
    let taken = rotate(&scene.ana).await.expect_err("locked");
    assert_is!(
        taken,
        Failure::RotationTaken { .. } | Failure::TokenChanged { .. }
    );
}

#[tokio::test]
async fn a_place_merged_by_another_process_is_followed_without_a_request() {
    let scene = Scene::new().await;
    let older = crate::support::world::place(scene.world.directory(), "older");
    let li = named(&scene, "second");
    let bound = li.bound().await.expect("address and key decide").place;
    assert_eq!(bound, scene.world.place(Side::Testing));
    let mut feed = li.feed(li.cursor().await.expect("readable"));
    lose_rotation(&scene).await;
    // Another process finds out that the place is the same as the older one.
    let living = place_of(&scene, "older").await;
    let gone = place_of(&scene, "testing").await;
    let now = Timestamp::now() + std::time::Duration::from_hours(1);
    let elsewhere = scene.installation().at(now).by(ADMIN).operations();
    let merged = elsewhere.merge_places(&gone, &living).await;
    merged.expect("united");
    assert_eq!(li.place().await.expect("readable"), older);
    assert_eq!(li.list().await.expect("readable").len(), 1);
    let changes = feed.read_changes().await.expect("readable").expect("news");
    assert_eq!(changes.status.place, older);
    let waits = Operations::attention(std::slice::from_ref(&li), 0, true).await;
    let waits = waits.expect("readable").concerns;
    let mut kinds = waits.iter().map(|one| &one.kind);
    let is_there = kinds.any(|kind| matches!(kind, ConcernKind::Rotation(..)));
    assert!(is_there, "{waits:?}");
    assert!(waits.iter().all(|one| one.profile == Some(0)), "{waits:?}");
    look_up(&li).await.expect("found");
}

#[tokio::test]
async fn another_spelling_of_a_service_is_no_new_environment_of_a_team() {
    let scene = Scene::new().await;
    let elsewhere = FaultyProxy::before(scene.world.address()).await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let installation = scene.installation().key(&renewed);
    let installation = installation
        .through(elsewhere.base_url())
        .with(|profile| profile.name = "spelt".into());
    let li = || installation.clone().unbound();
    let here = scene.world.place(Side::Testing);
    // A file is of one person, who knows what is new.
    if scene.ana.directory().role().is_some() {
        let asked = li().bound().await.expect_err("asked").to_string();
        assert_has(
            &asked,
            "the team's directory knows neither its URL nor its API key",
        );
        assert_has(&asked, "--same-environment");
        assert_eq!(elsewhere.methods().len(), 0, "nothing was sent");
    }
    let own = li().answer_binding(BindingAnswer::New).await;
    let own = own.expect("an environment of its own").place;
    assert_ne!(own, here);
    // A key that replaces the one of an environment without groups is of that one: no other is named by the question.
    let next = scene.world.new_key("testing", Some("Testing"));
    let next = installation.clone().key(&next).unbound();
    let bound = next.answer_binding(SAME).await.expect("bound");
    assert_eq!(bound.place, own);
    let same = BindingAnswer::Same {
        place: Some(here),
        unproven: false,
    };
    let never = li().can_prove(same, &id("never-seen")).await;
    assert_is!(never, Err(Failure::Place(PlaceProblem::NoProof { .. })));
    let bound = li().answer_binding(same).await.expect("bound");
    assert!(bound.place == here && bound.on_trial, "{bound:?}");
    assert!(li().prove(&id(ACME)).await.expect("read"));
    assert!(!li().bound().await.expect("no question").on_trial);
    rotate(&li()).await.expect("rotated");
    // A key that is verified already, too.
    let never = li().can_prove(same, &id("never-seen")).await;
    assert_is!(never, Err(Failure::Place(PlaceProblem::NoProof { .. })));
}
