//! `groupdesk serve init`, `serve backup` and `serve check`: create the tables on a server, copy the file, and check
//! it.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    cli::{
        commands::storage::Storage,
        error::CliError,
        output::{self, human},
        process::exit::Exit,
    },
    domain::text::{counted, visible},
    service::store::{self, CheckResult},
};

pub(super) fn init(storage: &Storage, role: Option<&str>, json: bool) -> Result<Exit, CliError> {
    let Storage::Shared(shared) = storage else {
        return Err(CliError::Usage(
            "a database file needs no init; for PostgreSQL, pass --storage postgres://USER@HOST/DATABASE".into(),
        ));
    };
    shared
        .set_up(role)
        .map_err(|error| storage.explain(error))?;
    let storage = shared.to_string();
    let value = || json!({"storage": storage, "role": role});
    let may = |role| format!("; {} may serve from it", visible(role));
    let text = || format!("set up {storage}{}", role.map(may).unwrap_or_default());
    output::either(json, value, text)
}

pub(super) fn backup(database: &Path, to: &Path, json: bool) -> Result<Exit, CliError> {
    let copied =
        store::backup(database, to).map_err(|error| CliError::from_store(database, error))?;
    let (file, bytes) = (to.display().to_string(), copied.bytes);
    let (groups, keys) = (copied.groups, copied.keys);
    let value = || json!({"file": file, "bytes": bytes, "groups": groups, "keys": keys});
    output::either(json, value, || {
        format!(
            "backed up to {file}: {}, {}, {bytes} bytes. It contains every token; keep it private",
            counted(groups as usize, "group"),
            counted(keys as usize, "key"),
        )
    })
}

pub(super) fn check(database: &Path, json: bool) -> Result<Exit, CliError> {
    let all = store::check(database).map_err(|error| CliError::from_store(database, error))?;
    let value = || all.iter().map(object).collect::<Vec<_>>();
    output::either(json, value, || {
        let lines = all.iter().map(|result| {
            let sign = if result.is_fine { "ok" } else { "WRONG" };
            [sign, result.about, &result.found].map(str::to_owned)
        });
        let header = ["", "ABOUT", "FOUND"];
        human::rows(header, &lines.collect::<Vec<_>>(), None)
    })?;
    Ok(if all.iter().all(|result| result.is_fine) {
        Exit::Done
    } else {
        Exit::Usage
    })
}

fn object(result: &CheckResult) -> Value {
    json!({
        "about": result.about,
        "ok": result.is_fine,
        "found": result.found,
    })
}
