//! Which groups are meant, in which order, and how many.

use std::path::PathBuf;

use clap::Args;

use crate::{domain::group::UserGroupId, search::SortBy};

/// The groups that a command is about: ids, the IDs of a file, or what a filter finds.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Selection {
    /// IDs of one or more groups
    #[arg(value_name = "ID", help_heading = None::<&str>)]
    pub(crate) ids: Vec<UserGroupId>,
    /// IDs from this file, one per line; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "ids")]
    pub(crate) from: Option<PathBuf>,
    /// Select by words in name and ID, or tests: tag:customer map:40=213 @view
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["ids", "from"])]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) order: Order,
}

impl Selection {
    /// The id, where one is named and nothing else is said.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        match self.ids.as_slice() {
            [id] if !self.order.is_given() => Some(id),
            _ => None,
        }
    }
}

/// Which groups are meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Filter {
    /// Only groups that match words, or tests: tag:customer map:40=213 @view
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
}

/// The order of the groups, and how many of them.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Order {
    /// Sort by ID (default), name, tag, map, props, token, age, read or prop:KEY
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<SortBy>,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Maximum number of groups, from the start of the list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

impl Order {
    pub(crate) fn is_given(&self) -> bool {
        self.sort.is_some() || self.reverse || self.limit.is_some()
    }
}
