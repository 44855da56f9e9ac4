//! Bodies that are compressed, huge, endless or garbage.

use groupdesk::{
    api::{
        answer::{
            Verdict,
            ambiguous::{Ambiguous, AmbiguousKind},
        },
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
    let server = Faults::always(Fault::Answer(bytes)).await;
    let reply = call(&client(&server, LONG), Call::Rotate)
        .await
        .expect("an answer");
    let Verdict::Success(group) = reply.verdict else {
        panic!("{reply:?}");
    };
    assert_eq!(group.token.expose(), NEW);
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_not_beyond() {
    let answer =
        json!({"success": 1, "user_group": {"token": NEW, "provided_id": "acme-eu"}}).to_string();
    for (size, fits) in [(MAX_ANSWER_BYTES, true), (MAX_ANSWER_BYTES + 1, false)] {
        let body = answer.clone() + &" ".repeat(size - answer.len());
        let server = Faults::always(Fault::Answer(http("200 OK", &[], body))).await;
        let reply = call(&client(&server, LONG), Call::GetOrCreate)
            .await
            .expect("an answer");
        let too_large = Verdict::Unclear(Ambiguous {
            status: 200,
            kind: AmbiguousKind::TooLarge {
                limit: MAX_ANSWER_BYTES,
            },
            via: None,
        });
        assert_eq!(matches!(reply.verdict, Verdict::Success(_)), fits);
        assert_eq!(reply.verdict == too_large, !fits);
    }
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
            let cut = matches!(
                reply.verdict,
                Verdict::Unclear(Ambiguous {
                    kind: AmbiguousKind::TooLarge { .. },
                    ..
                })
            );
            assert!(cut, "{reply:?}");
            server.all_over().await;
            assert!(server.flooded() < 64 << 20, "all of it was read");
        }
    }
}

#[tokio::test]
async fn the_body_of_a_redirect_is_not_waited_for() {
    let head = b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 9\r\n\r\n".to_vec();
    let server = Faults::always(Fault::AnswerAndHang(head)).await;
    let reply = call(&client(&server, LONG), Call::Rotate)
        .await
        .expect("an answer");
    assert_eq!(reply.status, 302);
    assert!(matches!(
        reply.verdict,
        Verdict::Unclear(Ambiguous {
            kind: AmbiguousKind::Redirect { .. },
            ..
        })
    ));
}
