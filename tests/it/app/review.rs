//! A review with choices: the request follows them, no value of either side is dropped unseen, and only the key of the
//! level sends it.

use groupdesk::{
    domain::history::{Entry, Operation},
    operations::Numbered,
};

use super::prelude::*;

/// The group as somebody else has changed it meanwhile.
fn theirs() -> DesiredFields {
    wanted(
        "Theirs",
        &[("7", "40"), ("8", "1")],
        r#"{"tier":"gold","beta":true}"#,
    )
}

/// The review of a new name, after the copy changed by somebody else was read.
fn disputed(profile: usize) -> Scene {
    let mut scene = Scene::walked(profile, "e<end> 2");
    scene.open("<ctrl-s>", found(&theirs()));
    scene
}

/// An entry of the history of the group: who set what to what.
fn set(by: &str, minutes: i64, changes: &str) -> Numbered<Entry> {
    let value = Entry {
        at: BEGIN + SignedDuration::from_mins(minutes),
        by: by.into(),
        profile: "testing".into(),
        user_group_id: id("acme-eu"),
        operation: Operation::Update,
        ending: Ending::Updated,
        previous_fingerprint: None,
        fingerprint: None,
        reason: None,
        changes: serde_json::from_str(changes).ok(),
        note: None,
    };
    let number = minutes;
    Numbered { number, value }
}

/// Also of a field that a read brought: the history says who set it.
#[test]
fn who_changed_the_group_is_named_as_far_as_the_history_says_it() {
    let li = |changes| set("li@desk7", -5, changes);
    let all = r#"{"name":["Name of acme-eu","Theirs"],"mapping":{"8":[null,"1"]},"properties":{"beta":[null,"true"]}}"#;
    let name = r#"{"name":["Name of acme-eu","Theirs"]}"#;
    for (entries, says, others) in [
        (vec![li(all)], "CHANGED BY li@desk7 at 07:28 UTC", false),
        (vec![li(name)], "CHANGED BY li@desk7 at 07:28 UTC", true),
        (
            vec![set("ana@bastion2", -5, all)],
            "CHANGED BY YOU at 07:28 UTC",
            false,
        ),
        // It was set to something else since.
        (
            vec![set("ben@b", -4, r#"{"name":["Theirs","Other"]}"#), li(name)],
            "CHANGED ELSEWHERE",
            false,
        ),
        (Vec::new(), "CHANGED ELSEWHERE", false),
    ] {
        let mut scene = disputed(TESTING);
        scene.shows("CHANGED ELSEWHERE");
        let history = |job: &Job| matches!(job, Job::History(_));
        scene.answer_to(history, Outcome::History(entries));
        scene.shows(says);
        if others {
            scene.shows("AND OTHERS");
        } else {
            scene.hides("AND OTHERS");
        }
    }
    // The review goes on without it.
    let mut scene = disputed(TESTING);
    scene.answer_to(
        |job| matches!(job, Job::History(_)),
        failed("no room left", None),
    );
    scene.shows("CHANGED ELSEWHERE; 3 rows");
    scene.keys("y");
    sent(&scene);
}

/// The copy that the service has.
fn found(fields: &DesiredFields) -> Outcome {
    done(Ending::Found, known_group("acme-eu", fields, 1))
}

fn sent(scene: &Scene) -> (DesiredFields, DesiredFields) {
    match scene.write() {
        Job::Update { base, wanted, .. } => (base.clone(), wanted.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn untouched_fields_stay_theirs_and_edited_fields_are_mine() {
    let mut scene = disputed(TESTING);
    scene.shows_all([
        "CHANGED ELSEWHERE",
        "> name: it was Name of acme-eu",
        "(*) mine    Name of acme-eu 2  ! OVERWRITES theirs",
        "(*) theirs  1",
        "( ) mine    (not there)",
    ]);
    scene.keys("y");
    let (base, wanted) = sent(&scene);
    assert_eq!(base, theirs(), "the history has the replaced value");
    let mut expected = theirs();
    expected.name = Some("Name of acme-eu 2".into());
    assert_eq!(wanted, expected);
}

#[test]
fn every_choice_can_be_changed_and_the_request_follows() {
    let mut scene = disputed(TESTING);
    scene.walk("<space>");
    scene.shows_all(["(*) theirs  Theirs", "no field changes"]);
    scene.walk("<down><space><down><space>").shows("- 8");
    scene.keys("y");
    let (_, wanted) = sent(&scene);
    let mut expected = super::scene::base("acme-eu");
    expected.name = Some("Theirs".into());
    assert_eq!(wanted, expected);
}

#[test]
fn choices_survive_a_new_read_unless_the_value_changed() {
    let mut scene = disputed(TESTING);
    scene.walk("<space>");
    scene
        .open("r", found(&theirs()))
        .shows("(*) theirs  Theirs");
    let mut newer = theirs();
    newer.name = Some("Newer".into());
    scene
        .open("r", found(&newer))
        .shows_all(["( ) theirs  Newer", "(*) mine    Name of acme-eu 2"]);
}

#[test]
fn changing_a_choice_sends_nothing_and_production_still_asks_for_y() {
    let mut scene = disputed(PRODUCTION);
    assert_eq!(scene.keys("<space><down><space><tab><enter>"), []);
    assert!(scene.started("y").is_write());
    let before = sent(&scene);
    scene.keys("<space>");
    scene.says("it is being sent");
    assert_eq!(sent(&scene), before);
}

#[test]
fn a_request_that_followed_a_choice_settles_the_draft_it_came_from() {
    let mut scene = disputed(TESTING);
    scene.keys("<space>y");
    assert_eq!(sent(&scene).1.name.as_deref(), Some("Theirs"));
    scene.keys("<esc><esc>");
    assert_eq!(scene.drafts(), 1);
    scene.answer();
    assert_eq!(scene.drafts(), 0);
}

#[test]
fn without_a_conflict_there_is_nothing_to_choose() {
    let mut scene = Scene::walked(TESTING, "e<end> 2");
    scene.keys("<ctrl-s><space>");
    scene.says("nothing to choose");
    scene.answer();
    scene.keys("<space>");
    scene.says("nothing to choose");
    scene.shows(": unchanged since you started");
}

#[test]
fn the_request_is_shown_as_json_and_as_curl_and_the_choices_stay() {
    let mut scene = disputed(TESTING);
    scene.app.context.size = (100, 40);
    scene.walk("v");
    scene.shows_all(["as JSON", "\"name\": \"Name of acme-eu 2\","]);
    scene.keys("<space>");
    scene.says("the choices are in the difference");
    scene.walk("v");
    scene.shows_all(["as curl", "$GROUPDESK_API_KEY"]);
    scene.walk("v<space>v").shows("\"name\": \"Theirs\",");
}

#[test]
fn the_choice_under_the_cursor_is_always_visible() {
    let many: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let rows: Vec<(&str, &str)> = many.iter().map(|n| (n.as_str(), "1")).collect();
    let mut scene = Scene::walked(TESTING, "e<end> 2");
    let many = wanted("Name of acme-eu", &rows, r#"{"tier":"gold"}"#);
    scene.open("<ctrl-s>", found(&many));
    // The field that my edit also has comes first.
    for n in std::iter::once(7).chain((0..40).filter(|n| *n != 7)) {
        scene.shows(&format!("> mapping {n}: it was"));
        scene.walk("<space>");
        scene.shows(&format!("> mapping {n}: it was"));
        scene.walk("<down>");
    }
    for _ in 0..200 {
        scene.walk("<up>");
    }
    scene.shows_all(["group          acme-eu", "> mapping 7"]);
}

/// In a window of another width the lines are others, so that none of them counts as seen.
#[test]
fn what_was_seen_is_shown_again_after_a_resize() {
    let many: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let rows: Vec<(&str, &str)> = many.iter().map(|n| (n.as_str(), "1")).collect();
    let many = wanted("Name of acme-eu", &rows, r#"{"tier":"gold"}"#);
    let mut scene = Scene::walked(TESTING, "e<end> 2");
    scene.msg(Msg::Resize(60, 16));
    scene.open("<ctrl-s>", found(&many));
    scene.walk("<end><home>");
    scene.msg(Msg::Resize(80, 16));
    scene.keys("y");
    scene.says("Not sent: ");
    assert_eq!(scene.writes(), Vec::<&Job>::new());
    // Each further press shows more of it, and the last one sends.
    for _ in 0..60 {
        if scene.writes().is_empty() {
            scene.keys("y");
        }
    }
    assert!(scene.write().is_write());
}

#[test]
fn what_was_changed_since_the_review_is_read_again_at_once() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    let why = Failure::ChangedSince {
        id: id("acme-eu"),
        what: vec!["name: \"Name of acme-eu\", now \"Theirs\"".into()],
    };
    scene.open("y", Outcome::Failed(why.into()));
    scene.says("was changed since it was reviewed");
    scene.shows("Your text is kept");
    assert!(matches!(scene.jobs()[..], [Job::LookUp(_)]));
    assert_eq!(scene.keys("y"), []);
    scene.says("the service's copy is being read first");
    scene.answer_with(found(&theirs()));
    scene
        .shows_all(["CHANGED ELSEWHERE", "nothing is sent yet"])
        .hides("Your text is kept");
    // A key that is held down does not send what was not looked at.
    assert_eq!(scene.keys("yy"), []);
    scene.says("the saved values have just changed");
    scene.keys("<down>");
    scene.shows("y SEND");
}

/// Another read would find the group that the alarm is about, and look like an all-clear.
#[test]
fn after_an_alarm_nothing_is_sent_and_nothing_is_read_again() {
    let wrong_environment = Outcome::Failed(JobError {
        wrong_environment: true,
        ..JobError::of("WRONG ENVIRONMENT: production responded")
    });
    let created = failed("the service created it", Some(Ending::CreatedByGet));
    for alarm in [created, wrong_environment] {
        let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
        scene.open("y", alarm);
        assert_eq!(scene.keys("y"), []);
        scene.says("stopped: read the alarm above");
        assert_eq!(scene.keys("r"), []);
        scene.says("stopped: read the alarm; Esc leaves");
    }
}

/// Nothing says that it was not applied.
#[test]
fn a_failure_stays_in_sight_when_the_copy_is_read_again() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    let refused = failed("the service refused (409)", Some(Ending::Refused));
    scene.open("y", refused).shows("the service refused (409)");
    scene.open("r", found(&super::scene::base("acme-eu")));
    scene.shows("the service refused (409)").shows("y SEND");
}

/// Also where both sides agree, so that there is nothing to choose.
#[test]
fn a_key_that_is_held_down_sends_nothing_that_was_just_read_without_a_choice() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    let why = Failure::ChangedSince {
        id: id("acme-eu"),
        what: vec!["name: \"Name of acme-eu\", now \"Name of acme-eu 2\"".into()],
    };
    scene.open("y", Outcome::Failed(why.into()));
    let mut agreed = super::scene::base("acme-eu");
    agreed.name = Some("Name of acme-eu 2".into());
    scene.answer_with(found(&agreed));
    assert_eq!(scene.keys("yy"), []);
    scene.says("the saved values have just changed");
    scene.keys("<down>");
    scene.shows("y SEND");
}

#[test]
fn the_key_that_reads_again_is_offered_where_nothing_else_helps() {
    let mut scene = Scene::walked(TESTING, "e<end> 2");
    scene.open("<ctrl-s>", failed("the service is away", None));
    scene.shows("r read again").hides("y SEND");
    scene.open("r", found(&theirs()));
    scene.hides("r read again").shows("y SEND");
    scene.answer();
    let refused = failed("the service refused (409)", Some(Ending::Refused));
    scene.open("y", refused).shows("r read again");
    let mut scene = Scene::walked(TESTING, "onew<enter>Typed<ctrl-s>");
    scene.keys("r");
    scene.says("the group is yet to be created");
}

/// What is not seen is not confirmed: where the changes do not fit, the key that sends shows the rest first.
#[test]
fn the_rest_of_the_changes_is_shown_before_they_are_sent() {
    for profile in [TESTING, PRODUCTION] {
        let mut scene = Scene::on(profile);
        scene.msg(Msg::Resize(40, 10));
        scene.walk("e<end> 2<ctrl-s>").at("Review");
        scene.hides("Name of acme-eu 2");
        // One screen after the other.
        while !scene.screen().contains("acme-eu 2") {
            scene.keys("y");
            scene.says("Not sent").at("Review");
            assert!(scene.writes().is_empty());
        }
        scene.keys("y");
        let is_asked = scene.focus() != "Review" || !scene.writes().is_empty();
        assert!(is_asked, "{}", scene.screen());
    }
}

#[test]
fn what_is_sent_is_counted_where_it_is_confirmed() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>").shows("in testing: name.");
    // All of it is on the screen.
    assert!(scene.started("y").is_write());
}

#[test]
fn a_refusal_leaves_with_what_it_waited_for() {
    let mut scene = Scene::on(TESTING);
    scene.keys("e<end> 2<ctrl-s>y");
    scene.says("the service's copy is being read first");
    scene.answer();
    scene.hides("Not available").shows("y SEND");
}

/// An undo is only the undo, never the draft as well.
#[test]
fn an_update_is_not_undone_over_a_draft() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>");
    let key = id("acme-eu");
    assert!(scene.app.context.has_own_draft(&key));
    assert!(!scene.app.context.has_own_draft(&id("globex")));
}
