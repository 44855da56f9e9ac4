//! The arguments of `completions`.

use clap::{Args, ValueEnum};

/// Generate a shell completion script for commands, options, profiles and IDs
#[derive(Debug, Args)]
#[command(
    after_help = "The script calls groupdesk, which reads the configuration and the directory file but never the network, so it \
    does not complete the IDs of a team directory.\nCreate the folder first: mkdir -p \
    ~/.local/share/bash-completion/completions\n\n\
                  Examples:\n  groupdesk completions bash > ~/.local/share/bash-completion/completions/groupdesk\n  \
                  groupdesk completions zsh > ~/.zfunc/_groupdesk\n  \
                  groupdesk completions fish > ~/.config/fish/completions/groupdesk.fish"
)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}
