//! Malformed JSON: not UTF-8, deeply nested, ambiguous, or not quite JSON.

use groupdesk::{api::answer::Verdict, domain::size::MAX_ANSWER_VALUES};
use serde_json::{Value, json};

use super::{JSON, good, is_done, send_each, with_field};
use crate::{
    client::{CALLS, NEW},
    support::faults::{Fault, http},
};

/// A good answer with this JSON text as properties.
fn with_properties(text: &str) -> Vec<u8> {
    with_field("properties", Some(text)).into_bytes()
}

fn replaced(from: &str, to: &[u8]) -> Vec<u8> {
    let text = good().to_string();
    let (before, after) = text.split_once(from).expect("it is there");
    [before.as_bytes(), to, after.as_bytes()].concat()
}

fn deep(open: &str, inner: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

fn twice(from: &str, to: &str) -> Vec<u8> {
    replaced(from, to.as_bytes())
}

/// A list of this many values in the properties.
fn many(count: usize) -> Vec<u8> {
    with_properties(&format!("{{\"a\":[{}0]}}", "0,".repeat(count - 1)))
}

/// Unusual, but a success.
fn odd() -> Vec<Vec<u8>> {
    let text = good().to_string();
    vec![
        // A surrogate pair; a lone surrogate is invalid.
        twice("Acmé", "\\ud83d\\ude00"),
        twice("Acmé", "\\u0000"),
        with_properties(&deep("{\"a\":", "1", "}", 60)),
        // The same key at two levels.
        with_properties("{\"success\":0,\"a\":{\"success\":0}}"),
        with_properties("{\"a\":9007199254740993,\"b\":1e400,\"c\":-1.50}"),
        many(MAX_ANSWER_VALUES - 11),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        format!("\r\n\t {text} \n").into(),
    ]
}

fn twisted() -> Vec<Vec<u8>> {
    let text = good().to_string();
    let number = "\"$serde_json::private::Number\"";
    vec![
        // Not UTF-8, including an overlong slash, or UTF-16.
        replaced("Acmé", b"Acm\xe9"),
        replaced("Acmé", b"\xc0\xaf"),
        replaced("tier", b"t\xff"),
        text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        twice("Acmé", "\\ud800"),
        twice("tier", "\\udc00"),
        twice(NEW, "\\ud800"),
        replaced("Acmé", b"\0"),
        // Endless nesting.
        deep("[", "", "]", 100_000).into(),
        "[".repeat(100_000).into(),
        deep("{\"a\":", "1", "}", 100_000).into(),
        with_properties(&deep("{\"a\":", "1", "}", 100_000)),
        // A duplicate key.
        twice("\"success\":1", "\"success\":0,\"success\":1"),
        twice("\"success\":1", "\"success\":1,\"success\":0"),
        twice("\"success\":1", "\"success\":1,\"success\":1"),
        twice("\"user_group\":", "\"user_group\":{},\"user_group\":"),
        twice(
            "\"provided_id\":",
            "\"provided_id\":\"other\",\"provided_id\":",
        ),
        twice("\"token\":", "\"token\":\"other\",\"token\":"),
        with_properties("{\"a\":1,\"a\":2}"),
        with_properties("{\"a\":1,\"\\u0061\":2}"),
        with_properties("{\"a\":[{\"b\":{\"c\":1,\"c\":1}}]}"),
        // The parser's private encoding of a number.
        with_properties(&format!("{{{number}:\"1\"}}")),
        with_properties(&format!("{{{number}:\"x\"}}")),
        with_properties(&format!("{{{number}:\"1\",\"a\":1}}")),
        many(MAX_ANSWER_VALUES - 10),
        // More, less or something else than one JSON answer.
        [b"\xef\xbb\xbf\xef\xbb\xbf", text.as_bytes()].concat(),
        format!("{text}\n{text}").into(),
        format!("{text};").into(),
        format!(")]}}',\n{text}").into(),
        format!("/* */{text}").into(),
        format!("[{text}]").into(),
        json!(text).to_string().into(),
        text.replace('"', "'").into(),
        twice("\"Testing\"}", "\"Testing\",}"),
        twice("7,", "NaN,"),
        twice("7,", "Infinity,"),
        twice("7,", "07,"),
        b"null".into(),
        b"true".into(),
        b" \r\n\t".into(),
        b"<!DOCTYPE html><html>".into(),
        (0..1_000_000_u32).map(|n| (n * 7 % 251) as u8).collect(),
    ]
}

#[tokio::test]
async fn malformed_json_is_never_misread() {
    let odd = odd().into_iter().map(|body| (body, true));
    for (body, expected) in odd.chain(twisted().into_iter().map(|body| (body, false))) {
        let start: String = String::from_utf8_lossy(&body).chars().take(300).collect();
        for result in send_each(Fault::Answer(http("200 OK", &[JSON], &body)), &CALLS).await {
            assert_eq!(is_done(&result), expected, "{start}: {result:?}");
            let reply = result.expect("an answer");
            let unclear = matches!(reply.verdict, Verdict::Unclear(_));
            assert_eq!(unclear, !expected, "{start}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn numbers_are_returned_as_they_were_written() {
    let numbers =
        r#"{"a":9007199254740993,"b":1e400,"c":-1.50,"d":123456789012345678901234567890}"#;
    let body = http("200 OK", &[JSON], with_properties(numbers));
    for result in send_each(Fault::Answer(body), &CALLS).await {
        let Verdict::Success(group) = result.expect("an answer").verdict else {
            panic!("a good answer");
        };
        let properties = Value::Object(group.properties.expect("properties"));
        let (read, written) = (properties.to_string(), numbers.replace("1e400", "1e+400"));
        assert_eq!(read.replace("1e400", "1e+400"), written);
    }
}
