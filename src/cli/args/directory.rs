//! The subcommands of `directory`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::directory;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Copy the directory into a new file, whole, also while it is in use
    #[command(
        after_help = "To move it: copy that file to the other machine, and name it there with --directory, or put it in place of\n\
                      ~/.local/share/groupdesk/directory.db. Do not work with both.\n\n\
                      Examples:\n  groupdesk directory backup directory-2026-11.db\n  \
                      groupdesk directory backup /mnt/safe/directory.db --json"
    )]
    Backup {
        /// The new file, mode 600
        file: PathBuf,
    },
    /// Set up a directory for a team, in a schema of a PostgreSQL database
    #[command(
        after_help = "Needs the right to make a schema in that database. Then let the others in with `directory grant`, and name it\n\
                      as url in [directory] of each configuration file.\n\n\
                      Examples:\n  groupdesk directory init postgres://ana@db1/desk\n  \
                      groupdesk directory init --print | psql desk"
    )]
    Init {
        /// The database; else the directory that is configured
        url: Option<String>,
        /// Print the SQL instead, for whoever runs the database; the user in the URL becomes the admin
        #[arg(long)]
        print: bool,
    },
    /// Copy a directory's file into that of a team, which was set up and is empty; or that of a team into a new file
    #[command(
        after_help = "Everything comes along: groups, history, journals, and the key of the fingerprints. It is read\n\
                      back and compared before it is committed. Of drafts and bindings a file gets those that you see.\n\n\
                      Examples:\n  groupdesk directory copy ~/.local/share/groupdesk/directory.db\n  \
                      groupdesk directory copy postgres://ana@db1/desk alone.db"
    )]
    Copy {
        /// The file, or the address of the database
        from: String,
        /// The other one; else the directory that is configured
        to: Option<String>,
    },
    /// The same, and from then on refuse everything where it came from
    #[command(
        after_help = "Where it came from keeps all of it, and says where it is now.\n\n\
                      Examples:\n  groupdesk directory move ~/.local/share/groupdesk/directory.db\n  \
                      groupdesk directory move postgres://ana@db1/desk alone.db"
    )]
    Move {
        /// The file, or the address of the database
        from: String,
        /// The other one; else the directory that is configured
        to: Option<String>,
    },
    /// Show which directory is in use: where, as whom, and what is open in it
    #[command(
        after_help = "Examples:\n  groupdesk directory status\n  groupdesk directory status --json"
    )]
    Status,
    /// Bring the tables of a team's directory to the version of this groupdesk
    #[command(
        after_help = "Nobody writes meanwhile, and it is done whole or not at all. Before it, make a backup with pg_dump.\n\n\
                      Examples:\n  groupdesk directory migrate --check\n  groupdesk directory migrate"
    )]
    Migrate {
        /// Only say what would be done
        #[arg(long)]
        check: bool,
        /// Print the SQL instead, for whoever runs the database
        #[arg(long, conflicts_with = "check")]
        print: bool,
    },
    /// Let somebody work with the directory of a team
    #[command(
        after_help = "Examples:\n  groupdesk directory grant ben operator\n  groupdesk directory grant cleo viewer --json"
    )]
    Grant {
        /// Who: a role of the database
        name: String,
        /// What for
        role: Role,
    },
    /// Remove that right again
    #[command(
        after_help = "Examples:\n  groupdesk directory revoke ben\n  groupdesk directory revoke ben --json"
    )]
    Revoke {
        /// Who: a role of the database
        name: String,
    },
}

/// What somebody may do in the directory of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Sees it, and changes nothing; needs no API key
    Viewer,
    /// Reads and writes; takes nothing out of history and journals
    Operator,
    /// Lets others in, migrates, copies and moves
    Admin,
}

impl From<Role> for directory::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Operator => Self::Operator,
            Role::Admin => Self::Admin,
        }
    }
}
