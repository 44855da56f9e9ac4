//! The subcommands of `place`.

use clap::Subcommand;

use super::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the places; nothing is sent
    #[command(
        after_help = "Examples:\n  groupdesk place list\n  groupdesk place list --json | jq '.[].profiles'"
    )]
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show a place: URLs, API key fingerprints, alarms and recorded decisions
    #[command(
        after_help = "Examples:\n  groupdesk place show live\n  groupdesk place show live --json | jq .keys"
    )]
    Show {
        /// The place
        name: String,
        #[command(flatten)]
        output: Output,
    },
    /// Give a place another name
    #[command(
        after_help = "Examples:\n  groupdesk place rename live eu-live\n  groupdesk place rename live-2 eu-test --json"
    )]
    Rename {
        /// The place
        name: String,
        /// Its new name
        to: String,
    },
    /// Merge two places that are the same environment; keeps the data of both
    #[command(
        after_help = "Examples:\n  groupdesk place merge old live\n  groupdesk place merge old live --yes --json"
    )]
    Merge {
        /// Place to merge; it is removed
        name: String,
        /// Place to keep
        into: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Acknowledge the alarms of a place, so that requests are sent again
    #[command(
        after_help = "Examples:\n  groupdesk place acknowledge live --reason 'the key was of testing; replaced'\n  groupdesk \
        place acknowledge live --reason 'proxy fixed' --yes"
    )]
    Acknowledge {
        /// The place
        name: String,
        /// What you found; recorded with the place
        #[arg(long)]
        reason: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
