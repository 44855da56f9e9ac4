//! Opens the console on the configured profiles, or on the demo's world.

use std::io::{self, IsTerminal};

use super::{demo, prelude::*};
use crate::{
    cli::{
        output,
        process::{exit::Exit, panic_report},
        session,
    },
    config::{ConfigError, Environment, Overrides, Settings, UiSettings, new_directory},
    demo::{PROFILES, Setup},
    operations::{Clock, Connector, Operations, open_directory},
    tui::{
        self, ExitReason, TuiOptions,
        keymap::{self, Keymap},
        terminal::{Signals, TerminalError},
    },
};

/// `groupdesk`
pub(crate) async fn run(global: &Global) -> Result<Exit, CliError> {
    a_terminal()?;
    let mut signals = signals()?;
    let overrides = Overrides {
        // The console itself has the terminal.
        env: Environment::of_process(),
        ..session::overrides(global)
    };
    let settings = Settings::load(&overrides)?;
    let selection = overrides.selection(settings.usual_profile.clone());
    let keys = keymap::resolve(&settings.keys).map_err(|problems| ConfigError::Wrong {
        // Keys can only be configured in the file.
        file: settings.file.clone().unwrap_or_default(),
        problems,
    })?;
    let current = if settings.profiles.is_empty() {
        0
    } else {
        let name = &settings.profile(None)?.name;
        settings
            .profiles
            .iter()
            .position(|profile| profile.name == *name)
            .unwrap_or(0)
    };
    let mut opened = None;
    let mut greeting = Vec::new();
    let operations = if settings.profiles.is_empty() {
        Vec::new()
    } else {
        let new = new_directory(&overrides, &settings.directory);
        let directory = open_directory(&settings.directory, &overrides.env)?;
        greeting.extend(new.map(|file| session::new_directory_text(&file)));
        opened = Some(directory.clone());
        let of = |profile| {
            Operations::new(
                profile,
                overrides.env.clone(),
                directory.clone(),
                settings.operator.clone(),
                Clock::System,
            )
        };
        settings.profiles.into_iter().map(of).collect()
    };
    let start = TuiOptions {
        operations,
        current,
        selection: Some(selection),
        operator: settings.operator,
        config_file: settings.file,
        ascii: global.ascii,
        ui: UiSettings {
            plain: global.plain || settings.ui.plain,
            ..settings.ui
        },
        environment: overrides.env.clone(),
        connector: Some(Connector::new(overrides, opened, Clock::System)),
        keys,
        greeting,
        is_ephemeral: false,
    };
    match open(start, &mut signals).await? {
        ExitReason::Asked => Ok(Exit::Done),
        ExitReason::Signal => Ok(Exit::Interrupted),
        ExitReason::Demo => {
            let setup = Setup {
                read_only: global.read_only,
                ..Setup::default()
            };
            play(None, setup, global, &mut signals).await
        }
    }
}

/// Try groupdesk with sample groups on this machine; deletes them on exit
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Number of generated groups, instead of the samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    groups: Option<u32>,
    /// Run without a console until Ctrl-C; prints the variables for another shell
    #[arg(long)]
    hold: bool,
}

impl Run for Demo {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("demo", &["groupdesk demo", "groupdesk demo --groups 100000"], &[one("--hold", &[&demo::DEMO])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let setup = demo::setup(global)?;
        if self.hold {
            demo::hold(self.groups, setup, global.json).await
        } else {
            a_terminal()?;
            play(self.groups, setup, global, &mut signals()?).await
        }
    }
}

/// Runs the demo in the terminal. One set of signals covers everything from its first file to its end, so that none is
/// lost in between.
async fn play(
    groups: Option<u32>,
    setup: Setup,
    global: &Global,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let world = demo::begin(groups, setup, signals.next_end()).await?;
    let elsewhere = demo::exports(&world)?;
    let is_first = |name: &&str| *name == setup.profile;
    let current = PROFILES.iter().position(is_first).unwrap_or_default();
    let other = PROFILES[1 - current];
    let start = TuiOptions {
        operations: vec![world.production.clone(), world.testing.clone()],
        current,
        selection: None,
        operator: world.operator.clone(),
        config_file: None,
        ascii: global.ascii,
        ui: UiSettings {
            plain: global.plain,
            ..UiSettings::default()
        },
        environment: Environment::of_process(),
        connector: None,
        keys: Keymap::default(),
        greeting: vec![
            format!(
                "For another shell: `{}`",
                elsewhere.trim_end().replace("\nexport", "")
            ),
            format!("Demo on this machine; deleted when you quit. P: {other}."),
        ],
        is_ephemeral: true,
    };
    let reason = open(start, signals).await;
    world.end().await;
    match reason? {
        ExitReason::Asked | ExitReason::Demo => Ok(Exit::Done),
        ExitReason::Signal => Ok(Exit::Interrupted),
    }
}

async fn open(start: TuiOptions, signals: &mut Signals) -> Result<ExitReason, CliError> {
    if start.ui.plain {
        panic_report::be_plain();
    }
    let ended = tui::run(start, signals).await.map_err(|error| {
        if error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<TerminalError>())
            .is_some()
        {
            CliError::Usage(format!("the console cannot be opened: {error}"))
        } else {
            CliError::unexpected("the terminal of the console failed")(error)
        }
    })?;
    if let Some(unsent) = ended.unsent {
        output::alarm(&unsent);
    }
    Ok(ended.reason)
}

fn signals() -> Result<Signals, CliError> {
    Signals::new().map_err(CliError::unexpected("cannot listen for signals"))
}

fn a_terminal() -> Result<(), CliError> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return Ok(());
    }
    Err(CliError::Usage(
        "the console needs a terminal on standard input and output; for scripts there are commands: groupdesk --help".into(),
    ))
}
