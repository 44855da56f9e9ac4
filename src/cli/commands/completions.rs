//! `completions`: prints what a shell needs to complete the words of groupdesk. It reads no configuration.

use serde_json::json;

use crate::cli::{
    args::{Completions, Global, Shell, command},
    error::CliError,
    output,
    process::exit::Exit,
};

impl From<Shell> for clap_complete::Shell {
    fn from(shell: Shell) -> Self {
        match shell {
            Shell::Bash => Self::Bash,
            Shell::Zsh => Self::Zsh,
            Shell::Fish => Self::Fish,
        }
    }
}

pub(crate) fn run(global: &Global, arguments: &Completions) -> Result<Exit, CliError> {
    let shell = clap_complete::Shell::from(arguments.shell);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "groupdesk", &mut script);
    let script = String::from_utf8_lossy(&script);
    if global.json {
        output::json(&json!({"shell": shell.to_string(), "script": script}))?;
    } else {
        output::result(&script)?;
    }
    Ok(Exit::Done)
}
