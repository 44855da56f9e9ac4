//! What stands below `batches`, and what `attention`, `note` and `label` take.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::user_group_id;
use crate::domain::{annotation::Label, group::UserGroupId};

#[derive(Debug, Args)]
pub(crate) struct AttentionArgs {
    /// Of all profiles, not only of this one
    #[arg(long)]
    pub(crate) all: bool,
}

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

/// Write a line beside a group, or show it; kept in the directory, never sent
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk note acme-eu\n  groupdesk note acme-eu 'SSO change until 1 Dec, call first'\n  groupdesk note acme-eu --remove"
)]
pub(crate) struct Note {
    /// The group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: UserGroupId,
    /// The note, one line [default: show it]
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Take the note away
    #[arg(long, conflicts_with = "text")]
    pub(crate) remove: bool,
}

/// Give groups labels, take them away, or show them; kept in the directory, never sent
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk label acme-eu acme-us --add vip --remove trial\n  groupdesk label acme-eu --json"
)]
pub(crate) struct Labels {
    /// The groups
    #[arg(required = true, value_name = "ID", value_parser = user_group_id)]
    pub(crate) ids: Vec<UserGroupId>,
    /// A label to add; letters, digits and - _ . / :
    #[arg(long, value_name = "LABEL", value_parser = label)]
    pub(crate) add: Vec<Label>,
    /// A label to take away
    #[arg(long, value_name = "LABEL", value_parser = label)]
    pub(crate) remove: Vec<Label>,
}

fn label(text: &str) -> Result<Label, String> {
    Label::parse(text).map_err(|error| error.to_string())
}
