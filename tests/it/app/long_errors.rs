//! An error in a dialogue is shown whole: its end says what to do.

use super::prelude::*;

const LONG: &str = "Not written: the file /home/ana/exports/of/this/year/testing.jsonl already exists and belongs to another \
    user of this machine, so nothing was changed; choose another name, or remove that file first, or ask its owner to do so and to \
    tell you when it is done, then press Enter again";

const SIZES: [(u16, u16); 3] = [(60, 20), (80, 24), (120, 36)];

fn sized(scene: &mut Scene, (width, height): (u16, u16)) {
    scene.msg(Msg::Resize(width, height));
}

/// All words of the error stand on the page in their order, above the line of messages.
#[track_caller]
fn shows_all_of(scene: &Scene, what: &str) {
    let screen = scene.screen();
    // A long word continues on the next row.
    let whole = LONG.replace(' ', "");
    let mut left = whole.as_str();
    for word in screen.split(|sign: char| sign.is_whitespace() || sign == '│') {
        left = left.strip_prefix(word).unwrap_or(left);
    }
    assert!(left.is_empty(), "{what}: {left:?} is missing\n{screen}");
}

/// In every place that takes a line of text, with a message of something else.
#[test]
fn an_error_of_any_field_is_shown_whole_below_the_field_and_nothing_lies_over_it() {
    let mut fields = 0;
    for (script, focus) in places() {
        for size in SIZES {
            let mut scene = Scene::walked(TESTING, script);
            sized(&mut scene, size);
            let pane = scene.app.stack.last_mut().expect("a pane").view_mut();
            let Some(field) = pane.field().filter(|_| shows_errors(focus)) else {
                continue;
            };
            field.error = Some(LONG.to_owned());
            let label = field.label.clone();
            fields += 1;
            let what = format!("{script} {focus:?} {size:?}");
            shows_all_of(&scene, &what);
            scene.shows(&label);
            let other = "The list was read again after the connection was lost for a while, and much of it is new";
            scene.app.context.say(Severity::Error, other.repeat(3));
            shows_all_of(&scene, &format!("{what} with a message"));
            scene.shows(&label);
        }
    }
    assert!(fields >= 3 * 10, "{fields}");
}

/// Others say beside the line, in the review below or in a message what is wrong.
fn shows_errors(focus: Focus) -> bool {
    use Focus::{BulkEditField, EditCell, EditName, Filter, Help, Palette};
    !matches!(
        focus,
        BulkEditField | Filter | Help | Palette | EditCell | EditName
    )
}

#[test]
fn the_words_for_an_empty_list_are_not_cut() {
    for size in [(60, 20), (80, 24), (100, 30), (120, 36), (160, 50)] {
        let mut scene = Scene::on(TESTING);
        sized(&mut scene, size);
        scene.open("r", list_of(Vec::new()));
        scene.answer();
        let screen = scene.screen();
        let whole = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(whole.contains("No groups yet"), "{screen}");
        assert!(whole.contains("import FILE"), "{size:?}\n{screen}");
        assert!(whole.contains("known"), "{size:?}\n{screen}");
    }
}
