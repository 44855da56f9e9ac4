//! The address of a server, the protection of connections to it, and authentication.

use std::{
    borrow::Cow,
    future::poll_fn,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use rustls::ClientConfig;
use tokio::task::JoinHandle;
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, NoTls, SimpleQueryMessage, SimpleQueryRow, Socket,
    config::{ChannelBinding, Host, LoadBalanceHosts, SslMode, TargetSessionAttrs},
    error::Severity,
    tls::TlsStream,
};
use tokio_postgres_rustls::MakeRustlsConnect;
use zeroize::Zeroizing;

use super::fault::{Failure, NO_TLS, ServerFault, Then};
use crate::db::value::new_writer;

/// Settings of a new session: commits are on disk, a dead console releases its rows, and unqualified names are in our
/// schema. A limit on statements that a role has would end work that groupdesk waits for; `PATIENCE` limits that.
const SETTINGS: &str = "\
SET statement_timeout = 0; SET synchronous_commit = on; SET lock_timeout = '3s'; SET idle_in_transaction_session_timeout = '15s'; \
SET client_min_messages = warning; SET standard_conforming_strings = on; SET search_path = ";

/// Set in the startup message. A pooler, which would share sessions, rejects or drops it.
const OWN_SESSION: &str = "-c groupdesk.session=own";

/// The lock timeout of [`SETTINGS`].
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long to wait for a server, in everything that is done for one request.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may be silent while a request is in progress.
const SILENT: Duration = Duration::from_secs(10);
/// How long each of several servers is waited for, so that the next one is tried within the patience.
const CONNECT_TIMEOUT_EACH: Duration = Duration::from_secs(3);

/// Fetched once, and again after it was refused. The error text says why there is no password.
pub(crate) type Password = Arc<
    dyn Fn() -> Pin<Box<dyn Future<Output = Result<Zeroizing<Vec<u8>>, String>> + Send>>
        + Send
        + Sync,
>;

/// Reads the certificates to trust, and our own. The error text says why they cannot be used.
pub(crate) type Tls = Arc<dyn Fn() -> Result<Arc<ClientConfig>, String> + Send + Sync>;

/// The address of a server, the schema to use, and what its user has set.
#[derive(Clone)]
pub(crate) struct Server {
    config: Arc<Config>,
    /// A plain name.
    pub(crate) schema: String,
    /// False for a Unix socket, and if the address disables TLS for this machine.
    pub(crate) needs_tls: bool,
    pub(crate) tls: Option<Tls>,
    /// An empty one counts as none.
    pub(crate) password: Option<Password>,
    /// The value bound for [`crate::db::Value::Writer`].
    pub(super) writer: i64,
    /// Whether to send NOTIFY hints after writes; not if nobody listens.
    pub(crate) hints: bool,
    /// Inserts the stamp row of a write (`$1`). Fails when writes are not allowed, and so aborts the transaction.
    pub(crate) stamp: Cow<'static, str>,
    /// Executed whenever a connection is opened; its failure is ignored.
    pub(crate) on_connect: Option<&'static str>,
    /// Number of commits, on all connections, whose outcome had to be asked for after the connection broke.
    pub(super) decided: Arc<AtomicU64>,
    /// When it was first found to be gone, on any connection; `None` once one was opened again.
    lost_at: Arc<Mutex<Option<Instant>>>,
    /// One patience is for all requests of the process together: it executes one command.
    pub(super) is_of_command: Arc<AtomicBool>,
    pub(crate) timelines: Option<TimelineCheck>,
    seen: Arc<Seen>,
}

/// What the connections of a process have found.
#[derive(Default)]
struct Seen {
    /// The highest timeline of the cluster that was found last.
    newest: Mutex<Option<(String, i64)>>,
    /// A connection was opened once: who we are was accepted.
    is_accepted: AtomicBool,
    /// A server that was left behind answers: others are tried in any order.
    is_any_order: AtomicBool,
    /// The last password used; cleared after it was refused.
    password: Mutex<Option<Zeroizing<Vec<u8>>>>,
    /// The last certificates used; cleared after a connection failed, because they may have been renewed.
    tls: Mutex<Option<Arc<ClientConfig>>>,
}

/// For a table in which every write inserts a row of its own.
const STAMP: &str = "INSERT INTO writes (stamp) VALUES (($1::text)::uuid)";

/// Told the identity of a cluster and its timeline whenever a server that can be written was found; refuses one that was
/// left behind, with the reason.
pub(crate) type TimelineCheck = Arc<dyn Fn(&str, i64) -> Result<(), String> + Send + Sync>;

/// A session: its client, the task of its connection, and whether the server has sent a warning.
pub(super) type Connected = (Client, JoinHandle<()>, Arc<AtomicBool>);

/// What is wrong with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressFault {
    NotAnAddress,
    Password,
    /// `sslmode` is something other than `verify-full`, or is `disable` for another machine.
    Unprotected,
    /// It names files of certificates, which are settings.
    Certificates,
}

impl Server {
    /// `schema` is a plain name.
    pub(crate) fn parse(url: &str, schema: &str) -> Result<Self, AddressFault> {
        // A connection string of the form host=db1 password=x would be shown as it is.
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err(AddressFault::NotAnAddress);
        }
        // As psql takes it.
        let settings = ["sslrootcert=", "sslcert=", "sslkey="];
        if settings.iter().any(|name| url.contains(name)) {
            return Err(AddressFault::Certificates);
        }
        let (address, mode) = without_mode(url);
        let mut config: Config = address.parse().map_err(|_| AddressFault::NotAnAddress)?;
        if config.get_password().is_some() {
            return Err(AddressFault::Password);
        }
        // `hostaddr` would override where the connection goes, whatever the host name says.
        if !config.get_hostaddrs().is_empty() {
            return Err(AddressFault::NotAnAddress);
        }
        let hosts = config.get_hosts();
        let sockets = hosts.iter().filter(|host| matches!(host, Host::Unix(_)));
        let sockets = sockets.count();
        // With a mixture of sockets and hosts, only some connections would be protected.
        if hosts.is_empty() || sockets != 0 && sockets != hosts.len() {
            return Err(AddressFault::NotAnAddress);
        }
        let needs_tls = match mode {
            _ if sockets > 0 => false,
            None | Some("verify-full") => true,
            Some("disable") if hosts.iter().all(is_this_machine) => false,
            Some(_) => return Err(AddressFault::Unprotected),
        };
        let several = hosts.len() > 1;
        let options = config.get_options().unwrap_or_default();
        let options = format!("{options} {OWN_SESSION}");
        config
            .application_name("groupdesk")
            .options(options.trim_start())
            .connect_timeout(if several {
                CONNECT_TIMEOUT_EACH
            } else {
                SILENT
            })
            .keepalives_idle(SILENT)
            .keepalives_interval(SILENT / 3)
            .keepalives_retries(3)
            .tcp_user_timeout(SILENT)
            .ssl_mode(if needs_tls {
                SslMode::Require
            } else {
                SslMode::Disable
            });
        Ok(Self {
            config: Arc::new(config),
            schema: schema.to_owned(),
            needs_tls,
            tls: None,
            password: None,
            writer: 0,
            hints: true,
            stamp: STAMP.into(),
            on_connect: None,
            decided: Arc::default(),
            lost_at: Arc::default(),
            is_of_command: Arc::default(),
            timelines: None,
            seen: Arc::default(),
        })
    }

    /// Host or folder, port, database and user of each possible server.
    pub(crate) fn reaches(&self) -> Vec<(String, u16, String, String)> {
        let (ports, user) = (
            self.config.get_ports(),
            self.config.get_user().unwrap_or_default(),
        );
        let database = self.config.get_dbname().unwrap_or(user);
        let hosts = self.config.get_hosts().iter().enumerate();
        let each = hosts.map(|(at, host)| {
            let host = match host {
                Host::Tcp(name) => name.trim_matches(['[', ']']).to_owned(),
                Host::Unix(folder) => folder.display().to_string(),
            };
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
            (host, port, database.to_owned(), user.to_owned())
        });
        each.collect()
    }

    /// Draws a writer number, which distinguishes its writes from those of others.
    pub(crate) fn with_new_writer(mut self) -> Self {
        self.writer = new_writer();
        self
    }

    /// The number of commits during which the connection broke and whose outcome the server has told since.
    pub(crate) fn decided(&self) -> u64 {
        self.decided.load(Ordering::Relaxed)
    }

    /// Refuses a server that another one has taken over from. If there are several, the next attempt may meet that one.
    pub(super) fn check_timeline(&self, cluster: &str, timeline: i64) -> Result<(), Failure> {
        let Some(check) = &self.timelines else {
            return Ok(());
        };
        check(cluster, timeline)
            .inspect(|()| {
                match &mut *lock(&self.seen.newest) {
                    Some((known, newest)) if known == cluster => *newest = timeline.max(*newest),
                    // Another cluster counts its timelines from 1.
                    other => *other = Some((cluster.to_owned(), timeline)),
                }
            })
            .map_err(|why| {
                let several = self.config.get_hosts().len() > 1;
                self.seen.is_any_order.store(several, Ordering::SeqCst);
                let then = if several {
                    Then::Reconnect
                } else {
                    Then::GiveUp
                };
                (ServerFault::Outdated(why), then)
            })
    }

    /// Whether a connection that was opened on this timeline leads to a server that a failover has left behind since.
    pub(super) fn is_behind(&self, timeline: i64) -> bool {
        let newest = lock(&self.seen.newest);
        newest
            .as_ref()
            .is_some_and(|(_, newest)| timeline < *newest)
    }

    pub(super) fn note_lost(&self) {
        lock(&self.lost_at).get_or_insert_with(Instant::now);
    }

    pub(super) fn note_found(&self) {
        *lock(&self.lost_at) = None;
    }

    pub(crate) fn lost_at(&self) -> Option<Instant> {
        *lock(&self.lost_at)
    }

    /// Whether requests after a loss wait no more, because a command already waited for all of them.
    pub(crate) fn set_is_of_command(&self, is_of_command: bool) {
        self.is_of_command.store(is_of_command, Ordering::Relaxed);
    }

    /// Fetches the password, if that was not done yet.
    pub(super) async fn fetch_password(&self) -> Result<(), Failure> {
        let Some(password) = self.password.as_ref().filter(|_| self.known().is_none()) else {
            return Ok(());
        };
        let password = password().await;
        let password =
            password.map_err(|why| (ServerFault::NoPassword(Some(why)), Then::GiveUp))?;
        *self.known() = Some(password);
        Ok(())
    }

    fn certificates(&self) -> Result<Arc<ClientConfig>, Failure> {
        let unusable = |why: String| (ServerFault::Unusable(why), Then::GiveUp);
        let read = self.tls.as_ref().ok_or_else(|| unusable("no TLS".into()))?;
        let mut known = lock(&self.seen.tls);
        let config = match known.take() {
            Some(config) => config,
            None => read().map_err(unusable)?,
        };
        Ok(Arc::clone(known.insert(config)))
    }

    fn known(&self) -> MutexGuard<'_, Option<Zeroizing<Vec<u8>>>> {
        lock(&self.seen.password)
    }

    /// Sets up a new session, and returns the first row of this query.
    pub(super) async fn configure(
        &self,
        client: &Client,
        query: &str,
    ) -> Result<Option<SimpleQueryRow>, Failure> {
        let text = format!("{SETTINGS}\"{}\", pg_temp; {query}", self.schema);
        let answers = client.simple_query(&text).await;
        let answers = answers.map_err(|error| ServerFault::of_request(&error))?;
        let row = answers.into_iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(row)
    }

    /// Opens a session with the first server that can be written. Inside a runtime.
    pub(super) async fn connect(&self) -> Result<Connected, Failure> {
        self.connect_with_listener(|_| {}).await
    }

    /// As [`Self::connect`], passing the payload of notifications to `on_notify`.
    pub(super) async fn connect_with_listener(
        &self,
        on_notify: impl FnMut(&str) + Send + 'static,
    ) -> Result<Connected, Failure> {
        self.fetch_password().await?;
        let config = self.with_password();
        match self.open(&config, on_notify).await {
            Ok(connected) => {
                self.seen.is_accepted.store(true, Ordering::SeqCst);
                Ok(connected)
            }
            Err(last) if config.get_hosts().len() > 1 => {
                Err(self.most_telling(&config, last).await)
            }
            Err(failure) => Err(failure),
        }
    }

    /// What to report of several hosts, none of which can be used: the library tells only how the last one failed.
    ///
    /// Once a connection was accepted, what another host refuses says nothing while the primary may be away.
    async fn most_telling(&self, config: &Config, last: Failure) -> Failure {
        let hosts = 0..config.get_hosts().len();
        let each = hosts.map(|at| async move { self.open(&alone(config, at), |_| {}).await.err() });
        let failures = join_all(each).await;
        let Some(failures) = failures.into_iter().collect::<Option<Vec<_>>>() else {
            // One can be used now.
            return (last.0, Then::Reconnect);
        };
        let is_accepted = self.seen.is_accepted.load(Ordering::SeqCst);
        let failure = failures
            .into_iter()
            .min_by_key(|failure| telling(failure, is_accepted));
        failure.unwrap_or(last)
    }

    fn with_password(&self) -> Config {
        let mut config = Config::clone(&self.config);
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if self.seen.is_any_order.load(Ordering::SeqCst) {
            config.load_balance_hosts(LoadBalanceHosts::Random);
        }
        if let Some(password) = self.known().as_ref().filter(|known| !known.is_empty()) {
            config.password(&**password);
            if self.needs_tls {
                // Never send the password in clear text or as MD5, and never to a man in the middle.
                config.channel_binding(ChannelBinding::Require);
            }
        }
        config
    }

    async fn open(
        &self,
        config: &Config,
        on_notify: impl FnMut(&str) + Send + 'static,
    ) -> Result<Connected, Failure> {
        let is_here = config.get_hosts().iter().all(is_this_machine);
        let failed = |error| {
            let mut failure = ServerFault::of_connecting(&error);
            if let ServerFault::Unsafe(why) = &mut failure.0
                && why == NO_TLS
                && is_here
            {
                why.push_str(
                    ", which is not needed on this machine: add sslmode=disable to its URL",
                );
            }
            if let ServerFault::NotAllowed(_) | ServerFault::NoPassword(None) = failure.0 {
                // The password may have been changed.
                *self.known() = None;
            }
            *lock(&self.seen.tls) = None;
            failure
        };
        let warned: Arc<AtomicBool> = Arc::default();
        let warn = Arc::clone(&warned);
        if self.needs_tls {
            let tls = MakeRustlsConnect::new(ClientConfig::clone(&*self.certificates()?));
            let (client, connection) = config.connect(tls).await.map_err(failed)?;
            return Ok((client, drive(connection, on_notify, warn), warned));
        }
        let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
        Ok((client, drive(connection, on_notify, warn), warned))
    }
}

/// The same for one of its hosts.
fn alone(config: &Config, at: usize) -> Config {
    let mut one = Config::new();
    match &config.get_hosts()[at] {
        Host::Tcp(name) => one.host(name),
        Host::Unix(folder) => one.host_path(folder),
    };
    let ports = config.get_ports();
    if let Some(port) = ports.get(at).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    one.connect_timeout(CONNECT_TIMEOUT_EACH)
        .ssl_mode(config.get_ssl_mode())
        .channel_binding(config.get_channel_binding())
        .target_session_attrs(config.get_target_session_attrs());
    one
}

/// The rank of what failed at one of several hosts; the lowest is reported.
fn telling((fault, then): &Failure, is_accepted: bool) -> u8 {
    match fault {
        ServerFault::ReadOnly if is_accepted => 0,
        ServerFault::Unreachable if is_accepted => 1,
        ServerFault::NoPassword(_) => 2,
        ServerFault::NotAllowed(_) => 3,
        ServerFault::Unsafe(_) | ServerFault::Unusable(_) | ServerFault::OwnCertificate(_) => 4,
        _ if *then == Then::GiveUp => 5,
        ServerFault::Crowded => 6,
        ServerFault::ReadOnly => 7,
        _ => 8,
    }
}

/// Drives the connection; callers that wait for an answer see when it breaks.
fn drive<T>(
    mut connection: Connection<Socket, T>,
    mut on_notify: impl FnMut(&str) + Send + 'static,
    warned: Arc<AtomicBool>,
) -> JoinHandle<()>
where
    T: TlsStream + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            match message {
                AsyncMessage::Notification(note) => on_notify(note.payload()),
                AsyncMessage::Notice(notice)
                    if notice.parsed_severity() == Some(Severity::Warning) =>
                {
                    warned.store(true, Ordering::SeqCst);
                }
                _ => {}
            }
        }
    })
}

/// Nothing panics while it holds the lock.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_this_machine(host: &Host) -> bool {
    let Host::Tcp(name) = host else {
        return true;
    };
    let name = name.trim_matches(['[', ']']);
    name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Removes `sslmode`, because the client library does not know `verify-full`.
fn without_mode(url: &str) -> (String, Option<&str>) {
    let Some((address, query)) = url.split_once('?') else {
        return (url.to_owned(), None);
    };
    let (modes, rest): (Vec<&str>, Vec<&str>) = query
        .split('&')
        .partition(|pair| pair.starts_with("sslmode="));
    let mode = modes.last().and_then(|mode| mode.strip_prefix("sslmode="));
    (format!("{address}?{}", rest.join("&")), mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs_tls(url: &str) -> Result<bool, AddressFault> {
        Server::parse(url, "groupdesk").map(|server| server.needs_tls)
    }

    #[test]
    fn a_connection_to_a_server_that_was_left_behind_is_not_used_again() {
        let mut server = Server::parse("postgres://ana@db1,db2/desk", "desk").expect("an address");
        server.timelines = Some(Arc::new(|_: &str, _: i64| Ok::<(), String>(())));
        let other = server.clone();
        for timeline in [1, 2] {
            assert!(server.check_timeline("cluster", timeline).is_ok());
        }
        assert!(other.is_behind(1));
        assert!(!other.is_behind(2));
        assert!(server.check_timeline("another", 1).is_ok());
        assert!(!other.is_behind(1));
    }

    #[test]
    fn of_several_hosts_the_one_that_says_most_is_reported() {
        use ServerFault::{Crowded, NotAllowed, ReadOnly, Unreachable};
        let give_up = |fault| (fault, Then::GiveUp);
        let again = |fault| (fault, Then::Reconnect);
        let refused = || give_up(NotAllowed("28P01".into()));
        for (failures, first, later) in [
            (
                [refused(), again(Unreachable)],
                refused(),
                again(Unreachable),
            ),
            (
                [again(Crowded), again(Unreachable)],
                again(Crowded),
                again(Unreachable),
            ),
            (
                [again(ReadOnly), again(Unreachable)],
                again(ReadOnly),
                again(ReadOnly),
            ),
            ([again(ReadOnly), refused()], refused(), again(ReadOnly)),
        ] {
            for (is_accepted, expected) in [(false, first), (true, later)] {
                let told = failures.iter().min_by_key(|one| telling(one, is_accepted));
                assert_eq!(told, Some(&expected), "{failures:?}");
            }
        }
    }

    #[test]
    fn a_connection_over_a_network_is_protected_and_an_address_holds_no_password() {
        use AddressFault::{Certificates, NotAnAddress, Password, Unprotected};
        for (rest, expected) in [
            ("ana@db1/desk", Ok(true)),
            ("ana@db1,db2:5433/desk?sslmode=verify-full", Ok(true)),
            ("ana@127.0.0.1/desk", Ok(true)),
            ("ana@/desk?host=/run/postgresql", Ok(false)),
            ("ana@%2Frun%2Fpostgresql/desk", Ok(false)),
            ("ana@127.0.0.1:5433/desk?sslmode=disable", Ok(false)),
            (
                "ana@[::1]/desk?connect_timeout=5&sslmode=disable",
                Ok(false),
            ),
            ("ana@db1/desk?sslmode=disable", Err(Unprotected)),
            ("ana@db1/desk?sslmode=require", Err(Unprotected)),
            ("ana:hunter2@db1/desk", Err(Password)),
            ("ana@db1/desk?password=hunter2", Err(Password)),
            ("ana@/desk", Err(NotAnAddress)),
            (
                "ana@localhost/desk?sslmode=disable&hostaddr=203.0.113.9",
                Err(NotAnAddress),
            ),
            (
                "ana@/desk?host=/run/postgresql&hostaddr=203.0.113.9",
                Err(NotAnAddress),
            ),
            ("ana@db1,%2Frun/desk", Err(NotAnAddress)),
            ("ana@db1/desk?sslrootcert=ca.pem", Err(Certificates)),
            ("ana@db1/desk?a=b&sslkey=k.pem", Err(Certificates)),
        ] {
            let url = format!("postgres://{rest}");
            assert_eq!(needs_tls(&url), expected, "{url}");
        }
        assert_eq!(needs_tls("postgresql://ana@db1/desk"), Ok(true));
        assert_eq!(needs_tls("https://db1/desk"), Err(NotAnAddress));
    }
}
