//! Heads that are no HTTP, lie about the body, or call it something else.

use groupdesk::api::{answer::Verdict, failure::CallError};

use super::{asked, good, is_done};
use crate::{client::CALLS, support::faults::Fault};

/// Heads and framings that are no HTTP, or lie about the body.
fn framings() -> Vec<(&'static str, Vec<u8>, bool)> {
    let text = good().to_string();
    let head = |lines: &str| format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n{text}").into_bytes();
    let length = format!("Content-Length: {}", text.len());
    let typed = |kind: &str| head(&format!("Content-Type: {kind}\r\n{length}"));
    let status = |line: &str| format!("{line}\r\n{length}\r\n\r\n{text}").into_bytes();
    vec![
        // JSON that calls itself something else is JSON; what is no JSON is not.
        ("plain text", typed("text/plain"), true),
        ("a page", typed("text/html; charset=utf-8"), true),
        ("an image", typed("image/png"), true),
        ("no type at all", head(&length), true),
        ("nonsense as type", typed(";;;="), true),
        (
            "two types",
            typed("text/html\r\nContent-Type: application/json"),
            true,
        ),
        (
            "packed, it says",
            head(&format!("Content-Encoding: gzip\r\n{length}")),
            false,
        ),
        (
            "packed in a way we never offered",
            head(&format!("Content-Encoding: br\r\n{length}")),
            true,
        ),
        (
            "two lengths",
            head(&format!("{length}\r\nContent-Length: 5")),
            false,
        ),
        ("a negative length", head("Content-Length: -1"), false),
        ("a length that is none", head("Content-Length: many"), false),
        (
            "a length beyond all",
            head("Content-Length: 99999999999999999999999"),
            false,
        ),
        (
            "a length beyond the body",
            head("Content-Length: 18446744073709551614"),
            false,
        ),
        (
            "a chunk that is none",
            head("Transfer-Encoding: chunked"),
            false,
        ),
        (
            "a chunk beyond all",
            {
                let mut bytes = head("Transfer-Encoding: chunked");
                let at = bytes.len() - text.len();
                bytes.splice(at..at, *b"ffffffffffffffffff\r\n");
                bytes
            },
            false,
        ),
        (
            "a thousand headers",
            head(&format!("{}{length}", "X: y\r\n".repeat(1_000))),
            false,
        ),
        (
            "a header of a megabyte",
            head(&format!("X: {}\r\n{length}", "y".repeat(1 << 20))),
            false,
        ),
        ("a status below all", status("HTTP/1.1 99 OK"), false),
        ("a status beyond all", status("HTTP/1.1 1000 OK"), false),
        ("another version", status("HTTP/9.9 200 OK"), false),
        ("another protocol", status("ICY 200 OK"), false),
        ("no status", status("HTTP/1.1 OK"), false),
        ("mail", b"220 mail.example.com ESMTP\r\n".to_vec(), false),
        (
            "a TLS alert",
            b"\x15\x03\x01\x00\x02\x02\x46".to_vec(),
            false,
        ),
        ("HTTP/2", b"\0\0\0\x04\0\0\0\0\0".to_vec(), false),
        (
            "a switch of protocols",
            b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_vec(),
            false,
        ),
    ]
}

#[tokio::test]
async fn framings_that_lie_are_no_success() {
    let mut cases = 0;
    for (name, bytes, expected) in framings() {
        for result in asked(Fault::AnswerAndClose(bytes.clone()), &CALLS).await {
            cases += 1;
            assert_eq!(is_done(&result), expected, "{name}: {result:?}");
            let is_lost = matches!(&result, Err(CallError::Lost { .. }));
            let unclear =
                matches!(&result, Ok(reply) if matches!(reply.verdict, Verdict::Unclear(_)));
            assert!(expected || is_lost || unclear, "{name}: {result:?}");
        }
    }
    assert!(cases >= 70, "{cases}");
}
