//! The arguments of `man`.

use std::path::PathBuf;

use clap::Args;

/// Print the manual page, or write all pages into a folder
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk man | man -l -\n  groupdesk man ~/.local/share/man/man1"
)]
pub(crate) struct Manual {
    /// Folder for one page per command; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
