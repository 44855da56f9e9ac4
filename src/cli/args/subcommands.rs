//! The subcommands of `rotations`, and the arguments of `demo`.

use clap::{Args, Subcommand};

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Rotations {
    /// Show only open rotations
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(subcommand)]
    pub(crate) command: Option<RotationsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RotationsCommand {
    /// Read the groups of open rotations to find out how they ended; never rotates
    #[command(
        after_help = "Exit codes: 0 all resolved, 7 some results are still unknown or in conflict.\n\n\
                      Examples:\n  groupdesk rotations check\n  groupdesk rotations check 12 13",
        alias = "settle"
    )]
    #[command(name = "check")]
    Settle {
        /// Numbers of rotations [default: all open ones]
        #[arg(value_name = "NUMBER", value_parser = rotation_number)]
        ids: Vec<i64>,
    },
    /// Close an open rotation without a result; its token can then be rotated again
    #[command(
        after_help = "Examples:\n  groupdesk rotations abandon 12 --reason 'the customer left'\n  \
                      groupdesk rotations abandon 12 --reason 'confirmed by phone' --yes --json"
    )]
    Abandon {
        /// Number of the rotation, or m and a number, as history --open lists creates and updates
        #[arg(value_name = "ID", value_parser = abandoned)]
        id: Abandoned,
        /// Reason to record in the history
        #[arg(long)]
        reason: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
    #[command(name = "handoff")]
    HandOff(HandOff),
}

/// Run the hand-off for new tokens that were not delivered: reads each token again and passes it to the profile's command
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all handed off, 6 some were not.\n\n\
                  A hand-off belongs to the profile that started the rotation. Hand-offs of other profiles of the same environment are \
                  only listed; to run one here, pass its number.\n\n\
                  Examples:\n  groupdesk rotations handoff\n  groupdesk rotations handoff --failed --json\n  groupdesk rotations handoff 17")]
pub(crate) struct HandOff {
    /// Rotation numbers, whatever the state of their hand-off
    #[arg(value_name = "ID", conflicts_with_all = ["pending", "failed"])]
    pub(crate) ids: Vec<i64>,
    /// Run pending and interrupted hand-offs (the default)
    #[arg(long)]
    pub(crate) pending: bool,
    /// Run failed hand-offs; with --pending, both
    #[arg(long)]
    pub(crate) failed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Number of generated groups, instead of the samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) groups: Option<u32>,
    /// Run without a console until Ctrl-C; prints the variables for another shell
    #[arg(long, hide = true)]
    pub(crate) hold: bool,
}

/// Rotation or change to abandon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abandoned {
    Rotation(i64),
    /// A create or an update.
    Change(i64),
}

fn rotation_number(text: &str) -> Result<i64, &'static str> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or("expected the number of a rotation, as `groupdesk rotations` lists it")
}

fn abandoned(text: &str) -> Result<Abandoned, String> {
    let number = |digits: &str| digits.parse().ok().filter(|number| *number > 0);
    let change = text.strip_prefix('m').and_then(number);
    let rotation = || number(text).map(Abandoned::Rotation);
    change
        .map(Abandoned::Change)
        .or_else(rotation)
        .ok_or_else(|| {
            "expected the number of a rotation, or m and the number of a change, such as m7".into()
        })
}
