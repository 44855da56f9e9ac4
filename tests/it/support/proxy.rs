//! A proxy in front of the real service that interferes on command: the service does the work, and the test chooses
//! what the client sees of it. The proxy keeps every request, and so knows what really left the installation.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
};

use super::faults::{Request, http, read_request};

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_mins(1);

type Change = Arc<dyn Fn(&mut Value) + Send + Sync>;

/// What happens to the answer.
#[derive(Clone)]
pub(crate) enum Then {
    /// It is passed on as the service gave it.
    Pass,
    /// The connection is closed without a byte.
    Drop,
    /// The connection is reset.
    Reset,
    /// Nothing is sent and the connection stays open.
    Hang,
    /// The head and half of the body are sent.
    Half,
    /// Its JSON is changed.
    Change(Change),
    /// These bytes are sent in its place.
    Instead(Vec<u8>),
}

/// What happens to one request.
#[derive(Clone)]
pub(crate) struct ProxyFault {
    /// Whether the service receives the request.
    forwards: bool,
    then: Then,
    /// The request waits here before anything is done with it.
    held: Option<Gate>,
    /// The answer waits until the gate is opened.
    gate: Option<Gate>,
}

impl ProxyFault {
    /// The service performs the request; the answer is handled as given.
    pub(crate) fn applied(then: Then) -> Self {
        Self {
            forwards: true,
            then,
            held: None,
            gate: None,
        }
    }

    /// The service never receives the request. [`Then::Pass`], `Half` and `Change` make no sense here.
    pub(crate) fn swallowed(then: Then) -> Self {
        Self {
            forwards: false,
            then,
            held: None,
            gate: None,
        }
    }

    /// Passes everything on; for use with [`ProxyFault::behind`].
    pub(crate) fn passed() -> Self {
        Self::applied(Then::Pass)
    }

    /// The service performs the request, and the JSON of the answer is changed.
    pub(crate) fn change(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::applied(Then::Change(Arc::new(change)))
    }

    /// The request waits at the gate, before the service receives it.
    pub(crate) fn held(mut self, gate: &Gate) -> Self {
        self.held = Some(gate.clone());
        self
    }

    /// The answer waits at the gate.
    pub(crate) fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }
}

/// Holds answers back until a test releases them.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    arrived: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self {
            arrived: Arc::new(Semaphore::new(0)),
            open: Arc::new(Semaphore::new(0)),
        }
    }

    /// Waits until an answer is held here, so that the service has done its part.
    pub(crate) async fn reached(&self) {
        let arrived = tokio::time::timeout(DEADLINE, self.arrived.acquire());
        arrived
            .await
            .expect("an answer reaches the gate")
            .expect("it is never closed")
            .forget();
    }

    /// Lets one answer through.
    pub(crate) fn open(&self) {
        self.open.add_permits(1);
    }

    /// Waits until the gate is opened.
    pub(crate) async fn pass(&self) {
        self.arrived.add_permits(1);
        self.open
            .acquire()
            .await
            .expect("it is never closed")
            .forget();
    }
}

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    /// The faults for the next requests of each method. Requests without one are passed on.
    orders: Vec<(&'static str, VecDeque<ProxyFault>)>,
}

impl Seen {
    fn order(&mut self, request: &Request) -> ProxyFault {
        let method = method(request);
        self.orders
            .iter_mut()
            .find(|(known, _)| *known == method)
            .and_then(|(_, orders)| orders.pop_front())
            .unwrap_or_else(ProxyFault::passed)
    }
}

/// The proxy. It stops when dropped.
pub(crate) struct FaultyProxy {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    accepting: JoinHandle<()>,
}

impl FaultyProxy {
    /// Starts a proxy in front of the service at `service`.
    pub(crate) async fn before(service: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::<Mutex<Seen>>::default();
        let accepting = tokio::spawn({
            let seen = seen.clone();
            async move {
                let mut connections = JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    let seen = seen.clone();
                    connections.spawn(async move { serve(stream, service, &seen).await });
                }
            }
        });
        Self {
            address,
            seen,
            accepting,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Applies the fault to the next request of this method; faults queue up.
    pub(crate) fn next(&self, method: &'static str, fault: ProxyFault) {
        let mut seen = lock(&self.seen);
        if let Some((_, orders)) = seen.orders.iter_mut().find(|(known, _)| *known == method) {
            orders.push_back(fault);
        } else {
            seen.orders.push((method, [fault].into()));
        }
    }

    /// Removes the queued faults of this method.
    pub(crate) fn calm(&self, method: &'static str) {
        lock(&self.seen)
            .orders
            .retain(|(known, _)| *known != method);
    }

    /// The methods of all requests so far, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        lock(&self.seen).requests.iter().map(method).collect()
    }

    /// How many requests of this method came.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.bodies(method).len()
    }

    /// The bodies of the requests of this method.
    pub(crate) fn bodies(&self, wanted: &str) -> Vec<Value> {
        lock(&self.seen)
            .requests
            .iter()
            .filter(|request| method(request) == wanted)
            .map(|request| serde_json::from_slice(request.body()).expect("a JSON body"))
            .collect()
    }
}

impl Drop for FaultyProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().expect("no test thread panics with the lock")
}

fn method(request: &Request) -> String {
    let head = request.head();
    head.split(' ').next().unwrap_or_default().to_owned()
}

async fn serve(mut stream: TcpStream, service: SocketAddr, seen: &Mutex<Seen>) {
    while let Some(request) = read_request(&mut stream, 0).await {
        let fault = {
            let mut seen = lock(seen);
            seen.requests.push(request.clone());
            seen.order(&request)
        };
        if let Some(gate) = &fault.held {
            gate.pass().await;
        }
        let answer = if fault.forwards {
            Some(forward(&request, service).await)
        } else {
            None
        };
        if let Some(gate) = &fault.gate {
            gate.pass().await;
        }
        let Some(bytes) = told(fault.then, answer, &mut stream).await else {
            return;
        };
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// The bytes of the answer; `None` if the connection is over.
async fn told(then: Then, answer: Option<Answer>, stream: &mut TcpStream) -> Option<Vec<u8>> {
    let real = || answer.expect("only an answer can be passed on");
    match then {
        Then::Pass => {
            let answer = real();
            Some(answer.bytes(&answer.body))
        }
        Then::Change(change) => {
            let answer = real();
            let mut json = serde_json::from_slice(&answer.body).expect("the service speaks JSON");
            change(&mut json);
            Some(answer.bytes(json.to_string().as_bytes()))
        }
        Then::Half => {
            let answer = real();
            let bytes = answer.bytes(&answer.body);
            let half = bytes.len() - answer.body.len() / 2;
            let _ = stream.write_all(&bytes[..half]).await;
            None
        }
        Then::Instead(bytes) => Some(bytes),
        Then::Drop => None,
        Then::Reset => {
            let _ = stream.set_zero_linger();
            None
        }
        Then::Hang => {
            let mut rest = [0; 64];
            while matches!(stream.read(&mut rest).await, Ok(read) if read > 0) {}
            None
        }
    }
}

/// An answer of the service.
struct Answer {
    status: String,
    body: Vec<u8>,
}

impl Answer {
    fn bytes(&self, body: &[u8]) -> Vec<u8> {
        http(&self.status, &["Content-Type: application/json"], body)
    }
}

/// Sends the request to the service over a new connection.
async fn forward(request: &Request, service: SocketAddr) -> Answer {
    let mut stream = TcpStream::connect(service).await.expect("the service runs");
    let head = request.head();
    let head = head.strip_suffix("\r\n").expect("a head ends so");
    let whole = [
        format!("{head}connection: close\r\n\r\n").as_bytes(),
        request.body(),
    ]
    .concat();
    stream.write_all(&whole).await.expect("the service reads");
    let mut raw = Vec::new();
    let answered = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut raw)).await;
    answered.expect("an answer in time").expect("an answer");
    let end = raw
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .expect("a head");
    let head = String::from_utf8_lossy(&raw[..end]);
    let (_, status) = head
        .lines()
        .next()
        .and_then(|line| line.split_once(' '))
        .expect("a status line");
    Answer {
        status: status.to_owned(),
        body: raw[end + 4..].to_vec(),
    }
}
