//! Saved views and columns on the screen, while others save and remove views.

use super::prelude::*;

/// The dialog with one saved view, whose removal is pending.
fn removing() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.walk("vwnight<enter>").shows("@night");
    scene.keys("gDy");
    scene
}

fn answer_the_removal(scene: &mut Scene) {
    scene.answer_canned(|job| matches!(job, Job::RemoveView(_)));
    scene.hides("Saved views");
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
    let mut scene = Scene::walked(TESTING, "ofirst-one<enter>Between<ctrl-s>y");
    scene.shows("CREATED");
    scene.walk("<esc>").at("List").shows(">   Between");
    // A filter that hides it leaves the cursor on another one.
    let mut scene = Scene::walked(TESTING, "/acme<enter>ofirst-one<enter>Between<ctrl-s>y");
    scene.shows("CREATED");
    let hidden = "The filter hides \"first-one\": Esc clears it";
    scene.walk("<esc>").at("List").says(hidden);
    scene.walk("<esc>").shows(">   Between");
    let mut scene = Scene::walked(TESTING, "/first<enter>ofirst-one<enter>Between<ctrl-s>y");
    scene.walk("<esc>").shows(">   Between").hides("hides");
}

#[test]
fn only_a_shown_column_is_said_to_be_left_out() {
    let mut scene = Scene::on(TESTING);
    scene.msg(Msg::Resize(120, 40));
    scene.walk("v");
    let notes = |scene: &Scene, mark: &str| {
        let screen = scene.screen();
        let rows = screen.lines().filter(|line| line.contains(mark));
        rows.filter(|line| line.contains("empty: omitted")).count()
    };
    assert!(notes(&scene, "[x]") > 0, "{}", scene.screen());
    scene.walk("G<space>g");
    for _ in 0..20 {
        scene.walk("j<space>");
    }
    assert_eq!(notes(&scene, "[ ]"), 0, "{}", scene.screen());
}
