//! Counters and timings in Prometheus's format. Labels are operations, verdicts, and numbers and names of keys; never an id, a key or
//! a token.

use std::{sync::atomic::Ordering, time::Duration};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::{Registry, Unit},
};

use super::{keys::KeyLabel, store::Store};

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Prefix of every metric name.
const PREFIX: &str = "groupdesk_service";

/// Labels of a metric, each with its value.
type Labels<const N: usize, V = &'static str> = [(&'static str, V); N];

/// Makes the metrics: for each its field, its type, and its name and meaning for operators.
macro_rules! metrics {
    ($($field:ident: $type:ty = $name:literal, $meaning:literal;)+) => {
        pub(super) struct Metrics {
            registry: Registry,
            durations: Family<Labels<1>, Histogram>,
            $(pub(super) $field: $type,)+
        }

        impl Metrics {
            pub(super) fn new() -> Self {
                let mut registry = Registry::with_prefix(PREFIX);
                $(
                    let $field: $type = Default::default();
                    registry.register($name, $meaning, $field.clone());
                )+
                let durations =
                    Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
                let meaning = "From the head of a request to its response";
                registry.register_with_unit("request_duration", meaning, Unit::Seconds, durations.clone());
                let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
                registry.register("build", "The program", version);
                Self { registry, durations, $($field,)+ }
            }
        }
    };
}

metrics! {
    requests: Family<Labels<2>, Counter> = "requests", "Requests with a response, or cancelled by their caller";
    keys: Family<Labels<2, String>, Counter> = "key_requests", "Requests that were admitted with this API key";
    lost_lines: Counter = "access_log_lost_lines", "Lines of the access log that were not read in time";
    failed_handshakes: Counter = "tls_failed_handshakes", "Connections that failed before a request: no TLS, or closed early";
    in_flight: Gauge = "requests_in_flight", "Requests with a key that are in progress";
    waiting_writes: Gauge = "storage_writes_waiting", "Writes that are queued for the storage, or in progress";
    storage_failures: Counter = "storage_failures", "How often the storage failed";
    decided_commits: Counter = "storage_decided_commits", "Commits whose response was lost, and that were checked in the database before the caller got a response";
    connections: Gauge = "storage_lines", "Connections to the database; 1 for a file";
    busy_connections: Gauge = "storage_lines_busy", "Connections to the database that are in use";
    ready: Gauge = "ready", "1 if /ready succeeds: the storage accepts writes and no shutdown is in progress";
}

impl Metrics {
    pub(super) fn count(&self, operation: &'static str, verdict: &'static str, took: Duration) {
        let operation = ("operation", operation);
        let requests = [operation, ("result", verdict)];
        self.requests.get_or_create(&requests).inc();
        let durations = self.durations.get_or_create(&[operation]);
        durations.observe(took.as_secs_f64());
    }

    pub(super) fn count_key(&self, key: &KeyLabel) {
        // Its name is empty if it has none.
        let name = key.name.clone().unwrap_or_default();
        let labels = [("key", key.number.to_string()), ("name", name)];
        self.keys.get_or_create(&labels).inc();
    }

    /// Takes over what is read when metrics are requested, rather than counted.
    pub(super) fn set(&self, store: &Store, in_flight: usize, ready: bool) {
        let (connections, busy) = store.connections();
        for (gauge, count) in [
            (&self.in_flight, in_flight),
            (&self.waiting_writes, store.pending_writes()),
            (&self.connections, connections),
            (&self.busy_connections, busy),
            (&self.ready, ready.into()),
        ] {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        for (counter, count) in [
            (&self.storage_failures, store.failures()),
            (&self.decided_commits, store.decided_commits()),
        ] {
            counter.inner().store(count, Ordering::Relaxed);
        }
    }

    /// All metrics as OpenMetrics text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
