//! `directory`: the file that keeps what is known here. A copy of it moves everything to another machine: groups, history,
//! journals and the key of its fingerprints, which an export does not hold.

use serde_json::json;

use crate::{
    cli::{
        args::{DirectoryCommand as Command, Global},
        error::CliError,
        output,
        process::exit::Exit,
        session,
    },
    config::directory_of,
    directory,
};

pub(crate) async fn run(global: &Global, command: Command) -> Result<Exit, CliError> {
    let Command::Backup { file } = command;
    let from = directory_of(&session::overrides(global))?;
    let to = file.clone();
    let copied = tokio::task::spawn_blocking(move || directory::copy_to(&from, &to)).await;
    copied.map_err(CliError::unexpected("the copy broke off"))??;
    let file = file.display().to_string();
    if global.json {
        output::json(&json!({ "file": file }))?;
    } else {
        output::say(&format!("the directory stands in {file}, whole"));
    }
    Ok(Exit::Done)
}
