//! `audit`: what was done in a team's directory, as its database recorded it.

use crate::{
    cli::{
        args::{Audit, Global},
        error::CliError,
        output::{self, human, shape::shape},
        process::exit::Exit,
        session,
    },
    config::directory_of,
    directory::{AuditFilter, Audited},
    domain::{text::visible, when},
    operations::Clock,
};

pub(crate) async fn run(global: &Global, asked: Audit) -> Result<Exit, CliError> {
    let overrides = session::overrides(global);
    let at = directory_of(&overrides)?;
    let opening = tokio::task::spawn_blocking(move || session::open_named(&at, &overrides));
    let directory = opening
        .await
        .map_err(CliError::unexpected("it was interrupted"))??;
    let filter = AuditFilter {
        user_group_id: asked.id,
        who: asked.by,
        since: asked.since.map(|since| since.before(Clock::System.now())),
    };
    let lines = directory.audit(filter).await?;
    let none = "no matching changes";
    let header = ["TIME", "WHO", "FROM", "ENVIRONMENT", "ID", "WHAT"];
    let text = || human::rows(header, &lines.iter().map(row).collect::<Vec<_>>(), None);
    output::list(global.json, &lines, object, none, text)
}

shape! {
    pub(crate) AUDITED = "audited", "a change in a team directory, or a history entry without one";
    fn object(line: &Audited) {
        "number": number or "a history entry" = line.number, "its number";
        "at": time = line.at, "when it was made, by the clock of the database";
        "who": text = line.who, "the database role";
        "address": text or "on the same machine" = line.address.as_ref(), "where from";
        "what": text = line.what, "rotation, group, the operation of a change, role, fingerprint key, timeline, copy; or history";
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
