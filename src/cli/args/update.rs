//! The options of `update`, for one group and for one change to many groups.

use std::path::PathBuf;

use clap::Args;

use super::{Exists, Fields, Mutation, Pace, Selection, TokenArgs, which_groups};
use crate::domain::{facts::Field, group::UserGroupId};

/// Change a group, or one row in several groups; everything else stays unchanged
#[derive(Debug, Args)]
#[command(
    after_help = "--map and --unmap also change the mapping from --mapping; --properties likewise. --apply leaves omitted \
        fields unchanged. For several groups: one --map, --unmap, --property or --remove-property.",
    group = which_groups()
)]
pub(crate) struct Update {
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// Remove this mapping row
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) unmap: Vec<String>,
    /// Remove this property
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_property: Vec<String>,
    /// Apply a group in export format; - reads standard input
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["name", "map", "unmap", "mapping", "property", "remove_property", "properties"])]
    pub(crate) apply: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// Refuse if name, mapping or properties differ from the directory
    #[arg(long, conflicts_with = "exists")]
    pub(crate) if_unchanged: bool,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) many: Many,
}

/// Fields that are sent whole.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Replace {
    /// Replace the whole mapping, even if others may have changed it since
    #[arg(long)]
    replace_mapping: bool,
    /// Replace all properties, even if others may have changed them since
    #[arg(long)]
    replace_properties: bool,
}

impl Replace {
    pub(crate) fn fields(self) -> Vec<Field> {
        let said = [
            (self.replace_mapping, Field::Mapping),
            (self.replace_properties, Field::Properties),
        ];
        let said = said.into_iter().filter(|(said, _)| *said);
        said.map(|(_, field)| field).collect()
    }
}

/// One change over many groups.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Many {
    /// Change only groups whose row has this value (JSON for a property)
    #[arg(long, value_name = "VALUE")]
    pub(crate) if_value: Option<String>,
    /// Include groups whose resent values were last sent over 30 days ago
    #[arg(long)]
    pub(crate) include_old: bool,
    /// Reason to record with the batch
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

impl Update {
    /// Whether no change is given.
    pub(crate) fn is_nothing(&self) -> bool {
        self.apply.is_none()
            && self.fields.are_none()
            && self.unmap.is_empty()
            && self.remove_property.is_empty()
    }

    /// The id, where it is about one group and nothing of several was said.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        let Many {
            if_value,
            include_old,
            reason,
            pace,
        } = &self.many;
        let is_many = if_value.is_some() || *include_old || reason.is_some() || pace.is_given();
        self.groups.single().filter(|_| !is_many)
    }
}
