//! The subcommands of `batches`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Mutation, Pace};

/// List bulk rotations and bulk edits; show, check, resume, retry or reverse one
#[derive(Debug, Args)]
pub(crate) struct Batches {
    /// Show only batches with work left
    #[arg(long)]
    unfinished: bool,
    #[command(subcommand)]
    command: Option<BatchesCommand>,
}

impl Batches {
    /// Without a subcommand, the batches are listed.
    pub(crate) fn chosen(self) -> BatchesCommand {
        match self.command {
            None => BatchesCommand::List {
                unfinished: self.unfinished,
            },
            Some(BatchesCommand::List { unfinished }) => BatchesCommand::List {
                unfinished: unfinished || self.unfinished,
            },
            Some(other) => other,
        }
    }

    /// Whether an option of the list stands before another subcommand, which would ignore it.
    pub(crate) fn has_stray_option(&self) -> bool {
        let is_list = matches!(&self.command, None | Some(BatchesCommand::List { .. }));
        self.unfinished && !is_list
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum BatchesCommand {
    /// List this profile's batches, newest first, without contacting the service
    List {
        /// Show only batches with work left
        #[arg(long)]
        unfinished: bool,
    },
    /// Show a batch and each of its groups, without contacting the service
    Show {
        /// Number of the batch
        #[arg(value_name = "BATCH")]
        number: i64,
    },
    /// Resume a batch with the groups that were not started; sends nothing twice
    #[command(
        after_help = "Checks these groups again and asks for confirmation.\n\nExit codes: like `rotate` with several groups."
    )]
    Resume(ResumeBatch),
    /// Read the groups of a batch whose result is unknown, and show the batch
    #[command(
        after_help = "Rotates and updates nothing.\n\nExit codes: 0 all results are known, 7 some are unknown."
    )]
    Check {
        /// Number of the batch
        #[arg(value_name = "BATCH")]
        number: i64,
    },
    /// Retry the groups of a batch that were certainly not changed, as a new batch
    #[command(
        after_help = "Never retries a group with an unknown result.\n\nExit codes: like `rotate` with several groups."
    )]
    Retry {
        #[command(flatten)]
        batch: AgainBatch,
        /// For a rotation: write the new tokens to this new file (mode 600), one JSON object per line
        #[arg(long, value_name = "FILE", help_heading = None::<&str>)]
        token_out: Option<PathBuf>,
    },
    /// Undo a bulk edit as a new batch, in every group that still has the value it set
    #[command(after_help = "Exit codes: like `rotate` with several groups.")]
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
    /// Reason to record with the batch
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// For an edit: include groups whose resent values were last sent over 30 days ago
    #[arg(long)]
    pub(crate) include_old: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeBatch {
    /// Number of the batch [default: the newest unfinished one]
    #[arg(value_name = "BATCH")]
    pub(crate) number: Option<i64>,
    /// Skip the confirmation prompt
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Join a batch that another process is running; no group is processed twice
    #[arg(long)]
    pub(crate) join: bool,
    /// For a rotation: write the new tokens to this new file (mode 600), one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) token_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pace: Pace,
}
