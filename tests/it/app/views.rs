//! Saved views and columns on the screen, while others save and remove views.

use groupdesk::tui::state::message::{Job, Msg, Outcome};

use super::scene::{Scene, TESTING, canned_outcome};
use crate::support::assertions::assert_lacks;

/// The dialog with one saved view, whose removal is pending.
fn removing() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.walk("vwnight<enter>").shows("@night");
    scene.keys("gDy");
    scene
}

fn answer_the_removal(scene: &mut Scene) {
    let asked = |(.., job): &(_, _, Job)| matches!(job, Job::RemoveView(_));
    let at = scene.pending.iter().position(asked).expect("asked");
    let (ticket, profile, job) = scene.pending.remove(at);
    let outcome = canned_outcome(profile, &job);
    assert!(matches!(&outcome, Outcome::SavedViews(left, _) if left.is_empty()));
    scene.msg(Msg::Done(ticket, outcome));
    assert_lacks(&scene.screen(), "Saved views");
}

#[test]
fn the_cursor_stays_on_its_column_when_a_view_is_removed() {
    for (keys, column) in [("jj", "id"), ("G", "tag")] {
        let mut scene = removing();
        scene.keys(keys);
        scene.shows(&format!("> [x] {column}"));
        answer_the_removal(&mut scene);
        scene.shows(&format!("> [x] {column}"));
        scene.keys("<space>");
        scene.shows(&format!("[ ] {column}"));
    }
}

#[test]
fn id_or_name_must_stay_visible() {
    let mut scene = Scene::on(TESTING);
    scene.walk("vj<space>").shows("[ ] id");
    scene.walk("g<space>");
    scene.says("the list needs ID or name").shows("[x] name");
}

#[test]
fn after_a_create_the_cursor_is_on_the_new_group() {
    let mut scene = Scene::on(TESTING);
    scene.walk("ofirst-one<enter>Between<ctrl-s>y");
    scene.shows("CREATED");
    scene.walk("<esc>");
    assert_eq!(scene.focus(), "List");
    scene.shows(">   Between");
}
