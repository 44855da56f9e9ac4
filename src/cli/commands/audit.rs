//! `audit`: what was done in a team's directory, as its database recorded it.

use crate::{
    cli::{
        args::{Audit, Global},
        error::CliError,
        output::{self, shape::shape},
        process::exit::Exit,
        session,
    },
    config::directory_of,
    directory::{AuditFilter, Audited},
    domain::text::visible,
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
    let text = || lines.iter().map(line).collect::<Vec<_>>().join("\n");
    output::list(global.json, &lines, object, none, text)
}

shape! {
    pub(crate) AUDITED = "audited", "a change in a team directory, or a history entry without one";
    fn object(line: &Audited) {
        "number": number or "a history entry" = line.number, "counted up";
        "at": time = line.at, "by the clock of the database";
        "who": text = line.who, "the role of the database";
        "address": text or "on the same machine" = line.address.as_ref(), "where from";
        "what": text = line.what, "rotation, group, the operation of a change, role, fingerprint key, timeline, copy; or history";
        "environment": text or "of no environment" = line.place.as_ref(), "its name";
        "user_group_id": text or "of no group" = line.user_group_id.as_ref(), "the group";
        "rotation": number or "of no rotation" = line.rotation, "its number";
        "before": text or "nothing was there" = line.before.as_ref(), "the state before; of a role, whose";
        "after": text or "nothing is there" = line.after.as_ref(), "the state after; of a group, what changed";
    }
}

fn line(line: &Audited) -> String {
    let mark = if line.number.is_none() { "! " } else { "" };
    let when = format!("{mark}{:.0}", line.at);
    let about = [&line.address, &line.place, &line.user_group_id];
    let about = about.into_iter().flatten().map(String::as_str);
    let rotation = line.rotation.map(|number| format!(" {number}"));
    let became = match (&line.before, &line.after) {
        (Some(before), Some(after)) => format!(": {before} -> {after}"),
        (None, Some(one)) | (Some(one), None) => format!(": {one}"),
        (None, None) => String::new(),
    };
    let what = format!("{}{}{became}", line.what, rotation.unwrap_or_default());
    let parts = [when.as_str(), &line.who].into_iter().chain(about);
    let parts: Vec<_> = parts.chain([what.as_str()]).map(visible).collect();
    parts.join("  ")
}
