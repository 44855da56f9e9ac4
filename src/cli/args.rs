//! Options that several commands share, and the global ones. A command's own arguments are in its file.

mod batch;
mod batches;
mod get;
mod listing;
mod rotate;
mod update;

use std::{ffi::OsStr, path::PathBuf};

use clap::{
    Arg, ArgGroup, Args,
    builder::{EnumValueParser, PossibleValue, TypedValueParser},
};

pub(super) use batch::{BatchArgs, Pace, Speed};
pub(super) use batches::{AgainBatch, Batches, BatchesCommand, ResumeBatch};
pub(super) use get::Get;
pub(super) use listing::{Filter, Order, Selection};
pub(super) use rotate::Rotate;
pub(super) use update::{Replace, Update};

use super::{
    error::CliError,
    output::{colour::When, form::Form},
};
use crate::domain::text::has_variable;

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
    /// Refuse everything that would change a group or token at the service
    #[arg(long, global = true)]
    pub(super) read_only: bool,
    /// Print JSON; for its format, run `groupdesk help json`
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Output format, as far as the command has it: table (default), wide, json, jsonl, csv or name (IDs)
    #[arg(
        long,
        short = 'o',
        global = true,
        value_name = "FORM",
        value_parser = OutputParser,
        hide_possible_values = true
    )]
    pub(super) output: Option<Output>,
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

/// The value of `--output`.
#[derive(Debug, Clone)]
pub(super) enum Output {
    Form(Form),
    /// Of `export`, which took a file there until 0.2.0.
    File(PathBuf),
}

#[derive(Clone)]
struct OutputParser;

impl TypedValueParser for OutputParser {
    type Value = Output;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Output, clap::Error> {
        match EnumValueParser::<Form>::new().parse_ref(command, arg, value) {
            Err(_) if command.get_name() == "export" => Ok(Output::File(value.into())),
            form => form.map(Output::Form),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let forms = EnumValueParser::<Form>::new();
        let forms: Vec<_> = forms.possible_values()?.collect();
        Some(Box::new(forms.into_iter()))
    }
}

/// A new name that is kept. One that a script did not replace is none.
pub(crate) fn new_name(text: &str) -> Result<String, &'static str> {
    let name = (!has_variable(text)).then(|| text.to_owned());
    name.ok_or("it has a variable that only a shell or a template replaces; write the name itself")
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

impl Fields {
    /// Whether no field is set.
    pub(super) fn are_none(&self) -> bool {
        let Self {
            name,
            map,
            mapping,
            property,
            properties,
        } = self;
        name.is_none()
            && mapping.is_none()
            && properties.is_none()
            && map.is_empty()
            && property.is_empty()
    }
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
pub(super) fn which_groups() -> ArgGroup {
    let which = ArgGroup::new("which_groups").args(["ids", "from", "filter"]);
    which.required(true).multiple(true)
}
