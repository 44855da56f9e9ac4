//! One unsettled mutation per group: concurrent writers lose nothing, and what a dead process left open is found.

use super::*;
use groupdesk::domain::mutation::State;
use jiff::ToSpan;

/// An installation whose service returns properties.
pub(super) fn readable(installation: Installation) -> Installation {
    installation.with(|profile| profile.read_properties = true)
}

pub(super) async fn rename(operations: &Operations, name: &str) -> Edit {
    super::edit(operations, |wanted| wanted.name = Some(name.to_owned())).await
}

/// An edit of the whole mapping, which no get returns.
pub(super) async fn map(operations: &Operations) -> Edit {
    let edit = super::edit(operations, |wanted| {
        let rows = wanted.mapping.get_or_insert_default();
        rows.insert("1".into(), "2".into());
    });
    Edit {
        whole: vec![Field::Mapping],
        ..edit.await
    }
}

pub(super) async fn send(operations: &Operations, edit: &Edit) -> Result<Done, Failure> {
    operations.update_edit(&id(ACME), edit, KNOWN).await
}

/// Later than any settle window lasts.
pub(super) fn later() -> Timestamp {
    Timestamp::now() + 10.minutes()
}

/// The request waits at the gate; returns the running update.
pub(super) async fn sending(
    scene: &Scene,
    request: (&'static str, ProxyFault),
    gate: &Gate,
    name: &str,
) -> JoinHandle<Result<Done, Failure>> {
    scene.proxy.next(request.0, request.1);
    let (here, edit) = (scene.ana.clone(), rename(&scene.ana, name).await);
    let sending = tokio::spawn(async move { send(&here, &edit).await });
    gate.reached().await;
    sending
}

#[tokio::test]
async fn eight_writers_in_several_processes_lose_nothing() {
    let scene = Scene::with(readable).await;
    look_up(&scene.ana).await.expect("found");
    let file = scene.world.directory_file();
    let mut writers = Vec::new();
    let mut all = BTreeMap::from([("tier".to_owned(), json!("gold"))]);
    for number in 1..=8 {
        let directory = Directory::open(&file).expect("an opening of its own");
        let operations = readable(scene.installation().by(LI).on(&directory)).operations();
        let key = format!("p{number}");
        let edit = property(&operations, &key).await;
        all.insert(key, json!(1));
        writers.push(tokio::spawn(async move { send(&operations, &edit).await }));
    }
    for writer in writers {
        let done = writer.await.expect("it ends").expect("updated");
        assert_eq!(done.ending, Ending::Updated);
        assert_eq!(done.warnings, [], "no other writer was reported");
    }
    let sorted = |value: &serde_json::Value| -> BTreeMap<String, serde_json::Value> {
        let object = value.as_object().expect("an object").clone();
        object.into_iter().collect()
    };
    assert_eq!(sorted(&scene.stored().properties), all);
    let known = scene.known().await.properties.expect("known").value;
    assert_eq!(sorted(&json!(known)), all);
    assert_eq!(scene.proxy.count("PUT"), 8);
    assert_eq!(scene.open().await, []);
}

#[tokio::test]
async fn values_of_others_are_not_erased_and_edited_values_are_compared() {
    let scene = Scene::with(readable).await;
    look_up(&scene.ana).await.expect("found");
    let ours = property(&scene.ana, "ours").await;
    let name = rename(&scene.ana, "Ours").await;
    let theirs = wanted("Theirs", &[("7", "40")], &json!({"theirs": true}));
    let nothing = DesiredFields::default();
    let li = scene.elsewhere();
    let done = li.update(&id(ACME), &nothing, &theirs, EXISTS).await;
    done.expect("updated");
    let refused = send(&scene.ana, &name).await;
    let Err(Failure::ChangedSince { what, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(what, ["name: reviewed \"Acme Europe\", now \"Theirs\""]);
    assert_eq!(scene.proxy.count("PUT"), 0, "nothing was sent");
    send(&scene.ana, &ours).await.expect("updated");
    let properties = scene.stored().properties;
    assert_eq!(properties, json!({"theirs": true, "ours": 1}));
    let ended = scene.history().await;
    assert_eq!(ended.last(), Some(&(Operation::Update, Ending::Updated)));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_rotation_of_a_killed_process_is_not_running() {
    let scene = Scene::new().await;
    leave_behind(&scene.ana, ACME, scene.current(), &[Event::Sending]).await;
    let edit = rename(&scene.ana, "Acme").await;
    // The number of this process with another beginning is that of one that has ended.
    execute(&scene, "UPDATE rotations SET process = process || '0'");
    let refused = send(&scene.ana, &edit).await.expect_err("locked");
    let refused = refused.to_string();
    assert_has(&refused, "whose result is unknown");
    assert_has(&refused, "groupdesk rotations check");
}

#[tokio::test]
async fn a_second_writer_waits_and_then_says_who_holds_the_group() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    let put = ("PUT", ProxyFault::passed().held(&gate));
    let holding = sending(&scene, put, &gate, "First").await;
    // It waits no longer than the time limit of its profile.
    let hurried = scene.installation().by(LI);
    let hurried = hurried.timeout(Duration::from_millis(300)).operations();
    let second = map(&hurried).await;
    let sent = scene.proxy.methods().len();
    let refused = send(&hurried, &second).await.expect_err("held");
    let Failure::Held(held) = &refused else {
        panic!("{refused:?}");
    };
    let shown = (held.operation, held.state);
    assert_eq!(shown, (Operation::Update, State::Sent));
    assert_has(&refused.to_string(), "locked by the update of ana@bastion2");
    assert_eq!(scene.proxy.methods().len(), sent, "not even a get was sent");
    // A rotation waits, too, and with enough time it gets its turn after the first.
    let (rotating, patient) = (scene.ana.clone(), scene.li());
    let rotating = tokio::spawn(async move { rotate(&rotating).await });
    let waiting = tokio::spawn(async move { send(&patient, &second).await });
    gate.open();
    holding.await.expect("it ends").expect("updated");
    waiting.await.expect("it ends").expect("updated");
    rotating.await.expect("it ends").expect("rotated");
    let stored = scene.stored();
    assert_eq!(
        (&*stored.name, &stored.mapping["1"]),
        ("First", &json!("2"))
    );
    scene.check().await;
}

#[tokio::test]
async fn a_lost_update_that_a_read_settles_holds_up_no_other_one() {
    let scene = Scene::with(readable).await;
    let ana = &scene.ana;
    look_up(ana).await.expect("found");
    let mapped = map(ana).await;
    scene.proxy.next("PUT", unanswered());
    let unknown = send(ana, &rename(ana, "Lost").await).await;
    unknown.expect_err("its answer was lost");
    scene.rotate_elsewhere().await;
    // As of an `apply`, which reads nothing before it.
    let done = send(ana, &mapped).await.expect("sent");
    assert_eq!(done.ending, Ending::Updated);
    assert_eq!(done.warnings, [Warning::TokenChangedElsewhere]);
    scene.proxy.next("PUT", lost());
    let unknown = send(ana, &rename(ana, "Never").await).await;
    unknown.expect_err("it never arrived");
    scene.rotate_elsewhere().await;
    let held = send(ana, &mapped).await.expect_err("it may still arrive");
    assert_is!(held, Failure::Held(_));
    assert_has(&held.to_string(), ": wait until then");
    assert_has(
        &held.to_string(),
        &Warning::TokenChangedElsewhere.to_string(),
    );
}

#[tokio::test]
async fn a_writer_that_stops_before_sending_releases_the_group() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    let get = ("GET", ProxyFault::passed().held(&gate));
    let reading = sending(&scene, get, &gate, "First").await;
    reading.abort();
    assert!(reading.await.is_err(), "it was interrupted");
    let second = rename(&scene.ana, "Second").await;
    send(&scene.ana, &second).await.expect("updated");
    assert_eq!(scene.stored().name, "Second");
    let only = [(Operation::Update, Ending::Updated)];
    assert_eq!(scene.history().await, only);
}

/// An answer requested before a change from here was recorded is out of date: it is not recorded, and read again.
#[tokio::test]
async fn a_read_overtaken_by_a_change_from_here_is_read_again() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let here = scene.ana.clone();
    let reading = tokio::spawn(async move { look_up(&here).await });
    gate.reached().await;
    let name = rename(&scene.ana, "Newer").await;
    send(&scene.ana, &name).await.expect("updated");
    gate.open();
    let read = reading.await.expect("it ends").expect("found");
    assert_eq!(read.warnings, []);
    assert_eq!(read.group.name.expect("known").value, "Newer");
}

/// The clock that counts sleep has advanced: another process may have settled that nothing was sent.
#[tokio::test]
async fn an_intent_taken_for_dead_sends_nothing() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    let get = ("GET", ProxyFault::passed().held(&gate));
    let sleeping = sending(&scene, get, &gate, "Asleep").await;
    let tomorrow = scene.installation().by(LI).at(later()).operations();
    assert_eq!(tomorrow.settle_changes().await.expect("readable"), []);
    gate.open();
    let given_up = sleeping.await.expect("it ends").expect_err("not sent");
    assert_has(&given_up.to_string(), "another process took over the group");
    assert_eq!(scene.proxy.count("PUT"), 0);
    let only = [(Operation::Update, Ending::NotApplied)];
    assert_eq!(scene.history().await, only);
}

/// The service returns no mapping: only a later update tells what became of a lost one.
#[tokio::test]
async fn a_lost_update_is_repeated_by_its_sender_and_ends_when_it_was_replaced() {
    for repeats in [true, false] {
        let scene = Scene::new().await;
        let ana = &scene.ana;
        let facts = vec![Fact::SoleWriter(true)];
        ana.state_facts(facts).await.expect("recorded");
        let whole = map(ana).await;
        send(ana, &whole).await.expect("updated");
        let row = async |operations: &Operations, value: &'static str| {
            let edit = super::edit(operations, move |wanted| {
                let rows = wanted.mapping.get_or_insert_default();
                rows.insert("1".into(), value.into());
            });
            edit.await
        };
        let lost_edit = row(ana, "3").await;
        scene.proxy.next("PUT", unanswered());
        send(ana, &lost_edit).await.expect_err("lost");
        let later = scene.world.installation(Side::Testing).at(later());
        let later = later.operations();
        let read = look_up(&later).await.expect("found");
        let other = row(&later, "4").await;
        assert_ne!(read.plan(&other, later.operator()).objections, []);
        assert_ne!(
            read.plan(&lost_edit, LI).objections,
            [],
            "not that of another"
        );
        assert_eq!(read.plan(&lost_edit, later.operator()).objections, []);
        let next = if repeats {
            lost_edit.clone()
        } else {
            Edit {
                base: DesiredFields::default(),
                ..whole.clone()
            }
        };
        send(&later, &next).await.expect("sent");
        assert_eq!(scene.open().await, [], "nothing is left of the lost one");
        let other = row(&later, "4").await;
        send(&later, &other).await.expect("no longer in doubt");
    }
}
