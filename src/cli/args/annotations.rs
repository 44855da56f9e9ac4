//! The arguments of `note` and `label`.

use clap::Args;

use super::{Output, user_group_id};
use crate::domain::{annotation::Label, group::UserGroupId};

/// Show or set the note of a group; stored in the directory, never sent
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk note acme-eu\n  groupdesk note acme-eu 'SSO change until 1 Dec, call first'\n  groupdesk note acme-eu --remove"
)]
pub(crate) struct Note {
    /// The group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: UserGroupId,
    /// Note text, one line; omit to show the current note
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Change the note only if it is this text; '' means no note
    #[arg(long, value_name = "TEXT")]
    pub(crate) if_note: Option<String>,
    /// Remove the note
    #[arg(long, conflicts_with = "text")]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Add, remove or show labels of groups; stored in the directory, never sent
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
    /// Label to remove
    #[arg(long, value_name = "LABEL", value_parser = label)]
    pub(crate) remove: Vec<Label>,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn label(text: &str) -> Result<Label, String> {
    Label::parse(text).map_err(|error| error.to_string())
}
