//! Every status with every kind of body. The expectations follow docs/design/service.md and docs/design/rotation.md
//! alone, in a few lines here, and never the program.

use groupdesk::{
    api::{answer::Verdict, failure::Call},
    domain::rotation::RotateOutcome,
    operations::Failure,
};
use serde_json::json;

use crate::{
    client::{CALLS, LONG, NEW, answer, call, client},
    support::{
        faults::{Fault, Faults, http},
        long,
        proxy::{ProxyFault, Then},
        stage::{Stage, Task},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Good,
    /// JSON with `success: 0`.
    Zero,
    Page,
    Empty,
}

const BODIES: [Body; 4] = [Body::Good, Body::Zero, Body::Page, Body::Empty];
const JSON: &str = "Content-Type: application/json";

impl Body {
    fn bytes(self, status: u16, id: &str) -> Vec<u8> {
        let group = json!({"token": NEW, "provided_id": id, "name": "Acme", "team_id": 1});
        let good = json!({"success": 1, "new_user_group": false, "user_group": group});
        let no = json!({"success": 0, "error": {"code": "no", "message": "not now"}});
        let (kind, body) = match self {
            Self::Good => (JSON, good.to_string()),
            Self::Zero => (JSON, no.to_string()),
            Self::Page => ("Content-Type: text/html", "<html>no</html>".into()),
            Self::Empty => (JSON, String::new()),
        };
        http(
            &format!("{status} Word"),
            &[kind, "Connection: close"],
            body,
        )
    }
}

/// How the documents allow an answer to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Done,
    /// The service itself refused: the change was certainly not made.
    No,
    /// Somebody refused, or the outcome is unknown: the change may have taken effect.
    Open,
}

/// Hazard 9: done = 2xx, JSON, `success` 1. docs/design/rotation.md: a stated no is a 401, 403, 404 or 422, or
/// `success: 0`; all else is open. A 204 and a 304 have no body in HTTP; whether another 4xx with `success: 0` counts
/// as a no is free.
fn allowed(status: u16, body: Body) -> &'static [Class] {
    use Class::{Done, No, Open};
    match (status, body) {
        (204, _) => &[Open],
        (200..300, Body::Good) => &[Done],
        (200..300 | 401 | 403 | 404 | 422, Body::Zero) => &[No],
        (400..500, Body::Zero) => &[No, Open],
        _ => &[Open],
    }
}

fn class(verdict: &Verdict) -> Class {
    match verdict {
        Verdict::Success(_) => Class::Done,
        Verdict::Refused { stated: true, .. } => Class::No,
        Verdict::Refused { stated: false, .. } | Verdict::Unclear(_) | Verdict::SameToken(_) => {
            Class::Open
        }
    }
}

/// Statuses with a meaning of their own, or at an edge.
const TELLING: [u16; 24] = [
    200, 202, 204, 205, 299, 302, 304, 400, 401, 403, 404, 407, 408, 409, 410, 418, 422, 429, 451,
    500, 502, 503, 504, 599,
];

/// Those, and every `step`th; all of them in the long run.
fn statuses(step: usize) -> Vec<u16> {
    let mut all = long::spread(200..600, step);
    all.extend(TELLING);
    all.sort_unstable();
    all.dedup();
    all
}

#[tokio::test]
async fn every_status_with_every_body_is_judged_as_documented() {
    for status in statuses(10) {
        for body in BODIES {
            let server = Faults::always(Fault::AnswerAndClose(body.bytes(status, "acme-eu"))).await;
            let client = client(&server, LONG);
            for one in CALLS {
                let result = call(&client, one).await;
                let what = format!("{status} {body:?} {one:?}: {result:?}");
                let meant = match (one, answer(&result)) {
                    (Call::Rotate, RotateOutcome::NewToken(_)) => Some(Class::Done),
                    (Call::Rotate, RotateOutcome::Refused) => Some(Class::No),
                    (Call::Rotate, RotateOutcome::Unclear) => Some(Class::Open),
                    (Call::Rotate, other) => panic!("{what}: {other:?}"),
                    _ => None,
                };
                let got = class(&result.expect("an answer").verdict);
                assert!(allowed(status, body).contains(&got), "{what}");
                assert!(meant.is_none_or(|meant| meant == got), "{what}");
            }
            assert_eq!(server.requests().len(), 3, "each is sent once");
        }
    }
}

/// The outcome of a change, as a person is told.
fn class_of_failure(failure: &Failure) -> Class {
    match failure {
        Failure::Refused { .. } | Failure::KeyRefused { .. } | Failure::NotApplied { .. } => {
            Class::No
        }
        Failure::Unknown { .. } => Class::Open,
        other => panic!("{other:?}"),
    }
}

async fn try_changes(statuses: &[u16]) {
    let bodies = [Body::Zero, Body::Page, Body::Empty, Body::Good];
    let stage = Stage::new(4 * statuses.len() * bodies.len()).await;
    let mut groups = stage.groups.iter();
    for status in statuses.iter().copied() {
        for body in bodies {
            for applied in [true, false] {
                // A good answer that the service did not give is not a fault of the network.
                let good = body == Body::Good && allowed(status, body) == [Class::Done];
                for errand in [Task::Update, Task::Rotate] {
                    // Each case has its own group, because an unknown outcome locks it.
                    let group = groups.next().expect("enough");
                    let bytes = body.bytes(status, group);
                    let at_proxy = || match (good, applied) {
                        (true, _) => ProxyFault::passed(),
                        (false, true) => ProxyFault::applied(Then::Instead(bytes.clone())),
                        (false, false) => ProxyFault::swallowed(Then::Instead(bytes.clone())),
                    };
                    let before = stage.token(group);
                    let sent = stage.proxy.count(errand.method());
                    stage.proxy.next(errand.method(), at_proxy());
                    let result = errand.run(&stage.ana, group).await;
                    let what =
                        format!("{status} {body:?} {errand:?} applied {applied}: {result:?}");
                    assert_eq!(stage.proxy.count(errand.method()), sent + 1, "{what}");
                    let expected = if good {
                        &[Class::Done]
                    } else {
                        allowed(status, body)
                    };
                    let got = result
                        .as_ref()
                        .map_or_else(class_of_failure, |_| Class::Done);
                    match errand {
                        // The get settles it: it is done, and its token is the current one.
                        Task::Rotate if applied => {
                            assert_eq!(got, Class::Done, "{what}");
                            let token = result.expect("done").token().cloned().expect("a token");
                            assert_eq!(token.expose(), stage.token(group), "{what}");
                            assert_ne!(token.expose(), before, "{what}");
                        }
                        _ => assert!(expected.contains(&got), "{what}"),
                    }
                }
            }
        }
    }
}

/// The service did it, or never got the request, and somebody answers something else.
#[tokio::test]
async fn a_change_that_may_have_taken_effect_is_never_called_failed() {
    let statuses = if long::all() {
        statuses(400)
    } else {
        vec![200, 204, 302, 401, 404, 409, 429, 500, 503]
    };
    for some in statuses.chunks(3) {
        try_changes(some).await;
    }
}

/// A body where HTTP allows none is not taken for the next answer on the same connection.
#[tokio::test]
async fn bytes_after_an_answer_are_not_the_next_answer() {
    for status in [204, 304] {
        let behind = Body::Good.bytes(200, "acme-eu");
        let head = format!("HTTP/1.1 {status} Word\r\n\r\n").into_bytes();
        let server = Faults::start([
            Fault::Answer([head, behind].concat()),
            Fault::Answer(Body::Zero.bytes(403, "acme-eu")),
        ])
        .await;
        let client = client(&server, LONG);
        let first = call(&client, Call::GetOrCreate).await.expect("an answer");
        assert_eq!(class(&first.verdict), Class::Open, "{first:?}");
        let next = call(&client, Call::GetOrCreate).await;
        let taken = matches!(&next, Ok(reply) if class(&reply.verdict) == Class::Done);
        assert!(!taken, "{status}: {next:?}");
    }
}
