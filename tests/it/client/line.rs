//! The line: refused, reset and hanging in every phase, for every operation. What left is sent once; what may have taken
//! effect is unknown, never failed; what never left is said to be so.

use std::{any::Any, net::SocketAddr, time::Duration};

use futures_util::future::join_all;
use groupdesk::{
    api::failure::{CallError, NotSent},
    operations::{Failure, Operations},
};
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::support::{
    faults::{Fault, Faults, http, read_request},
    stage::{Stage, Task, created},
    world::Side,
};

/// Where something must be waited for; long enough for what comes before it.
const SHORT: Duration = Duration::from_secs(4);
const LONG: Duration = Duration::from_mins(1);

/// Where the line fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

const PHASES: [Phase; 16] = [
    Phase::Refused,
    Phase::NoSuchName,
    Phase::HangBeforeAccept,
    Phase::HangInTls,
    Phase::ResetAtOnce,
    Phase::CloseAtOnce,
    Phase::ResetBeforeHead,
    Phase::CloseBeforeHead,
    Phase::HangBeforeHead,
    Phase::ResetInHead,
    Phase::CloseInHead,
    Phase::HangInHead,
    Phase::ResetInBody,
    Phase::CloseInBody,
    Phase::HangInBody,
    Phase::ResetAfterBody,
];

impl Phase {
    /// Nothing can have reached the service.
    fn is_before_sending(self) -> bool {
        use Phase::{HangBeforeAccept, HangInTls, NoSuchName, Refused};
        matches!(self, Refused | NoSuchName | HangBeforeAccept | HangInTls)
    }

    fn hangs(self) -> bool {
        use Phase::{HangBeforeAccept, HangBeforeHead, HangInBody, HangInHead, HangInTls};
        matches!(
            self,
            HangBeforeAccept | HangInTls | HangBeforeHead | HangInHead | HangInBody
        )
    }

    /// What is done to the request that counts; `whole` is a good answer to it.
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

/// Bound and not listening: refused, and nobody else gets the port.
fn closed() -> (SocketAddr, Box<dyn Any>) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    (socket.local_addr().expect("an address"), Box::new(socket))
}

/// A queue that is full: attempts to connect are not answered at all.
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

/// One operation over a line that fails in this phase.
async fn tried(stage: &Stage, group: &str, phase: Phase, errand: Task) {
    let what = format!("{phase:?} {errand:?}");
    let token = stage.token(group);
    let (id, new) = match errand {
        Task::Create => (created(group), "fresh-token-of-it".to_owned()),
        Task::Rotate => (group.to_owned(), "new-token-of-it".to_owned()),
        Task::Get | Task::Update => (group.to_owned(), token.clone()),
    };
    let timeout = if phase.hangs() { SHORT } else { LONG };
    let mut server = None;
    let mut kept: Vec<Box<dyn Any>> = Vec::new();
    let base_url = match phase {
        Phase::Refused => {
            let (address, socket) = closed();
            kept.push(socket);
            format!("http://{address}")
        }
        Phase::NoSuchName => format!("http://{}.invalid", "a".repeat(70)),
        Phase::HangBeforeAccept => {
            let (address, waiting) = full().await;
            kept.push(waiting);
            format!("http://{address}")
        }
        _ => {
            let mut script = vec![phase.fault(&good(&id, &new))];
            if errand.reads_before() && !phase.is_before_sending() {
                // The reads before and after; the service still holds the old token.
                let read = Fault::AnswerAndClose(good(&id, &token));
                script = [vec![read.clone()], script, vec![read]].concat();
            }
            let faults = Faults::start(script).await;
            let url = faults.base_url();
            let secure = phase == Phase::HangInTls;
            server = Some(faults);
            if secure {
                url.replace("http:", "https:")
            } else {
                url
            }
        }
    };
    let ca_file = stage.world.folder().join("authority.pem");
    let installation = stage.world.installation(Side::Testing).through(base_url);
    let installation = installation.timeout(timeout).with(|profile| {
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
            // A reset can come while it is being connected.
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
        // A whole answer counts, whatever comes behind it.
        (Ok(_), _) => assert_eq!(phase, Phase::ResetAfterBody, "{what}"),
        (Err(other), _) => panic!("{what}: {other:?}"),
    }
    let Some(server) = server else { return };
    let of_it = |head: String| head.starts_with(errand.method());
    let requests = server.requests();
    let sent = requests
        .iter()
        .filter(|request| of_it(request.head()))
        .count();
    let reads = requests.len() - sent;
    match (phase, errand) {
        (Phase::HangInTls | Phase::ResetAtOnce | Phase::CloseAtOnce, _) => {
            assert_eq!(sent, 0, "{what}");
        }
        (_, Task::Get | Task::Create | Task::Update | Task::Rotate) => {
            assert_eq!(sent, 1, "{what}: sent once");
        }
    }
    let expected = usize::from(errand.reads_before() && !phase.is_before_sending());
    assert!(
        reads <= 2 * expected && reads >= expected,
        "{what}: {reads} reads"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_phase_of_every_operation() {
    let stage = Stage::new(PHASES.len() * Task::ALL.len()).await;
    let authority = super::tls::an_authority();
    std::fs::write(stage.world.folder().join("authority.pem"), authority).expect("written");
    let all = PHASES
        .into_iter()
        .flat_map(|phase| Task::ALL.map(|errand| (phase, errand)));
    let all = all.zip(&stage.groups);
    let runs = all.map(|((phase, errand), group)| tried(&stage, group, phase, errand));
    let cases = join_all(runs).await.len();
    assert!(cases >= 40, "{cases}");
    // Every rotation that was sent has one row, and is settled or open; nothing else is in the journal.
    let open = stage.ana.open_rotations().await.expect("readable");
    let sent = PHASES
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

/// The service goes away between the read and the rotation: nothing was rotated, and it is said so.
#[tokio::test]
async fn a_service_that_goes_away_after_the_read_was_sent_nothing() {
    let stage = Stage::new(1).await;
    let group = stage.groups[0].as_str();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
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
    assert_eq!(done.token.expect("a token").expose(), stage.token(group));
}
