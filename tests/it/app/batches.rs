//! The list of batches: what can be resumed, watched and read again from it.

use std::time::Duration;

use groupdesk::{
    config::guard::Level,
    domain::{
        batch::{Counts, Halt, LastRun, Runner, RunnerState, StopCause, UnverifiedField},
        facts::Field,
    },
    operations::{
        Batch, BatchId,
        attention::ConcernKind,
        batch::{Report, Resumption, RunCommand},
    },
    tui::state::message::{Effect, Job, Msg, Outcome, ProfileIndex},
};

use super::{
    attention::{answer_concerns, concern},
    batch::{BATCH, finish, half_way, stored, unfinished},
    scene::{BEGIN, PRODUCTION, Scene, TESTING, failed},
};
use crate::support::world::id;

/// The list with one unfinished batch, started by this person in this profile.
pub(super) fn listed(by: &str, profile: usize) -> Scene {
    let mut scene = Scene::on(profile);
    scene.keys("5");
    let batch = Batch {
        by: by.into(),
        ..unfinished(BATCH).batch
    };
    let all = vec![(ProfileIndex(profile), batch)];
    scene.answer_with(Outcome::AllBatches(all));
    scene
}

#[test]
fn a_stopped_batch_is_resumed_in_three_keys_by_who_began_it() {
    let mut scene = listed("ana@bastion2", TESTING);
    scene
        .shows("1 unfinished of 1")
        .shows("unfinished: 1 left")
        .shows("R checks 1 again, then asks.");
    scene.walk("R");
    assert_eq!(scene.focus(), "ResumeCheck");
    scene.shows("Batch 7: 1 of 2 groups left").shows("ready");
    assert_eq!(scene.keys("<enter>"), [], "Enter does nothing");
    scene.keys("y");
    assert_eq!(scene.writes(), [&Job::Resume(BATCH, 1, Vec::new())]);
    scene
        .shows("1 of 2  50%")
        .shows("1 confirmed  1 waiting   all 2")
        .shows("running");
}

#[test]
fn a_retry_that_would_take_nothing_is_not_offered() {
    let mut scene = Scene::on(TESTING);
    scene.keys("5");
    let mut batch = unfinished(BATCH).batch;
    batch.ended_at = Some(jiff::Timestamp::UNIX_EPOCH);
    batch.counts = Counts {
        confirmed: 1,
        not_applied: 1,
        ..Counts::default()
    };
    batch.no_retry = Some("1 rotated by ben@desk since the batch started".into());
    scene.answer_with(Outcome::AllBatches(vec![(ProfileIndex(TESTING), batch)]));
    scene.shows("Nothing to retry: 1 rotated by ben@desk");
    scene.hides("retries the");
}

#[test]
fn the_running_batch_is_watched_from_another_profile_too() {
    let (mut scene, ticket) = half_way();
    scene.keys("<esc>P<down><enter>5");
    let (own, other) = (stored(BATCH), stored(BatchId(8)));
    let all = vec![
        (ProfileIndex(PRODUCTION), other),
        (ProfileIndex(TESTING), own),
    ];
    let asked = |(.., job): &(_, _, Job)| matches!(job, Job::AllBatches);
    let at = scene.pending.iter().position(asked).expect("asked");
    let (read, ..) = scene.pending.remove(at);
    scene.msg(Msg::Done(read, Outcome::AllBatches(all)));
    scene.shows(">   +   8");
    // The cursor stays on its batch when the batches of other profiles are added.
    scene.keys("<tab>j<tab>");
    scene.shows(">   +   8");
    scene.keys("<tab>j");
    scene.shows(">   /   7");
    scene.keys("<enter>");
    assert_eq!(scene.focus(), "BulkRun");
    scene.shows("1 not applied  1 running   all 2");
    assert_eq!(scene.keys("p"), [Effect::Steer(ticket, RunCommand::Pause)]);
}

#[test]
fn a_failed_read_is_repeated_as_it_was_asked_for() {
    let mut scene = listed("ana@bastion2", TESTING);
    scene.keys("<enter>");
    let look = [&Job::Batch(BATCH)];
    let asked = |scene: &Scene| scene.pending.iter().map(|(.., job)| job.clone()).collect();
    let jobs: Vec<Job> = asked(&scene);
    assert_eq!(jobs.iter().collect::<Vec<_>>(), look);
    scene.answer_with(failed("no room left on the disk", None));
    scene.keys("r");
    let jobs: Vec<Job> = asked(&scene);
    assert_eq!(jobs.iter().collect::<Vec<_>>(), look, "not the resumption");
    let left = unfinished(BATCH);
    scene.answer_with(Outcome::Batch(Box::new((left.batch, left.items))));
    scene
        .shows("Stopped: 1 of 2 not started. R resumes them, nothing is sent twice")
        .shows("stopped");
}

#[test]
fn a_batch_with_nothing_left_is_closed_by_resuming_it() {
    let mut scene = Scene::on(TESTING);
    scene.keys("5");
    let batch = Batch {
        ended_at: None,
        ..stored(BATCH)
    };
    let all = vec![(ProfileIndex(TESTING), batch)];
    scene.answer_with(Outcome::AllBatches(all));
    scene
        .shows("not closed: nothing left")
        .shows("R closes it: nothing is left to send.")
        .shows("R CLOSE");
    scene.keys("R");
    let asked = Resumption {
        batch: Batch {
            ended_at: None,
            ..stored(BATCH)
        },
        ready: Vec::new(),
        ..unfinished(BATCH)
    };
    scene.answer_with(Outcome::Resumable(Box::new(asked)));
    scene
        .shows("Nothing left to send")
        .shows("y closes the batch.")
        .shows("y CLOSE");
    assert!(!scene.screen().contains("resume in testing"));
}

#[test]
fn why_a_batch_stopped_is_shown_in_the_list_on_its_page_and_in_attention() {
    let stopped = |last_run| {
        let left = unfinished(BATCH);
        let batch = Batch {
            last_run: Some(last_run),
            ..left.batch
        };
        (batch, left.items)
    };
    let halt = |cause| LastRun::Stopped(Halt::Asked(cause));
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (halt(StopCause::TerminalLost), "stopped: connection lost", "Stopped: connection lost: 1 of 2"),
        (LastRun::Stopped(Halt::Failures(3)), "stopped after 3 failures in a row", "Stopped after 3"),
        (LastRun::Begun, "killed", "Killed: 1 of 2 not started"),
    ];
    for (last_run, said, on_its_page) in table {
        let (batch, items) = stopped(last_run);
        let mut scene = Scene::on(TESTING);
        scene.msg(Msg::Resize(120, 36));
        scene.keys("5");
        let all = vec![(ProfileIndex(TESTING), batch.clone())];
        scene.answer_with(Outcome::AllBatches(all));
        scene.shows(said);
        scene.keys("<enter>");
        scene.answer_with(Outcome::Batch(Box::new((batch.clone(), items))));
        scene.shows(on_its_page);
        scene.keys("<esc><esc>0");
        let concern = concern(TESTING, ConcernKind::Batch(Box::new(batch)));
        answer_concerns(&mut scene, vec![concern]);
        let said = said.get(..7).unwrap_or(said);
        scene.shows(&format!("R resume: 1 of 2 left, {said}"));
    }
}

#[test]
fn done_is_only_what_is_wanted_and_has_arrived() {
    let confirmed = Counts {
        confirmed: 2,
        ..Counts::default()
    };
    let abandoned = Counts {
        confirmed: 1,
        abandoned: 1,
        ..Counts::default()
    };
    let mixed = Counts {
        not_applied: 1,
        ..abandoned
    };
    for (counts, not_handed_off, state, lacks) in [
        (confirmed, 0, "+   7 rotate", "handed off"),
        (confirmed, 2, "2 NOT handed off", "done"),
        (abandoned, 0, "1 not applied", "+   7 rotate"),
        (abandoned, 1, "1 NOT handed off", "not applied"),
        (mixed, 1, "1 NOT handed off, 1 not applied", "2 not applied"),
    ] {
        let mut scene = Scene::on(TESTING);
        scene.keys("5");
        let batch = Batch {
            counts,
            not_handed_off,
            ..stored(BATCH)
        };
        scene.answer_with(Outcome::AllBatches(vec![(ProfileIndex(TESTING), batch)]));
        scene.shows(state);
        assert!(!scene.screen().contains(lacks), "{}", scene.screen());
    }
}

#[test]
fn nothing_is_resumed_without_the_words_that_are_asked_for() {
    let mut scene = listed("li@bastion2", PRODUCTION);
    scene.keys("R");
    let asked = Resumption {
        level: Level::Words,
        ..unfinished(BATCH)
    };
    scene.answer_with(Outcome::Resumable(Box::new(asked)));
    assert_eq!(scene.focus(), "ResumeTyped");
    scene.shows("resume 1 in production").shows("started by");
    for wrong in ["", "y", "resume 1", "rotate 1 in production"] {
        scene.keys(&format!("<ctrl-u>{wrong}<enter>"));
        assert!(scene.writes().is_empty(), "{wrong:?}");
        scene.shows("Text differs; nothing was sent");
    }
    scene.keys("<ctrl-u>resume 1 in production<enter>");
    assert_eq!(scene.writes(), [&Job::Resume(BATCH, 1, Vec::new())]);
}

#[test]
fn groups_sent_unread_and_a_possible_runner_are_shown_above_the_confirmation() {
    let mut scene = listed("ana@bastion2", TESTING);
    scene.keys("R");
    let oldest = UnverifiedField {
        field: Field::Mapping,
        at: BEGIN - Duration::from_hours(24 * 200),
        by: "li@bastion2".into(),
    };
    let asked = Resumption {
        unverified: Some((17, oldest)),
        batch: run_by_bob(RunnerState::Running),
        level: Level::Words,
        ..unfinished(BATCH)
    };
    scene.answer_with(Outcome::Resumable(Box::new(asked)));
    scene
        .shows("! 17 whole mappings are sent again as last sent, the oldest 200d ago by")
        .shows("! Another console or command is running it, running: bob@desk7, since")
        .shows("no group is processed twice");
}

/// The unfinished batch, run by somebody else who is in this state.
fn run_by_bob(state: RunnerState) -> Batch {
    let runner = Runner {
        by: "bob@desk7".into(),
        state,
        since: BEGIN,
        seen: BEGIN,
        until_silent: Duration::from_secs(30),
    };
    Batch {
        last_run: Some(LastRun::Begun),
        runner: Some(runner),
        ..unfinished(BATCH).batch
    }
}

#[test]
fn running_paused_killed_and_silent_runners_are_told_apart_in_every_view() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (RunnerState::Running, "running: bob@desk7, since", "/ batch running", false, "Running: bob@desk7, since"),
        (RunnerState::Paused, "paused: bob@desk7, since", "! batch paused", true, "Paused: bob@desk7, since"),
        (RunnerState::Killed, "killed: bob@desk7, last seen", "x batch unfinished", true, "Killed: bob@desk7, last seen"),
        (RunnerState::Silent, "gone: bob@desk7, last seen", "x batch unfinished", true, "Gone: bob@desk7, last seen"),
    ];
    for (state, row, concern_row, is_counted, page) in table {
        let is_alive = matches!(state, RunnerState::Running | RunnerState::Paused);
        let mut scene = Scene::on(TESTING);
        scene.msg(Msg::Resize(120, 36));
        scene.keys("5");
        let batch = run_by_bob(state);
        let all = vec![(ProfileIndex(TESTING), batch.clone())];
        scene.answer_with(Outcome::AllBatches(all));
        scene.shows(row);
        scene.shows(if is_alive {
            "0 unfinished of 1"
        } else {
            "1 unfinished of 1"
        });
        scene.shows(if is_alive { "R JOIN" } else { "R RESUME" });
        scene.keys("<enter>");
        let stands = Box::new((batch.clone(), unfinished(BATCH).items));
        scene.answer_with(Outcome::Batch(stands));
        scene.shows(page);
        scene.shows(if is_alive {
            "R joins that run; asks first"
        } else {
            "1 of 2 not started"
        });
        scene.keys("<esc><esc>0");
        answer_concerns(
            &mut scene,
            vec![concern(TESTING, ConcernKind::Batch(Box::new(batch)))],
        );
        scene.shows(concern_row);
        let first = scene.screen().lines().next().map(str::to_owned);
        let badge = first.is_some_and(|line| line.contains("!1"));
        assert_eq!(badge, is_counted, "{state:?}");
        // A runner not heard of by then counts as gone: the batch is read again then, and not before.
        let due = scene.app.context.runner_gone_at;
        assert_eq!(due.is_some(), is_alive, "{state:?}");
        if let Some(due) = due {
            scene.pending.clear();
            scene.app.update(due, Msg::Tick);
            assert_eq!(scene.app.context.runner_gone_at, None);
        }
    }
}

#[test]
fn recently_rotated_groups_are_sent_only_when_a_key_includes_them() {
    let old = || Resumption {
        old: vec![id("globex")],
        ready: Vec::new(),
        ..unfinished(BATCH)
    };
    let mut scene = listed("ana@bastion2", TESTING);
    scene.keys("R");
    scene.answer_with(Outcome::Resumable(Box::new(old())));
    scene
        .shows("1 skipped for their age, and not sent; f includes them.")
        .shows("f old ones");
    scene.keys("f");
    let jobs: Vec<_> = scene.pending.iter().map(|(.., job)| job).collect();
    assert_eq!(jobs, [&Job::PlanResumption(BATCH, true)]);
    scene.answer_with(Outcome::Resumable(Box::new(unfinished(BATCH))));
    scene.shows("Includes values last sent more than 30 days ago; f excludes them.");
    scene.keys("f");
    scene.answer_with(Outcome::Resumable(Box::new(old())));
    scene.keys("y");
    let resumed = Job::Resume(BATCH, 0, vec![id("globex")]);
    assert_eq!(scene.writes(), [&resumed]);
}

#[test]
fn a_page_that_is_left_takes_the_run_from_no_other_page_of_it() {
    let (mut scene, _) = half_way();
    scene.keys(":7<down><enter>");
    assert_eq!(scene.focus(), "BulkRun");
    finish(&mut scene, None);
    scene.walk("<esc>");
    assert_eq!(scene.focus(), "BulkRun", "the first page");
    scene.shows("1 not applied  1 confirmed   all 2");
    scene.walk("<esc><esc>");
    assert_eq!(scene.focus(), "List");
    scene.hides("5 shows it");
}

#[test]
fn a_run_that_was_stopped_says_so_once() {
    let (mut scene, _) = half_way();
    scene.keys("<esc>");
    let run = scene.app.context.bulk.as_mut().expect("it runs");
    let counts = Counts {
        confirmed: 1,
        not_started: 1,
        ..Counts::default()
    };
    run.finished(Report {
        batch: BATCH,
        counts,
        halt: Some(Halt::Asked(StopCause::Person)),
    });
    assert_eq!(
        run.line(),
        "Batch 7 stopped as asked: 1 confirmed, 1 not started of 2"
    );
}
