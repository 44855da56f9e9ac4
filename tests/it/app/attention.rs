//! The attention view and its count in line 1: the order of its rows, and where the keys of a row lead.

use groupdesk::{
    domain::draft::DraftFields,
    operations::attention::{Ages, Attention},
};

use super::prelude::*;

pub(super) fn concern(profile: usize, kind: ConcernKind) -> Concern {
    Concern {
        profile: Some(profile),
        place: ["testing", "production"][profile].into(),
        kind,
        since: Some(BEGIN),
        by: Some("li@bastion2".into()),
        place_id: PlaceId::NONE,
    }
}

/// A rotation whose result is unknown.
pub(super) fn unknown(profile: usize) -> Concern {
    let unknown = ConcernKind::Rotation(RotationId(1), State::Unknown, id("globex"));
    concern(profile, unknown)
}

/// A draft of one's own.
pub(super) fn draft(profile: usize, group: &str) -> Concern {
    Concern {
        by: Some("ana@bastion2".into()),
        ..concern(profile, ConcernKind::Draft(id(group), 1))
    }
}

/// A batch of which one group is left.
pub(super) fn batch(profile: usize) -> Concern {
    let batch = unfinished(BatchId(12)).batch;
    concern(profile, ConcernKind::Batch(Box::new(batch)))
}

/// The attention view with these rows.
pub(super) fn attention(concerns: Vec<Concern>) -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    answer_concerns(&mut scene, concerns);
    scene
}

/// Answers the read of the rows with these.
pub(super) fn answer_concerns(scene: &mut Scene, concerns: Vec<Concern>) {
    let found = Attention {
        concerns,
        ages: Vec::new(),
        profiles: 2,
    };
    let found = Outcome::Attention(Box::new(found));
    scene.answer_to(|job| matches!(job, Job::Attention { whole: true }), found);
}

/// The attention view with an unknown rotation here, a batch in production, and a draft here.
fn opened() -> Scene {
    attention(vec![
        unknown(TESTING),
        batch(PRODUCTION),
        draft(TESTING, "acme-eu"),
    ])
}

fn pending_jobs(scene: &Scene) -> Vec<(ProfileIndex, &Job)> {
    let jobs = scene.pending.iter();
    jobs.map(|(_, profile, job)| (*profile, job)).collect()
}

#[test]
fn rows_are_sorted_worst_first_with_their_next_step_and_counted_in_line_1() {
    let scene = opened();
    scene.shows_all([
        "3 items in 2 profiles",
        "> ? rotation unknown",
        "testing globex",
        "r read it; never rotate",
        "x batch unfinished",
        "R resume: 1 of 2 left",
        "d draft",
    ]);
    let screen = scene.screen();
    let first = screen.lines().next().expect("line 1");
    assert!(first.contains("!1 +1"), "a draft is not counted: {first}");
}

/// An alarm of this place, and one of production.
pub(super) fn with_alarms() -> Scene {
    let alarm = Alarm {
        number: 1,
        user_group_id: Some("acme-eu".into()),
        what: "the response is tagged Customer".into(),
        at: BEGIN,
        by: "li@bastion2".into(),
    };
    let alarms = |profile, place: &str, alarms| {
        let kind = ConcernKind::Alarms(place.into(), alarms);
        concern(profile, kind)
    };
    attention(vec![
        alarms(TESTING, "testing", vec![alarm.clone()]),
        alarms(PRODUCTION, "customers", vec![alarm.clone(), alarm]),
    ])
}

#[test]
fn an_alarm_is_counted_and_leads_to_the_dialog_that_acknowledges_it() {
    let mut scene = with_alarms();
    scene.shows_all([
        "!1 +1",
        "> x ALARM",
        "x 2 ALARMS",
        "production customers",
        "Enter acknowledge: the resp",
        // In the footer, as in the row.
        "Enter acknowledge  ",
    ]);
    // The read fails because of the alarm, which opens the dialog.
    assert_eq!(scene.started("<enter>"), Job::OpenRotations);
    let mut scene = with_alarms();
    scene.keys("j<enter>");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    let open = (ProfileIndex(PRODUCTION), &Job::OpenRotations);
    assert!(pending_jobs(&scene).contains(&open), "{:?}", scene.pending);
}

#[test]
fn the_filter_for_drafts_finds_the_drafts_whatever_groups_they_are_of() {
    let mut scene = attention(vec![unknown(TESTING), draft(PRODUCTION, "globex")]);
    scene.walk("/draft<enter>");
    scene.shows("d draft").hides("rotation unknown");
    scene.walk("/-draft<enter>");
    scene.hides("d draft").shows("rotation unknown");
}

#[test]
fn an_unknown_rotation_is_settled_in_two_keys() {
    let mut scene = opened();
    assert_eq!(scene.started("r"), Job::Settle);
    scene.keys("<tab>");
    scene
        .shows("2 items in this profile")
        .hides("batch unfinished");
}

#[test]
fn a_batch_of_another_profile_is_resumed_there() {
    let mut scene = opened();
    scene.keys("R");
    scene.says("this row is not a batch to resume or retry");
    scene.later(1).keys("jR");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    let planned = Job::PlanResumption(BatchId(12), false);
    let planned = (ProfileIndex(PRODUCTION), &planned);
    assert!(
        pending_jobs(&scene).contains(&planned),
        "{:?}",
        scene.pending
    );
}

/// Two failed hand-offs of this place: one begun by production, one by a profile that is no longer configured.
fn with_hand_offs(command: bool) -> Scene {
    let hand_off = |number, place: &str, begun_in| {
        let kind = ConcernKind::HandOff {
            rotation: RotationId(number),
            id: id("globex"),
            state: HandOffState::Failed,
            exit: Some(1),
            begun_in,
        };
        let place = place.into();
        Concern {
            place,
            ..concern(TESTING, kind)
        }
    };
    let mut scene = attention(vec![
        hand_off(7, "production", Some(PRODUCTION)),
        hand_off(8, "gone", None),
    ]);
    if command {
        scene.app.context.profiles[PRODUCTION].handoff = Some(HandOffCommand {
            command: vec!["put-token".into()],
            timeout: Duration::from_secs(5),
        });
    }
    scene
}

#[test]
fn a_hand_off_is_run_by_the_command_of_the_profile_that_began_it() {
    let mut scene = with_hand_offs(true);
    scene.shows_all(["!2", "h run again: exit 1"]);
    assert_eq!(scene.keys("jh"), []);
    scene.says("profile \"gone\", which started it, is missing or belongs to another environment");
    scene.keys("kh");
    let again = Job::HandOffAgain(RotationId(7), id("globex"));
    assert_eq!(pending_jobs(&scene), [(ProfileIndex(PRODUCTION), &again)]);
    let mut scene = with_hand_offs(false);
    assert_eq!(scene.keys("h"), []);
    scene.says("profile \"production\" has no hand-off");
    let mut scene = with_hand_offs(true);
    let current = &mut scene.app.context.current;
    let testing = std::mem::replace(current, ProfileIndex(PRODUCTION));
    scene.guard(Operation::HandOff, Rule::Forbid);
    scene.app.context.current = testing;
    assert_eq!(scene.keys("h"), []);
    scene.says("two people look");
}

fn answer_here(scene: &mut Scene, to: &Job, outcome: Outcome) {
    let here = scene.app.context.current;
    scene.pending.retain(|(_, profile, _)| *profile == here);
    scene.answer_to(|job| job == to, outcome);
}

#[test]
fn the_draft_of_a_new_group_is_opened_here_and_in_another_profile() {
    let mut scene = Scene::walked(TESTING, "oinitech<enter>Typed<esc>");
    scene.keys("0");
    let rows = vec![draft(TESTING, "initech"), draft(PRODUCTION, "old")];
    answer_concerns(&mut scene, rows);
    scene.keys("e");
    scene.at("EditName").shows("Typed");
    scene.keys("<esc>");
    scene.at("Attention");
    // The draft of another profile opens once that profile's groups and drafts are read.
    scene.keys("j<enter>");
    scene.shows("PRODUCTION").at("List");
    let draft = Draft {
        user_group_id: id("old"),
        creating: true,
        loaded_from: None,
        taken_over: std::collections::BTreeSet::new(),
        typed: DraftFields {
            name: "Left there".into(),
            ..DraftFields::default()
        },
        base: DesiredFields::default(),
        base_at: BEGIN,
        changed_at: BEGIN,
        continues: Vec::new(),
    };
    let by = "ana@bastion2".into();
    let kept = Outcome::Drafts(vec![KeptDraft { draft, by }]);
    answer_here(&mut scene, &Job::Drafts, kept);
    scene.at("List");
    let groups = list_of(vec![group("globex", 2)]);
    answer_here(&mut scene, &Job::List, groups);
    scene.at("EditName").shows("Left there");
}

#[test]
fn a_row_has_its_operation_and_the_versions_of_a_draft() {
    let mut versions = draft(TESTING, "acme-eu");
    versions.kind = ConcernKind::Draft(id("acme-eu"), 2);
    let mut scene = attention(vec![unknown(TESTING), batch(PRODUCTION), versions]);
    scene.shows("d draft, 2 versions");
    scene.walk("/operation:rotate<enter>");
    scene.shows("rotation unknown").shows("batch 12");
    scene.hides("d draft").hides("not possible");
}

#[test]
fn opening_a_draft_that_is_gone_says_so() {
    let mut scene = attention(vec![draft(PRODUCTION, "old")]);
    scene.keys("<enter>");
    answer_here(&mut scene, &Job::Drafts, Outcome::Drafts(Vec::new()));
    let groups = list_of(vec![group("old", 2)]);
    answer_here(&mut scene, &Job::List, groups);
    scene
        .at("List")
        .says("The draft of old no longer exists: it was sent or discarded");
    let mut scene = attention(vec![draft(TESTING, "nobody")]);
    scene.keys("e");
    scene
        .at("List")
        .says("The draft of nobody no longer exists");
}

#[test]
fn of_one_profile_it_is_not_said_that_nothing_needs_attention_while_others_do() {
    attention(vec![unknown(PRODUCTION)])
        .walk("<tab>")
        .shows("Nothing needs attention in this profile: Tab shows all profiles");
}

#[test]
fn the_count_names_exactly_the_profiles_that_were_not_read() {
    let mut scene = opened();
    let production = ProfileIndex(PRODUCTION);
    let place = || "eu-live".into();
    let profile = || "production".into();
    let on_trial = PlaceProblem::OnTrial {
        profile: profile(),
        place: place(),
    };
    let conflict = PlaceProblem::TagConflict {
        profile: profile(),
        other: "testing".into(),
        place: place(),
    };
    let problems = |scene: &mut Scene, problem| {
        scene.app.context.place_problems.insert(production, problem);
    };
    problems(&mut scene, on_trial);
    scene.shows("3 items in 2 profiles").hides("without");
    problems(&mut scene, conflict);
    scene.shows("3 items in 2 profiles, not read: production");
    scene.keys("/globex<enter>");
    scene.shows("1 of 3, not read: production");
    scene.keys("<esc><esc>0");
    let found = Attention {
        profiles: 1,
        ..Attention::default()
    };
    let found = Outcome::Attention(Box::new(found));
    scene.answer_to(|job| matches!(job, Job::Attention { whole: true }), found);
    scene.shows("0 items in 1 profile, not read: production");
}

#[test]
fn the_ages_of_tokens_are_told_apart_at_any_width_and_the_overdue_are_always_shown() {
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    let mut ages = Ages::default();
    ages.fresh = [11, 12, 13];
    ages.due = 14;
    ages.over = 15;
    ages.far = 16;
    ages.unknown = 17;
    let found = Attention {
        ages: vec![(TESTING, ages)],
        profiles: 2,
        ..Attention::default()
    };
    let found = Outcome::Attention(Box::new(found));
    scene.answer_to(|job| matches!(job, Job::Attention { whole: true }), found);
    let all = [11, 12, 13, 14, 15, 16, 17];
    // The first one shown contains those that are younger.
    let without_the_first = [23, 13, 14, 15, 16, 17];
    #[rustfmt::skip] // A table: one case per line.
    let table: [(u16, &str, &[usize]); 5] = [
        (80, "<30d <60d <75d due soon overdue >180d unknown", &all),
        (72, "<30d <60d <75d soon overdue >180d unknown", &all),
        (60, "<30d <60d <75d soon over >180d unknown", &all),
        (50, "<60d <75d soon over >180d unknown", &without_the_first),
        (40, "soon over >180d unknown", &all[3..]),
    ];
    for (width, titles, counts) in table {
        scene.msg(Msg::Resize(width, 24));
        let screen = scene.screen();
        let mut lines = screen.lines().skip_while(|line| !line.contains(">180d"));
        let words = |line: Option<&str>| -> Vec<String> {
            let words = line.unwrap_or_default().split_whitespace();
            words.map(str::to_owned).collect()
        };
        assert_eq!(words(lines.next()).join(" "), titles, "{screen}");
        let row = words(lines.next());
        let shown: Vec<usize> = row.iter().flat_map(|word| word.parse()).collect();
        assert_eq!(shown, counts, "{screen}");
    }
}
