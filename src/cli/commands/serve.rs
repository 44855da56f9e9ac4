//! `groupdesk serve`: runs the User Group Service until a signal comes, then lets requests in flight finish.

mod keys;
mod storage;

use std::{
    net::{SocketAddr, TcpListener},
    num::NonZeroU32,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::{
    keys::Keys,
    storage::{Storage, StorageArgs},
};
use super::prelude::*;
use crate::{
    api::{inspect::escape_hidden, wire::DEFAULT_PATH},
    intake::{
        duration::{self, InvalidDuration},
        listen,
    },
    service::{
        AccessLog, Limits, Listening, Service, Setup, Tls, is_host_name,
        store::{Options, Store},
    },
};

/// Run a User Group Service on this machine
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8474", value_parser = listen)]
    listen: SocketAddr,
    /// Serve HTTPS with this chain (PEM); reloaded on SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key (PEM); must not be world-readable
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Allow plain HTTP on an address that other machines can reach, for example behind a TLS proxy
    #[arg(long, conflicts_with = "tls_cert")]
    insecure_http: bool,
    /// Second listener, without a key: /live, /ready, /metrics
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = operators)]
    metrics: Option<SocketAddr>,
    /// Write one JSON line per request, without key and token
    #[arg(long)]
    access_log: bool,
    /// Include group IDs in the access log
    #[arg(long, requires = "access_log")]
    log_ids: bool,
    /// After SIGTERM, report not ready for this long before exiting, so that a load balancer can reroute callers
    #[arg(long, value_name = "DURATION", value_parser = drain)]
    drain: Option<Duration>,
    /// Accept only requests for this Host; repeatable [default: any]
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    hosts: Vec<String>,
    /// Maximum requests per second for each API key; further requests get HTTP 429
    #[arg(long, value_name = "N")]
    rate_limit: Option<NonZeroU32>,
    /// Do not announce the service's behaviour, like services other than groupdesk's own; for tests
    #[arg(long, hide = true)]
    no_facts_header: bool,
    /// Database file [default: groupdesk/service.db in the XDG data folder]
    #[arg(long, global = true, value_name = "FILE")]
    database: Option<PathBuf>,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Keys(Keys),
    /// Set up the schema in a PostgreSQL database, or let another role serve from it
    #[command(
        after_help = "You become the owner of the tables; the role can read and write, but not create tables. To add another \
            role, run the command again with --role. A team directory is a separate schema that the role cannot see."
    )]
    Init {
        /// Database role that may serve from the schema
        #[arg(long, value_name = "NAME")]
        role: Option<String>,
    },
    /// Back up the database to a new private file, even while the service runs
    #[command(
        after_help = "The backup contains every token. To use it, pass it to serve --database."
    )]
    Backup {
        /// New file; its folder must exist
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check the database for damage and rule violations; changes nothing
    #[command(after_help = "Exit codes: 0 no problems, 2 problems found.")]
    Check,
}

impl Run for Serve {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("serve", &["groupdesk serve keys create --environment production --tag Customer", "groupdesk serve --listen 127.0.0.1:8474"],
            &[one("", &[&SERVING]), lines("--access-log", &[&SERVING, &REQUEST_SERVED])]),
        page("serve keys", &["groupdesk serve keys", "groupdesk serve keys list", "groupdesk serve keys revoke 3"], &[array("", &[&keys::KEY])]),
        page("serve keys create", &[
            "groupdesk serve keys create --environment testing --tag Testing > testing.key",
            "groupdesk serve keys create --environment testing --name reports --read-only --expires 90d",
        ], &[one("", &[&keys::MADE])]),
        page("serve keys list", &[
            "groupdesk serve keys list",
            "groupdesk serve keys list --json | jq '.[] | select(.revoked_at == null)'",
        ], &[array("", &[&keys::KEY])]),
        page("serve keys revoke", &["groupdesk serve keys revoke 3", "groupdesk serve keys revoke 3 --database service.db"],
            &[one("ID", &[&keys::KEY])]),
        page("serve init", &[
            "groupdesk serve init --storage postgres://admin@db1/app --role groupdesk_service",
            "groupdesk serve init --storage 'postgres://desk@/app?host=/run/postgresql'",
        ], &[one("", &[&storage::SET_UP])]),
        page("serve backup", &[
            "groupdesk serve backup service-copy.db",
            "groupdesk serve backup --database service.db /backup/service.db",
        ], &[one("FILE", &[&storage::COPY])]),
        page("serve check", &["groupdesk serve check", "groupdesk serve check --database service-copy.db --json"],
            &[array("", &[&storage::CHECK])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let env = Environment::of_process();
        let storage = Storage::of(&self, &env)?;
        match self.command {
            Some(Command::Keys(command)) => keys::run(command, &storage, global),
            Some(Command::Init { role }) => {
                storage::init(&storage, role.as_deref(), global.json)
            }
            Some(Command::Backup { file }) => {
                paths::file_of_person("the copy", &file)?;
                paths::in_a_folder("the copy", &file)?;
                storage::backup(storage.file("backup")?, &file, global.json)
            }
            Some(Command::Check) => storage::check(storage.file("check")?, global.json),
            None if global.read_only => Err(CliError::Usage(
                "--read-only applies to API keys, not to the service; nothing was started. To create a read-only key: \
                 groupdesk serve keys create --environment NAME --read-only"
                    .into(),
            )),
            None => serve(self, &storage, global.json).await,
        }
    }
}

/// Zero as well: it is the same as none.
fn drain(text: &str) -> Result<Duration, InvalidDuration> {
    match duration::wait(text) {
        Err(InvalidDuration::Zero) => Ok(Duration::ZERO),
        read => read,
    }
}

fn host(text: &str) -> Result<String, &'static str> {
    let is_name = is_host_name(text) && !text.contains('*');
    let name = is_name.then(|| text.to_owned());
    name.ok_or(
        "expected a name or an address without a port or *: api.example.com, 192.0.2.7 or [2001:db8::7]",
    )
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    listen::address(text, Some(8474))
}

/// The port of the listener for operators has no default.
fn operators(text: &str) -> Result<SocketAddr, String> {
    listen::address(text, None)
}

async fn serve(arguments: Serve, storage: &Storage, json: bool) -> Result<Exit, CliError> {
    let tls = tls(&arguments)?;
    if tls.is_none() && !arguments.listen.ip().is_loopback() && !arguments.insecure_http {
        return Err(CliError::Usage(format!(
            "other machines can reach {}, and plain HTTP does not protect API keys and tokens; nothing was started. To serve \
             HTTPS, add --tls-cert and --tls-key; behind a TLS proxy, add --insecure-http",
            arguments.listen
        )));
    }
    let (mut signals, mut hang_ups) = if tls.is_some() {
        let (signals, hang_ups) = Signals::with_hang_ups()?;
        (signals, Some(hang_ups))
    } else {
        (Signals::new()?, None)
    };
    more_files();
    if !storage.is_there() {
        // What cannot be served creates no database.
        can_listen(arguments.listen, "--listen")?;
        if let Some(at) = arguments.metrics {
            can_listen(at, "--metrics")?;
        }
    }
    let store = open(storage)?;
    let limits = Limits {
        states_facts: !arguments.no_facts_header,
        rate: arguments.rate_limit,
        ..Limits::default()
    };
    let setup = Setup {
        access_log: access_log(&arguments)?,
        hosts: arguments.hosts.clone(),
        tls: tls.clone(),
    };
    let listen = arguments.listen;
    let running = Service::start(listen, store.clone(), DEFAULT_PATH, limits, setup)
        .await
        .map_err(|error| cannot_listen(listen, &error, "--listen"))?;
    let operators = arguments.metrics.map(|at| {
        let listening = running.expose(at);
        listening.map_err(|error| cannot_listen(at, &error, "--metrics"))
    });
    let operators = operators.transpose()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    say_where(scheme, running.address, operators.as_ref(), json)?;
    let cause = loop {
        let hang_up = async {
            match &mut hang_ups {
                Some(hang_ups) => hang_ups.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            cause = signals.next_cause() => break cause,
            () = hang_up => {}
        }
        if let Some(tls) = &tls {
            reload(tls);
        }
    };
    if let Some(time) = arguments.drain.filter(|_| cause == StopCause::Signal) {
        running.drain();
        output::alarm(&format!(
            "no longer ready; requests are still served for {} s. A second signal exits at once",
            time.as_secs_f64()
        ));
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = signals.next() => return Err(CliError::Interrupted { in_flight: false }),
        }
    }
    output::alarm(output::FINISHING);
    let exit = tokio::select! {
        () = running.stop() => Exit::Done,
        () = signals.next() => return Err(CliError::Interrupted { in_flight: false }),
    };
    if let Some(operators) = operators {
        operators.stop().await;
    }
    // Dropping the last handle waits until everything queued is durable.
    drop(store);
    Ok(exit)
}

/// Opens the storage. Later failures of it are reported on standard error.
fn open(storage: &Storage) -> Result<Store, CliError> {
    // What fails before is the error of the command.
    let is_open = Arc::new(AtomicBool::new(false));
    let reports = Arc::clone(&is_open);
    let options = Options {
        report: Some(Arc::new(move |error| {
            if reports.load(Ordering::SeqCst) {
                output::alarm(&format!("! {error}"));
            }
        })),
        ..Options::default()
    };
    let store = storage.open(options)?;
    let keys = store.list_keys()?;
    is_open.store(true, Ordering::SeqCst);
    if !keys.iter().any(|key| key.is_valid) {
        output::say(&format!(
            "no valid API key. To create one: groupdesk serve keys create --environment NAME{}",
            storage.as_options()
        ));
    }
    Ok(store)
}

fn tls(arguments: &Serve) -> Result<Option<Arc<Tls>>, CliError> {
    let (Some(cert), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) else {
        return Ok(None);
    };
    let tls = Tls::read(cert, key).map_err(CliError::Usage)?;
    Ok(Some(Arc::new(tls)))
}

fn reload(tls: &Tls) {
    match tls.reload() {
        Ok(()) => output::say("certificate reloaded; new connections use it"),
        Err(error) => output::alarm(&format!(
            "! {error}; new connections still use the old certificate"
        )),
    }
}

fn access_log(arguments: &Serve) -> Result<Option<AccessLog>, CliError> {
    if !arguments.access_log {
        return Ok(None);
    }
    // For example because its disk is full.
    let fails = AtomicBool::new(false);
    let write = move |line: &str| {
        // After a line that may be cut.
        let begin = if fails.load(Ordering::Relaxed) {
            "\n"
        } else {
            ""
        };
        let line = format!("{begin}{}\n", escape_hidden(line));
        match output::chunk(&line) {
            Ok(is_read) => {
                if is_read && fails.swap(false, Ordering::Relaxed) {
                    output::alarm("! the access log can be written again");
                }
                if !is_read {
                    let closed = "! the reader of the access log closed it; access logging stopped";
                    output::alarm(closed);
                }
                is_read
            }
            Err(CliError::Output(error) | CliError::DoneUnwritten(error)) => {
                if !fails.swap(true, Ordering::Relaxed) {
                    output::alarm(&format!(
                        "! the access log cannot be written ({error}); requests are not logged until it can"
                    ));
                }
                true
            }
            Err(_) => false,
        }
    };
    let log = AccessLog::start(arguments.log_ids, write);
    let log = log.map_err(CliError::unexpected("no thread for the access log"))?;
    Ok(Some(log))
}

fn say_where(
    scheme: &str,
    address: SocketAddr,
    operators: Option<&Listening>,
    json: bool,
) -> Result<(), CliError> {
    if scheme == "http" && !address.ip().is_loopback() {
        output::alarm(&format!(
            "! other machines can reach {address} over plain HTTP: only a TLS proxy protects API keys and tokens"
        ));
    }
    let url = format!("{scheme}://{address}{DEFAULT_PATH}");
    let metrics = operators.map(|operators| format!("http://{}/metrics", operators.address));
    if json {
        return output::json_line(serving(&url, metrics.as_deref()));
    }
    if let Some(metrics) = metrics {
        output::say(&format!("metrics on {metrics}"));
    }
    output::result(&format!("listening on {url}"))
}

shape! {
    SERVING = "serving", "a service that runs until it is stopped; one line, printed when it listens";
    fn serving(url: &str, metrics: Option<&str>) {
        "listening": text = url, "its URL";
        "metrics": text or "--metrics was not given" = metrics, "the URL of its metrics";
    }
}

// The service writes it: `src/service/access_log.rs`.
shape! {
    REQUEST_SERVED = "request-served", "a request to the service; with or without --json"; {
        "time": time, "when the response was sent, or the client disconnected";
        "operation": text, "get_or_create, update, rotate, other or unreadable";
        "result": text, "ok, the code of the error, or caller_left (the client disconnected)";
        "status": number or "the client disconnected", "HTTP status";
        "duration_ms": number, "milliseconds from the head of the request to the response";
        "key": number or "no key was recognised", "number of the API key";
        "key_name": text or "the key has no name, or none was recognised", "name of the API key";
        "user_group_id": text or "--log-ids was not given, or no ID was read", "the group";
    }
}

fn can_listen(at: SocketAddr, option: &str) -> Result<(), CliError> {
    match TcpListener::bind(at) {
        Ok(_) => Ok(()),
        Err(error) => Err(cannot_listen(at, &error, option)),
    }
}

fn cannot_listen(at: SocketAddr, error: &std::io::Error, option: &str) -> CliError {
    CliError::Usage(format!(
        "cannot listen on {at}: {error}; use another address with {option}"
    ))
}

/// Raises the limit of open files: each connection takes a descriptor, and many systems allow few by default. A refusal
/// only means fewer connections.
fn more_files() {
    const ENOUGH: u64 = 4096;
    let limit = getrlimit(Resource::Nofile);
    let enough = limit.maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if limit.current.is_some_and(|current| current < enough) {
        let current = Some(enough);
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    }
}
