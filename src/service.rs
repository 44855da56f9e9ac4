//! The embedded User Group Service that `demo` and `serve` run. It implements the interface of docs/design/service.md
//! durably, and shares nothing with the client but the shapes of the JSON.

use std::{io, net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration};

use rustix::process::{Resource, getrlimit};
use tokio::{sync::Semaphore, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

mod access_log;
mod admission;
mod body;
mod connections;
mod exchange;
mod json;
pub mod keys;
mod metrics;
mod observe;
mod operators;
mod refusal;
mod request;
mod rules;
mod secret;
pub mod seed;
pub mod store;
mod tls;

pub use access_log::AccessLog;
pub use admission::is_host_name;
use axum::{Router, middleware};
use connections::Responder;
use observe::Observer;
use operators::OperatorState;
use store::Store;
pub use tls::Tls;

/// Maximum number of connections to the operators' listener; more have to wait, or replace an idle one.
const OPERATORS: usize = 64;

/// Limits on load and waiting, and whether the service states its facts.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of requests in progress; more are answered 503.
    pub in_flight: usize,
    /// Maximum number of open connections, as far as the limit of open files allows. Beyond it, those that have been
    /// idle longest are closed; if all have a request in progress, the new one is answered 503.
    pub connections: usize,
    /// For the head of a request, and for an idle connection.
    pub head_time: Duration,
    /// For the body of a request; then it is answered 408.
    pub body_time: Duration,
    /// For requests in progress when the service stops.
    pub grace: Duration,
    /// Maximum number of requests per second and key, also in one burst; more are answered 429.
    pub rate: Option<NonZeroU32>,
    /// Whether callers with a key are told, in the header `groupdesk-facts`, what updates and gets do with fields.
    pub states_facts: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 512,
            connections: 1_024,
            head_time: Duration::from_mins(1),
            body_time: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            rate: None,
            states_facts: true,
        }
    }
}

/// Options of an operator.
#[derive(Default)]
pub struct Setup {
    /// Names (without port) that requests may be addressed to in `Host`; if empty, any.
    pub hosts: Vec<String>,
    pub access_log: Option<AccessLog>,
    /// HTTPS; plain HTTP if `None`.
    pub tls: Option<Arc<Tls>>,
}

/// The User Group Service.
pub struct Service;

impl Service {
    /// Serves the interface at `path` until the returned [`Running`] is stopped or dropped.
    #[expect(clippy::unused_async, reason = "it needs a runtime, and this says so")]
    pub async fn start(
        listen: SocketAddr,
        store: Store,
        path: &str,
        limits: Limits,
        setup: Setup,
    ) -> io::Result<Running> {
        check_path(path)?;
        let limits = Limits {
            connections: limits.connections.min(spare_files()),
            ..limits
        };
        let slots = Arc::new(Semaphore::new(limits.in_flight));
        let observer = Observer::new(path, setup.access_log);
        let shared = exchange::Shared {
            store: store.clone(),
            slots: admission::RequestSlots::new(Arc::clone(&slots), limits.rate),
            body_time: limits.body_time,
            states_facts: limits.states_facts,
        };
        let observed = |router: Router| {
            let observer = Arc::clone(&observer);
            router.layer(middleware::from_fn_with_state(observer, observe::observed))
        };
        let responder = Responder {
            router: observed(exchange::router(path, setup.hosts.into(), shared)),
            full: observed(exchange::overloaded_router()),
            observer: Some(Arc::clone(&observer)),
            tls: setup.tls,
        };
        let operators = OperatorState {
            observer,
            store,
            slots,
            slot_count: limits.in_flight,
            last_probe: Arc::default(),
        };
        let listening = Listening::start(listen, responder, limits)?;
        Ok(Running {
            address: listening.address,
            listening,
            operators,
        })
    }
}

/// A listener and its connections. Dropping it stops it without waiting.
pub struct Listening {
    /// Its address; the port is the real one, also if 0 was requested.
    pub address: SocketAddr,
    task: JoinHandle<()>,
    stop: DropGuard,
}

impl Listening {
    fn start(listen: SocketAddr, responder: Responder, limits: Limits) -> io::Result<Self> {
        let listener = connections::listen(listen)?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let task = tokio::spawn(connections::serve(
            listener,
            responder,
            limits,
            stop.clone(),
        ));
        let stop = stop.drop_guard();
        Ok(Self {
            address,
            task,
            stop,
        })
    }

    /// Answers pending requests and stops.
    pub async fn stop(self) {
        drop(self.stop);
        // An error means that the task panicked; it has ended, as intended.
        drop(self.task.await);
    }
}

/// A running service. Dropping it stops it without waiting.
pub struct Running {
    /// Its address; the port is the real one, also if 0 was requested.
    pub address: SocketAddr,
    listening: Listening,
    operators: OperatorState,
}

impl Running {
    /// Number of requests in progress.
    pub fn in_flight(&self) -> usize {
        self.operators.in_flight()
    }

    /// Opens the operators' listener: `/live`, `/ready` and `/metrics`, over HTTP without a key.
    pub fn expose(&self, listen: SocketAddr) -> io::Result<Listening> {
        let router = operators::router(self.operators.clone());
        let responder = Responder {
            full: router.clone(),
            router,
            observer: None,
            tls: None,
        };
        let limits = Limits {
            connections: OPERATORS,
            ..Limits::default()
        };
        Listening::start(listen, responder, limits)
    }

    /// Marks the service as not ready and asks callers to reconnect, but still answers them.
    pub fn drain(&self) {
        self.operators.observer.drain();
    }

    /// Accepts no new requests, finishes those in progress within [`Limits::grace`], and returns.
    pub async fn stop(self) {
        self.drain();
        self.listening.stop().await;
    }
}

/// Number of connections this process can open while keeping enough files for its database.
fn spare_files() -> usize {
    const OTHERS: u64 = 128;
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(most.saturating_sub(OTHERS).max(1)).unwrap_or(usize::MAX)
}

/// The router gives some characters a special meaning, and panics on a path that it cannot parse.
fn check_path(path: &str) -> io::Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    if path.starts_with('/') && path.bytes().all(plain) && path != admission::DESCRIPTION_PATH {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path of the interface must begin with / and have only letters, digits and -._~/",
        ))
    }
}
