//! The arguments of `copy`, `edit` and `diff`.

use std::path::PathBuf;

use clap::Args;

use super::{Fields, Mutation, Replace, TokenArgs, user_group_id};
use crate::domain::group::UserGroupId;

/// Bring a group into another profile: created there, or updated where it is known; its token and its notes stay
#[derive(Debug, Args)]
#[command(
    after_help = "Name, mapping and properties are as the directory knows them here: `groupdesk get ID` reads them\n\
                  first. What is said with --map, --property and the like is laid over them.\n\n\
                  Examples:\n  groupdesk copy acme-eu --to eu-live --map 40=213 -P testing --dry-run\n  \
                  groupdesk copy acme-eu --to eu-live --unmap 7 --yes --json"
)]
pub(crate) struct Copy {
    /// The group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: UserGroupId,
    /// The profile to bring it into
    #[arg(long, value_name = "PROFILE")]
    pub(crate) to: String,
    /// The id that it has there [default: the same]
    #[arg(long, value_name = "ID", value_parser = user_group_id)]
    pub(crate) as_id: Option<UserGroupId>,
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// Without this row of the mapping
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) unmap: Vec<String>,
    /// Without this key of the properties
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_property: Vec<String>,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
}

/// Change a group in your editor, of VISUAL or EDITOR: read, opened as JSON, reviewed, and sent
#[derive(Debug, Args)]
#[command(
    after_help = "A field that is taken out of the text stays as it is. A text that cannot be sent is kept in a file of\n\
                  yours, which is named.\n\n\
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

/// Compare files with what is known of their groups, or a group with that of another profile; nothing is sent
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the same, 10 different.\n\n\
                  Examples:\n  groupdesk diff groups/ more.csv\n  groupdesk diff groups.jsonl --refresh --json\n  \
                  groupdesk diff acme-eu --with eu-live -P testing")]
pub(crate) struct Diff {
    /// Files or folders as apply reads them; with --with one group
    #[arg(value_name = "FILE|ID", required = true)]
    pub(crate) what: Vec<PathBuf>,
    /// Compare the group with the one of the same id in this profile
    #[arg(long, value_name = "PROFILE")]
    pub(crate) with: Option<String>,
    /// Read the groups from the service first
    #[arg(long)]
    pub(crate) refresh: bool,
}
