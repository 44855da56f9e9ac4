//! The form: typing into its three fields, both views of the properties, and what it says about them.

use super::prelude::*;

fn paste(scene: &mut Scene, text: &str) {
    scene.msg(Msg::Paste(text.to_owned()));
}

#[test]
fn rows_and_json_are_one_value() {
    let mut scene = Scene::walked(TESTING, "e<tab><tab><f3>");
    scene
        .at("EditRows")
        .shows_all(["Properties: key, type, value", "F3 JSON"]);
    scene.walk("<enter>en<enter>aseats<enter>").at("EditType");
    scene.walk("<right><enter>12345678901234567890.10<enter>");
    scene.shows_all(["was gold", "would change: properties ~1 +1"]);
    scene.walk("<f3>");
    scene
        .shows("Properties: a JSON object")
        .shows("\"seats\": 12345678901234567890.10");
    scene.walk("<ctrl-s>").keys("y");
    let expected = wanted(
        "Name of acme-eu",
        &[("7", "40")],
        r#"{"tier":"golden","seats":12345678901234567890.10}"#,
    );
    let update = scene.write();
    assert!(
        matches!(update, Job::Update { wanted, .. } if *wanted == expected),
        "{update:?}"
    );
}

#[test]
fn the_next_form_opens_in_the_view_of_the_last() {
    let mut scene = Scene::on(TESTING);
    let keys = "e<tab><tab><f3><esc><down>e<tab><tab>";
    scene.walk(keys).at("EditRows");
    scene.walk("<f3><esc><up>e<tab><tab>").at("EditProperties");
}

#[test]
fn invalid_json_keeps_its_view_and_its_text() {
    let mut scene = Scene::walked(TESTING, "e<tab><tab>x<f3>");
    scene
        .at("EditProperties")
        .says("Not available: line 1, column 1: expected value")
        .shows_all(["1 x{", "! properties: line 1"]);
    scene
        .walk("<ctrl-s>")
        .says("No review yet: properties: line 1, column 1");
    // The next key takes the message away.
    scene.walk("<right>").hides("No review yet");
    scene.walk("<backspace><f3>").at("EditRows");
    // An invalid cell cannot be left for the review or for another field.
    scene.walk("<left><enter><right><enter>");
    scene.shows_all(["! not a number", "a problem"]);
    scene.walk("<ctrl-s>").says("Properties: not a number");
    scene.at("EditCell");
    scene.walk("<tab>").at("EditCell");
    scene.walk("<esc><tab>").at("EditName");
    scene.shows("nothing changed");
    // It survives leaving the form.
    let keys = "e<tab><tab><f3><left><enter><right><enter><ctrl-u>12 kg<ctrl-c>";
    let mut scene = Scene::walked(TESTING, keys);
    scene.at("List");
    scene.walk("e").at("EditProperties");
    scene.shows_all(["\"tier\": 12 kg", "line 2, column 14"]);
    scene.walk("<esc>");
    assert_eq!(scene.drafts(), 1);
}

/// JSON on one line, as programs write it: a key costs time for what is visible, not for the whole text.
#[test]
fn a_megabyte_on_one_line_is_edited() {
    let mut scene = Scene::walked(TESTING, "e<tab><tab><end>");
    let filler = "é".repeat(90);
    let entry = |n| format!("\"key-{n}\":\"{filler} välue {n}\"");
    let entries: Vec<String> = (0..4_800).map(entry).collect();
    paste(&mut scene, &entries.join(","));
    paste(&mut scene, ",");
    scene.keys("\"x\":1,<left>");
    scene.shows_all(["välue 4799\",\"x\":1,", "4801 changes"]);
    scene.keys("<backspace><backspace>");
    scene.shows("a problem");
}

#[test]
fn properties_too_large_for_an_answer_get_no_review() {
    let values = serde_json::to_string(&vec![0; 5_000]).expect("JSON");
    let long = "x".repeat(1_100_000);
    for (properties, words) in [
        (format!("{{\"a\": {values}}}"), "values"),
        (format!("{{\"a\": \"{long}\"}}"), "bytes of JSON"),
    ] {
        let mut scene = Scene::walked(TESTING, "e<tab><tab><f3>");
        paste(&mut scene, &properties);
        scene.walk("<tab>").shows("! properties: ").shows(words);
        // The focus goes there.
        scene.walk("<ctrl-s>").at("EditRows");
        scene.says("No review yet: properties: ").says(words);
        assert_eq!(scene.writes(), Vec::<&Job>::new());
        // The text is not lost.
        scene.walk("<esc>e<tab><tab>").shows(words);
    }
}

#[test]
fn editing_with_marks_says_that_only_one_group_is_edited() {
    let mut scene = Scene::walked(TESTING, "<space>j<space>e");
    scene.says("only, not the 2 marked");
    scene.walk("<esc>").hides("only, not");
    // Also if it ends otherwise.
    let mut scene = Scene::walked(TESTING, "<space>j<space>ex");
    scene.says("only, not the 2 marked");
    scene.walk("<ctrl-x>y").at("List").hides("only, not");
}

#[test]
fn only_a_new_refusal_removes_a_success() {
    let mut scene = Scene::walked(TESTING, "a<tab>");
    scene.keys("a b!<enter>");
    scene.walk("<tab>").shows("invalid label");
    scene.app.context.say(Severity::Info, "10 groups written");
    // Its field is only gone to.
    scene.walk("<tab>").shows("10 groups written");
    scene.keys("?<enter>");
    scene.hides("10 groups written");
}
