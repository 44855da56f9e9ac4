//! `completions`: prints what a shell needs to complete the words of groupdesk. It reads no configuration.

use clap::{Args, CommandFactory, ValueEnum};

use super::{args::Cli, exit::Exit, print, stop::Stop};

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk completions bash > ~/.local/share/bash-completion/completions/groupdesk\n  \
                  groupdesk completions zsh > ~/.zfunc/_groupdesk\n  \
                  groupdesk completions fish > ~/.config/fish/completions/groupdesk.fish"
)]
pub(super) struct Completions {
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl From<Shell> for clap_complete::Shell {
    fn from(shell: Shell) -> Self {
        match shell {
            Shell::Bash => Self::Bash,
            Shell::Zsh => Self::Zsh,
            Shell::Fish => Self::Fish,
        }
    }
}

pub(super) fn run(arguments: &Completions) -> Result<Exit, Stop> {
    let shell = clap_complete::Shell::from(arguments.shell);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "groupdesk", &mut script);
    print::result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
