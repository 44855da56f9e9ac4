//! What can be typed behind `completions`.

use clap::{Args, ValueEnum};

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(
    after_help = "The folder must be there: mkdir -p ~/.local/share/bash-completion/completions\n\n\
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
