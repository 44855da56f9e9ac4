//! Response heads that are not HTTP, that lie about the body, or that name another content type.

use groupdesk::api::{answer::Verdict, failure::CallError};

use super::{good, is_done, send_each};
use crate::{client::CALLS, support::faults::Fault};

#[tokio::test]
async fn wrong_framings_are_no_success() {
    let text = good().to_string();
    let whole = |start: &str, lines: &str| format!("{start}\r\n{lines}\r\n\r\n{text}").into_bytes();
    let head = |lines: &str| whole("HTTP/1.1 200 OK", lines);
    let length = format!("Content-Length: {}", text.len());
    let with = |line: &str| head(&format!("{line}\r\n{length}"));
    let status = |line: &str| whole(line, &length);
    let chunk = "ffffffffffffffffff\r\n".to_owned() + &text;
    // JSON with another content type is JSON; other bodies are not. One content coding was never offered.
    let good = [
        head(&length),
        with("Content-Type: text/plain"),
        with("Content-Type: text/html; charset=utf-8"),
        with("Content-Type: image/png"),
        with("Content-Type: ;;;="),
        with("Content-Type: text/html\r\nContent-Type: application/json"),
        with("Content-Encoding: br"),
    ];
    let lying = [
        with("Content-Encoding: gzip"),
        with("Content-Length: 5"),
        head("Content-Length: -1"),
        head("Content-Length: many"),
        head("Content-Length: 99999999999999999999999"),
        head("Content-Length: 18446744073709551614"),
        head("Transfer-Encoding: chunked"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}").into(),
        with("X: y\r\n".repeat(1_000).trim_end()),
        with(&format!("X: {}", "y".repeat(1 << 20))),
        status("HTTP/1.1 99 OK"),
        status("HTTP/1.1 1000 OK"),
        status("HTTP/9.9 200 OK"),
        status("ICY 200 OK"),
        status("HTTP/1.1 OK"),
        b"220 mail.example.com ESMTP\r\n".into(),
        b"SSH-2.0-canary\r\n".into(),
        // A TLS alert, an HTTP/2 frame, a protocol switch.
        b"\x15\x03\x01\x00\x02\x02\x46".into(),
        b"\0\0\0\x04\0\0\0\0\0".into(),
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".into(),
    ];
    let good = good.into_iter().map(|bytes| (bytes, true));
    for (bytes, expected) in good.chain(lying.into_iter().map(|bytes| (bytes, false))) {
        let start: String = String::from_utf8_lossy(&bytes).chars().take(300).collect();
        for result in send_each(Fault::AnswerAndClose(bytes.clone()), &CALLS).await {
            assert_eq!(is_done(&result), expected, "{start}: {result:?}");
            let is_lost = matches!(&result, Err(CallError::Lost { .. }));
            let unclear =
                matches!(&result, Ok(reply) if matches!(reply.verdict, Verdict::Unclear(_)));
            assert!(expected || is_lost || unclear, "{start}: {result:?}");
        }
    }
}
