//! The subcommands of `profile`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Output, user_group_id};
use crate::domain::{
    facts::{Field, OmittedField},
    group::UserGroupId,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a profile: prompts for missing values, tests the connection, and updates the configuration
    #[command(
        after_help = "Exit codes: 0 saved, 1 the test failed and nothing was saved, 2 usage or configuration error.\n\n\
                      Examples:\n  groupdesk profile add eu-live --base-url https://eu.example.com --api-key-env EU_KEY\n  \
                      groupdesk profile add eu-live --base-url https://eu.example.com --api-key-keyring < key"
    )]
    Add(Box<Add>),
    /// List profiles
    #[command(
        after_help = "Examples:\n  groupdesk profile list\n  groupdesk profile list --json | jq -r '.[].profile'"
    )]
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show a profile, without its API key
    #[command(
        after_help = "Examples:\n  groupdesk profile show\n  groupdesk profile show eu-live --json"
    )]
    Show {
        /// Profile [default: the profile in use]
        name: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Bind a profile to an environment, if its URL, API key and name leave open which one it is
    #[command(
        override_usage = "groupdesk profile bind <NAME|--variables|--all> --same-environment [ENVIRONMENT] [OPTIONS]\n       \
                          groupdesk profile bind <NAME|--variables> --new-environment|--undo [OPTIONS]",
        after_help = "Exit codes: 0 bound, 2 usage or configuration error, 3 verification failed, 4 the key cannot be read.\n\n\
                      Examples:\n  groupdesk profile bind eu-test --new-environment\n  \
                      groupdesk profile bind eu-live --same-environment --verify-with acme-eu\n  \
                      groupdesk profile bind --all --same-environment"
    )]
    Bind(Box<Bind>),
    /// Test the connection of a profile; creates nothing
    #[command(
        after_help = "Exit codes: 0 connected and the key is accepted, 1 unexpected response, 4 key missing or refused, 5 \
        unreachable.\n\n\
                      Examples:\n  groupdesk profile check\n  groupdesk profile check eu-live --json"
    )]
    Check {
        /// Profile [default: the profile in use]
        name: Option<String>,
    },
    /// Rename a profile; its environment keeps its groups, history and journals
    #[command(
        after_help = "Examples:\n  groupdesk profile rename eu eu-live\n  groupdesk profile rename eu eu-live --dry-run"
    )]
    Rename {
        /// The profile
        name: String,
        /// Its new name
        to: String,
        /// Show the lines that would change, without changing anything
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove a profile from the configuration file; keeps its data in the directory
    #[command(
        after_help = "Examples:\n  groupdesk profile remove old --dry-run\n  groupdesk profile remove old --yes"
    )]
    Remove {
        /// The profile
        name: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
        /// Show the lines that would be removed, without changing anything
        #[arg(long)]
        dry_run: bool,
    },
    /// Show or set how the service behaves where its API is undocumented; updates depend on it
    #[command(
        after_help = "You do not have to know: with --omitted-fields unknown, updates also send the last known values of omitted \
        fields.\n\n\
                      Examples:\n  groupdesk profile behaviour eu-live\n  groupdesk profile behaviour eu-live --omitted-fields keep --sole-writer yes"
    )]
    #[command(aliases = ["behavior", "facts"])]
    Behaviour(BehaviourArgs),
    /// Store a profile's API key, read from standard input, in the kernel keyring
    #[command(
        after_help = "Examples:\n  groupdesk profile key eu-live\n  groupdesk profile key eu-live < key"
    )]
    Key {
        /// The profile; its api_key must be { keyring = "..." }
        name: String,
        /// Remove the key from the keyring
        #[arg(long)]
        forget: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Short name of your choice
    pub(crate) name: String,
    /// URL of the service
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Path of the API [default: /api/user]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Environment tag that responses must have; without it, any tag is accepted and the profile counts as production
    #[arg(long, value_parser = ["Customer", "Testing"])]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Additional CA certificates to trust (PEM)
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Save the profile without testing the connection
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Skip the confirmation prompt; if the test fails, nothing is saved
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Test the connection and show the lines, without saving anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The profile is a known environment with a new key or URL [default: the only candidate]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "new_environment")]
    pub(crate) same_environment: Option<String>,
    /// The profile is a new environment
    #[arg(long)]
    pub(crate) new_environment: bool,
}

/// Where the key comes from.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SourceArgs {
    /// Environment variable that contains the key
    #[arg(long = "api-key-env", value_name = "NAME")]
    pub(crate) env: Option<String>,
    /// File that contains the key; only you may have access
    #[arg(long = "api-key-file", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Command that prints the key; runs without a shell
    #[arg(long = "api-key-command", value_name = "CMD", num_args = 1..)]
    pub(crate) command: Option<Vec<String>>,
    /// Entry of the kernel keyring; the key is read from standard input or a prompt [default: the profile name]
    #[arg(long = "api-key-keyring", value_name = "ENTRY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) keyring: Option<String>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("answer").required(true))]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Bind {
    /// The profile
    #[arg(group = "which")]
    pub(crate) name: Option<String>,
    /// Bind the profile that GROUPDESK_BASE_URL and GROUPDESK_API_KEY define
    #[arg(long, group = "which")]
    pub(crate) variables: bool,
    /// Bind every profile in the configuration file whose environment is undecided
    #[arg(long, group = "which", requires = "same_environment")]
    pub(crate) all: bool,
    /// The profile is a known environment with a new key, URL or name [default: the only candidate]
    #[arg(long, value_name = "ENVIRONMENT", num_args = 0..=1, default_missing_value = "", group = "answer")]
    pub(crate) same_environment: Option<String>,
    /// The profile is a new environment
    #[arg(long, group = "answer")]
    pub(crate) new_environment: bool,
    /// Undo the binding; keeps recorded data
    #[arg(long, group = "answer")]
    pub(crate) undo: bool,
    /// Read this group now, to verify that the key belongs to the environment
    #[arg(long, alias = "proof", value_name = "ID", value_parser = user_group_id, requires = "same_environment")]
    pub(crate) verify_with: Option<UserGroupId>,
    /// Trust the key without verification, for example if all tokens have changed; asks you to type a phrase
    #[arg(
        long,
        alias = "no-proof",
        requires = "same_environment",
        conflicts_with = "verify_with"
    )]
    pub(crate) no_verify: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BehaviourArgs {
    /// Profile [default: the profile in use]
    pub(crate) name: Option<String>,
    /// What a get with properties returns: the stored properties (returned) or those of the request (echoed)
    #[arg(long, value_name = "VALUE", value_parser = ["returned", "echoed", "unknown"])]
    pub(crate) properties_on_get: Option<String>,
    /// What the service does to fields that an update omits; for one field: mapping=clear
    #[arg(long, alias = "absent-fields", value_name = "[FIELD=]keep|clear|unknown", value_parser = omitted)]
    pub(crate) omitted_fields: Vec<OmittedFields>,
    /// Whether all changes to this environment go through this directory
    #[arg(long, value_name = "yes|no", value_parser = ["yes", "no"])]
    pub(crate) sole_writer: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct OmittedFields(pub(crate) Vec<Field>, pub(crate) OmittedField);

fn omitted(text: &str) -> Result<OmittedFields, String> {
    let (fields, value) = match text.split_once('=') {
        Some((name, value)) => {
            let field = Field::ALL.into_iter().find(|field| field.as_str() == name);
            let field = field.ok_or("expected name, mapping or properties")?;
            (vec![field], value)
        }
        None => (Field::ALL.to_vec(), text),
    };
    let value = OmittedField::parse(value).ok_or("expected keep, clear or unknown")?;
    Ok(OmittedFields(fields, value))
}
