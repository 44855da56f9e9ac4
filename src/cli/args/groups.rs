//! The arguments of commands for one or for several groups, and of `batches`. Both the command and the run over several groups
//! read them.

use clap::{Args, Subcommand};

use super::{BatchArgs, Exists, Fields, Mutation, Pace, Selection, TokenArgs, which_groups};
use crate::cli::prelude::*;

/// Read one or more groups from the service; --refresh-all reads every known group
#[derive(Debug, Args)]
#[command(
    after_help = "With --refresh-all, get reports what changed elsewhere since each group was last read. Reading a group \
        that has vanished creates it again, empty: this raises an alarm and stops the run (exit 3). The first of several \
        groups is read alone, so that a wrong environment gets at most one new group.",
    group = which_groups().arg("refresh_all")
)]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Get {
    /// The ID, if exactly one was passed and no option for several groups.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        self.groups.single().filter(|_| !self.reading.is_given())
    }
}

/// Reading several groups.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Reading {
    /// Read all known groups; those known only from files need --exists
    #[arg(long, conflicts_with_all = ["ids", "from", "sort", "reverse", "limit", "reveal", "token_out"])]
    pub(crate) refresh_all: bool,
    /// Resume an interrupted --refresh-all; skips groups it has already read
    #[arg(long, requires = "refresh_all", conflicts_with_all = ["ids", "from"])]
    pub(crate) resume: bool,
    /// Continue past vanished groups; each is created again, empty, for good
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
    /// Skip the confirmation that --exists and --keep-going need
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Show what would be read, without sending anything
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Reading {
    /// `--yes` and `--dry-run` alone change nothing: the same as for one group is asked, or would be read.
    fn is_given(&self) -> bool {
        self.refresh_all || self.keep_going || self.pace.is_given()
    }
}

/// Rotate the token of one or more groups
#[derive(Debug, Args)]
#[command(
    group = which_groups().args(["older_than", "token_stdin"]),
    override_usage = "groupdesk rotate [OPTIONS] <ID>...\n       \
                      groupdesk rotate [OPTIONS] <--filter <TEXT>|--older-than <AGE>|--from <FILE>|--token-stdin>"
)]
pub(crate) struct Rotate {
    /// Rotate the group of the token on standard input; if unknown, add its ID
    #[arg(long, conflicts_with_all = ["filter", "older_than", "from"])]
    pub(crate) token_stdin: bool,
    /// Reason to record in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) bulk: BatchArgs,
}

impl Rotate {
    /// The ID, if exactly one was passed and no option for several groups.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        self.groups.single().filter(|_| !self.bulk.is_given())
    }
}

/// Change a group, or one row in several groups; everything else stays unchanged
#[derive(Debug, Args)]
#[command(
    after_help = "--map, --unmap, --property and --remove-property also change what --mapping and --properties set. For \
        several groups: one of the four. --apply leaves omitted fields unchanged.",
    group = which_groups()
)]
pub(crate) struct Update {
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// Remove this mapping row
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) unmap: Vec<String>,
    /// Remove this property
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_property: Vec<String>,
    /// Apply a group in export format; - reads standard input
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["name", "map", "unmap", "mapping", "property", "remove_property", "properties"])]
    pub(crate) apply: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// Refuse if name, mapping or properties differ from the directory
    #[arg(long, conflicts_with = "exists")]
    pub(crate) if_unchanged: bool,
    #[command(flatten)]
    pub(crate) assurance: Exists,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    #[command(flatten)]
    pub(crate) groups: Selection,
    #[command(flatten)]
    pub(crate) many: Many,
}

/// Fields that are sent whole.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Replace {
    /// Replace the whole mapping, even if others may have changed it since
    #[arg(long)]
    replace_mapping: bool,
    /// Replace all properties, even if others may have changed them since
    #[arg(long)]
    replace_properties: bool,
}

impl Replace {
    pub(crate) fn fields(self) -> Vec<Field> {
        let said = [
            (self.replace_mapping, Field::Mapping),
            (self.replace_properties, Field::Properties),
        ];
        let said = said.into_iter().filter(|(said, _)| *said);
        said.map(|(_, field)| field).collect()
    }
}

/// One change over many groups.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Many {
    /// Change only groups whose row has this value (JSON for a property)
    #[arg(long, value_name = "VALUE")]
    pub(crate) if_value: Option<String>,
    /// Include groups whose resent values were last sent over 30 days ago
    #[arg(long)]
    pub(crate) include_old: bool,
    /// Reason to record with the batch
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

impl Update {
    /// Whether no change is given.
    pub(crate) fn is_nothing(&self) -> bool {
        self.apply.is_none()
            && self.fields.are_none()
            && self.unmap.is_empty()
            && self.remove_property.is_empty()
    }

    /// The ID, if exactly one was passed and no option for several groups.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        self.groups
            .single()
            .filter(|_| self.many == Many::default())
    }
}

/// List bulk rotations and bulk edits; show, check, resume, retry or reverse one
#[derive(Debug, Args)]
pub(crate) struct Batches {
    /// Show only batches with work left
    #[arg(long)]
    unfinished: bool,
    #[command(subcommand)]
    command: Option<BatchesCommand>,
}

impl Batches {
    /// Without a subcommand, the batches are listed. Another one would ignore an option of the list that stands before it.
    pub(crate) fn chosen(self) -> Result<BatchesCommand, CliError> {
        let above = self.unfinished;
        match self.command {
            None => Ok(BatchesCommand::List { unfinished: above }),
            Some(BatchesCommand::List { unfinished }) => Ok(BatchesCommand::List {
                unfinished: unfinished || above,
            }),
            Some(_) if above => Err(CliError::Usage(
                "--unfinished works only with `batches list`; nothing was sent".into(),
            )),
            Some(other) => Ok(other),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum BatchesCommand {
    /// List this profile's batches, newest first, without contacting the service
    List {
        /// Show only batches with work left
        #[arg(long)]
        unfinished: bool,
    },
    /// Show a batch and each of its groups, without contacting the service
    Show {
        /// Number of the batch
        #[arg(value_name = "BATCH")]
        number: i64,
    },
    /// Resume a batch with the groups that were not started; sends nothing twice
    #[command(
        after_help = "Checks these groups again and asks for confirmation.\n\nFor exit codes, run `groupdesk help exit-codes`."
    )]
    Resume(ResumeBatch),
    /// Read the groups with an unknown result in a batch, and show the batch
    #[command(
        after_help = "Rotates and updates nothing.\n\nExit codes: 0 all results are known, 7 some are unknown."
    )]
    Check {
        /// Number of the batch
        #[arg(value_name = "BATCH")]
        number: i64,
    },
    /// Retry the groups of a batch that were certainly not changed, as a new batch
    #[command(
        after_help = "Never retries a group with an unknown result.\n\nFor exit codes, run `groupdesk help exit-codes`."
    )]
    Retry {
        #[command(flatten)]
        batch: AgainBatch,
        /// For a rotation: write the new tokens to this new file (mode 600), one JSON object per line
        #[arg(long, value_name = "FILE", help_heading = None::<&str>)]
        token_out: Option<PathBuf>,
    },
    /// Undo a bulk edit as a new batch, in every group that still has the value it set
    #[command(after_help = "For exit codes, run `groupdesk help exit-codes`.")]
    Reverse(AgainBatch),
}

/// A batch that is made of another one.
#[derive(Debug, Args)]
pub(crate) struct AgainBatch {
    /// Number of the batch
    #[arg(value_name = "BATCH")]
    pub(crate) number: i64,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
    /// Reason to record with the batch
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// For an edit: include groups whose resent values were last sent over 30 days ago
    #[arg(long)]
    pub(crate) include_old: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeBatch {
    /// Number of the batch [default: the newest unfinished one]
    #[arg(value_name = "BATCH")]
    pub(crate) number: Option<i64>,
    /// Skip the confirmation prompt
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Join a batch that another process is running; no group is processed twice
    #[arg(long)]
    pub(crate) join: bool,
    /// For a rotation: write the new tokens to this new file (mode 600), one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) token_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pace: Pace,
}
