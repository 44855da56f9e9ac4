//! The operators' listener: whether the service is alive, whether it is ready, and its metrics. It reveals nothing
//! about groups, and needs no keys.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode},
    response::Response,
    routing::get,
};
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, timeout},
};

use super::{exchange::answered, observe::Observer, store::Store};

/// How long the result of a storage check is reused, so that frequent requests do not cause frequent writes.
const PROBE_LIFETIME: Duration = Duration::from_secs(1);
/// A storage that takes longer is not ready.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// When the storage was checked, and the result.
pub(super) type LastProbe = Option<(Instant, Result<(), String>)>;

#[derive(Clone)]
pub(super) struct OperatorState {
    pub(super) observer: Arc<Observer>,
    pub(super) store: Store,
    /// The request slots, and their total number.
    pub(super) slots: Arc<Semaphore>,
    pub(super) slot_count: usize,
    pub(super) last_probe: Arc<Mutex<LastProbe>>,
}

impl OperatorState {
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
            Ok(Err(_)) => Err("no: the storage accepts no writes".into()),
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
    let other = "not found; use /live, /ready or /metrics\n";
    Router::new()
        .route(
            "/live",
            get(async || answered(StatusCode::OK, TEXT, "yes\n")),
        )
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .fallback(async move || answered(StatusCode::NOT_FOUND, TEXT, other))
        .with_state(state)
}

async fn ready(State(state): State<OperatorState>) -> Response {
    match state.is_ready().await {
        Ok(()) => answered(StatusCode::OK, TEXT, "yes\n"),
        Err(why) => answered(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{why}\n")),
    }
}

async fn metrics(State(state): State<OperatorState>) -> Response {
    let is_ready = state.is_ready().await.is_ok();
    let metrics = &state.observer.metrics;
    metrics.set(&state.store, state.in_flight(), is_ready);
    answered(StatusCode::OK, METRICS, metrics.text())
}
