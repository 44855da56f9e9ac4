//! The command line definition: options, commands and their words. It makes no decisions.

mod annotations;
mod audit;
mod batch;
mod batches;
mod completions;
mod config;
mod directory;
mod doctor;
mod exchange;
mod get;
mod help;
mod history;
mod listing;
mod manual;
mod place;
mod profile;
mod promote;
mod serve;
mod subcommands;
mod tree;
mod update;

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

pub(super) use annotations::{Labels, Note};
pub(super) use audit::Audit;
pub(super) use batch::{BatchArgs, Pace};
pub(super) use batches::{AgainBatch, Batches, BatchesCommand, ResumeBatch};
pub(super) use completions::{Completions, Shell};
pub(super) use config::Command as ConfigCommand;
pub(super) use directory::Command as DirectoryCommand;
pub(super) use doctor::Doctor;
pub(super) use exchange::{Apply, Export, FileFormat, Import};
pub(super) use get::Get;
pub(super) use help::Help;
pub(super) use history::{EntryRef, Favourite, History, HistoryCommand};
pub(super) use listing::{Filter, List, Order, Output, Selection};
pub(super) use manual::Manual;
pub(super) use place::Command as PlaceCommand;
pub(super) use profile::{
    Add, BehaviourArgs, Bind, Command as ProfileCommand, OmittedFields, SourceArgs,
};
pub(super) use promote::{Copy, Diff, Edit};
pub(super) use serve::{CreateKey, Keys, Serve, ServeCommand};
pub(super) use subcommands::{Abandoned, Demo, HandOff, Rotations, RotationsCommand};
pub(super) use tree::{GROUPS, command, full_command, global_options};
pub(super) use update::{Replace, Update};

use super::{
    error::CliError,
    output::{colour::When, form::Form},
    process::exit::codes,
};
use crate::domain::group::{InvalidId, UserGroupId};

/// Manage the groups and tokens of a User Group Service, in a console or from scripts.
#[derive(Debug, Parser)]
#[command(
    name = "groupdesk",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = format!(
        "Without a command, groupdesk opens the console. For help on a command, run `groupdesk help COMMAND`;\nfor the output of \
         --json, run `groupdesk help json`.\n\n\
         Examples:\n  groupdesk demo\n  groupdesk --profile eu-live list\n\n{}",
        codes()
    )
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// Global options.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Configuration file [default: groupdesk/config.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Profile to use
    #[arg(long, short = 'P', global = true, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// Directory to use: a database file, or a team directory as postgres://USER@HOST/DATABASE
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) directory: Option<PathBuf>,
    /// Refuse every change
    #[arg(long, global = true)]
    pub(super) read_only: bool,
    /// Print JSON; for its format, run `groupdesk help json`
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print only results, errors, alarms and prompts
    #[arg(long, short = 'q', global = true)]
    pub(super) quiet: bool,
    /// Log each request and response with timings to standard error, without keys and tokens; for import, also each row
    #[arg(long, short = 'v', global = true, conflicts_with = "quiet")]
    pub(super) verbose: bool,
    /// Never prompt; a command that needs confirmation fails unless --yes is set
    #[arg(long, global = true)]
    pub(super) no_input: bool,
    /// Use colour: always, never, or auto (if the terminal supports it) [default: auto]
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(super) color: When,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub(super) ascii: bool,
    /// Run the console for screen readers: appends lines, without boxes or redrawing
    #[arg(long, global = true)]
    pub(super) plain: bool,
}

impl Command {
    /// The form that was asked for.
    pub(super) fn form(&self) -> Option<Form> {
        match self {
            Self::List(List { output, .. })
            | Self::Rotations(Rotations { output, .. })
            | Self::Profile(
                ProfileCommand::List { output } | ProfileCommand::Show { output, .. },
            )
            | Self::Place(PlaceCommand::List { output } | PlaceCommand::Show { output, .. })
            | Self::Note(Note { output, .. })
            | Self::Label(Labels { output, .. })
            | Self::Favourite(Favourite { output, .. })
            | Self::Show { output, .. }
            | Self::History(History { output, .. })
            | Self::Attention { output, .. } => output.form,
            Self::Batches(batches) => batches.form(),
            Self::Rotate(rotate) => rotate.form,
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    List(List),
    /// Show one or more groups from the directory, without contacting the service
    #[command(
        after_help = "Examples:\n  groupdesk show acme-eu\n  groupdesk show acme-eu --json | jq .mapping\n  \
                            groupdesk show --filter 'acme tag:customer' -o jsonl",
        group = which_groups()
    )]
    Show {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        groups: Selection,
    },
    Get(Get),
    /// Create a group; if it exists, return it unchanged
    #[command(
        after_help = "Examples:\n  groupdesk create acme-eu --name 'Acme Europe' --map 40=213 --property 'tier=\"gold\"'\n  \
                            groupdesk create acme-eu --mapping mapping.json --properties - --dry-run < properties.json"
    )]
    Create(Create),
    Update(Update),
    Edit(Edit),
    Copy(Copy),
    Diff(Diff),
    /// Rotate the token of one or more groups
    #[command(
        after_help = "Examples:\n  groupdesk rotate acme-eu --reason 'leaked in a log' --token-out acme.token\n  \
                            groupdesk rotate acme-eu --yes --json --reveal\n  \
                            groupdesk rotate --older-than 90d --limit 50 --yes -o jsonl\n  \
                            groupdesk rotate --from leaked.txt --yes --token-out new-tokens.jsonl"
    )]
    Rotate(Rotate),
    History(History),
    /// List this profile's rotations, newest first; check, abandon or hand off
    #[command(
        after_help = "Examples:\n  groupdesk rotations --open\n  groupdesk rotations --json | jq '.[] | select(.state == \"unknown\")'\n  \
                            groupdesk rotations check"
    )]
    Rotations(Rotations),
    /// List what needs attention, most urgent first, without contacting the service or reading an API key
    #[command(
        after_help = "Exit codes: 0 nothing is unfinished or failed, 7 at least one item is.\n\nExamples:\n  groupdesk \
        attention\n  groupdesk attention --all --json | jq '.[] | select(.counted)'"
    )]
    Attention {
        /// Include all profiles
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
    /// List bulk rotations and bulk edits, newest first; show, check, resume, retry or reverse one
    #[command(
        after_help = "Examples:\n  groupdesk batches --unfinished\n  groupdesk batches resume 12"
    )]
    Batches(Batches),
    Note(Note),
    Label(Labels),
    #[command(alias = "favorite")]
    Favourite(Favourite),
    /// Find the group that has or had a token (read from standard input), without contacting the service
    #[command(
        after_help = "Exit codes: 0 found, 1 not found, 2 no whole token.\n\nExamples:\n  groupdesk whose\n  groupdesk whose --json < leaked.token"
    )]
    Whose {
        /// Taken so that it can be refused without being repeated.
        #[arg(hide = true, value_name = "NOTHING")]
        token: Vec<OsString>,
    },
    /// Import groups from CSV or JSON into the directory; with --create and --update, also into the service
    Import(Import),
    /// Export known groups without tokens; contacts the service only with --reveal-tokens
    Export(Export),
    /// Apply files to the service: create missing groups and update those that differ
    Apply(Apply),
    /// Manage profiles, and store their API keys in the kernel keyring
    #[command(
        subcommand,
        after_help = "Examples:\n  groupdesk profile list\n  groupdesk profile check eu-live"
    )]
    Profile(ProfileCommand),
    /// Find, check and edit the configuration file
    #[command(
        subcommand,
        after_help = "Examples:\n  groupdesk config path\n  groupdesk config validate"
    )]
    Config(ConfigCommand),
    /// Manage the directory of known groups: back it up, copy it, or share it with a team
    #[command(
        subcommand,
        after_help = "Examples:\n  groupdesk directory backup directory-2026-11.db\n  groupdesk directory backup /mnt/safe/directory.db --json"
    )]
    Directory(DirectoryCommand),
    Audit(Audit),
    /// Manage the environments that profiles connect to
    #[command(
        subcommand,
        after_help = "Examples:\n  groupdesk environment list\n  groupdesk environment acknowledge live --reason 'wrong key replaced'"
    )]
    #[command(name = "environment", alias = "place")]
    Place(PlaceCommand),
    /// Try groupdesk with sample groups on this machine; deletes them on exit
    #[command(after_help = "Examples:\n  groupdesk demo\n  groupdesk demo --groups 100000")]
    Demo(Demo),
    /// Run a User Group Service on this machine
    #[command(
        after_help = "Examples:\n  groupdesk serve keys create --environment production --tag Customer\n  \
                            groupdesk serve --listen 127.0.0.1:8474"
    )]
    Serve(Serve),
    Doctor(Doctor),
    Completions(Completions),
    Man(Manual),
    Help(Help),
    /// Print the version and release date
    #[command(
        after_help = "Examples:\n  groupdesk version\n  groupdesk version --json | jq -r .version"
    )]
    Version,
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// ID of the group; it cannot be changed or deleted later
    #[arg(value_parser = user_group_id)]
    pub(super) id: UserGroupId,
    #[command(flatten)]
    pub(super) fields: Fields,
    #[command(flatten)]
    pub(super) mutation: Mutation,
    #[command(flatten)]
    pub(super) token: TokenArgs,
}

#[derive(Debug, Args)]
#[command(
    group = which_groups().args(["older_than", "token_stdin"]),
    override_usage = "groupdesk rotate [OPTIONS] <ID>...\n       \
                      groupdesk rotate [OPTIONS] <--filter <TEXT>|--older-than <AGE>|--from <FILE>|--token-stdin>"
)]
pub(super) struct Rotate {
    /// Rotate the group of the token on standard input; if unknown, add its ID
    #[arg(long, conflicts_with_all = ["filter", "older_than", "from"])]
    pub(super) token_stdin: bool,
    /// Reason to record in the history
    #[arg(long)]
    pub(super) reason: Option<String>,
    #[command(flatten)]
    pub(super) assurance: Exists,
    #[command(flatten)]
    pub(super) mutation: Mutation,
    #[command(flatten)]
    pub(super) token: TokenArgs,
    /// Output format: json (as --json), or jsonl for one line per result
    #[arg(long = "output", short = 'o', value_name = "FORM", value_parser = for_programs)]
    pub(super) form: Option<Form>,
    #[command(flatten)]
    pub(super) groups: Selection,
    #[command(flatten)]
    pub(super) bulk: BatchArgs,
}

impl Rotate {
    /// The id, where it is about one group and nothing of bulk was said.
    pub(super) fn single(&self) -> Option<&UserGroupId> {
        self.groups.single().filter(|_| !self.bulk.is_given())
    }
}

/// What a group shall be; what is not said stays.
#[derive(Debug, Default, Args)]
pub(super) struct Fields {
    /// Name of the group
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Set a mapping row, schema ID=data source ID; repeatable
    #[arg(long, value_name = "SCHEMA=SOURCE")]
    pub(super) map: Vec<String>,
    /// Set the whole mapping from a JSON object; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(super) mapping: Option<PathBuf>,
    /// Set a property to a JSON value; repeatable
    #[arg(long, value_name = "KEY=JSON")]
    pub(super) property: Vec<String>,
    /// Set all properties from a JSON object; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(super) properties: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Exists {
    /// Accept an ID that is not in the directory; the service may create it
    #[arg(long)]
    pub(super) exists: bool,
}

#[derive(Debug, Args)]
pub(super) struct Mutation {
    /// Skip the confirmation prompt
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
    /// Show what would be sent and changed, without changing anything
    #[arg(long)]
    pub(super) dry_run: bool,
    /// With --dry-run: print a curl command, which reads $GROUPDESK_API_KEY
    #[arg(long, requires = "dry_run")]
    pub(super) curl: bool,
}

impl Mutation {
    /// Of what is no single request that may be written down.
    pub(super) fn no_curl(&self, why: &str) -> Result<(), CliError> {
        if self.curl {
            return Err(CliError::Usage(format!("--curl: {why}; nothing was sent")));
        }
        Ok(())
    }
}

/// The two ways a token comes out.
#[derive(Debug, Default, Args)]
pub(super) struct TokenArgs {
    /// Print the token
    #[arg(long)]
    pub(super) reveal: bool,
    /// Write the token to this new file (mode 600); - is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) token_out: Option<PathBuf>,
}

/// What says which groups are meant; one of them must.
fn which_groups() -> ArgGroup {
    let which = ArgGroup::new("which_groups").args(["ids", "from", "filter"]);
    which.required(true).multiple(true)
}

fn for_programs(text: &str) -> Result<Form, &'static str> {
    let form = Form::from_str(text, false).ok();
    let form = form.filter(|form| matches!(form, Form::Json | Form::Jsonl));
    form.ok_or("expected json or jsonl")
}

pub(super) fn user_group_id(text: &str) -> Result<UserGroupId, InvalidId> {
    UserGroupId::typed(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::domain::proposal;

    #[test]
    fn one_id_alone_is_no_bulk() {
        let rotate = |line: &str| {
            let cli = Cli::try_parse_from(line.split(' ')).expect("valid");
            match cli.command {
                Some(Command::Rotate(rotate)) => rotate.single().is_some(),
                _ => false,
            }
        };
        assert!(rotate("groupdesk rotate acme --yes --reveal"));
        assert!(!rotate("groupdesk rotate acme globex"));
        assert!(!rotate("groupdesk rotate acme --max-failures 1"));
        assert!(Cli::try_parse_from(["groupdesk", "rotate"]).is_err());
        assert!(Cli::try_parse_from(["groupdesk", "rotate", "a", "--filter", "b"]).is_err());
    }

    #[test]
    fn proposals_know_each_command_and_no_other() {
        let known = proposal::COMMANDS.iter().flat_map(|(_, words)| *words);
        let mut known: Vec<_> = known.map(|word| (*word).to_owned()).collect();
        known.sort();
        let real = Cli::command();
        let real = real.get_subcommands();
        let mut real: Vec<_> = real.map(|one| one.get_name().to_owned()).collect();
        real.sort();
        assert_eq!(known, real);
    }
}
