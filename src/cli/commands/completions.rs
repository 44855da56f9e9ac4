//! `completions`: prints the script that connects a shell to the program; see `complete`.

use super::prelude::*;
use crate::cli::complete::{self, Shell};

/// Generate a shell completion script for commands, options, profiles and IDs
#[derive(Debug, Args)]
#[command(
    after_help = "The script calls groupdesk, which reads the configuration and the directory file but never the network, so \
        it does not complete the IDs of a team directory.\nCreate the folder first: mkdir -p \
        ~/.local/share/bash-completion/completions"
)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Run for Completions {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("completions", &[
            "groupdesk completions bash > ~/.local/share/bash-completion/completions/groupdesk",
            "groupdesk completions zsh > ~/.zfunc/_groupdesk",
            "groupdesk completions fish > ~/.config/fish/completions/groupdesk.fish",
        ], &[one("SHELL", &[&SCRIPT])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let script = complete::script(self.shell)
            .map_err(CliError::unexpected("the script of the shell was not made"))?;
        let value = || value(self.shell.name(), &script);
        output::either(global.json, value, || script.clone())
    }
}

shape! {
    SCRIPT = "script", "completions for a shell";
    fn value(shell: &str, script: &str) {
        "shell": text = shell, "bash, zsh or fish";
        "script": text = script, "the script";
    }
}
