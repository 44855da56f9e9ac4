//! The subcommands of `config`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print where the configuration file is, or would be
    #[command(after_help = "Examples:\n  groupdesk config path\n  groupdesk config path --json")]
    Path,
    /// Check the configuration file, with the keys of the console; nothing is sent
    #[command(after_help = "Exit codes: 0 it is right, 2 it is not.\n\n\
                      Examples:\n  groupdesk config validate\n  groupdesk config validate --config new.toml")]
    Validate,
    /// Change the configuration file in $EDITOR; checked before it is written
    #[command(
        after_help = "Examples:\n  groupdesk config edit\n  groupdesk config edit --config new.toml"
    )]
    Edit,
}
