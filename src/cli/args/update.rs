//! The options of changing one group.

use std::path::PathBuf;

use clap::Args;

use super::{Exists, Fields, Mutation, TokenArgs, user_group_id};
use crate::domain::group::UserGroupId;

/// Change a group; the rest stays as it is
#[derive(Debug, Args)]
#[command(
    after_help = "With --mapping, --map and --unmap change the mapping of the file; so do --property and\n\
                  --remove-property with --properties. --apply stands alone.\n\n\
                  Examples:\n  groupdesk update acme-eu --map 40=214 --unmap 134\n  \
                  groupdesk update acme-eu --property 'seats=25' --remove-property trial --dry-run\n  \
                  groupdesk update acme-eu --apply acme-eu.json --if-unchanged"
)]
pub(crate) struct Update {
    /// The group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: UserGroupId,
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// Drop this row of the mapping
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) unmap: Vec<String>,
    /// Drop this key of the properties
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_property: Vec<String>,
    /// The whole group, as export writes it; what it does not say stays; - reads standard input
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["name", "map", "unmap", "mapping", "property", "remove_property", "properties"])]
    pub(crate) apply: Option<PathBuf>,
    /// Replace the mapping whole: the last known one with these changes, although others may have changed it since
    #[arg(long)]
    pub(crate) replace_mapping: bool,
    /// Replace the properties whole: the last known ones with these changes, although others may have changed them since
    #[arg(long)]
    pub(crate) replace_properties: bool,
    /// Refuse, and change nothing, where name, mapping or properties are not as last seen here
    #[arg(long, conflicts_with = "exists")]
    pub(crate) if_unchanged: bool,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
}
