//! The external editor: the text it is given, and what is done with the text it leaves. Nothing is sent.

use super::prelude::*;

/// Opens the editor by a script. Returns the ticket, the name of the temporary file, and its text.
#[track_caller]
fn open_editor(scene: &mut Scene, script: &str) -> (Ticket, &'static str, String) {
    let effects = scene.keys(script);
    let [Effect::OpenEditor(ticket, outside)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    (*ticket, outside.file, outside.text.clone())
}

fn close_editor(scene: &mut Scene, ticket: Ticket, text: &str) {
    let effects = scene.msg(Msg::Edited(ticket, Ok(text.to_owned())));
    assert_eq!(effects, [], "nothing is sent");
    scene.answer();
}

#[test]
fn the_whole_group_is_edited_and_taken_over() {
    let mut scene = Scene::on(TESTING);
    let (ticket, file, text) = open_editor(&mut scene, "E");
    scene.at("EditName");
    assert_eq!(file, "group.json");
    let expected = r#"{
  "user_group_id": "acme-eu",
  "name": "Name of acme-eu",
  "mapping": {
    "7": "40"
  },
  "properties": {
    "tier": "gold"
  }
}"#;
    assert_eq!(text, expected);
    let edited = text.replace("\"40\"", "\"213\"").replace("gold", "silver");
    close_editor(&mut scene, ticket, &edited);
    scene.shows("2 changes");
    let (ticket, ..) = open_editor(&mut scene, "<tab>E");
    close_editor(&mut scene, ticket, &edited);
    scene.says("Nothing was changed in the editor");
}

#[test]
fn a_group_that_cannot_be_parsed_is_kept_and_opened_again() {
    let mut scene = Scene::on(TESTING);
    let (ticket, _, text) = open_editor(&mut scene, "E");
    let broken = text.replace("\"mapping\":", "\"mapping\"");
    close_editor(&mut scene, ticket, &broken);
    scene.says("line 4, column 13: expected `:`");
    scene.shows("a text from the editor");
    assert_eq!(scene.keys("<ctrl-s>"), [], "no review of half a text");
    scene.says("is not valid");
    // The text is part of the draft.
    scene.walk("<esc>").shows("> d ");
    let (ticket, _, text) = open_editor(&mut scene, "E");
    assert_eq!(text, broken);
    close_editor(&mut scene, ticket, &broken);
    scene.says("line 4, column 13");
    let (ticket, ..) = open_editor(&mut scene, "<f4>");
    close_editor(&mut scene, ticket, "\n");
    scene
        .says("the group stays unchanged")
        .shows("nothing changed");
}

/// What is typed in an editor is typed, not taken over from a group.
#[test]
fn a_part_of_a_token_from_the_editor_is_not_reviewed() {
    const PART: &str = "9fceb02d0ae598e95dc970b7";
    let mut scene = Scene::on(TESTING);
    let (ticket, _, text) = open_editor(&mut scene, "E");
    close_editor(
        &mut scene,
        ticket,
        &text.replace("\"40\"", &format!("\"{PART}\"")),
    );
    scene.walk("<ctrl-s>");
    scene.says("No review yet: mapping: looks like a token; if not: groupdesk apply FILE");
    scene.hides(PART).hides("SEND");
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let mut scene = Scene::on(TESTING);
    let (ticket, ..) = open_editor(&mut scene, "E");
    scene.msg(Msg::Edited(ticket, Err("the editor ended with 1".into())));
    scene
        .says("the editor ended with 1")
        .shows("nothing changed");
    assert_eq!(scene.drafts(), 0);
}

#[test]
fn a_group_to_be_created_begins_with_a_template() {
    let mut scene = Scene::on(TESTING);
    scene.walk("onew-group<enter>");
    let (ticket, _, text) = open_editor(&mut scene, "<f4>");
    assert_has(&text, "\"name\": \"\",\n  \"mapping\": {},");
    close_editor(&mut scene, ticket, &text.replace("\"\"", "\"New\""));
    scene.shows_all(["1 change", "New"]);
}

#[test]
fn a_group_text_with_a_token_is_kept_without_the_token() {
    let mut scene = Scene::on(TESTING);
    let (ticket, ..) = open_editor(&mut scene, "E");
    let answer = r#"{"user_group_id": "acme-eu", "token": "canary-token"}"#;
    close_editor(&mut scene, ticket, answer);
    scene.says("kept without the token");
    let (.., text) = open_editor(&mut scene, "<f4>");
    assert_has(&text, "\"token\": \"xxx");
    assert!(!format!("{:?}", scene.app).contains("canary-token"));
}
