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
    /// Show one place: addresses, keys by their fingerprints, alarms, and what was said about it
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
    /// Make one place of two that are the same environment; nothing of either is lost
    #[command(
        after_help = "Examples:\n  groupdesk place merge old live\n  groupdesk place merge old live --yes --json"
    )]
    Merge {
        /// The place that goes
        name: String,
        /// The place that stays
        into: String,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Say that the alarms of a place were looked into; then requests are sent again
    #[command(
        after_help = "Examples:\n  groupdesk place acknowledge live --reason 'the key was of testing; replaced'\n  groupdesk place acknowledge live --reason 'a proxy was mended' --yes"
    )]
    Acknowledge {
        /// The place
        name: String,
        /// What was found; it is kept
        #[arg(long)]
        reason: String,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
