//! Help and palette find by meaning: other words for an action, the profiles and saved views, and what is not possible.

use super::{
    attention::{attention, unknown},
    prelude::*,
};

/// What somebody types who does not know the names here, and the line that the palette must have first.
#[test]
fn the_first_line_is_what_is_meant() {
    for (word, first) in [
        (
            "delete",
            "delete a group (the service cannot; rotate its token",
        ),
        ("leaked", "W                  find the group of a token"),
        ("copy", "y                  copy ID, name or more"),
        ("undo", "2                  history of this profile"),
        ("rename", "e                  edit name"),
        ("search", "/                  filter"),
        ("export", "w                  export marked, else shown"),
        ("note", "a                  note and labels of the group"),
        ("mark", "Space              mark / unmark"),
        ("sort", "s                  sort by next column"),
        ("revoke", "t                  token: show"),
        ("regenerate", "t                  token: show"),
        (
            "clone",
            "o                  open a group by ID, or create one",
        ),
        ("permissions", "P F6               switch profile"),
        ("who", "2                  history of this profile"),
        ("logs", "2                  history of this profile"),
        ("who changed", "2                  history of this profile"),
        ("alarm", "0 !                what needs attention"),
        (
            "compromised",
            "W                  find the group of a token",
        ),
        ("invalidate", "t                  token: show"),
        ("mass", "5                  batches"),
        ("rotate all", "*                  mark all shown"),
        (
            "disable",
            "delete a group (the service cannot; rotate its token",
        ),
        (
            "lock",
            "delete a group (the service cannot; rotate its token",
        ),
        ("handoff", "h                  run the hand-off"),
        (
            "settings",
            "settings: edit the configuration (run groupdesk config edit)",
        ),
        (
            "config",
            "settings: edit the configuration (run groupdesk config edit)",
        ),
        ("version", "version of groupdesk (run groupdesk version)"),
        (
            "backup",
            "back up the directory (run groupdesk directory backup FILE)",
        ),
        (
            "import",
            "import groups from a file (run groupdesk import FILE)",
        ),
        ("doctor", "test the set-up (run groupdesk doctor)"),
        ("csv", "w                  export marked"),
        ("views", "v                  "),
        ("quit", "q                  back; at the top: quit"),
        ("help", "? F1               help"),
        ("refresh", "r F5 Ctrl-R        refresh"),
        ("pause", "p                  "),
        ("production", "profile            switch to production"),
        ("profile", "profile            switch to"),
        ("settle", "3                  rotations"),
        ("unlock", "3                  rotations"),
        ("stolen", "W                  find the group of a token"),
        ("roll", "2                  history of this profile"),
        ("pin", "f                  add / remove favourite"),
        ("health", "test the set-up (run groupdesk doctor)"),
    ] {
        assert_first(word, first);
    }
}

/// The palette over the list has this line first.
#[track_caller]
fn assert_first(words: &str, first: &str) {
    let mut scene = Scene::on(TESTING);
    scene.walk(":").walk(words);
    let screen = scene.screen();
    let line = screen.lines().find(|line| line.contains(" > "));
    let line = line.unwrap_or_else(|| panic!("no line is chosen:\n{screen}"));
    let (_, line) = line.split_once(" > ").expect("found");
    assert!(line.trim_start().starts_with(first), "{words}: {line}");
}

/// An action does something else on another screen, and has other words there.
#[test]
fn an_action_of_several_screens_is_found_by_the_words_of_each() {
    for (words, first) in [
        (
            "report",
            "w                  save the report to a file (in Batches)",
        ),
        (
            "save report",
            "w                  save the report to a file (in Batches)",
        ),
        (
            "check open",
            "r F5 Ctrl-R        check open ones (reads only) (in Rotations)",
        ),
        (
            "check unknown",
            "r F5 Ctrl-R        check unknown ones (reads only), ref",
        ),
        (
            "preview request",
            "Ctrl-S F2          preview the request (in Edit)",
        ),
        ("send only", "y                  send (only y) (in Review)"),
    ] {
        assert_first(words, first);
    }
    Scene::walked(TESTING, ":save report<enter>").says("Not available: only in Batches");
}

#[test]
fn what_is_not_possible_says_why_and_does_nothing() {
    for opening in ["?", ":"] {
        let mut scene = Scene::on(TESTING);
        scene.walk(opening).hides("service cannot");
        scene.walk("delete");
        let instead = "the service cannot; rotate its token to lock it out";
        scene.shows(instead);
        assert_eq!(scene.keys("<enter>"), []);
        scene.says(instead);
    }
}

/// What is not done here is found on every page, with its reason or the command that does it.
#[test]
fn a_command_is_found_on_every_page() {
    for page in ["", "2", "0", "e", "t", "<space>B", "<enter>", "v", "m"] {
        for (word, what) in [
            ("handoff", "groupdesk rotations handoff"),
            ("settings", "groupdesk config edit"),
            ("version", "groupdesk version"),
            ("delete", "the service cannot"),
            ("lock", "the service cannot"),
            ("backup", "groupdesk directory backup"),
            ("production", "production"),
            ("undo", "undo"),
            ("find", "filter"),
            ("leaked", "find the group of a token"),
            ("copy", "copy"),
            ("views", "view"),
            ("sort", "sort"),
            ("quit", "quit"),
            ("help", "help"),
            ("pause", "pause"),
            ("history", "history"),
            ("who", "history"),
            ("export", "export"),
            ("csv", "export"),
        ] {
            let mut scene = Scene::walked(TESTING, page);
            scene.keys("<ctrl-p>");
            scene.keys(word);
            scene.at("Palette").hides("No command").shows(what);
        }
    }
    let mut scene = Scene::walked(TESTING, ":settings");
    assert_eq!(scene.keys("<enter>"), []);
    scene.says("Not possible here: run groupdesk config edit");
}

/// Also in the smallest usual window.
#[test]
fn a_reason_is_read_whole_at_80_columns() {
    let mut scene = Scene::on(TESTING);
    scene.app.context.size = (80, 24);
    for (_, words, why) in keymap::NOT_HERE {
        let word = words.split(' ').next().expect("a word");
        scene.walk(":").walk(word).shows(&format!("({why})"));
        scene.walk("<esc>");
    }
    let why = "prop.tier:gold: did you mean prop:? In quotes it is a word";
    scene.walk("/prop.tier:gold").shows(why);
    scene.walk("<enter>").shows(why);
    // On the other pages it is below a filter that takes the room.
    let why = "sinc:7d: did you mean since:? In quotes it is a word";
    let mut scene = attention(vec![unknown(TESTING)]);
    scene.app.context.size = (80, 24);
    scene.walk("/leaked tokens of the eu sinc:7d").shows(why);
}

/// The help knows the words of the palette, also those for what is done elsewhere.
#[test]
fn help_and_palette_find_the_same_words() {
    let words = "theme dark light color pause stop failed rollback login report curl url submit redo logout health apikey \
        stuck pending acknowledge datasource schema unselect mouse wrap reader paste print share link keyboard";
    for opening in ["?", ":"] {
        for word in words.split_whitespace() {
            let mut scene = Scene::walked(TESTING, opening);
            scene.hides("dark colours");
            scene.walk(word).hides("No key").hides("No command");
        }
    }
    Scene::walked(TESTING, "?dark<enter>").at("List");
}

#[test]
fn every_action_has_other_words() {
    for focus in Focus::ALL {
        for row in keymap::bindings(focus) {
            assert!(!row.action.synonyms().is_empty(), "{:?}", row.action);
        }
    }
}

#[test]
fn labels_are_offered_where_there_is_a_group() {
    let mut scene = Scene::on(TESTING);
    let vip = "vip".parse().expect("a label");
    let known = Annotation {
        labels: [vip].into(),
        ..Annotation::default()
    };
    scene
        .app
        .context
        .annotations
        .take(&[(id("acme-eu"), known)]);
    scene.msg(Msg::Tick);
    scene
        .walk("2:vip")
        .shows("labels need a group; open a group or the list");
    scene.walk("<esc><esc>:vip").hides("labels need a group");
}
