//! The connection: refused, reset and hanging in every phase, for every operation. A request that was sent is sent
//! once; one that may have taken effect is unknown, never failed; one that was never sent is reported so.

use std::{any::Any, net::SocketAddr, time::Duration};

use futures_util::future::join_all;
use groupdesk::{
    api::{
        failure::{Call, CallError, Lost, NotSent},
        send_by::SendBy,
    },
    config::profile::Profile,
    domain::rotation::RotateOutcome,
};
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};

use super::{CALLS, LONG, NEW, answer, bodies::PACKED, call, client, client_of, profile};
use crate::support::faults::{Fault, Faults, closed_port, http};

/// For cases that must wait; long enough for what comes before.
const SHORT: Duration = Duration::from_secs(10);

/// The phases in which the connection fails. In the first four nothing can have reached the service: the queue to connect
/// is full, or there is no answer in the handshake.
const PHASES: &str = "refused|no such name|hang before accept|hang in TLS|reset at once|close at once|\
    reset before head|close before head|hang before head|reset in head|close in head|hang in head|\
    reset in body|close in body|hang in body|reset after body";

fn hangs(phase: &str) -> bool {
    phase.starts_with("hang")
}

/// The timeout of this phase.
fn patience(phase: &str) -> Duration {
    if hangs(phase) { SHORT } else { LONG }
}

/// The fault of the request under test; `whole` is a good answer to it.
fn fault(phase: &str, whole: &[u8]) -> Fault {
    let (how, place) = phase.split_once(' ').expect("two words");
    let length = match place {
        "in head" => 20,
        "in body" => whole.len() - 9,
        "after body" => whole.len(),
        _ => 0,
    };
    let bytes = whole[..length].to_vec();
    match (how, place) {
        ("reset", "at once") => Fault::ResetAtOnce,
        ("close", "at once") => Fault::Blurt(bytes),
        ("reset", _) => Fault::AnswerAndReset(bytes),
        ("close", _) => Fault::AnswerAndClose(bytes),
        _ => Fault::AnswerAndHang(bytes),
    }
}

/// A full accept queue: attempts to connect are not answered at all.
pub(crate) async fn full() -> (SocketAddr, Box<dyn Any + Send>) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let listener = socket.listen(0).expect("listens");
    let address = listener.local_addr().expect("an address");
    let mut waiting = Vec::new();
    let patience = Duration::from_millis(600);
    while let Ok(stream) = tokio::time::timeout(patience, TcpStream::connect(address)).await {
        waiting.push(stream.expect("connected"));
        assert!(waiting.len() < 64, "the queue never fills");
    }
    (address, Box::new((listener, waiting)))
}

fn good() -> Vec<u8> {
    let group = json!({"team_id": 1, "token": NEW, "name": "Acme", "provided_id": "acme-eu"});
    let body = json!({"success": 1, "new_user_group": false, "user_group": group});
    let lines = ["Content-Type: application/json", "Connection: close"];
    http("200 OK", &lines, body.to_string())
}

/// An address where the connection fails in this way, and what must be kept alive for it.
struct Place {
    base_url: String,
    server: Option<Faults>,
    _kept: Option<Box<dyn Any>>,
}

impl Place {
    async fn of(phase: &str) -> Self {
        let nobody = |base_url, kept| Self {
            base_url,
            server: None,
            _kept: kept,
        };
        match phase {
            "refused" => {
                let (socket, address) = closed_port();
                return nobody(format!("http://{address}"), Some(Box::new(socket)));
            }
            // A label of more than 63 characters is refused before any name server is asked.
            "no such name" => return nobody(format!("http://{}.invalid", "a".repeat(70)), None),
            "hang before accept" => {
                let (address, waiting) = full().await;
                return nobody(format!("http://{address}"), Some(waiting));
            }
            _ => {}
        }
        let server = Faults::always(fault(phase, &good())).await;
        let scheme = if phase == "hang in TLS" {
            "https"
        } else {
            "http"
        };
        Self {
            base_url: format!("{scheme}://{}", server.address),
            server: Some(server),
            _kept: None,
        }
    }
}

/// What the client reports; the status of an answer that has begun may be lost with it.
fn is_expected(phase: &str, call: Call, host: &str, error: &CallError) -> bool {
    let (host, after) = (host.to_owned(), SHORT * 9 / 10);
    let why = match phase {
        "refused" => NotSent::Refused(host.clone()),
        "no such name" => NotSent::Name(host.clone()),
        // Shorter than the timeout: never connected is told apart from never answered.
        "hang before accept" | "hang in TLS" => NotSent::TimedOut {
            host: host.clone(),
            after,
        },
        _ => {
            let begun = phase.ends_with("body").then_some(200);
            let CallError::Lost { status, .. } = *error else {
                // It can happen while connecting.
                let early = matches!(
                    error,
                    CallError::NotSent {
                        why: NotSent::Other { .. },
                        ..
                    }
                );
                return phase == "reset at once" && early;
            };
            let why = if hangs(phase) {
                Lost::TimedOut(SHORT)
            } else {
                Lost::Broken
            };
            let is_known = status == begun || phase.starts_with("reset") && status.is_none();
            let lost = CallError::Lost {
                call,
                status,
                why,
                via: None,
            };
            return is_known && *error == lost;
        }
    };
    error.to_string().contains("nothing was sent") && *error == CallError::NotSent { why }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_phase_of_every_call() {
    let folder = crate::support::folder::temporary();
    let ca_file = folder.path().join("authority.pem");
    std::fs::write(&ca_file, super::tls::an_authority()).expect("written");
    let all = PHASES
        .split('|')
        .flat_map(|phase| CALLS.map(|call| (phase, call)));
    let runs = all.map(async |(phase, one)| {
        let what = format!("{phase} {one:?}");
        let place = Place::of(phase).await;
        let (_, host) = place.base_url.split_once("//").expect("an address");
        let client = client_of(&Profile {
            ca_file: Some(ca_file.clone()),
            allow_plain_http: true,
            ..profile(place.base_url.clone(), patience(phase))
        });
        let result = call(&client, one).await;
        let meant = answer(&result);
        match result {
            // A complete answer counts, whatever comes after it.
            Ok(reply) => assert_eq!((phase, reply.status), ("reset after body", 200)),
            Err(error) => {
                let expected = match error {
                    CallError::NotSent { .. } => RotateOutcome::NotSent,
                    CallError::Lost { .. } => RotateOutcome::Unclear,
                };
                assert_eq!(meant, expected, "{what}: {error:?}");
                assert!(is_expected(phase, one, host, &error), "{what}: {error:?}");
            }
        }
        if let Some(server) = place.server {
            assert_eq!(server.connections(), 1, "{what}: nothing is sent again");
        }
    });
    join_all(runs).await;
}

#[tokio::test]
async fn an_answer_damaged_in_transit_is_lost() {
    let mut garbled = http("200 OK", &["Content-Encoding: gzip"], PACKED);
    let last = garbled.len() - 20;
    garbled[last] ^= 0xff;
    for one in CALLS {
        let server = Faults::always(Fault::Answer(garbled.clone())).await;
        let error = call(&client(&server, LONG), one).await.expect_err("lost");
        let lost = CallError::Lost {
            call: one,
            status: Some(200),
            why: Lost::Damaged,
            via: None,
        };
        assert_eq!(error, lost);
        assert_eq!(server.requests().len(), 1, "{one:?}");
    }
}

#[tokio::test]
async fn a_connection_made_too_late_sends_nothing() {
    for one in [Call::Create, Call::Update, Call::Rotate] {
        let server = Faults::always(Fault::Close).await;
        for (is_late, expected, count) in [
            (true, RotateOutcome::NotSent, 0),
            (false, RotateOutcome::Unclear, 1),
        ] {
            let client = client(&server, LONG).until(SendBy::new(move || is_late));
            let result = call(&client, one).await;
            assert_eq!(answer(&result), expected, "{one:?}");
            let error = result.expect_err("not answered");
            let late = matches!(
                &error,
                CallError::NotSent {
                    why: NotSent::Late(_),
                    ..
                }
            );
            assert_eq!(late, is_late, "{error:?}");
            assert_eq!(server.requests().len(), count, "{one:?}");
        }
    }
}
