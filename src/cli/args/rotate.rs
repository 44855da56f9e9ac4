//! The options of `rotate`, for one group and for many.

use clap::Args;

use super::{BatchArgs, Exists, Mutation, Selection, TokenArgs, which_groups};
use crate::domain::group::UserGroupId;

/// Rotate the token of one or more groups
#[derive(Debug, Args)]
#[command(
    group = which_groups().args(["older_than", "token_stdin"]),
    override_usage = "groupdesk rotate [OPTIONS] <ID>...\n       \
                      groupdesk rotate [OPTIONS] <--filter <TEXT>|--older-than <AGE>|--from <FILE>|--token-stdin>"
)]
pub(crate) struct Rotate {
    /// Rotate the group of the token on standard input; if unknown, add its ID
    #[arg(long, conflicts_with_all = ["filter", "older_than", "from"])]
    pub(crate) token_stdin: bool,
    /// Reason to record in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) bulk: BatchArgs,
}

impl Rotate {
    /// The id, where it is about one group and nothing of bulk was said.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        self.groups.single().filter(|_| !self.bulk.is_given())
    }
}
