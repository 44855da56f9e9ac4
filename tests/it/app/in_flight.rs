//! Requests in flight are shown once they take time. Esc cancels a read and nothing else.

use groupdesk::{
    domain::history::Ending,
    operations::{ExchangeKind, RecordedExchange},
    tui::state::{
        exchanges::KEPT,
        message::{Effect, Job, Msg, ProfileIndex, Ticket},
    },
};
use jiff::SignedDuration;

use super::{
    exchanges::sent,
    scene::{BEGIN, PRODUCTION, Scene, TESTING, canned_outcome, failed, group, rotated},
};
use crate::support::assertions::assert_has;

/// Lets the requests of all pending jobs start and never be answered.
fn hang(scene: &mut Scene) {
    for (number, (ticket, _, job)) in (1..).zip(scene.pending.clone()) {
        let begins = sent(ticket, &job).map(|exchange| RecordedExchange {
            number,
            kind: ExchangeKind::InFlight,
            status: None,
            answer: None,
            ..exchange
        });
        scene.msg(Msg::Exchanged(begins.into_iter().collect()));
    }
}

fn screen_at(scene: &mut Scene, milliseconds: i64) -> String {
    scene.now = BEGIN + SignedDuration::from_millis(milliseconds);
    scene.msg(Msg::Tick);
    scene.screen()
}

#[test]
fn a_slow_request_counts_seconds_up_to_its_limit() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    hang(&mut scene);
    for (milliseconds, said) in [
        (300, "/ read acme-eu  Esc cancels"),
        (1_000, "- read acme-eu 1s  Esc cancels"),
        (4_000, "/ read acme-eu 4s  Esc cancels"),
        (5_000, "- read acme-eu 5s of 30s  Esc cancels"),
        (12_000, "/ read acme-eu 12s of 30s  Esc cancels"),
    ] {
        let before = screen_at(&mut scene, milliseconds - 1);
        assert!(!before.contains(said), "{milliseconds}:\n{before}");
        let due = scene.app.wake_at().expect("it counts");
        assert_eq!(due, BEGIN + SignedDuration::from_millis(milliseconds));
        let screen = screen_at(&mut scene, milliseconds);
        assert!(screen.contains(said), "{said}:\n{screen}");
        let place = screen.lines().next().expect("line 1");
        assert_has(place, said.split("  ").next().expect("a word"));
    }
    let (ticket, profile, job) = scene.pending.remove(0);
    scene.msg(Msg::Exchanged(
        sent(ticket, &job)
            .map(|ended| RecordedExchange { number: 1, ..ended })
            .into_iter()
            .collect(),
    ));
    scene.msg(Msg::Done(ticket, canned_outcome(profile, &job)));
    assert!(!scene.screen().contains("read acme-eu"));
    assert_eq!(
        scene.app.wake_at(),
        None,
        "an idle console wakes for nothing"
    );
}

#[test]
fn the_first_esc_cancels_a_read_that_is_shown_as_waiting() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    hang(&mut scene);
    let (ticket, ..) = scene.pending[0].clone();
    screen_at(&mut scene, 2_000);
    assert_eq!(scene.keys("<esc>"), [Effect::Cancel(ticket)]);
    assert_eq!(scene.focus(), "Group");
    scene
        .says("Cancelled: read acme-eu")
        .shows("Name of acme-eu");
    assert_eq!(scene.app.context.messages.unread(), (0, 0));
    let before = scene.screen();
    scene.msg(Msg::Done(
        ticket,
        canned_outcome(
            ProfileIndex(TESTING),
            &Job::LookUp(crate::support::world::id("acme-eu")),
        ),
    ));
    assert_eq!(scene.screen(), before, "a late answer means nothing");
    scene.keys("P<down><enter>");
    scene.shows("PRODUCTION");
}

#[test]
fn esc_leaves_a_rotation_without_stopping_it() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.keys("acme-eu<enter>");
    hang(&mut scene);
    let screen = screen_at(&mut scene, 12_000);
    assert!(screen.contains("rotate acme-eu 12s of 30s"), "{screen}");
    assert_has(&screen, "Esc leaves, the request continues");
    let effects = scene.keys("<esc>");
    assert!(
        !effects
            .iter()
            .any(|effect| matches!(effect, Effect::Cancel(_))),
        "{effects:?}"
    );
    assert_eq!((scene.focus().as_str(), scene.writes().len()), ("List", 1));
    scene.shows("rotate acme-eu 12s of 30s").says("continues");
    assert!(!scene.screen().contains("Esc "), "{}", scene.screen());
}

#[test]
fn esc_cancels_a_rotation_that_is_not_sent_yet_and_a_second_one_leaves() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.keys("acme-eu<enter>");
    let (rotation, ..) = scene.pending[0].clone();
    let read = Job::LookUp(crate::support::world::id("acme-eu"));
    let begins = RecordedExchange {
        number: 1,
        kind: ExchangeKind::InFlight,
        ..sent(rotation, &read).expect("it sends")
    };
    scene.msg(Msg::Exchanged(vec![begins]));
    let screen = screen_at(&mut scene, 12_000);
    assert_has(&screen, "Esc cancels, nothing is sent yet");
    assert_eq!(scene.keys("<esc>"), [Effect::CancelChange(rotation)]);
    scene.shows("being cancelled");
    assert_eq!(scene.writes().len(), 1, "the job tells how it ended");
    scene.keys("<esc>");
    assert_eq!(scene.focus(), "List");
}

#[test]
fn a_rotation_shows_its_requests_however_many_others_are_sent() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.keys("acme-eu<enter>");
    let (rotation, _, job) = scene.pending[0].clone();
    let read = Job::LookUp(crate::support::world::id("acme-eu"));
    let exchange = |number, job: &Job, sort| RecordedExchange {
        number,
        kind: sort,
        ..sent(rotation, job).expect("it sends")
    };
    let others = || {
        let one = sent(Ticket(900), &read).expect("it sends");
        let many = (0..KEPT as u64 + 50).map(|at| RecordedExchange {
            number: 100 + at,
            ..one.clone()
        });
        Msg::Exchanged(many.collect())
    };
    scene.shows("Rotating: nothing is sent yet.");
    scene.msg(Msg::Exchanged(vec![
        exchange(1, &read, ExchangeKind::Done),
        exchange(2, &job, ExchangeKind::InFlight),
    ]));
    scene.msg(others());
    let screen = screen_at(&mut scene, 12_000);
    for step in [
        "Rotating: one request sent.",
        "+  1  Read the group                    done 0.0s",
        "2  Send one rotate request           sending 12s of 30s",
        "·  3  Read the group back",
        "Esc leaves, the request continues",
    ] {
        assert!(screen.contains(step), "{step}\n{screen}");
    }
    let body = screen.lines().skip(2).filter(|line| line.contains("12s"));
    assert_eq!(
        body.count(),
        1,
        "seconds stand at their step only\n{screen}"
    );
    // Abandoned because the console quits: it may have taken effect.
    scene.msg(Msg::Exchanged(vec![
        exchange(2, &job, ExchangeKind::GivenUp),
        exchange(3, &read, ExchangeKind::Refused),
    ]));
    scene.msg(others());
    scene.answer_with(failed(
        "UNKNOWN whether the token was rotated",
        Some(Ending::Unknown),
    ));
    scene
        .shows("+  1  Read the group                    done 0.0s")
        .shows("?  2  Send one rotate request           UNKNOWN")
        .shows("x  3  Read the group back               refused");
}

#[test]
fn a_rotation_whose_answer_takes_long_to_be_recorded_says_so() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.keys("acme-eu<enter>");
    let (_, _, job) = scene.pending[0].clone();
    let answered = RecordedExchange {
        number: 2,
        kind: ExchangeKind::Done,
        ..sent(scene.pending[0].0, &job).expect("it sends")
    };
    scene.msg(Msg::Exchanged(vec![answered]));
    let screen = screen_at(&mut scene, 1_000);
    assert!(!screen.contains("recorded"), "{screen}");
    let screen = screen_at(&mut scene, 12_000);
    let wanted = "+  2  Send one rotate request           done 0.0s; being recorded, 12s";
    assert!(screen.contains(wanted), "{screen}");
    scene.answer_with(failed("the directory went away", Some(Ending::Unknown)));
    assert!(!scene.screen().contains("recorded"), "{}", scene.screen());
}

#[test]
fn a_read_is_cancelled_among_the_requests_and_a_rotation_is_not() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc><down><enter>");
    hang(&mut scene);
    let screen = screen_at(&mut scene, 3_000);
    assert!(screen.contains("2 running, longest 3s"), "{screen}");
    scene.keys("4");
    scene.shows("2 running").shows("waiting").shows("3s/30s");
    let read = scene
        .pending
        .iter()
        .find(|(.., job)| matches!(job, Job::LookUp(_)));
    let read = read.expect("hangs").0;
    let (mut cancelled, mut refused) = (Vec::new(), 0);
    for _ in 0..2 {
        cancelled.extend(scene.keys("X"));
        refused += usize::from(scene.footer().contains("nothing to cancel"));
        scene.later(1).keys("<down>");
    }
    assert_eq!(cancelled, [Effect::Cancel(read)]);
    assert_eq!((refused, scene.writes().len()), (1, 1));
    scene.keys("<esc>");
    assert_eq!(scene.focus(), "Group");
    scene.shows("Cancelled: read globex");
}

#[test]
fn failed_requests_are_found_by_a_key_and_others_by_words() {
    let mut scene = Scene::on(TESTING);
    scene.walk("<enter><esc><down><enter><esc>4");
    scene.shows("acme-eu").shows("globex");
    scene.walk("/globex<enter>").shows("globex");
    assert!(!scene.screen().contains("acme-eu"), "{}", scene.screen());
    scene
        .walk("<esc>f")
        .shows("No such request")
        .shows("failed only")
        .shows("f all");
}

#[test]
fn words_typed_for_a_page_that_was_refused_do_nothing() {
    let mut scene = Scene::on(TESTING);
    scene.keys("T");
    assert!(
        scene.footer().starts_with("! Not available: "),
        "{}",
        scene.footer()
    );
    let before = scene.screen();
    for letter in "rotate 3 in eu-live".chars() {
        scene.now += SignedDuration::from_millis(50);
        assert_eq!(scene.keys(&letter.to_string()), [], "{letter}");
    }
    scene.now += SignedDuration::from_millis(50);
    assert_eq!(scene.keys("<enter>"), []);
    assert_eq!(scene.focus(), "List");
    scene.says("The 20 keys after it did nothing");
    let body = |screen: &str| {
        screen
            .lines()
            .take(22)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(body(&scene.screen())[..20], body(&before)[..20]);
    scene.now += SignedDuration::from_millis(300);
    scene.keys("o");
    assert_eq!(scene.focus(), "Open", "after a pause keys act again");
}

#[test]
fn keys_after_a_refused_lower_case_key_still_act() {
    let mut scene = Scene::on(super::scene::READ_ONLY);
    scene.keys("eo");
    assert_eq!(scene.focus(), "Open");
}

#[test]
fn esc_does_not_cancel_the_read_that_confirms_a_rotation() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.keys("acme-eu<enter>");
    scene.answer_with(rotated(group("acme-eu", 9)));
    hang(&mut scene);
    let screen = screen_at(&mut scene, 12_000);
    assert!(screen.contains("confirm acme-eu 12s"), "{screen}");
    assert!(!screen.contains("Esc cancels"), "{screen}");
    let effects = scene.keys("<esc>");
    let gives_up = |effect: &Effect| matches!(effect, Effect::Cancel(_));
    assert!(!effects.iter().any(gives_up), "{effects:?}");
    assert!(matches!(scene.writes()[..], [Job::Confirm(_)]));
}

#[test]
fn keys_typed_before_a_check_has_its_result_do_nothing() {
    let mut scene = Scene::on(TESTING);
    scene.keys("*T");
    let planning = scene.screen();
    assert_eq!(scene.keys("o2 :rt"), []);
    scene.says("Still checking");
    assert!(planning.contains("Bulk rotation"), "{planning}");
    assert_eq!(scene.focus(), "BulkCheck");
    scene.answer();
    assert_eq!(scene.focus(), "BulkTyped");
    assert!(!scene.screen().contains("o2"), "{}", scene.screen());
}
