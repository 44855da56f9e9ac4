//! The options of `get`, for one, several or all groups.

use clap::Args;

use super::{Exists, Pace, Selection, TokenArgs, which_groups};
use crate::domain::group::UserGroupId;

/// Read one or more groups from the service; --refresh-all reads every known group
#[derive(Debug, Args)]
#[command(
    after_help = "--refresh-all reports what changed elsewhere since each group was last seen here. Reading a group that has \
        vanished creates it again, empty: this raises an alarm and stops the run (exit 3). The first of several \
        groups is read alone, so that a wrong environment gets at most one new group.",
    group = which_groups().arg("refresh_all")
)]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Get {
    /// The id, where it is about one group and nothing of several was said.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        self.groups.single().filter(|_| !self.reading.is_given())
    }
}

/// Reading several groups.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Reading {
    /// Read all known groups; those known only from files need --exists
    #[arg(long, conflicts_with_all = ["ids", "from", "sort", "reverse", "limit", "reveal", "token_out"])]
    pub(crate) refresh_all: bool,
    /// Resume an interrupted --refresh-all; skips groups it has already read
    #[arg(long, requires = "refresh_all", conflicts_with_all = ["ids", "from"])]
    pub(crate) resume: bool,
    /// Continue past vanished groups; each is created again, empty, for good
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
    /// Skip the confirmation that --exists and --keep-going need
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Show what would be read, without sending anything
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Reading {
    /// `--yes` alone changes nothing: one group is read without a question.
    fn is_given(&self) -> bool {
        self.refresh_all || self.keep_going || self.pace.is_given() || self.dry_run
    }
}
