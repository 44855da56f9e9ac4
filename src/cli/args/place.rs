//! The subcommands of `place`.

use clap::Subcommand;

use super::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List environments, without contacting the service
    #[command(
        after_help = "Examples:\n  groupdesk environment list\n  groupdesk environment list --json | jq '.[].profiles'"
    )]
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show an environment: URLs, API key fingerprints, alarms and recorded decisions
    #[command(
        after_help = "Examples:\n  groupdesk environment show live\n  groupdesk environment show live --json | jq .keys"
    )]
    Show {
        /// The environment
        name: String,
        #[command(flatten)]
        output: Output,
    },
    /// Rename an environment
    #[command(
        after_help = "Examples:\n  groupdesk environment rename live eu-live\n  groupdesk environment rename live-2 eu-test --json"
    )]
    Rename {
        /// The environment
        name: String,
        /// Its new name
        to: String,
    },
    /// Merge two records of the same environment; keeps the data of both
    #[command(
        after_help = "Examples:\n  groupdesk environment merge old live\n  groupdesk environment merge old live --yes --json"
    )]
    Merge {
        /// Environment to merge; it is removed
        name: String,
        /// Environment to keep
        into: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Acknowledge the alarms of an environment, so that requests are sent again
    #[command(
        after_help = "Examples:\n  groupdesk environment acknowledge live --reason 'the key was of testing; replaced'\n  groupdesk \
        environment acknowledge live --reason 'proxy fixed' --yes"
    )]
    Acknowledge {
        /// The environment
        name: String,
        /// What you found; recorded with the environment
        #[arg(long)]
        reason: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
