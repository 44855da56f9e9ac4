//! Bulk rotation on the screen: marks, the check, the words to type, progress of the run, and its controls.

use std::path::Path;

use groupdesk::{
    operations::{
        ItemKey,
        batch::{BatchEvent, Ended},
    },
    tui::state::batch::{BatchRun, report},
};

use super::prelude::*;
use crate::support::snapshots::assert_snapshot;

pub(super) const BATCH: BatchId = BatchId(7);

fn key(position: usize) -> ItemKey {
    ItemKey {
        batch: BATCH,
        position,
    }
}

/// A batch as the journal has it, with nothing left to do.
pub(super) fn stored(id: BatchId) -> Batch {
    Batch {
        no_retry: None,
        id,
        by: "ana@bastion2".into(),
        reason: None,
        started_at: BEGIN,
        noted: 0,
        kind: BatchKind::Rotate,
        ended_at: Some(BEGIN),
        counts: Counts::default(),
        not_handed_off: 0,
        unwritten: 0,
        last_run: None,
        runs: Vec::new(),
        runner: None,
    }
}

/// The first group is confirmed, the second was not begun.
pub(super) fn unfinished(batch: BatchId) -> Resumption {
    let mut items = items([State::Confirmed, State::Confirmed]);
    items[1].rotation = None;
    items[1].state = None;
    Resumption {
        batch: Batch {
            ended_at: None,
            counts: Counts {
                confirmed: 1,
                not_started: 1,
                ..Counts::default()
            },
            ..stored(batch)
        },
        items,
        ready: vec![id("globex")],
        refused: Vec::new(),
        unverified: None,
        old: Vec::new(),
        open: 0,
        level: Level::Key,
        guard: None,
    }
}

pub(super) fn ended(
    position: usize,
    group: &str,
    standing: ItemStatus,
    counts: Counts,
) -> BatchEvent {
    let (outcome, note) = match standing {
        ItemStatus::Confirmed => ("confirmed", None),
        ItemStatus::Unknown => ("unknown", Some("the response was lost".to_owned())),
        _ => ("not_applied", Some("the service refused it".to_owned())),
    };
    BatchEvent::Ended(Box::new(Ended {
        key: key(position),
        user_group_id: id(group),
        status: standing,
        outcome,
        rotation: None,
        previous: None,
        fingerprint: None,
        note,
        handoff: HandOffState::None,
        warnings: Vec::new(),
        wrong_environment: false,
        settled: false,
        took: Duration::from_millis(1_240),
        counts,
    }))
}

/// Both groups marked and checked, and the words typed: the run is the only job under way.
fn running() -> (Scene, Ticket) {
    let mut scene = Scene::walked(TESTING, "*T");
    scene.keys("<shift-tab>leak<enter>rotate 2 in testing<enter>");
    let ticket = match &scene.pending[..] {
        [(ticket, _, Job::Bulk { reason, plan, .. })] => {
            assert_eq!(reason.as_deref(), Some("leak"));
            assert_eq!(plan.ready.len(), 2);
            *ticket
        }
        other => panic!("{other:?}"),
    };
    (scene, ticket)
}

/// A run whose first group has failed and whose second is in flight.
pub(super) fn half_way() -> (Scene, Ticket) {
    let (mut scene, ticket) = running();
    let counts = Counts {
        not_applied: 1,
        not_started: 1,
        ..Counts::default()
    };
    scene.later(4);
    let first = ended(0, "acme-eu", ItemStatus::NotApplied, counts);
    let news = vec![
        BatchEvent::Started(key(0)),
        BatchEvent::Started(key(1)),
        first,
    ];
    scene.msg(Msg::BatchEvents(ticket, news));
    (scene, ticket)
}

pub(super) fn finish(scene: &mut Scene, halt: Option<Halt>) {
    let counts = Counts {
        confirmed: 1,
        not_applied: 1,
        ..Counts::default()
    };
    let last = ended(1, "globex", ItemStatus::Confirmed, counts);
    let ticket = scene.app.context.bulk.as_ref().expect("it runs").ticket;
    let report = report(counts, halt);
    let news = vec![last, BatchEvent::Finished(report.clone())];
    scene.msg(Msg::BatchEvents(ticket, news));
    scene.answer_with(Outcome::BulkEnded(report));
}

pub(super) fn report(counts: Counts, halt: Option<Halt>) -> Report {
    Report {
        batch: BATCH,
        counts,
        halt,
    }
}

/// F plans a retry of the first group alone. What the batch included stays included; only a rotation since it began
/// counts.
#[track_caller]
fn assert_retries_the_first(scene: &mut Scene) {
    let planned = scene.started("F");
    let Job::PlanBulk { ids, retries, .. } = planned else {
        panic!("{planned:?}");
    };
    assert_eq!(ids, [id("acme-eu")]);
    assert!(retries.is_some());
}

#[test]
fn an_item_that_reached_another_environment_marks_the_profile() {
    let (mut scene, ticket) = half_way();
    scene.hides("WRONG ENVIRONMENT");
    let BatchEvent::Ended(mut item) = ended(1, "globex", ItemStatus::Confirmed, Counts::default())
    else {
        panic!("an end");
    };
    item.wrong_environment = true;
    scene.msg(Msg::BatchEvents(ticket, vec![BatchEvent::Ended(item)]));
    scene.shows("WRONG ENVIRONMENT");
}

#[test]
fn marks_stay_with_their_groups() {
    let mut scene = Scene::on(TESTING);
    scene.walk("<space>").shows(">*  Name of acme-eu");
    scene.walk("/globex<enter>").shows("/globex  1 marked");
    scene.walk("*<esc>sSr").shows("2 marked");
    scene.shows_all(["*  Name of acme-eu", "*  Name of globex"]);
    scene.walk("g<space>").shows("1 marked");
    scene.walk("/x<enter><esc>").shows("2 groups  1 marked");
    scene.walk("<esc>").hides("1 marked");
}

#[test]
fn a_run_shows_a_row_per_group_and_counts_that_add_up() {
    let (mut scene, _) = half_way();
    scene.shows_all([
        "1 of 2  50%  4s left",
        "1 not applied  1 running   of 2",
        "x not applied       1.2s  acme-eu",
        "the service refused it",
        "/ in progress",
    ]);
    scene.keys("f");
    scene.hides("globex");
    scene.keys("f");
    finish(&mut scene, None);
    scene
        .shows("1 not applied  1 confirmed   of 2")
        .shows("1 not applied: F retries");
    scene.answer();
    assert_retries_the_first(&mut scene);
    assert!(scene.writes().is_empty(), "it is checked and asked again");
}

/// The items of the batch as the journal has them, with these states.
pub(super) fn items(states: [State; 2]) -> Vec<BatchItem> {
    let item = |(position, (group, state)): (usize, (&str, State))| BatchItem {
        key: key(position),
        user_group_id: id(group),
        rotation: Some(RotationId(position as i64)),
        state: Some(state),
        update: None,
        edit: None,
        ending: None,
        note: None,
        previous: None,
        fingerprint: None,
        by: Some("dan@desk".into()),
        at: Some(BEGIN + Duration::from_mins(5)),
        handoff: HandOff::default(),
        unwritten: false,
        cause: None,
    };
    let all = ["acme-eu", "globex"].into_iter().zip(states);
    all.enumerate().map(item).collect()
}

#[test]
fn an_item_settled_by_another_process_changes_its_row_the_counts_and_what_can_be_retried() {
    let (mut scene, ticket) = running();
    let counts = Counts {
        confirmed: 1,
        unknown: 1,
        ..Counts::default()
    };
    let news = vec![
        ended(0, "acme-eu", ItemStatus::Unknown, counts),
        ended(1, "globex", ItemStatus::Confirmed, counts),
    ];
    scene.msg(Msg::BatchEvents(ticket, news));
    scene.answer_with(Outcome::BulkEnded(report(counts, None)));
    scene
        .shows("1 UNKNOWN  1 confirmed   of 2")
        .shows("1 UNKNOWN: r reads it; do not rotate");
    scene.answer();
    scene.later(5).keys("F");
    scene.says("nothing to retry");
    // The key also made the batch be read again: meanwhile another process has settled its item.
    let stands = (stored(BATCH), items([State::NotApplied, State::Confirmed]));
    scene.answer_with(Outcome::Batch(Box::new(stands)));
    scene
        .shows("1 not applied  1 confirmed   of 2")
        .shows("x not applied")
        .shows("the response was lost");
    scene.hides("UNKNOWN").shows("of 2");
    assert_retries_the_first(scene.later(1));
}

#[test]
fn a_failed_hand_off_is_counted_sorted_up_and_among_the_failures() {
    let (mut scene, ticket) = running();
    let counts = Counts {
        confirmed: 2,
        ..Counts::default()
    };
    let with = |position, group, handoff| {
        let BatchEvent::Ended(ended) = ended(position, group, ItemStatus::Confirmed, counts) else {
            panic!("it ends")
        };
        BatchEvent::Ended(Box::new(Ended { handoff, ..*ended }))
    };
    let news = vec![
        with(0, "acme-eu", HandOffState::Done),
        with(1, "globex", HandOffState::Failed),
    ];
    scene.msg(Msg::BatchEvents(ticket, news));
    scene.answer_with(Outcome::BulkEnded(report(counts, None)));
    scene
        .shows("2 confirmed  1 NOT handed off   of 2")
        .shows("1 not handed off: f shows them, Attention (0) hands off")
        .hides("Finished");
    scene.answer();
    scene.shows("> x not handed off");
    scene.keys("f");
    scene.shows("x not handed off").hides("acme-eu");
    // It was handed off elsewhere meanwhile.
    let mut all = items([State::Confirmed, State::Confirmed]);
    all[1].handoff.state = HandOffState::Done;
    scene.later(5).keys("f");
    scene.answer_with(Outcome::Batch(Box::new((stored(BATCH), all))));
    scene.hides("x not handed off").hides("NOT handed off");
}

#[test]
fn failed_items_come_first_and_n_goes_to_the_next() {
    let (mut scene, ticket) = running();
    let news = vec![
        BatchEvent::Started(key(0)),
        BatchEvent::Started(key(1)),
        ended(1, "globex", ItemStatus::Unknown, Counts::default()),
    ];
    scene.msg(Msg::BatchEvents(ticket, news));
    let screen = scene.screen();
    assert!(screen.find("? UNKNOWN") < screen.find("/ in progress"));
    scene.keys("jn");
    scene.shows("> ? UNKNOWN");
    scene.keys("j");
    scene.shows("> / in progress");
}

#[test]
fn a_run_is_paused_continued_and_stopped_once() {
    let (mut scene, ticket) = half_way();
    assert_eq!(scene.keys("p"), [Effect::Steer(ticket, RunCommand::Pause)]);
    scene.shows("Paused: p resumes");
    assert_eq!(scene.keys("p"), [Effect::Steer(ticket, RunCommand::Go)]);
    let stop = RunCommand::Stop(StopCause::Person);
    assert_eq!(scene.keys("X"), [Effect::Steer(ticket, stop)]);
    scene.shows("Stopping");
    assert_eq!(scene.keys("Xp"), [], "a stop is for good");
    scene.later(1).keys("F");
    scene.says("still running");
}

#[test]
fn a_run_goes_on_when_its_page_is_left_and_the_list_says_so() {
    let (mut scene, _) = half_way();
    scene.keys("<esc>");
    scene
        .at("List")
        .shows("Batch 7 running: 1 not applied, 1 running of 2   5 shows it")
        .hides("2 marked")
        .shows("T the batch");
    scene.keys("T");
    scene.at("BulkRun");
    scene.keys("<esc>");
    finish(&mut scene, None);
    scene.says("Batch 7 ended: 1 not applied, 1 confirmed of 2");
    scene.shows_all(["5 shows it", "T the batch"]);
    scene.keys("<space>");
    scene.shows("T ROTATE marked");
}

#[test]
fn a_paused_run_that_is_left_stays_paused_and_says_how_to_resume_it() {
    let (mut scene, ticket) = running();
    let begins = vec![BatchEvent::Started(key(0))];
    scene.later(4).msg(Msg::BatchEvents(ticket, begins));
    scene.msg(Msg::Resize(120, 24));
    scene.shows("Esc leave (continues)");
    scene.keys("p");
    scene.shows("Esc leave (paused)");
    scene.keys("<esc>");
    let text = "The batch stays paused, 1 waiting: 5 on the list, Enter, then p resumes it";
    scene.at("List").says(text);
    scene.keys("5");
    let own = Batch {
        ended_at: None,
        ..stored(BATCH)
    };
    let here = ProfileIndex(TESTING);
    let all = Outcome::AllBatches(vec![(here, stored(BatchId(8))), (here, own)]);
    scene.answer_to(|job| *job == Job::AllBatches, all);
    // It needs a person, so it is first although it is older.
    scene.shows_all(["1 unfinished of 2", ">   !   7", "    +   8"]);
    scene.keys("R");
    scene.says("this batch is paused: Enter, then p resumes it");
    scene.later(1).keys("<enter>");
    assert_eq!(scene.keys("p"), [Effect::Steer(ticket, RunCommand::Go)]);
    scene.shows("Esc leave (continues)");
    scene.keys("<esc>");
    scene
        .at("Batches")
        .shows("0 unfinished of 2")
        .says("The batch continues; 5 on the list shows it");
}

#[test]
fn another_profile_neither_shows_the_run_nor_starts_one() {
    let (mut scene, _) = half_way();
    scene.keys("<esc>P<down><enter>");
    let others = scene.pending.split_off(1);
    for (ticket, profile, job) in others {
        scene.msg(Msg::Done(
            ticket,
            super::scene::canned_outcome(profile, &job),
        ));
    }
    scene.keys("*T");
    scene
        .says("a batch in testing is running")
        .hides("5 shows it");
    finish(&mut scene, None);
    scene.says("in testing");
}

#[test]
fn leaving_a_run_for_another_profile_says_how_to_reach_it_from_there() {
    for (keys, said) in [
        ("", "The batch continues; 5 on the list, then Tab shows it"),
        (
            "p",
            "The batch stays paused, 0 waiting: 5 on the list, Tab, Enter, then p resumes it",
        ),
    ] {
        let (mut scene, _) = half_way();
        scene.keys(keys);
        scene.keys("P<down><enter>");
        let mut messages = scene.app.context.messages.all();
        assert!(messages.any(|message| message.text == said), "{said}");
    }
}

#[test]
fn the_title_of_a_run_is_its_own_although_another_has_replaced_it() {
    let (mut scene, _) = half_way();
    let title = |scene: &Scene| scene.app.top().title(&scene.app.context);
    assert_eq!(title(&scene), "Batch 7  leak");
    scene.app.context.bulk = None;
    assert_eq!(title(&scene), "Batch 7  leak");
    let (mut scene, _) = running();
    let change = BulkChange::mapping("40", Some("214"), None).expect("a change");
    let run = scene.app.context.bulk.as_mut().expect("it runs");
    run.kind = BatchKind::Edit(change);
    assert_eq!(title(&scene), "Bulk edit");
}

#[test]
fn in_the_smallest_window_the_check_says_that_there_is_more() {
    let mut scene = Scene::walked(TESTING, "*T");
    scene.msg(Msg::Resize(40, 10));
    scene.shows_all(["2 ready, 1 skipped", "PgDn: ", "rotate 2 in testing"]);
}

#[test]
fn quitting_stops_the_run_and_waits_for_what_is_in_flight() {
    let (mut scene, ticket) = half_way();
    scene.keys("<esc>");
    assert_eq!(scene.keys("q"), []);
    scene
        .shows("1 of 2 being sent. It stops with the console.")
        .shows("y quits");
    let stops = |ticket, cause| [Effect::Steer(ticket, RunCommand::Stop(cause))];
    // The question says what is so when the batch has ended meanwhile, and Ctrl-C asks for nothing that is over.
    let mut ended = half_way().0;
    ended.keys("<esc>q");
    finish(&mut ended, None);
    ended.shows("Nothing is lost.").hides("being sent");
    let mut ended = half_way().0;
    ended.keys("<esc><ctrl-c>");
    ended.shows("being sent. It stops with the console");
    finish(&mut ended, None);
    ended.hides("It stops with the console");
    assert_eq!(scene.keys("y"), stops(ticket, StopCause::Quit));
    assert!(scene.app.waits_for_a_batch());
    scene.says("at most 35 s");
    let halt = Some(Halt::Asked(StopCause::Quit));
    let report = report(Counts::default(), halt);
    let effects = scene.answer_with(Outcome::BulkEnded(report));
    assert!(effects.contains(&Effect::Quit(ExitReason::Asked)));

    let (mut scene, ticket) = half_way();
    let lost = StopCause::TerminalLost;
    assert_eq!(scene.msg(Msg::Leave(lost)), stops(ticket, lost));
    assert!(scene.app.waits_for_a_batch());
}

#[test]
fn the_report_holds_every_group_as_json_or_csv() {
    let (mut scene, _) = half_way();
    finish(&mut scene, None);
    scene.answer();
    scene.keys("w<enter>");
    let written = |scene: &Scene| match scene.write() {
        Job::WriteReport(report, _) => report.clone(),
        other => panic!("{other:?}"),
    };
    let report: serde_json::Value = serde_json::from_str(&written(&scene)).expect("JSON");
    assert_eq!(report["planned"], 2);
    assert_eq!(report["by"], "ana@bastion2");
    assert_eq!(report["started_at"], BEGIN.to_string());
    assert_eq!(report["groups"][0]["outcome"], "not_applied");
    assert_eq!(report["groups"][1]["user_group_id"], "globex");
    scene.answer();
    scene.says("Report saved to");
    scene.keys("w<ctrl-u>/tmp/report.csv<enter>");
    let row = "acme-eu,not_applied,,,1240,the service refused it,none,testing,https://groups.example.com/api/user";
    let begun = BEGIN + Duration::from_secs(4);
    assert_has(&written(&scene), &format!("{row},ana@bastion2,{begun}\r\n"));
}

/// A colleague may have begun the batch, and another one may have resumed it.
#[test]
fn the_report_names_who_rotated_each_group_and_when() {
    let (mut batch, items) = (stored(BATCH), items([State::Confirmed, State::Confirmed]));
    batch.by = "ben@desk".into();
    let scene = Scene::on(TESTING);
    let run = BatchRun::stored(Ticket::default(), ProfileIndex(TESTING), &batch, &items);
    let csv = report::of(&run, &scene.app.context, Path::new("r.csv"));
    let at = BEGIN + Duration::from_mins(5);
    assert_has(
        &csv,
        &format!(
            "acme-eu,confirmed,,,,,none,testing,https://groups.example.com/api/user,dan@desk,{at}\r\n"
        ),
    );
    let json = report::of(&run, &scene.app.context, Path::new("r.json"));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["by"], "ben@desk", "who began the batch");
    assert_eq!(json["groups"][1]["by"], "dan@desk");
    assert_eq!(json["groups"][1]["at"], at.to_string());
}

#[test]
fn esc_in_the_prompt_for_the_report_cancels_the_prompt_and_the_footer_says_so() {
    let (mut scene, _) = half_way();
    for is_finished in [false, true] {
        if is_finished {
            finish(&mut scene, None);
            scene.answer();
        }
        scene.shows("Esc leave");
        scene.keys("w");
        scene.at("WritePath").shows("Esc cancel").hides("Esc leave");
        scene.keys("<esc>");
        scene.at("BulkRun").shows("Esc leave");
    }
}

#[test]
fn an_unfinished_batch_is_announced_at_the_start() {
    let mut scene = Scene::on(TESTING);
    scene.keys("P<down><enter>");
    let batch = |ended_at| Batch {
        ended_at,
        counts: Counts {
            confirmed: 28,
            not_started: 12,
            ..Counts::default()
        },
        ..stored(BATCH)
    };
    let batches = Outcome::Batches(vec![batch(Some(BEGIN)), batch(None)]);
    scene.answer_to(|job| *job == Job::Batches, batches);
    scene.says("Batch 7 is unfinished: 12 of 40 left. 5 lists it, R resumes it");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    assert!(scene.writes().is_empty());
}

#[test]
fn marks_check_run_and_background_look_as_in_the_snapshots() {
    let look = |name: &str, scene: &Scene| {
        assert_snapshot("app/snapshots", name, scene.screen());
    };
    let mut scene = Scene::walked(TESTING, "*j");
    look("bulk_marks_80x24", &scene);
    scene.walk("Trotate");
    look("bulk_check_80x24", &scene);
    let (mut scene, _) = half_way();
    look("bulk_run_80x24", &scene);
    scene.keys("<esc>");
    look("bulk_background_80x24", &scene);
}

#[test]
fn a_plan_longer_than_the_screen_names_a_key_that_is_no_text_and_sums_up_what_a_limit_skips() {
    let mut scene = Scene::on(TESTING);
    scene.keys("*T");
    let ids = |name: &str, count: usize| {
        (0..count)
            .map(|at| id(&format!("{name}-{at}")))
            .collect::<Vec<_>>()
    };
    let skipped = ids("late", 30).into_iter().map(|id| (id, Skip::Beyond(40)));
    scene.answer_with(Outcome::Planned(Plan {
        at: BEGIN,
        noted: 0,
        ready: ids("ready", 40),
        skipped: skipped.collect(),
    }));
    scene
        .at("BulkTyped")
        .shows_all(["30 skipped: more than max_bulk = 40", "PgDn: "])
        .hides("j: ");
    scene.walk("<pgdn>").hides("ready-0 ");
}
