//! A service that misbehaves on command. It uses raw sockets, so that the test chooses every byte, every broken
//! connection and every silence. It counts connections and keeps requests as they came.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::proxy::Gate;

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_mins(1);

/// What is done with a connection; after a whole request was read, unless stated otherwise.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Sends these bytes and keeps the connection open for the next request.
    Answer(Vec<u8>),
    /// As `Answer`, once the gate lets it through.
    AnswerBehind(Gate, Vec<u8>),
    /// Sends these bytes and closes.
    AnswerAndClose(Vec<u8>),
    /// Sends these bytes and resets.
    AnswerAndReset(Vec<u8>),
    /// Sends these bytes one at a time, with this pause after each, as long as they are read.
    Trickle(Vec<u8>, Duration),
    /// Sends these bytes and then nothing more, without closing.
    AnswerAndHang(Vec<u8>),
    /// Sends the head, then the chunk this many times, as long as they are read; then closes.
    Flood {
        head: Vec<u8>,
        piece: Vec<u8>,
        times: usize,
    },
    /// Resets the connection without reading anything.
    ResetAtOnce,
    /// Reads the request, then resets.
    Reset,
    /// Reads the request, then closes without an answer.
    Close,
    /// Reads the request, then sends nothing.
    Hang,
    /// Sends these bytes without reading anything, and closes.
    Blurt(Vec<u8>),
}

/// An answer with a content length, for `Fault::Answer`. `headers` are whole lines without line breaks.
pub(crate) fn http(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    for header in headers {
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A JSON answer.
pub(crate) fn json(status: &str, body: &serde_json::Value) -> Fault {
    Fault::Answer(http(
        status,
        &["Content-Type: application/json"],
        body.to_string(),
    ))
}

/// One request as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Head and body.
    pub(crate) raw: Vec<u8>,
    /// The number of its connection, counted from 0.
    pub(crate) connection: usize,
    head: usize,
}

impl Request {
    /// Request line and headers.
    pub(crate) fn head(&self) -> String {
        String::from_utf8_lossy(&self.raw[..self.head]).into_owned()
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.raw[self.head..]
    }

    /// All values of a header.
    pub(crate) fn header(&self, name: &str) -> Vec<String> {
        self.head()
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .collect()
    }
}

#[derive(Debug, Default)]
struct Seen {
    connections: usize,
    requests: Vec<Request>,
    script: Vec<Fault>,
    /// Bytes written by floods.
    flooded: usize,
    /// Connections that have ended.
    over: usize,
}

impl Seen {
    /// Returns the next fault; the last one repeats.
    fn next(&mut self) -> Fault {
        if self.script.len() > 1 {
            self.script.remove(0)
        } else {
            self.script[0].clone()
        }
    }
}

/// The misbehaving service. It stops when dropped.
pub(crate) struct Faults {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    accepting: JoinHandle<()>,
}

impl Faults {
    /// Listens on a loopback port. Each request uses the next fault of the script; the last one repeats.
    pub(crate) async fn start(script: impl Into<Vec<Fault>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Seen {
            script: script.into(),
            ..Seen::default()
        }));
        let accepting = tokio::spawn({
            let seen = seen.clone();
            async move {
                let mut connections = tokio::task::JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    let connection = {
                        let mut seen = lock(&seen);
                        seen.connections += 1;
                        seen.connections - 1
                    };
                    let seen = seen.clone();
                    connections.spawn(async move {
                        serve(stream, connection, &seen).await;
                        lock(&seen).over += 1;
                    });
                }
            }
        });
        Self {
            address,
            seen,
            accepting,
        }
    }

    pub(crate) async fn always(fault: Fault) -> Self {
        Self::start([fault]).await
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        lock(&self.seen).connections
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.seen).requests.clone()
    }

    pub(crate) fn flooded(&self) -> usize {
        lock(&self.seen).flooded
    }

    /// Waits until every connection so far has ended.
    pub(crate) async fn all_over(&self) {
        let over = async {
            loop {
                {
                    let seen = lock(&self.seen);
                    if seen.over == seen.connections {
                        return;
                    }
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(DEADLINE, over)
            .await
            .expect("connections end");
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().expect("no test thread panics with the lock")
}

async fn serve(mut stream: TcpStream, connection: usize, seen: &Mutex<Seen>) {
    loop {
        let unread = {
            let mut seen = lock(seen);
            matches!(seen.script[0], Fault::ResetAtOnce | Fault::Blurt(_)).then(|| seen.next())
        };
        let fault = match unread {
            Some(fault) => fault,
            None => match read_request(&mut stream, connection).await {
                Some(request) => {
                    let mut seen = lock(seen);
                    seen.requests.push(request);
                    seen.next()
                }
                None => return,
            },
        };
        if let Fault::AnswerBehind(gate, _) = &fault {
            gate.pass().await;
        }
        match fault {
            Fault::Answer(bytes) | Fault::AnswerBehind(_, bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Fault::AnswerAndClose(bytes) | Fault::Blurt(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Fault::AnswerAndReset(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.set_zero_linger();
                return;
            }
            Fault::Trickle(bytes, pause) => {
                for byte in bytes {
                    if stream.write_all(&[byte]).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
                return;
            }
            Fault::AnswerAndHang(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return until_closed(&mut stream).await;
            }
            Fault::Flood { head, piece, times } => {
                let mut going = stream.write_all(&head).await.is_ok();
                for _ in 0..times {
                    going = going && stream.write_all(&piece).await.is_ok();
                    if !going {
                        break;
                    }
                    lock(seen).flooded += piece.len();
                }
                let _ = stream.shutdown().await;
                return;
            }
            Fault::Reset | Fault::ResetAtOnce => {
                let _ = stream.set_zero_linger();
                return;
            }
            Fault::Close => return,
            Fault::Hang => return until_closed(&mut stream).await,
        }
    }
}

async fn until_closed(stream: &mut TcpStream) {
    let mut rest = [0; 64];
    while matches!(stream.read(&mut rest).await, Ok(read) if read > 0) {}
}

/// Reads one request with a `Content-Length`; `None` if the connection ends before the request is complete.
pub(crate) async fn read_request(
    stream: &mut (impl AsyncRead + Unpin),
    connection: usize,
) -> Option<Request> {
    let mut raw = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = raw.windows(4).position(|window| window == b"\r\n\r\n") {
            let mut request = Request {
                head: end + 4,
                raw,
                connection,
            };
            let length: usize = request
                .header("content-length")
                .first()
                .map_or(0, |length| length.parse().expect("a length"));
            while request.body().len() < length {
                match stream.read(&mut buffer).await {
                    Ok(read) if read > 0 => request.raw.extend_from_slice(&buffer[..read]),
                    _ => return None,
                }
            }
            return Some(request);
        }
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => raw.extend_from_slice(&buffer[..read]),
            _ => return None,
        }
    }
}

/// An address of this machine at which connections are refused, as long as the socket is kept: it is bound and does not
/// listen, so no other test gets the port.
pub(crate) fn closed_port() -> (tokio::net::TcpSocket, std::net::SocketAddr) {
    let closed = tokio::net::TcpSocket::new_v4().expect("a socket");
    closed.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let address = closed.local_addr().expect("an address");
    (closed, address)
}

/// A listener, and a socket that holds its port: as long as the socket is kept, connections are refused once the listener
/// is dropped, and no other test gets the port.
pub(crate) fn closing_port() -> (tokio::net::TcpSocket, TcpListener) {
    let bound = |address: SocketAddr| {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("set");
        socket.bind(address).expect("a port");
        socket
    };
    let kept = bound(([127, 0, 0, 1], 0).into());
    let listens = bound(kept.local_addr().expect("an address"));
    (kept, listens.listen(16).expect("listens"))
}
