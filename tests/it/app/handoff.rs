//! The hand-off in the console runs once, after the read-back. One that failed or waits stays visible and can be run
//! again.

use groupdesk::domain::known::LastRotated;

use super::{
    prelude::*,
    scene::{but, handed_off},
};

fn scene() -> Scene {
    let mut scene = Scene::on(TESTING);
    for profile in &mut scene.app.context.profiles {
        profile.handoff = Some(HandOffCommand {
            command: vec!["/usr/local/bin/put-token".into(), "secret-argument".into()],
            timeout: Duration::from_secs(30),
        });
    }
    scene.app.context.size = (80, 30);
    scene
}

/// Up to the rotation, whose answer is pending.
fn rotating() -> Scene {
    let mut scene = scene();
    scene.walk("tT").keys("y");
    scene
}

fn confirmed(scene: &mut Scene) {
    scene.answer_with(rotated(group("acme-eu", 9)));
    let confirmed = but(rotated(group("acme-eu", 9)), |done| {
        done.ending = Ending::Confirmed;
    });
    scene.answer_with(confirmed);
}

fn run(state: HandOffState, exit: i32, note: Option<&str>) -> Outcome {
    handed_off("acme-eu", state, Some(exit), note)
}

#[test]
fn the_check_says_where_the_token_goes() {
    scene()
        .walk("tT")
        .shows("4  Hand the new token to /usr/local/bin/put-token")
        .hides("secret-argument");
    Scene::walked(TESTING, "tT").shows("The new token is not sent anywhere");
    let mut without = Scene::walked(TESTING, "tTy");
    without.hides("hand-off ");
    without.keys("h");
    without.says("has no handoff");
}

#[test]
fn a_guard_against_handing_off_is_told_before_and_after_the_rotation() {
    let mut scene = scene();
    scene
        .guard(Operation::HandOff, Rule::Forbid)
        .walk("tT")
        .shows("4  The new token waits: handoff is forbidden: two people look");
    scene.keys("y");
    confirmed(&mut scene);
    scene.answer_with(handed_off("acme-eu", HandOffState::Pending, None, None));
    scene
        .shows("WAITS  handoff is forbidden: two people look")
        .hides("runs it")
        .hides("put-token");
}

#[test]
fn the_hand_off_follows_the_read_back_and_is_shown() {
    let mut scene = rotating();
    scene.answer_with(rotated(group("acme-eu", 9)));
    scene.shows("after the token is read back");
    assert!(matches!(scene.jobs()[..], [Job::Confirm(_)]));
    let mut scene = rotating();
    confirmed(&mut scene);
    assert!(matches!(scene.jobs()[..], [Job::HandOff(_)]));
    scene.shows("running");
    assert_eq!(scene.keys("h"), [], "it runs already");
    scene.says("is running");
    scene.answer_with(run(HandOffState::Done, 0, Some("stored")));
    scene.shows_all(["done (exit 0)", "stored", "Delivered."]);
    assert!(scene.pending.is_empty());
}

#[test]
fn a_failed_hand_off_says_so_and_h_runs_it_again() {
    let mut scene = rotating();
    confirmed(&mut scene);
    scene.answer_with(run(HandOffState::Failed, 3, Some("no place")));
    scene
        .shows_all(["FAILED (exit 3)", "no place", "h runs it again"])
        .says("HAND-OFF FAILED (exit 3): no place");
    let again = Job::HandOffAgain(RotationId(7), id("acme-eu"));
    assert_eq!(scene.started("h"), again);
    let text = "not handed off: the service still has the old token";
    let Outcome::Failed(trouble) = failed(text, None) else {
        panic!("it fails");
    };
    scene.answer_with(Outcome::NotHandedOff(trouble));
    scene.shows_all(["NOT RUN", "still has the old token"]);
    let alarm = Failure::HandOffAlarm(Warning::WrongTag {
        expected: EnvironmentTag::Testing,
        got: EnvironmentTag::Customer,
    });
    scene.open("h", Outcome::NotHandedOff(alarm.into()));
    scene.shows_all(["NOT RUN", "! WRONG ENVIRONMENT"]);
    scene.open("h", run(HandOffState::Done, 0, None));
    scene.shows("done (exit 0)");
}

#[test]
fn a_rotation_whose_page_was_left_is_still_handed_off() {
    for leave in ["<esc>", "<esc>P<down><enter>"] {
        let mut scene = rotating();
        scene.keys(leave);
        scene.pending.retain(|(.., job)| job.is_write());
        scene.answer_with(rotated(group("acme-eu", 9)));
        assert!(matches!(scene.jobs()[..], [Job::Confirm(_)]), "{leave}");
        scene.answer_with(but(rotated(group("acme-eu", 9)), |done| {
            let why = "gone".into();
            done.warnings.push(Warning::NotReadBack { why });
        }));
        assert!(matches!(scene.jobs()[..], [Job::HandOff(_)]), "{leave}");
        assert_eq!(scene.pending[0].1, ProfileIndex(TESTING));
        scene.answer_with(run(HandOffState::Failed, 1, None));
        scene.says("HAND-OFF FAILED");
        assert!(scene.pending.is_empty(), "no new read");
    }
}

#[test]
fn quitting_waits_for_the_hand_off() {
    let mut scene = rotating();
    confirmed(&mut scene);
    scene.keys("<ctrl-c><ctrl-c>");
    scene.write();
    scene.says("Waiting: hand off acme-eu");
}

#[test]
fn a_hand_off_waiting_since_a_crash_is_shown_and_run_from_its_group() {
    let mut scene = scene();
    scene.walk("t").keys("h");
    scene.says("no new token waits");
    scene.walk("<esc>");
    let waiting = &mut scene.app.context.to_hand_off;
    waiting.insert(id("acme-eu"), RotationId(7));
    scene.walk("t");
    scene.shows_all(["WAITS", "h hands this token off"]);
    scene.open("h", run(HandOffState::Done, 0, None));
    scene.shows("done (exit 0)");
    assert!(scene.app.context.to_hand_off.is_empty());
}

#[test]
fn an_open_rotation_and_a_draft_are_shown_with_the_group() {
    for (state, told) in [
        (State::Sent, "? sent: in progress; do not rotate"),
        (State::Rotated, "? rotated: a read confirms it"),
        (State::Unknown, "? unknown: only a read shows the result"),
    ] {
        let mut scene = scene();
        scene.app.context.note_open([(id("acme-eu"), state)]);
        scene.shows(told);
    }
    let mut scene = scene();
    scene.walk("e<end> 2<esc>");
    scene.shows("your changes, not sent");
}

#[test]
fn old_tokens_are_marked_and_found_by_age() {
    let mut scene = Scene::on(TESTING);
    scene.app.context.profiles[0].max_token_age = Some(Duration::from_hours(24 * 90));
    let now = scene.now;
    let mut groups = vec![group("acme-eu", 1), group("globex", 2), group("initech", 3)];
    for (at, days) in [(0, 402), (1, 3)] {
        groups[at].last_rotated = Some(LastRotated {
            at: now - jiff::SignedDuration::from_hours(24 * days),
            by: None,
        });
    }
    scene.open("r", list_of(groups));
    scene.shows_all(["402d !!", "3d ", "402d, 312d over the limit"]);
    for (filter, count) in [
        ("age>90d", "1 of 3"),
        ("age<7d", "1 of 3"),
        ("age>1h", "2 of 3"),
    ] {
        scene.walk("<esc>/").walk(filter).shows(count);
    }
}

#[test]
fn a_saved_file_is_named_only_while_the_page_has_its_token() {
    let mut scene = Scene::walked(TESTING, "tT");
    scene.keys("y");
    scene.answer_canned(|job| matches!(job, Job::Rotate { .. }));
    scene.keys("w<enter>");
    scene.answer_canned(|job| matches!(job, Job::WriteToken(..)));
    scene.shows("Saved to");
    let theirs = done(Ending::Superseded, group("acme-eu", 10));
    scene.answer_to(|job| matches!(job, Job::Confirm(_)), theirs);
    scene
        .shows("rotated again by someone else")
        .hides("Saved to");
}

#[test]
fn a_withheld_token_is_not_offered_to_be_copied() {
    let mut scene = Scene::walked(TESTING, "tT");
    let alarmed = but(rotated(group("acme-eu", 9)), |done| {
        done.warnings.push(Warning::CreatedByGet);
    });
    scene
        .open("y", alarmed)
        .shows("withheld")
        .shows("Leave this page, check the group, then t reads it again.")
        .hides("copies it")
        .hides("then read it again");
}
