//! Tests the strict JSON parser against the library and with hostile texts.

use proptest::prelude::*;

use super::*;

fn why(body: &[u8]) -> Malformed {
    read(body, &["mapping"]).expect_err("it is malformed")
}

#[test]
fn valid_json_reads_as_the_json_library_reads_it() {
    let deep = "[".repeat(64) + &"]".repeat(64);
    for text in [
        "null",
        " true ",
        "{}",
        "[]",
        "[ ]",
        "{ }",
        r#"{"b":1,"a":[1,2,{"c":"\u00e9\ud83d\ude00\n\/"}],"d":null}"#,
        "[-0,0,1.50,1e400,-2.5E-3,123456789012345678901234567890]",
        "\t\r\n\"x\"",
        &deep,
    ] {
        let library: Value = serde_json::from_str(text).expect("valid");
        assert_eq!(read(text.as_bytes(), &[]), Ok(library), "{text}");
    }
    let text = r#"{"z":123456789012345678901234567890.10,"a":1}"#;
    let value = read(text.as_bytes(), &[]).expect("valid");
    assert_eq!(value.to_string(), text, "with its numbers and its order");
}

#[test]
fn what_lenient_readers_let_pass_is_refused_with_its_place() {
    let deep = "[".repeat(65) + &"]".repeat(65);
    let deep_object = "[".repeat(64) + "{}" + &"]".repeat(64);
    #[rustfmt::skip] // A table: one case per line.
    let cases: &[(&[u8], usize, usize, &str)] = &[
        (b"", 1, 1, "ends too early"),
        (b"{\n  \"a\": tru}", 2, 11, "value was expected"),
        (b"{} {}", 1, 4, "follows"),
        (b"{\"a\":1,\"a\":2}", 1, 10, "duplicate key"),
        (b"{\"a\":{\"\\u0062\":1,\"b\":2}}", 1, 20, "duplicate key"),
        (b"[\"\\u0000\"]", 1, 9, "NUL"),
        (b"[{\"a\\u0000\":1}]", 1, 11, "NUL"),
        (b"[\"a\0\"]", 1, 4, "control character"),
        (b"[\"\\ud800\"]", 1, 9, "surrogate"),
        (b"[\"\\ud800\\u0041\"]", 1, 14, "surrogate"),
        (b"[\"\\udc00\"]", 1, 8, "surrogate"),
        (b"[\"\\u12g4\"]", 1, 8, "escape"),
        (b"[\"\\x\"]", 1, 4, "escape"),
        (b"[\"a\nb\"]", 1, 4, "control character"),
        (b"[\"abc", 1, 5, "ends too early"),
        (b"[01]", 1, 3, "number"),
        (b"[1.]", 1, 4, "number"),
        (b"[-]", 1, 3, "number"),
        (b"[1e]", 1, 4, "number"),
        (b"[1,]", 1, 4, "comma"),
        (b"{\"a\":1,}", 1, 8, "comma"),
        (b"{a:1}", 1, 2, "key in double quotes"),
        (b"{\"a\" 1}", 1, 6, "expected `:`"),
        (b"[1 2]", 1, 4, "expected `,`"),
        (b"NaN", 1, 1, "value was expected"),
        (b"\xef\xbb\xbf{}", 1, 1, "value was expected"),
        ("{\"é\":\n\"é\" x".as_bytes(), 2, 5, "expected `,`"),
        (b"{\"ab\": \"\xff\"}", 1, 9, "UTF-8"),
        (deep.as_bytes(), 1, 66, "deeper"),
        (deep_object.as_bytes(), 1, 66, "deeper"),
        (b"{\"$serde_json::private::Number\":\"1\"}", 1, 31, "reserved"),
        (b"{\"\\u0024serde_json::private::Number\":\"1\"}", 1, 36, "reserved"),
    ];
    for (body, line, column, reason) in cases {
        let found = why(body);
        let shown = String::from_utf8_lossy(body);
        assert!(found.why.contains(reason), "{shown}: {found:?}");
        assert_eq!((found.line, found.column), (*line, *column), "{shown}");
    }
}

/// No message contains a token, whatever is wrong with it.
#[test]
fn no_message_contains_a_part_of_the_body() {
    for body in [
        r#"{"current_token": canary}"#,
        r#"{"current_token": "canary}"#,
        r#"{"current_token": "canary\x"}"#,
        r#"{"current_token": 777canary}"#,
        r#"{"canary": 1, "canary": 2}"#,
        r#"{"current_token": "canary" "canary"}"#,
        r#""canary" canary"#,
    ] {
        let why = why(body.as_bytes()).why;
        assert!(!why.contains("canary") && !why.contains("777"), "{why}");
    }
}

#[test]
fn the_field_is_named_when_it_is_one_of_ours() {
    for (body, field) in [
        (r#"{"mapping":{"a":"1","a":"2"}}"#, Some("mapping")),
        (r#"{"mapping":{},"mapping":{}}"#, Some("mapping")),
        (r#"{"other":{"a":1,"a":2}}"#, None),
        (r#"{"x":{"mapping":tru}}"#, None),
        (r#"{"mapping":{}} x"#, None),
    ] {
        assert_eq!(why(body.as_bytes()).field, field, "{body}");
    }
}

proptest! {
    #[test]
    fn any_text_of_json_characters_agrees_with_the_library(text in r#"[\[\]{}:,"\\u0-9eE+\-. tfn]{0,24}"#) {
        let library = serde_json::from_str::<Value>(&text);
        match read(text.as_bytes(), &[]) {
            Ok(value) => prop_assert_eq!(library.ok(), Some(value)),
            // Ours is stricter; with these characters only NUL and duplicate keys can differ.
            Err(error) => prop_assert!(
                library.is_err() || error.why.contains("NUL") || error.why.contains("duplicate key"),
                "{:?}", error
            ),
        }
    }
}
