//! Requests in flight are shown once they take time. Esc cancels a read and nothing else.

use super::prelude::*;

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
    let (ticket, _, job) = scene.pending[0].clone();
    let ended = RecordedExchange {
        number: 1,
        ..sent(ticket, &job).expect("it sends")
    };
    scene.msg(Msg::Exchanged(vec![ended]));
    scene.answer_oldest();
    scene.hides("read acme-eu");
    // An idle console wakes for nothing.
    assert_eq!(scene.app.wake_at(), None);
}

#[test]
fn the_first_esc_cancels_a_read_that_is_shown_as_waiting() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    hang(&mut scene);
    let (ticket, ..) = scene.pending[0].clone();
    screen_at(&mut scene, 2_000);
    assert_eq!(scene.keys("<esc>"), [Effect::Cancel(ticket)]);
    scene
        .at("Group")
        .says("Cancelled: read acme-eu")
        .shows("Name of acme-eu");
    assert_eq!(scene.app.context.messages.unread(), (0, 0));
    // A late answer means nothing.
    let before = scene.screen();
    scene.msg(Msg::Done(ticket, done(Ending::Found, group("late", 5))));
    scene.msg(Msg::JobPanicked(ticket));
    assert_eq!(scene.screen(), before);
    scene.keys("P<down><enter>");
    scene.shows("PRODUCTION");
}

/// A rotation in production, whose job has begun.
fn rotating() -> (Scene, Ticket, Job) {
    let mut scene = Scene::walked(PRODUCTION, "tT");
    scene.keys("acme-eu<enter>");
    let (ticket, _, job) = scene.pending[0].clone();
    (scene, ticket, job)
}

fn cancels(effects: &[Effect]) -> bool {
    let cancels = |effect: &Effect| matches!(effect, Effect::Cancel(_));
    effects.iter().any(cancels)
}

fn read() -> Job {
    Job::LookUp(id("acme-eu"))
}

/// A request of this job, as it stands.
fn exchange(ticket: Ticket, number: u64, job: &Job, kind: ExchangeKind) -> RecordedExchange {
    RecordedExchange {
        number,
        kind,
        ..sent(ticket, job).expect("it sends")
    }
}

#[test]
fn esc_leaves_a_rotation_without_stopping_it() {
    let (mut scene, ..) = rotating();
    hang(&mut scene);
    let screen = screen_at(&mut scene, 12_000);
    assert!(screen.contains("rotate acme-eu 12s of 30s"), "{screen}");
    assert_has(&screen, "Esc leaves, the request continues");
    assert!(!cancels(&scene.keys("<esc>")));
    assert_eq!(scene.writes().len(), 1);
    scene
        .at("List")
        .shows("rotate acme-eu 12s of 30s")
        .says("continues")
        .hides("Esc ");
}

#[test]
fn esc_cancels_a_rotation_that_is_not_sent_yet_and_a_second_one_leaves() {
    let (mut scene, rotation, _) = rotating();
    let begins = exchange(rotation, 1, &read(), ExchangeKind::InFlight);
    scene.msg(Msg::Exchanged(vec![begins]));
    let screen = screen_at(&mut scene, 12_000);
    assert_has(&screen, "Esc cancels, nothing is sent yet");
    scene.hides("Leaving this page does not stop it");
    assert_eq!(scene.keys("<esc>"), [Effect::CancelChange(rotation)]);
    scene.shows("being cancelled");
    assert_eq!(scene.writes().len(), 1, "the job tells how it ended");
    scene.keys("<esc>");
    scene.at("List");
    // Nothing was sent, so the page does not sound as if it were unknown which token is current.
    let (mut scene, ..) = rotating();
    let not_sent = "NOT rotated: it was cancelled before the change was sent";
    scene.answer_with(failed(not_sent, None));
    scene.shows(not_sent).hides("only that shows");
}

#[test]
fn a_rotation_shows_its_requests_however_many_others_are_sent() {
    let (mut scene, rotation, job) = rotating();
    let of_it = |number, job: &Job, kind| exchange(rotation, number, job, kind);
    let others = || {
        let numbers = 100..KEPT as u64 + 150;
        let other = |number| exchange(Ticket(900), number, &read(), ExchangeKind::Done);
        Msg::Exchanged(numbers.map(other).collect())
    };
    scene.shows("Rotating: nothing is sent yet.");
    scene.msg(Msg::Exchanged(vec![
        of_it(1, &read(), ExchangeKind::Done),
        of_it(2, &job, ExchangeKind::InFlight),
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
    // Seconds stand at their step only.
    let body = screen.lines().skip(2).filter(|line| line.contains("12s"));
    assert_eq!(body.count(), 1, "{screen}");
    // Abandoned because the console quits: it may have taken effect.
    scene.msg(Msg::Exchanged(vec![
        of_it(2, &job, ExchangeKind::GivenUp),
        of_it(3, &read(), ExchangeKind::Refused),
    ]));
    scene.msg(others());
    let unknown = "UNKNOWN whether the token was rotated";
    scene.answer_with(failed(unknown, Some(Ending::Unknown)));
    scene.shows_all([
        "+  1  Read the group                    done 0.0s",
        "?  2  Send one rotate request           UNKNOWN",
        "x  3  Read the group back               refused",
    ]);
}

#[test]
fn a_rotation_whose_answer_takes_long_to_be_recorded_says_so() {
    let (mut scene, rotation, job) = rotating();
    let answered = exchange(rotation, 2, &job, ExchangeKind::Done);
    scene.msg(Msg::Exchanged(vec![answered]));
    let screen = screen_at(&mut scene, 1_000);
    assert!(!screen.contains("recorded"), "{screen}");
    let screen = screen_at(&mut scene, 12_000);
    let wanted = "+  2  Send one rotate request           done 0.0s; being recorded, 12s";
    assert!(screen.contains(wanted), "{screen}");
    scene.answer_with(failed("the directory went away", Some(Ending::Unknown)));
    scene.hides("recorded");
}

#[test]
fn a_read_is_cancelled_among_the_requests_and_a_rotation_is_not() {
    let mut scene = Scene::walked(TESTING, "tT");
    scene.keys("y<esc><down><enter>");
    hang(&mut scene);
    let screen = screen_at(&mut scene, 3_000);
    assert!(screen.contains("2 running, longest 3s"), "{screen}");
    scene.keys("4");
    scene.shows_all(["2 running", "waiting", "3s/30s"]);
    let is_read = |(.., job): &&(_, _, Job)| matches!(job, Job::LookUp(_));
    let read = scene.pending.iter().find(is_read).expect("hangs").0;
    let (mut cancelled, mut refused) = (Vec::new(), 0);
    for _ in 0..2 {
        cancelled.extend(scene.keys("X"));
        refused += usize::from(scene.footer().contains("nothing to cancel"));
        scene.later(1).keys("<down>");
    }
    assert_eq!(cancelled, [Effect::Cancel(read)]);
    assert_eq!((refused, scene.writes().len()), (1, 1));
    scene.keys("<esc>");
    scene.at("Group").shows("Cancelled: read globex");
}

/// Line 1 at this time.
fn line_1_at(scene: &mut Scene, milliseconds: i64) -> String {
    let screen = screen_at(scene, milliseconds);
    screen.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_paused_batch_stands_still_and_in_another_profile_a_batch_has_the_name_of_its_own() {
    let (mut scene, ticket) = half_way();
    scene.msg(Msg::Resize(120, 24));
    assert_has(&line_1_at(&mut scene, 5_000), "- rotate 2 groups 5s");
    scene.keys("p");
    let paused = line_1_at(&mut scene, 6_000);
    assert!(paused.ends_with("  rotate 2 groups paused"), "{paused}");
    assert_eq!(line_1_at(&mut scene, 7_000), paused);
    assert_eq!(scene.app.context.in_flight_due(), None);
    scene.keys("<esc>P<down><enter>");
    while scene.pending.len() > 1 {
        let (ticket, profile, job) = scene.pending.remove(1);
        scene.msg(Msg::Done(ticket, canned_outcome(profile, &job)));
    }
    let paused = line_1_at(&mut scene, 8_000);
    assert_has(&paused, "PRODUCTION");
    let text = "  testing: rotate 2 groups paused";
    assert!(paused.ends_with(text), "{paused}");
    scene.app.context.steer(RunCommand::Go);
    let line = line_1_at(&mut scene, 9_000);
    assert_has(&line, "- testing: rotate 2 groups 9s");
    let begins = |number| exchange(ticket, number, &read(), ExchangeKind::InFlight);
    scene.msg(Msg::Exchanged(vec![begins(1), begins(2)]));
    let line = line_1_at(&mut scene, 10_000);
    assert_has(&line, "- testing: 2 running, longest 1s");
    // What has started is finished after a pause, and takes time.
    scene.app.context.steer(RunCommand::Pause);
    let line = line_1_at(&mut scene, 11_000);
    assert_has(&line, "testing: 2 running, longest 2s");
}

#[test]
fn words_typed_for_a_page_that_was_refused_do_nothing() {
    let mut scene = Scene::on(TESTING);
    scene.keys("T");
    scene.says("Not available: ");
    let before = scene.screen();
    for letter in "rotate 3 in eu-live".chars() {
        scene.now += SignedDuration::from_millis(50);
        assert_eq!(scene.keys(&letter.to_string()), [], "{letter}");
    }
    scene.now += SignedDuration::from_millis(50);
    assert_eq!(scene.keys("<enter>"), []);
    scene.at("List").says("The 20 keys after it did nothing");
    let now = scene.screen();
    assert!(now.lines().take(20).eq(before.lines().take(20)), "{now}");
    // After a pause keys act again.
    scene.now += SignedDuration::from_millis(300);
    scene.keys("o");
    scene.at("Open");
    // And so do keys after a refused small letter.
    let mut scene = Scene::on(READ_ONLY);
    scene.keys("eo");
    scene.at("Open");
}

#[test]
fn esc_does_not_cancel_the_read_that_confirms_a_rotation() {
    let (mut scene, ..) = rotating();
    scene.answer_with(rotated(group("acme-eu", 9)));
    hang(&mut scene);
    let screen = screen_at(&mut scene, 12_000);
    assert!(screen.contains("confirm acme-eu 12s"), "{screen}");
    assert!(!screen.contains("Esc cancels"), "{screen}");
    assert!(!cancels(&scene.keys("<esc>")));
    assert!(matches!(scene.writes()[..], [Job::Confirm(_)]));
}

#[test]
fn keys_typed_before_a_check_has_its_result_do_nothing() {
    let mut scene = Scene::on(TESTING);
    scene.keys("*T");
    let planning = scene.screen();
    assert_eq!(scene.keys("o2 :rt"), []);
    scene.at("BulkCheck").says("Still checking");
    assert!(planning.contains("Bulk rotation"), "{planning}");
    scene.answer();
    scene.at("BulkTyped").hides("o2");
}

#[test]
fn the_footer_says_that_esc_cancels() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    hang(&mut scene);
    assert!(screen_at(&mut scene, 100).contains("Esc back"));
    assert!(screen_at(&mut scene, 1_000).contains("Esc cancel "));
}
