//! The arguments of `help`.

use clap::Args;

/// Show the help of a command, the JSON that commands print, or the exit codes
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk help rotations settle\n  groupdesk help json\n  groupdesk help json rotate\n  \
                  groupdesk help exit-codes"
)]
pub(crate) struct Help {
    /// Command and subcommand; or json, optionally with a command; or exit-codes
    #[arg(value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}
