//! Bodies that are compressed, huge, endless or garbage.

use groupdesk::{
    api::{
        answer::{Verdict, ambiguous::AmbiguousKind},
        failure::Call,
    },
    domain::size::MAX_ANSWER_BYTES,
};
use serde_json::json;

use crate::client::{CALLS, LONG, NEW, call, client};
use crate::support::faults::{Fault, Faults, http};

/// A mebibyte of zeros as a piece of a deflate stream that can be repeated for ever.
pub(super) const ZEROS: &[u8] = include_bytes!("zeros.deflate");
pub(super) const GZIP_HEAD: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";

#[tokio::test]
async fn a_compressed_answer_is_read() {
    let bytes = http("200 OK", &["Content-Encoding: gzip"], super::PACKED);
    for result in super::send_each(Fault::Answer(bytes), &[Call::Rotate]).await {
        let Verdict::Success(group) = result.expect("an answer").verdict else {
            panic!("a success");
        };
        assert_eq!(group.token.expose(), NEW);
    }
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_not_beyond() {
    let group = json!({"token": NEW, "provided_id": "acme-eu"});
    let answer = json!({"success": 1, "user_group": group}).to_string();
    for (size, fits) in [(MAX_ANSWER_BYTES, true), (MAX_ANSWER_BYTES + 1, false)] {
        let body = answer.clone() + &" ".repeat(size - answer.len());
        let server = Faults::always(Fault::Answer(http("200 OK", &[], body))).await;
        let reply = call(&client(&server, LONG), Call::GetOrCreate).await;
        let verdict = reply.expect("an answer").verdict;
        assert_eq!(matches!(verdict, Verdict::Success(_)), fits);
        assert_eq!(is_too_large(&verdict), !fits);
    }
}

fn is_too_large(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unclear(unclear) if unclear.kind == AmbiguousKind::TooLarge)
}

/// That it takes no memory is measured in `memory`.
#[tokio::test]
async fn endless_bodies_and_a_compression_bomb_are_cut_off() {
    // 100 GiB unpacked from 100 MiB, and 256 MiB of garbage or blanks: none may be read completely.
    let flood = |line: &str, start: &[u8], piece: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{line}\r\n");
        let (head, piece) = ([head.as_bytes(), start].concat(), piece.to_vec());
        let times = 100_000.min((256 << 20) / piece.len());
        Fault::Flood { head, piece, times }
    };
    let chunk = [b"10000\r\n".as_slice(), &b" ".repeat(0x10000), b"\r\n"].concat();
    for fault in [
        flood("", b"", &b"x".repeat(1 << 20)),
        flood("", b"", &b" ".repeat(1 << 16)),
        flood("Transfer-Encoding: chunked\r\n", b"", &chunk),
        flood("Content-Encoding: gzip\r\n", GZIP_HEAD, ZEROS),
    ] {
        for one in CALLS {
            let server = Faults::always(fault.clone()).await;
            let reply = call(&client(&server, LONG), one).await.expect("an answer");
            assert!(is_too_large(&reply.verdict), "{reply:?}");
            server.all_over().await;
            assert!(server.flooded() < 64 << 20, "all of it was read");
        }
    }
}

#[tokio::test]
async fn the_body_of_a_redirect_is_not_waited_for() {
    let head = b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 9\r\n\r\n".to_vec();
    for result in super::send_each(Fault::AnswerAndHang(head), &[Call::Rotate]).await {
        let reply = result.expect("an answer");
        let moved = |kind: &AmbiguousKind| matches!(kind, AmbiguousKind::Redirect { .. });
        let is_moved = matches!(&reply.verdict, Verdict::Unclear(it) if moved(&it.kind));
        assert!(reply.status == 302 && is_moved, "{reply:?}");
    }
}
