//! The embedded User Group Service: what `demo` and `serve` run. It implements the interface of docs/design/service.md
//! durably and shares nothing with the client but the shapes of the JSON.

use std::{io, net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration};

use rustix::process::{Resource, getrlimit};
use tokio::{net::TcpListener, sync::Semaphore, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

mod access_log;
mod admission;
mod body;
mod connections;
mod exchange;
mod exposed;
mod json;
pub mod keys;
mod metrics;
mod observe;
mod rates;
mod refusal;
mod request;
mod rules;
mod secret;
pub mod seed;
pub mod store;
mod tls;

pub use access_log::AccessLog;
use axum::{Router, middleware};
use connections::Answering;
use exposed::Exposed;
use observe::Observer;
use store::Store;
pub use tls::{Tls, TlsError};

/// Connections to the listener for operators; more wait, or take the place of one that waits.
const OPERATORS: usize = 64;

/// What the service takes on at once, how long it waits, and whether it says what it does.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests under way; more are answered 503.
    pub in_flight: usize,
    /// Open connections, as far as the limit of open files allows; for more, those that wait longest are closed, or they
    /// are answered 503 when every one has a request under way.
    pub connections: usize,
    /// For the head of a request, and for an idle connection.
    pub head_time: Duration,
    /// For the body of a request; after it 408.
    pub body_time: Duration,
    /// For what is in flight at the stop.
    pub grace: Duration,
    /// Requests a second of one key, which may all come at once; more are answered 429.
    pub rate: Option<NonZeroU32>,
    /// Callers with a key are told in a header, `groupdesk-facts`, what an update and a get do with fields.
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

/// What an operator chose.
#[derive(Debug, Default)]
pub struct Setup {
    /// Names that a request may be for, as `Host` has them, without a port; any where there is none.
    pub hosts: Vec<String>,
    pub access_log: Option<AccessLog>,
    /// HTTPS; plain HTTP where there is none.
    pub tls: Option<Arc<Tls>>,
}

/// The User Group Service.
#[derive(Debug)]
pub struct Service;

impl Service {
    /// Listens and serves the interface at `path`, until the returned [`Running`] is stopped or dropped.
    pub async fn start(listen: SocketAddr, store: Store, path: &str) -> io::Result<Running> {
        Self::start_with(listen, store, path, Limits::default()).await
    }

    /// [`Service::start`] with other limits.
    pub async fn start_with(
        listen: SocketAddr,
        store: Store,
        path: &str,
        limits: Limits,
    ) -> io::Result<Running> {
        Self::start_as(listen, store, path, limits, Setup::default()).await
    }

    /// [`Service::start_with`], as an operator chose.
    #[expect(clippy::unused_async, reason = "it needs a runtime, and this says so")]
    pub async fn start_as(
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
        let listener = connections::listen(listen)?;
        let address = listener.local_addr()?;
        let room = Arc::new(Semaphore::new(limits.in_flight));
        let observer = Observer::new(path, setup.access_log);
        let shared = exchange::Shared {
            store: store.clone(),
            room: admission::RequestSlots::new(Arc::clone(&room), limits.rate),
            body_time: limits.body_time,
            states_facts: limits.states_facts,
        };
        let observed = |router: Router| {
            let observer = Arc::clone(&observer);
            router.layer(middleware::from_fn_with_state(observer, observe::observed))
        };
        let answering = Answering {
            router: observed(exchange::router(path, setup.hosts.into(), shared)),
            full: observed(exchange::full()),
            observer: Some(Arc::clone(&observer)),
            tls: setup.tls,
        };
        let exposed = Exposed::new(
            Arc::clone(&observer),
            store,
            (Arc::clone(&room), limits.in_flight),
        );
        Ok(Running {
            address,
            listening: Listening::start(listener, answering, limits),
            observer,
            exposed,
        })
    }
}

/// A listener and its connections. Dropping it stops it, without waiting.
#[derive(Debug)]
struct Listening {
    task: JoinHandle<()>,
    stop: DropGuard,
}

impl Listening {
    fn start(listener: TcpListener, answering: Answering, limits: Limits) -> Self {
        let stop = CancellationToken::new();
        let task = tokio::spawn(connections::serve(
            listener,
            answering,
            limits,
            stop.clone(),
        ));
        Self {
            task,
            stop: stop.drop_guard(),
        }
    }

    async fn stop(self) {
        drop(self.stop);
        // An error means that the task panicked: it has ended, which is what was asked.
        drop(self.task.await);
    }
}

/// A service that runs. Dropping it stops it too, without waiting.
#[derive(Debug)]
pub struct Running {
    /// Where it listens; the port is the real one, also when 0 was asked for.
    pub address: SocketAddr,
    listening: Listening,
    observer: Arc<Observer>,
    exposed: Exposed,
}

impl Running {
    /// Requests under way now.
    pub fn in_flight(&self) -> usize {
        self.exposed.in_flight()
    }

    /// Listens for operators: `/live`, `/ready` and `/metrics`, over HTTP without a key.
    pub fn expose(&self, listen: SocketAddr) -> io::Result<Operators> {
        let listener = connections::listen(listen)?;
        let address = listener.local_addr()?;
        let router = exposed::router(self.exposed.clone());
        let answering = Answering {
            full: router.clone(),
            router,
            observer: None,
            tls: None,
        };
        let limits = Limits {
            connections: OPERATORS,
            ..Limits::default()
        };
        Ok(Operators {
            address,
            listening: Listening::start(listener, answering, limits),
        })
    }

    /// From now on it is not ready, and tells its callers to come back on another connection; it answers them all the same.
    pub fn drain(&self) {
        self.observer.drain();
    }

    /// Takes no new requests, finishes what is in flight within [`Limits::grace`], and returns.
    pub async fn stop(self) {
        self.drain();
        self.listening.stop().await;
    }
}

/// The listener for operators. Dropping it stops it.
#[derive(Debug)]
pub struct Operators {
    /// Where it listens; the port is the real one.
    pub address: SocketAddr,
    listening: Listening,
}

impl Operators {
    /// Answers what was asked, and ends.
    pub async fn stop(self) {
        self.listening.stop().await;
    }
}

/// How many connections this process can open and still reach its database.
fn spare_files() -> usize {
    const OTHERS: u64 = 128;
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(most.saturating_sub(OTHERS).max(1)).unwrap_or(usize::MAX)
}

/// Whether a text is a name or an address as `Host` has it, without a port.
pub fn is_host_name(text: &str) -> bool {
    admission::is_name(text)
}

/// The router gives some characters a meaning of their own and panics on what it cannot read.
fn check_path(path: &str) -> io::Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    if path.starts_with('/') && path.bytes().all(plain) && path != admission::DESCRIBED_AT {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path of the interface must begin with / and have only letters, digits and -._~/",
        ))
    }
}
