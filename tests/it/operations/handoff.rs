//! The hand-off of a new token: only by standard input, recorded as pending before the command runs, with its result
//! afterwards.

use groupdesk::operations::NextStep;

use super::*;

/// The longest wait for anything that must happen.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A hand-off command: a script in a folder of its own.
pub(super) struct HandOffScript {
    folder: TempDir,
    limit: Duration,
}

impl HandOffScript {
    pub(super) fn new(script: &str) -> Self {
        let folder = crate::support::folder::temporary();
        let taker = Self {
            folder,
            limit: PATIENCE,
        };
        taker.set_script(script);
        taker
    }

    /// Replaces the script; `$1` is its folder.
    pub(super) fn set_script(&self, script: &str) {
        std::fs::write(self.folder.path().join("script"), script).expect("written");
    }

    pub(super) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path(name)).expect("the command wrote it");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(super) fn command(&self) -> HandOffCommand {
        let text = |path: &Path| path.display().to_string();
        HandOffCommand {
            command: vec![
                "/bin/sh".into(),
                text(&self.path("script")),
                text(self.folder.path()),
            ],
            timeout: self.limit,
        }
    }

    pub(super) async fn scene(&self) -> Scene {
        Scene::with(|installation| self.at(installation)).await
    }

    pub(super) fn at(&self, installation: Installation) -> Installation {
        installation.with(|profile| profile.handoff = Some(self.command()))
    }
}

/// Rotates and confirms, up to the hand-off that the test is about.
pub(super) async fn rotated(scene: &Scene) -> Done {
    let rotated = rotate(&scene.ana).await.expect("rotated");
    scene.ana.confirm(rotated).await
}

pub(super) async fn hand_off(scene: &Scene, done: &Done) -> HandedOff {
    let handed = scene.ana.hand_off(done).await;
    handed.expect("there is something to hand off")
}

/// The states of all hand-offs, the oldest first.
pub(super) async fn states(operations: &Operations) -> Vec<HandOffState> {
    let rows = journal(operations).await;
    rows.iter().rev().map(|row| row.handoff.state).collect()
}

const RECORDS: &str = "cat > $1/in; cat /proc/$$/cmdline /proc/$$/environ > $1/proc; \
                       cat /proc/self/cmdline /proc/self/environ >> $1/proc; echo taken >&2";

#[tokio::test]
async fn the_token_is_passed_by_standard_input_only() {
    let taker = HandOffScript::new(RECORDS);
    let scene = taker.scene().await;
    let mut secrets = scene.world.secrets();
    let done = rotated(&scene).await;
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
    let handed = hand_off(&scene, &done).await;
    let expected = HandOff {
        state: HandOffState::Done,
        exit: Some(0),
        note: Some("taken".into()),
    };
    assert_eq!(handed.handoff, expected);
    let got = taker.read("in");
    assert_eq!(got.lines().count(), 1);
    let message: Value = serde_json::from_str(&got).expect("one JSON object");
    let expected = serde_json::json!({
        "user_group_id": ACME,
        "name": "Acme Europe",
        "token": scene.token(),
        "previous_fingerprint": done.previous_fingerprint.expect("known").to_string(),
        "fingerprint": scene.current().to_string(),
        "profile": "testing",
    });
    assert_eq!(message, expected);
    let seen = taker.read("proc");
    assert_has(&seen, "script");
    secrets.extend(scene.world.secrets());
    assert!(!secrets.iter().any(|secret| seen.contains(secret)));
    scene.world.scan_installations(&secrets);
    assert_eq!(journal(&scene.ana).await[0].handoff, handed.handoff);
    let last = history(&scene.ana).await.pop().expect("a line");
    let ended = (last.operation, last.ending);
    assert_eq!(ended, (Operation::HandOff, Ending::HandedOff));
    assert_eq!(last.fingerprint, Some(scene.current()));
    // A key from a variable is not passed on either.
    let key = scene.world.new_key("testing", Some("Testing"));
    let ana = taker.at(scene.installation()).key(&key).operations();
    let done = ana.confirm(rotate(&ana).await.expect("rotated")).await;
    assert!(ana.hand_off(&done).await.expect("one").is_done());
    assert!(!taker.read("proc").contains(&key));
    scene.check().await;
}

#[tokio::test]
async fn without_a_command_nothing_is_handed_off() {
    let scene = Scene::new().await;
    let done = rotated(&scene).await;
    assert_eq!(scene.ana.hand_off(&done).await, None);
    assert_eq!(states(&scene.ana).await, [HandOffState::None]);
    let failure = hand_off_again(&scene, &done).await.expect_err("no command");
    assert_has(&failure.to_string(), "the profile has no handoff");
}

async fn hand_off_again(scene: &Scene, done: &Done) -> Result<HandedOff, Failure> {
    let row = done.rotation.expect("a row");
    scene.ana.hand_off_again(row).await
}

#[tokio::test]
async fn a_failed_command_is_reported_without_the_token_and_can_be_run_again() {
    let taker = HandOffScript::new(
        "echo one >&2; printf 'no place for ' >&2; cat >&2; printf '\\033[2J\\n\\n' >&2; exit 3",
    );
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    let handed = hand_off(&scene, &done).await.handoff;
    assert_eq!((handed.state, handed.exit), (HandOffState::Failed, Some(3)));
    taker.set_script(
        "cat > /dev/null; read_token=$(cat $1/t); echo \"bad: $read_token\" >&2; exit 4",
    );
    std::fs::write(taker.path("t"), exposed(&done)).expect("written");
    let again = hand_off_again(&scene, &done).await.expect("run").handoff;
    assert_eq!(again.exit, Some(4));
    assert_eq!(again.note.as_deref(), Some("bad: …"));
    assert_eq!(journal(&scene.ana).await.remove(0).handoff, again);
    assert_eq!(states(&scene.ana).await, [HandOffState::Failed]);
    for note in scene.history_notes().await {
        let is_clean = !note.contains(exposed(&done)) && !note.contains('\u{1b}');
        assert!(is_clean, "{note}");
    }
    scene.world.scan_installations(&[exposed(&done).to_owned()]);
    taker.set_script("cat > $1/in");
    let again = hand_off_again(&scene, &done).await;
    assert!(again.expect("run").is_done());
    assert_has(&taker.read("in"), exposed(&done));
    assert_eq!(scene.proxy.count("POST"), 1, "nothing was rotated again");
    let mut endings = scene.history().await.split_off(2);
    endings.retain(|(operation, _)| *operation == Operation::HandOff);
    let endings: Vec<_> = endings.iter().map(|(_, ending)| *ending).collect();
    let failed = Ending::NotHandedOff;
    assert_eq!(endings, [failed, failed, Ending::HandedOff]);
}

/// The child that it leaves behind keeps its standard output and error open.
const LEAVES_ONE: &str = "sleep 1000 < /dev/null & echo $! > $1/pid; exit 0";

/// Whether the process runs; a zombie not collected yet does not.
fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default();
        !state.trim_start().starts_with('Z')
    })
}

#[tokio::test]
async fn at_the_time_limit_the_whole_process_group_is_killed() {
    let mut taker =
        HandOffScript::new("sleep 1000 & echo $! > $1/pid; echo waiting >&2; sleep 1000");
    taker.limit = Duration::from_millis(250);
    // The limit also counts while the command starts: again with twice the limit, until it came as far as this.
    loop {
        taker.limit *= 2;
        assert!(
            taker.limit < PATIENCE,
            "it was killed before it said anything"
        );
        let scene = taker.scene().await;
        let done = rotated(&scene).await;
        let handed = hand_off(&scene, &done).await.handoff;
        assert_eq!((handed.state, handed.exit), (HandOffState::Failed, None));
        let note = handed.note.expect("a note");
        let limit = taker.limit.as_millis();
        assert_has(
            &note,
            &format!("did not end within {limit} ms and was killed"),
        );
        if note.ends_with(": waiting") {
            break;
        }
    }
    let pid = taker.read("pid").trim().to_owned();
    eventually("it is gone", || !is_running(&pid)).await;
}

#[tokio::test]
async fn a_command_that_does_not_read_or_exist_does_not_hang() {
    let taker = HandOffScript::new("");
    let scene = taker.scene().await;
    for (script, state) in [
        ("exit 0", HandOffState::Done),
        ("exec 0<&-; exit 0", HandOffState::Done),
        ("exec 0<&-; kill -9 $$", HandOffState::Failed),
        (LEAVES_ONE, HandOffState::Done),
    ] {
        taker.set_script(script);
        let done = rotated(&scene).await;
        let handed = hand_off(&scene, &done).await;
        assert_eq!(handed.handoff.state, state, "{script}: {handed:?}");
        if script == LEAVES_ONE {
            let left = taker.read("pid").trim().parse().ok();
            let left = left.and_then(Pid::from_raw).expect("a number");
            kill_process(left, Signal::KILL).expect("a service that it starts may stay");
        }
    }
    let absent = |profile: &mut Profile| {
        profile.handoff = Some(HandOffCommand {
            command: vec!["/nowhere/put".into()],
            timeout: PATIENCE,
        });
    };
    let done = rotated(&scene).await;
    let without = scene.installation().with(absent).operations();
    let handed = without.hand_off(&done).await;
    let handed = handed.expect("there is something to hand off").handoff;
    assert_eq!(handed.state, HandOffState::Failed);
    assert_has(&handed.note.expect("a note"), "cannot be run");
}

/// Each new token would stay behind. What makes no token is not refused.
#[tokio::test]
async fn without_the_program_of_the_hand_off_nothing_is_rotated() {
    let scene = Scene::new().await;
    let (acme, ids) = (id(ACME), [id(ACME)]);
    let plan = scene.ana.plan_batch(&ids, true).await.expect("readable");
    let batch = scene.ana.begin(&plan).await.expect("durable");
    for program in ["/nowhere/put", "no-such-program"] {
        let absent = |profile: &mut Profile| {
            profile.handoff = Some(HandOffCommand {
                command: vec![program.into(), "live".into()],
                timeout: PATIENCE,
            });
        };
        let ana = scene.installation().with(absent).operations();
        let limits = RunLimits::default();
        for refused in [
            ana.rotate(&acme, None, KNOWN).await.err(),
            ana.begin(&plan).await.err(),
            ana.run_batch(batch, limits, None).await.err(),
        ] {
            let refused = refused.expect("refused");
            assert_eq!(refused.class(), Class::Usage);
            let said = refused.to_string();
            assert_has(&said, &format!("{program} cannot be run"));
            assert_has(&said, "nothing was sent");
        }
        assert!(ana.may(NextStep::BULK_EDIT).is_ok());
    }
    assert_eq!(scene.proxy.count("POST"), 0);
}

/// Another profile of the same place settles the rotation, has no hand-off command, and runs none.
#[tokio::test]
async fn a_rotation_settled_by_another_profile_is_handed_off_by_its_own() {
    let taker = HandOffScript::new("touch $1/ran");
    let scene = taker.scene().await;
    scene.proxy.next("POST", unanswered());
    scene.next("GET", [ProxyFault::passed(), lost()]);
    rotate(&scene.ana).await.expect_err("lost");
    let second = scene.installation().with(|profile| {
        profile.name = "second".into();
        profile.handoff = None;
    });
    let second = second.unbound();
    second.recover(&[], 4, |_| {}).await.expect("readable");
    let due = second.pending_hand_offs().await.expect("readable");
    assert_eq!(due.len(), 1, "{:?}", journal(&scene.ana).await);
    assert!(!second.is_begun_here(&due[0]) && scene.ana.is_begun_here(&due[0]));
    assert!(!taker.path("ran").exists());
    let handed = scene.ana.hand_off_again(due[0].id).await.expect("run");
    assert!(handed.is_done() && taker.path("ran").exists());
}

/// A colleague may have named a profile alike, without a hand-off.
#[tokio::test]
async fn a_rotation_settled_by_a_colleague_with_a_profile_of_that_name_waits_for_its_hand_off() {
    let taker = HandOffScript::new("touch $1/ran");
    let scene = taker.scene().await;
    scene.proxy.next("POST", unanswered());
    scene.next("GET", [ProxyFault::passed(), lost()]);
    rotate(&scene.ana).await.expect_err("lost");
    let settled = scene.li().recover(&[], 4, |_| {}).await;
    settled.expect("readable");
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
    assert!(!taker.path("ran").exists());
    // The rest of a batch is not rotated without a word, either.
    let plan = scene.ana.plan_batch(&[id(ACME)], true).await;
    let batch = scene.ana.begin(&plan.expect("planned")).await;
    let batch = batch.expect("begun");
    for (is_file, is_refused) in [(false, true), (true, false)] {
        let again = scene.li().options_again(batch, "resume", is_file).await;
        assert_eq!(again.is_err(), is_refused, "{again:?}");
        let own = scene.ana.options_again(batch, "resume", is_file).await;
        own.expect("its profile hands off");
    }
}

#[tokio::test]
async fn a_token_contradicted_by_a_read_is_not_handed_off() {
    let taker = HandOffScript::new("touch $1/ran");
    let scene = taker.scene().await;
    let mut done = rotated(&scene).await;
    done.ending = Ending::Rotated;
    done.warnings = vec![Warning::StaleAnswer];
    let waiting = hand_off(&scene, &done).await;
    assert_eq!(waiting.handoff.state, HandOffState::Pending);
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
    assert!(!taker.path("ran").exists());
    done.warnings = vec![Warning::NotReadBack { why: "gone".into() }];
    let handed = hand_off(&scene, &done).await;
    assert!(handed.is_done(), "no read contradicts it");
}

/// What the command did and what became of it are the same on the screen and in the history.
#[tokio::test]
async fn a_token_that_arrives_after_a_newer_one_is_reported_as_late() {
    for (ends, words) in [("exit 0", "delivered, but"), ("exit 3", "overtook it")] {
        let slow = HandOffScript::new(&format!(
            "cat > $1/in; touch $1/begun; while [ ! -e $1/end ]; do sleep 0.02; done; {ends}"
        ));
        let quick = HandOffScript::new("cat > $1/in");
        let scene = slow.scene().await;
        let first = rotated(&scene).await;
        let ana = scene.ana.clone();
        let handing = tokio::spawn(async move { ana.hand_off(&first).await });
        eventually("it runs", || slow.path("begun").exists()).await;
        let ben = quick.at(scene.installation().by(LI)).operations();
        let second = ben.confirm(rotate(&ben).await.expect("rotated")).await;
        let handed = ben.hand_off(&second).await.expect("one");
        assert!(handed.is_done(), "{handed:?}");
        std::fs::write(slow.path("end"), "").expect("written");
        let late = handing.await.expect("it ends").expect("one").handoff;
        assert_eq!(late.state, HandOffState::Failed);
        assert_eq!(late.is_late(), ends == "exit 0");
        let note = late.note.expect("a note");
        assert_has(&note, words);
        assert_has(&note, "groupdesk rotations handoff");
        let last = history(&scene.ana).await.pop().expect("a line");
        assert_eq!(last.ending, Ending::NotHandedOff);
        assert_has(&last.note.expect("a note"), &note);
        let rows = [HandOffState::None, HandOffState::Pending];
        assert_eq!(states(&scene.ana).await, rows, "the newer one is due again");
    }
}

#[tokio::test]
async fn handing_off_an_old_rotation_passes_the_current_token() {
    let taker = HandOffScript::new("cat > $1/in");
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    let elsewhere = scene.world.operations(Side::Testing);
    rotate(&elsewhere).await.expect("rotated again");
    let handed = hand_off_again(&scene, &done).await;
    assert!(handed.expect("run").is_done());
    assert_has(&taker.read("in"), &scene.token());
    let states = scene.states().await;
    assert!(
        states.len() == 2 && !states.contains(&State::Unknown),
        "{states:?}"
    );
}

#[tokio::test]
async fn the_old_token_of_a_rotation_is_never_handed_off() {
    let taker = HandOffScript::new(RECORDS);
    let scene = taker.scene().await;
    scene.proxy.next("POST", lost());
    rotate(&scene.ana).await.expect_err("unknown");
    let row = scene.journal().await[0].id;
    let later = Timestamp::now() + Duration::from_secs(HORIZON.unsigned_abs());
    let late = scene.installation().at(later).operations();
    let closed = late.abandon(row, "the request was lost").await;
    closed.expect("abandoned");
    let refused = scene.ana.hand_off_again(row).await;
    let refused = refused.expect_err("no new token").to_string();
    assert_has(&refused, "the service still has the old token");
    assert!(!taker.path("in").exists());
}
