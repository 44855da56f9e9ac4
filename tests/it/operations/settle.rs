//! Settling by a later look-up: what a get shows, and when, decides. Two installations apply the same rules.

use super::*;

/// The shortest settle horizon, in seconds.
pub(super) const HORIZON: i64 = 60;
pub(super) const MODEL_HORIZON: Duration = Duration::from_mins(1);

pub(super) fn noon() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

/// The same directory, this many seconds after noon.
pub(super) fn after(scene: &Scene, seconds: i64) -> Operations {
    let time = noon() + Duration::from_secs(seconds.unsigned_abs());
    scene.installation().by(LI).at(time).operations()
}

fn settled(ending: Ending) -> Vec<Warning> {
    vec![Warning::RotationSettled { ending }]
}

pub(super) async fn unknown_at_noon() -> Scene {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    scene.proxy.next("POST", lost());
    assert_unknown(&rotate(&scene.ana).await);
    assert_eq!(scene.states().await, [State::Unknown]);
    scene
}

#[tokio::test]
async fn the_old_token_settles_only_at_the_second_read_and_after_the_horizon() {
    let scene = unknown_at_noon().await;
    for seconds in [1, HORIZON - 1] {
        let done = look_up(&after(&scene, seconds)).await.expect("found");
        let [Warning::RotationOpen { decided_from, .. }] = &done.warnings[..] else {
            panic!("after {seconds} s: {:?}", done.warnings);
        };
        assert_eq!(*decided_from, after(&scene, HORIZON).now());
        assert_eq!(scene.states().await, [State::Unknown]);
    }
    let done = look_up(&after(&scene, HORIZON)).await.expect("found");
    assert_eq!(done.warnings, settled(Ending::NotApplied));
    assert_eq!(scene.states().await, [State::NotApplied]);
    let last = history(&scene.ana).await.pop().expect("a line");
    let ended = (last.operation, last.ending, &*last.by);
    assert_eq!(ended, (Operation::Rotate, Ending::NotApplied, LI));
    assert_has(&last.note.expect("a note"), scene.ana.operator());
    let done = rotate(&after(&scene, HORIZON + 1)).await.expect("safe now");
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(scene.proxy.count("POST"), 2, "two intents, two requests");
    scene.check().await;
}

#[tokio::test]
async fn a_longer_timeout_makes_a_longer_horizon() {
    let scene = unknown_at_noon().await;
    for (seconds, state) in [
        (1, State::Unknown),
        (199, State::Unknown),
        (200, State::NotApplied),
    ] {
        let patient = scene.installation().timeout(Duration::from_secs(100));
        let patient = patient.at(noon() + Duration::from_secs(seconds));
        look_up(&patient.operations()).await.expect("found");
        assert_eq!(scene.states().await, [state], "after {seconds} s");
    }
}

/// Who settles or closes it may have a shorter timeout than who sent it.
#[tokio::test]
async fn the_window_of_the_sender_counts_for_everyone() {
    let patient = |one: Installation| one.at(noon()).timeout(Duration::from_secs(100));
    let scene = Scene::with(patient).await;
    scene.meet("globex").await;
    scene.proxy.next("POST", lost());
    assert_unknown(&rotate(&scene.ana).await);
    scene.proxy.next("PUT", lost());
    let (globex, nothing) = (id("globex"), DesiredFields::default());
    let renamed = only_name("Later");
    let update = scene.ana.update(&globex, &nothing, &renamed, EXISTS);
    update.await.expect_err("no answer");
    let open = scene.open().await;
    let [change] = &open[..] else {
        panic!("{open:?}");
    };
    for (seconds, state) in [
        (HORIZON, State::Unknown),
        (199, State::Unknown),
        (200, State::NotApplied),
    ] {
        let hurried = after(&scene, seconds);
        look_up(&hurried).await.expect("found");
        assert_eq!(scene.states().await, [state], "after {seconds} s");
        let closed = hurried.abandon_change(change.id, "given up").await;
        assert_eq!(closed.is_ok(), seconds == 200, "{closed:?}");
    }
}

#[tokio::test]
async fn a_service_that_keeps_the_old_token_after_a_success_is_a_conflict_after_the_horizon() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    let promised = "f".repeat(64);
    let body =
        serde_json::json!({"success": 1, "user_group": {"token": promised, "provided_id": ACME}});
    let then = Then::Instead(http("200 OK", &[], body.to_string()));
    scene.proxy.next("POST", ProxyFault::swallowed(then));
    let done = rotate(&scene.ana).await.expect("the server reports it");
    assert_eq!(exposed(&done), promised);
    let early = look_up(&after(&scene, HORIZON - 1)).await.expect("found");
    assert_eq!(early.warnings, [Warning::StaleAnswer]);
    assert_eq!(scene.states().await, [State::Rotated]);
    let late = look_up(&after(&scene, HORIZON)).await.expect("found");
    let mut expected = vec![Warning::TokenChangedElsewhere];
    expected.extend(settled(Ending::Conflict));
    assert_eq!(late.warnings, expected);
    assert_eq!(exposed(&late), scene.token(), "the service decides");
    assert_eq!(scene.states().await, [State::Conflict]);
    let failure = rotate(&after(&scene, HORIZON + 1)).await;
    let failure = failure.expect_err("it is not investigated yet");
    assert_eq!(failure.class(), Class::Guarded);
    assert_has(&failure.to_string(), "rotation 1 of it ended in CONFLICT");
    assert_eq!(scene.proxy.count("POST"), 1);
    scene.check().await;
}

/// Leaves a row begun at noon: the intent, and these journalled events.
pub(super) async fn leave_behind(
    ana: &Operations,
    group: &str,
    previous: Fingerprint,
    events: &[Event],
) -> RotationId {
    let by = "dead@nowhere";
    let (directory, profile) = (ana.directory(), &ana.profile().name);
    let place = place(directory, profile);
    let intent = fields::intent(group, previous, (by, profile), noon());
    let sender = opened_by(directory, by);
    let begun = sender.begin_rotation(place, intent).await;
    let groupdesk::directory::BeginResult::Started(row) = begun.expect("begun") else {
        panic!("the token is held");
    };
    let mut rotation = Rotation::intended(previous);
    for event in events {
        let step = fields::step(row, rotation, *event, MODEL_HORIZON, noon());
        rotation = step.after;
        let record = fields::step_record(step);
        sender.record(place, record).await.expect("written");
    }
    row
}

#[tokio::test]
async fn an_open_rotation_of_a_dead_process_is_settled_after_the_horizon() {
    let new = Fingerprint::from_bytes([7; 32]);
    let answered = Event::Answered(RotateOutcome::NewToken(new));
    let cases: [(&[Event], &[State]); 3] = [
        (&[], &[State::NotApplied]),
        (&[Event::Sending], &[State::Unknown, State::NotApplied]),
        (&[Event::Sending, answered], &[State::Conflict]),
    ];
    for (events, expected) in cases {
        let scene = Scene::new().await;
        leave_behind(&scene.ana, ACME, scene.current(), events).await;
        let before = scene.states().await;
        let early = after(&scene, HORIZON - 1);
        look_up(&early).await.expect("found");
        assert_eq!(scene.states().await, before, "too early to say");
        assert_is!(rotate(&early).await, Err(Failure::RotationTaken { .. }));
        for state in expected {
            look_up(&after(&scene, HORIZON)).await.expect("found");
            assert_eq!(scene.states().await, [*state], "{events:?}");
        }
        assert_eq!(scene.proxy.count("POST"), 0, "nothing is sent to find out");
        scene.check().await;
    }
}

#[tokio::test]
async fn a_rotation_under_way_is_left_to_its_own_process() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    // The service has rotated, and the answer is on its way.
    let seen = look_up(&scene.li()).await.expect("found");
    assert_eq!(exposed(&seen), scene.token());
    assert_eq!(scene.states().await, [State::Sent]);
    gate.open();
    let done = rotating.await.expect("it ends").expect("rotated");
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(scene.states().await, [State::Rotated]);
    scene.check().await;
}

#[tokio::test]
async fn a_rotation_abandoned_meanwhile_shows_no_token_but_loses_none() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    // Another installation, an hour ahead, takes its process for dead.
    let ahead = Timestamp::now() + Duration::from_hours(1);
    let other = scene.installation().by(LI).at(ahead).operations();
    let done = look_up(&other).await.expect("found");
    let recovered = &settled(Ending::Recovered)[0];
    assert!(done.warnings.contains(recovered), "{done:?}");
    gate.open();
    let failure = rotating.await.expect("it ends").expect_err("not written");
    assert_is!(failure, Failure::Settled(Ending::Recovered, _));
    assert_has(&failure.to_string(), "was rotated");
    assert_eq!(scene.states().await, [State::Recovered]);
    let found = look_up(&scene.ana).await.expect("found");
    assert_eq!(exposed(&found), scene.token());
    scene.check().await;
}

#[tokio::test]
async fn a_rotation_by_a_colleague_is_not_reported_as_foreign() {
    let by = async |scene: &Scene| {
        let last = scene.known().await.last_rotated;
        last.and_then(|last| last.by)
    };
    // The answer is lost, and so is the read that would have settled it: somebody else settles it.
    let scene = Scene::new().await;
    let ana = Some(scene.ana.operator());
    scene.proxy.next("POST", unanswered());
    scene.next("GET", [ProxyFault::passed(), lost()]);
    rotate(&scene.ana).await.expect_err("unknown");
    let read = look_up(&scene.li()).await.expect("found");
    assert_eq!(read.warnings, settled(Ending::Recovered));
    assert_eq!(by(&scene).await.as_deref(), ana);
    // The answer is on its way while somebody else reads.
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    let read = look_up(&scene.li()).await.expect("found");
    let news = Warning::TokenChangedElsewhere;
    assert!(!read.warnings.contains(&news), "{:?}", read.warnings);
    assert_eq!(by(&scene).await.as_deref(), ana);
    gate.open();
    rotating.await.expect("no panic").expect("rotated");
    assert_eq!(by(&scene).await.as_deref(), ana);
}

/// This process is held up for longer than the settle window; somebody else finds out what became of its change, and changes
/// the group again.
async fn held_up<T: Send + 'static>(
    scene: &Scene,
    method: &'static str,
    changing: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> (Gate, JoinHandle<Result<T, Failure>>) {
    let gate = Gate::new();
    let lost = ProxyFault::applied(Then::Drop).behind(&gate);
    scene.proxy.next(method, lost);
    let changing = tokio::spawn(changing);
    gate.reached().await;
    look_up(&after(scene, HORIZON))
        .await
        .expect("it is settled");
    (gate, changing)
}

#[tokio::test]
async fn an_update_that_others_settled_is_not_sent_again_over_what_they_changed() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    let base = DesiredFields::of(&scene.known().await);
    let named = |name: &str| DesiredFields {
        name: Some(name.into()),
        ..base.clone()
    };
    let (first, second) = (named("V31"), named("W31"));
    let (here, from, to) = (scene.ana.clone(), base.clone(), first.clone());
    let updating = async move { update(&here, &from, &to).await };
    let (gate, updating) = held_up(&scene, "PUT", updating).await;
    let li = after(&scene, HORIZON);
    update(&li, &first, &second).await.expect("updated");
    // An older change of the same person is closed: that is not how this one ended.
    let mut history = li.history(None, Some(1)).await.expect("readable");
    let record = groupdesk::directory::Record {
        entry: Some(Entry {
            ending: Ending::Abandoned,
            changes: None,
            note: Some(format!("started by {}; it was open", scene.ana.operator())),
            ..history.remove(0).value
        }),
        ..Default::default()
    };
    let (directory, place) = (scene.world.directory(), scene.world.place(Side::Testing));
    directory.record(place, record).await.expect("recorded");
    gate.open();
    let failure = updating.await.expect("it ends").expect_err("no response");
    assert_eq!(failure.class(), Class::Unknown, "{failure}");
    let text = failure.to_string();
    assert_has(
        &text,
        &format!("\"{ACME}\" was updated (found by {LI} at 2026-11-20"),
    );
    assert_has(&text, &format!("; since then, {LI} changed its name. Read"));
    assert_eq!(scene.known().await.name.expect("known").value, "W31");
}

#[tokio::test]
async fn a_rotation_that_others_settled_says_how_it_ended_and_who_rotated_since() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    let here = scene.ana.clone();
    let rotating = async move { rotate(&here).await };
    let (gate, rotating) = Box::pin(held_up(&scene, "POST", rotating)).await;
    rotate(&after(&scene, HORIZON)).await.expect("rotated");
    gate.open();
    let failure = rotating.await.expect("it ends").expect_err("no response");
    assert_eq!(failure.class(), Class::Unknown, "{failure}");
    let text = failure.to_string();
    assert_has(
        &text,
        &format!("\"{ACME}\" was rotated (found by {LI} at 2026-11-20"),
    );
    assert_has(&text, &format!("; since then, {LI} rotated it. Read"));
}
