//! One unsettled mutation per group: concurrent writers lose nothing, and what a dead process left open is found.

use std::time::Duration;

use groupdesk::{
    directory::Directory,
    domain::{
        change::DesiredFields,
        facts::Field,
        history::{Ending, Operation},
        mutation::State,
        update::Edit,
    },
    operations::{Done, Failure, Operations, UnknownIdPolicy, Warning},
};
use jiff::{Timestamp, ToSpan};
use serde_json::json;

use super::{ACME, Scene, look_up, rotate, wanted};
use crate::support::{
    proxy::{Gate, ProxyFault, Then},
    world::{Installation, LI, Side, id},
};

/// An installation whose service returns properties.
fn readable(installation: Installation) -> Installation {
    installation.with(|profile| profile.read_properties = true)
}

/// A partial edit of what is known now.
pub(super) async fn edit(operations: &Operations, change: impl Fn(&mut DesiredFields)) -> Edit {
    let known = operations.show(&id(ACME)).await.expect("readable");
    let base = DesiredFields::of(&known.expect("known"));
    let mut wanted = base.clone();
    change(&mut wanted);
    Edit {
        base,
        wanted,
        ..Edit::default()
    }
}

async fn property(operations: &Operations, key: &str) -> Edit {
    edit(operations, |wanted| {
        let properties = wanted.properties.get_or_insert_default();
        properties.insert(key.to_owned(), json!(1));
    })
    .await
}

pub(super) async fn rename(operations: &Operations, name: &str) -> Edit {
    edit(operations, |wanted| wanted.name = Some(name.to_owned())).await
}

/// An edit of the whole mapping, which no get returns.
pub(super) async fn map(operations: &Operations) -> Edit {
    let edit = edit(operations, |wanted| {
        let rows = wanted.mapping.get_or_insert_default();
        rows.insert("1".into(), "2".into());
    });
    Edit {
        whole: vec![Field::Mapping],
        ..edit.await
    }
}

pub(super) async fn send(operations: &Operations, edit: &Edit) -> Result<Done, Failure> {
    let known = UnknownIdPolicy::KnownOnly;
    operations.update_edit(&id(ACME), edit, known).await
}

/// Later than any settle window lasts.
pub(super) fn later() -> Timestamp {
    Timestamp::now() + 10.minutes()
}

#[tokio::test]
async fn eight_writers_in_several_processes_lose_nothing() {
    let scene = Scene::with(readable).await;
    look_up(&scene.ana).await.expect("found");
    let file = scene.world.directory_file();
    let mut writers = Vec::new();
    for number in 1..=8 {
        let directory = Directory::open(&file).expect("an opening of its own");
        let operations = readable(scene.installation().by(LI).on(&directory)).operations();
        let edit = property(&operations, &format!("p{number}")).await;
        writers.push(tokio::spawn(async move { send(&operations, &edit).await }));
    }
    for writer in writers {
        let done = writer.await.expect("it ends").expect("updated");
        assert_eq!(done.ending, Ending::Updated);
        assert!(
            done.warnings.is_empty(),
            "no other writer was reported: {:?}",
            done.warnings
        );
    }
    let stored = scene.world.stored(Side::Testing, ACME).properties;
    let all = json!({"tier": "gold", "p1": 1, "p2": 1, "p3": 1, "p4": 1, "p5": 1, "p6": 1, "p7": 1, "p8": 1});
    let sorted = |value: &serde_json::Value| {
        let object = value.as_object().expect("an object").clone();
        let mut keys: Vec<_> = object.into_iter().map(|(key, _)| key).collect();
        keys.sort();
        keys
    };
    assert_eq!(sorted(&stored), sorted(&all));
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    let known = known.expect("known").properties.expect("known").value;
    assert_eq!(sorted(&json!(known)), sorted(&stored));
    assert_eq!(scene.proxy.count("PUT"), 8);
    assert_eq!(scene.ana.open_changes().await.expect("readable"), []);
}

#[tokio::test]
async fn values_of_others_are_not_erased_and_edited_values_are_compared() {
    let scene = Scene::with(readable).await;
    look_up(&scene.ana).await.expect("found");
    let ours = property(&scene.ana, "ours").await;
    let name = rename(&scene.ana, "Ours").await;
    let elsewhere = scene.world.other_directory("li");
    let li = scene
        .world
        .installation(Side::Testing)
        .by(LI)
        .on(&elsewhere);
    let theirs = wanted("Theirs", &[("7", "40")], &json!({"theirs": true}));
    li.operations()
        .update(
            &id(ACME),
            &DesiredFields::default(),
            &theirs,
            UnknownIdPolicy::Exists,
        )
        .await
        .expect("updated");
    let puts = scene.proxy.count("PUT");
    let refused = send(&scene.ana, &name).await;
    let Err(Failure::ChangedSince { what, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(what, ["name: reviewed \"Acme Europe\", now \"Theirs\""]);
    assert_eq!(scene.proxy.count("PUT"), puts, "nothing was sent");
    send(&scene.ana, &ours).await.expect("updated");
    let stored = scene.world.stored(Side::Testing, ACME).properties;
    assert_eq!(stored, json!({"theirs": true, "ours": 1}));
    let endings: Vec<_> = scene.history().await;
    assert_eq!(endings.last(), Some(&(Operation::Update, Ending::Updated)));
}

#[tokio::test]
async fn a_second_writer_waits_and_then_says_who_holds_the_group() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let gate = Gate::new();
    scene.proxy.next("PUT", ProxyFault::passed().held(&gate));
    let (here, first) = (scene.ana.clone(), rename(&scene.ana, "First").await);
    let holding = tokio::spawn(async move { send(&here, &first).await });
    gate.reached().await;
    // It waits no longer than the time limit of its profile.
    let hurried = scene
        .installation()
        .by(LI)
        .timeout(Duration::from_millis(300));
    let hurried = hurried.operations();
    let second = map(&hurried).await;
    let sent = scene.proxy.methods().len();
    let refused = send(&hurried, &second).await.expect_err("held");
    let Failure::Held(held) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        (held.operation, held.state),
        (Operation::Update, State::Sent)
    );
    assert!(
        refused
            .to_string()
            .contains("locked by the update of ana@bastion2"),
        "{refused}"
    );
    assert_eq!(
        scene.proxy.methods().len(),
        sent,
        "nothing was sent, not even a get"
    );
    // A rotation waits, too, and with enough time it gets its turn after the first.
    let (rotating, patient) = (scene.ana.clone(), scene.installation().by(LI).operations());
    let rotating = tokio::spawn(async move { rotate(&rotating).await });
    let waiting = tokio::spawn(async move { send(&patient, &second).await });
    gate.open();
    holding.await.expect("it ends").expect("updated");
    waiting.await.expect("it ends").expect("updated");
    rotating.await.expect("it ends").expect("rotated");
    let stored = scene.world.stored(Side::Testing, ACME);
    assert_eq!(
        (stored.name.as_str(), stored.mapping["1"].as_str()),
        ("First", Some("2"))
    );
    scene.check().await;
}

#[tokio::test]
async fn a_lost_update_that_a_read_settles_holds_up_no_other_one() {
    let scene = Scene::new().await;
    let installation = readable(scene.world.installation(Side::Testing));
    let ana = installation.through(scene.proxy.base_url()).operations();
    drop(look_up(&ana).await);
    let mapped = map(&ana).await;
    let lost = ProxyFault::applied(Then::Drop);
    scene.proxy.next("PUT", lost);
    let unknown = send(&ana, &rename(&ana, "Lost").await).await;
    assert!(unknown.is_err(), "its answer was lost");
    let elsewhere = scene.world.other_directory("li");
    let li = readable(scene.world.installation(Side::Testing));
    let li = li.by(LI).on(&elsewhere).operations();
    let read = li.look_up(&id(ACME), UnknownIdPolicy::Exists).await;
    drop(read.expect("found"));
    rotate(&li).await.expect("rotated");
    // As of an `apply`, which reads nothing before it.
    let done = send(&ana, &mapped).await.expect("sent");
    assert_eq!(done.ending, Ending::Updated);
    assert_eq!(done.warnings, [Warning::TokenChangedElsewhere]);

    let swallowed = ProxyFault::swallowed(Then::Drop);
    scene.proxy.next("PUT", swallowed);
    let unknown = send(&ana, &rename(&ana, "Never").await).await;
    assert!(unknown.is_err(), "it never arrived");
    let held = send(&ana, &mapped).await.expect_err("it may still arrive");
    assert!(matches!(held, Failure::Held(_)), "{held}");
    assert!(
        held.to_string().contains("`groupdesk get acme-eu`"),
        "{held}"
    );
}

#[tokio::test]
async fn a_writer_that_stops_before_sending_releases_the_group() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().held(&gate));
    let (here, first) = (scene.ana.clone(), rename(&scene.ana, "First").await);
    let reading = tokio::spawn(async move { send(&here, &first).await });
    gate.reached().await;
    reading.abort();
    assert!(reading.await.is_err(), "it was interrupted");
    let second = rename(&scene.ana, "Second").await;
    send(&scene.ana, &second).await.expect("updated");
    assert_eq!(scene.world.stored(Side::Testing, ACME).name, "Second");
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::Updated)]
    );
}

/// An answer requested before a change from here was recorded is out of date: it is not recorded, and read again.
#[tokio::test]
async fn a_read_overtaken_by_a_change_from_here_is_read_again() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let here = scene.ana.clone();
    let reading = tokio::spawn(async move { look_up(&here).await });
    gate.reached().await;
    let direct = scene.ana.clone();
    let name = rename(&direct, "Newer").await;
    send(&direct, &name).await.expect("updated");
    gate.open();
    let read = reading.await.expect("it ends").expect("found");
    assert_eq!(read.warnings, []);
    let known = read.group.name.map(|name| name.value);
    assert_eq!(known.as_deref(), Some("Newer"));
}

/// The clock that counts sleep has advanced: another process may have settled that nothing was sent.
#[tokio::test]
async fn an_intent_taken_for_dead_sends_nothing() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().held(&gate));
    let (here, first) = (scene.ana.clone(), rename(&scene.ana, "Asleep").await);
    let sleeping = tokio::spawn(async move { send(&here, &first).await });
    gate.reached().await;
    let tomorrow = scene.installation().by(LI).at(later()).operations();
    assert_eq!(tomorrow.settle_changes().await.expect("readable"), []);
    gate.open();
    let given_up = sleeping.await.expect("it ends").expect_err("not sent");
    assert!(
        given_up
            .to_string()
            .contains("another process took over the group"),
        "{given_up}"
    );
    assert_eq!(scene.proxy.count("PUT"), 0);
    assert_eq!(
        scene.history().await,
        [(Operation::Update, Ending::NotApplied)]
    );
}
