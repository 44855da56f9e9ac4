//! Rotate: the successful case from the intent to the confirmation, and all that stops it before anything is sent.

use groupdesk::{
    directory::EventKind,
    domain::{
        change::DesiredFields,
        history::{Ending, Operation},
        rotation::{Event, RotateOutcome, State},
    },
    operations::{Cancel, Failpoint, Failure, UnknownIdPolicy, Warning},
};
use serde_json::json;

use super::{ACME, Scene, exposed, has, history, look_up, rotate, rotate_up_to_answer, update};
use crate::support::{
    faults::{Fault, Faults},
    proxy::{ProxyFault, Then},
    world::{LI, Side, id},
};

#[tokio::test]
async fn a_rotation_is_sent_recorded_and_confirmed() {
    let scene = Scene::new().await;
    let old = scene.token();
    let reason = Some("leaked in a chat".to_owned());
    let rotated = scene
        .ana
        .rotate(&id(ACME), reason.clone(), UnknownIdPolicy::KnownOnly)
        .await
        .expect("rotated");
    assert_eq!(rotated.ending, Ending::Rotated);
    assert_eq!(rotated.warnings, []);
    assert_eq!(exposed(&rotated), scene.token());
    assert_ne!(exposed(&rotated), old);
    assert_eq!(scene.proxy.methods(), ["GET", "POST"]);
    assert_eq!(scene.proxy.bodies("POST"), [json!({"current_token": old})]);

    let confirmed = scene.ana.confirm(rotated.clone()).await;
    assert_eq!(confirmed.ending, Ending::Confirmed);
    assert_eq!(confirmed.warnings, []);
    assert_eq!(confirmed.token(), rotated.token());
    assert_eq!(scene.proxy.methods(), ["GET", "POST", "GET"]);

    let directory = scene.ana.directory();
    let fingerprint = directory.fingerprinter().of(rotated.token().expect("one"));
    let group = confirmed.group;
    assert_eq!(group.fingerprint.expect("known").value, fingerprint);
    let by = group.last_rotated.expect("rotated").by;
    assert_eq!(by.as_deref(), Some(scene.ana.operator()));
    assert_eq!(
        group.environment_tag.expect("returned").value,
        Side::Testing.tag()
    );
    let row = rotated.rotation.expect("a row");
    let events = directory.journal_events(row).await.expect("readable");
    let states: Vec<_> = events.iter().map(|one| one.state).collect();
    let expected = [
        State::Intended,
        State::Sent,
        State::Rotated,
        State::Confirmed,
    ];
    assert_eq!(states, expected);
    let answered = Event::Answered(RotateOutcome::NewToken(fingerprint));
    assert!(matches!(events[2].what, EventKind::Stepped { event, .. } if event == answered));

    let lines = history(&scene.ana).await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, ending) in lines.iter().zip([Ending::Rotated, Ending::Confirmed]) {
        assert_eq!((line.operation, line.ending), (Operation::Rotate, ending));
        assert_eq!(line.previous_fingerprint, rotated.previous_fingerprint);
        assert_eq!(line.fingerprint, Some(fingerprint));
        assert_eq!(line.reason, reason);
    }
    scene.check().await;
}

#[tokio::test]
async fn the_intent_is_durable_before_the_first_byte_and_the_outcome_before_the_answer() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    // The view of another process while the answer is on its way.
    let file = scene.world.directory_file();
    let other = groupdesk::directory::Directory::open(&file).expect("a second opening");
    let other = scene.installation().on(&other).operations();
    let rows = super::journal(&other).await;
    assert_eq!(rows[0].rotation.state, State::Sent);
    assert!(rows[0].sent_at.is_some());
    gate.open();
    let done = rotating.await.expect("it ends").expect("rotated");
    let rows = super::journal(&other).await;
    assert_eq!(rows[0].rotation.state, State::Rotated);
    let token = done.token().cloned().expect("one");
    let fingerprint = other.directory().fingerprinter().of(&token);
    assert_eq!(rows[0].rotation.fingerprint, Some(fingerprint));
    let owners = other
        .directory()
        .owners(fingerprint)
        .await
        .expect("readable");
    assert!(owners[0].current);
    scene.check().await;
}

#[tokio::test]
async fn a_token_not_seen_here_before_is_not_rotated() {
    let scene = Scene::new().await;
    let elsewhere = scene.world.installation(Side::Testing).by(LI);
    let elsewhere = elsewhere
        .on(&scene.world.other_directory("li"))
        .operations();
    elsewhere
        .rotate(&id(ACME), None, UnknownIdPolicy::Exists)
        .await
        .expect("rotated");
    let failure = rotate(&scene.ana).await.expect_err("another token");
    let said = failure.to_string();
    let Failure::TokenChanged { settled, .. } = failure else {
        panic!("{said}");
    };
    assert_eq!(settled, []);
    assert!(said.contains("changed outside this directory"), "{said}");
    assert_eq!(scene.proxy.methods(), ["GET"]);
    assert_eq!(scene.states().await, []);
    let lines = history(&scene.ana).await;
    assert_eq!(
        lines[0].note,
        Some(Warning::TokenChangedElsewhere.to_string())
    );

    // The token is known now.
    assert_eq!(
        rotate(&scene.ana).await.expect("rotated").ending,
        Ending::Rotated
    );
    scene.check().await;
}

#[tokio::test]
async fn a_rotation_started_on_a_stale_read_finds_out_that_its_token_is_dead() {
    let scene = Scene::new().await;
    let old = scene.token();
    let elsewhere = scene.world.installation(Side::Testing).by(LI);
    let elsewhere = elsewhere
        .on(&scene.world.other_directory("li"))
        .operations();
    let theirs = elsewhere
        .rotate(&id(ACME), None, UnknownIdPolicy::Exists)
        .await;
    let theirs = theirs.expect("rotated");
    // The first read is answered by a replica that lags: it still shows the old token.
    scene.proxy.next(
        "GET",
        ProxyFault::change(move |body| body["user_group"]["token"] = json!(old)),
    );
    let done = rotate(&scene.ana).await.expect("found out");
    assert_eq!(done.ending, Ending::Recovered, "rotated, by someone else");
    assert_eq!(
        done.token(),
        theirs.token(),
        "the service did not rotate again"
    );
    assert_eq!(scene.token(), exposed(&theirs));
    let note = scene.history_notes().await;
    assert!(note[0].contains("this token was current once"), "{note:?}");
    assert_eq!(scene.states().await, [State::Recovered]);
    scene.check().await;
}

#[tokio::test]
async fn a_first_read_that_creates_the_group_rotates_nothing() {
    let scene = Scene::new().await;
    scene.world.vanish(Side::Testing, ACME);
    let failure = rotate(&scene.ana).await;
    assert!(
        matches!(failure, Err(Failure::CreatedByGet { .. })),
        "{failure:?}"
    );
    assert_eq!(scene.proxy.methods(), ["GET"]);
    assert_eq!(scene.states().await, []);
    assert_eq!(
        scene.history().await,
        [(Operation::Get, Ending::CreatedByGet)]
    );
}

#[tokio::test]
async fn a_group_known_to_be_of_another_environment_is_not_rotated() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    assert!(rotated.group.environment_tag.is_some());
    let customer = scene
        .installation()
        .with(|profile| profile.environment = Some(Side::Production.tag()));
    let failure = rotate(&customer.operations()).await;
    let Err(Failure::WrongEnvironment { expected, got, .. }) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!(
        (expected, got),
        (Side::Production.tag(), Side::Testing.tag())
    );
    assert_eq!(scene.proxy.count("POST"), 1, "the first one");
    scene.check().await;
}

#[tokio::test]
async fn a_service_that_is_gone_after_the_first_read_is_sent_nothing() {
    let scene = Scene::new().await;
    // It answers the first read, then closes its socket.
    let (_kept, door) = crate::support::faults::closing_port();
    let address = door.local_addr().expect("an address");
    let token = scene.token();
    let answering = tokio::spawn(async move {
        let (mut stream, _) = door.accept().await.expect("a caller");
        drop(door);
        crate::support::faults::read_request(&mut stream, 0).await;
        let body = json!({"success": 1, "new_user_group": false,
            "user_group": {"token": token, "provided_id": ACME}});
        let bytes =
            crate::support::faults::http("200 OK", &["Connection: close"], body.to_string());
        tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await
    });
    let installation = scene.installation().through(format!("http://{address}"));
    let failure = rotate(&installation.operations()).await;
    answering.await.expect("it ends").expect("answered");
    assert!(
        matches!(failure, Err(Failure::Unreachable(_))),
        "{failure:?}"
    );
    assert_eq!(scene.states().await, [State::NotApplied]);
    assert_eq!(
        scene.history().await,
        [(Operation::Rotate, Ending::Unreachable)]
    );

    // Nothing was sent, so it is safe to try again.
    let done = rotate(&scene.ana).await.expect("rotated");
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(scene.states().await, [State::NotApplied, State::Rotated]);
}

#[tokio::test]
async fn a_first_read_without_an_answer_leaves_no_intent() {
    let scene = Scene::new().await;
    let server = Faults::always(Fault::Close).await;
    let installation = scene.installation().through(server.base_url());
    let failure = rotate(&installation.operations()).await;
    assert!(
        matches!(failure, Err(Failure::ReadBefore { .. })),
        "{failure:?}"
    );
    assert_eq!(server.requests().len(), 1);
    assert_eq!(scene.states().await, []);
    assert_eq!(scene.history().await, []);
}

#[tokio::test]
async fn a_later_rotation_by_others_is_noticed_by_the_confirmation() {
    let scene = Scene::new().await;
    let ours = rotate(&scene.ana).await.expect("rotated");
    let elsewhere = scene.world.installation(Side::Testing).by(LI);
    let elsewhere = elsewhere
        .on(&scene.world.other_directory("li"))
        .operations();
    let theirs = elsewhere
        .rotate(&id(ACME), None, UnknownIdPolicy::Exists)
        .await;
    let done = scene.ana.confirm(ours).await;
    assert_eq!(done.ending, Ending::Superseded);
    assert_eq!(done.token(), theirs.expect("rotated").token());
    assert_eq!(done.warnings, [Warning::TokenChangedElsewhere]);
    assert_eq!(scene.states().await, [State::Superseded]);
    scene.check().await;
}

#[tokio::test]
async fn a_failed_confirmation_undoes_nothing() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    let (new, old) = (
        scene.token(),
        scene.proxy.bodies("POST")[0]["current_token"].clone(),
    );
    let server = Faults::always(Fault::Close).await;
    let nowhere = scene.installation().through(server.base_url()).operations();
    let done = nowhere.confirm(rotated.clone()).await;
    assert_eq!(done.ending, Ending::Rotated);
    assert!(has(&done, |warning| matches!(
        warning,
        Warning::NotReadBack { .. }
    )));

    // From a replica that lags: neither is the new token forgotten, nor the old one trusted.
    scene.proxy.next(
        "GET",
        ProxyFault::change(move |body| body["user_group"]["token"] = old.clone()),
    );
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(exposed(&done), new);
    assert_eq!(done.warnings, [Warning::StaleAnswer]);
    assert_eq!(scene.states().await, [State::Rotated]);
    let found = look_up(&scene.ana).await.expect("found");
    let settled = Warning::RotationSettled {
        ending: Ending::Confirmed,
    };
    assert_eq!(found.warnings, [settled]);
    assert_eq!(scene.states().await, [State::Confirmed]);
    scene.check().await;
}

#[tokio::test]
async fn a_group_that_vanished_after_its_rotation_is_a_conflict() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    let token = rotated.token().cloned();
    scene.world.vanish(Side::Testing, ACME);
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Conflict);
    assert_eq!(done.returned_token, token);
    assert!(done.withholds_token() && done.token().is_none());
    assert!(
        done.warnings.contains(&Warning::CreatedByGet),
        "{:?}",
        done.warnings
    );
    assert_eq!(scene.states().await, [State::Conflict]);
    scene.check().await;
}

#[tokio::test]
async fn a_read_before_a_change_that_fails_names_the_group_and_that_it_was_not_changed() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let failure = rotate(&scene.ana).await.expect_err("not read");
    let text = failure.to_string();
    assert!(
        text.starts_with("\"acme-eu\" NOT rotated: the read before it failed"),
        "{text}"
    );
    assert!(!text.contains("run it again"), "{text}");
    assert_eq!(failure.ending(), Some(Ending::Unreachable));
    assert_eq!(scene.proxy.count("POST"), 0);
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let wanted = DesiredFields {
        name: Some("Other".into()),
        ..DesiredFields::default()
    };
    let failure = update(&scene.ana, &DesiredFields::default(), &wanted).await;
    let text = failure.expect_err("not read").to_string();
    assert!(
        text.starts_with("\"acme-eu\" NOT updated: the read before it failed"),
        "{text}"
    );
    assert_eq!(scene.proxy.count("PUT"), 0);
}

/// Cancelled when the intent is durable already: the check is right before the change is recorded as being sent.
#[tokio::test]
async fn a_rotation_that_is_cancelled_after_its_intent_is_not_sent_and_ends() {
    let scene = Scene::new().await;
    let cancel = Cancel::default();
    let cancels = cancel.clone();
    let watched = scene.installation().operations().watched(move |point| {
        if point == Failpoint::IntentDurable {
            cancels.cancel();
        }
    });
    let failure = rotate(&watched.cancelled_by(cancel)).await;
    assert!(
        matches!(failure, Err(Failure::Cancelled { .. })),
        "{failure:?}"
    );
    assert_eq!(scene.proxy.count("POST"), 0);
    assert_eq!(scene.states().await, [State::NotApplied]);
    rotate(&scene.ana).await.expect("nothing holds the token");
    scene.check().await;
}

/// Two people who rotate the same token want one new token, not two.
#[tokio::test]
async fn who_comes_second_is_told_who_rotated_and_is_not_asked_to_rotate_again() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    let seen = known
        .and_then(|known| known.fingerprint)
        .map(|known| known.value);
    rotate(&scene.installation().by("ben@desk").operations())
        .await
        .expect("rotated");
    let acme = id(ACME);
    let second = scene
        .ana
        .rotate_seen(&acme, seen, None, UnknownIdPolicy::KnownOnly);
    let text = second.await.expect_err("it is another token").to_string();
    assert!(
        text.starts_with("\"acme-eu\" NOT rotated: ben@desk rotated it"),
        "{text}"
    );
    assert!(!text.contains("again"), "{text}");
    assert_eq!(scene.proxy.count("POST"), 1);
}
