//! The options of reading one group, and of reading all of them again.

use clap::Args;

use super::{Exists, Filter, TokenArgs, batch::rate, user_group_id};
use crate::domain::group::UserGroupId;

/// Read one group from the service; with --refresh-all every known group again
#[derive(Debug, Args)]
#[command(
    after_help = "--refresh-all tells what was changed elsewhere since the groups were last seen here. To read a\n\
                  group that had vanished creates it again, empty: that is an alarm (exit 3) and stops it. The\n\
                  first group is read alone, so that a wrong environment gets no more than one.\n\n\
                  Examples:\n  groupdesk get acme-eu\n  groupdesk get acme-eu --token-out acme.token\n  \
                  groupdesk get --refresh-all --json\n  groupdesk get --refresh-all --resume"
)]
pub(crate) struct Get {
    /// The group
    #[arg(value_parser = user_group_id, required_unless_present = "refresh_all", conflicts_with = "refresh_all")]
    pub(crate) id: Option<UserGroupId>,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) refresh: AllGroups,
}

/// Reading all known groups.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "All known groups")]
pub(crate) struct AllGroups {
    /// Read every known group again; those that only files have told of are left out, unless --exists is said
    #[arg(long, conflicts_with_all = ["reveal", "token_out"])]
    pub(crate) refresh_all: bool,
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Go on with what was interrupted: what was seen since it began is not read again
    #[arg(long, conflicts_with = "id")]
    pub(crate) resume: bool,
    /// Go on past groups that had vanished; each of them is created again, empty, for ever
    #[arg(long, conflicts_with = "id")]
    pub(crate) keep_going: bool,
    /// So many at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256),
          conflicts_with = "id")]
    pub(crate) concurrency: u16,
    /// At most so many per second or minute, such as 5/s or 30/m
    #[arg(long, value_name = "N/s", value_parser = rate, conflicts_with = "id")]
    pub(crate) rate: Option<f64>,
    /// Stop after so many failures in a row; 0 never stops
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "id")]
    pub(crate) stop_after: u16,
    /// Do not ask, where --exists or --keep-going may create groups
    #[arg(long, short = 'y', conflicts_with = "id")]
    pub(crate) yes: bool,
    /// Say what would be read; send nothing
    #[arg(long, conflicts_with = "id")]
    pub(crate) dry_run: bool,
}
