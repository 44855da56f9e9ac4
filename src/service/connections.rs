//! Accepts connections and ends them: if there are too many, the one that has been idle longest makes room for a new
//! one; after a stop nothing new begins, and what is not done in time is cut off.

mod heads;
mod waiting;

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
use tokio_util::sync::CancellationToken;

use super::{Limits, observe::Observer, tls::Tls};
use heads::Heads;
use waiting::{Connection, Waiting};

/// Maximum number of connections beyond the limit that are being answered 503, or wait for another one to end.
const BEYOND: usize = 64;
/// Length of the system's accept queue, as far as the system allows (`somaxconn`).
const QUEUE: u32 = 4_096;
/// Maximum size of the head of a request in bytes; larger is answered 431, and so are more than [`MOST_HEADERS`].
pub(super) const LONGEST_HEAD: usize = 32 * 1024;
const MOST_HEADERS: usize = 100;
/// How much a refused caller may still send, so that it gets to read the refusal; and for how long.
const LARGEST_REST: u64 = 16 << 20;
const REST_TIME: Duration = Duration::from_secs(5);
/// If every connection has a request in progress, a new one waits this long for a slot: requests without a key are
/// answered almost at once.
const CROWDED: Duration = Duration::from_millis(250);
/// For the head of a request that is answered 503 because there is no free connection.
const SHED_TIME: Duration = Duration::from_secs(5);
/// How long a connection that has to make room still accepts a request: one may be on its way, and its caller would
/// never know its outcome.
const ON_ITS_WAY: Duration = Duration::from_millis(25);
/// For finishing the last answer on a connection that has to make room.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Binds like tokio, but with a longer accept queue: if the queue is full, a client may believe that it is connected
/// and be served only a minute later.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(QUEUE)
}

/// What answers on the connections of a listener.
#[derive(Clone)]
pub(super) struct Answering {
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
    answering: Answering,
    limits: Limits,
    stop: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let beyond = Arc::new(Semaphore::new(BEYOND));
    let waiting = Waiting::default();
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
            waiting.end_longest();
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Enqueue for a slot before another connection is told to leave, so that no later one can take that slot.
        let mut place = Box::pin(Arc::clone(&room).acquire_owned());
        let has_place = futures_util::poll!(place.as_mut());
        let told = has_place.is_pending() && waiting.end_longest();
        let (answering, stop) = (answering.clone(), stop.clone());
        let waiting = waiting.clone();
        connections.spawn(async move {
            let place = match has_place {
                Poll::Ready(place) => Some(place),
                Poll::Pending => in_turn(place, &waiting, told).await,
            };
            match place {
                Some(place) => {
                    drop(extra);
                    connection(stream, &answering, limits, &waiting, stop).await;
                    drop(place);
                }
                None => shed(stream, &answering).await,
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

/// Waits for a slot: until it is free if another connection was `told` to leave; otherwise up to [`CROWDED`] for a
/// connection that can be told.
async fn in_turn<P>(
    mut place: impl Future<Output = P> + Unpin,
    waiting: &Waiting,
    mut told: bool,
) -> Option<P> {
    const PAUSE: Duration = Duration::from_millis(5);
    let end = Instant::now() + CROWDED;
    while !told && Instant::now() < end {
        if let Ok(place) = timeout(PAUSE, &mut place).await {
            return Some(place);
        }
        told = waiting.end_longest();
    }
    if told { Some(place.await) } else { None }
}

/// Answers 503 to the first request: every other connection has a request in progress.
async fn shed(stream: TcpStream, answering: &Answering) {
    let Some(tls) = &answering.tls else {
        return turn_away(stream, answering).await;
    };
    if let Ok(Ok(stream)) = timeout(SHED_TIME, tls.accept(stream)).await {
        turn_away(stream, answering).await;
    }
}

async fn turn_away(mut stream: impl AsyncRead + AsyncWrite + Unpin, answering: &Answering) {
    let heads = Heads::of(&mut stream, answering.observer.as_deref());
    let connection = builder(SHED_TIME).keep_alive(false).serve_connection(
        TokioIo::new(heads),
        TowerToHyperService::new(answering.full.clone()),
    );
    let served = timeout(2 * SHED_TIME, connection).await;
    if served.is_ok() {
        drop(timeout(LAST_WORDS, hear_out(&mut stream)).await);
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
    answering: &Answering,
    limits: Limits,
    waiting: &Waiting,
    stop: CancellationToken,
) {
    let place = waiting.join();
    let Some(tls) = &answering.tls else {
        return exchange(stream, answering, limits, &place, &stop).await;
    };
    let shaken = tokio::select! {
        shaken = timeout(limits.head_time, tls.accept(stream)) => shaken,
        () = place.must_end() => return,
        () = stop.cancelled() => return,
    };
    match shaken {
        Ok(Ok(stream)) => exchange(stream, answering, limits, &place, &stop).await,
        // The client spoke no TLS, did not trust the certificate, or sent nothing.
        Ok(Err(_)) | Err(_) => {
            if let Some(observer) = &answering.observer {
                observer.metrics.failed_handshake();
            }
        }
    }
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answering: &Answering,
    limits: Limits,
    place: &Connection,
    stop: &CancellationToken,
) {
    let times = (limits.head_time, ON_ITS_WAY);
    if !answered(&mut stream, answering, times, place, stop).await {
        return;
    }
    place.is_over();
    let rest = timeout(REST_TIME.min(limits.body_time), hear_out(&mut stream));
    tokio::select! {
        _ = rest => {}
        () = place.must_end() => {}
        () = stop.cancelled() => {}
    }
}

/// Answers requests until there are no more. False if it was cut short, or if nothing arrived in time.
async fn answered(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    answering: &Answering,
    (head_time, on_its_way): (Duration, Duration),
    place: &Connection,
    stop: &CancellationToken,
) -> bool {
    let router = TowerToHyperService::new(answering.router.clone());
    let service = service_fn(|request| {
        let busy = place.busy();
        let answer = hyper::service::Service::call(&router, request);
        async move {
            let mut answer = answer.await;
            if let Ok(answer) = &mut answer
                && place.has_to_end()
            {
                let headers = answer.headers_mut();
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            drop(busy);
            answer
        }
    });
    let stream = TokioIo::new(Heads::of(stream, answering.observer.as_deref()));
    let mut connection = pin!(builder(head_time).serve_connection(stream, service));
    // How a connection ends is up to the client; its writes are executed by the store in any case.
    tokio::select! {
        biased;
        ended = connection.as_mut() => ended.map_or_else(|error| !error.is_timeout(), |()| true),
        () = place.must_end() => {
            if timeout(on_its_way, connection.as_mut()).await.is_err() {
                connection.as_mut().graceful_shutdown();
                while timeout(LAST_WORDS, connection.as_mut()).await.is_err() && place.is_busy() {}
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
async fn hear_out(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    if stream.shutdown().await.is_ok() {
        drop(copy(&mut stream.take(LARGEST_REST), &mut sink()).await);
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::duplex, task::yield_now};

    use super::*;
    use crate::service::exchange;

    const LONG: Duration = Duration::from_mins(1);

    /// What a caller receives on a connection that has to make room, if it sends its request a little later.
    async fn got_by_one_that_makes_room(request: &[u8], on_its_way: Duration) -> String {
        let (mut client, mut server) = duplex(4_096);
        let waiting = Waiting::default();
        let place = waiting.join();
        let stop = CancellationToken::new();
        let times = (LONG, on_its_way);
        let answering = Answering {
            router: exchange::full(),
            full: exchange::full(),
            observer: None,
            tls: None,
        };
        let served = answered(&mut server, &answering, times, &place, &stop);
        let asks = async {
            assert!(waiting.end_longest());
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
        let answer = got_by_one_that_makes_room(request, LONG).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }

    #[tokio::test]
    async fn an_idle_connection_makes_room() {
        let answer = got_by_one_that_makes_room(b"", Duration::from_millis(1)).await;
        assert_eq!(answer, "");
    }
}
