//! The arguments of `doctor`.

use clap::Args;

use super::user_group_id;
use crate::domain::group::UserGroupId;

/// Check configuration, API key, network, service, clock, directory and terminal; creates and changes nothing
#[derive(Debug, Args)]
#[command(
    after_help = "The report is safe to share: it contains no API key, no token, and no group except the one named with --id.\n\n\
                  Exit codes: 0 nothing worse than a warning, 2 a problem of the configuration or the directory, 4 API key \
                  missing or refused, 5 service unreachable, 1 any other problem.\n\n\
                  Examples:\n  groupdesk doctor\n  groupdesk doctor --id acme-eu --json | jq '.findings[] | select(.severity == \"problem\")'"
)]
pub(crate) struct Doctor {
    /// Also read this group, which must be in the directory, to check whether a GET body reaches the service
    #[arg(long, value_name = "ID", value_parser = user_group_id)]
    pub(crate) id: Option<UserGroupId>,
}
