//! Of the properties: types, and the text that the rows are a view of.

use super::{
    super::value::{Typed, ValueType},
    *,
};

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
    assert!(!field.is_changed());
    let order: Vec<_> = field.value().expect("valid").keys().cloned().collect();
    assert_eq!(order, ["tier", "seats", "beta", "owner", "note"]);
    // A restored entry is formatted like the one before it.
    let back = "\n  \"owner\": {\"team\":\"night\",\"on_call\":[1,2.50]}";
    let owner = "\"owner\":{ \"team\":\"night\",\n    \"on_call\":[1,2.50] }";
    assert_eq!(field.text(), TEXT.replace(owner, back));
    // White space around a comma belongs to the entry before it.
    let mut field = rows_of("{ \"a\":1.10 ,\n\"b\" : [ ], \"c\":2 }\n");
    keys(&mut field, "\n␕3\n");
    assert_eq!(field.text(), "{ \"a\":3 ,\n\"b\" : [ ], \"c\":2 }\n");
    keys(&mut field, "D");
    assert_eq!(field.text(), "{ \"b\" : [ ], \"c\":2 }\n");
    keys(&mut field, "jDGD");
    assert_eq!(field.text(), "{}\n");
}

#[test]
fn types_are_chosen_and_values_follow() {
    use PropertiesFocus::{Cell, Rows, ValueType};
    let mut field = rows_of(r#"{"a":"1.10","b":"x"}"#);
    let first = r#"{"a":1.10,"b":"x"}"#;
    types(&mut field, "←\n", ValueType, r#"{"a":"1.10","b":"x"}"#);
    assert!(field.shown(60, 5).contains("<text>"));
    keys(&mut field, "→");
    assert!(field.shown(60, 5).contains("<number>"));
    types(&mut field, "\n", Rows, first);
    // A text that is not a number has to be typed again; until then nothing changes.
    keys(&mut field, "↓\n→\n");
    assert_eq!((field.place(), &*field.editor().text()), (Cell, first));
    assert!(field.shown(60, 5).contains("! not a number"));
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
    assert!(
        field
            .shown(70, 6)
            .contains("! Left and Right choose the type")
    );
    let text = r#"{"a":"x","cfg": {"x":[1]}}"#;
    types(&mut field, "\n{\"x\":[1]}\n", Rows, text);
    // What is no JSON is a text, and so is an object in a row that was one.
    let brace = r#"{"a":"x","cfg": {"x":[1]},"brace": "{x}"}"#;
    types(&mut field, "abrace\n\n{x}\n", Rows, brace);
    let mut field = rows_of(r#"{"a":"x"}"#);
    types(&mut field, "\n␕[1]\n", Rows, r#"{"a":"[1]"}"#);
}

#[test]
fn a_row_is_added_key_type_value() {
    use PropertiesFocus::{Cell, Rows};
    let mut field = PropertiesField::new(None);
    assert!(field.switch(), "nothing is known: no rows");
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
    assert!(field.shown(60, 5).contains("! same key as row 2"));
    assert!(!field.switch(), "not before it is right");
    keys(&mut field, "⎋→→\nx\n");
    assert!(field.shown(60, 5).contains("! not a number"));
    assert_eq!(field.value().expect_err("wrong").column, 7);
    keys(&mut field, "⎋j\n⌫\n");
    assert!(field.shown(60, 5).contains("! column 7: unclosed bracket"));
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
    let mut field = rows_of(r#"{"a":1,"b":"x"}"#);
    for (text, pasted, then) in [
        (
            r#"{"a": 1.50, "c": {"d": 1e400}, "e": null}"#,
            rows(2, 1),
            r#"{"a":1.50,"b":"x","c": {"d": 1e400},"e": null}"#,
        ),
        (
            "b\t12\nf\tgold",
            rows(1, 1),
            r#"{"a":1.50,"b":"12","c": {"d": 1e400},"e": null,"f": "gold"}"#,
        ),
    ] {
        assert_eq!(field.paste(text), pasted);
        assert_eq!(field.text(), then);
    }
    let mut empty = PropertiesField::new(None);
    assert!(empty.switch());
    empty.paste("a=1\nb=2");
    assert_eq!(empty.text(), "{\n  \"a\": \"1\",\n  \"b\": \"2\"\n}");
}

#[test]
fn what_is_typed_is_json_of_its_type_and_a_value_changes_its_type_where_that_is_clear() {
    use ValueType::{Boolean, Json, Null, Number, Text};
    let number = Err("not a number; write it like 12 or -1.5");
    for (value_type, typed, written) in [
        (Text, "12 \"x\"", Ok("\"12 \\\"x\\\"\"")),
        (
            Number,
            " 12345678901234567890.10 ",
            Ok("12345678901234567890.10"),
        ),
        (Number, "1e400", Ok("1e400")),
        (Number, "1,5", number),
        (Number, "007", number),
        (Number, "\"1\"", number),
        (Json, "[1, {\"a\": 2}]", Ok("[1, {\"a\": 2}]")),
        (Json, "1, \"b\": 2", Err("column 2: trailing characters")),
        (
            Json,
            "{\"a\": 1, \"a\": 2}",
            Err("column 10: this key is in line 1 already"),
        ),
    ] {
        let value = Typed::new(value_type, typed);
        let found = value.problem().map_or_else(|| Ok(value.written()), Err);
        let written = written.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found, written, "{typed}");
    }
    for (to, from, shown, source) in [
        (Number, Text, "1.10", Some("1.10")),
        (Number, Text, "gold", None),
        (Text, Number, "1e400", Some("\"1e400\"")),
        (Text, Null, "null", Some("\"\"")),
        (Boolean, Text, "false", Some("false")),
        (Json, Text, "[1]", Some("[1]")),
        (Json, Text, "1", None),
        (Null, Text, "x", Some("null")),
    ] {
        let found = Typed::new(from, shown).converted(to);
        let found = found.map(|value| value.written());
        assert_eq!(found.as_deref(), source, "{shown} to {to:?}");
    }
    let mut value_type = Text;
    for _ in 0..5 {
        assert_eq!(value_type.next().previous(), value_type);
        value_type = value_type.next();
    }
    assert_eq!(value_type, Text);
}
