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
    operations::{Failure, Operations},
};
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};

use super::{CALLS, LONG, answer, bodies::PACKED, call, client, client_of, profile};
use crate::support::{
    cases::cases,
    faults::{Fault, Faults, closed_port, closing_port, http, read_request},
    stage::{Stage, Task, created},
    world::Side,
};

/// For cases that must wait; long enough for what comes before.
const SHORT: Duration = Duration::from_secs(10);

cases! {
    /// The phase in which the connection fails.
    enum Phase {
        Refused,
        NoSuchName,
        /// No answer to the attempt to connect.
        HangBeforeAccept,
        HangInTls,
        ResetAtOnce,
        CloseAtOnce,
        ResetBeforeHead,
        CloseBeforeHead,
        HangBeforeHead,
        ResetInHead,
        CloseInHead,
        HangInHead,
        ResetInBody,
        CloseInBody,
        HangInBody,
        ResetAfterBody,
    }
}

impl Phase {
    /// Nothing can have reached the service.
    fn is_before_sending(self) -> bool {
        use Phase::{HangBeforeAccept, HangInTls, NoSuchName, Refused};
        matches!(self, Refused | NoSuchName | HangBeforeAccept | HangInTls)
    }

    fn hangs(self) -> bool {
        format!("{self:?}").starts_with("Hang")
    }

    /// The timeout of this phase.
    fn patience(self) -> Duration {
        if self.hangs() { SHORT } else { LONG }
    }

    /// The status of an answer that has begun.
    fn status(self) -> Option<u16> {
        format!("{self:?}").ends_with("Body").then_some(200)
    }

    /// The fault of the request under test; `whole` is a good answer to it.
    fn fault(self, whole: &[u8]) -> Fault {
        let head = whole[..20].to_vec();
        let body = whole[..whole.len() - 9].to_vec();
        match self {
            Self::ResetAtOnce => Fault::ResetAtOnce,
            Self::CloseAtOnce => Fault::Blurt(Vec::new()),
            Self::ResetBeforeHead => Fault::Reset,
            Self::CloseBeforeHead => Fault::Close,
            Self::HangBeforeHead | Self::HangInTls => Fault::Hang,
            Self::ResetInHead => Fault::AnswerAndReset(head),
            Self::CloseInHead => Fault::AnswerAndClose(head),
            Self::HangInHead => Fault::AnswerAndHang(head),
            Self::ResetInBody => Fault::AnswerAndReset(body),
            Self::CloseInBody => Fault::AnswerAndClose(body),
            Self::HangInBody => Fault::AnswerAndHang(body),
            Self::ResetAfterBody => Fault::AnswerAndReset(whole.to_vec()),
            Self::Refused | Self::NoSuchName | Self::HangBeforeAccept => {
                panic!("nobody is there to do it")
            }
        }
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

fn good(id: &str, token: &str) -> Vec<u8> {
    let group =
        json!({"team_id": 1, "token": token, "name": id, "provided_id": id, "properties": null});
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
    /// All are good answers; the middle one belongs to the request under test and fails.
    async fn of(phase: Phase, answers: Vec<Vec<u8>>) -> Self {
        let at = |base_url: String, server, kept| Self {
            base_url,
            server,
            _kept: kept,
        };
        match phase {
            Phase::Refused => {
                let (socket, address) = closed_port();
                at(format!("http://{address}"), None, Some(Box::new(socket)))
            }
            // A label of more than 63 characters is refused before any name server is asked.
            Phase::NoSuchName => at(format!("http://{}.invalid", "a".repeat(70)), None, None),
            Phase::HangBeforeAccept => {
                let (address, waiting) = full().await;
                at(format!("http://{address}"), None, Some(waiting))
            }
            _ => {
                let middle = answers.len() / 2;
                let faults = answers
                    .iter()
                    .enumerate()
                    .map(|(number, whole)| match phase {
                        Phase::HangInTls => Fault::Hang,
                        _ if number == middle => phase.fault(whole),
                        _ => Fault::AnswerAndClose(whole.clone()),
                    });
                let server = Faults::start(faults.collect::<Vec<_>>()).await;
                let url = match phase {
                    Phase::HangInTls => server.base_url().replace("http:", "https:"),
                    _ => server.base_url(),
                };
                at(url, Some(server), None)
            }
        }
    }
}

/// Whether the client reports this phase correctly.
fn is_expected(phase: Phase, call: Call, host: &str, error: &CallError) -> bool {
    if let (Phase::ResetAtOnce, CallError::NotSent { why, .. }) = (phase, error) {
        // It can happen while connecting.
        return matches!(why, NotSent::Other { .. });
    }
    let why = match phase {
        Phase::Refused => NotSent::Refused(host.into()),
        Phase::NoSuchName => NotSent::Name(host.into()),
        Phase::HangBeforeAccept | Phase::HangInTls => {
            // Shorter than the timeout: never connected is told apart from never answered.
            let after = SHORT * 9 / 10;
            let host = host.into();
            NotSent::TimedOut { host, after }
        }
        _ => {
            let why = match phase.patience() {
                SHORT => Lost::TimedOut(SHORT),
                _ => Lost::Broken,
            };
            // A reset may also discard what came before it.
            let status = match error {
                CallError::Lost { status: None, .. }
                    if format!("{phase:?}").starts_with("Reset") =>
                {
                    None
                }
                _ => phase.status(),
            };
            return *error
                == CallError::Lost {
                    call,
                    status,
                    why,
                    via: None,
                };
        }
    };
    let host = host.into();
    error.to_string().contains("nothing was sent") && *error == CallError::NotSent { host, why }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_phase_of_every_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let ca_file = folder.path().join("authority.pem");
    std::fs::write(&ca_file, super::tls::an_authority()).expect("written");
    let all = Phase::ALL
        .iter()
        .flat_map(|phase| CALLS.map(|call| (*phase, call)));
    let runs = all.map(async |(phase, one)| {
        let what = format!("{phase:?} {one:?}");
        let place = Place::of(phase, vec![good("acme-eu", "canary-token-new")]).await;
        let (_, host) = place.base_url.split_once("//").expect("an address");
        let client = client_of(&Profile {
            ca_file: Some(ca_file.clone()),
            allow_plain_http: true,
            ..profile(place.base_url.clone(), phase.patience())
        });
        let result = call(&client, one).await;
        let meant = answer(&result);
        match result {
            // A complete answer counts, whatever comes after it.
            Ok(reply) => assert_eq!((phase, reply.status), (Phase::ResetAfterBody, 200)),
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
    assert_eq!(join_all(runs).await.len(), 3 * Phase::ALL.len());
}

#[tokio::test]
async fn an_answer_damaged_in_transit_is_lost() {
    let mut garbled = http("200 OK", &["Content-Encoding: gzip"], PACKED);
    let last = garbled.len() - 20;
    garbled[last] ^= 0xff;
    for one in CALLS {
        let server = Faults::always(Fault::Answer(garbled.clone())).await;
        let error = call(&client(&server, LONG), one).await.expect_err("lost");
        let (call, status, why) = (one, Some(200), Lost::Damaged);
        assert_eq!(
            error,
            CallError::Lost {
                call,
                status,
                why,
                via: None
            }
        );
        assert_eq!(server.requests().len(), 1, "{one:?}");
    }
}

/// One operation over a connection that fails in this phase.
async fn try_phase(stage: &Stage, group: &str, phase: Phase, errand: Task) {
    let what = format!("{phase:?} {errand:?}");
    let token = stage.token(group);
    let (id, new) = match errand {
        Task::Create => (created(group), "fresh-token-of-it".to_owned()),
        Task::Rotate => (group.to_owned(), "new-token-of-it".to_owned()),
        Task::Get | Task::Update => (group.to_owned(), token.clone()),
    };
    let mut script = vec![good(&id, &new)];
    if errand.reads_before() {
        // The reads before and after; the service still has the old token.
        script = [good(&id, &token), good(&id, &new), good(&id, &token)].into();
    }
    let place = Place::of(phase, script).await;
    let ca_file = stage.world.folder().join("authority.pem");
    let installation = stage.world.installation(Side::Testing);
    let installation = installation.through(place.base_url);
    let installation = installation.timeout(phase.patience()).with(|profile| {
        profile.ca_file = Some(ca_file);
        profile.allow_plain_http = true;
    });
    let installation: Operations = installation.operations();
    let result = errand.run(&installation, group).await;
    let said = result
        .as_ref()
        .map_or_else(ToString::to_string, |_| String::new());
    match (&result, errand) {
        (Err(Failure::Unreachable(CallError::NotSent { why, .. })), _) => {
            // A reset can happen while connecting.
            let early = phase == Phase::ResetAtOnce;
            assert!(early || phase.is_before_sending(), "{what}: {said}");
            let expected = match phase {
                Phase::ResetAtOnce => matches!(why, NotSent::Other { .. }),
                Phase::Refused => matches!(why, NotSent::Refused(_)),
                Phase::NoSuchName => matches!(why, NotSent::Name(_)),
                _ => matches!(why, NotSent::TimedOut { .. }),
            };
            assert!(expected, "{what}: {why:?}");
            assert!(said.contains("nothing was sent"), "{what}: {said}");
        }
        (Err(Failure::Unreachable(CallError::Lost { .. })), Task::Get)
        | (Err(Failure::Unknown { .. }), Task::Create | Task::Update | Task::Rotate) => {
            assert!(!phase.is_before_sending(), "{what}: {said}");
        }
        // A complete answer counts, whatever comes after it.
        (Ok(_), _) => assert_eq!(phase, Phase::ResetAfterBody, "{what}"),
        (Err(other), _) => panic!("{what}: {other:?}"),
    }
    let Some(server) = place.server else { return };
    let of_it = |head: String| head.starts_with(errand.method());
    let requests = server.requests();
    let sent = requests
        .iter()
        .filter(|request| of_it(request.head()))
        .count();
    let reads = requests.len() - sent;
    let is_unread = matches!(
        phase,
        Phase::HangInTls | Phase::ResetAtOnce | Phase::CloseAtOnce
    );
    assert_eq!(sent, usize::from(!is_unread), "{what}: sent once");
    let expected = usize::from(errand.reads_before() && !phase.is_before_sending());
    assert!(
        reads <= 2 * expected && reads >= expected,
        "{what}: {reads} reads"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_phase_of_every_operation() {
    let stage = Stage::new(Phase::ALL.len() * Task::ALL.len()).await;
    let authority = super::tls::an_authority();
    std::fs::write(stage.world.folder().join("authority.pem"), authority).expect("written");
    let all = Phase::ALL
        .iter()
        .flat_map(|phase| Task::ALL.map(|errand| (*phase, errand)));
    let all = all.zip(&stage.groups);
    // Those that wait for their timeout come last: it also counts while the machine is busy with the others.
    let (late, early): (Vec<_>, Vec<_>) = all.partition(|((phase, _), _)| phase.hangs());
    let mut cases = 0;
    for some in [early, late] {
        let runs = some
            .into_iter()
            .map(|((phase, errand), group)| try_phase(&stage, group, phase, errand));
        cases += join_all(runs).await.len();
    }
    assert!(cases >= 40, "{cases}");
    // Every rotation that was sent has one row, settled or open; nothing else is in the journal.
    let open = stage.ana.open_rotations().await.expect("readable");
    let sent = Phase::ALL
        .iter()
        .filter(|phase| !phase.is_before_sending())
        .count();
    assert!(
        open.len() <= sent && open.len() + 2 >= sent,
        "{} of {sent}",
        open.len()
    );
    assert!(open.iter().all(|row| row.sent_at.is_some()));
}

/// The service goes away between the read and the rotation: nothing was rotated, and the error says so.
#[tokio::test]
async fn a_service_that_goes_away_after_the_read_is_sent_nothing() {
    let stage = Stage::new(1).await;
    let group = stage.groups[0].as_str();
    let (_kept, listener) = closing_port();
    let address = listener.local_addr().expect("an address");
    let answer = good(group, &stage.token(group));
    let serving = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let request = read_request(&mut stream, 0).await.expect("a request");
        // Nobody listens any more when the answer arrives.
        drop(listener);
        stream.write_all(&answer).await.expect("it reads");
        request
    });
    let installation = stage.through(&format!("http://{address}"), LONG);
    let failure = Task::Rotate
        .run(&installation, group)
        .await
        .expect_err("refused");
    assert!(serving.await.expect("served").head().starts_with("GET "));
    let said = failure.to_string();
    let unsent = matches!(failure, Failure::Unreachable(CallError::NotSent { .. }));
    assert!(unsent, "{said}");
    let open = stage.ana.open_rotations().await.expect("readable");
    assert!(open.is_empty(), "it can be rotated again at once: {open:?}");
    let done = Task::Rotate.run(&stage.ana, group).await.expect("rotated");
    assert_eq!(done.token().expect("a token").expose(), stage.token(group));
}

/// The machine may have slept while connecting: others have settled by then that nothing was sent.
#[tokio::test]
async fn a_connection_made_too_late_sends_nothing() {
    for one in [Call::Create, Call::Update, Call::Rotate] {
        let server = Faults::always(Fault::Close).await;
        let late = client(&server, LONG).until(SendBy::new(|| true));
        let result = call(&late, one).await;
        assert_eq!(answer(&result), RotateOutcome::NotSent, "{one:?}");
        let error = result.expect_err("not sent");
        let late = matches!(
            &error,
            CallError::NotSent {
                why: NotSent::Late(_),
                ..
            }
        );
        assert!(late, "{error:?}");
        assert_eq!(server.requests().len(), 0, "{one:?}");
        let in_time = client(&server, LONG).until(SendBy::new(|| false));
        assert_eq!(answer(&call(&in_time, one).await), RotateOutcome::Unclear);
        assert_eq!(server.requests().len(), 1, "{one:?}");
    }
}
