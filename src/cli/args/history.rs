//! The arguments of `history`, `view` and `favourite`.

use clap::{Args, Subcommand};

use super::{Filter, Mutation, Output, Replace, user_group_id};
use crate::domain::{
    group::UserGroupId,
    history::Operation,
    when::{self, Time},
};

/// Show who changed which group, newest first
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A rotation has one entry for its response and one for the read that confirmed it; --by-operation merges them into one \
    entry with steps. For an audit export, add -o jsonl or csv. A time is 2026-11-30 (UTC), 2026-11-30T08:00:00Z, or an age such \
    as 7d. For a group named diff or restore: history -- diff\n\n\
                  Examples:\n  groupdesk history --limit 20\n  groupdesk history --filter label:vip --json\n  groupdesk history --open\n  groupdesk history --follow -o jsonl\n  \
                  groupdesk history --since 30d --operation rotate --by-operation -o csv > rotations.csv\n  \
                  groupdesk history --by ana --since 2026-11-01 --until 2026-12-01 -o jsonl"
)]
pub(crate) struct History {
    /// Show only this group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: Option<UserGroupId>,
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Show only entries from this time on
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    pub(crate) since: Option<Time>,
    /// Show only entries before this time
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    pub(crate) until: Option<Time>,
    /// Show only entries by this user: ana, or ana@bastion2
    #[arg(long, value_name = "WHO")]
    pub(crate) by: Option<String>,
    /// Show only get, create, update, rotate or handoff; repeatable
    #[arg(long, value_name = "WHAT", value_parser = operation)]
    pub(crate) operation: Vec<Operation>,
    /// Show one entry per operation, with its steps
    #[arg(long)]
    pub(crate) by_operation: bool,
    /// Maximum number of entries
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// List the oldest entry first
    #[arg(long)]
    pub(crate) reverse: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Print the latest entries (10, or --limit), then each new one, until Ctrl-C
    #[arg(long, short = 'f', conflicts_with_all = ["reverse", "until", "by_operation", "open", "json"])]
    pub(crate) follow: bool,
    /// Show only creates and updates whose result is unknown
    #[arg(long, conflicts_with_all = ["limit", "filter", "reverse", "since", "until", "by", "operation", "by_operation"])]
    pub(crate) open: bool,
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Show what an entry changed, or compare it with now, without contacting the service
    #[command(
        after_help = "Exit codes with --now: 0 same, 10 different.\n\nExamples:\n  groupdesk history diff 41\n  groupdesk \
        history diff acme-eu --now --json"
    )]
    Diff {
        /// Entry number, as printed by --json; or a group ID, for its last update
        #[arg(value_name = "NUMBER|ID", value_parser = line)]
        line: EntryRef,
        /// Compare with the current values instead of the previous ones
        #[arg(long)]
        now: bool,
    },
    /// Undo an update after a review; restores only the values that it changed
    #[command(
        after_help = "Examples:\n  groupdesk history restore 41 --dry-run\n  groupdesk history restore acme-eu --yes"
    )]
    Restore {
        /// Entry number, as printed by --json; or a group ID, for its last update
        #[arg(value_name = "NUMBER|ID", value_parser = line)]
        line: EntryRef,
        #[command(flatten)]
        replace: Replace,
        #[command(flatten)]
        mutation: Mutation,
    },
}

/// A history entry.
#[derive(Debug, Clone)]
pub(crate) enum EntryRef {
    Number(i64),
    /// The last update of this group.
    LastOf(UserGroupId),
}

fn line(text: &str) -> Result<EntryRef, String> {
    if let Ok(number) = text.parse() {
        return Ok(EntryRef::Number(number));
    }
    let id = user_group_id(text).map_err(|error| error.to_string())?;
    Ok(EntryRef::LastOf(id))
}

fn operation(text: &str) -> Result<Operation, &'static str> {
    Operation::parse(text).ok_or("expected get, create, update, rotate or handoff")
}

/// Add or remove favourites, or show whether groups are favourites; stored in the directory, never sent
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk favourite acme-eu acme-us --add\n  groupdesk favourite acme-eu --remove"
)]
pub(crate) struct Favourite {
    /// The groups
    #[arg(required = true, value_name = "ID", value_parser = user_group_id)]
    pub(crate) ids: Vec<UserGroupId>,
    /// Add the groups to the favourites
    #[arg(long)]
    pub(crate) add: bool,
    /// Remove the groups from the favourites
    #[arg(long, conflicts_with = "add")]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
