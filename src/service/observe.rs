//! Every request is counted, timed and, if requested, logged: also one that is refused at admission, and one whose
//! caller leaves before the answer.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    extract::{Request, State},
    http::{HeaderValue, Method, header},
    middleware::Next,
    response::Response,
};
use jiff::Timestamp;

use super::{
    access_log::{AccessLog, LogEntry},
    admission::DESCRIPTION_PATH,
    keys::KeyLabel,
    metrics::Metrics,
    refusal::Refusal,
};

/// Verdict of a successful request.
const SUCCESS: &str = "ok";
const CALLER_LEFT: &str = "caller_left";
/// Verdict of a request whose head could not be parsed.
const UNREADABLE: &str = "unreadable";

/// Why a request was not done; attached to the response for the observer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict(pub(super) &'static str);

/// What becomes known about a request while it is processed.
#[derive(Debug, Default)]
pub(super) struct RequestDetails {
    key: OnceLock<KeyLabel>,
    user_group_id: OnceLock<String>,
    wants_id: bool,
}

impl RequestDetails {
    pub(super) fn key(&self, key: KeyLabel) {
        // It is always the same key.
        let _ = self.key.set(key);
    }

    pub(super) fn user_group_id(&self, id: &str) {
        if self.wants_id {
            let _ = self.user_group_id.set(id.to_owned());
        }
    }
}

/// Shared by all requests of a service.
pub(super) struct Observer {
    pub(super) metrics: Metrics,
    log: Option<AccessLog>,
    /// Path of the interface.
    path: String,
    is_draining: AtomicBool,
}

impl Observer {
    pub(super) fn new(path: &str, log: Option<AccessLog>) -> Arc<Self> {
        Arc::new(Self {
            metrics: Metrics::new(),
            log,
            path: path.to_owned(),
            is_draining: AtomicBool::new(false),
        })
    }

    /// From now on, asks callers to reconnect, so that a load balancer sends them elsewhere.
    pub(super) fn drain(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Records a request whose head the HTTP library refused by itself.
    pub(super) fn unreadable(&self, refusal: &Refusal) {
        let status = Some(refusal.status().as_u16());
        let ended = (UNREADABLE, refusal.code(), status);
        self.note(ended, Duration::ZERO, &RequestDetails::default());
    }

    fn operation(&self, request: &Request) -> &'static str {
        let method = request.method();
        match request.uri().path() {
            DESCRIPTION_PATH => "describe",
            path if path != self.path => "other",
            _ if method == Method::GET => "get_or_create",
            _ if method == Method::PUT => "update",
            _ if method == Method::POST => "rotate",
            _ => "other",
        }
    }

    fn note(
        &self,
        (operation, verdict, status): (&'static str, &'static str, Option<u16>),
        took: Duration,
        details: &RequestDetails,
    ) {
        let key = details.key.get();
        self.metrics.count(operation, verdict, took);
        if let Some(key) = key {
            self.metrics.count_key(key);
        }
        let Some(log) = &self.log else {
            return;
        };
        let written = log.write(&LogEntry {
            time: Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
                .to_string(),
            operation,
            result: verdict,
            status,
            duration_ms: took.as_micros() as f64 / 1_000.0,
            key: key.map(|key| key.number),
            key_name: key.and_then(|key| key.name.as_deref()),
            user_group_id: details.user_group_id.get().map(String::as_str),
        });
        if !written {
            self.metrics.lost_lines.inc();
        }
    }
}

/// One request; it is noted when this is dropped.
struct ObservedRequest {
    observer: Arc<Observer>,
    operation: &'static str,
    begun: Instant,
    details: Arc<RequestDetails>,
    /// Verdict and status.
    ended: (&'static str, Option<u16>),
}

impl Drop for ObservedRequest {
    fn drop(&mut self) {
        let ended = (self.operation, self.ended.0, self.ended.1);
        let took = self.begun.elapsed();
        self.observer.note(ended, took, &self.details);
    }
}

/// Middleware around everything that answers a request.
pub(super) async fn observed(
    State(observer): State<Arc<Observer>>,
    mut request: Request,
    next: Next,
) -> Response {
    let details = Arc::new(RequestDetails {
        wants_id: observer.log.as_ref().is_some_and(AccessLog::with_ids),
        ..RequestDetails::default()
    });
    request.extensions_mut().insert(Arc::clone(&details));
    let mut entry = ObservedRequest {
        operation: observer.operation(&request),
        observer,
        begun: Instant::now(),
        details,
        ended: (CALLER_LEFT, None),
    };
    let mut response = next.run(request).await;
    let verdict = response.extensions().get::<Verdict>();
    let verdict = verdict.map_or(SUCCESS, |verdict| verdict.0);
    entry.ended = (verdict, Some(response.status().as_u16()));
    if entry.observer.is_draining() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::mpsc::channel,
        task::{Context, Waker},
    };

    use axum::{Router, body::Body, middleware, routing::get};
    use tower_service::Service;

    use super::*;

    #[test]
    fn a_caller_that_leaves_is_counted() {
        let observer = Observer::new("/api/user", None);
        let mut router = Router::new()
            .route("/api/user", get(std::future::pending::<()>))
            .layer(middleware::from_fn_with_state(
                Arc::clone(&observer),
                observed,
            ));
        let request = Request::get("/api/user").body(Body::empty());
        {
            let mut answer = pin!(router.call(request.expect("a request")));
            let polled = answer
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
        let counted = observer.metrics.text();
        let sample = "requests_total{operation=\"get_or_create\",result=\"caller_left\"} 1";
        assert!(counted.contains(sample), "{counted}");
    }

    #[test]
    fn lines_that_no_reader_takes_delay_nothing_and_are_counted() {
        let (reads, line) = channel::<()>();
        let log = AccessLog::start(false, move |_| line.recv().is_ok());
        let observer = Observer::new("/api/user", Some(log.expect("a thread")));
        let lost = |observer: &Observer| {
            let counted = observer.metrics.text();
            let mut lines = counted.lines();
            let sample = "groupdesk_service_access_log_lost_lines_total ";
            let found = lines.find_map(|line| line.strip_prefix(sample));
            found.map(str::to_owned)
        };
        assert_eq!(lost(&observer).as_deref(), Some("0"));
        // One line is being written, and the rest of the queue waits.
        for _ in 0..crate::service::access_log::WAITING + 10 {
            observer.unreadable(&Refusal::Head);
        }
        let lost = lost(&observer).expect("a sample");
        assert!(["9", "10"].contains(&lost.as_str()), "{lost}");
        drop(reads);
    }
}
