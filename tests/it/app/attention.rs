//! What waits for a person, at the screen: the count in line 1, and where the keys of a row lead.

use groupdesk::{
    domain::rotation::State,
    operations::{
        RotationId,
        attention::{Attention, Concern, Matter},
    },
    tui::state::message::{Job, Outcome, ProfileIndex},
};

use super::{
    batch::left,
    scene::{BEGIN, PRODUCTION, Scene, TESTING},
};
use crate::support::world::id;

fn concern(profile: usize, matter: Matter) -> Concern {
    Concern {
        profile: Some(profile),
        place: ["testing", "production"][profile].into(),
        matter,
        since: Some(BEGIN),
        by: Some("li@bastion2".into()),
    }
}

/// An unknown rotation here, a batch in production, and a draft here.
fn opened() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    let batch = left(groupdesk::operations::BatchId(12)).batch;
    let found = Attention {
        concerns: vec![
            concern(
                TESTING,
                Matter::Rotation(RotationId(1), State::Unknown, id("globex")),
            ),
            concern(PRODUCTION, Matter::Batch(Box::new(batch))),
            concern(TESTING, Matter::Draft(id("acme-eu"), BEGIN)),
        ],
        ages: Vec::new(),
        profiles: 2,
    };
    scene.answer_with(Outcome::Attention(Box::new(found)));
    scene
}

fn asked(scene: &Scene) -> Vec<(ProfileIndex, &Job)> {
    let jobs = scene.pending.iter();
    jobs.map(|(_, profile, job)| (*profile, job)).collect()
}

#[test]
fn what_waits_stands_worst_first_with_its_next_step_and_is_counted_in_line_1() {
    let scene = opened();
    scene
        .shows("3 items in 2 profiles")
        .shows("> ? rotation unknown")
        .shows("testing globex")
        .shows("r read it; never rotate")
        .shows("x batch unfinished")
        .shows("R resume: 1 of 2 left")
        .shows("d draft");
    let screen = scene.screen();
    let first = screen.lines().next().expect("line 1");
    assert!(first.contains("!1 +1"), "a draft is not counted: {first}");
}

#[test]
fn an_unknown_rotation_is_settled_in_two_keys() {
    let mut scene = opened();
    scene.keys("r");
    assert_eq!(asked(&scene), [(ProfileIndex(TESTING), &Job::Settle)]);
    scene.keys("<tab>");
    scene.shows("2 items in this profile");
    assert!(!scene.screen().contains("batch unfinished"));
}

#[test]
fn a_batch_of_another_profile_is_resumed_there() {
    let mut scene = opened();
    scene.keys("R");
    scene.says("this row is no batch");
    scene.later(1).keys("jR");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    let jobs = asked(&scene);
    let planned = Job::PlanResumption(groupdesk::operations::BatchId(12));
    assert!(
        jobs.contains(&(ProfileIndex(PRODUCTION), &planned)),
        "{jobs:?}"
    );
}

#[test]
fn a_draft_is_opened_by_its_key() {
    let mut scene = opened();
    scene.keys("jje");
    assert_eq!(scene.focus(), "EditName");
}
