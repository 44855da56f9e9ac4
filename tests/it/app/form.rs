//! The form: typing into its three fields, both views of the properties, and what it says about them.

use groupdesk::tui::state::message::{Job, Msg};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::scene::{Scene, TESTING, base, wanted};

/// What the form on the screen would send, taken from the review's job.
fn sent(scene: &mut Scene) -> groupdesk::domain::change::DesiredFields {
    scene.walk("<ctrl-s>");
    scene.keys("y");
    match scene.writes().as_slice() {
        [Job::Update { wanted, .. }] => wanted.clone(),
        other => panic!("{other:?}"),
    }
}

fn paste(scene: &mut Scene, text: &str) {
    scene.msg(Msg::Paste(text.to_owned()));
}

#[test]
fn rows_and_json_are_one_value() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab><tab><f3>");
    assert_eq!(scene.focus(), "EditRows");
    scene.shows("Properties: key, type, value").shows("F3 JSON");
    scene.walk("<enter>en<enter>aseats<enter>");
    assert_eq!(scene.focus(), "EditType");
    scene.walk("<right><enter>12345678901234567890.10<enter>");
    scene
        .shows("was gold")
        .shows("would change: properties ~1 +1");
    scene.walk("<f3>");
    scene
        .shows("Properties: a JSON object")
        .shows("\"seats\": 12345678901234567890.10");
    let expected = wanted(
        "Name of acme-eu",
        &[("7", "40")],
        r#"{"tier":"golden","seats":12345678901234567890.10}"#,
    );
    assert_eq!(sent(&mut scene), expected);
}

#[test]
fn the_next_form_opens_in_the_view_of_the_last() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab><tab><f3><esc><down>e<tab><tab>");
    assert_eq!(scene.focus(), "EditRows");
    scene.walk("<f3><esc><up>e<tab><tab>");
    assert_eq!(scene.focus(), "EditProperties");
}

#[test]
fn invalid_json_keeps_its_view_and_its_text() {
    let mut scene = Scene::on(TESTING);
    scene
        .walk("e<tab><tab>x<f3>")
        .says("Not available: line 1, column 1: expected value");
    assert_eq!(scene.focus(), "EditProperties");
    scene.shows("1 x{").shows("! properties: line 1");
    scene
        .walk("<ctrl-s>")
        .says("No review yet: properties: line 1, column 1");
    // The next key takes the message away.
    scene.walk("<right>");
    assert!(!scene.screen().contains("No review yet"));
    scene.walk("<backspace><f3>");
    assert_eq!(scene.focus(), "EditRows");
    // An invalid cell cannot be left for the review or for another field.
    scene.walk("<left><enter><right><enter>");
    scene.shows("! not a number").shows("a problem");
    scene.walk("<ctrl-s>").says("Properties: not a number");
    assert_eq!(scene.focus(), "EditCell");
    scene.walk("<tab>");
    assert_eq!(scene.focus(), "EditCell");
    scene.walk("<esc><tab>");
    assert_eq!(scene.focus(), "EditName");
    scene.shows("nothing changed");
}

#[test]
fn an_invalid_cell_survives_leaving_the_form() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab><tab><f3><left><enter><right><enter><ctrl-u>12 kg");
    scene.walk("<ctrl-c>");
    assert_eq!(scene.focus(), "List");
    scene.walk("e");
    scene.shows("\"tier\": 12 kg").shows("line 2, column 14");
    assert_eq!(scene.focus(), "EditProperties");
    scene.walk("<esc>");
    assert_eq!(scene.app.context.drafts.len(), 1);
}

#[test]
fn a_chosen_type_counts_before_the_cell_is_left() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab><tab><f3><left><enter><right><right><right>");
    scene.shows("<null>").shows("properties ~1");
    let mut expected = base("acme-eu");
    expected.properties = serde_json::from_str(r#"{"tier":null}"#).ok();
    assert_eq!(sent(&mut scene), expected);
}

#[test]
fn a_change_begins_at_the_data_source_and_says_who_else_has_it() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab>").shows("40: also in globex");
    scene.walk("<enter><ctrl-u>213");
    scene.shows("40: also in globex").shows("was 40");
    scene
        .walk("<enter>")
        .shows("213: used by no other known group");
    assert_eq!(
        sent(&mut scene),
        wanted("Name of acme-eu", &[("7", "213")], r#"{"tier":"gold"}"#)
    );
}

#[test]
fn only_what_differs_is_marked() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end>!");
    scene
        .shows("~name  Name of acme-eu!")
        .shows("was Name of acme-eu");
    scene.walk("<backspace>");
    assert!(!scene.screen().contains('~'), "{}", scene.screen());
    scene
        .walk("<tab><tab><down><end><left>en")
        .shows(" 2~  \"tier\": \"golden\"   was \"gold\"");
    scene.shows("would change: properties ~1");
    scene.msg(Msg::Resize(160, 50));
    scene.shows("~ tier  \"gold\" → \"golden\"");
    assert!(!scene.screen().contains("would change:"));
}

#[test]
fn several_rows_are_pasted_with_their_header() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab>");
    paste(&mut scene, "schema_id,data_source_id\n7,213\n8,214\n");
    scene.says("Pasted: 1 row added, 1 changed; z undoes");
    scene.shows("would change: mapping ~1 +1");
    scene.walk("z").shows("nothing changed");
    scene.walk("<tab><f3>");
    paste(&mut scene, "{\"tier\": \"silver\", \"on\": true}");
    scene.says("Pasted: 1 property added, 1 changed; z undoes");
    paste(&mut scene, "rubbish");
    scene.says("not pasted: neither a JSON object nor lines of key and value");
    scene.walk("<up><enter>");
    paste(&mut scene, "more");
    scene.hides("not pasted");
    scene.walk("<esc>z").shows("nothing changed");
}

#[test]
fn undo_and_redo_in_the_json() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab><tab>x");
    let control = |c| Msg::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    scene.msg(control('7'));
    scene.shows("nothing changed");
    scene.msg(control('y'));
    scene.shows("1 x{");
    scene.walk("<f1>");
    scene.shows("Ctrl-_").shows("Ctrl-Y");
}

/// JSON on one line, as programs write it: a key costs time for what is visible, not for the whole text.
#[test]
fn a_megabyte_on_one_line_is_edited() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<tab><tab><end>");
    let filler = "é".repeat(90);
    let entries: Vec<String> = (0..4_800)
        .map(|n| format!("\"key-{n}\":\"{filler} välue {n}\""))
        .collect();
    paste(&mut scene, &entries.join(","));
    paste(&mut scene, ",");
    scene.keys("\"x\": 1,  <left><left>");
    scene.shows("välue 4799\",\"x\": 1,");
    scene.shows("4801 changes");
    for _ in 0..20 {
        scene.keys("<backspace>");
    }
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
        let mut scene = Scene::on(TESTING);
        scene.walk("e<tab><tab><f3>");
        paste(&mut scene, &properties);
        scene.walk("<tab>").shows("! properties: ").shows(words);
        scene.walk("<ctrl-s>");
        scene.says("No review yet: properties: ").says(words);
        assert_eq!(scene.focus(), "EditRows", "the focus goes there");
        assert_eq!(scene.writes(), Vec::<&Job>::new());
        // The text is not lost.
        scene.walk("<esc>e<tab><tab>").shows(words);
    }
}

#[test]
fn editing_with_marks_says_that_only_one_group_is_edited() {
    let mut scene = Scene::on(TESTING);
    scene
        .walk("<space>j<space>e")
        .says("only, not the 2 marked");
}
