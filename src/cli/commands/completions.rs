//! `completions`: prints the script with which a shell asks groupdesk for completions. Reads no configuration.

use crate::cli::{
    args::{Completions, Global},
    complete::script,
    error::CliError,
    output::{self, shape::shape},
    process::exit::Exit,
};

pub(crate) fn run(global: &Global, arguments: &Completions) -> Result<Exit, CliError> {
    let script = script(arguments.shell)
        .map_err(CliError::unexpected("the script of the shell was not made"))?;
    let value = || value(arguments.shell.name(), &script);
    output::either(global.json, value, || script.clone())
}

shape! {
    pub(crate) SCRIPT = "script", "completions for a shell";
    fn value(shell: &str, script: &str) {
        "shell": text = shell, "bash, zsh or fish";
        "script": text = script, "the script";
    }
}
