//! `audit`: what was done in a team's directory, as its database recorded it.

use serde_json::{Value, json};

use crate::{
    cli::{
        args::{Audit, Global},
        error::CliError,
        output,
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

fn object(line: &Audited) -> Value {
    json!({
        "number": line.number, "at": line.at.to_string(), "who": line.who, "address": line.address, "what": line.what,
        "environment": line.place, "user_group_id": line.user_group_id, "rotation": line.rotation,
        "before": line.before, "after": line.after,
    })
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
