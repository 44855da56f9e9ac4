//! Tests the strict JSON parser against the library and with hostile texts.

use proptest::prelude::*;

use super::*;

fn why(body: &[u8]) -> Malformed {
    read(body, &["mapping"]).expect_err("it is malformed")
}

#[test]
fn valid_json_reads_as_the_json_library_reads_it() {
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
    ] {
        let library: Value = serde_json::from_str(text).expect("valid");
        assert_eq!(read(text.as_bytes(), &[]), Ok(library), "{text}");
    }
}

#[test]
fn big_numbers_and_the_order_of_keys_are_kept() {
    let text = r#"{"z":123456789012345678901234567890.10,"a":1}"#;
    let value = read(text.as_bytes(), &[]).expect("valid");
    assert_eq!(value.to_string(), text);
}

#[test]
fn what_lenient_readers_let_pass_is_refused_with_its_place() {
    let deep = "[".repeat(65) + &"]".repeat(65);
    let cases: &[(&[u8], usize, usize, &str)] = &[
        (b"", 1, 1, "ends too early"),
        (b"{\n  \"a\": tru}", 2, 8, "value was expected"),
        (b"{} {}", 1, 4, "follows"),
        (b"{\"a\":1,\"a\":2}", 1, 8, "duplicate key"),
        (b"{\"a\":{\"\\u0062\":1,\"b\":2}}", 1, 18, "duplicate key"),
        (b"[\"\\u0000\"]", 1, 3, "NUL"),
        (b"[\"a\0\"]", 1, 4, "NUL"),
        (b"[\"\\ud800\"]", 1, 3, "surrogate"),
        (b"[\"\\ud800\\u0041\"]", 1, 3, "surrogate"),
        (b"[\"\\udc00\"]", 1, 3, "surrogate"),
        (b"[\"\\u12g4\"]", 1, 3, "hex"),
        (b"[\"\\x\"]", 1, 3, "escape"),
        (b"[\"a\nb\"]", 1, 4, "control"),
        (b"[\"abc", 1, 6, "inside a string"),
        (b"[01]", 1, 2, "number"),
        (b"[1.]", 1, 2, "number"),
        (b"[-]", 1, 2, "number"),
        (b"[1e]", 1, 2, "number"),
        (b"[1,]", 1, 4, "value was expected"),
        (b"{\"a\":1,}", 1, 8, "key in double quotes"),
        (b"{a:1}", 1, 2, "key in double quotes"),
        (b"{\"a\" 1}", 1, 6, "colon"),
        (b"[1 2]", 1, 4, "comma"),
        (b"NaN", 1, 1, "value was expected"),
        (b"\xef\xbb\xbf{}", 1, 1, "value was expected"),
        ("{\"é\":\n\"é\" x".as_bytes(), 2, 5, "comma"),
        (b"{\"ab\": \"\xff\"}", 1, 9, "UTF-8"),
        (deep.as_bytes(), 1, 65, "deeper"),
        (
            b"{\"$serde_json::private::Number\":\"1\"}",
            1,
            2,
            "reserved",
        ),
        (
            b"{\"\\u0024serde_json::private::Number\":\"1\"}",
            1,
            2,
            "reserved",
        ),
    ];
    for (body, line, column, reason) in cases {
        let found = why(body);
        let shown = String::from_utf8_lossy(body);
        assert!(found.why.contains(reason), "{shown}: {found:?}");
        assert_eq!((found.line, found.column), (*line, *column), "{shown}");
    }
}

#[test]
fn sixty_four_levels_are_accepted() {
    let text = "[".repeat(64) + &"]".repeat(64);
    assert!(read(text.as_bytes(), &[]).is_ok());
}

#[test]
fn the_field_is_named_when_it_is_one_of_ours() {
    assert_eq!(
        why(br#"{"mapping":{"a":"1","a":"2"}}"#).field,
        Some("mapping")
    );
    assert_eq!(
        why(br#"{"mapping":{},"mapping":{}}"#).field,
        Some("mapping")
    );
    assert_eq!(why(br#"{"other":{"a":1,"a":2}}"#).field, None);
    assert_eq!(why(br#"{"x":{"mapping":tru}}"#).field, None);
    assert_eq!(why(br#"{"mapping":{}} x"#).field, None);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&body, &["mapping"]);
    }

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
