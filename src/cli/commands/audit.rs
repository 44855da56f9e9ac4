//! `audit`: what was done in a team's directory, as its database recorded it.

use super::prelude::*;
use crate::{
    cli::input::selection::alike,
    config::directory_of,
    directory::{AuditFilter, Audited, Directory},
    domain::when::Time,
};

#[derive(Debug, Args)]
#[command(
    about = "Show who changed what in a team directory, by database role",
    after_help = "Lines marked ! at the end are history entries that have no matching change."
)]
pub(crate) struct Audit {
    /// Show only this group
    id: Option<UserGroupId>,
    /// Show only changes by this database role
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Show only changes since an age (7d), a day (2026-11-01) or a time (2026-11-01T08:00:00Z)
    #[arg(long, value_name = "WHEN")]
    since: Option<Time>,
}

impl Run for Audit {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("audit", &["groupdesk audit acme-eu", "groupdesk audit --by ben --since 7d --json"], &[array("[ID]", &[&AUDITED])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let overrides = session::overrides(global);
        let at = directory_of(&overrides)?;
        let open = move || session::open_named(&at, &overrides);
        let directory = blocking("it was interrupted", open).await?;
        let filter = AuditFilter {
            user_group_id: self.id,
            who: self.by,
            since: self.since.map(|since| since.at(Clock::System.now())),
        };
        let id = filter.user_group_id.clone();
        let lines = directory.audit(filter).await?;
        if let Some(id) = id.filter(|_| lines.is_empty()) {
            ensure_known(&directory, &id).await?;
        }
        let none = "no matching changes";
        let header = ["TIME", "BY", "FROM", "ENVIRONMENT", "ID", "WHAT"];
        let text = || human::rows(header, lines.iter().map(row), None);
        output::list(global.json, &lines, object, none, text)
    }
}

/// Refuses an ID that no environment knows: a mistyped one must not look like a group that nothing was ever done to. It is
/// not repeated, because it may be a token.
async fn ensure_known(directory: &Directory, id: &UserGroupId) -> Result<(), CliError> {
    let mut known = BTreeSet::new();
    for place in directory.places().await? {
        known.extend(directory.known_ids(place.id).await?);
    }
    if known.contains(id) {
        return Ok(());
    }
    let known: Vec<_> = known.into_iter().collect();
    let near = alike(id, &known, 3);
    let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Err(CliError::Guarded(format!(
        "this ID is not in the directory; nothing was shown{near}"
    )))
}

shape! {
    AUDITED = "audited", "a change in a team directory, or a history entry without one";
    fn object(line: &Audited) {
        "number": number or "a history entry" = line.number, "its number";
        "at": time = line.at, "when it was made, by the clock of the database";
        "by": text = line.who, "the database role";
        "address": text or "on the same machine" = line.address.as_ref(), "where from";
        "what": text = line.what, "rotation, group, the operation of a change, role, fingerprint key, timeline, sole_writer, copy; or history";
        "environment": text or "it concerns no environment" = line.place.as_ref(), "its name";
        "user_group_id": text or "it concerns no group" = line.user_group_id.as_ref(), "the group";
        "rotation": number or "it concerns no rotation" = line.rotation, "its number";
        "before": text or "there was none" = line.before.as_ref(), "the previous state; for a role, whose it is";
        "after": text or "there is none" = line.after.as_ref(), "the new state; for a group, what changed";
    }
}

/// A history entry without a line of the database is marked.
fn row(line: &Audited) -> [String; 6] {
    let mark = if line.number.is_none() { "! " } else { "" };
    let rotation = line.rotation.map(|number| format!(" {number}"));
    let became = match (&line.before, &line.after) {
        (Some(before), Some(after)) => format!(": {before} -> {after}"),
        (None, Some(one)) | (Some(one), None) => format!(": {one}"),
        (None, None) => String::new(),
    };
    let text = |one: &Option<String>| visible(one.as_deref().unwrap_or("-")).into_owned();
    [
        format!("{mark}{}", when::second(line.at)),
        visible(&line.who).into_owned(),
        text(&line.address),
        text(&line.place),
        text(&line.user_group_id),
        visible(&format!(
            "{}{}{became}",
            line.what,
            rotation.unwrap_or_default()
        ))
        .into_owned(),
    ]
}
