//! The subcommands of `batches`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Mutation, Output, Pace};

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
        #[command(flatten)]
        output: Output,
    },
    /// Check again what was not begun of a bulk rotation or a bulk edit, ask, and do it; nothing is sent twice
    #[command(
        after_help = "Exit codes: as of rotate with many groups.\n\nExamples:\n  groupdesk batches resume 12\n  groupdesk batches resume 12 --yes --json"
    )]
    Resume(ResumeBatch),
    /// Read the groups of a batch whose end is unknown, and tell how the batch stands then; rotates and updates nothing
    #[command(
        after_help = "Exit codes: 0 nothing of it is unknown, 7 something is.\n\nExamples:\n  groupdesk batches check 12\n  groupdesk batches check 12 --json | jq .unknown"
    )]
    Check {
        /// Number of the batch
        #[arg(value_name = "BATCH")]
        number: i64,
    },
    /// Do again, as a new batch, what was certainly not done in one; never what is unknown
    #[command(
        after_help = "Exit codes: as of rotate with many groups.\n\nExamples:\n  groupdesk batches retry 12 --dry-run\n  groupdesk batches retry 12 --yes --token-out new-tokens.jsonl"
    )]
    Retry {
        #[command(flatten)]
        batch: AgainBatch,
        /// Of a rotation: write the new tokens to this new file, mode 600, one JSON object on each line
        #[arg(long, value_name = "FILE")]
        token_out: Option<PathBuf>,
    },
    /// Set back what a bulk edit set, as a new batch: only where it still is what the edit made of it
    #[command(
        after_help = "Exit codes: as of rotate with many groups.\n\nExamples:\n  groupdesk batches reverse 12 --dry-run\n  groupdesk batches reverse 12 --yes --json"
    )]
    Reverse(AgainBatch),
}

/// A batch that is made of another one.
#[derive(Debug, Args)]
pub(crate) struct AgainBatch {
    /// Number of the batch
    #[arg(value_name = "BATCH")]
    pub(crate) number: i64,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    /// Why, for the list of batches
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Of an edit: also where what cannot be read, and is sent along, was last sent more than 30 days ago
    #[arg(long)]
    pub(crate) include_old: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeBatch {
    /// Number of the batch
    #[arg(value_name = "BATCH")]
    pub(crate) number: i64,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Also where another process works on it: both do, and no group is taken twice
    #[arg(long)]
    pub(crate) join: bool,
    /// Of a rotation: write the new tokens to this new file, mode 600, one JSON object on each line
    #[arg(long, value_name = "FILE")]
    pub(crate) token_out: Option<PathBuf>,
}
