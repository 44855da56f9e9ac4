//! The arguments and subcommands of `serve`.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use clap::{Args, Subcommand};

use crate::{
    intake::{
        duration::{self, InvalidDuration},
        listen,
    },
    service::{is_host_name, keys::Expiry},
};

/// Zero, too: it is the same as none.
fn drain(text: &str) -> Result<Duration, InvalidDuration> {
    match duration::wait(text) {
        Err(InvalidDuration::Zero) => Ok(Duration::ZERO),
        read => read,
    }
}

fn host(text: &str) -> Result<String, &'static str> {
    let is_name = is_host_name(text);
    let name = is_name.then(|| text.to_owned());
    name.ok_or(
        "expected a name or an address without a port: api.example.com, 192.0.2.7 or [2001:db8::7]",
    )
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    listen::address(text, Some(8474))
}

/// The port of the listener for operators has no default.
fn operators(text: &str) -> Result<SocketAddr, String> {
    listen::address(text, None)
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8474", value_parser = listen)]
    pub(crate) listen: SocketAddr,
    /// Serve HTTPS with this chain (PEM); reloaded on SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key (PEM); must not be world-readable
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Allow plain HTTP on an address that other machines can reach, for example behind a TLS proxy
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) insecure_http: bool,
    /// Second listener, without a key: /live, /ready, /metrics
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = operators)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Write one JSON line per request, without key and token
    #[arg(long)]
    pub(crate) access_log: bool,
    /// Include group IDs in the access log
    #[arg(long, requires = "access_log")]
    pub(crate) log_ids: bool,
    /// After SIGTERM, report not ready for this long before exiting, so that a load balancer can reroute callers
    #[arg(long, value_name = "DURATION", value_parser = drain)]
    pub(crate) drain: Option<Duration>,
    /// Answer only requests for this Host; repeatable [default: any]
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    pub(crate) hosts: Vec<String>,
    /// Maximum requests per second and API key; more get 429
    #[arg(long, value_name = "N")]
    pub(crate) rate_limit: Option<NonZeroU32>,
    /// Do not announce the service's behaviour, like services other than groupdesk's own; for tests
    #[arg(long, hide = true)]
    pub(crate) no_facts_header: bool,
    /// Database file [default: groupdesk/service.db in the XDG data folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) database: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) storage: Storage,
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
}

/// A database on a server instead of a file.
#[derive(Debug, Args)]
pub(crate) struct Storage {
    /// Store data in a PostgreSQL database, shared by any number of processes: postgres://USER@HOST/DATABASE
    #[arg(
        long = "storage",
        global = true,
        value_name = "URL",
        conflicts_with = "database"
    )]
    pub(crate) url: Option<String>,
    /// Schema in the PostgreSQL database
    #[arg(
        long = "storage-schema",
        global = true,
        value_name = "NAME",
        default_value = "groupdesk_service"
    )]
    pub(crate) schema: String,
    /// File with the database password; only you may read it
    #[arg(
        long = "storage-password-file",
        global = true,
        value_name = "FILE",
        conflicts_with = "database"
    )]
    pub(crate) password: Option<PathBuf>,
    /// Additional CA certificates to trust for the database (PEM)
    #[arg(
        long = "storage-ca",
        global = true,
        value_name = "FILE",
        conflicts_with = "database"
    )]
    pub(crate) ca: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Create, list and revoke API keys
    #[command(
        subcommand,
        after_help = "Examples:\n  groupdesk serve keys list\n  groupdesk serve keys revoke 3"
    )]
    Keys(Keys),
    /// Set up the schema in a PostgreSQL database; --role may then serve from it
    #[command(
        after_help = "You become the owner of the tables; the role can read and write, but not create tables. A team directory \
        is a separate schema that the role cannot see.\n\n\
                      Examples:\n  groupdesk serve init --storage postgres://admin@db1/app --role groupdesk_service\n  \
                      groupdesk serve init --storage 'postgres://desk@/app?host=/run/postgresql'"
    )]
    Init {
        /// Database role
        #[arg(long, value_name = "NAME")]
        role: Option<String>,
    },
    /// Back up the database to a new private file, even while the service runs
    #[command(
        after_help = "The backup contains every token. To use it, pass it to serve --database.\n\n\
                      Examples:\n  groupdesk serve backup service-copy.db\n  \
                      groupdesk serve backup --database service.db /backup/service.db"
    )]
    Backup {
        /// New file; its folder must exist
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check the database for damage and rule violations; changes nothing
    #[command(after_help = "Exit codes: 0 no problems, 2 problems found.\n\n\
                      Examples:\n  groupdesk serve check\n  groupdesk serve check --database service-copy.db --json")]
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create an API key and print it once; with --read-only, the key can read but not change groups
    #[command(
        after_help = "Examples:\n  groupdesk serve keys create --environment testing --tag Testing > testing.key\n  \
                      groupdesk serve keys create --environment testing --name reports --read-only --expires 90d"
    )]
    #[command(visible_alias = "add")]
    Create(CreateKey),
    /// List API keys by number, without the keys themselves
    #[command(after_help = "Examples:\n  groupdesk serve keys list\n  \
                      groupdesk serve keys list --json | jq '.[] | select(.revoked_at == null)'")]
    List,
    /// Revoke a key at once
    #[command(
        after_help = "Examples:\n  groupdesk serve keys revoke 3\n  groupdesk serve keys revoke 3 --database service.db"
    )]
    Revoke {
        /// Number of the key, as the list shows it
        id: i64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    /// Environment of the key; created if it does not exist
    #[arg(long, value_name = "NAME")]
    pub(crate) environment: String,
    /// Tag of the environment; needed if another environment has a group with the same ID
    #[arg(long, value_parser = ["Customer", "Testing"])]
    pub(crate) tag: Option<String>,
    /// Who or what uses the key, such as a team or a host; shown by `keys list`, the access log and metrics
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// When the key expires: 90d, 2027-01-31 or 2027-01-31T12:00:00Z [default: never]
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<Expiry>,
}
