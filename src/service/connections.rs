//! Accepts connections and ends them: if there are too many, the one that has been idle longest makes room for a new
//! one; after a stop nothing new begins, and what is not done in time is cut off.

mod heads;
mod idle;

use std::{io, net::SocketAddr, pin::pin, sync::Arc, task::Poll, time::Duration};

use axum::{
    Router,
    http::{HeaderValue, header},
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_rustls::server::TlsStream;
use tokio_util::{either::Either, sync::CancellationToken};

use super::{Limits, observe::Observer, tls::Tls};
use heads::Heads;
use idle::{Connection, IdleConnections};

/// Maximum number of connections beyond the limit that are being answered 503, or wait for another one to end.
const MAX_WAITING: usize = 64;
/// Length of the system's accept queue, as far as the system allows (`somaxconn`).
const ACCEPT_QUEUE: u32 = 4_096;
/// Maximum size of the head of a request in bytes; larger is answered 431, and so are more than [`MOST_HEADERS`].
pub(super) const LONGEST_HEAD: usize = 32 * 1024;
const MOST_HEADERS: usize = 100;
/// How much a refused caller may still send, so that it gets to read the refusal; and for how long.
const MAX_DISCARDED: u64 = 16 << 20;
const DISCARD_TIME: Duration = Duration::from_secs(5);
/// If every connection has a request in progress, a new one waits this long for a slot: requests without a key are
/// answered almost at once.
const MAX_WAIT: Duration = Duration::from_millis(250);
/// For the head of a request that is answered 503 because there is no free connection.
const OVERLOAD_HEAD_TIME: Duration = Duration::from_secs(5);
/// How long a connection that has to make room still accepts a request: one may be on its way, and its caller would
/// never know its outcome.
const REQUEST_GRACE: Duration = Duration::from_millis(25);
/// For finishing the last answer on a connection that has to make room.
const ANSWER_GRACE: Duration = Duration::from_secs(1);

/// Binds like tokio, but with a longer accept queue: if the queue is full, a client may believe that it is connected
/// and be served only a minute later.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ACCEPT_QUEUE)
}

/// What answers on the connections of a listener.
#[derive(Clone)]
pub(super) struct Responder {
    pub(super) router: Router,
    /// Answers if there is no free connection.
    pub(super) full: Router,
    /// Notified of requests that never reach a router.
    pub(super) observer: Option<Arc<Observer>>,
    pub(super) tls: Option<Arc<Tls>>,
}

/// Serves until `stop`, then for at most `limits.grace`.
pub(super) async fn serve(
    listener: TcpListener,
    responder: Responder,
    limits: Limits,
    stop: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    let beyond = Arc::new(Semaphore::new(MAX_WAITING));
    let idle = IdleConnections::default();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &beyond) => accepted,
        };
        // The client left while queued, or there are no file descriptors left: neither ends the service.
        let Ok((stream, extra)) = accepted else {
            idle.end_longest();
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Enqueue for a slot before another connection is told to leave, so that no later one can take that slot.
        let mut slot = Box::pin(Arc::clone(&slots).acquire_owned());
        let has_slot = futures_util::poll!(slot.as_mut());
        let is_told = has_slot.is_pending() && idle.end_longest();
        let (responder, stop) = (responder.clone(), stop.clone());
        let idle = idle.clone();
        connections.spawn(async move {
            let slot = match has_slot {
                Poll::Ready(slot) => Some(slot),
                Poll::Pending => wait_for_slot(slot, &idle, is_told).await,
            };
            match slot {
                Some(slot) => {
                    drop(extra);
                    connection(stream, &responder, limits, &idle, stop).await;
                    drop(slot);
                }
                None => refuse_overloaded(stream, &responder).await,
            }
        });
    }
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    if timeout(limits.grace, finished).await.is_err() {
        connections.shutdown().await;
    }
}

/// Accepts the next connection unless too many are beyond the limit; then it waits in the system's queue.
async fn accept(
    listener: &TcpListener,
    beyond: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let extra = Arc::clone(beyond)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Answers are small; waiting to fill a packet would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, extra))
}

/// Waits for a slot: until it is free if another connection was `told` to leave; otherwise up to [`MAX_WAIT`] for a
/// connection that can be told.
async fn wait_for_slot<P>(
    mut slot: impl Future<Output = P> + Unpin,
    idle: &IdleConnections,
    mut is_told: bool,
) -> Option<P> {
    const PAUSE: Duration = Duration::from_millis(5);
    let end = Instant::now() + MAX_WAIT;
    while !is_told && Instant::now() < end {
        if let Ok(slot) = timeout(PAUSE, &mut slot).await {
            return Some(slot);
        }
        is_told = idle.end_longest();
    }
    if is_told { Some(slot.await) } else { None }
}

/// The connection as its requests arrive on it: with TLS if the responder has a certificate.
async fn secured(
    stream: TcpStream,
    responder: &Responder,
) -> io::Result<Either<TcpStream, TlsStream<TcpStream>>> {
    match &responder.tls {
        Some(tls) => tls.accept(stream).await.map(Either::Right),
        None => Ok(Either::Left(stream)),
    }
}

/// Answers 503 to the first request: every other connection has a request in progress.
async fn refuse_overloaded(stream: TcpStream, responder: &Responder) {
    let shaken = timeout(OVERLOAD_HEAD_TIME, secured(stream, responder)).await;
    let Ok(Ok(mut stream)) = shaken else {
        return;
    };
    let heads = Heads::of(&mut stream, responder.observer.as_deref());
    let router = TowerToHyperService::new(responder.full.clone());
    let connection = builder(OVERLOAD_HEAD_TIME)
        .keep_alive(false)
        .serve_connection(TokioIo::new(heads), router);
    let served = timeout(2 * OVERLOAD_HEAD_TIME, connection).await;
    if served.is_ok() {
        drop(timeout(ANSWER_GRACE, discard_rest(&mut stream)).await);
    }
}

fn builder(head_time: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_headers(MOST_HEADERS)
        .max_header_size(LONGEST_HEAD)
        .max_buf_size(LONGEST_HEAD);
    builder
}

async fn connection(
    stream: TcpStream,
    responder: &Responder,
    limits: Limits,
    idle: &IdleConnections,
    stop: CancellationToken,
) {
    let slot = idle.join();
    let shaken = tokio::select! {
        // First: a request on its way over plain HTTP is answered even if the connection has to make room.
        biased;
        shaken = timeout(limits.head_time, secured(stream, responder)) => shaken,
        () = slot.end.cancelled() => return,
        () = stop.cancelled() => return,
    };
    // If not, the client spoke no TLS, did not trust the certificate, or sent nothing.
    let Ok(Ok(mut stream)) = shaken else {
        if let Some(observer) = &responder.observer {
            observer.metrics.failed_handshakes.inc();
        }
        return;
    };
    let times = (limits.head_time, REQUEST_GRACE);
    if !answered(&mut stream, responder, times, &slot, &stop).await {
        return;
    }
    slot.is_over();
    let rest = timeout(
        DISCARD_TIME.min(limits.body_time),
        discard_rest(&mut stream),
    );
    tokio::select! {
        _ = rest => {}
        () = slot.end.cancelled() => {}
        () = stop.cancelled() => {}
    }
}

/// Answers requests until there are no more. False if it was cut short, or if nothing arrived in time.
async fn answered(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    responder: &Responder,
    (head_time, request_grace): (Duration, Duration),
    slot: &Connection,
    stop: &CancellationToken,
) -> bool {
    let router = TowerToHyperService::new(responder.router.clone());
    let service = service_fn(|request| {
        let busy = slot.busy();
        let answer = hyper::service::Service::call(&router, request);
        async move {
            let mut answer = answer.await;
            if let Ok(answer) = &mut answer
                && slot.end.is_cancelled()
            {
                let headers = answer.headers_mut();
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            drop(busy);
            answer
        }
    });
    let stream = TokioIo::new(Heads::of(stream, responder.observer.as_deref()));
    let mut connection = pin!(builder(head_time).serve_connection(stream, service));
    // How a connection ends is up to the client; its writes are executed by the store in any case.
    tokio::select! {
        biased;
        ended = connection.as_mut() => ended.map_or_else(|error| !error.is_timeout(), |()| true),
        () = slot.end.cancelled() => {
            if timeout(request_grace, connection.as_mut()).await.is_err() {
                connection.as_mut().graceful_shutdown();
                while timeout(ANSWER_GRACE, connection.as_mut()).await.is_err() && slot.is_busy() {}
            }
            false
        }
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
            false
        }
    }
}

/// Reads and discards what still arrives: closing earlier could make the client lose the refusal.
async fn discard_rest(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    if stream.shutdown().await.is_ok() {
        drop(copy(&mut stream.take(MAX_DISCARDED), &mut sink()).await);
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::duplex, task::yield_now};

    use super::*;
    use crate::service::exchange;

    const LONG: Duration = Duration::from_mins(1);

    /// What a caller receives on a connection that has to make room, if it sends its request a little later.
    async fn received_while_making_room(request: &[u8], request_grace: Duration) -> String {
        let (mut client, mut server) = duplex(4_096);
        let idle = IdleConnections::default();
        let slot = idle.join();
        let stop = CancellationToken::new();
        let times = (LONG, request_grace);
        let responder = Responder {
            router: exchange::overloaded_router(),
            full: exchange::overloaded_router(),
            observer: None,
            tls: None,
        };
        let served = answered(&mut server, &responder, times, &slot, &stop);
        let asks = async {
            assert!(idle.end_longest());
            for _ in 0..20 {
                yield_now().await;
            }
            client.write_all(request).await.expect("it listens");
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.expect("text");
            answer
        };
        tokio::join!(served, asks).1
    }

    #[tokio::test]
    async fn a_request_on_its_way_is_answered_before_its_connection_makes_room() {
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let answer = received_while_making_room(request, LONG).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }

    #[tokio::test]
    async fn an_idle_connection_makes_room() {
        let answer = received_while_making_room(b"", Duration::from_millis(1)).await;
        assert_eq!(answer, "");
    }
}
