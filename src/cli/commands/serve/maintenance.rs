//! `groupdesk serve init`, `serve backup` and `serve check`: create the tables on a server, copy the file, and check
//! it.

use std::path::Path;

use super::storage::Storage;
use crate::{
    cli::{
        error::CliError,
        output::{self, human, shape::shape},
        process::exit::Exit,
    },
    domain::text::{counted, visible},
    service::store::{self, BackupSummary, CheckResult},
};

pub(super) fn init(storage: &Storage, role: Option<&str>, json: bool) -> Result<Exit, CliError> {
    let Storage::Shared(shared, _) = storage else {
        return Err(CliError::Usage(
            "a database file needs no init; for PostgreSQL, pass --storage postgres://USER@HOST/DATABASE".into(),
        ));
    };
    shared
        .set_up(role)
        .map_err(|error| storage.explain(error))?;
    output::note_change();
    let storage = shared.to_string();
    let may = |role| format!("; {} may serve from it", visible(role));
    let text = || format!("set up {storage}{}", role.map(may).unwrap_or_default());
    output::either(json, || set_up(&storage, role), text)
}

shape! {
    pub(crate) SET_UP = "service-set-up", "a schema for the embedded service, made in a database";
    fn set_up(storage: &str, role: Option<&str>) {
        "storage": text = storage, "its address and schema";
        "role": text or "only its owner may serve from it" = role, "the role that may also serve from it";
    }
}

pub(super) fn backup(database: &Path, to: &Path, json: bool) -> Result<Exit, CliError> {
    let copied =
        store::backup(database, to).map_err(|error| CliError::from_store(database, error))?;
    output::note_change();
    let (file, bytes) = (to.display().to_string(), copied.bytes);
    let (groups, keys) = (copied.groups, copied.keys);
    output::either(
        json,
        || copy(&file, &copied),
        || {
            format!(
                "backed up to {file}: {}, {}, {bytes} bytes. It contains every token; keep it private",
                counted(groups as usize, "group"),
                counted(keys as usize, "key"),
            )
        },
    )
}

shape! {
    pub(crate) COPY = "service-copy", "a copy of the embedded service's database";
    fn copy(file: &str, copied: &BackupSummary) {
        "file": text = file, "the copy";
        "bytes": number = copied.bytes, "its size in bytes";
        "groups": number = copied.groups, "groups in it";
        "keys": number = copied.keys, "API keys in it, including revoked ones";
    }
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

shape! {
    pub(crate) CHECK = "service-check", "a check of the embedded service's database";
    fn object(result: &CheckResult) {
        "about": text = result.about, "files, schema, integrity, references, groups, tokens, environments or keys";
        "ok": bool = result.is_fine, "whether the check passed";
        "found": text = result.found, "what was found; human-readable, may change";
    }
}
