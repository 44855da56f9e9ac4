//! The list of batches: what can be resumed, watched and read again from it.

use groupdesk::domain::{
    batch::{Runner, RunnerState, UnverifiedField},
    facts::Field,
};

use super::{batch::report, prelude::*};

/// The list with one batch of this profile.
pub(super) fn listing(profile: usize, batch: Batch) -> Scene {
    let mut scene = Scene::on(profile);
    let all = vec![(ProfileIndex(profile), batch)];
    scene.open("5", Outcome::AllBatches(all));
    scene
}

/// The list with one unfinished batch, started by this person.
pub(super) fn listed(by: &str, profile: usize) -> Scene {
    let batch = Batch {
        by: by.into(),
        ..unfinished(BATCH).batch
    };
    listing(profile, batch)
}

/// The check of this resumption.
pub(super) fn resuming(scene: &mut Scene, asked: Resumption) -> &mut Scene {
    scene.open("R", Outcome::Resumable(Box::new(asked)))
}

#[test]
fn a_stopped_batch_is_resumed_in_three_keys_by_who_began_it() {
    let mut scene = listed("ana@bastion2", TESTING);
    scene.shows_all([
        "1 unfinished of 1",
        "unfinished: 1 left",
        "R checks 1 again, then asks.",
    ]);
    scene.walk("R").at("ResumeCheck");
    scene.shows_all(["Batch 7: 1 of 2 groups left", "ready"]);
    assert_eq!(scene.keys("<enter>"), [], "Enter does nothing");
    scene.keys("y");
    assert_eq!(scene.write(), &Job::Resume(BATCH, 1, Vec::new()));
    scene.shows_all(["1 of 2  50%", "1 confirmed  1 waiting   of 2", "running"]);
}

#[test]
fn a_retry_that_would_take_nothing_is_not_offered() {
    let mut batch = unfinished(BATCH).batch;
    batch.ended_at = Some(BEGIN);
    batch.counts = Counts {
        confirmed: 1,
        not_applied: 1,
        ..Counts::default()
    };
    batch.no_retry = Some("1 rotated by ben@desk since the batch started".into());
    listing(TESTING, batch)
        .shows("Nothing to retry: 1 rotated by ben@desk")
        .hides("retries the");
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
    scene.answer_to(|job| *job == Job::AllBatches, Outcome::AllBatches(all));
    scene.shows(">   +   8");
    // The cursor stays on its batch when the batches of other profiles are added.
    scene.keys("<tab>j<tab>");
    scene.shows(">   +   8");
    scene.keys("<tab>j");
    scene.shows(">   /   7");
    scene.keys("<enter>");
    scene.at("BulkRun").shows("1 not applied  1 running   of 2");
    assert_eq!(scene.keys("p"), [Effect::Steer(ticket, RunCommand::Pause)]);
}

#[test]
fn a_batch_with_nothing_left_is_closed_by_resuming_it() {
    let batch = Batch {
        ended_at: None,
        ..stored(BATCH)
    };
    let mut scene = listing(TESTING, batch.clone());
    scene.shows_all([
        "not closed: nothing left",
        "R closes it: nothing is left to send.",
        "R CLOSE",
    ]);
    let asked = Resumption {
        batch,
        ready: Vec::new(),
        ..unfinished(BATCH)
    };
    resuming(&mut scene, asked)
        .shows_all(["Nothing left to send", "y closes the batch.", "y CLOSE"])
        .hides("resume in testing");
}

/// The list of batches shows this of the batch, and its page that. Then its row in the attention view.
fn in_every_view(batch: &Batch, [row, page]: [&str; 2]) -> Scene {
    let mut scene = listing(TESTING, batch.clone());
    scene.msg(Msg::Resize(120, 36));
    scene.shows(row);
    let stands = Box::new((batch.clone(), unfinished(BATCH).items));
    scene.open("<enter>", Outcome::Batch(stands)).shows(page);
    scene.keys("<esc><esc>0");
    let concern = concern(TESTING, ConcernKind::Batch(Box::new(batch.clone())));
    answer_concerns(&mut scene, vec![concern]);
    scene
}

#[test]
fn why_a_batch_stopped_is_shown_in_the_list_on_its_page_and_in_attention() {
    let stopped = |last_run| Batch {
        last_run: Some(last_run),
        ..unfinished(BATCH).batch
    };
    let halt = |cause| LastRun::Stopped(Halt::Asked(cause));
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (halt(StopCause::TerminalLost), "stopped: connection lost", "Stopped: connection lost: 1 of 2"),
        (LastRun::Stopped(Halt::Failures(3)), "stopped after 3 failures in a row", "Stopped after 3"),
        (LastRun::Begun, "killed", "Killed: 1 of 2 not started"),
    ];
    for (last_run, said, on_its_page) in table {
        let batch = stopped(last_run);
        let scene = in_every_view(&batch, [said, on_its_page]);
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
        (confirmed, 0, "+   7  rotate", "handed off"),
        (confirmed, 2, "2 NOT handed off", "done"),
        (abandoned, 0, "1 not applied", "+   7  rotate"),
        (abandoned, 1, "1 NOT handed off", "not applied"),
        (mixed, 1, "1 NOT handed off, 1 not applied", "2 not applied"),
    ] {
        let batch = Batch {
            counts,
            not_handed_off,
            ..stored(BATCH)
        };
        listing(TESTING, batch).shows(state).hides(lacks);
    }
    let batch = Batch {
        counts: confirmed,
        unwritten: 2,
        ..stored(BATCH)
    };
    let listed = listing(TESTING, batch);
    listed
        .shows("2 not in the token file")
        .hides("+   7  rotate");
}

#[test]
fn groups_sent_unread_and_a_possible_runner_are_shown_above_the_confirmation() {
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
    resuming(&mut listed("ana@bastion2", TESTING), asked)
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
        (RunnerState::Revoked, "access revoked: bob@desk7", "x batch unfinished", true, "Access revoked: bob@desk7, last seen"),
    ];
    for (state, row, concern_row, is_counted, page) in table {
        let is_alive = matches!(state, RunnerState::Running | RunnerState::Paused);
        let batch = run_by_bob(state);
        // A paused one needs somebody who resumes it there.
        let unfinished = match state {
            RunnerState::Running => "0 unfinished of 1",
            _ => "1 unfinished of 1",
        };
        let told = if is_alive {
            ["R JOIN", "R joins that run (asks first)"]
        } else {
            ["R RESUME", "1 of 2 not started"]
        };
        let mut list = listing(TESTING, batch.clone());
        list.msg(Msg::Resize(120, 36));
        list.shows_all([unfinished, told[0]]);
        in_every_view(&batch, [row, told[1]]);
        let mut scene = in_every_view(&batch, [row, page]);
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
    resuming(&mut scene, old())
        .shows("1 skipped for their age, and not sent; f includes them.")
        .shows("f old ones");
    assert_eq!(scene.started("f"), Job::PlanResumption(BATCH, true));
    scene.answer_with(Outcome::Resumable(Box::new(unfinished(BATCH))));
    scene.shows("Includes values last sent more than 30 days ago; f excludes them.");
    scene.open("f", Outcome::Resumable(Box::new(old())));
    scene.keys("y");
    let resumed = Job::Resume(BATCH, 0, vec![id("globex")]);
    assert_eq!(scene.write(), &resumed);
}

#[test]
fn a_page_that_is_left_takes_the_run_from_no_other_page_of_it() {
    let (mut scene, _) = half_way();
    scene.keys(":7<down><enter>");
    scene.at("BulkRun");
    finish(&mut scene, None);
    scene.walk("<esc>").at("BulkRun");
    scene.shows("1 not applied  1 confirmed   of 2");
    scene.walk("<esc><esc>").at("List").hides("5 shows it");
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
    run.finished(report(counts, Some(Halt::Asked(StopCause::Person))));
    assert_eq!(
        run.line(),
        "Batch 7 stopped as asked: 1 confirmed, 1 not started of 2"
    );
}
