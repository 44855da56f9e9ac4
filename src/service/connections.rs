//! Accepting connections, and letting them end: after the stop nothing new begins, what is in flight is finished,
//! and what is not done in time is cut off.

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::Limits;

/// Serves until `stop`, then at most `limits.grace` longer.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &room) => accepted,
        };
        match accepted {
            Ok((stream, place)) => {
                let (router, stop) = (router.clone(), stop.clone());
                connections.spawn(async move {
                    connection(stream, router, limits.head_time, stop).await;
                    drop(place);
                });
            }
            // A client that left in the queue, or no descriptors left: neither ends the service.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    if timeout(limits.grace, finished).await.is_err() {
        connections.shutdown().await;
    }
}

/// Takes the next connection when there is room for it; until then it waits in the system's queue.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Answers are small; waiting to fill a packet only delays them.
    stream.set_nodelay(true)?;
    Ok((stream, place))
}

async fn connection(
    stream: TcpStream,
    router: Router,
    head_time: Duration,
    stop: CancellationToken,
) {
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_time)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
    );
    // How a connection ends is the client's affair; its writes are done by the store in any case.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
        }
    }
}
