//! The options of `import`, `export` and `apply`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Filter, Mutation, Order, batch::rate};
use crate::{formats::Columns, operations::batch::RunLimits};

#[derive(Debug, Args)]
#[command(
    after_help = "Columns, or keys of JSON objects: user_group_id, name, mapping, properties, and \
                  note, labels, favourite, which stay in the directory and are never sent. Mapping \
                  and properties are JSON. Existing notes and labels are kept and reported, unless you use --update or \
                  --replace-notes. Every row is checked before anything is done. An imported ID counts as known: import only IDs \
                  that exist in the service, or use --create. To resume an interrupted --create or --update, run the same \
                  command again.\n\n\
                  Examples:\n  groupdesk import groups.csv\n  groupdesk import - --create --dry-run < groups.jsonl"
)]
pub(crate) struct Import {
    /// CSV, JSON lines or a JSON array; - reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Also send a get-or-create for each row
    #[arg(long)]
    pub(crate) create: bool,
    /// Also update groups that differ from their row; IDs never seen in the service also need --create
    #[arg(long)]
    pub(crate) update: bool,
    /// Read the groups of the file before the plan
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Also replace notes, labels and favourites that differ, as --update does
    #[arg(long)]
    pub(crate) replace_notes: bool,
    /// Start with the first row, even if an earlier run of this file was interrupted
    #[arg(long, alias = "again")]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) speed: Speed,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
}

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

#[derive(Debug, Args)]
#[command(
    after_help = "Columns: user_group_id, name, mapping, properties, note, labels, favourite.\n\n\
                  Examples:\n  groupdesk export --format csv --file groups.csv\n  \
                  groupdesk export --columns +note,+labels --file groups.jsonl\n  \
                  groupdesk export --reveal-tokens --token-out tokens.jsonl --file groups.jsonl"
)]
pub(crate) struct Export {
    /// JSON lines, one JSON array, or CSV [default: jsonl; with --json one array]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// Export the ID and only these columns; prefix each with + to add it to the four default columns
    #[arg(long, value_name = "COLUMNS", value_parser = Columns::parse, default_value = "", hide_default_value = true)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) filter: Filter,
    #[command(flatten)]
    pub(crate) order: Order,
    /// Write to this file; - is standard output [default: -]
    #[arg(
        long = "file",
        alias = "output",
        short_alias = 'o',
        value_name = "FILE"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Also read the token of every group from the service, into the file of --token-out
    #[arg(long, requires = "token_out")]
    pub(crate) reveal_tokens: bool,
    /// Write the tokens to this new file (mode 600), one JSON object per line; - is standard output, unless that is a terminal
    #[arg(long, value_name = "FILE", requires = "reveal_tokens")]
    pub(crate) token_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) speed: Speed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    Jsonl,
    Json,
    Csv,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Groups cannot be deleted: --prune-report only lists groups that are missing from the files. In a folder, \
    apply reads the .json, .jsonl, .ndjson, .csv and .tsv files in name order, skips hidden files, and lists all others.\n\n\
                  Examples:\n  groupdesk apply groups/ --dry-run --detailed-exitcode\n  \
                  groupdesk apply groups.jsonl --prune-report --yes"
)]
pub(crate) struct Apply {
    /// File in import format, or a folder of such files
    #[arg(value_name = "DIR|FILE")]
    pub(crate) path: PathBuf,
    /// Read the groups of the files before the plan
    #[arg(long)]
    pub(crate) refresh: bool,
    /// With --dry-run: exit with 10 if anything would change, otherwise with 0
    #[arg(long, requires = "dry_run")]
    pub(crate) detailed_exitcode: bool,
    /// List known groups that are missing from the files
    #[arg(long)]
    pub(crate) prune_report: bool,
    /// Limit --prune-report to groups that match this filter, as in list --filter
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "prune_report"
    )]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) speed: Speed,
    #[command(flatten)]
    pub(crate) mutation: Mutation,
}
