//! The cost of hostile bodies: the peak memory of the shipped binary, read from outside when its next request arrives.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use futures_util::future::join_all;
use groupdesk::domain::size::{MAX_ANSWER_BYTES, MAX_ANSWER_VALUES};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::sizes::{GZIP_HEAD, ZEROS};
use crate::support::{
    faults::{http, read_request},
    memory::memory_of,
    stage::{Stage, Task},
};

/// In KiB, the unit of /proc.
const MOST_GROWTH: usize = 20 * 1024;

/// The answer to the second request; the first and the third are good.
enum Second {
    Bytes(Vec<u8>),
    /// A head, followed by the piece for as long as somebody reads.
    Endless(Vec<u8>, Vec<u8>),
}

/// Answers a rotation of one group: the first read, the rotation, and the read that settles it, which never ends.
/// Returns how much the peak grew from request to request.
async fn serve(
    listener: TcpListener,
    pid: Arc<AtomicU32>,
    first: Vec<u8>,
    second: Second,
) -> Vec<usize> {
    let mut peaks = Vec::new();
    let (mut first, mut second) = (Some(first), Some(second));
    loop {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        while read_request(&mut stream, 0).await.is_some() {
            let peak = memory_of(pid.load(Ordering::SeqCst), "VmHWM");
            peaks.push(peak.expect("it runs"));
            if let Some(bytes) = first.take() {
                let _ = stream.write_all(&bytes).await;
            } else if let Some(second) = second.take() {
                answer(&mut stream, second).await;
                break;
            } else {
                return peaks
                    .windows(2)
                    .map(|pair| pair[1].saturating_sub(pair[0]))
                    .collect();
            }
        }
    }
}

async fn answer(stream: &mut TcpStream, second: Second) {
    match second {
        Second::Bytes(bytes) => drop(stream.write_all(&bytes).await),
        Second::Endless(head, piece) => {
            let mut going = stream.write_all(&head).await.is_ok();
            while going {
                going = stream.write_all(&piece).await.is_ok();
            }
        }
    }
    let mut rest = [0; 64];
    while matches!(stream.read(&mut rest).await, Ok(read) if read > 0) {}
}

/// A body of exactly the size limit: the piece, repeated between the two ends.
fn body_at_limit(before: &str, piece: &str, after: &str) -> String {
    let room = MAX_ANSWER_BYTES - before.len() - after.len();
    let mut body = before.to_owned() + &piece.repeat(room / piece.len());
    body.push_str(after);
    body
}

fn good(group: &str, token: &str, name: &str, properties: &Value) -> String {
    let group = json!({"team_id": 1, "token": token, "name": name, "provided_id": group, "properties": properties});
    json!({"success": 1, "new_user_group": false, "user_group": group}).to_string()
}

fn ok(body: &str) -> Second {
    Second::Bytes(http("200 OK", &["Content-Type: application/json"], body))
}

fn endless(lines: &str, start: &[u8], piece: &[u8]) -> Second {
    let head = format!("HTTP/1.1 200 OK\r\n{lines}");
    Second::Endless([head.as_bytes(), start].concat(), piece.to_vec())
}

const CLOSING: &str = "Connection: close\r\n\r\n";
const PACKED: &str = "Connection: close\r\nContent-Encoding: gzip\r\n\r\n";
/// More than may be kept of a body, and more than the growth that is allowed.
const MUCH: usize = 40_000_000;

/// For a group, and for a group with this token.
type Answered = fn(&str) -> Second;
type Read = fn(&str, &str) -> String;

/// Answers to the rotation of a group.
#[rustfmt::skip] // A table: one case per line.
const SECONDS: [(&str, Answered); 16] = [
    ("40 MB", |_| Second::Bytes(http("200 OK", &[], vec![b' '; MUCH]))),
    ("40 MB of another status", |_| Second::Bytes(http("503 Busy", &[], vec![b'x'; MUCH]))),
    ("endless", |_| endless(CLOSING, b"", &[b' '; 1 << 16])),
    ("a bomb", |_| endless(PACKED, GZIP_HEAD, ZEROS)),
    ("an endless header", |_| endless("X: ", b"", &[b'y'; 1 << 16])),
    ("endless headers", |_| endless("", b"", &b"X: y\r\n".repeat(1_000))),
    ("zeros", |_| ok(&body_at_limit("[", "0,", "0]"))),
    ("empty lists", |_| ok(&body_at_limit("[", "[],", "0]"))),
    ("empty texts", |_| ok(&body_at_limit("{\"success\":0,\"error\":[", "\"\",", "0]}"))),
    ("keys", |_| ok(&many_keys())),
    ("levels", |_| ok(&body_at_limit("", "[", ""))),
    ("escapes", |_| ok(&body_at_limit("{\"success\":0,\"error\":\"", "\\u202e", "\"}"))),
    ("words", |_| ok(&body_at_limit("{\"success\":0,\"error\":{\"message\":\"", "word ", "\"}}"))),
    ("hexadecimals", |_| ok(&body_at_limit("{\"success\":0,\"error\":{\"message\":\"", "0a", "\"}}"))),
    ("a long name", |group| ok(&good(group, "another", &long_text(), &Value::Null))),
    ("a long token", |group| ok(&good(group, &long_text(), "x", &Value::Null))),
];

/// Answers to the read before it; all of them are accepted.
#[rustfmt::skip] // A table: one case per line.
const FIRSTS: [(&str, Read); 4] = [
    ("a long name", |group, token| good(group, token, &long_text(), &Value::Null)),
    ("a long property", |group, token| good(group, token, "x", &json!({"a": long_text()}))),
    ("many properties", |group, token| good(group, token, "x", &many_properties())),
    ("a long list", |group, token| good(group, token, "x", &json!({"a": (0..MOST).collect::<Vec<_>>()}))),
];

/// Nearly as many values as an answer may have.
const MOST: usize = MAX_ANSWER_VALUES - 100;

fn long_text() -> String {
    "x".repeat(MAX_ANSWER_BYTES - 300)
}

fn many_keys() -> String {
    let mut body = String::from("{");
    for number in 0..(MAX_ANSWER_BYTES - 100) / "\"000000000\":0,".len() {
        let _ = write!(body, "\"{number:09}\":0,");
    }
    body + "\"a\":0}"
}

fn many_properties() -> Value {
    let width = MAX_ANSWER_BYTES / MOST - 20;
    (0..MOST)
        .map(|number| (format!("{number:0width$}"), json!("x")))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_body_costs_more_than_20_mib() {
    let stage = Stage::new(SECONDS.len() + FIRSTS.len()).await;
    let no = || Second::Bytes(http("200 OK", &[], "{\"success\":0}"));
    let plain = |group: &str| good(group, &stage.token(group), "x", &Value::Null);
    let (of_seconds, of_firsts) = stage.groups.split_at(SECONDS.len());
    let seconds = SECONDS.iter().zip(of_seconds);
    let seconds =
        seconds.map(|((name, second), group)| (*name, group, plain(group), second(group)));
    let firsts = FIRSTS.iter().zip(of_firsts);
    let firsts = firsts.map(|((name, first), group)| {
        let first = first(group, &stage.token(group));
        (*name, group, first, no())
    });
    let cases: Vec<_> = seconds.chain(firsts).collect();
    let all = cases.into_iter().map(|(name, group, first, second)| {
        let stage = &stage;
        async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let config = stage.config(&format!("http://{address}"), "timeout = \"20s\"");
            let arguments = Task::Rotate.arguments(group);
            let mut child = stage
                .program(&config, &arguments)
                .spawn()
                .expect("it starts");
            let pid = Arc::new(AtomicU32::new(child.id().expect("it runs")));
            let first = http("200 OK", &[], first);
            let grown = tokio::time::timeout(
                std::time::Duration::from_mins(2),
                serve(listener, pid, first, second),
            );
            let grown = grown
                .await
                .unwrap_or_else(|_| panic!("{name}: it never asks again"));
            child.kill().await.expect("it waits for us");
            (name, grown)
        }
    });
    let measured = join_all(all).await;
    println!("peak growth in KiB: {measured:?}");
    let within = |(_, grown): &(&str, Vec<usize>)| {
        grown.len() == 2 && grown[0] <= MOST_GROWTH && grown[1] <= MOST_GROWTH
    };
    assert!(measured.iter().all(within), "{measured:?}");
    assert!(measured.len() >= 20);
}
