//! The arguments of `help`.

use clap::Args;

/// Show the help of a command, the JSON that commands print, the exit codes, or the global options
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  groupdesk help rotations check\n  groupdesk help json\n  groupdesk help json rotate\n  \
                  groupdesk help exit-codes\n  groupdesk help options"
)]
pub(crate) struct Help {
    /// Command and subcommand; or json, optionally with a command; or exit-codes; or options
    #[arg(value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}
