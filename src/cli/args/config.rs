//! The subcommands of `config`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the path of the configuration file, even if it does not exist yet
    #[command(after_help = "Examples:\n  groupdesk config path\n  groupdesk config path --json")]
    Path,
    /// Check the configuration file, including console keys, without contacting the service
    #[command(after_help = "Exit codes: 0 valid, 2 invalid.\n\n\
                      Examples:\n  groupdesk config validate\n  groupdesk config validate --config new.toml")]
    Validate,
    /// Edit the configuration file in $EDITOR; saves it only if it is valid
    #[command(
        after_help = "Examples:\n  groupdesk config edit\n  groupdesk config edit --config new.toml"
    )]
    Edit,
}
