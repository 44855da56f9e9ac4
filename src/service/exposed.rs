//! The operators' listener: whether the service is alive, whether it is ready, and its metrics. It reveals nothing
//! about groups, and needs no keys.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, timeout},
};

use super::{metrics::Now, observe::Observer, store::Store};

/// How long the result of a storage check is reused, so that frequent requests do not cause frequent writes.
const FRESH: Duration = Duration::from_secs(1);
/// A storage that takes longer is not ready.
const PATIENCE: Duration = Duration::from_secs(3);

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// When the storage was checked, and the result.
type Look = Option<(Instant, Result<(), String>)>;

#[derive(Debug, Clone)]
pub(super) struct Exposed {
    observer: Arc<Observer>,
    store: Store,
    /// The request slots, and their total number.
    room: Arc<Semaphore>,
    places: usize,
    looked: Arc<Mutex<Look>>,
}

impl Exposed {
    pub(super) fn new(
        observer: Arc<Observer>,
        store: Store,
        (room, places): (Arc<Semaphore>, usize),
    ) -> Self {
        Self {
            observer,
            store,
            room,
            places,
            looked: Arc::default(),
        }
    }

    /// Number of requests in progress.
    pub(super) fn in_flight(&self) -> usize {
        self.places.saturating_sub(self.room.available_permits())
    }

    /// Returns the reason if the service is not ready. Details of storage errors are on standard error, not here.
    async fn is_ready(&self) -> Result<(), String> {
        if self.observer.is_draining() {
            return Err("no: it was told to end".into());
        }
        // One caller checks the storage; others that ask meanwhile get the same result.
        let mut looked = self.looked.lock().await;
        if let Some((at, found)) = &*looked
            && at.elapsed() < FRESH
        {
            return found.clone();
        }
        let found = match timeout(PATIENCE, self.store.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err("no: the storage takes no writes".into()),
            Err(_) => Err(format!(
                "no: the storage has not answered for {} s",
                PATIENCE.as_secs()
            )),
        };
        *looked = Some((Instant::now(), found.clone()));
        found
    }
}

pub(super) fn router(exposed: Exposed) -> Router {
    Router::new()
        .route(
            "/live",
            get(|| async { text(StatusCode::OK, TEXT, "yes\n") }),
        )
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .fallback(|| async {
            text(
                StatusCode::NOT_FOUND,
                TEXT,
                "there are /live, /ready and /metrics here\n",
            )
        })
        .with_state(exposed)
}

async fn ready(State(exposed): State<Exposed>) -> Response {
    match exposed.is_ready().await {
        Ok(()) => text(StatusCode::OK, TEXT, "yes\n"),
        Err(why) => text(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{why}\n")),
    }
}

async fn metrics(State(exposed): State<Exposed>) -> Response {
    let now = Now {
        ready: exposed.is_ready().await.is_ok(),
        in_flight: exposed.in_flight(),
        waiting_writes: exposed.store.pending_writes(),
        storage_failures: exposed.store.failures(),
        decided_commits: exposed.store.decided_commits(),
        lines: exposed.store.lines(),
    };
    let counted = exposed.observer.metrics.text(now);
    text(StatusCode::OK, METRICS, counted)
}

fn text(status: StatusCode, media_type: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
