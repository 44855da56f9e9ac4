//! Options that several commands share, and the global ones. A command's own arguments are in its file.

mod groups;

use std::ffi::OsStr;

use clap::{
    Arg, ArgGroup, Args,
    builder::{EnumValueParser, PossibleValue, TypedValueParser},
};

use super::{
    output::{colour::When, form::Form},
    prelude::*,
};
use crate::{
    directory::BatchOptions,
    domain::{age, text::has_variable},
    operations::batch::RunLimits,
    search::SortBy,
};

pub(super) use groups::{
    AgainBatch, Batches, BatchesCommand, Get, Replace, ResumeBatch, Rotate, Update,
};

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
    #[arg(long, global = true, value_name = "FILE|URL")]
    pub(super) directory: Option<PathBuf>,
    /// Refuse everything that would change a group or token at the service
    #[arg(long, global = true)]
    pub(super) read_only: bool,
    /// Print JSON; for its format, run `groupdesk help json`
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Output format, if the command supports it: table (default), wide, json, jsonl, csv or name (IDs)
    #[arg(
        long,
        short = 'o',
        global = true,
        value_name = "FORMAT",
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

/// A name that is stored; an unreplaced variable is refused.
pub(crate) fn new_name(text: &str) -> Result<String, &'static str> {
    let name = (!has_variable(text)).then(|| text.to_owned());
    name.ok_or("it has a variable that only a shell or a template replaces; write the name itself")
}

/// Fields to set; the others stay unchanged.
#[derive(Debug, Default, PartialEq, Eq, Args)]
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
        *self == Self::default()
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
    /// Refuses --curl: there are several requests, or one with a token in its body.
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

/// The options that select groups; one is required.
pub(super) fn which_groups() -> ArgGroup {
    let which = ArgGroup::new("which_groups").args(["ids", "from", "filter"]);
    which.required(true).multiple(true)
}

/// The groups that a command is about: ids, the IDs of a file, or what a filter finds.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Selection {
    /// IDs of one or more groups
    #[arg(value_name = "ID", help_heading = None::<&str>)]
    pub(crate) ids: Vec<UserGroupId>,
    /// IDs from this file, one per line; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "ids")]
    pub(crate) from: Option<PathBuf>,
    /// Select by words in name and ID, or tests: tag:customer map:40=213 @view
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["ids", "from"])]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) order: Order,
}

impl Selection {
    /// The id, where one is named and nothing else is said.
    pub(crate) fn single(&self) -> Option<&UserGroupId> {
        match self.ids.as_slice() {
            [id] if !self.order.is_given() => Some(id),
            _ => None,
        }
    }
}

/// Which groups are meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Filter {
    /// Select groups that match words, or tests: tag:customer map:40=213 @view
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
}

/// The order of the groups, and how many of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct Order {
    /// By ID (default), name, tag, map, props, fingerprint, age, read, prop:KEY
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<SortBy>,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Maximum number of groups, from the start of the list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

impl Order {
    pub(crate) fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

/// How fast a run goes, and when it gives up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Pace {
    /// Maximum number of parallel requests [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: Option<u16>,
    /// Maximum rate per second or minute, such as 5/s or 30/m
    #[arg(long, value_name = "N/s", value_parser = rate)]
    rate: Option<f64>,
    /// Stop after this many consecutive failures; 0 never stops [default: 3]
    #[arg(long, alias = "stop-after", value_name = "N")]
    max_failures: Option<u16>,
}

impl Pace {
    pub(crate) fn is_given(self) -> bool {
        self != Self::default()
    }

    /// These options; those that were not passed are as in that batch.
    pub(crate) fn options(self, before: BatchOptions) -> BatchOptions {
        BatchOptions {
            concurrency: self.concurrency.or(before.concurrency),
            rate: self.rate.or(before.rate),
            stop_after: self.max_failures.or(before.stop_after),
            ..before
        }
    }

    pub(crate) fn limits(self) -> RunLimits {
        RunLimits::of(self.options(BatchOptions::default()))
    }
}

/// How fast the groups of a file are read or sent.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Speed {
    /// Maximum number of parallel requests
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Maximum rate per second or minute, such as 5/s or 30/m
    #[arg(long, value_name = "N/s", value_parser = rate)]
    rate: Option<f64>,
}

impl Speed {
    pub(crate) fn pace(self) -> RunLimits {
        RunLimits {
            concurrency: self.concurrency.into(),
            rate: self.rate,
            ..RunLimits::default()
        }
    }
}

/// Rotating many groups.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct BatchArgs {
    /// Select tokens older than this (90d, 12h) or of unknown age, oldest first
    #[arg(long, value_name = "AGE", value_parser = age::parse, conflicts_with_all = ["ids", "from"])]
    pub(crate) older_than: Option<Duration>,
    /// Include groups rotated within 24 h (one group: within the last minute)
    #[arg(long)]
    pub(crate) include_recent: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

impl BatchArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.older_than.is_some() || self.pace.is_given()
    }
}

/// Per second: `5/s`, `0.5/s`, `30/m`.
fn rate(text: &str) -> Result<f64, &'static str> {
    let wrong = "expected a number above zero with a unit: 5/s or 30/m";
    let (number, seconds) = match text.split_once('/') {
        Some((number, "s")) => (number, 1.0),
        Some((number, "m")) => (number, 60.0),
        Some(_) => return Err(wrong),
        None => (text, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| wrong)?;
    let rate = number / seconds;
    // At a lower rate nobody would live to see the end.
    if rate.is_finite() && rate >= 0.001 {
        Ok(rate)
    } else {
        Err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_their_units() {
        assert_eq!(rate("5/s"), Ok(5.0));
        assert_eq!(rate("30/m"), Ok(0.5));
        for wrong in ["", "0/s", "-1/s", "5/h", "NaN/s", "inf"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
