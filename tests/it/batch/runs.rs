//! Who works on a batch, as others see it: while it runs, while it is paused, when it is silent, and after it broke
//! off.

use super::*;
use groupdesk::{directory::RunId, operations::BatchId};
use rusqlite::Connection;

const DEADLINE: Duration = Duration::from_mins(1);

/// A batch run by ana that is held up at its first request.
async fn started_and_held(scene: &Scene) -> (BatchId, Run, Gate) {
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let batch = scene.begin().await;
    let run = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    (batch, run, gate)
}

async fn runner(seen_by: &Operations, batch: BatchId) -> Option<Runner> {
    seen_by.batch(batch).await.expect("readable").runner
}

/// Waits until the runner has this state.
async fn wait_for_state(seen_by: &Operations, batch: BatchId, state: RunnerState) -> Runner {
    let until = async {
        loop {
            match runner(seen_by, batch).await {
                Some(runner) if runner.state == state => return runner,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(DEADLINE, until).await.expect("told")
}

/// Whether the batch is a counted concern; `None` when it is not listed.
async fn is_counted_concern(seen_by: &Operations) -> Option<bool> {
    let found = Operations::attention(std::slice::from_ref(seen_by), 0, false).await;
    let concerns = found.expect("readable").concerns;
    let mut batches = concerns.iter();
    let batch = batches.find(|one| matches!(one.kind, ConcernKind::Batch(_)));
    batch.map(groupdesk::operations::attention::Concern::is_counted)
}

#[tokio::test]
async fn others_see_a_running_paused_and_silent_runner() {
    let scene = Scene::new(2).await;
    let (batch, run, gate) = started_and_held(&scene).await;
    let li = scene.world.installation(Side::Testing).by("li@desk7");
    let at = |seconds| {
        let later = Timestamp::now() + Duration::from_secs(seconds);
        li.clone().at(later).operations()
    };
    let now = at(0);
    let running = wait_for_state(&now, batch, RunnerState::Running).await;
    assert_eq!(running.by, scene.ana.operator());
    assert_eq!(
        is_counted_concern(&now).await,
        Some(false),
        "a run is at work"
    );
    let asked = now.plan_resumption(batch, true).await.expect("readable");
    assert_eq!(asked.level, Level::Words, "a second run would join it");

    run.control.pause();
    let paused = wait_for_state(&now, batch, RunnerState::Paused).await;
    assert!(paused.since >= running.since);
    assert_eq!(
        is_counted_concern(&now).await,
        Some(true),
        "it may have been forgotten"
    );
    assert!(paused.until_silent > Duration::ZERO);

    // Its process still runs, but nobody else hears from it.
    let gone = runner(&at(3_600), batch).await.expect("told");
    assert_eq!(gone.state, RunnerState::Silent);
    assert_eq!(is_counted_concern(&at(3_600)).await, Some(true));

    run.control.resume();
    wait_for_state(&now, batch, RunnerState::Running).await;
    gate.open();
    let (_, report) = watch(run).await;
    assert_eq!(report.halt, None);
    assert_eq!(runner(&now, batch).await, None);
    assert_eq!(is_counted_concern(&now).await, None);
}

/// As the directory is left when the end of a run could not be recorded.
fn forget_the_end(scene: &Scene) {
    let text = "UPDATE batches SET ended_at = NULL, stopped = '{\"why\":\"running\"}'; \
                UPDATE batch_runs SET ended = FALSE";
    if let Some(team) = scene.world.team() {
        let server = postgres::server().expect("a server");
        server.execute(team.schema(), text);
    } else {
        let raw = Connection::open(scene.world.directory_file()).expect("a connection");
        raw.execute_batch(text).expect("SQL");
    }
}

#[tokio::test]
async fn the_next_process_closes_a_batch_whose_run_could_not_record_its_end() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    scene.check(&report).await;
    let li = scene.world.installation(Side::Testing).by("li@desk7");
    let at = |seconds| {
        let later = Timestamp::now() + Duration::from_secs(seconds);
        li.clone().at(later).operations()
    };
    forget_the_end(&scene);
    let seen = at(0).batch(batch).await.expect("readable");
    assert!(seen.ended_at.is_none(), "its run may be at work");
    assert!(seen.is_run());
    let waits = is_counted_concern(&at(3_600)).await;
    assert_eq!(waits, None, "nothing is left of it");
    let seen = at(3_600).batch(batch).await.expect("readable");
    assert!(seen.ended_at.is_some() && seen.runner.is_none(), "{seen:?}");
    assert_eq!(seen.last_run, None, "nothing stopped it");
    let seen = at(0).batch(batch).await.expect("readable");
    assert!(seen.ended_at.is_some() && seen.runs.is_empty());
}

#[tokio::test]
async fn a_run_that_was_closed_while_it_was_silent_goes_on() {
    let scene = Scene::new(2).await;
    let (batch, run, gate) = started_and_held(&scene).await;
    let runs = async || scene.ana.batch(batch).await.expect("readable").runs;
    let gone = runs().await.iter().map(|run| run.id).collect();
    let (directory, at) = (scene.world.directory(), Timestamp::now());
    let another = (batch, RunId(99));
    let closed = directory.end_run(another, at, None, gone).await;
    assert!(!closed.expect("recorded"), "groups are left");
    assert_eq!(runs().await, [], "closed with the other run");
    run.control.pause();
    wait_for_state(&scene.ana, batch, RunnerState::Paused).await;
    run.control.resume();
    gate.open();
    watch(run).await;
    assert_eq!(runner(&scene.ana, batch).await, None);
}

/// Lets no run record its beginning, or lets all again.
fn forbid_runs(scene: &Scene, forbidden: bool) {
    let (on, what) = match scene.world.team() {
        Some(_) => (" ON batch_runs", "FOR EACH ROW EXECUTE FUNCTION refused()"),
        None => ("", "BEGIN SELECT RAISE(ABORT, 'no'); END"),
    };
    let text = if forbidden {
        format!("CREATE TRIGGER forbidden BEFORE INSERT ON batch_runs {what}")
    } else {
        format!("DROP TRIGGER forbidden{on}")
    };
    if let Some(team) = scene.world.team() {
        let server = postgres::server().expect("a server");
        server.execute(team.schema(), &text);
    } else {
        let raw = Connection::open(scene.world.directory_file()).expect("a connection");
        raw.execute_batch(&text).expect("SQL");
    }
}

/// What becomes of the groups of a colleague's batch may be recorded only by whoever has a run of it.
#[tokio::test]
async fn a_run_whose_beginning_cannot_be_recorded_sends_nothing() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    forbid_runs(&scene, true);
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert!(matches!(report.halt, Some(Halt::Cannot(_))), "{report:?}");
    assert_eq!(report.counts.not_started, 2);
    assert_eq!(scene.proxy.count("POST"), 0);
    forbid_runs(&scene, false);
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    scene.check(&report).await;
}

#[tokio::test]
async fn of_two_runs_that_end_together_the_later_one_records_why() {
    let scene = Scene::new(1).await;
    let (batch, directory) = (scene.begin().await, scene.world.directory());
    let (at, stopped) = (Timestamp::now(), Halt::Asked(StopCause::Quit));
    let runs = [RunId(1), RunId(2)];
    for id in runs {
        let run = begun_run(id, scene.ana.operator(), at);
        directory.begin_run(batch, run).await.expect("recorded");
    }
    // Each has found the other at work.
    for (id, expected) in runs
        .into_iter()
        .zip([LastRun::Begun, LastRun::Stopped(stopped.clone())])
    {
        let ended = directory.end_run((batch, id), at, Some(stopped.clone()), Vec::new());
        assert!(!ended.await.expect("recorded"), "a group is left");
        let stands = scene.ana.batch(batch).await.expect("readable");
        assert_eq!(stands.last_run, Some(expected));
    }
}

#[tokio::test]
async fn of_two_runs_the_last_one_to_end_decides_the_result() {
    let scene = Scene::new(3).await;
    let (batch, first, gate) = started_and_held(&scene).await;
    let second = scene.run(batch, one_at_a_time()).await;
    second.control.stop(StopCause::Person);
    watch(second).await;
    let stands = scene.ana.batch(batch).await.expect("readable");
    assert!(
        stands.is_run(),
        "the first run is still at work: {stands:?}"
    );
    first.control.stop(StopCause::Quit);
    gate.open();
    let (_, report) = watch(first).await;
    assert_eq!(report.halt, Some(Halt::Asked(StopCause::Quit)));
    let stands = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(
        stands.last_run,
        Some(LastRun::Stopped(Halt::Asked(StopCause::Quit)))
    );
    assert_eq!(stands.runner, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_of_one_batch_share_its_groups_and_rotate_each_once() {
    let scene = Scene::new(24).await;
    let (batch, first, gate) = started_and_held(&scene).await;
    let other = match scene.world.team() {
        Some(team) => Directory::open(&team),
        None => Directory::open(&scene.world.directory_file()),
    };
    let li = scene.world.installation(Side::Testing).by(LI);
    let li = li.on(&other.expect("it opens"));
    let li = li.through(scene.proxy.base_url()).operations();
    let mut second = li
        .run_batch(batch, RunLimits::default(), None)
        .await
        .expect("it joins");
    let begun =
        async { while !matches!(second.progress.recv().await, Some(BatchEvent::Ended(_))) {} };
    tokio::time::timeout(DEADLINE, begun)
        .await
        .expect("it does some");
    gate.open();
    let ((by_first, _), (by_second, report)) = tokio::join!(watch(first), watch(second));
    assert!(!by_first.is_empty() && !by_second.is_empty());
    assert_eq!(report.counts.planned(), 24);
    assert_eq!(scene.proxy.count("POST"), 24, "one request for each group");
    assert_sent_once(&scene.proxy);
    let items = scene.items(batch).await;
    let done = items.iter().filter(|item| item.outcome() == "confirmed");
    assert_eq!(done.count(), 24, "{items:?}");
}

/// Lets the run panic at this point of the first of two items, in the item's task or in that of the run.
async fn break_at(point: Failpoint) {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    let breaking = scene.world.installation(Side::Testing);
    let breaking = breaking.through(scene.proxy.base_url()).operations();
    let breaking = breaking.watched(move |reached| assert_ne!(reached, point, "on purpose"));
    let run = breaking.run_batch(batch, one_at_a_time(), None).await;
    let (_, report) = watch(run.expect("it begins")).await;
    assert_eq!(report.halt, Some(Halt::Internal), "{point:?}");
    let stands = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(stands.last_run, Some(LastRun::Stopped(Halt::Internal)));
    assert_eq!(stands.runner, None, "no run is at work");
    assert_eq!(is_counted_concern(&scene.ana).await, Some(true));
    let told = stands.last_run_in_words(|at| at.to_string());
    assert_eq!(told.as_deref(), Some("stopped: internal error"));
    // The rest continues; the broken item is settled by reading if anything was sent.
    let run = scene.run(batch, RunLimits::default()).await;
    let (_, report) = watch(run).await;
    assert_eq!(report.counts.not_started, 0, "{point:?}");
    super::assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn a_panicking_run_counts_as_stopped_not_as_running() {
    break_at(Failpoint::IntentDurable).await;
    break_at(Failpoint::ItemEnded).await;
}

/// Rotates a group past the proxy and with another directory.
async fn rotate_elsewhere(scene: &Scene, group: &str) {
    let li = scene.world.installation(Side::Testing).by(LI);
    let li = li.on(&scene.world.other_directory("li")).operations();
    let exists = UnknownIdPolicy::Exists;
    let rotated = li.rotate(&id(group), None, exists).await;
    rotated.expect("rotated");
}

/// A token that was changed elsewhere since the groups were selected is nothing that the batch was to replace, whoever
/// finds it out: a read before the batch is resumed, or its own.
#[tokio::test]
async fn neither_resume_nor_retry_rotates_what_was_rotated_elsewhere_since() {
    let scene = Scene::new(4).await;
    let batch = scene.begin().await;
    for group in ["g000", "g001"] {
        rotate_elsewhere(&scene, group).await;
    }
    let known = UnknownIdPolicy::KnownOnly;
    let read = scene.ana.look_up(&id("g000"), known).await;
    assert_has(&format!("{:?}", read.expect("read").warnings), "Elsewhere");

    let asked = scene.ana.plan_resumption(batch, true).await;
    let asked = asked.expect("readable");
    assert_eq!(asked.ready, [id("g001"), id("g002"), id("g003")]);
    let [(refused, why)] = &*asked.refused else {
        panic!("{asked:?}");
    };
    assert_eq!(*refused, id("g000"));
    assert_has(why, "changed outside this directory, as was seen at 2");
    let again = "groupdesk rotate g000 --include-recent";
    assert_has(why, again);

    let (ended, report) = scene.finish(batch).await;
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (2, 2));
    assert_eq!(report.halt, None);
    assert_eq!(scene.proxy.count("POST"), 2);
    let note = ended.iter().find(|one| one.user_group_id == id("g000"));
    let note = note.and_then(|one| one.note.clone()).expect("told");
    assert_has(&note, "its token was changed outside this directory");
    assert_has(&note, again);

    let ended = scene.ana.batch(batch).await.expect("readable");
    let none = scene.ana.why_no_retry(&ended).await.expect("readable");
    assert_has(
        &none.expect("nothing to retry"),
        "2 with a token that was changed outside",
    );
    let left = scene.ana.groups_to_retry(batch).await.expect("readable");
    let retry = scene.ana.plan_retry(&left, batch).await.expect("readable");
    assert_eq!(retry.ready, []);
    let found = Operations::attention(std::slice::from_ref(&scene.ana), 0, false).await;
    let concerns = found.expect("readable").concerns;
    let not_done = concerns
        .iter()
        .find(|one| matches!(one.kind, ConcernKind::NotDone(..)));
    // The token that the batch was to end may be that of today.
    assert!(not_done.is_some());
    // Asked for by its name, it is rotated.
    scene.rotate_now("g000").await.expect("rotated");
}
