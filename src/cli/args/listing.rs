//! Which groups to print, in which order, how many, and what to print of them.

use std::path::PathBuf;

use clap::Args;

use super::user_group_id;
use crate::{
    cli::output::{form::Form, human::Columns},
    domain::group::UserGroupId,
    search::SortBy,
};

/// The groups that a command is about: ids, the IDs of a file, or what a filter finds.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Selection {
    /// IDs of one or more groups
    #[arg(value_name = "ID", value_parser = user_group_id, help_heading = None::<&str>)]
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
    /// Show only groups that match words, or tests: tag:customer map:40=213 @view
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
}

/// The order of the groups, and how many of them.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Order {
    /// Sort by ID (default), name, tag, map, props, token, age, read or prop:KEY
    #[arg(long, value_name = "COLUMN", value_parser = sort)]
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

/// List the groups in the directory, without contacting the service
#[derive(Debug, Args)]
#[command(
    after_help = "The filter works as in the console, but matches words exactly. Tests: tag:customer, age>90d, prop:tier=gold, \
    map>3, label:vip, by:li, state:open, @view. Put - before a word or test to exclude what it matches.\n\
                  Columns: name, id, tag, map, props, token, age, read, due, by, labels, note, favourite, \
    prop:KEY, map:SCHEMA. With JSON they only add note, labels and favourite.\n\n\
                  Examples:\n  groupdesk list\n  groupdesk list --filter 'tier age>90d' --sort age --limit 20\n  \
                  groupdesk list --columns id,prop:tier,map:40\n  groupdesk list --json | jq -r '.[].user_group_id'\n  \
                  groupdesk list --filter old -o name\n  groupdesk list --filter state:open --watch -o jsonl"
)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) filter: Filter,
    #[command(flatten)]
    pub(crate) order: Order,
    /// Columns to show; prefix each with + to add it to the default columns
    #[arg(long, value_name = "COLUMNS", value_parser = Columns::parse, default_value = "", hide_default_value = true)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Keep watching, and print each group that changes, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
}

/// In which form a result is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Output {
    /// Output format: table (default), wide, json, jsonl, csv or name (IDs)
    #[arg(
        long = "output",
        short = 'o',
        value_name = "FORM",
        value_enum,
        id = "form",
        hide_possible_values = true
    )]
    pub(crate) form: Option<Form>,
}

/// A column to order by; a property also as the filter names it.
pub(super) fn sort(text: &str) -> Result<SortBy, &'static str> {
    let property = text.strip_prefix("prop:").map(|key| format!("prop.{key}"));
    SortBy::parse(property.as_deref().unwrap_or(text)).ok_or(
        "expected name, id, tag, map, props, token, age, read or prop:KEY, such as prop:tier",
    )
}
