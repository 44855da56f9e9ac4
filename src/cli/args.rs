//! What can be typed on the command line: options, commands, their words. It decides nothing.

mod bulk;
mod exchange;
mod get;
mod update;

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};

pub(super) use bulk::Bulk;
pub(super) use exchange::{Apply, Export, FileFormat, Import};
pub(super) use get::Get;
pub(super) use update::Update;

use super::{completions::Completions, doctor::Doctor, exit::codes, handoff::HandOff, man::Manual};
use crate::domain::group::{InvalidId, UserGroupId};

/// A safe terminal console for a User Group Service.
#[derive(Debug, Parser)]
#[command(
    name = "groupdesk",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = format!(
        "Without a command, groupdesk opens the console.\n\n\
         Examples:\n  groupdesk demo\n  groupdesk --profile eu-live list\n\n{}",
        codes()
    )
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Global {
    /// Configuration file [default: groupdesk/config.toml in the XDG configuration folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Profile to work with
    #[arg(long, short = 'P', global = true, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// The directory's database file
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) directory: Option<PathBuf>,
    /// Refuse every change
    #[arg(long, global = true)]
    pub(super) read_only: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Never ask; what would ask is refused unless --yes is said
    #[arg(long, global = true)]
    pub(super) no_input: bool,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub(super) ascii: bool,
    /// The console as lines that are appended, for screen readers: no boxes, nothing drawn in place
    #[arg(long, global = true)]
    pub(super) plain: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the groups the directory knows; nothing is sent
    #[command(
        after_help = "Examples:\n  groupdesk list\n  groupdesk list --json | jq -r '.[].user_group_id'"
    )]
    List,
    /// Show what the directory knows of one group; nothing is sent
    #[command(after_help = "Example:\n  groupdesk show acme-eu")]
    Show {
        #[arg(value_parser = user_group_id)]
        id: UserGroupId,
    },
    Get(Get),
    /// Create a group; one that exists is returned unchanged
    #[command(
        after_help = "Examples:\n  groupdesk create acme-eu --name 'Acme Europe' --map 40=213 --property 'tier=\"gold\"'\n  \
                            groupdesk create acme-eu --mapping mapping.json --properties - --dry-run < properties.json"
    )]
    Create(Create),
    Update(Update),
    /// Rotate the token of a group, or of many
    #[command(
        after_help = "Examples:\n  groupdesk rotate acme-eu --reason 'leaked in a log' --token-out acme.token\n  \
                            groupdesk rotate acme-eu --yes --json --reveal\n  \
                            groupdesk rotate --older-than 90d --dry-run\n  \
                            groupdesk rotate --from leaked.txt --yes --token-out new-tokens.jsonl\n  \
                            groupdesk rotate --resume"
    )]
    Rotate(Rotate),
    /// Tell who did what to which group, the newest first
    #[command(
        after_help = "Examples:\n  groupdesk history --limit 20\n  groupdesk history acme-eu --json"
    )]
    History {
        #[arg(value_parser = user_group_id)]
        id: Option<UserGroupId>,
        /// At most this many lines
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// List rotations of this profile, the newest first; settle or abandon open ones
    #[command(
        after_help = "Examples:\n  groupdesk rotations --open\n  groupdesk rotations --json | jq '.[] | select(.state == \"unknown\")'\n  \
                            groupdesk rotations settle"
    )]
    Rotations(Rotations),
    /// Tell which group has or had a token, read from standard input; nothing is sent
    #[command(
        after_help = "Exit codes: 0 found, 1 not found.\n\nExamples:\n  groupdesk whose\n  groupdesk whose --json < leaked.token"
    )]
    Whose {
        /// Taken so that it can be refused without being repeated.
        #[arg(hide = true, value_name = "NOTHING")]
        token: Vec<OsString>,
    },
    /// Bring ids into the directory from CSV or JSON; with --create and --update also to the service
    Import(Import),
    /// Write what the directory knows, without tokens; nothing is sent
    Export(Export),
    /// Make the groups as files say: create what is missing, update what differs
    Apply(Apply),
    /// Add, list, show, check and remove profiles; store their keys in the kernel's keyring
    #[command(subcommand)]
    Profile(super::profile::Command),
    /// Try groupdesk on sample groups; on this machine only, thrown away at the end
    #[command(after_help = "Examples:\n  groupdesk demo\n  groupdesk demo --groups 100000")]
    Demo(Demo),
    /// Run the User Group Service itself
    #[command(
        after_help = "Examples:\n  groupdesk serve keys create --environment production --tag Customer\n  \
                            groupdesk serve --listen 127.0.0.1:8474"
    )]
    Serve(Serve),
    Doctor(Doctor),
    Completions(Completions),
    Man(Manual),
}

#[derive(Debug, Args)]
pub(super) struct Create {
    #[arg(value_parser = user_group_id)]
    pub(super) id: UserGroupId,
    #[command(flatten)]
    pub(super) fields: Fields,
    #[command(flatten)]
    pub(super) mutation: Mutation,
    #[command(flatten)]
    pub(super) token: TokenArgs,
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// One group, or several
    #[arg(value_name = "ID", value_parser = user_group_id,
          required_unless_present_any = ["filter", "older_than", "from", "resume", "retry_failed", "token_stdin"])]
    pub(super) ids: Vec<UserGroupId>,
    /// Rotate the group that has the token on standard input; an ID names the group where it is not known here
    #[arg(long, conflicts_with_all = ["filter", "older_than", "from", "resume", "retry_failed"])]
    pub(super) token_stdin: bool,
    /// Why, for the history
    #[arg(long)]
    pub(super) reason: Option<String>,
    #[command(flatten)]
    pub(super) assurance: Exists,
    #[command(flatten)]
    pub(super) mutation: Mutation,
    #[command(flatten)]
    pub(super) token: TokenArgs,
    #[command(flatten)]
    pub(super) bulk: Bulk,
}

impl Rotate {
    /// The id, where it is about one group and nothing of bulk was said.
    pub(super) fn single(&self) -> Option<&UserGroupId> {
        match self.ids.as_slice() {
            [id] if !self.bulk.is_said() => Some(id),
            _ => None,
        }
    }
}

/// What a group shall be; what is not said stays.
#[derive(Debug, Default, Args)]
pub(super) struct Fields {
    /// Name of the group
    #[arg(long)]
    pub(super) name: Option<String>,
    /// A row of the mapping: schema id, =, data source id
    #[arg(long, value_name = "SCHEMA=SOURCE")]
    pub(super) map: Vec<String>,
    /// The whole mapping, as a JSON object of texts; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(super) mapping: Option<PathBuf>,
    /// A property; the value is JSON
    #[arg(long, value_name = "KEY=JSON")]
    pub(super) property: Vec<String>,
    /// All properties, as a JSON object; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(super) properties: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Exists {
    /// The group exists, though the directory does not know it; an id that does not exist would be created
    #[arg(long)]
    pub(super) exists: bool,
}

#[derive(Debug, Args)]
pub(super) struct Mutation {
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
    /// Show what would be sent and changed; change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// The two ways a token comes out.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// Print the token
    #[arg(long)]
    pub(super) reveal: bool,
    /// Write the token to this new file, mode 600
    #[arg(long, value_name = "FILE")]
    pub(super) token_out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Rotations {
    /// Only those of which something is still to be found out
    #[arg(long)]
    pub(super) open: bool,
    #[command(subcommand)]
    pub(super) command: Option<RotationsCommand>,
}

#[derive(Debug, Subcommand)]
pub(super) enum RotationsCommand {
    /// Find out how open rotations ended, by reading their groups; rotates nothing
    #[command(
        after_help = "Exit codes: 0 all settled, 7 something is still unknown or contradicts itself.\n\n\
                      Examples:\n  groupdesk rotations settle\n  groupdesk rotations settle 12 13"
    )]
    Settle {
        /// Numbers of rotations [default: all open ones]
        #[arg(value_name = "ID")]
        ids: Vec<i64>,
    },
    /// Close an open rotation without finding out; its token may then be rotated again
    #[command(
        after_help = "Example:\n  groupdesk rotations abandon 12 --reason 'the customer is gone'"
    )]
    Abandon {
        /// Number of the rotation
        #[arg(value_name = "ID")]
        id: i64,
        /// Why, for the history
        #[arg(long)]
        reason: String,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    #[command(name = "handoff")]
    HandOff(HandOff),
}

#[derive(Debug, Args)]
pub(super) struct Demo {
    /// So many generated groups instead of the samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(super) groups: Option<u32>,
    /// Open no console; print the variables to reach the demo from another shell, and stay until Ctrl-C
    #[arg(long, hide = true)]
    pub(super) hold: bool,
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8474")]
    pub(super) listen: SocketAddr,
    /// Database file [default: groupdesk/service.db in the XDG data folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) database: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Option<ServeCommand>,
}

#[derive(Debug, Subcommand)]
pub(super) enum ServeCommand {
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Keys(Keys),
}

#[derive(Debug, Subcommand)]
pub(super) enum Keys {
    /// Make an API key and print it, this once; with --read-only one that may get, but change nothing
    #[command(
        after_help = "Example:\n  (umask 077; groupdesk serve keys create --environment testing --tag Testing > testing.key)"
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
    List,
    /// Revoke a key at once
    Revoke {
        /// Number of the key, as the list shows it
        id: i64,
    },
}

pub(super) fn user_group_id(text: &str) -> Result<UserGroupId, InvalidId> {
    UserGroupId::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_id_alone_is_no_bulk() {
        let rotate = |line: &str| {
            let cli = Cli::try_parse_from(line.split(' ')).expect("valid");
            match cli.command {
                Some(Command::Rotate(rotate)) => rotate.single().is_some(),
                _ => false,
            }
        };
        assert!(rotate("groupdesk rotate acme --yes --reveal"));
        assert!(!rotate("groupdesk rotate acme globex"));
        assert!(!rotate("groupdesk rotate acme --stop-after 1"));
        assert!(!rotate("groupdesk rotate --resume"));
        assert!(Cli::try_parse_from(["groupdesk", "rotate"]).is_err());
        assert!(Cli::try_parse_from(["groupdesk", "rotate", "a", "--filter", "b"]).is_err());
    }
}
