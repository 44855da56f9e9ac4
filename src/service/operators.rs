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

use super::{metrics::CurrentValues, observe::Observer, store::Store};

/// How long the result of a storage check is reused, so that frequent requests do not cause frequent writes.
const PROBE_LIFETIME: Duration = Duration::from_secs(1);
/// A storage that takes longer is not ready.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// When the storage was checked, and the result.
type LastProbe = Option<(Instant, Result<(), String>)>;

#[derive(Debug, Clone)]
pub(super) struct OperatorState {
    observer: Arc<Observer>,
    store: Store,
    /// The request slots, and their total number.
    slots: Arc<Semaphore>,
    slot_count: usize,
    last_probe: Arc<Mutex<LastProbe>>,
}

impl OperatorState {
    pub(super) fn new(
        observer: Arc<Observer>,
        store: Store,
        (slots, slot_count): (Arc<Semaphore>, usize),
    ) -> Self {
        Self {
            observer,
            store,
            slots,
            slot_count,
            last_probe: Arc::default(),
        }
    }

    /// Number of requests in progress.
    pub(super) fn in_flight(&self) -> usize {
        self.slot_count
            .saturating_sub(self.slots.available_permits())
    }

    /// Returns the reason if the service is not ready. Details of storage errors are on standard error, not here.
    async fn is_ready(&self) -> Result<(), String> {
        if self.observer.is_draining() {
            return Err("no: shutting down".into());
        }
        // One caller checks the storage; others that ask meanwhile get the same result.
        let mut last_probe = self.last_probe.lock().await;
        if let Some((at, found)) = &*last_probe
            && at.elapsed() < PROBE_LIFETIME
        {
            return found.clone();
        }
        let found = match timeout(PROBE_TIMEOUT, self.store.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err("no: the storage takes no writes".into()),
            Err(_) => Err(format!(
                "no: the storage has not responded for {} s",
                PROBE_TIMEOUT.as_secs()
            )),
        };
        *last_probe = Some((Instant::now(), found.clone()));
        found
    }
}

pub(super) fn router(state: OperatorState) -> Router {
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
                "not found; use /live, /ready or /metrics\n",
            )
        })
        .with_state(state)
}

async fn ready(State(state): State<OperatorState>) -> Response {
    match state.is_ready().await {
        Ok(()) => text(StatusCode::OK, TEXT, "yes\n"),
        Err(why) => text(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{why}\n")),
    }
}

async fn metrics(State(state): State<OperatorState>) -> Response {
    let now = CurrentValues {
        ready: state.is_ready().await.is_ok(),
        in_flight: state.in_flight(),
        waiting_writes: state.store.pending_writes(),
        storage_failures: state.store.failures(),
        decided_commits: state.store.decided_commits(),
        connections: state.store.connections(),
    };
    let counted = state.observer.metrics.text(now);
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
