//! The hand-off in the console runs once, after the read-back. One that failed or waits stays visible and can be run
//! again.

use std::time::Duration;

use groupdesk::{
    config::{
        HandOffCommand,
        guard::{Guard, Operation, Rule},
    },
    domain::{group::EnvironmentTag, handoff::HandOffState, history::Ending},
    operations::{Failure, Warning},
    tui::state::message::{Job, Msg, Outcome, ProfileIndex},
};

use super::scene::{
    READ_ONLY, Scene, TESTING, canned_outcome, done, failed, group, handed_off, rotated,
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
    scene.walk("tT");
    scene.keys("y");
    scene
}

fn confirmed(scene: &mut Scene) {
    scene.answer_with(rotated(group("acme-eu", 9)));
    let Outcome::Done(mut confirmed) = rotated(group("acme-eu", 9)) else {
        unreachable!("it makes Done");
    };
    confirmed.ending = Ending::Confirmed;
    scene.answer_with(Outcome::Done(confirmed));
}

fn jobs(scene: &Scene) -> Vec<&Job> {
    scene.pending.iter().map(|(_, _, job)| job).collect()
}

#[test]
fn the_check_says_where_the_token_goes() {
    let mut with = scene();
    with.walk("tT")
        .shows("4  Hand the new token to /usr/local/bin/put-token");
    assert!(!with.screen().contains("secret-argument"));
    let mut without = Scene::on(TESTING);
    without
        .walk("tT")
        .shows("The new token is not sent anywhere");
}

#[test]
fn a_guard_against_handing_off_is_told_before_and_after_the_rotation() {
    let mut scene = scene();
    scene.app.context.profiles[TESTING].guards = vec![Guard {
        operation: Operation::HandOff,
        rule: Rule::Forbid,
        reason: "not on Fridays".into(),
    }];
    scene
        .walk("tT")
        .shows("4  The new token waits: handoff is forbidden: not on Fridays");
    scene.keys("y");
    confirmed(&mut scene);
    scene.answer_with(handed_off("acme-eu", HandOffState::Pending, None, None));
    scene.shows("WAITS  handoff is forbidden: not on Fridays");
    assert!(!scene.screen().contains("runs it"), "{}", scene.screen());
    assert!(!scene.screen().contains("put-token"), "{}", scene.screen());
}

#[test]
fn the_hand_off_follows_the_read_back_and_is_shown() {
    let mut scene = rotating();
    scene.answer_with(rotated(group("acme-eu", 9)));
    scene.shows("after it is read back");
    assert!(matches!(jobs(&scene)[..], [Job::Confirm(_)]));
    let mut scene = rotating();
    confirmed(&mut scene);
    assert!(matches!(jobs(&scene)[..], [Job::HandOff(_)]));
    scene.shows("running");
    assert_eq!(scene.keys("h"), [], "it runs already");
    scene.says("is running");
    scene.answer_with(handed_off(
        "acme-eu",
        HandOffState::Done,
        Some(0),
        Some("stored"),
    ));
    scene
        .shows("done (exit 0)")
        .shows("stored")
        .shows("Delivered.");
    assert!(scene.pending.is_empty());
}

#[test]
fn a_failed_hand_off_says_so_and_h_runs_it_again() {
    let mut scene = rotating();
    confirmed(&mut scene);
    scene.answer_with(handed_off(
        "acme-eu",
        HandOffState::Failed,
        Some(3),
        Some("no place"),
    ));
    scene
        .shows("FAILED (exit 3)")
        .shows("no place")
        .shows("h runs it again");
    assert!(
        scene
            .footer()
            .contains("HAND-OFF FAILED (exit 3): no place")
    );
    scene.keys("h");
    assert!(matches!(jobs(&scene)[..], [Job::HandOffAgain(..)]));
    let trouble = match failed("not handed off: the service still has the old token", None) {
        Outcome::Failed(trouble) => trouble,
        other => panic!("{other:?}"),
    };
    scene.answer_with(Outcome::NotHandedOff(trouble));
    scene.shows("NOT RUN").shows("still has the old token");
    scene.keys("h");
    let alarm = Failure::HandOffAlarm(Warning::WrongTag {
        expected: EnvironmentTag::Testing,
        got: EnvironmentTag::Customer,
    });
    scene.answer_with(Outcome::NotHandedOff(alarm.into()));
    scene.shows("NOT RUN").shows("! WRONG ENVIRONMENT");
    scene.keys("h");
    scene.answer_with(handed_off("acme-eu", HandOffState::Done, Some(0), None));
    scene.shows("done (exit 0)");
}

#[test]
fn a_rotation_whose_page_was_left_is_still_handed_off() {
    for leave in ["<esc>", "<esc>P<down><enter>"] {
        let mut scene = rotating();
        scene.keys(leave);
        let reads = |job: &Job| {
            matches!(
                job,
                Job::List | Job::OpenRotations | Job::PendingHandOffs | Job::Batches | Job::Drafts
            )
        };
        scene.pending.retain(|(_, _, job)| !reads(job));
        scene.answer_with(rotated(group("acme-eu", 9)));
        assert!(matches!(jobs(&scene)[..], [Job::Confirm(_)]), "{leave}");
        let Outcome::Done(mut unread) = rotated(group("acme-eu", 9)) else {
            unreachable!("it makes Done");
        };
        unread
            .warnings
            .push(Warning::NotReadBack { why: "gone".into() });
        scene.answer_with(Outcome::Done(unread));
        assert!(matches!(jobs(&scene)[..], [Job::HandOff(_)]), "{leave}");
        assert_eq!(scene.pending[0].1, ProfileIndex(TESTING));
        scene.answer_with(handed_off("acme-eu", HandOffState::Failed, Some(1), None));
        scene.says("HAND-OFF FAILED");
        assert!(scene.pending.is_empty(), "no new read");
    }
}

#[test]
fn quitting_waits_for_the_hand_off() {
    let mut scene = rotating();
    confirmed(&mut scene);
    scene.keys("<ctrl-c><ctrl-c>");
    assert_eq!(scene.writes().len(), 1);
    scene.says("Waiting: hand off acme-eu");
}

#[test]
fn a_hand_off_waiting_since_a_crash_is_shown_and_run_from_its_group() {
    let mut scene = scene();
    scene.walk("t");
    scene.keys("h");
    scene.says("no new token waits");
    scene.walk("<esc>");
    let waiting = groupdesk::operations::RotationId(7);
    scene
        .app
        .context
        .to_hand_off
        .insert(crate::support::world::id("acme-eu"), waiting);
    scene.walk("t");
    scene.shows("WAITS").shows("h hands this token off");
    scene.keys("h");
    assert!(matches!(jobs(&scene)[..], [Job::HandOffAgain(..)]));
    scene.answer_with(handed_off("acme-eu", HandOffState::Done, Some(0), None));
    scene.shows("done (exit 0)");
    assert!(scene.app.context.to_hand_off.is_empty());
}

#[test]
fn a_profile_without_hand_off_does_not_mention_one() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tTy");
    assert!(!scene.screen().contains("hand-off "), "{}", scene.screen());
    scene.keys("h");
    scene.says("has no handoff");
    let mut guarded = Scene::on(READ_ONLY);
    guarded.walk("t");
    assert_eq!(guarded.keys("h"), []);
}

#[test]
fn old_tokens_are_marked_and_found_by_age() {
    let mut scene = Scene::on(TESTING);
    scene.app.context.profiles[0].max_token_age = Some(Duration::from_hours(24 * 90));
    let now = scene.now;
    let mut groups = vec![group("acme-eu", 1), group("globex", 2), group("initech", 3)];
    for (at, days) in [(0, 402), (1, 3)] {
        groups[at].last_rotated = Some(groupdesk::domain::known::LastRotated {
            at: now - jiff::SignedDuration::from_hours(24 * days),
            by: None,
        });
    }
    scene.keys("r");
    scene.answer_with(Outcome::listed(groups));
    scene
        .shows("402d !!")
        .shows("3d ")
        .shows("402d, 312d over the limit");
    scene.walk("/age>90d");
    scene.shows("1 of 3").shows("acme-eu");
    for (filter, count) in [
        ("age<7d", "1 of 3"),
        ("age>1h", "2 of 3"),
        ("age>1h globex", "1 of 3"),
    ] {
        scene.walk("<esc>/").walk(filter);
        scene.shows(count);
    }
    scene.walk("<esc>/age>");
    scene.shows("3 of 3").shows("age>: write an age as 90d");
}

#[test]
fn a_saved_file_is_named_only_while_the_page_has_its_token() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y");
    let next = |scene: &mut Scene, is_it: fn(&Job) -> bool, outcome: Option<Outcome>| {
        let at = scene.pending.iter().position(|(.., job)| is_it(job));
        let (ticket, profile, job) = scene.pending.remove(at.expect("asked"));
        let outcome = outcome.unwrap_or_else(|| canned_outcome(profile, &job));
        scene.msg(Msg::Done(ticket, outcome));
    };
    next(&mut scene, |job| matches!(job, Job::Rotate { .. }), None);
    scene.keys("w<enter>");
    next(&mut scene, |job| matches!(job, Job::WriteToken(..)), None);
    scene.shows("Saved to");
    let theirs = done(Ending::Superseded, group("acme-eu", 10));
    next(
        &mut scene,
        |job| matches!(job, Job::Confirm(_)),
        Some(theirs),
    );
    scene
        .shows("someone rotated again after this")
        .hides("Saved to");
}

#[test]
fn a_withheld_token_is_not_offered_to_be_copied() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y");
    let Outcome::Done(mut alarmed) = rotated(group("acme-eu", 9)) else {
        panic!("a result");
    };
    alarmed.warnings.push(Warning::CreatedByGet);
    scene.answer_with(Outcome::Done(alarmed));
    scene
        .shows("withheld")
        .shows("Leave this page, check the group, then t reads it again.")
        .hides("copies it")
        .hides("then read it again");
}
