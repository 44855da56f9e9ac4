//! The guarantees of the two views: they show the same value, and what is not touched stays as it was written.

use proptest::prelude::*;
use ratatui::crossterm::event::KeyCode;

use super::*;
use crate::tui::kit::{
    json_editor::object,
    testing::{THEME, key, row_keys, screen, typed},
};

/// As a person may have written it.
const TEXT: &str = r#"{"tier":"gold", "seats" : 12345678901234567890.10,
  "beta": true,"owner":{ "team":"night",
    "on_call":[1,2.50] },"note":null}"#;

fn known(json: &str) -> PropertiesField {
    PropertiesField::new(Some(&parse(json).expect("properties")))
}

/// The rows of a text that equals what was known.
fn rows_of(text: &str) -> PropertiesField {
    let mut field = known(text);
    field.set_text(text);
    assert!(field.switch());
    field
}

/// See [`typed`].
fn keys(field: &mut PropertiesField, text: &str) {
    for event in typed(text) {
        field.key(event);
    }
}

/// Types, and checks where the focus is and what the text is then.
#[track_caller]
fn types(field: &mut PropertiesField, text: &str, place: PropertiesFocus, then: &str) {
    keys(field, text);
    assert_eq!((field.place(), &*field.text()), (place, then));
}

fn drawn(field: &PropertiesField, width: u16, height: u16) -> String {
    screen(width, height, |buffer, area| {
        field.draw(buffer, area, THEME, true, &row_keys());
    })
}

#[test]
fn a_flat_object_is_a_table() {
    let mut field = rows_of(TEXT);
    keys(&mut field, "\n␕silver\njj\njDaregion\n\neu\n");
    insta::assert_snapshot!(drawn(&field, 76, 9), @r#"
       KEY          TYPE         VALUE
     ~ tier         text         silver                          was gold
       seats        number       12345678901234567890.10
     ~ beta         true/false   false                           was true
     - owner        JSON         {"team": "night", "on_call": [… will be removed
       note         null         null
    >+ region       text         eu                              new
    "#);
    let text = r#"{"tier":"silver", "seats" : 12345678901234567890.10,
  "beta": false,"note":null,"region": "eu"}"#;
    types(&mut field, "", PropertiesFocus::Rows, text);
}

#[test]
fn what_is_not_touched_stays_as_it_was_written() {
    let mut field = rows_of(TEXT);
    keys(&mut field, "j\n\n");
    assert_eq!(field.text(), TEXT, "looked at, not changed");
    keys(&mut field, "jj\n");
    assert_eq!(field.place(), PropertiesFocus::Cell);
    keys(&mut field, "\n");
    assert_eq!(field.text(), TEXT, "nor the JSON of a value");
    keys(&mut field, "DD");
    assert!(!field.editor.is_changed());
    let order: Vec<_> = field.value().expect("valid").keys().cloned().collect();
    assert_eq!(order, ["tier", "seats", "beta", "owner", "note"]);
    // A restored entry is formatted like the one before it.
    let back = "\n  \"owner\": {\"team\":\"night\",\"on_call\":[1,2.50]}";
    assert_eq!(
        field.text(),
        TEXT.replace(
            "\"owner\":{ \"team\":\"night\",\n    \"on_call\":[1,2.50] }",
            back
        )
    );
}

#[test]
fn types_are_chosen_and_values_follow() {
    use PropertiesFocus::{Cell, Rows, ValueType};
    let mut field = rows_of(r#"{"a":"1.10","b":"x"}"#);
    let first = r#"{"a":1.10,"b":"x"}"#;
    types(&mut field, "←\n", ValueType, r#"{"a":"1.10","b":"x"}"#);
    assert!(drawn(&field, 60, 5).contains("<text>"));
    keys(&mut field, "→");
    assert!(drawn(&field, 60, 5).contains("<number>"));
    types(&mut field, "\n", Rows, first);
    // A text that is not a number has to be typed again; until then nothing changes.
    keys(&mut field, "↓\n→\n");
    assert_eq!((field.place(), &*field.editor.text()), (Cell, first));
    assert!(drawn(&field, 60, 5).contains("! not a number"));
    types(&mut field, "␕-7\n", Rows, r#"{"a":1.10,"b":-7}"#);
    // Null has no value: Enter on it chooses another type.
    types(&mut field, "←\n→→\n", Rows, r#"{"a":1.10,"b":null}"#);
    types(&mut field, "→\n", ValueType, r#"{"a":1.10,"b":null}"#);
    types(&mut field, "←\n", Rows, r#"{"a":1.10,"b":true}"#);
    types(&mut field, "→\n", Rows, r#"{"a":1.10,"b":false}"#);
}

#[test]
fn an_object_in_a_new_row_is_json_and_the_type_says_how_it_is_chosen() {
    use PropertiesFocus::{Rows, ValueType};
    let mut field = rows_of(r#"{"a":"x"}"#);
    keys(&mut field, "acfg\n");
    assert_eq!(field.place(), ValueType);
    keys(&mut field, "{");
    assert!(drawn(&field, 70, 6).contains("! Left and Right choose the type"));
    types(
        &mut field,
        "\n{\"x\":[1]}\n",
        Rows,
        r#"{"a":"x","cfg": {"x":[1]}}"#,
    );
    // What is no JSON is a text, and so is an object in a row that was one.
    let brace = r#"{"a":"x","cfg": {"x":[1]},"brace": "{x}"}"#;
    types(&mut field, "abrace\n\n{x}\n", Rows, brace);
    types(
        &mut rows_of(r#"{"a":"x"}"#),
        "\n␕[1]\n",
        Rows,
        r#"{"a":"[1]"}"#,
    );
}

#[test]
fn a_row_is_added_key_type_value() {
    use PropertiesFocus::{Cell, Rows};
    let mut field = PropertiesField::new(None);
    assert!(field.switch(), "nothing is known: no rows");
    assert!(drawn(&field, 60, 4).contains("unknown; without rows"));
    keys(&mut field, "a\n");
    assert!(field.is_blank() && field.place() == Rows, "never there");
    let both = "{\n  \"seats\": 250,\n  \"on\": true\n}";
    types(&mut field, "\nseats", Cell, "{\n  \"seats\": \"\"\n}");
    keys(&mut field, "\n→\n250\n");
    types(&mut field, "aon⇥→→\n", Rows, both);
    types(&mut field, "zz", Rows, "{\n  \"seats\": 250\n}");
    keys(&mut field, "zzzzz");
    assert!(field.is_blank());
    types(&mut field, "ZZZZZZ", Rows, both);
}

#[test]
fn what_is_wrong_stays_in_its_cell_and_is_never_lost() {
    let mut field = rows_of(r#"{"a":1,"b":{"x":1}}"#);
    keys(&mut field, "←←\n␕b\n");
    assert_eq!(field.place(), PropertiesFocus::Cell);
    assert!(drawn(&field, 60, 5).contains("! row 2 has this key already"));
    assert!(!field.switch(), "not before it is right");
    keys(&mut field, "⎋→→\nx\n");
    assert!(drawn(&field, 60, 5).contains("! not a number"));
    assert_eq!(field.value().expect_err("wrong").column, 7);
    keys(&mut field, "⎋j\n⌫\n");
    assert!(drawn(&field, 60, 5).contains("! column 7: unclosed bracket"));
    assert!(field.go_to_problem());
    // A form that is left has to take it over anyway.
    field.settle();
    let text = r#"{"a":1,"b":{"x": 1}"#;
    types(&mut field, "", PropertiesFocus::Text, text);
    assert!(field.why_no_rows().is_some() && !field.switch());
    assert_eq!(field.text(), text);
}

#[test]
fn the_views_share_one_history() {
    use PropertiesFocus::Rows;
    let mut field = known(r#"{"a":"x"}"#);
    keys(&mut field, " #⌫");
    assert!(field.switch());
    types(&mut field, "\ny\n", Rows, " {\n  \"a\": \"xy\"\n}");
    types(&mut field, "z", Rows, " {\n  \"a\": \"x\"\n}");
    // Past what was not valid.
    types(&mut field, "z", Rows, "{\n  \"a\": \"x\"\n}");
    types(&mut field, "ZZ", Rows, " {\n  \"a\": \"xy\"\n}");
    // A text from outside is shown as rows where it can be.
    field.set_text("{\"a\": 2}");
    types(&mut field, "", Rows, "{\"a\": 2}");
    field.set_text("{\"a\":");
    types(&mut field, "", PropertiesFocus::Text, "{\"a\":");
}

#[test]
fn rows_are_pasted_as_an_object_or_as_pairs() {
    let before = r#"{"a":1,"b":"x"}"#;
    let mut field = rows_of(before);
    for (text, added, changed, start) in [
        (
            r#"{"a": 1.50, "c": {"d": 1e400}, "e": null}"#,
            2,
            1,
            "{\"a\":1.50,\"b\":\"x\",\"c\": {\"d\": 1e400},\n  \"e\": null}",
        ),
        ("b\t12\nf\tgold", 1, 1, "{\"a\":1.50,\"b\":\"12\""),
    ] {
        assert_eq!(field.paste(text), PastedProperties::Rows { added, changed });
        assert!(field.text().starts_with(start), "{}", field.text());
    }
    keys(&mut field, "zz");
    for wrong in ["gold", "{\"a\": 1, \"a\": 2}", "{\"a\": canary"] {
        let PastedProperties::Refused(why) = field.paste(wrong) else {
            panic!("{wrong} was taken");
        };
        assert!(!why.contains("canary"));
        assert_eq!(field.text(), before);
    }
    keys(&mut field, "g\n");
    assert_eq!(field.paste("{}\n"), PastedProperties::Text);
    assert_eq!(field.text(), r#"{"a":1{},"b":"x"}"#, "into the cell");
    let mut empty = PropertiesField::new(None);
    assert!(empty.switch());
    empty.paste("a=1\nb=2");
    assert_eq!(empty.text(), "{\n  \"a\": \"1\",\n  \"b\": \"2\"\n}");
}

#[test]
fn hidden_characters_are_seen_and_long_tables_scroll() {
    let entries: Vec<_> = (0..40)
        .map(|n| format!("\"key-{n}\": \"v{n}\u{202e}\\n\""))
        .collect();
    let mut field = rows_of(&format!("{{{}}}", entries.join(", ")));
    keys(&mut field, "⇟⇟");
    insta::assert_snapshot!(drawn(&field, 50, 4), @r"
       KEY          TYPE         VALUE           21/40
       key-19       text         v19\u{202e}\n
    >  key-20       text         v20\u{202e}\n
       key-21       text         v21\u{202e}\n
    ");
    assert!(drawn(&field, 32, 3).contains("key-20"));
}

/// The expected rows: keys with the exact text of their values.
type Model = Vec<(String, String)>;

fn entries(text: &str) -> Model {
    let object = object(text).expect("an object");
    let entries = object.entries.into_iter();
    entries
        .map(|entry| {
            let key = serde_json::from_str(&text[entry.key]).expect("a key");
            (key, text[entry.value].to_owned())
        })
        .collect()
}

#[derive(Debug, Clone)]
enum Act {
    Text(usize, String),
    Rename(usize, String),
    Drop(usize),
    Add(String, String),
}

fn act() -> impl Strategy<Value = Act> {
    let key = "[a-e\"é\\\\]{1,2}";
    prop_oneof![
        (0..8_usize, "[a-z\"\\\\ é東]{0,6}").prop_map(|(row, text)| Act::Text(row, text)),
        (0..8_usize, key).prop_map(|(row, key)| Act::Rename(row, key)),
        (0..8_usize).prop_map(Act::Drop),
        (key, "[a-z]{0,3}").prop_map(|(key, text)| Act::Add(key, text)),
    ]
}

proptest! {
    #[test]
    fn rows_behave_like_the_model(acts in prop::collection::vec(act(), 0..12), minified in any::<bool>()) {
        let text = if minified { TEXT.replace([' ', '\n'], "") } else { TEXT.to_owned() };
        let mut field = PropertiesField::new(None);
        field.set_text(&text);
        prop_assert!(field.switch());
        let mut model = entries(&text);
        for act in acts {
            let is_free = |key: &str| model.iter().all(|(other, _)| other != key);
            let row = |row: usize| row % model.len().max(1);
            let go = |to: usize, column: usize| format!("⇱←←{}{}", "↓".repeat(to), "→".repeat(column));
            match act {
                Act::Text(..) | Act::Rename(..) | Act::Drop(_) if model.is_empty() => {}
                Act::Text(at, _) if !model[row(at)].1.starts_with('"') => continue,
                Act::Text(at, text) => {
                    let at = row(at);
                    keys(&mut field, &format!("{}\n␕{text}\n", go(at, 2)));
                    model[at].1 = serde_json::Value::from(text).to_string();
                }
                Act::Rename(at, key) => {
                    let (at, is_free) = (row(at), is_free(&key));
                    keys(&mut field, &format!("{}\n␕{key}\n⎋", go(at, 0)));
                    if is_free {
                        model[at].0 = key;
                    }
                }
                Act::Drop(at) => {
                    let at = row(at);
                    keys(&mut field, &format!("{}D", go(at, 2)));
                    model.remove(at);
                }
                Act::Add(key, text) => {
                    let is_free = is_free(&key);
                    keys(&mut field, &format!("a{key}\n"));
                    if is_free {
                        keys(&mut field, &format!("\n{text}\n"));
                        model.push((key, serde_json::Value::from(text).to_string()));
                    }
                    keys(&mut field, "⎋");
                }
            }
            prop_assert_eq!(entries(&field.text()), model.clone());
            prop_assert_eq!(field.place(), PropertiesFocus::Rows);
        }
        let end = field.text();
        keys(&mut field, &"z".repeat(60));
        prop_assert!(field.is_blank());
        keys(&mut field, &"Z".repeat(60));
        prop_assert_eq!(field.text(), end);
    }

    #[test]
    fn no_keys_break_it(
        presses in prop::collection::vec(
            prop::sample::select(vec![
                KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right, KeyCode::Tab, KeyCode::BackTab,
                KeyCode::Enter, KeyCode::Enter, KeyCode::Esc, KeyCode::Backspace, KeyCode::End, KeyCode::PageDown,
                KeyCode::Char('a'), KeyCode::Char('D'), KeyCode::Char('z'), KeyCode::Char('Z'), KeyCode::Char('7'),
                KeyCode::Char('"'), KeyCode::Char('{'), KeyCode::Char('\u{301}'), KeyCode::F(4), KeyCode::F(8),
            ]),
            0..60,
        ),
        pasted in "[\\PC\n]{0,20}",
        width in 0_u16..60,
        height in 0_u16..8,
    ) {
        let mut field = rows_of(TEXT);
        for code in presses {
            match code {
                KeyCode::F(4) => {
                    field.switch();
                }
                KeyCode::F(8) => {
                    field.paste(&pasted);
                    field.go_to_problem();
                }
                code => {
                    field.key(key(code));
                }
            }
            drawn(&field, width, height);
            prop_assert_eq!(field.value().cloned().map_err(Clone::clone), parse(&field.text()));
            if let Some(rows) = &field.rows {
                prop_assert!(field.editor.value().is_ok() || field.editor.is_left_out());
                prop_assert!(rows.cursor <= rows.all.len());
                let read = rows::read(&field.editor).expect("rows");
                let unwritten = rows.all.iter().filter(|row| row.is_unwritten()).count();
                prop_assert_eq!(&rows.all[..rows.all.len() - unwritten], &read[..]);
            }
        }
        let text = field.text();
        field.settle();
        prop_assert_eq!(field.text(), text, "nothing is lost on the way out");
    }
}
