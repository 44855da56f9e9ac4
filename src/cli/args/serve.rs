//! What stands below `serve`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Subcommand};

use crate::config::duration;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8474")]
    pub(crate) listen: SocketAddr,
    /// A second listener, for operators: /live, /ready and /metrics, without a key
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Write one JSON line per request to standard output; never a key or a token
    #[arg(long)]
    pub(crate) access_log: bool,
    /// Name the group in those lines, too
    #[arg(long, requires = "access_log")]
    pub(crate) log_ids: bool,
    /// After SIGTERM be not ready for so long, and only then end: a balancer has time to lead callers elsewhere
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) drain: Option<Duration>,
    /// Say nothing of what updates keep, as a service that is not groupdesk's own does; for tests
    #[arg(long, hide = true)]
    pub(crate) no_facts_header: bool,
    /// Database file [default: groupdesk/service.db in the XDG data folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) database: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Make, list and revoke API keys
    #[command(
        subcommand,
        after_help = "Examples:\n  groupdesk serve keys list\n  groupdesk serve keys revoke 3"
    )]
    Keys(Keys),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make an API key and print it, this once; with --read-only one that may get, but change nothing
    #[command(
        after_help = "Examples:\n  groupdesk serve keys create --environment testing --tag Testing > testing.key\n  \
                      groupdesk serve keys create --environment testing --read-only"
    )]
    Create {
        /// The environment the key belongs to; made if there is none of that name
        #[arg(long, value_name = "NAME")]
        environment: String,
        /// The tag of the environment; needed where another environment has a group of the same id
        #[arg(long, value_parser = ["Customer", "Testing"])]
        tag: Option<String>,
    },
    /// List the keys, never the keys themselves
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
