//! The arguments of `copy`, `edit` and `diff`.

use std::path::PathBuf;

use clap::Args;

use super::{Fields, Mutation, Replace, TokenArgs, user_group_id};
use crate::domain::group::UserGroupId;

/// Copy a group to another profile: creates it there, or updates it if it is known; does not copy token and notes
#[derive(Debug, Args)]
#[command(
    after_help = "Copies name, mapping and properties from the directory; to refresh them, run `groupdesk get ID` first. Options \
    such as --map and --property override the copied values.\n\n\
                  Examples:\n  groupdesk copy acme-eu --to eu-live --map 40=213 -P testing --dry-run\n  \
                  groupdesk copy acme-eu --to eu-live --unmap 7 --yes --json"
)]
pub(crate) struct Copy {
    /// The group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: UserGroupId,
    /// Profile to copy the group to
    #[arg(long, value_name = "PROFILE")]
    pub(crate) to: String,
    /// ID of the copy [default: the same ID]
    #[arg(long, value_name = "ID", value_parser = user_group_id)]
    pub(crate) as_id: Option<UserGroupId>,
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// Skip this mapping row
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) unmap: Vec<String>,
    /// Skip this property
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_property: Vec<String>,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
}

/// Edit a group as JSON in $VISUAL or $EDITOR, then review and send the changes
#[derive(Debug, Args)]
#[command(
    after_help = "Fields that you remove from the text do not change. If the text cannot be sent, groupdesk saves it in a \
    private file and prints its name.\n\n\
                  Examples:\n  groupdesk edit acme-eu\n  groupdesk edit acme-eu --dry-run"
)]
pub(crate) struct Edit {
    /// The group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: UserGroupId,
    #[command(flatten)]
    pub(crate) replace: Replace,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
}

/// Compare files with known groups, or a group with the same group in another profile; changes nothing
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the same, 10 different.\n\n\
                  Examples:\n  groupdesk diff groups/ more.csv\n  groupdesk diff groups.jsonl --refresh --json\n  \
                  groupdesk diff acme-eu --with eu-live -P testing")]
pub(crate) struct Diff {
    /// Files or folders as apply reads them; with --with one group
    #[arg(value_name = "FILE|ID", required = true)]
    pub(crate) what: Vec<PathBuf>,
    /// Compare the group with the one of the same ID in this profile
    #[arg(long, value_name = "PROFILE")]
    pub(crate) with: Option<String>,
    /// Read the groups from the service first
    #[arg(long)]
    pub(crate) refresh: bool,
}
