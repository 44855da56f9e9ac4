//! Bulk rotation on the screen: marks, the check, the words to type, progress of the run, and its controls.

use std::time::Duration;

use groupdesk::{
    config::guard::Level,
    domain::{
        batch::{BatchKind, Counts, Halt, ItemStatus, Plan, Skip, StopCause},
        handoff::{HandOff, HandOffState},
        rotation::State,
    },
    operations::{
        Batch, BatchId, BatchItem, ItemKey, RotationId,
        batch::{BatchEvent, Ended, Report, Resumption, RunCommand},
    },
    tui::{
        ExitReason,
        state::message::{Effect, Job, Msg, Outcome, ProfileIndex, Ticket},
    },
};
use jiff::Timestamp;

use super::scene::{BEGIN, PRODUCTION, READ_ONLY, Scene, TESTING};
use crate::support::{assertions::assert_has, snapshots::assert_snapshot, world::id};

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
fn running(profile: usize, words: &str) -> (Scene, Ticket) {
    let mut scene = Scene::on(profile);
    scene.walk("*T");
    scene.keys(&format!("<shift-tab>leak<enter>{words}<enter>"));
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

const WORDS: &str = "rotate 2 in testing";

/// A run whose first group has failed and whose second is in flight.
pub(super) fn half_way() -> (Scene, Ticket) {
    let (mut scene, ticket) = running(TESTING, WORDS);
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
    let report = Report {
        batch: BATCH,
        counts,
        halt,
    };
    let news = vec![last, BatchEvent::Finished(report.clone())];
    scene.msg(Msg::BatchEvents(ticket, news));
    scene.answer_with(Outcome::BulkEnded(report));
}

#[test]
fn an_item_that_reached_another_environment_marks_the_profile() {
    let (mut scene, ticket) = half_way();
    assert!(!scene.screen().contains("WRONG ENVIRONMENT"));
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
    scene.walk("<space>");
    scene.shows(">*  Name of acme-eu").shows("1 marked");
    scene
        .walk("/globex<enter>")
        .shows("1 of 2  /globex  1 marked");
    scene.walk("*<esc>sSr");
    scene
        .shows("2 marked")
        .shows("*  Name of acme-eu")
        .shows("*  Name of globex");
    scene.walk("g<space>").shows("1 marked");
    scene.walk("/x<enter><esc>").shows("2 groups  1 marked");
    scene.walk("<esc>");
    assert!(!scene.screen().contains("1 marked"), "{}", scene.screen());
}

#[test]
fn a_filter_takes_the_marking_keys_as_text() {
    let mut scene = Scene::on(TESTING);
    scene.walk("/a *<enter>").shows("0 of 2");
    assert!(!scene.screen().contains("1 marked"));
}

#[test]
fn the_check_does_not_open_without_marks_or_rights() {
    let mut scene = Scene::on(TESTING);
    scene.walk("T").says("nothing is marked; t: this row");
    assert_eq!(scene.focus(), "List");
    let mut scene = Scene::on(READ_ONLY);
    scene.walk("*T").says("this profile is read-only");
    assert_eq!(scene.focus(), "List");
}

#[test]
fn nothing_starts_without_the_exact_words() {
    for (profile, name) in [(TESTING, "testing"), (PRODUCTION, "production")] {
        let mut scene = Scene::on(profile);
        scene.walk("*T");
        scene
            .shows("2 ready, 1 skipped")
            .shows("hooli: not in the directory")
            .shows(&format!("rotate 2 in {name}"));
        for wrong in [
            "",
            "y",
            "rotate 2",
            "rotate 3 in testing",
            "Rotate 2 in testing",
        ] {
            scene.keys(&format!("<ctrl-u>{wrong}<enter>y"));
            assert!(scene.writes().is_empty(), "{wrong:?}");
            assert_eq!(scene.focus(), "BulkTyped");
        }
        scene.walk("<esc>");
        scene.says("Nothing was sent").shows("2 marked");
        running(profile, &format!("rotate 2 in {name}"));
    }
}

#[test]
fn a_run_shows_a_row_per_group_and_counts_that_add_up() {
    let (mut scene, _) = half_way();
    scene
        .shows("1 of 2  50%  4s left")
        .shows("1 not applied  1 running   all 2")
        .shows("x not applied      1.2s acme-eu")
        .shows("the service refused it")
        .shows("/ in progress");
    scene.keys("f");
    assert!(!scene.screen().contains("globex"), "{}", scene.screen());
    scene.keys("f");
    finish(&mut scene, None);
    scene
        .shows("1 not applied  1 confirmed   all 2")
        .shows("1 not applied: F retries");
    scene.answer();
    scene.keys("F");
    let retried: Vec<_> = scene.pending.iter().map(|(_, _, job)| job).collect();
    // What the batch included stays included; only a rotation since it began counts.
    let [Job::PlanBulk { ids, retries, .. }] = &retried[..] else {
        panic!("{retried:?}");
    };
    assert_eq!(*ids, [id("acme-eu")]);
    assert!(retries.is_some());
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
        handoff: HandOff::default(),
        cause: None,
    };
    let all = ["acme-eu", "globex"].into_iter().zip(states);
    all.enumerate().map(item).collect()
}

#[test]
fn an_item_settled_by_another_process_changes_its_row_the_counts_and_what_can_be_retried() {
    let (mut scene, ticket) = running(TESTING, WORDS);
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
    let report = Report {
        batch: BATCH,
        counts,
        halt: None,
    };
    scene.answer_with(Outcome::BulkEnded(report));
    scene
        .shows("1 UNKNOWN  1 confirmed   all 2")
        .shows("1 UNKNOWN: r reads it; do not rotate");
    scene.answer();
    scene.later(5).keys("F");
    scene.says("nothing to retry");
    // The key also made the batch be read again: meanwhile another process has settled its item.
    let stands = (stored(BATCH), items([State::NotApplied, State::Confirmed]));
    scene.answer_with(Outcome::Batch(Box::new(stands)));
    scene
        .shows("1 not applied  1 confirmed   all 2")
        .shows("x not applied")
        .shows("the response was lost");
    assert!(!scene.screen().contains("UNKNOWN"), "{}", scene.screen());
    scene.later(1).keys("F");
    let retried: Vec<_> = scene.pending.iter().map(|(_, _, job)| job).collect();
    // What the batch included stays included; only a rotation since it began counts.
    let [Job::PlanBulk { ids, retries, .. }] = &retried[..] else {
        panic!("{retried:?}");
    };
    assert_eq!(*ids, [id("acme-eu")]);
    assert!(retries.is_some());
}

#[test]
fn a_failed_hand_off_is_counted_sorted_up_and_among_the_failures() {
    let (mut scene, ticket) = running(TESTING, WORDS);
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
    let report = Report {
        batch: BATCH,
        counts,
        halt: None,
    };
    scene.answer_with(Outcome::BulkEnded(report));
    scene
        .shows("2 confirmed  1 NOT handed off   all 2")
        .shows("1 not handed off: f shows them, 0 hands off")
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
    let (mut scene, ticket) = running(TESTING, WORDS);
    let news = vec![
        BatchEvent::Started(key(0)),
        BatchEvent::Started(key(1)),
        ended(1, "globex", ItemStatus::Unknown, Counts::default()),
    ];
    scene.msg(Msg::BatchEvents(ticket, news));
    let place = |scene: &Scene, text: &str| {
        let screen = scene.screen();
        screen.lines().position(|line| line.contains(text))
    };
    assert!(place(&scene, "? UNKNOWN") < place(&scene, "/ in progress"));
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
    assert_eq!(
        scene.keys("X"),
        [Effect::Steer(ticket, RunCommand::Stop(StopCause::Person))]
    );
    scene.shows("Stopping");
    assert_eq!(scene.keys("Xp"), [], "a stop is for good");
    scene.later(1).keys("F");
    scene.says("still running");
}

#[test]
fn a_run_goes_on_when_its_page_is_left_and_the_list_says_so() {
    let (mut scene, _) = half_way();
    scene.keys("<esc>");
    assert_eq!(scene.focus(), "List");
    scene.shows("Batch 7 running: 1 not applied, 1 running of 2   5 shows it");
    assert!(!scene.screen().contains("2 marked"), "they are used up");
    scene.shows("T the batch");
    scene.keys("T");
    assert_eq!(scene.focus(), "BulkRun");
    scene.keys("<esc>");
    finish(&mut scene, None);
    scene.says("Batch 7 ended, 1 of 2 done, 1 not: 1 not applied, 1 confirmed of 2");
    scene.shows("5 shows it").shows("T the batch");
    scene.keys("<space>");
    scene.shows("T ROTATE marked");
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
    scene.says("a batch in testing is running");
    assert!(!scene.screen().contains("5 shows it"));
    finish(&mut scene, None);
    scene.says("in testing");
}

#[test]
fn quitting_stops_the_run_and_waits_for_what_is_in_flight() {
    let (mut scene, ticket) = half_way();
    scene.keys("<esc>");
    assert_eq!(scene.keys("q"), []);
    scene
        .shows("0 of 2 not started; R in Batches resumes them. It stops with the")
        .shows("y quits");
    assert_eq!(
        scene.keys("y"),
        [Effect::Steer(ticket, RunCommand::Stop(StopCause::Quit))]
    );
    assert!(scene.app.waits_for_a_batch());
    scene.says("at most 35 s");
    let report = Report {
        batch: BATCH,
        counts: Counts::default(),
        halt: Some(Halt::Asked(StopCause::Quit)),
    };
    let effects = scene.answer_with(Outcome::BulkEnded(report));
    assert!(effects.contains(&Effect::Quit(ExitReason::Asked)));

    let (mut scene, ticket) = half_way();
    assert_eq!(
        scene.msg(Msg::Leave(StopCause::TerminalLost)),
        [Effect::Steer(
            ticket,
            RunCommand::Stop(StopCause::TerminalLost)
        )]
    );
    assert!(scene.app.waits_for_a_batch());
}

#[test]
fn the_report_holds_every_group_as_json_or_csv() {
    let (mut scene, _) = half_way();
    finish(&mut scene, None);
    scene.answer();
    scene.keys("w<enter>");
    let [Job::WriteReport(report, _)] = scene.writes()[..] else {
        panic!("{:?}", scene.pending);
    };
    let report: serde_json::Value = serde_json::from_str(report).expect("JSON");
    assert_eq!(report["planned"], 2);
    assert_eq!(report["by"], "ana@bastion2");
    assert_eq!(report["started_at"], BEGIN.to_string());
    assert_eq!(report["groups"][0]["outcome"], "not_applied");
    assert_eq!(report["groups"][1]["user_group_id"], "globex");
    scene.answer();
    scene.says("Report saved to");
    scene.keys("w<ctrl-u>/tmp/report.csv<enter>");
    let [Job::WriteReport(report, _)] = scene.writes()[..] else {
        panic!("{:?}", scene.pending);
    };
    let row = "acme-eu,not_applied,,,1240,the service refused it,none,testing,https://groups.example.com/api/user";
    assert_has(report, &format!("{row},ana@bastion2,{BEGIN}\r\n"));
}

#[test]
fn an_unfinished_batch_is_announced_at_the_start() {
    let mut scene = Scene::on(TESTING);
    scene.keys("P<down><enter>");
    let at = scene
        .pending
        .iter()
        .position(|(.., job)| *job == Job::Batches);
    let (ticket, ..) = scene.pending.remove(at.expect("it is asked for"));
    let batch = |ended_at| Batch {
        id: BATCH,
        by: "ana".into(),
        reason: None,
        started_at: Timestamp::UNIX_EPOCH,
        noted: 0,
        kind: BatchKind::Rotate,
        ended_at,
        not_handed_off: 0,
        last_run: None,
        runs: Vec::new(),
        runner: None,
        no_retry: None,
        counts: Counts {
            confirmed: 28,
            not_started: 12,
            ..Counts::default()
        },
    };
    let batches = vec![batch(Some(Timestamp::UNIX_EPOCH)), batch(None)];
    scene.msg(Msg::Done(ticket, Outcome::Batches(batches)));
    scene.says("Batch 7 is unfinished: 12 of 40 left. 5 lists it, R resumes it");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    assert!(scene.writes().is_empty());
}

#[test]
fn marks_check_run_and_background_look_as_in_the_snapshots() {
    let look = |name: &str, scene: &Scene| {
        assert_snapshot("app/snapshots", name, scene.screen());
    };
    let mut scene = Scene::on(TESTING);
    scene.walk("*j");
    look("bulk_marks_80x24", &scene);
    scene.walk("Trotate");
    look("bulk_check_80x24", &scene);
    let (mut scene, _) = half_way();
    look("bulk_run_80x24", &scene);
    scene.keys("<esc>");
    look("bulk_background_80x24", &scene);
}

#[test]
fn the_footer_no_longer_shows_a_run_that_has_ended() {
    let (mut scene, _) = half_way();
    scene.app.context.size = (120, 36);
    for words in ["leave (continues)", "pause", "STOP"] {
        scene.shows(words);
    }
    finish(&mut scene, None);
    let screen = scene.screen();
    let footer = screen.lines().last().expect("a footer");
    assert!(footer.contains("Esc leave"), "{footer}");
    for words in ["continues", "pause", "STOP"] {
        assert!(!footer.contains(words), "{footer}");
    }
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
    assert_eq!(scene.focus(), "BulkTyped");
    scene
        .shows("30 skipped: more than max_bulk = 40")
        .shows("PgDn: ");
    scene.hides("j: ");
    scene.walk("<pgdn>").hides("ready-0 ");
}
