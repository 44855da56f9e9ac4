//! The options of `get`, for one, several or all groups.

use clap::Args;

use super::{Exists, Pace, Selection, TokenArgs, which_groups};
use crate::domain::group::UserGroupId;

/// Read a group from the service, or several; with --refresh-all every known group again
#[derive(Debug, Args)]
#[command(
    after_help = "--refresh-all tells what was changed elsewhere since the groups were last seen here. To read a\n\
                  group that had vanished creates it again, empty: that is an alarm (exit 3) and stops it. Of\n\
                  several groups the first is read alone, so that a wrong environment gets no more than one.\n\n\
                  Examples:\n  groupdesk get acme-eu\n  groupdesk get acme-eu --token-out acme.token\n  \
                  groupdesk get --filter label:vip --token-out vip.jsonl\n  \
                  groupdesk get --refresh-all --json\n  groupdesk get --refresh-all --resume",
    group = which_groups().arg("refresh_all")
)]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
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
    /// Read every known group again; those that only files have told of are left out, unless --exists is given
    #[arg(long, conflicts_with_all = ["ids", "from", "sort", "reverse", "limit", "reveal", "token_out"])]
    pub(crate) refresh_all: bool,
    /// Go on with what was interrupted: what was seen since it began is not read again
    #[arg(long, requires = "refresh_all", conflicts_with_all = ["ids", "from"])]
    pub(crate) resume: bool,
    /// Go on past groups that had vanished; each of them is created again, empty, for ever
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
    /// Do not ask, where --exists or --keep-going may create groups
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Say what would be read; send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Reading {
    /// `--yes` alone changes nothing: one group is read without a question.
    fn is_given(&self) -> bool {
        self.refresh_all || self.keep_going || self.pace.is_given() || self.dry_run
    }
}
