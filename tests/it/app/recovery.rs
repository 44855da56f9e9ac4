//! Open rotations on the screen: settled when a profile is opened and again when it is time, the pane of rotations, and
//! the look-up of a token's owner.

use groupdesk::{
    domain::{history::Operation, mutation},
    operations::{Bound, Mutation, Owner, StillOpen, Unclear},
};

use super::{
    prelude::*,
    scene::{owner, owners_found},
};

/// The testing profile, after this many open rotations were found.
fn found_open(rows: usize) -> Scene {
    let mut scene = Scene::on(PRODUCTION);
    scene.keys("P<up><enter>");
    let rows = (0..rows).map(|n| rotation(n as i64, "acme-eu", State::Unknown));
    let found = Outcome::OpenRotations(rows.collect(), None);
    scene.answer_to(|job| *job == Job::OpenRotations, found);
    scene
}

fn settling(scene: &Scene) -> usize {
    let jobs = scene.jobs().into_iter();
    jobs.filter(|job| **job == Job::Settle).count()
}

fn settled(scene: &mut Scene, all: Vec<Recovered>) {
    scene.answer_to(|job| *job == Job::Settle, Outcome::Recovered(all));
}

fn still_open(again_in: Option<u64>) -> Recovered {
    Recovered::Open(StillOpen {
        row: rotation(1, "acme-eu", State::Unknown),
        why: "the service is away".into(),
        again_in: again_in.map(Duration::from_secs),
    })
}

#[test]
fn open_rotations_are_settled_in_the_background_and_the_result_is_announced() {
    let mut scene = found_open(2);
    scene.shows("2 rotations with an unknown result: checking");
    assert_eq!(settling(&scene), 1);
    let all = [
        rotation(0, "acme-eu", State::Recovered),
        rotation(1, "globex", State::NotApplied),
    ];
    settled(&mut scene, all.map(Recovered::Settled).to_vec());
    scene.shows("2 rotations resolved: acme-eu recovered, globex not applied");
    // Nothing is left to wait for.
    assert!(scene.app.context.settle_again_at.is_none());
    assert!(scene.jobs().contains(&&Job::List));
}

#[test]
fn another_environment_found_in_the_background_marks_the_profile() {
    let mut scene = found_open(1);
    let alarm = Warning::WrongTag {
        expected: EnvironmentTag::Testing,
        got: EnvironmentTag::Customer,
    };
    let row = rotation(1, "acme-eu", State::Conflict);
    settled(&mut scene, vec![Recovered::Alarmed(row, alarm)]);
    scene.shows("! WRONG ENVIRONMENT");
    let mut said = scene.app.context.messages.all();
    assert!(said.any(|message| message.text.starts_with("acme-eu: ALARM")));
}

#[test]
fn without_open_rotations_nothing_is_said() {
    let scene = found_open(0);
    assert_eq!(settling(&scene), 0);
    assert!(!scene.footer().contains("unknown result"));
}

#[test]
fn a_rotation_waiting_for_the_horizon_is_settled_again_after_it() {
    let mut scene = found_open(1);
    settled(&mut scene, vec![still_open(Some(40))]);
    scene.shows("UNKNOWN: 1 rotation, acme-eu");
    assert!(scene.app.wake_at() <= scene.app.context.settle_again_at);
    scene.later(40).msg(Msg::Tick);
    assert_eq!(settling(&scene), 0, "not yet");
    scene.later(1).msg(Msg::Tick);
    scene.later(1).msg(Msg::Tick);
    assert_eq!(settling(&scene), 1, "once");
    scene.shows("UNKNOWN: 1 rotation");
    settled(&mut scene, vec![still_open(None)]);
    // Waiting alone would not help.
    assert!(scene.app.context.settle_again_at.is_none());
    scene.later(600).msg(Msg::Tick);
    assert_eq!(settling(&scene), 0);
    scene.walk("3");
    scene.keys("r");
    let not_applied = rotation(1, "acme-eu", State::NotApplied);
    settled(&mut scene, vec![Recovered::Settled(not_applied)]);
    scene.shows("1 rotation resolved: acme-eu not applied");
}

/// The console checks what it made itself, not only what it found when it began.
#[test]
fn what_ends_unknown_is_checked_again_after_its_waiting_period() {
    for (script, job) in [
        ("tT", Job::Settle),
        ("e<end> 2<ctrl-s>", Job::SettleChanges),
    ] {
        let mut scene = Scene::walked(TESTING, script);
        scene.keys("y");
        let unknown = failed("UNKNOWN whether it was done", Some(Ending::Unknown));
        scene.answer_to(Job::is_write, unknown);
        scene.answer();
        let begun = |scene: &mut Scene, seconds| {
            scene.later(seconds).msg(Msg::Tick);
            scene.jobs().into_iter().filter(|one| **one == job).count()
        };
        assert_eq!(begun(&mut scene, 60), 0, "{script}");
        let wakes = scene.app.wake_at();
        assert!(wakes.is_some_and(|at| at <= scene.now + SignedDuration::from_secs(1)));
        assert_eq!(begun(&mut scene, 1), 1, "{script}");
        scene.shows("UNKNOWN whether it was done");
        scene.answer();
        if job == Job::Settle {
            scene.shows("Resolved").shows("r reads the group.");
            scene.walk("r").hides("UNKNOWN").hides("Resolved");
        }
    }
}

#[test]
fn an_answer_for_a_profile_that_was_left_starts_nothing() {
    let mut scene = Scene::on(PRODUCTION);
    scene.keys("P<up><enter>P<down><enter>");
    scene.pending.retain(|(_, profile, _)| profile.0 == TESTING);
    let rows = vec![rotation(1, "acme-eu", State::Unknown)];
    let found = Outcome::OpenRotations(rows, None);
    scene.answer_to(|job| *job == Job::OpenRotations, found);
    assert_eq!(settling(&scene), 0);
}

#[test]
fn the_pane_shows_open_rotations_first_and_r_settles_them() {
    let mut scene = Scene::walked(TESTING, "3");
    scene.shows_all(["1 open   2 in all", "never rotate to find"]);
    let screen = scene.screen();
    assert!(screen.find("unknown") < screen.find("not applied"));
    assert_eq!(scene.started("r"), Job::Settle);
    assert_eq!(scene.keys("r"), [], "once is enough");
    scene.answer();
    scene.says("1 rotation resolved: acme-eu recovered");
    scene.walk("<enter>").at("Group");
}

#[test]
fn abandoning_asks_for_a_reason() {
    let mut scene = Scene::walked(PRODUCTION, "3A");
    scene.at("AbandonReason");
    scene.keys("<esc>");
    scene.says("Nothing was abandoned");
    scene.walk("A");
    let abandon = Job::Abandon(RotationId(1), "the customer left".into());
    assert_eq!(scene.started("the customer left<enter>yy"), abandon);
    scene.answer();
    scene.at("Rotations").says("Rotation of acme-eu abandoned");
    scene
        .walk("jA")
        .says("only an open rotation, or a conflict, can be abandoned");
}

/// The box closes itself, whatever was opened above it, and closing it says what is true.
#[test]
fn the_end_of_abandoning_closes_its_own_box() {
    for (above, focus) in [
        ("<f1>", "Help"),
        ("<f6>", "Profiles"),
        ("<ctrl-p>", "Palette"),
    ] {
        let mut scene = Scene::walked(PRODUCTION, "3A");
        scene.keys("the customer left<enter>y");
        scene.keys(above);
        scene.at(focus);
        scene.answer();
        scene.at(focus).says("Rotation of acme-eu abandoned");
        scene.keys("<esc>");
        scene.at("Rotations");
    }
    let mut scene = Scene::walked(PRODUCTION, "3A");
    scene.keys("the customer left<enter>y<esc>");
    scene.at("Rotations").hides("Nothing has been");
    scene.answer();
    scene.says("Rotation of acme-eu abandoned");
}

#[test]
fn the_answer_of_a_question_about_an_environment_closes_its_own_box() {
    let (_, mut scene) = dialogs().pop().expect("the alarm");
    scene.keys("a misconfigured proxy<tab>");
    scene.shows("Esc not now").hides("Esc back");
    scene.keys("y<f1>");
    scene.at("Help");
    scene.answer();
    scene
        .at("Help")
        .says("Acknowledged; requests are sent again");
    scene.keys("<esc>");
    scene.at("List");
}

/// The box was closed before the answer came: what is said is about that answer.
#[test]
fn each_answer_about_an_environment_is_told_as_what_it_is() {
    let bound = |on_trial| {
        Outcome::PlaceBound(Box::new(Bound {
            place: PlaceId(2),
            name: "testing-2".into(),
            tag: None,
            key: groupdesk::directory::KeyId(1),
            on_trial,
        }))
    };
    for (outcome, said) in [
        (
            bound(false),
            "Profile testing now uses environment testing-2",
        ),
        (bound(true), "testing-2; its API key is not verified yet"),
        (
            Outcome::Proven,
            "The API key is verified; requests are sent",
        ),
        (
            Outcome::Acknowledged,
            "Acknowledged; requests are sent again",
        ),
    ] {
        let (_, mut scene) = dialogs().pop().expect("the alarm");
        scene.keys("a misconfigured proxy<tab>y<esc>");
        let is_it = |job: &Job| matches!(job, Job::Acknowledge(..));
        scene.answer_to(is_it, outcome);
        scene.says(said);
    }
}

#[test]
fn whose_token_leads_to_the_token_of_its_group_in_its_profile() {
    let mut scene = Scene::on(TESTING);
    scene.walk("W");
    scene.msg(Msg::Paste("canary-pasted-token\n".into()));
    scene.hides("canary");
    let find = scene.started("<enter>");
    assert!(
        matches!(find, Job::FindTokenOwners(text) if text.as_token().expose() == "canary-pasted-token")
    );
    scene.answer();
    scene.shows("current  token of acme-eu in production");
    scene.shows("former   token of acme-eu in testing");
    assert!(!format!("{:?}", scene.app).contains("canary"));
    scene.keys("t");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    scene.at("Token");
    let (_, profile, _) = scene.take(|job| *job == Job::LookUp(id("acme-eu")));
    assert_eq!(profile, ProfileIndex(PRODUCTION));

    let scene = Scene::walked(TESTING, "Wx<enter>jt");
    assert_eq!(scene.app.context.current, ProfileIndex(TESTING));
    scene.at("Token");
    assert_eq!(scene.app.stack.len(), 2, "the dialog is gone");
}

/// A profile may have another name than its environment.
#[test]
fn whose_token_finds_the_profile_that_is_bound_to_the_environment() {
    let is_lookup = |job: &Job| matches!(job, Job::FindTokenOwners(_));
    let of = |bound: &[&str]| {
        let bound = bound.iter().flat_map(|name| owner(name, true).bound);
        let bound = bound.collect();
        let found = owner("eu", true);
        owners_found(vec![Owner { bound, ..found }])
    };
    for (bound, profile) in [
        (&["production"][..], PRODUCTION),
        (&["production", "testing"], TESTING),
    ] {
        let mut scene = Scene::on(TESTING);
        scene.keys("Wx<enter>");
        scene.answer_to(is_lookup, of(bound));
        scene.shows("token of acme-eu in eu");
        scene.keys("t");
        assert_eq!(scene.app.context.current, ProfileIndex(profile));
        scene.at("Token");
    }
    let mut scene = Scene::on(TESTING);
    scene.keys("Wx<enter>");
    scene.answer_to(is_lookup, of(&["eu"]));
    scene
        .walk("t")
        .says("No profile here is bound to the environment \"eu\"");
}

#[test]
fn an_empty_token_is_not_looked_up_and_an_unknown_one_is_reported() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("W<enter>"), []);
    scene.shows("Paste or type the token first");
    scene.keys("x<enter>");
    scene.answer_to(
        |job| matches!(job, Job::FindTokenOwners(_)),
        owners_found(Vec::new()),
    );
    scene.shows("No group in this directory");
    scene.walk("t").says("no group is known for this token");
    scene.walk("W").at("Whose");
}

#[test]
fn each_token_of_a_log_is_looked_up_and_other_text_is_not_called_clean() {
    let mut scene = Scene::on(TESTING);
    scene.keys("Wx<enter>");
    let is_lookup = |job: &Job| matches!(job, Job::FindTokenOwners(_));
    let none = Outcome::TokenOwners(TokenLookup::Unclear(Unclear {
        characters: 87,
        line: Some(2),
        key: None,
    }));
    scene.answer_to(is_lookup, none);
    scene.shows("No known token in this text (87 characters)");
    scene.shows("this is not conclusive");
    // Another one can be given at once.
    scene.at("Whose");
    scene.keys("x<enter>");
    let Outcome::TokenOwners(TokenLookup::Answered { tokens: known, .. }) =
        owners_found(vec![owner("production", true)])
    else {
        panic!("an answer")
    };
    let unknown = (0..20).map(|number| TokenReport {
        fingerprint: Fingerprint::from_bytes([number; 32]),
        line: 2,
        owners: Vec::new(),
    });
    let tokens = known.into_iter().chain(unknown).collect();
    let unclear = None;
    scene.answer_to(
        is_lookup,
        Outcome::TokenOwners(TokenLookup::Answered { tokens, unclear }),
    );
    scene.shows("> 2a2a2a2a current  token of acme-eu in production");
    scene.shows("00000000 no group in this directory has or had it");
    scene
        .walk("G")
        .shows("> 13131313 no group in this directory has or had it");
    scene.shows("It may still belong to a group");
    scene.walk("t").says("no group is known for this token");
    scene.walk("gt").at("Token");
}

/// How many unresolved messages about an unknown outcome the log has.
fn unknown_messages(scene: &Scene) -> usize {
    let said = scene.app.context.messages.all();
    said.filter(|one| one.severity == Severity::Unknown && one.resolved.is_none())
        .count()
}

fn change(state: mutation::State) -> Mutation {
    Mutation {
        id: MutationId(1),
        user_group_id: id("acme-eu"),
        operation: Operation::Update,
        state,
        rotation: None,
        by: "ana@bastion2".into(),
        profile: "testing".into(),
        started_at: BEGIN,
        sent_at: Some(BEGIN),
        boot_clock: None,
        settles_in: Duration::ZERO,
        ending: None,
        note: None,
        changes: None,
        sent: None,
    }
}

/// An update of "acme-eu" whose answer was lost.
fn unknown_update() -> Scene {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("y");
    let lost = failed("UNKNOWN: no response", Some(Ending::Unknown));
    scene.answer_to(|job| matches!(job, Job::Update { .. }), lost);
    scene.walk("<esc><esc><esc>").later(40);
    scene.msg(Msg::Tick);
    scene.at("List");
    scene
}

#[test]
fn an_unknown_outcome_stays_unread_until_a_read_settles_it() {
    let mut scene = unknown_update();
    assert_eq!(unknown_messages(&scene), 1, "{}", scene.screen());
    let mut done = match canned_outcome(ProfileIndex(TESTING), &Job::LookUp(id("acme-eu"))) {
        Outcome::Done(done) => done,
        other => panic!("{other:?}"),
    };
    // The rotation may still have arrived.
    done.warnings.push(Warning::RotationOpen {
        state: State::Sent,
        by: "li".into(),
        decided_from: scene.now,
    });
    scene.keys("<enter>");
    scene.answer_to(
        |job| matches!(job, Job::LookUp(_)),
        Outcome::Done(done.clone()),
    );
    assert_eq!(unknown_messages(&scene), 1, "{}", scene.screen());
    done.warnings.clear();
    scene.walk("<esc>").keys("<enter>");
    scene.answer_to(|job| matches!(job, Job::LookUp(_)), Outcome::Done(done));
    assert_eq!(unknown_messages(&scene), 0, "{}", scene.screen());
}

#[test]
fn open_changes_are_announced_once_however_often_they_are_checked() {
    let mut scene = Scene::on(TESTING);
    let open = || Outcome::ChangesSettled(vec![change(mutation::State::Unknown)]);
    for _ in 0..2 {
        scene.app.context.start(Job::SettleChanges);
        scene.msg(Msg::Tick);
        scene.answer_to(|job| *job == Job::SettleChanges, open());
        assert_eq!(unknown_messages(&scene), 1);
    }
    scene.app.context.start(Job::SettleChanges);
    scene.msg(Msg::Tick);
    let none = Outcome::ChangesSettled(vec![change(mutation::State::Ended)]);
    scene.answer_to(|job| *job == Job::SettleChanges, none);
    assert_eq!(unknown_messages(&scene), 0);
}
