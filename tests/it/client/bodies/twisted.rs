//! JSON that is twisted: not UTF-8, nested without end, ambiguous, or not quite JSON.

use groupdesk::{api::answer::Verdict, domain::size::MOST_ANSWERED};
use serde_json::{Value, json};

use super::{JSON, asked, good, is_done, swapped};
use crate::{
    client::{CALLS, NEW},
    support::faults::{Fault, http},
};

/// A good answer with a text of JSON as properties.
fn with_properties(text: &str) -> Vec<u8> {
    swapped("properties", Some(text)).into_bytes()
}

fn replaced(from: &str, to: &[u8]) -> Vec<u8> {
    let text = good().to_string();
    let (before, after) = text.split_once(from).expect("it is there");
    [before.as_bytes(), to, after.as_bytes()].concat()
}

fn deep(open: &str, inner: &str, close: &str, depth: usize) -> String {
    [
        open.repeat(depth).as_str(),
        inner,
        close.repeat(depth).as_str(),
    ]
    .concat()
}

/// Bodies, and whether they are a success.
fn twisted() -> Vec<(&'static str, Vec<u8>, bool)> {
    let text = good().to_string();
    let bytes = |text: String| text.into_bytes();
    let many = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    let twice = |from: &str, to: &str| replaced(from, to.as_bytes());
    vec![
        (
            "invalid UTF-8 in the name",
            replaced("Acmé", b"Acm\xe9"),
            false,
        ),
        (
            "an overlong slash in the name",
            replaced("Acmé", b"\xc0\xaf"),
            false,
        ),
        ("invalid UTF-8 in a key", replaced("tier", b"t\xff"), false),
        (
            "UTF-16",
            text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            false,
        ),
        (
            "a lone surrogate in the name",
            twice("Acmé", "\\ud800"),
            false,
        ),
        ("a lone surrogate in a key", twice("tier", "\\udc00"), false),
        (
            "a lone surrogate in the token",
            twice(NEW, "\\ud800"),
            false,
        ),
        (
            "a pair of surrogates",
            twice("Acmé", "\\ud83d\\ude00"),
            true,
        ),
        ("NUL in the name", twice("Acmé", "\\u0000"), true),
        ("a raw NUL", replaced("Acmé", b"\0"), false),
        ("100,000 lists", bytes(deep("[", "", "]", 100_000)), false),
        (
            "100,000 lists that never end",
            bytes("[".repeat(100_000)),
            false,
        ),
        (
            "100,000 objects",
            bytes(deep("{\"a\":", "1", "}", 100_000)),
            false,
        ),
        (
            "100,000 levels of properties",
            with_properties(&deep("{\"a\":", "1", "}", 100_000)),
            false,
        ),
        (
            "a few levels of properties",
            with_properties(&deep("{\"a\":", "1", "}", 60)),
            true,
        ),
        (
            "success twice, no and yes",
            twice("\"success\":1", "\"success\":0,\"success\":1"),
            false,
        ),
        (
            "success twice, yes and no",
            twice("\"success\":1", "\"success\":1,\"success\":0"),
            false,
        ),
        (
            "the same success twice",
            twice("\"success\":1", "\"success\":1,\"success\":1"),
            false,
        ),
        (
            "two groups",
            twice("\"user_group\":", "\"user_group\":{},\"user_group\":"),
            false,
        ),
        (
            "two ids",
            twice(
                "\"provided_id\":",
                "\"provided_id\":\"other\",\"provided_id\":",
            ),
            false,
        ),
        (
            "two tokens",
            twice("\"token\":", "\"token\":\"other\",\"token\":"),
            false,
        ),
        (
            "a property twice",
            with_properties("{\"a\":1,\"a\":2}"),
            false,
        ),
        (
            "a property twice, escaped",
            with_properties("{\"a\":1,\"\\u0061\":2}"),
            false,
        ),
        (
            "a property twice, deep inside",
            with_properties("{\"a\":[{\"b\":{\"c\":1,\"c\":1}}]}"),
            false,
        ),
        (
            "the same key at two levels",
            with_properties("{\"success\":0,\"a\":{\"success\":0}}"),
            true,
        ),
        (
            "numbers beyond 2^53",
            with_properties("{\"a\":9007199254740993,\"b\":1e400,\"c\":-1.50}"),
            true,
        ),
        (
            "a number as the parser hides it",
            with_properties("{\"$serde_json::private::Number\":\"1\"}"),
            false,
        ),
        (
            "the same with no number",
            with_properties("{\"$serde_json::private::Number\":\"x\"}"),
            false,
        ),
        (
            "the same and more",
            with_properties("{\"$serde_json::private::Number\":\"1\",\"a\":1}"),
            false,
        ),
        (
            "values as many as may be",
            with_properties(&format!("{{\"a\":{}}}", many(MOST_ANSWERED - 11))),
            true,
        ),
        (
            "one value more",
            with_properties(&format!("{{\"a\":{}}}", many(MOST_ANSWERED - 10))),
            false,
        ),
        (
            "a byte order mark",
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            true,
        ),
        (
            "two of them",
            [b"\xef\xbb\xbf\xef\xbb\xbf", text.as_bytes()].concat(),
            false,
        ),
        (
            "blanks around it",
            format!("\r\n\t {text} \n").into_bytes(),
            true,
        ),
        ("two answers", format!("{text}\n{text}").into_bytes(), false),
        (
            "something behind it",
            format!("{text};").into_bytes(),
            false,
        ),
        (
            "something before it",
            format!(")]}}',\n{text}").into_bytes(),
            false,
        ),
        (
            "a comma too many",
            twice("\"Testing\"}", "\"Testing\",}"),
            false,
        ),
        ("a comment", format!("/* */{text}").into_bytes(), false),
        ("NaN", twice("7,", "NaN,"), false),
        ("Infinity", twice("7,", "Infinity,"), false),
        ("a leading zero", twice("7,", "07,"), false),
        ("single quotes", text.replace('"', "'").into_bytes(), false),
        ("a list around it", format!("[{text}]").into_bytes(), false),
        ("a text of it", json!(text).to_string().into_bytes(), false),
        ("null", b"null".to_vec(), false),
        ("true", b"true".to_vec(), false),
        ("blanks", b" \r\n\t".to_vec(), false),
        ("a page", b"<!DOCTYPE html><html>".to_vec(), false),
    ]
}

#[tokio::test]
async fn twisted_json_is_never_taken_for_what_it_is_not() {
    let mut cases = 0;
    for (name, body, expected) in twisted() {
        for result in asked(Fault::Answer(http("200 OK", &[JSON], &body)), &CALLS).await {
            cases += 1;
            assert_eq!(is_done(&result), expected, "{name}: {result:?}");
            let reply = result.expect("an answer");
            let unclear = matches!(reply.verdict, Verdict::Unclear(_));
            assert_eq!(unclear, !expected, "{name}: {reply:?}");
        }
    }
    assert!(cases >= 140, "{cases}");
}

#[tokio::test]
async fn numbers_come_back_as_they_were_written() {
    let numbers =
        r#"{"a":9007199254740993,"b":1e400,"c":-1.50,"d":123456789012345678901234567890}"#;
    let body = http("200 OK", &[JSON], with_properties(numbers));
    for result in asked(Fault::Answer(body), &CALLS).await {
        let Verdict::Success(group) = result.expect("an answer").verdict else {
            panic!("a good answer");
        };
        let properties = Value::Object(group.properties.expect("properties"));
        let (read, written) = (properties.to_string(), numbers.replace("1e400", "1e+400"));
        assert_eq!(read.replace("1e400", "1e+400"), written);
    }
}
