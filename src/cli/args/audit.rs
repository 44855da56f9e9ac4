//! The arguments of `audit`.

use clap::Args;
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::user_group_id;
use crate::{
    domain::{
        age::{self, InvalidAge},
        group::UserGroupId,
    },
    intake::duration,
};

#[derive(Debug, Args)]
#[command(
    about = "Show the audit log of a team directory, with the database role behind each change",
    after_help = "Lines marked `history` at the end are history entries that have no matching change.\n\n\
                  Examples:\n  groupdesk audit acme-eu\n  groupdesk audit --by ben --since 7d --json"
)]
pub(crate) struct Audit {
    /// Show only this group
    #[arg(value_parser = user_group_id)]
    pub(crate) id: Option<UserGroupId>,
    /// Show only changes by this database role
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Show only changes since an age (7d), a day (2026-11-01) or a time (2026-11-01T08:00:00Z)
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Since>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Since {
    Ago(std::time::Duration),
    At(Timestamp),
}

impl Since {
    pub(crate) fn before(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(age) => now.checked_sub(age).unwrap_or(Timestamp::MIN),
            Self::At(at) => at,
        }
    }
}

fn since(text: &str) -> Result<Since, String> {
    match age::parse(text) {
        Ok(age) => return Ok(Since::Ago(age)),
        Err(InvalidAge::Unreadable(duration::InvalidAge::Unreadable)) => {}
        Err(why) => return Err(why.to_string()),
    }
    let day = text.parse::<Date>().ok();
    let day = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    let at = text.parse().ok().or(day.map(|day| day.timestamp()));
    at.map(Since::At).ok_or_else(|| {
        "not a time; expected an age (7d), a day (2026-11-01, UTC) or a time (2026-11-01T08:00:00Z)".into()
    })
}
