//! Which groups to print, in which order, how many, and what to print of them.

use std::path::PathBuf;

use clap::Args;

use super::user_group_id;
use crate::{
    cli::output::{form::Form, human::Columns},
    domain::group::UserGroupId,
    search::SortBy,
};

/// The groups that a command is about: ids, the ids of a file, or what a filter finds.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Selection {
    /// One group, or several
    #[arg(value_name = "ID", value_parser = user_group_id, help_heading = None::<&str>)]
    pub(crate) ids: Vec<UserGroupId>,
    /// Ids from this file, one per line; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "ids")]
    pub(crate) from: Option<PathBuf>,
    /// Groups whose name and id hold these words; also tests as in the console, such as tag:customer map:40=213 label:vip @view
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
    /// Only groups whose name and id hold these words; also tests as in the console, such as tag:customer map:40=213 label:vip @view
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
}

/// The order of the groups, and how many of them.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Order {
    /// In the order of name, id, tag, map, props, token, age, read or prop:KEY; what is not known comes last [default: id]
    #[arg(long, value_name = "COLUMN", value_parser = sort)]
    pub(crate) sort: Option<SortBy>,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Maximum number of groups, the first ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

impl Order {
    pub(crate) fn is_given(&self) -> bool {
        self.sort.is_some() || self.reverse || self.limit.is_some()
    }
}

/// List the groups the directory knows; nothing is sent
#[derive(Debug, Args)]
#[command(
    after_help = "A filter is that of the console: words as they stand, and tests such as tag:customer, age>90d,\n\
                  prop:tier=gold, map>3, label:vip, by:li, state:open, @view; a - before one leaves out.\n\
                  Columns: name, id, tag, map, props, token, age, read, due, by, labels, note, favourite,\n\
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
    /// These columns; with a + before each: beside the usual ones
    #[arg(long, value_name = "COLUMNS", value_parser = Columns::parse, default_value = "", hide_default_value = true)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Then wait, and print each group that changes, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
}

/// In which form a result is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Output {
    /// Print a table, wide (all columns, nothing cut), json, jsonl, csv, or name (the ids alone) [default: table]
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
    SortBy::parse(property.as_deref().unwrap_or(text))
        .ok_or("write name, id, tag, map, props, token, age, read or prop:KEY, such as prop:tier")
}
