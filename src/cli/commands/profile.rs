//! `profile`: adds, lists, shows, checks and removes profiles of the configuration file, and keeps their keys in the
//! kernel's keyring. It never touches what the directory knows of a profile.

pub(crate) mod add;
pub(crate) mod behaviour;
pub(crate) mod bind;
mod input;
mod questions;
pub(crate) mod show;

use std::io::{self, IsTerminal};

use crate::{
    cli::{
        args::{Global, ProfileCommand as Command},
        error::CliError,
        input::confirm::{self, Question},
        output::{
            self, exchanges,
            shape::{Object, shape},
        },
        process::{exit::Exit, signals::Signals},
        session::overrides,
    },
    config::{Overrides, Settings, edit, keyring, profile::KeySource},
    domain::proposal::quoted,
    operations::{Clock, Connector, NotAdded, Probe},
};

/// What every `profile` command works with.
struct Setup {
    overrides: Overrides,
    json: bool,
    no_input: bool,
}

/// Runs one command. The first signal ends it and leaves nothing half written.
pub(crate) async fn run(global: &Global, command: Command) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let context = Setup {
        overrides: overrides(global),
        json: global.json,
        no_input: global.no_input,
    };
    tokio::select! {
        biased;
        ended = Box::pin(context.one(command)) => ended,
        () = signals.next() => Err(CliError::Interrupted { in_flight: false }),
    }
}

impl Setup {
    async fn one(&self, command: Command) -> Result<Exit, CliError> {
        match command {
            Command::Add(arguments) => add::add(self, *arguments).await,
            Command::Bind(arguments) => bind::bind(self, *arguments).await,
            Command::List { .. } => show::list(self),
            Command::Show { name, .. } => show::show(self, name.as_deref()),
            Command::Check { name } => self.check(name.as_deref()).await,
            Command::Rename { name, to, dry_run } => self.rename(&name, &to, dry_run).await,
            Command::Remove { name, yes, dry_run } => self.remove(&name, yes, dry_run).await,
            Command::Behaviour(arguments) => behaviour::run(self, arguments).await,
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
        let probe = self.connector().probe(profile, None).await?;
        let value = || checked(&probe, &profile.name);
        output::either(self.json, value, || show::probe_text(&probe))?;
        Ok(Exit::from_probe(&probe))
    }

    async fn remove(&self, name: &str, yes: bool, dry_run: bool) -> Result<Exit, CliError> {
        let edit = edit::removing(name, &self.overrides)?;
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
        let word = if dry_run { "would change" } else { "changed" };
        let file = edit.file.display();
        let said = format!("{word} these lines in {file}; the environment keeps all its data");
        let value = || renamed(to, name, &edit, dry_run);
        self.edited(value, &said, &edit)
    }

    /// Prints what came of an edit, and the lines that it is about.
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
                "the API key of profile {name} comes from: {}. To use the keyring, write api_key = {{ keyring = \"{name}\" }} there",
                profile.api_key
            )));
        };
        let failed = |error: keyring::KeyringError| {
            CliError::Usage(format!("the kernel's keyring: {error}"))
        };
        if forget {
            keyring::forget(entry).map_err(failed)?;
            output::say(&format!(
                "removed the key of profile {name} from the kernel keyring"
            ));
        } else {
            let key = input::key(self.no_input).await?;
            if key.is_none() && self.no_input && io::stdin().is_terminal() {
                return Err(CliError::Guarded(
                    "cannot prompt for the key, because --no-input is set; pass it on standard input. Nothing was stored"
                        .into(),
                ));
            }
            let key = key.ok_or_else(|| {
                CliError::Usage("no key came on standard input; nothing was stored".into())
            })?;
            keyring::store(entry, &key).map_err(failed)?;
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

shape! {
    pub(crate) CHECK = "check", "result of a connection test";
    fn checked(probe: &Probe, profile: &str) {
        ..show::PROBE = show::probe(probe);
        "profile": text = profile, "the profile";
    }
}

shape! {
    pub(crate) REMOVED = "profile-removed", "a profile that was, or would be, removed";
    fn removed(name: &str, edit: &edit::Edit, dry_run: bool) {
        "profile": text = name, "its name";
        "file": text = edit.file.display(), "the configuration file";
        "dry_run": bool = dry_run, "true: nothing was changed";
        "lines": text = edit.lines, "the lines that were, or would be, removed";
    }
}

shape! {
    pub(crate) RENAMED = "profile-renamed", "a profile that was, or would be, renamed";
    fn renamed(name: &str, was: &str, edit: &edit::Edit, dry_run: bool) {
        "profile": text = name, "its name";
        "was": text = was, "its name before";
        "file": text = edit.file.display(), "the configuration file";
        "dry_run": bool = dry_run, "true: nothing was changed";
        "lines": text = edit.lines, "the lines that changed";
    }
}

shape! {
    pub(crate) KEY = "profile-key", "the state of the kernel keyring";
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
