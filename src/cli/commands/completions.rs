//! `completions`: prints the script with which a shell asks groupdesk for completions. Reads no configuration.

use serde_json::json;

use crate::cli::{
    args::{Completions, Global},
    complete::script,
    error::CliError,
    output,
    process::exit::Exit,
};

pub(crate) fn run(global: &Global, arguments: &Completions) -> Result<Exit, CliError> {
    let script = script(arguments.shell)
        .map_err(CliError::unexpected("the script of the shell was not made"))?;
    let value = || json!({"shell": arguments.shell.name(), "script": script});
    output::either(global.json, value, || script.clone())
}
