//! Bodies as nobody should send them: cut off, slow, of the wrong type, malformed. Each has an outcome with a type, and
//! none is taken for a success that is not one.

mod fields;
mod framings;
mod memory;
mod sizes;
mod twisted;

use std::time::Duration;

use futures_util::future::join_all;
use groupdesk::{
    api::{
        answer::Verdict,
        client::Reply,
        failure::{Call, CallError, Lost},
    },
    domain::rotation::RotateOutcome,
};
use serde_json::{Value, json};

use crate::{
    client::{CALLS, LONG, NEW, answer, call, client},
    support::{
        faults::{Fault, Faults, http},
        long,
    },
};

const JSON: &str = "Content-Type: application/json";
/// A good answer, compressed.
pub(super) const PACKED: &[u8] = include_bytes!("bodies/answer.gz");

fn good() -> Value {
    json!({
        "success": 1,
        "new_user_group": false,
        "user_group": {
            "team_id": 7, "token": NEW, "name": "Acmé", "provided_id": "acme-eu",
            "properties": {"tier": "gold"}, "api_environment_tag": "Testing",
        },
    })
}

fn is_done(result: &Result<Reply, CallError>) -> bool {
    matches!(result, Ok(reply) if matches!(reply.verdict, Verdict::Success(_)))
}

/// Sends one request of each named kind to a server with this answer.
async fn send_each(fault: Fault, calls: &[Call]) -> Vec<Result<Reply, CallError>> {
    let server = Faults::always(fault).await;
    let client = client(&server, LONG);
    let mut results = Vec::new();
    for one in calls {
        results.push(call(&client, *one).await);
    }
    assert!(server.requests().len() <= calls.len(), "each is sent once");
    results
}

/// The answer with one field replaced or removed.
fn with_field(field: &str, value: Option<&str>) -> String {
    let mut answer = good();
    let place = match field {
        "success" | "new_user_group" | "user_group" => &mut answer,
        _ => &mut answer["user_group"],
    };
    let map = place.as_object_mut().expect("an object");
    map.shift_remove(field);
    if let Some(value) = value {
        map.insert(field.into(), json!("SWAPPED"));
        // As text, because not every number can be represented here.
        return answer.to_string().replace("\"SWAPPED\"", value);
    }
    answer.to_string()
}

/// How a body can end too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The head announced the complete length.
    Promised,
    /// The head announced the length that was sent.
    Agreed,
    /// No length was announced; the end of the connection is the end of the body.
    Unsaid,
    /// Chunks without a last one.
    Chunks,
}

impl Cut {
    fn bytes(self, body: &[u8], whole: usize, headers: &str) -> Vec<u8> {
        let length = match self {
            Self::Promised => format!("Content-Length: {whole}\r\n"),
            Self::Agreed => format!("Content-Length: {}\r\n", body.len()),
            Self::Unsaid => "Connection: close\r\n".into(),
            Self::Chunks => "Transfer-Encoding: chunked\r\n".into(),
        };
        let chunk = (self == Self::Chunks).then(|| format!("{whole:x}\r\n"));
        let head = format!("HTTP/1.1 200 OK\r\n{headers}{length}\r\n");
        let chunk = chunk.unwrap_or_default();
        [head.as_bytes(), chunk.as_bytes(), body].concat()
    }
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_no_success() {
    let text = good().to_string().into_bytes();
    for (whole, headers) in [
        (text.as_slice(), ""),
        (PACKED, "Content-Encoding: gzip\r\n"),
    ] {
        for cut in [Cut::Promised, Cut::Agreed, Cut::Unsaid, Cut::Chunks] {
            for length in 0..=whole.len() {
                // Every length; each kind of request at every third.
                let one = CALLS[length % CALLS.len()];
                let calls: &[_] = if long::all() { &CALLS } else { &[one] };
                let fault =
                    Fault::AnswerAndClose(cut.bytes(&whole[..length], whole.len(), headers));
                for (result, one) in send_each(fault, calls).await.iter().zip(calls) {
                    let what = format!("{cut:?} {length} {one:?}: {result:?}");
                    let is_whole = length == whole.len() && cut != Cut::Chunks;
                    assert_eq!(is_done(result), is_whole, "{what}");
                    if *one == Call::Rotate && !is_whole {
                        assert_eq!(answer(result), RotateOutcome::Unclear, "{what}");
                    }
                    if let Err(error) = result {
                        assert!(matches!(error, CallError::Lost { .. }), "{what}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_head_cut_at_any_byte_is_a_lost_answer() {
    let whole = http("200 OK", &[JSON, "X-More: 1"], "");
    for length in 0..whole.len() {
        let call = CALLS[length % CALLS.len()];
        let fault = Fault::AnswerAndClose(whole[..length].to_vec());
        let lost = CallError::Lost {
            call,
            status: None,
            why: Lost::Broken,
            via: None,
        };
        let error = send_each(fault, &[call]).await.remove(0).expect_err("lost");
        assert_eq!(error, lost, "{length}");
    }
}

#[tokio::test]
async fn a_trickling_answer_is_given_up_in_time() {
    const PATIENCE: Duration = Duration::from_secs(5);
    let body = good().to_string();
    let whole = http("200 OK", &[JSON], &body);
    let endless = |piece: &[u8]| Fault::Flood {
        head: Vec::new(),
        piece: piece.repeat(100),
        times: usize::MAX,
    };
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let chunks = [head.clone(), b"1\r\n \r\n".repeat(1_000)].concat();
    let second = Duration::from_secs(1);
    #[rustfmt::skip] // A table: one case per line.
    let faults = [
        ("a byte a second", Fault::Trickle(whole.clone(), second)),
        ("ten bytes a second", Fault::Trickle(whole.clone(), second / 10)),
        ("a body of a byte a second", Fault::Trickle([head, b"1\r\n{\r\n".repeat(99)].concat(), second / 50)),
        ("blanks in chunks", Fault::Trickle(chunks, second / 100)),
        ("a head that goes on", Fault::AnswerAndHang(whole[..30].to_vec())),
        ("one byte missing", Fault::AnswerAndHang(whole[..whole.len() - 1].to_vec())),
        ("continue, for ever", endless(b"HTTP/1.1 100 Continue\r\n\r\n")),
        ("early hints, for ever", endless(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")),
    ];
    let all = faults.into_iter().map(|(name, fault)| async move {
        let server = Faults::always(fault).await;
        let client = client(&server, PATIENCE);
        let results = join_all(CALLS.map(|one| call(&client, one))).await;
        for result in &results {
            let why = match result {
                Err(CallError::Lost { why, .. }) => why,
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(*why, Lost::TimedOut(PATIENCE), "{name}");
        }
        assert_eq!(server.connections(), 3, "{name}: each is sent once");
    });
    let all = tokio::time::timeout(3 * LONG, join_all(all)).await;
    all.expect("all end in time");
}
