//! The records of a hand-off while its command runs, and when the rotation is overtaken meanwhile.

use groupdesk::directory::ChangeId;

use super::*;

/// A script that says when it has begun, and ends when told to or when its folder is removed.
const WAITS: &str = "cat > $1/in; touch $1/began; \
                     until [ -e $1/go ] || [ ! -d $1 ]; do sleep 0.02; done; rm -f $1/began $1/go";

/// A hand-off whose command is running.
async fn started(
    taker: &HandOffScript,
    run: impl Future<Output = HandedOff> + Send + 'static,
) -> JoinHandle<HandedOff> {
    let running = tokio::spawn(run);
    eventually("the command begins", || taker.path("began").exists()).await;
    running
}

/// The first hand-off of a new token, whose command is running.
async fn rotated_and_started(scene: &Scene, taker: &HandOffScript) -> JoinHandle<HandedOff> {
    let (here, done) = (scene.ana.clone(), rotated(scene).await);
    let run = async move { here.hand_off(&done).await.expect("a token") };
    started(taker, run).await
}

/// Lets the command end; returns the result of the hand-off.
async fn finish(taker: &HandOffScript, running: JoinHandle<HandedOff>) -> HandedOff {
    std::fs::write(taker.path("go"), "").expect("written");
    running.await.expect("it ends")
}

/// Runs the hand-off of the newest rotation again.
async fn run_again(scene: &Scene) -> impl Future<Output = HandedOff> + Send + 'static {
    let (here, row) = (scene.ana.clone(), journal(&scene.ana).await[0].id);
    async move { here.hand_off_again(row).await.expect("run") }
}

#[tokio::test]
async fn a_hand_off_overtaken_by_a_later_rotation_is_not_done() {
    let taker = HandOffScript::new(WAITS);
    let scene = taker.scene().await;
    let running = rotated_and_started(&scene, &taker).await;
    rotate(&scene.ana).await.expect("rotated");
    let overtaken = finish(&taker, running).await.handoff;
    assert_eq!(overtaken.state, HandOffState::Failed);
    assert_has(&overtaken.note.expect("why"), "rotations handoff");
    let rows = [HandOffState::None, HandOffState::Pending];
    assert_eq!(states(&scene.ana).await, rows);
}

#[tokio::test]
async fn a_hand_off_whose_end_cannot_be_recorded_waits() {
    let taker = HandOffScript::new(WAITS);
    let scene = taker.scene().await;
    let running = rotated_and_started(&scene, &taker).await;
    fail_writes(&scene, Some("history"));
    let unwritten = finish(&taker, running).await.handoff;
    assert_eq!(unwritten.state, HandOffState::Pending);
    let note = unwritten.note.expect("why");
    assert_has(&note, "the hand-off succeeded");
    assert_has(&note, "could not be recorded");
    fail_writes(&scene, None);
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
}

/// It is recorded later, with the same rotation.
#[tokio::test]
async fn a_hand_off_is_not_the_end_of_its_rotation() {
    let taker = HandOffScript::new("cat > $1/in");
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    assert!(hand_off(&scene, &done).await.is_done());
    let place = scene.ana.place().await.expect("bound");
    let row = journal(&scene.ana).await[0].id;
    let acme = id(ACME);
    let since = scene.ana.directory();
    let since = since.since_last_about(place, &acme, ChangeId::Rotation(row));
    let since = since.await.expect("readable").into_iter();
    let since: Vec<_> = since.map(|entry| entry.operation).collect();
    assert_eq!(since, [Operation::Rotate, Operation::HandOff]);
}

#[tokio::test]
async fn a_hand_off_run_again_is_pending_until_it_ends() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    assert!(!hand_off(&scene, &done).await.is_done());
    assert_eq!(states(&scene.ana).await, [HandOffState::Failed]);
    taker.set_script(WAITS);
    let running = started(&taker, run_again(&scene).await).await;
    // As a crash would leave it.
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
    assert!(finish(&taker, running).await.is_done());
    assert_eq!(states(&scene.ana).await, [HandOffState::Done]);
}

#[tokio::test]
async fn a_hand_off_that_another_process_may_have_in_hand_is_not_run_a_second_time() {
    let taker = HandOffScript::new(WAITS);
    let scene = taker.scene().await;
    let running = rotated_and_started(&scene, &taker).await;
    // In place of a second process: one of another machine.
    let row = journal(&scene.ana).await.remove(0);
    execute(&scene, "UPDATE rotations SET process = NULL");
    let offered = scene.ana.pending_hand_offs().await.expect("readable");
    assert_eq!(offered, []);
    let refused = scene.ana.hand_off_again(row.id).await;
    let refused = refused.expect_err("in hand").to_string();
    assert_has(&refused, &format!("{} started to hand it off", row.by));
    assert_has(&refused, "Try again in");
    // Once its time is over, or if it is known to have ended, somebody else may do it.
    let later = Timestamp::now() + Duration::from_hours(1);
    let later = taker.at(scene.installation()).at(later).operations();
    let offered = later.pending_hand_offs().await.expect("readable");
    assert_eq!(offered.len(), 1);
    let ended = format!("{}1", row.process.expect("Linux tells it"));
    let text = format!("UPDATE rotations SET handoff_process = '{ended}'");
    execute(&scene, &text);
    let offered = scene.ana.pending_hand_offs().await.expect("readable");
    assert_eq!(offered.len(), 1);
    assert!(finish(&taker, running).await.is_done());
    assert_eq!(scene.ana.due_hand_offs().await.expect("readable"), []);
}

#[tokio::test]
async fn a_hand_off_that_another_process_begins_during_the_read_is_not_run_a_second_time() {
    let taker = HandOffScript::new("touch $1/began");
    let scene = taker.scene().await;
    rotated(&scene).await;
    let row = journal(&scene.ana).await.remove(0).id;
    // In place of a second process: its rotation is under way when the read begins.
    execute(
        &scene,
        "UPDATE rotations SET process = NULL, handoff = 'none'",
    );
    let gate = Gate::new();
    scene.next("GET", [ProxyFault::passed().behind(&gate)]);
    let here = scene.ana.clone();
    let again = tokio::spawn(async move { here.hand_off_again(row).await });
    gate.reached().await;
    execute(&scene, "UPDATE rotations SET handoff = 'pending'");
    gate.open();
    let refused = again.await.expect("it ends").expect_err("in hand");
    let refused = refused.to_string();
    assert_has(&refused, "rotated it and may be handing");
    assert_has(&refused, "Try again in");
    assert!(!taker.path("began").exists(), "the command is not run");
}

/// Both see the same failed hand-off.
#[tokio::test]
async fn of_two_who_repeat_a_hand_off_one_delivers_and_the_other_is_told_who() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let row = rotated(&scene).await;
    hand_off(&scene, &row).await;
    let row = row.rotation.expect("a row");
    taker.set_script(&format!("echo run >> $1/runs; {WAITS}"));
    let ben = taker.at(scene.installation().by(LI)).operations();
    let gate = Gate::new();
    scene.next("GET", [ProxyFault::passed().behind(&gate)]);
    let late = {
        let ben = ben.clone();
        tokio::spawn(async move { ben.hand_off_again(row).await })
    };
    gate.reached().await;
    let running = started(&taker, run_again(&scene).await).await;
    gate.open();
    let ana = scene.ana.operator();
    let told = format!("{ana} started to hand it off");
    for refused in [late.await.expect("it ends"), ben.hand_off_again(row).await] {
        let refused = refused.expect_err("she delivers it").to_string();
        assert_has(&refused, &told);
        assert_has(&refused, "Try again in");
    }
    assert!(finish(&taker, running).await.is_done());
    // Who comes a moment later is told as well; who did it may repeat it.
    let refused = ben.hand_off_again(row).await;
    let refused = refused.expect_err("just delivered").to_string();
    assert_has(&refused, &told);
    let runs = || std::fs::read_to_string(taker.path("runs")).expect("written");
    assert_eq!(runs(), "run\n");
    taker.set_script("echo run >> $1/runs");
    assert!(run_again(&scene).await.await.is_done());
    assert_eq!(runs(), "run\nrun\n");
}

/// A late end of a run that others have taken over changes nothing of what they recorded.
#[tokio::test]
async fn a_hand_off_is_taken_once_as_it_was_seen() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    rotated(&scene).await;
    let seen = journal(&scene.ana).await.remove(0);
    let directory = scene.ana.directory();
    let take = async |run: i64| {
        let taker = HandOffTaker {
            run: RunId(run),
            by: scene.ana.operator().into(),
            process: None,
            limit: Duration::from_mins(1),
            at: Timestamp::now(),
            boot_clock: None,
        };
        let taken = directory.take_hand_off(seen.clone(), taker, None).await;
        taken.expect("recorded")
    };
    assert_eq!(take(1).await, None);
    let now = take(2).await.expect("taken by the first");
    let first = now.taker.expect("named");
    assert_eq!((first.run, &*first.by), (RunId(1), scene.ana.operator()));
    assert!(first.ago().is_some());
    let ended = |state| HandOff {
        state,
        ..HandOff::default()
    };
    let entry = history(&scene.ana).await.pop().expect("a line");
    let end = async |run: i64, state| {
        let (run, entry) = ((seen.id, RunId(run)), entry.clone());
        let kept = directory.end_hand_off(run, ended(state), entry.clone(), entry);
        let kept = kept.await.expect("recorded").expect("not overtaken").state;
        assert_eq!(states(&scene.ana).await, [kept], "what is recorded is told");
        kept
    };
    let late = end(2, HandOffState::Done).await;
    assert_eq!(late, HandOffState::Pending);
    assert_eq!(end(1, HandOffState::Done).await, HandOffState::Done);
}

/// As when a profile is opened again while its batch is running.
#[tokio::test]
async fn what_this_process_is_about_to_hand_off_is_not_offered() {
    let taker = HandOffScript::new(WAITS);
    let scene = taker.scene().await;
    let due = async || scene.ana.due_hand_offs().await.expect("readable").len();
    let done = rotated(&scene).await;
    assert_eq!(due().await, 0, "it has still to be handed off");
    let here = scene.ana.clone();
    let run = async move { here.hand_off(&done).await.expect("a token") };
    let running = started(&taker, run).await;
    assert_eq!(due().await, 0, "it is being handed off");
    assert!(finish(&taker, running).await.is_done());
    assert_eq!(due().await, 0);
    let mut done = rotated(&scene).await;
    done.ending = Ending::Rotated;
    done.warnings = vec![Warning::StaleAnswer];
    hand_off(&scene, &done).await;
    assert_eq!(due().await, 1, "it was not handed off after all");
}

#[tokio::test]
async fn a_failed_hand_off_is_due() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    hand_off(&scene, &done).await;
    let due = scene.ana.due_hand_offs().await.expect("readable");
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].handoff.state, HandOffState::Failed);
}

#[tokio::test]
async fn the_history_has_the_hand_off_and_the_reason_of_the_rotation() {
    let taker = HandOffScript::new("echo no room >&2; exit 3");
    let scene = taker.scene().await;
    let why = Some("it leaked".to_owned());
    let done = scene.ana.rotate(&id(ACME), why.clone(), KNOWN).await;
    let done = scene.ana.confirm(done.expect("rotated")).await;
    hand_off(&scene, &done).await;
    taker.set_script("cat > $1/in");
    assert!(run_again(&scene).await.await.is_done());
    let mut lines = history(&scene.ana).await;
    lines.retain(|line| line.operation == Operation::HandOff);
    let endings: Vec<_> = lines.iter().map(|line| line.ending).collect();
    assert_eq!(endings, [Ending::NotHandedOff, Ending::HandedOff]);
    let tokens = (done.previous_fingerprint, Some(scene.current()));
    for line in &lines {
        assert_eq!((line.previous_fingerprint, line.fingerprint), tokens);
        assert_eq!(line.reason, why);
    }
    let notes: Vec<_> = lines.iter().filter_map(|line| line.note.clone()).collect();
    assert_has(&notes[0], "no room");
    assert!(notes[1].starts_with("to "), "{notes:?}");
    assert!(
        notes.iter().all(|note| note.contains("/bin/sh")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn waiting_hand_offs_of_other_profiles_are_not_listed() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let command = Some(taker.command());
    let other = scene.world.installation(Side::Production);
    let other = other.with(|profile| profile.handoff = command).operations();
    let done = other.rotate(&id(ACME), None, EXISTS).await;
    done.expect("rotated");
    let waiting = other.pending_hand_offs().await.expect("readable");
    assert_eq!(waiting.len(), 1);
    let here = scene.ana.pending_hand_offs().await.expect("readable");
    assert!(here.is_empty(), "{here:?}");
    let refused = scene.ana.hand_off_again(waiting[0].id).await;
    assert!(refused.is_err(), "it is another profile's");
}

#[tokio::test]
async fn the_newest_token_wins() {
    let taker = HandOffScript::new("cat > $1/in; exit 1");
    let scene = taker.scene().await;
    let first = rotated(&scene).await;
    hand_off(&scene, &first).await;
    let second = rotated(&scene).await;
    let rows = [HandOffState::None, HandOffState::Pending];
    assert_eq!(states(&scene.ana).await, rows);
    assert_eq!(scene.ana.hand_off(&first).await, None, "its token is dead");
    taker.set_script("cat > $1/in");
    assert!(hand_off(&scene, &second).await.is_done());
    // The first command ends only now, and may have overwritten the second token.
    let entry = history(&scene.ana).await.pop().expect("a line");
    let done = HandOff {
        state: HandOffState::Done,
        exit: Some(0),
        note: None,
    };
    let row = first.rotation.expect("a row");
    let overtaken = Entry {
        note: Some("too late".into()),
        ..entry.clone()
    };
    let directory = scene.ana.directory();
    let run = (row, RunId(1));
    let kept = directory.end_hand_off(run, done, entry, overtaken).await;
    assert_eq!(kept.expect("written"), None);
    let last = history(&scene.ana).await.pop().expect("a line");
    assert_eq!(last.note.as_deref(), Some("too late"));
    assert_eq!(states(&scene.ana).await, rows);
    let waiting = scene.ana.pending_hand_offs().await.expect("readable");
    assert_eq!(waiting.len(), 1);
    let again = scene.ana.hand_off_again(waiting[0].id).await;
    assert!(again.expect("run").is_done());
    assert_has(&taker.read("in"), &scene.token());
}
