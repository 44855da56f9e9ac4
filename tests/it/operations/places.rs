//! Which place a profile means (hazard 12): a second key, a second name, a renamed profile, an alarm that stays.

use groupdesk::{
    config::profile::Profile,
    directory::{Binding, BindingAnswer, Caller, Directory, Refusal},
    domain::rotation::{Event, RotateOutcome as Answered, State},
    operations::{Failure, Operations, PlaceProblem, UnknownIdPolicy, attention::ConcernKind},
};
use jiff::Timestamp;

use super::{ACME, Scene, rotate, settle::leave_behind};
use crate::support::{
    proxy::{Gate, ProxyFault, Then},
    world::{ADMIN, Installation, Side, World, id},
};

/// The usual installation through the proxy, not bound to a place yet.
pub(super) fn stranger(scene: &Scene, change: impl FnOnce(&mut Profile)) -> Installation {
    scene.installation().with(change)
}

async fn asks_for_place(operations: &Operations) -> bool {
    let bound = operations.bound().await;
    matches!(bound, Err(Failure::Place(PlaceProblem::Asked { .. })))
}

/// A rotation whose answer was lost, and which the service did not apply.
pub(super) async fn lose_rotation(scene: &Scene) {
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Reset));
    let failure = rotate(&scene.ana).await.expect_err("lost");
    assert!(matches!(failure, Failure::Unknown { .. }), "{failure}");
    assert_eq!(scene.states().await, [State::Unknown]);
}

#[tokio::test]
async fn a_key_of_another_environment_settles_and_creates_nothing() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let other = scene.world.new_key("elsewhere", None);
    let li = stranger(&scene, |profile| profile.environment = None)
        .key(&other)
        .unbound();
    assert!(asks_for_place(&li).await, "the key is new at this address");
    let before = scene.proxy.methods().len();
    let settled = li.recover(&[], 4, |_| {}).await;
    assert!(
        matches!(settled, Err(Failure::Place(PlaceProblem::Asked { .. }))),
        "{settled:?}"
    );
    let got = li.look_up(&id(ACME), UnknownIdPolicy::Exists).await;
    assert!(matches!(got, Err(Failure::Place(_))), "{got:?}");
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    assert_eq!(
        scene.states().await,
        [State::Unknown],
        "and nothing settled"
    );
    // A profile of another name, made of variables, goes to a place of its own: it settles nothing of this one.
    let own = stranger(&scene, |profile| {
        profile.name = "127.0.0.1".into();
        profile.environment = None;
        profile.from_variables = true;
    });
    let own = own.key(&other).unbound();
    let place = own.bound().await.expect("an environment of its own").place;
    assert_ne!(place, scene.world.place(Side::Testing));
    let nothing = own.recover(&[], 4, |_| {}).await.expect("readable");
    assert!(nothing.is_empty());
    assert!(own.has_open_elsewhere().await.expect("readable"));
    let refused = own.look_up(&id(ACME), UnknownIdPolicy::KnownOnly).await;
    assert!(
        matches!(refused, Err(Failure::NotKnown { .. })),
        "known in the other environment only: {refused:?}"
    );
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    // With the key of the place the rotation is settled, and the leaked token can be rotated.
    let recovered = scene.ana.recover(&[], 4, |_| {}).await.expect("readable");
    assert_eq!(recovered.len(), 1);
}

#[tokio::test]
async fn two_profiles_of_one_service_and_key_are_one_place() {
    let scene = Scene::new().await;
    let second = stranger(&scene, |profile| profile.name = "second".into()).unbound();
    let place = second.bound().await.expect("address and key decide").place;
    assert_eq!(place, scene.world.place(Side::Testing));
    let seen = second.show(&id(ACME)).await.expect("readable");
    let seen = seen.expect("known").fingerprint.map(|known| known.value);
    rotate(&scene.ana).await.expect("rotated");
    let again = second
        .rotate_seen(&id(ACME), seen, None, UnknownIdPolicy::KnownOnly)
        .await;
    assert!(
        matches!(again, Err(Failure::TokenChanged { .. })),
        "{again:?}"
    );
    assert_eq!(scene.proxy.count("POST"), 1, "one rotation of a seen token");
}

#[tokio::test]
async fn a_renamed_profile_finds_what_is_open() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let renamed = stranger(&scene, |profile| profile.name = "renamed".into()).unbound();
    let open = renamed.open_rotations().await.expect("readable");
    assert_eq!(open.len(), 1, "before anything was sent");
    let recovered = renamed.recover(&[], 4, |_| {}).await.expect("readable");
    assert_eq!(recovered.len(), 1);
    assert_eq!(renamed.list().await.expect("readable").len(), 1);
}

#[tokio::test]
async fn an_alarm_of_a_wrong_tag_stays_until_a_person_resolves_it() {
    let scene = Scene::new().await;
    let other_tag = |body: &mut serde_json::Value| {
        body["user_group"]["api_environment_tag"] = "Customer".into();
    };
    scene.proxy.next("GET", ProxyFault::change(other_tag));
    let read = scene
        .ana
        .look_up(&id(ACME), UnknownIdPolicy::KnownOnly)
        .await;
    let alarm = read.expect("an answer").warnings;
    assert!(alarm.iter().any(groupdesk::operations::Warning::is_alarm));
    let before = scene.proxy.methods().len();
    // In this process and in another one, for reads and changes alike.
    for operations in [scene.ana.clone(), scene.installation().operations()] {
        let read = operations
            .look_up(&id(ACME), UnknownIdPolicy::KnownOnly)
            .await;
        let rotated = rotate(&operations).await;
        for failure in [read.expect_err("held"), rotated.expect_err("held")] {
            assert!(
                matches!(failure, Failure::Place(PlaceProblem::Alarmed { .. })),
                "{failure}"
            );
            assert!(
                failure
                    .to_string()
                    .contains("environment acknowledge testing")
            );
        }
    }
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    let places = scene.ana.places().await.expect("readable");
    let place = places.iter().find(|place| place.name == "testing");
    let place = place.expect("it is there");
    let refused = scene.ana.acknowledge(place, "  ").await;
    let refused = refused.expect_err("no reason").to_string();
    assert!(refused.contains("a reason is required"), "{refused}");
    let count = scene.ana.acknowledge(place, "proxy fixed").await;
    assert_eq!(count.expect("written"), 1);
    rotate(&scene.ana).await.expect("rotated");
}

#[tokio::test]
async fn a_new_key_is_proven_by_a_token_known_at_the_place() {
    let scene = Scene::new().await;
    let renewed = scene.world.new_key("testing", Some("Testing"));
    let li = || scene.installation().key(&renewed).unbound();
    assert!(asks_for_place(&li()).await);
    let same = BindingAnswer::Same {
        place: None,
        unproven: false,
    };
    let bound = li().answer_binding(same).await.expect("bound");
    assert!(bound.on_trial);
    let held = rotate(&li()).await.expect_err("on trial");
    assert!(
        matches!(held, Failure::Place(PlaceProblem::OnTrial { .. })),
        "{held}"
    );
    let unknown = li().prove(&id("never-seen")).await.expect_err("no proof");
    assert!(
        matches!(unknown, Failure::Place(PlaceProblem::NoProof { .. })),
        "{unknown}"
    );
    assert!(li().prove(&id(ACME)).await.expect("proven"));
    assert!(
        !li().prove(&id(ACME)).await.expect("once"),
        "no trial is left"
    );
    rotate(&li()).await.expect("rotated");
    rotate(&scene.ana)
        .await
        .expect("and the old key is good, too");
}

#[tokio::test]
async fn a_key_that_reads_another_token_is_unbound() {
    let scene = Scene::new().await;
    // Another environment of the same address: reading the id there creates it.
    scene.world.vanish(Side::Production, ACME);
    let foreign = scene.world.new_key("elsewhere", Some("Customer"));
    let installation = || {
        stranger(&scene, |profile| profile.environment = None)
            .key(&foreign)
            .unbound()
    };
    let same = BindingAnswer::Same {
        place: None,
        unproven: false,
    };
    installation().answer_binding(same).await.expect("on trial");
    let failure = installation()
        .prove(&id(ACME))
        .await
        .expect_err("made by the read");
    assert!(
        matches!(failure, Failure::Place(PlaceProblem::NotProven { .. })),
        "{failure}"
    );
    assert!(failure.to_string().starts_with("ALARM"), "{failure}");
    assert!(
        asks_for_place(&installation()).await,
        "the binding is taken back"
    );
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    let token = known.expect("known").fingerprint.map(|known| known.value);
    let fingerprinter = scene.world.directory().fingerprinter();
    let right = groupdesk::domain::token::Token::new(scene.token());
    assert_eq!(
        token,
        Some(fingerprinter.of(&right)),
        "nothing was recorded"
    );
}

fn caller(directory: &Directory, profile: &str, url: &str, key: &str) -> Caller {
    Caller {
        profile: profile.into(),
        url: url.into(),
        key: directory.fingerprinter().of_key(&key.to_owned().into()),
        environment: None,
        from_variables: false,
        key_changes: false,
        at: Timestamp::UNIX_EPOCH,
        by: "ana".into(),
    }
}

#[tokio::test]
async fn only_clear_cases_are_bound_without_a_question() {
    let world = World::new().await;
    let directory = world.other_directory("table");
    let (here, there) = ("https://a.example/api/user", "https://b.example/api/user");
    let bind = async |profile: &str, url: &str, key: &str| {
        let caller = caller(&directory, profile, url, key);
        match directory.bind(caller).await.expect("readable") {
            Binding::Bound(bound) => Some(bound.name),
            Binding::Asked(_) | Binding::TagConflict { .. } => None,
        }
    };
    let first = bind("eu", here, "k1").await;
    assert_eq!(
        first.as_deref(),
        Some("eu"),
        "all unknown: a new environment"
    );
    for (profile, url, key, expected, why) in [
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
        let bound = bind(profile, url, key).await;
        assert_eq!(bound.as_deref(), expected, "{why}");
    }
    let places = directory.places().await.expect("readable");
    assert_eq!(places.len(), 2, "questions make no environments");
}

#[tokio::test]
async fn two_records_of_one_place_are_merged_and_nothing_is_lost() {
    let scene = Scene::new().await;
    let directory = scene.world.directory();
    // A second name, from before keys were compared: it knows the same group and has the same token.
    let token = groupdesk::domain::token::Token::new(scene.token());
    let previous = directory.fingerprinter().of(&token);
    let second = stranger(&scene, |profile| profile.name = "second".into());
    crate::support::world::place(directory, "second");
    leave_behind(
        &second.unbound(),
        ACME,
        previous,
        &[Event::Sending, Event::Answered(Answered::Unclear)],
    )
    .await;
    lose_rotation(&scene).await;
    let places = scene.ana.places().await.expect("readable");
    let named = |name: &str| {
        let found = places.iter().find(|place| place.name == name);
        found.expect("it is there").clone()
    };
    let (from, into) = (named("second"), named("testing"));
    let gate = Gate::new();
    let globex = id("globex");
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let creating = tokio::spawn({
        let ana = scene.ana.clone();
        async move { ana.look_up(&globex, UnknownIdPolicy::Exists).await }
    });
    gate.reached().await;
    let admin = scene.installation().by(ADMIN).operations();
    let refused = admin.merge_places(&into, &from).await;
    assert!(
        matches!(
            &refused,
            Err(Failure::Place(PlaceProblem::Refused {
                refusal: Refusal::UnderWay { by, .. }
            })) if by.starts_with("ana")
        ),
        "{refused:?}"
    );
    gate.open();
    creating.await.expect("no panic").expect("an answer");
    let merged = admin.merge_places(&from, &into).await;
    merged.expect("united");
    assert_eq!(
        scene.states().await,
        [State::Unknown, State::Unknown],
        "both stay open, to be settled by reads"
    );
    let places = scene.ana.places().await.expect("readable");
    assert!(places.iter().all(|place| place.name != "second"));
    let taken = rotate(&scene.ana)
        .await
        .expect_err("locked by the open rotation");
    assert!(
        matches!(
            taken,
            Failure::RotationTaken { .. } | Failure::TokenChanged { .. }
        ),
        "{taken}"
    );
}

#[tokio::test]
async fn a_place_merged_by_another_process_is_followed_without_a_request() {
    let scene = Scene::new().await;
    let directory = scene.world.directory();
    let older = crate::support::world::place(directory, "older");
    let li = stranger(&scene, |profile| profile.name = "second".into()).unbound();
    let key = li.bound().await.expect("address and key decide");
    let into = scene.world.place(Side::Testing);
    assert_eq!(key.place, into);
    let mut feed = li.feed(li.cursor().await.expect("readable"));
    // Another process finds out that the place is the same as the older one.
    let places = scene.ana.places().await.expect("readable");
    let named = |id| {
        let found = places.iter().find(|place| place.id == id);
        found.expect("it is there").clone()
    };
    let (living, gone) = (named(older), named(into));
    lose_rotation(&scene).await;
    let now = Timestamp::now() + std::time::Duration::from_hours(1);
    let elsewhere = scene.installation().at(now).by(ADMIN).operations();
    elsewhere
        .merge_places(&gone, &living)
        .await
        .expect("united");
    assert_eq!(li.place().await.expect("readable"), older);
    assert_eq!(li.list().await.expect("readable").len(), 1);
    let changes = feed.read_changes().await.expect("readable").expect("news");
    assert_eq!(changes.status.place, older);
    let waits = Operations::attention(std::slice::from_ref(&li), 0, true).await;
    let waits = waits.expect("readable").concerns;
    let places: Vec<_> = waits.iter().map(|one| (one.profile, &one.place)).collect();
    assert!(
        waits
            .iter()
            .any(|one| matches!(one.kind, ConcernKind::Rotation(..))),
        "{waits:?}"
    );
    assert!(
        places.iter().all(|(profile, _)| *profile == Some(0)),
        "{places:?}"
    );
    let known = li.look_up(&id(ACME), UnknownIdPolicy::KnownOnly).await;
    assert!(known.is_ok(), "{known:?}");
}
