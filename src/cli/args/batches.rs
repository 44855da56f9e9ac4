//! What stands below `batches`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum BatchesCommand {
    /// List the bulk rotations and bulk edits of this profile, the newest first; nothing is sent
    #[command(
        after_help = "Examples:\n  groupdesk batches list\n  groupdesk batches list --unfinished --json | jq '.[].batch'"
    )]
    List {
        /// Only those of which something is left to do
        #[arg(long)]
        unfinished: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Show a batch and each of its groups; nothing is sent
    #[command(
        after_help = "Examples:\n  groupdesk batches show 12\n  groupdesk batches show 12 --json | jq '.items[] | select(.outcome == \"unknown\")'"
    )]
    Show {
        /// Number of the batch
        #[arg(value_name = "BATCH")]
        number: i64,
    },
    /// Check again what was not begun of a bulk rotation or a bulk edit, ask, and do it; nothing is sent twice
    #[command(
        after_help = "Exit codes: as of rotate with many groups.\n\nExamples:\n  groupdesk batches resume 12\n  groupdesk batches resume 12 --yes --json"
    )]
    Resume(ResumeBatch),
}

#[derive(Debug, Args)]
pub(crate) struct ResumeBatch {
    /// Number of the batch
    #[arg(value_name = "BATCH")]
    pub(crate) number: i64,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Of a rotation: write the new tokens to this new file, mode 600, one JSON object on each line
    #[arg(long, value_name = "FILE")]
    pub(crate) token_out: Option<PathBuf>,
}
