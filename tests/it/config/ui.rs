//! Configuration of colours, the mouse and the plain mode.

use groupdesk::config::{Background, Colour, Role, UiSettings};

use super::{Home, has_problem, problems};

fn ui_settings(text: &str) -> UiSettings {
    Home::with_file(text).load().expect("a good file").ui
}

#[test]
fn by_default_the_terminal_decides_and_keeps_its_mouse() {
    let usual = ui_settings("");
    assert_eq!(usual, UiSettings::default());
    assert!(!usual.mouse && !usual.plain);
    assert_eq!(usual.ground, Background::Asked);
}

#[test]
fn every_form_of_a_colour_is_accepted() {
    let asked = ui_settings(
        "mouse = true\nplain = true\n[theme]\nbase = \"dark\"\nerror = \"light-red\"\nok = \"#0Af010\"\ndim = 244\nkey = \"default\"\njson_key = 0x10\n",
    );
    assert!(asked.mouse && asked.plain);
    assert_eq!(asked.ground, Background::Dark);
    assert_eq!(
        asked.colours,
        [
            (Role::Error, Colour::Named(9)),
            (Role::Ok, Colour::Rgb(0x0a, 0xf0, 0x10)),
            (Role::Key, Colour::Default),
            (Role::JsonKey, Colour::Index(16)),
            (Role::Dim, Colour::Index(244)),
        ]
    );
}

#[test]
fn a_bad_value_is_refused_with_its_position_and_the_nearest_name() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("mouse = \"on\"", (1, 9), "mouse must be true or false"),
        ("theme = \"dark\"", (1, 9), "theme must be a table: put [theme] on its own line"),
        ("[theme]\nbase = \"drak\"", (2, 8), "did you mean \"dark\"?"),
        ("[theme]\nerorr = \"red\"", (2, 1), "did you mean \"error\"?"),
        ("[theme]\n\nerror = \"lite-red\"", (3, 9), "error is not a colour: \"lite-red\"; did you mean \"light-red\"?"),
        ("[theme]\nok = \"#12345\"", (2, 6), "a name such as \"light-blue\", \"#rrggbb\", or a number from 0 to 255"),
        ("[theme]\nok = \"#+12345\"", (2, 6), "#rrggbb"),
        ("[theme]\nok = 256", (2, 6), "from 0 to 255"),
        ("[theme]\nok = -1", (2, 6), "from 0 to 255"),
        ("[theme]\nok = true", (2, 6), "is of type boolean"),
    ];
    for (text, place, part) in table {
        has_problem(text, place, part);
        assert_eq!(problems(text).len(), 1, "{text}");
    }
}
