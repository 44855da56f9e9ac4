//! The arguments of `completions`.

use clap::{Args, ValueEnum};

/// Print what a shell needs to complete commands, options, profiles and ids
#[derive(Debug, Args)]
#[command(
    after_help = "The shell asks groupdesk then: it reads the configuration and the directory's file, and no network;\n\
                  ids of a team's directory are not offered.\n\
                  The folder must be there: mkdir -p ~/.local/share/bash-completion/completions\n\n\
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
