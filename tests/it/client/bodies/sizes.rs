//! Bodies that are compressed, huge, endless or garbage.

use groupdesk::{
    api::{
        answer::{Verdict, ambiguous::Ambiguous},
        failure::Call,
    },
    domain::{rotation::RotateOutcome, size::LARGEST_ANSWER},
};
use serde_json::json;

use crate::client::{CALLS, LONG, NEW, answer, call, client};
use crate::support::faults::{Fault, Faults, http};

/// A mebibyte of zeros as a piece of a deflate stream that may be repeated for ever.
const ZEROS: &[u8] = include_bytes!("zeros.deflate");
const GZIP_HEAD: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";

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
    for (size, fits) in [(LARGEST_ANSWER, true), (LARGEST_ANSWER + 1, false)] {
        let body = answer.clone() + &" ".repeat(size - answer.len());
        let server = Faults::always(Fault::Answer(http("200 OK", &[], body))).await;
        let reply = call(&client(&server, LONG), Call::GetOrCreate)
            .await
            .expect("an answer");
        let too_large = Verdict::Unclear(Ambiguous::TooLarge {
            status: 200,
            limit: LARGEST_ANSWER,
        });
        assert_eq!(matches!(reply.verdict, Verdict::Success(_)), fits);
        assert_eq!(reply.verdict == too_large, !fits);
    }
}

#[tokio::test]
async fn a_flood_and_a_bomb_are_cut_off() {
    // 256 MiB of garbage, and 100 GiB out of 100 MiB: neither may be taken in.
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
    let flood = Fault::Flood {
        head: format!("{head}\r\n").into_bytes(),
        piece: vec![b'x'; 1024 * 1024],
        times: 256,
    };
    let bomb = Fault::Flood {
        head: [
            format!("{head}Content-Encoding: gzip\r\n\r\n").as_bytes(),
            GZIP_HEAD,
        ]
        .concat(),
        piece: ZEROS.to_vec(),
        times: 100_000,
    };
    for (fault, whole) in [(flood, 256 * 1024 * 1024), (bomb, 100_000 * ZEROS.len())] {
        for one in CALLS {
            let server = Faults::always(fault.clone()).await;
            let reply = call(&client(&server, LONG), one).await.expect("an answer");
            let cut = matches!(reply.verdict, Verdict::Unclear(Ambiguous::TooLarge { .. }));
            assert!(cut, "{reply:?}");
            server.all_over().await;
            assert!(server.flooded() < whole, "all of it was taken in");
        }
    }
}

#[tokio::test]
async fn a_megabyte_of_garbage_is_unclear() {
    let garbage: Vec<u8> = (0..1_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let server = Faults::always(Fault::Answer(http("200 OK", &[], garbage))).await;
    let result = call(&client(&server, LONG), Call::Rotate).await;
    assert_eq!(answer(&result), RotateOutcome::Unclear);
    let verdict = result.expect("an answer").verdict;
    assert!(matches!(
        verdict,
        Verdict::Unclear(Ambiguous::NotJson { .. })
    ));
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
        Verdict::Unclear(Ambiguous::Redirect { .. })
    ));
}
