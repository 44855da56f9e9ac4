//! `profile`: adds, lists, shows, checks and removes profiles of the configuration file, and keeps their keys in the
//! kernel's keyring. What the directory knows of a profile is never touched.

mod add;
mod asking;
mod bind;
pub(super) mod facts;
mod input;
mod show;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::{Args, Subcommand};

use super::{args::Global, exit::Exit, print, session::overrides, signals::Signals, stop::Stop};
use crate::{
    config::{Overrides, Settings, edit, keyring, profile::KeySource},
    operations::{Clock, Connector},
};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Add a profile: asks for what is missing, tests the connection, writes the lines
    #[command(
        after_help = "Exit codes: 0 written, 1 the answer is not as it should be, 2 usage or configuration, 4 key missing or refused, 5 unreachable.\n\n\
                      Examples:\n  groupdesk profile add eu-live --base-url https://eu.example.com --api-key-env EU_KEY\n  \
                      groupdesk profile add eu-live --base-url https://eu.example.com --api-key-keyring < key"
    )]
    Add(Box<Add>),
    /// List the profiles
    #[command(
        after_help = "Examples:\n  groupdesk profile list\n  groupdesk profile list --json | jq -r '.[].profile'"
    )]
    List,
    /// Show one profile, never a key
    #[command(
        after_help = "Examples:\n  groupdesk profile show\n  groupdesk profile show eu-live --json"
    )]
    Show {
        /// The profile [default: the one that would open]
        name: Option<String>,
    },
    /// Say which environment a profile means, where its address, API key and name do not tell
    #[command(
        override_usage = "groupdesk profile bind <NAME|--variables|--all> --same-environment [PLACE] [OPTIONS]\n       \
                          groupdesk profile bind <NAME|--variables> --new-environment|--undo [OPTIONS]",
        after_help = "Exit codes: 0 bound, 2 usage or configuration, 3 the proof failed, 4 the key cannot be read.\n\n\
                      Examples:\n  groupdesk profile bind eu-test --new-environment\n  \
                      groupdesk profile bind eu-live --same-environment --proof acme-eu\n  \
                      groupdesk profile bind --all --same-environment"
    )]
    Bind(Box<bind::Bind>),
    /// Test the connection of a profile; creates nothing
    #[command(
        after_help = "Exit codes: 0 reached and the key is taken, 1 the answer is not as it should be, 4 key missing or refused, 5 unreachable.\n\n\
                      Examples:\n  groupdesk profile check\n  groupdesk profile check eu-live --json"
    )]
    Check {
        /// The profile [default: the one that would open]
        name: Option<String>,
    },
    /// Take a profile out of the configuration file; what the directory knows stays
    #[command(
        after_help = "Examples:\n  groupdesk profile remove old --dry-run\n  groupdesk profile remove old --yes"
    )]
    Remove {
        /// The profile
        name: String,
        /// Do it; without this it is refused
        #[arg(long, short = 'y')]
        yes: bool,
        /// Show the lines that would go; change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Show and tell what the service does where its interface is silent; updates depend on it
    #[command(
        after_help = "Not known is a good answer: --absent-fields unknown accepts that what was last known is sent along.\n\n\
                      Examples:\n  groupdesk profile facts eu-live\n  groupdesk profile facts eu-live --absent-fields keep --sole-writer yes"
    )]
    Facts(facts::Arguments),
    /// Store the API key of a profile in the kernel's keyring, read from standard input
    #[command(
        after_help = "Examples:\n  groupdesk profile key eu-live\n  groupdesk profile key eu-live < key"
    )]
    Key {
        /// The profile; its api_key must be { keyring = "..." }
        name: String,
        /// Take it out of the keyring
        #[arg(long)]
        forget: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Add {
    /// A short name of your own
    name: String,
    /// Where the service is
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Path of the interface [default: /api/user]
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// The tag that answers must carry; not said: none, and it counts as production
    #[arg(long, value_parser = ["Customer", "Testing"])]
    environment: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
    /// Authorities to trust beside those of the system, in PEM
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Write it without testing the connection
    #[arg(long)]
    no_check: bool,
    /// Write it whatever the test finds
    #[arg(long, short = 'y')]
    yes: bool,
    /// Test it and show the lines; write nothing
    #[arg(long)]
    dry_run: bool,
    /// It is an environment that is known, with another key or address [default PLACE: the only one possible]
    #[arg(long, value_name = "PLACE", num_args = 0..=1, default_missing_value = "", conflicts_with = "new_environment")]
    same_environment: Option<String>,
    /// It is an environment of its own
    #[arg(long)]
    new_environment: bool,
}

/// Where the key comes from.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct SourceArgs {
    /// The environment variable that holds the key
    #[arg(long = "api-key-env", value_name = "NAME")]
    env: Option<String>,
    /// The file that holds the key; only you may read it
    #[arg(long = "api-key-file", value_name = "FILE")]
    file: Option<PathBuf>,
    /// The command that prints the key; run without a shell
    #[arg(long = "api-key-command", value_name = "COMMAND", num_args = 1..)]
    command: Option<Vec<String>>,
    /// The kernel's keyring; the key is read from standard input, or asked for [default ENTRY: the name of the profile]
    #[arg(long = "api-key-keyring", value_name = "ENTRY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keyring: Option<String>,
}

/// What every one of them works with.
struct Bench {
    overrides: Overrides,
    json: bool,
    no_input: bool,
}

/// Runs one; the first signal ends it, nothing half written behind it.
pub(super) async fn run(global: &Global, command: Command) -> Result<Exit, Stop> {
    let mut signals = Signals::new()?;
    let bench = Bench {
        overrides: overrides(global),
        json: global.json,
        no_input: global.no_input,
    };
    tokio::select! {
        biased;
        ended = Box::pin(bench.one(command)) => ended,
        () = signals.next() => Err(Stop::Interrupted { in_flight: false }),
    }
}

impl Bench {
    async fn one(&self, command: Command) -> Result<Exit, Stop> {
        match command {
            Command::Add(arguments) => add::add(self, *arguments).await,
            Command::Bind(arguments) => bind::bind(self, *arguments).await,
            Command::List => show::list(self),
            Command::Show { name } => show::show(self, name.as_deref()),
            Command::Check { name } => self.check(name.as_deref()).await,
            Command::Remove { name, yes, dry_run } => self.remove(&name, yes, dry_run),
            Command::Facts(arguments) => facts::run(self, arguments).await,
            Command::Key { name, forget } => self.key(&name, forget).await,
        }
    }

    fn connector(&self) -> Connector {
        Connector::new(self.overrides.clone(), None, Clock::System)
    }

    fn settings(&self) -> Result<Settings, Stop> {
        Ok(Settings::load(&self.overrides)?)
    }

    async fn check(&self, name: Option<&str>) -> Result<Exit, Stop> {
        let settings = self.settings()?;
        let profile = settings.profile(name)?;
        print::say(&format!(
            "{} {} {}",
            profile.environment_word(),
            profile.name,
            profile.url()
        ));
        let probe = self.connector().probe(profile, None).await?;
        if self.json {
            let mut value = show::probe(&probe);
            value["profile"] = profile.name.as_str().into();
            print::json(&value)?;
        } else {
            print::result(&show::probe_text(&probe))?;
        }
        Ok(Exit::of_probe(&probe))
    }

    fn remove(&self, name: &str, yes: bool, dry_run: bool) -> Result<Exit, Stop> {
        let edit = edit::removing(name, &self.overrides).map_err(stop_of_edit)?;
        if !yes && !dry_run {
            return Err(Stop::Guarded(format!(
                "profile {name} would be taken out of {}; say --yes to do it, --dry-run to see the lines. Nothing was changed",
                edit.file.display()
            )));
        }
        if !dry_run {
            edit.make().map_err(stop_of_edit)?;
        }
        if self.json {
            print::json(&serde_json::json!({
                "profile": name,
                "file": edit.file.display().to_string(),
                "dry_run": dry_run,
                "lines": edit.lines,
            }))?;
        } else {
            let word = if dry_run { "would take" } else { "took" };
            print::say(&format!(
                "{word} these lines out of {}; what the directory knows of {name} stays",
                edit.file.display()
            ));
            print::result(edit.lines.trim_end())?;
        }
        Ok(Exit::Done)
    }

    async fn key(&self, name: &str, forget: bool) -> Result<Exit, Stop> {
        let settings = self.settings()?;
        let profile = settings.profile(Some(name))?;
        let KeySource::Keyring(entry) = &profile.api_key else {
            return Err(Stop::Usage(format!(
                "the API key of profile {name} comes from: {}. To use the keyring, write api_key = {{ keyring = \"{name}\" }} there",
                profile.api_key
            )));
        };
        let failed =
            |error: keyring::KeyringError| Stop::Usage(format!("the kernel's keyring: {error}"));
        if forget {
            keyring::forget(entry).map_err(failed)?;
            print::say(&format!(
                "the kernel's keyring has no key of profile {name} any more"
            ));
        } else {
            let key = input::key(self.no_input).await?;
            if key.is_none() && self.no_input && io::stdin().is_terminal() {
                return Err(Stop::Guarded(
                    "the key would have to be typed, and --no-input was said; give it on standard input. Nothing was stored"
                        .into(),
                ));
            }
            let key = key.ok_or_else(|| {
                Stop::Usage("no key came on standard input; nothing was stored".into())
            })?;
            keyring::store(entry, &key).map_err(failed)?;
            print::say(&format!(
                "the key of profile {name} is in the kernel's keyring, until a reboot at the latest"
            ));
        }
        if self.json {
            print::json(&serde_json::json!({ "profile": name, "stored": !forget }))?;
        }
        Ok(Exit::Done)
    }
}

fn stop_of_edit(error: edit::EditError) -> Stop {
    match error {
        edit::EditError::Config(error) => Stop::Config(error),
        other => Stop::Usage(other.to_string()),
    }
}
