//! Rotate: the successful case from the intent to the confirmation, and all that stops it before anything is sent.

use super::*;

#[tokio::test]
async fn a_rotation_is_sent_recorded_and_confirmed() {
    let scene = Scene::new().await;
    let old = scene.token();
    let reason = Some("leaked in a chat".to_owned());
    let rotated = scene.ana.rotate(&id(ACME), reason.clone(), KNOWN).await;
    let rotated = rotated.expect("rotated");
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
    let (fingerprint, group) = (scene.current(), confirmed.group);
    assert_eq!(group.fingerprint.expect("known").value, fingerprint);
    let by = group.last_rotated.expect("rotated").by;
    assert_eq!(by.as_deref(), Some(scene.ana.operator()));
    let tag = group.environment_tag.expect("returned");
    assert_eq!(tag.value, Side::Testing.tag());
    let row = rotated.rotation.expect("a row");
    let events = scene.ana.directory().journal_events(row).await;
    let events = events.expect("readable");
    let states: Vec<_> = events.iter().map(|one| one.state).collect();
    let expected = [
        State::Intended,
        State::Sent,
        State::Rotated,
        State::Confirmed,
    ];
    assert_eq!(states, expected);
    let answered = Event::Answered(RotateOutcome::NewToken(fingerprint));
    assert_is!(events[2].what, EventKind::Stepped { event, .. } if *event == answered);
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
    let seen = scene.installation().on(&other).operations();
    let rows = super::journal(&seen).await;
    assert_eq!(rows[0].rotation.state, State::Sent);
    assert!(rows[0].sent_at.is_some());
    gate.open();
    rotating.await.expect("it ends").expect("rotated");
    let row = super::journal(&seen).await[0].rotation;
    let new = scene.current();
    assert_eq!((row.state, row.fingerprint), (State::Rotated, Some(new)));
    assert!(other.owners(new).await.expect("readable")[0].current);
    scene.check().await;
}

#[tokio::test]
async fn a_token_not_seen_here_before_is_not_rotated() {
    let scene = Scene::new().await;
    scene.rotate_elsewhere().await;
    let failure = rotate(&scene.ana).await.expect_err("another token");
    let said = failure.to_string();
    let Failure::TokenChanged { settled, .. } = failure else {
        panic!("{said}");
    };
    assert_eq!(settled, []);
    assert_has(&said, "changed elsewhere");
    assert_eq!(scene.proxy.methods(), ["GET"]);
    assert_eq!(scene.states().await, []);
    let news = Warning::TokenChangedElsewhere.to_string();
    assert_eq!(scene.history_notes().await, [news]);
    let known_now = rotate(&scene.ana).await.expect("rotated");
    assert_eq!(known_now.ending, Ending::Rotated);
    scene.check().await;
}

#[tokio::test]
async fn a_rotation_started_on_a_stale_read_finds_out_that_its_token_is_dead() {
    let scene = Scene::new().await;
    let stale = of_a_replica_that_lags(&scene);
    let theirs = scene.rotate_elsewhere().await;
    scene.proxy.next("GET", stale);
    let done = rotate(&scene.ana).await.expect("found out");
    assert_eq!(done.ending, Ending::Recovered, "rotated, by someone else");
    assert_eq!(done.token(), theirs.token(), "not rotated again");
    assert_eq!(scene.token(), exposed(&theirs));
    let note = scene.history_notes().await;
    assert_has(&note[0], "this token was current once");
    assert_eq!(scene.states().await, [State::Recovered]);
    scene.check().await;
}

/// A later answer that still shows the token of now.
fn of_a_replica_that_lags(scene: &Scene) -> ProxyFault {
    let old = scene.token();
    ProxyFault::change(move |body| body["user_group"]["token"] = json!(old))
}

#[tokio::test]
async fn a_first_read_that_creates_the_group_rotates_nothing() {
    let scene = Scene::new().await;
    scene.world.vanish(Side::Testing, ACME);
    let failure = rotate(&scene.ana).await;
    assert_is!(failure, Err(Failure::CreatedByGet { .. }));
    assert_eq!(scene.proxy.methods(), ["GET"]);
    assert_eq!(scene.states().await, []);
    let created = [(Operation::Get, Ending::CreatedByGet)];
    assert_eq!(scene.history().await, created);
}

#[tokio::test]
async fn a_group_known_to_be_of_another_environment_is_not_rotated() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    assert!(rotated.group.environment_tag.is_some());
    let (ours, theirs) = (Side::Testing.tag(), Side::Production.tag());
    let customer = scene.installation();
    let customer = customer.with(|profile| profile.environment = Some(theirs.clone()));
    let failure = rotate(&customer.operations()).await;
    let Err(Failure::WrongEnvironment { expected, got, .. }) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!((expected, got), (theirs, ours));
    assert_eq!(scene.proxy.count("POST"), 1, "the first one");
    scene.check().await;
}

#[tokio::test]
async fn a_service_that_is_gone_after_the_first_read_is_sent_nothing() {
    let scene = Scene::new().await;
    // It answers the first read, then closes its socket.
    let (_kept, door) = closing_port();
    let address = door.local_addr().expect("an address");
    let body = json!({"success": 1, "new_user_group": false,
        "user_group": {"token": scene.token(), "provided_id": ACME}});
    let bytes = http("200 OK", &["Connection: close"], body.to_string());
    let answering = tokio::spawn(async move {
        let (mut stream, _) = door.accept().await.expect("a caller");
        drop(door);
        read_request(&mut stream, 0).await;
        tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await
    });
    let installation = scene.installation().through(format!("http://{address}"));
    let failure = rotate(&installation.operations()).await;
    answering.await.expect("it ends").expect("answered");
    assert_is!(failure, Err(Failure::Unreachable(_)));
    assert_eq!(scene.states().await, [State::NotApplied]);
    assert_eq!(
        scene.history().await,
        [(Operation::Rotate, Ending::Unreachable)]
    );
    // Nothing was sent, so it is safe to try again.
    let done = rotate(&scene.ana).await.expect("rotated");
    assert_eq!(done.ending, Ending::Rotated);
}

#[tokio::test]
async fn a_later_rotation_by_others_is_noticed_by_the_confirmation() {
    let scene = Scene::new().await;
    let ours = rotate(&scene.ana).await.expect("rotated");
    let theirs = scene.rotate_elsewhere().await;
    let done = scene.ana.confirm(ours).await;
    assert_eq!(done.ending, Ending::Superseded);
    assert_eq!(done.token(), theirs.token());
    assert_eq!(done.warnings, [Warning::TokenChangedElsewhere]);
    assert_eq!(scene.states().await, [State::Superseded]);
    scene.check().await;
}

#[tokio::test]
async fn a_failed_confirmation_undoes_nothing() {
    let scene = Scene::new().await;
    let stale = of_a_replica_that_lags(&scene);
    let rotated = rotate(&scene.ana).await.expect("rotated");
    scene.proxy.next("GET", lost());
    let done = scene.ana.confirm(rotated.clone()).await;
    assert_eq!(done.ending, Ending::Rotated);
    let is_told = |warning: &Warning| matches!(warning, Warning::NotReadBack { .. });
    assert!(has(&done, is_told), "{:?}", done.warnings);
    // Neither is the new token forgotten, nor the old one trusted.
    scene.proxy.next("GET", stale);
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(done.warnings, [Warning::StaleAnswer]);
    assert_eq!(scene.states().await, [State::Rotated]);
    let found = look_up(&scene.ana).await.expect("found");
    let ending = Ending::Confirmed;
    assert_eq!(found.warnings, [Warning::RotationSettled { ending }]);
    assert_eq!(scene.states().await, [State::Confirmed]);
    scene.check().await;
}

#[tokio::test]
async fn a_group_that_vanished_after_its_rotation_is_a_conflict_and_hands_nothing_off() {
    let taker = HandOffScript::new("touch $1/ran");
    let scene = taker.scene().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    let token = rotated.token().cloned();
    scene.world.vanish(Side::Testing, ACME);
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Conflict);
    assert_eq!(done.returned_token, token);
    assert!(done.withholds_token() && done.token().is_none());
    let alarm = Warning::CreatedByGet;
    assert!(done.warnings.contains(&alarm), "{:?}", done.warnings);
    assert_eq!(scene.states().await, [State::Conflict]);
    assert_eq!(scene.ana.hand_off(&done).await, None);
    let handed = scene.journal().await[0].handoff.state;
    assert_eq!(handed, HandOffState::None);
    assert!(!taker.path("ran").exists());
    scene.check().await;
}

#[tokio::test]
async fn a_read_before_a_change_that_fails_names_the_group_and_that_it_was_not_changed() {
    let scene = Scene::new().await;
    scene.next("GET", [lost(), lost()]);
    let failure = rotate(&scene.ana).await.expect_err("not read");
    assert_is!(failure, Failure::ReadBefore { .. });
    let text = failure.to_string();
    let begin = "\"acme-eu\" NOT rotated: the read before it failed";
    assert!(text.starts_with(begin), "{text}");
    assert_lacks(&text, "run it again");
    assert_eq!(failure.ending(), Some(Ending::Unreachable));
    let nothing = DesiredFields::default();
    let failure = update(&scene.ana, &nothing, &only_name("Other")).await;
    let text = failure.expect_err("not read").to_string();
    let begin = "\"acme-eu\" NOT updated: the read before it failed";
    assert!(text.starts_with(begin), "{text}");
    assert_eq!(scene.proxy.methods(), ["GET", "GET"], "each read once");
    assert_eq!(scene.states().await, []);
}

/// The gate of the next request is read in the transaction of the intent, and in that of the outcome.
#[tokio::test]
async fn nothing_follows_an_alarm_that_a_colleague_raises_during_a_rotation() {
    let alarm = "INSERT INTO alarms (place, what, raised_at, raised_by) \
        SELECT number, 'x', 1, 'li' FROM places";
    for (at, sent) in [
        (Failpoint::BeforeIntent, &["GET"][..]),
        (Failpoint::Answered, &["GET", "POST"][..]),
    ] {
        let scene = Arc::new(Scene::new().await);
        let theirs = Arc::clone(&scene);
        let watched = scene.installation().operations().watched(move |point| {
            if point == at {
                execute(&theirs, alarm);
            }
        });
        let plan = watched.plan_batch(&[id(ACME)], false).await;
        let batch = watched.begin(&plan.expect("readable")).await;
        let ran = watched.run_through(batch.expect("durable"), RunLimits::default());
        ran.await.expect("it begins");
        assert_eq!(scene.proxy.methods(), sent, "{at:?}");
    }
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
    assert_is!(failure, Err(Failure::Cancelled { .. }));
    assert_eq!(scene.proxy.count("POST"), 0);
    assert_eq!(scene.states().await, [State::NotApplied]);
    rotate(&scene.ana).await.expect("nothing holds the token");
    scene.check().await;
}

/// A conflict needs attention until it is abandoned: it is listed, and its group is not rotated as if nothing had happened.
#[tokio::test]
async fn a_conflict_is_listed_and_holds_its_group_until_it_is_abandoned() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    scene.world.vanish(Side::Testing, ACME);
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Conflict);
    let conflicts = scene.ana.conflicts().await.expect("readable");
    let [row] = &*conflicts else {
        panic!("{conflicts:?}");
    };
    let found = Operations::attention(std::slice::from_ref(&scene.ana), 0, false).await;
    let concerns = format!("{:?}", found.expect("readable").concerns);
    assert_has(&concerns, &format!("Rotation({:?}, Conflict", row.id));
    let sent = scene.proxy.methods().len();
    let refused = rotate(&scene.ana).await.expect_err("in conflict");
    assert_has(&refused.to_string(), "groupdesk rotations abandon");
    let plan = scene.ana.plan_batch(&[id(ACME)], true).await;
    assert_eq!(plan.expect("readable").ready, []);
    assert_eq!(scene.proxy.methods().len(), sent, "nothing was sent");
    let abandoned = scene.ana.abandon(row.id, "looked at both").await;
    abandoned.expect("abandoned");
    assert_eq!(scene.ana.conflicts().await.expect("readable"), []);
}
