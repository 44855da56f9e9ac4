//! What stands below `directory`.

use std::path::PathBuf;

use clap::Subcommand;

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
}
