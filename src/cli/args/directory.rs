//! The subcommands of `directory`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::directory;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Back up the whole directory to a new file, even while it is in use
    #[command(
        after_help = "To move the directory, copy the backup to the other machine and pass it with --directory, or replace \
        ~/.local/share/groupdesk/directory.db with it. Then use only one of the two.\n\n\
                      Examples:\n  groupdesk directory backup directory-2026-11.db\n  \
                      groupdesk directory backup /mnt/safe/directory.db --json"
    )]
    Backup {
        /// New file (mode 600)
        file: PathBuf,
    },
    /// Set up a directory for a team, in a schema of a PostgreSQL database
    #[command(
        after_help = "Requires the CREATE privilege on that database. Afterwards, add people with `directory grant`, and set url \
        under [directory] in each configuration file.\n\n\
                      Examples:\n  groupdesk directory init postgres://ana@db1/desk\n  \
                      groupdesk directory init --print | psql desk"
    )]
    Init {
        /// Database URL [default: the configured directory]
        url: Option<String>,
        /// Print the SQL for the database administrator instead of running it; the user in the URL becomes the admin
        #[arg(long)]
        print: bool,
    },
    /// Copy a directory file into an empty team directory, or a team directory into a new file
    #[command(
        after_help = "Copies everything: groups, history, journals and the fingerprint key. Reads the copy back and compares it \
        before committing. A file gets only the drafts and bindings that you can see.\n\n\
                      Examples:\n  groupdesk directory copy ~/.local/share/groupdesk/directory.db\n  \
                      groupdesk directory copy postgres://ana@db1/desk alone.db"
    )]
    Copy {
        /// Source file or database URL
        from: String,
        /// Target file or database URL [default: the configured directory]
        to: Option<String>,
    },
    /// Copy a directory as `directory copy` does, then block all access to the source
    #[command(
        after_help = "The source keeps its data and reports the new location.\n\n\
                      Examples:\n  groupdesk directory move ~/.local/share/groupdesk/directory.db\n  \
                      groupdesk directory move postgres://ana@db1/desk alone.db"
    )]
    Move {
        /// Source file or database URL
        from: String,
        /// Target file or database URL [default: the configured directory]
        to: Option<String>,
    },
    /// Show the directory in use: its location, your database role and open rotations
    #[command(
        after_help = "Examples:\n  groupdesk directory status\n  groupdesk directory status --json"
    )]
    Status,
    /// Upgrade the tables of a team directory to the version of this groupdesk
    #[command(
        after_help = "Blocks all writes while it runs, and upgrades either everything or nothing. Make a backup with pg_dump \
        first.\n\n\
                      Examples:\n  groupdesk directory migrate --check\n  groupdesk directory migrate"
    )]
    Migrate {
        /// Show what would be done, without doing it
        #[arg(long)]
        check: bool,
        /// Print the SQL for the database administrator instead of running it
        #[arg(long, conflicts_with = "check")]
        print: bool,
    },
    /// List who has access to a team directory, and in which role
    #[command(
        after_help = "Lists database roles, also those that have access as members of another role. Database superusers have \
        access as well, and are not listed.\n\n\
                      Examples:\n  groupdesk directory members\n  groupdesk directory members --json"
    )]
    Members,
    /// Give a database role access to a team directory
    #[command(
        after_help = "Examples:\n  groupdesk directory grant ben operator\n  groupdesk directory grant cleo viewer --json"
    )]
    Grant {
        /// Database role
        name: String,
        /// Access level
        role: Role,
    },
    /// Remove a database role's access to a team directory
    #[command(
        after_help = "Examples:\n  groupdesk directory revoke ben\n  groupdesk directory revoke ben --json"
    )]
    Revoke {
        /// Database role
        name: String,
    },
}

/// Access of a role to a team directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Can read the directory; needs no API key
    Viewer,
    /// Can read and write, but not delete history or journals
    Operator,
    /// Can also grant access, migrate, copy and move
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
