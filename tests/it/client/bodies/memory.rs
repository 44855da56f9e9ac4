//! The cost of hostile bodies: the peak memory of the shipped binary, read from outside when its next request arrives.

use std::{
    fs,
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

/// Peak of the resident memory of a process, in KiB.
fn peak(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number
        .and_then(|number| number.parse().ok())
        .expect("a peak")
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
            peaks.push(peak(pid.load(Ordering::SeqCst)));
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

/// Answers to the rotation request.
fn seconds(group: &str) -> Vec<(&'static str, Second)> {
    let ok = |body: &str| Second::Bytes(http("200 OK", &["Content-Type: application/json"], body));
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
    let head = |lines: &str| format!("{closing}{lines}\r\n").into_bytes();
    let bomb = [head("Content-Encoding: gzip\r\n"), GZIP_HEAD.to_vec()].concat();
    let space = || vec![b' '; 1 << 16];
    let name = "x".repeat(MAX_ANSWER_BYTES - 200);
    let small = good(group, "another", &name, &Value::Null);
    let keys = (0..MAX_ANSWER_BYTES / 16).fold(String::new(), |keys, n| {
        if keys.len() > MAX_ANSWER_BYTES - 100 {
            return keys;
        }
        keys + &format!("\"{n:09}\":0,")
    });
    vec![
        (
            "100 MB",
            Second::Bytes(http("200 OK", &[], vec![b' '; 100_000_000])),
        ),
        (
            "100 MB of another status",
            Second::Bytes(http("503 Busy", &[], vec![b'x'; 100_000_000])),
        ),
        ("endless", Second::Endless(head(""), space())),
        ("a bomb", Second::Endless(bomb, ZEROS.to_vec())),
        (
            "an endless header",
            Second::Endless(b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'y'; 1 << 16]),
        ),
        (
            "endless headers",
            Second::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(1_000)),
        ),
        ("zeros", ok(&body_at_limit("[", "0,", "0]"))),
        ("empty lists", ok(&body_at_limit("[", "[],", "0]"))),
        (
            "empty texts",
            ok(&body_at_limit("{\"success\":0,\"error\":[", "\"\",", "0]}")),
        ),
        ("keys", ok(&format!("{{{keys}\"a\":0}}"))),
        ("levels", ok(&body_at_limit("", "[", ""))),
        (
            "escapes",
            ok(&body_at_limit(
                "{\"success\":0,\"error\":\"",
                "\\u202e",
                "\"}",
            )),
        ),
        (
            "words",
            ok(&body_at_limit(
                "{\"success\":0,\"error\":{\"message\":\"",
                "word ",
                "\"}}",
            )),
        ),
        (
            "hexadecimals",
            ok(&body_at_limit(
                "{\"success\":0,\"error\":{\"message\":\"",
                "0a",
                "\"}}",
            )),
        ),
        ("a long name", ok(&small)),
        ("a long token", ok(&good(group, &name, "x", &Value::Null))),
    ]
}

/// Answers to the read before it; all of them are accepted.
#[rustfmt::skip] // A table: one case per line.
fn firsts(group: &str, token: &str) -> Vec<(&'static str, String)> {
    let long = || "x".repeat(MAX_ANSWER_BYTES - 300);
    let most = MAX_ANSWER_VALUES - 100;
    let lists: Vec<Value> = (0..most).map(|number| json!(number)).collect();
    let width = MAX_ANSWER_BYTES / most - 20;
    let keys: serde_json::Map<_, _> = (0..most)
        .map(|n| (format!("{n:0width$}"), json!("x")))
        .collect();
    vec![
        ("a long name", good(group, token, &long(), &Value::Null)),
        ("a long property", good(group, token, "x", &json!({"a": long()}))),
        ("many properties", good(group, token, "x", &Value::Object(keys))),
        ("a long list", good(group, token, "x", &json!({"a": lists}))),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_body_costs_more_than_20_mib() {
    let stage = Stage::new(20).await;
    let mut cases = Vec::new();
    let mut groups = stage.groups.iter().map(String::as_str);
    let plain = |group: &str| good(group, &stage.token(group), "x", &Value::Null);
    let count = seconds("").len();
    for number in 0..count {
        let group = groups.next().expect("enough");
        let (name, second) = seconds(group).swap_remove(number);
        cases.push((name, group, plain(group), second));
    }
    for number in 0..4 {
        let group = groups.next().expect("enough");
        let (name, first) = firsts(group, &stage.token(group)).swap_remove(number);
        let no = http("200 OK", &[], "{\"success\":0}");
        cases.push((name, group, first, Second::Bytes(no)));
    }
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
