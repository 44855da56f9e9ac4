//! Changed key bindings: the new keys act and stand in footer, help and palette, and the old ones are gone.

use groupdesk::{
    config::{KeyOverride, Overrides, Problem, Settings},
    tui::keymap::Keymap,
};

use super::prelude::*;

/// The key overrides of a configuration file with this text.
fn overrides(text: &str) -> Vec<KeyOverride> {
    let folder = crate::support::folder::temporary();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).expect("written");
    let overrides = Overrides {
        config: Some(file),
        directory: Some(folder.path().join("directory.db")),
        env: [("HOME", folder.path())].into_iter().collect(),
        ..Overrides::default()
    };
    Settings::load(&overrides).expect("readable").keys
}

#[track_caller]
fn keys(text: &str) -> Keymap {
    keymap::resolve(&overrides(text)).expect("sound")
}

#[track_caller]
fn refused(text: &str) -> Vec<Problem> {
    keymap::resolve(&overrides(text)).expect_err("refused")
}

/// The line, the column and the text of the only problem.
#[track_caller]
fn only_problem(text: &str) -> (usize, usize, String) {
    let mut problems = refused(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let Problem { line, column, what } = problems.remove(0);
    (line, column, what)
}

fn on(profile: usize, text: &str) -> Scene {
    let mut scene = Scene::on(profile);
    scene.app.context.keys = keys(text);
    scene
}

#[test]
fn a_changed_key_works_and_is_shown_in_footer_help_and_palette() {
    let text = "[keys]\nedit = [\"&\", \"f9\"]\nquit = [\"ctrl-q\"]\nhelp = [\"H\", \"f1\"]\n";
    let mut scene = on(TESTING, text);
    scene.shows_all(["& edit", "H help"]);
    // The old key is gone.
    scene.walk("e").at("List");
    scene.app.context.size = (120, 50);
    scene.walk("H").at("Help");
    scene.shows_all(["& F9", "Ctrl-Q", "H F1"]);
    scene.walk("<esc>:quit").shows("Ctrl-Q");
    scene.walk("<esc>E").at("EditName").shows("F1 help");
    // A letter is text there.
    scene.walk("q").at("EditName");
    scene.walk("<ctrl-q>").at("List");
    scene.walk("<f4>").at("EditName");
}

#[test]
fn a_change_for_every_place_also_holds_where_a_place_has_its_own_line() {
    let text = "[keys]\nprofiles = [\"L\"]\nhistory = [\"H\"]\ndown = [\"ctrl-n\", \"down\"]\n";
    let mut scene = on(TESTING, text);
    scene.app.context.size = (160, 50);
    scene.shows_all(["H history", "L profile"]);
    scene.walk("<enter>H").at("History");
    scene.walk("<esc><esc><ctrl-n>").shows(">   Name of globex");
    scene.walk("j").shows(">   Name of globex");
    scene.walk("L").at("Profiles");
}

#[test]
fn a_capital_that_does_nothing_names_the_small_letter_that_does() {
    let mut scene = Scene::on(TESTING);
    scene.walk("<enter>").walk("T");
    scene.says("Not available here: T; t: token");
    scene.later(1).walk("Q");
    scene.says("Not available here: Q");
    let mut scene = Scene::on(TESTING);
    scene.walk("/nothing<enter>").walk("X");
    scene.says("Not available here: X");
    scene.hides("x: compare");
}

/// Where characters are text, a letter cannot be a key: the usual one stays.
#[test]
fn a_letter_leaves_the_usual_key_where_text_is_typed() {
    let text = "[keys]\nreview = [\"&\"]\nshow_next = [\"!\"]\nattention = []\n";
    let mut scene = on(TESTING, text);
    scene.walk("e").shows("Ctrl-S review");
    scene.walk("<end> 2<tab>").shows("& review");
    scene.walk("&").shows("y SEND");
    let mut scene = on(TESTING, "[keys]\nnext_field = [\"f10\"]\n");
    scene.walk("e").shows("F10 next field");
    scene.walk("<tab>").at("EditName");
    scene.walk("<f10>").at("EditMapping");
}

#[test]
fn a_changed_key_of_a_field_reaches_it_as_its_default_key() {
    let mut scene = on(TESTING, "[keys]\ndrop = [\"x\"]\nformat = [\"ctrl-f\"]\n");
    scene.walk("e<tab>D").later(1).hides("- ");
    let before = scene.screen();
    scene.walk("x");
    assert_ne!(scene.screen(), before, "the row is dropped");
    scene.shows("x remove");
    scene.walk("<tab>");
    let before = scene.screen();
    scene.walk("<ctrl-t>");
    assert_eq!(scene.screen(), before, "the old key is given up");
    scene.shows("Ctrl-F format");
}

#[test]
fn an_action_without_a_key_is_still_in_the_palette() {
    let mut scene = on(TESTING, "[keys]\nrotate_marked = []\n");
    scene.hides("ROTATE marked");
    scene.walk("<space>T").later(1).at("List");
    scene.walk(":rotate marked<enter>").at("BulkTyped");
}

#[test]
fn a_confirmation_can_be_another_letter_and_nothing_else() {
    let mut scene = on(PRODUCTION, "[keys]\nconfirm = [\"Y\"]\n");
    scene
        .walk("e<end> 2<ctrl-s>")
        .shows_all(["Y SEND", "Y updates acme-eu in production: name."]);
    scene.keys("y");
    assert!(scene.writes().is_empty());
    scene.keys("Y");
    assert_eq!(scene.writes().len(), 1);
    for (keys, words) in [
        ("[\"enter\"]", "single letter"),
        ("[\"space\"]", "single letter"),
        ("[\"ctrl-y\"]", "single letter"),
        ("[\"5\"]", "single letter"),
        ("[]", "needs at least one key"),
        ("[\"Y\", \"Z\"]", "exactly one key"),
    ] {
        let problems = refused(&format!("[keys]\nconfirm = {keys}\n"));
        assert_names(&problems, words);
        assert!(problems.iter().all(|problem| problem.line == 2));
    }
    // The key that asks must not be the key that answers.
    let asks = "leads to a confirmation";
    let (line, _, what) = only_problem("[keys]\nconfirm = [\"T\"]\n");
    assert!(line == 2 && what.contains(asks), "{what}");
    for leading in ["rotate", "resume", "reverse_edit", "retry_failed"] {
        let text = format!("[keys]\n{leading} = [\"Y\"]\nconfirm = [\"Y\"]\n");
        let (line, _, what) = only_problem(&text);
        assert!(line == 3 && what.contains(asks), "{what}");
    }
}

#[track_caller]
fn assert_names(problems: &[Problem], words: &str) {
    let mut all = problems.iter();
    let is_named = all.any(|problem| problem.what.contains(words));
    assert!(is_named, "{words}: {problems:?}");
}

#[test]
fn a_key_with_two_meanings_is_refused_with_both_lines() {
    let (line, column, what) = only_problem("[keys]\nedit = [\"&\"]\n\nsort = [\"&\"]\n");
    assert_eq!((line, column), (4, 1));
    assert_eq!(
        what,
        "the key & is bound twice in list: to edit (line 2) and sort (line 4); choose another key for one of them"
    );
    for (changed, usual) in [
        ("rotate_marked = [\"e\"]", "edit (default)"),
        ("sort = [\"q\"]", "quit (default)"),
        ("quit = [\"e\"]", "edit (default)"),
    ] {
        let (line, _, what) = only_problem(&format!("[keys]\n{changed}\n"));
        assert!(line == 2 && what.contains(usual), "{what}");
    }
    // A swap is no conflict.
    let swapped = "[keys]\nedit = [\"t\"]\ntoken = [\"e\"]\n";
    assert!(keymap::resolve(&overrides(swapped)).is_ok());
}

#[test]
fn unknown_names_are_refused_with_their_position_and_the_nearest_name() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("[keys.list]\nedit = [\"x\"]\n", (1, 7), "[keys.list] is no longer read: an action has the same keys on every screen"),
        ("[keys]\nlist = { edit = [\"x\"] }\n", (2, 1), "put its lines below [keys]"),
        ("[keys]\n\nedti = [\"x\"]\n", (3, 1), "did you mean \"edit\"?"),
        ("[keys]\nhide = [\"x\"]\n", (2, 1), "unknown action \"hide\""),
        ("[keys]\nedit = [\"pgdwn\"]\n", (2, 9), "did you mean \"pgdn\"?"),
        ("[keys]\nedit = [\"x\", \"ctrl-i\"]\n", (2, 14), "\"tab\""),
        ("[keys]\nedit = [\"alt-x\"]\n", (2, 9), "unknown key \"alt-x\""),
        ("[keys]\nedit = [\"x\", \"x\"]\n", (2, 14), "twice"),
        ("[keys]\ndiscard = [\"f12\"]\nformat = [\"x\"]\n", (3, 11), "types text where the action applies"),
        ("[keys]\nmove_between_cells = [\"x\"]\n", (2, 1), "belong to the field"),
    ];
    for (text, place, words) in table {
        let (line, column, what) = only_problem(text);
        assert_eq!((line, column), place, "{what}");
        assert!(what.contains(words), "{what}");
    }
}

#[test]
fn keys_that_leave_cannot_be_unbound() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("[keys]\ncancel = [\"x\"]\n", "\"ctrl-c\" must stay bound"),
        ("[keys]\nback = [\"x\"]\n", "\"esc\" must stay bound"),
        ("[keys]\nhelp = [\"x\"]\n", "\"f1\" must stay bound"),
        ("[keys]\nedit = [\"ctrl-c\"]\n", "cannot be rebound"),
        ("[keys]\nedit = [\"esc\"]\n", "cannot be rebound"),
        ("[keys]\nedit = [\"f1\"]\n", "cannot be rebound"),
        ("[keys]\nback = []\n", "must stay bound"),
    ];
    for (text, words) in table {
        assert_names(&refused(text), words);
    }
    let more = keys("[keys]\nback = [\"esc\", \"backspace\"]\n");
    for focus in Focus::ALL {
        let back = more.bindings(focus).iter();
        let mut ways = back.filter(|bound| bound.shown().split(' ').any(|key| key == "Esc"));
        assert!(ways.next().is_some(), "{focus:?}");
    }
    // A field keeps the keys it edits with.
    let mut scene = on(TESTING, "[keys]\nback = [\"esc\", \"backspace\"]\n");
    scene.walk("e<end>x<backspace>").at("EditName");
    scene.walk("<esc><enter><backspace>").at("List");
}

#[test]
fn the_defaults_of_the_example_are_the_defaults() {
    let text = include_str!("../../../assets/config.example.toml");
    let changes = overrides(text);
    assert!(changes.len() >= 10, "{changes:?}");
    let (usual, same) = (Keymap::default(), keymap::resolve(&changes).expect("sound"));
    let mut named = 0;
    for focus in Focus::ALL {
        for (one, other) in usual.bindings(focus).iter().zip(same.bindings(focus)) {
            assert_eq!(one.shown(), other.shown(), "{} in {focus:?}", one.name());
            named += usize::from(other.written.is_some());
        }
    }
    assert!(named >= changes.len(), "every key in the example exists");
}
