//! `profile`: adds, lists, shows, checks and removes profiles of the configuration file, and keeps their keys in the
//! kernel's keyring. It never touches what the directory knows of a profile.

mod add;
mod bind;
mod questions;
mod show;

use super::prelude::*;
use crate::{
    cli::{output::exchanges, session::overrides},
    config::{
        edit, keyring,
        profile::{self, KeySource},
    },
    directory::{Directory, Role},
    operations::{Connector, NotAdded, PlaceProblem, Probe, hand_off_cannot_start},
};

/// What every `profile` command works with.
struct Setup<'g> {
    global: &'g Global,
    overrides: Overrides,
    json: bool,
    no_input: bool,
}

/// Manage profiles, and store their API keys in the kernel keyring
#[derive(Debug, Args)]
pub(crate) struct Profile {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a profile to the configuration file, after a test of its connection
    #[command(
        after_help = "Prompts for missing values.\n\nExit codes: 0 saved, 1 the test failed and nothing was saved, 2 usage or configuration error."
    )]
    Add(Box<add::Add>),
    /// List profiles
    List,
    /// Show a profile, without its API key
    Show {
        /// Profile [default: the profile in use]
        name: Option<String>,
    },
    /// Bind a profile to the environment that it connects to
    #[command(
        override_usage = "groupdesk profile bind <NAME|--variables|--all> --same-environment [ENVIRONMENT] [OPTIONS]\n       \
                          groupdesk profile bind <NAME|--variables> --new-environment [OPTIONS]",
        after_help = "Needed if URL, API key and name do not show which environment it is.\n\nExit codes: 0 bound, 2 usage or configuration error, 3 verification failed, 4 the key cannot be read."
    )]
    Bind(Box<bind::Bind>),
    /// Undo the binding of a profile to its environment; keeps recorded data
    Unbind(bind::Unbind),
    /// Test the connection of a profile; creates nothing
    #[command(
        after_help = "Exit codes: 0 connected and the key is accepted, 1 unexpected response, 4 key missing or refused, 5 \
            unreachable."
    )]
    Check {
        /// Profile [default: the profile in use]
        name: Option<String>,
    },
    /// Rename a profile; its environment keeps its groups, history and journals
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
    /// Show or set how the service behaves where its API is undocumented
    #[command(
        after_help = "Updates depend on these settings. If you do not know them, use --omitted-fields unknown: updates then also send the \
            last known values of omitted fields."
    )]
    #[command(aliases = ["behavior", "facts"])]
    Behaviour(show::Behaviour),
    /// Store a profile's API key, read from standard input, in the kernel keyring
    Key {
        /// The profile; its api_key must be { keyring = "..." }
        name: String,
        /// Remove the key from the keyring
        #[arg(long)]
        forget: bool,
    },
}

impl Run for Profile {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("profile", &["groupdesk profile list", "groupdesk profile check eu-live"], &[]),
        page("profile add", &[
            "groupdesk profile add eu-live --base-url https://eu.example.com --api-key-env EU_KEY",
            "groupdesk profile add eu-live --base-url https://eu.example.com --api-key-keyring < key",
        ], &[one("NAME", &[&add::ADDED])]),
        page("profile list", &["groupdesk profile list", "groupdesk profile list --json | jq -r '.[].profile'"],
            &[array("", &[&show::PROFILE])]),
        page("profile show", &["groupdesk profile show", "groupdesk profile show eu-live --json"], &[row("[NAME]", &[&show::PROFILE])]),
        page("profile bind", &[
            "groupdesk profile bind eu-test --new-environment",
            "groupdesk profile bind eu-live --same-environment --verify-with acme-eu",
            "groupdesk profile bind --all --same-environment",
        ], &[array("NAME", &[&bind::BINDING])]),
        page("profile unbind", &["groupdesk profile unbind eu-test", "groupdesk profile unbind eu-test --json"],
            &[array("NAME", &[&bind::BINDING])]),
        page("profile check", &["groupdesk profile check", "groupdesk profile check eu-live --json"], &[one("[NAME]", &[&CHECK])]),
        page("profile rename", &["groupdesk profile rename eu eu-live", "groupdesk profile rename eu eu-live --dry-run"],
            &[one("NAME TO", &[&RENAMED])]),
        page("profile remove", &["groupdesk profile remove old --dry-run", "groupdesk profile remove old --yes"],
            &[one("NAME", &[&REMOVED])]),
        page("profile behaviour", &[
            "groupdesk profile behaviour eu-live",
            "groupdesk profile behaviour eu-live --omitted-fields keep --sole-writer yes",
        ], &[array("[NAME]", &[&show::FACT])]),
        page("profile key", &["groupdesk profile key eu-live", "groupdesk profile key eu-live < key"], &[one("NAME", &[&KEY])]),
    ];

    /// The first signal ends it and leaves nothing half written.
    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let mut signals = Signals::new()?;
        let context = Setup {
            global,
            overrides: overrides(global),
            json: global.json,
            no_input: global.no_input,
        };
        let work = Box::pin(context.one(self.command));
        signals.unless_signalled(work).await
    }
}

impl Setup<'_> {
    async fn one(&self, command: Command) -> Result<Exit, CliError> {
        match command {
            Command::Add(arguments) => add::add(self, *arguments).await,
            Command::Bind(arguments) => bind::bind(self, *arguments).await,
            Command::Unbind(arguments) => bind::bind(self, arguments.into()).await,
            Command::List => show::list(self),
            Command::Show { name } => show::show(self, name.as_deref()),
            Command::Check { name } => self.check(name.as_deref()).await,
            Command::Rename { name, to, dry_run } => self.rename(&name, &to, dry_run).await,
            Command::Remove { name, yes, dry_run } => self.remove(&name, yes, dry_run).await,
            Command::Behaviour(arguments) => show::behaviour(self, arguments).await,
            Command::Key { name, forget } => self.key(&name, forget).await,
        }
    }

    fn connector(&self) -> Connector {
        Connector::new(self.overrides.clone(), None, Clock::System)
            .with_listener(exchanges::listener())
    }

    fn settings(&self) -> Result<Settings, CliError> {
        Ok(Settings::load(&self.overrides)?)
    }

    async fn check(&self, name: Option<&str>) -> Result<Exit, CliError> {
        let settings = self.settings()?;
        let profile = settings.profile(name)?;
        output::say(&format!(
            "{} {} {}",
            profile.environment_word(),
            profile.name,
            profile.url()
        ));
        let operations = session::has_directory(&self.overrides)
            .then(|| self.operations(&settings, profile).ok())
            .flatten();
        if let Some(operations) = &operations {
            not_as_viewer(operations.directory())?;
        }
        let probe = self.connector().probe(profile, None).await?;
        let value = || checked(&probe, &profile.name);
        output::either(self.json, value, || show::probe_text(&probe))?;
        let variables = self.overrides.env.for_commands();
        let handoff = profile.handoff.as_ref();
        if let Some(why) = handoff.and_then(|command| hand_off_cannot_start(command, &variables)) {
            output::alarm(&format!("! {why}"));
        }
        // The connection is what was tested; `doctor` says what is wrong with the directory.
        if let Some(operations) = &operations {
            say_contradiction(operations).await;
        }
        Ok(Exit::from_probe(&probe))
    }

    /// The operations of a profile, on the configured directory.
    fn operations(
        &self,
        settings: &Settings,
        profile: &profile::Profile,
    ) -> Result<Operations, CliError> {
        Ok(Operations::new(
            profile.clone(),
            self.overrides.env.clone(),
            session::open_named(&settings.directory, &self.overrides)?,
            settings.operator.clone(),
            Clock::System,
        ))
    }

    async fn remove(&self, name: &str, yes: bool, dry_run: bool) -> Result<Exit, CliError> {
        let edit = edit::Opened::read(&self.overrides)?.removed(name)?;
        if !yes && !dry_run {
            let file = edit.file.display();
            if !confirm::has_person(self.no_input) {
                return Err(CliError::Guarded(format!(
                    "profile {name} would be removed from {file}; nothing was changed. To remove it: groupdesk profile remove {} \
                     --yes",
                    quoted(name)
                )));
            }
            output::context(edit.lines.trim_end());
            let what = format!("Remove profile {name} from {file}?");
            confirm::confirm(false, &what, Question::YesOrNo).await?;
        }
        if !dry_run {
            edit.make()?;
            output::note_change();
        }
        let word = if dry_run { "would remove" } else { "removed" };
        let file = edit.file.display();
        let said =
            format!("{word} these lines from {file}; the directory keeps the data of {name}");
        let value = || removed(name, &edit, dry_run);
        self.edited(value, &said, &edit)
    }

    async fn rename(&self, name: &str, to: &str, dry_run: bool) -> Result<Exit, CliError> {
        let connector = self.connector();
        let edit = if dry_run {
            connector.plan_rename(name, to)
        } else {
            connector.rename(name, to).await
        };
        let edit = edit.map_err(stop_of)?;
        if !dry_run {
            output::note_change();
        }
        let word = if dry_run { "would change" } else { "changed" };
        let file = edit.file.display();
        let said = format!("{word} these lines in {file}; the environment keeps all its data");
        let value = || renamed(to, name, &edit, dry_run);
        self.edited(value, &said, &edit)
    }

    /// Prints the result of an edit, and the lines that it is about.
    fn edited(
        &self,
        value: impl FnOnce() -> Object,
        said: &str,
        edit: &edit::Edit,
    ) -> Result<Exit, CliError> {
        if !self.json {
            output::say(said);
        }
        output::either(self.json, value, || edit.lines.trim_end().to_owned())
    }

    async fn key(&self, name: &str, forget: bool) -> Result<Exit, CliError> {
        let settings = self.settings()?;
        let profile = settings.profile(Some(name))?;
        let KeySource::Keyring(entry) = &profile.api_key else {
            return Err(CliError::Usage(format!(
                "the API key of profile {name} comes from: {}. To use the keyring, set api_key \
                 = {{ keyring = \"{name}\" }} in the profile",
                profile.api_key
            )));
        };
        let failed =
            |error: keyring::KeyringError| CliError::Usage(format!("the kernel keyring: {error}"));
        if forget {
            keyring::forget(entry).map_err(failed)?;
            output::note_change();
            output::say(&format!(
                "removed the key of profile {name} from the kernel keyring"
            ));
        } else {
            let key = questions::key(self.no_input).await?;
            if key.is_none() && self.no_input && io::stdin().is_terminal() {
                return Err(CliError::Guarded(
                    "cannot prompt for the key, because --no-input is set; nothing was saved. Pass the key on standard input"
                        .into(),
                ));
            }
            let key = key.ok_or_else(|| {
                CliError::Usage("no key on standard input; nothing was saved".into())
            })?;
            keyring::store(entry, &key).map_err(failed)?;
            output::note_change();
            output::say(&format!(
                "stored the key of profile {name} in the kernel keyring, until the next reboot at the latest"
            ));
        }
        if self.json {
            output::json(&key(name, !forget))?;
        }
        Ok(Exit::Done)
    }
}

/// A viewer changes nothing and sends nothing, so no API key is read.
fn not_as_viewer(directory: &Directory) -> Result<(), CliError> {
    if directory.role() == Some(Role::Viewer) {
        directory.may(Role::Operator)?;
    }
    Ok(())
}

/// Says that nothing is sent for this profile, although its key is accepted: a response, or another profile, named another
/// environment.
async fn say_contradiction(operations: &Operations) {
    operations.directory().set_is_of_command(true);
    if !operations.key_is_at_hand() {
        return;
    }
    let problem = operations.place_problem().await;
    let is_contradiction = |problem: &PlaceProblem| {
        matches!(
            problem,
            PlaceProblem::Alarmed { .. } | PlaceProblem::TagConflict { .. }
        )
    };
    if let Some(problem) = problem.filter(is_contradiction) {
        output::alarm(&format!("! {problem}"));
    }
}

shape! {
    CHECK = "check", "result of a connection test";
    fn checked(probe: &Probe, profile: &str) {
        ..show::PROBE = show::probe(probe);
        "profile": text = profile, "the profile";
    }

    REMOVED = "profile-removed", "a profile that was, or would be, removed";
    fn removed(name: &str, edit: &edit::Edit, dry_run: bool) {
        "profile": text = name, "its name";
        "file": text = edit.file.display(), "the configuration file";
        "dry_run": bool = dry_run, "true: nothing was changed";
        "lines": text = edit.lines, "the lines that were, or would be, removed";
    }

    RENAMED = "profile-renamed", "a profile that was, or would be, renamed";
    fn renamed(name: &str, was: &str, edit: &edit::Edit, dry_run: bool) {
        "profile": text = name, "its name";
        "was": text = was, "its name before";
        "file": text = edit.file.display(), "the configuration file";
        "dry_run": bool = dry_run, "true: nothing was changed";
        "lines": text = edit.lines, "the lines that changed";
    }

    KEY = "profile-key", "the state of the kernel keyring";
    fn key(name: &str, stored: bool) {
        "profile": text = name, "its name";
        "stored": bool = stored, "false after --forget";
    }
}

fn stop_of(error: NotAdded) -> CliError {
    match error {
        NotAdded::Edit(error) => error.into(),
        other => CliError::Usage(other.to_string()),
    }
}
