//! Opens the console on the configured profiles, or on the demo's world; `demo --hold` keeps that world without a console
//! until a signal comes.

use super::prelude::*;
use crate::{
    cli::process::{panic_report, signals},
    config::{ConfigError, UiSettings, new_directory},
    demo::{DemoError, EmptyWorld, PROFILES, Setup, World},
    operations::{Connector, hide_secret_reasons, open_directory},
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
    let (mut current, mut opened) = (0, None);
    let (mut greeting, mut operations) = (Vec::new(), Vec::new());
    if !settings.profiles.is_empty() {
        let name = &settings.profile(None)?.name;
        let mut profiles = settings.profiles.clone();
        current = profiles
            .iter()
            .position(|profile| profile.name == *name)
            .unwrap_or(0);
        let new = new_directory(&overrides, &settings.directory);
        let directory = open_directory(&settings.directory, &overrides.env)?;
        greeting.extend(new.map(|file| session::new_directory_text(&file)));
        opened = Some(directory.clone());
        hide_secret_reasons(&mut profiles, &directory).await;
        let of = |profile| {
            Operations::new(
                profile,
                overrides.env.clone(),
                directory.clone(),
                settings.operator.clone(),
                Clock::System,
            )
        };
        operations = profiles.into_iter().map(of).collect();
    }
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
        page("demo", &["groupdesk demo", "groupdesk demo --groups 100000"], &[one("--hold", &[&DEMO])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let setup = setup(global)?;
        if self.hold {
            hold(self.groups, setup, global.json).await
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
    let world = begin(groups, setup, signals.next_end()).await?;
    let elsewhere = exports(&world)?;
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
        "the console needs a terminal on standard input and output; for scripts, use commands: groupdesk \
         --help".into(),
    ))
}

/// With this many generated groups or more, creating them takes noticeable time.
const MANY: usize = 5_000;

pub(crate) async fn hold(groups: Option<u32>, setup: Setup, json: bool) -> Result<Exit, CliError> {
    let mut signals = signals::Signals::new()?;
    let world = begin(groups, setup, signals.next()).await?;
    output::say(&format!(
        "demo service listening on http://{} (this machine only); Ctrl-C stops and deletes it",
        world.address()
    ));
    let printed = if json {
        output::json_line(object(&world, &configuration(&world)?))
    } else {
        output::result(&exports(&world)?)
    };
    if printed.is_ok() {
        signals.next().await;
    }
    world.end().await;
    printed.map(|()| Exit::Done)
}

shape! {
    pub(crate) DEMO = "demo", "a demo that runs until it is stopped; one line, printed when it is ready";
    fn object(world: &World, configuration: &Path) {
        "url": text = format_args!("http://{}", world.address()), "URL of its service";
        "config": text = configuration.display(), "value for GROUPDESK_CONFIG";
        "directory": text = world.directory_file().display(), "value for GROUPDESK_DIRECTORY";
    }
}

/// What the global options ask of the demo. Those that name a configuration or a directory are refused, because the demo
/// has its own.
pub(crate) fn setup(global: &Global) -> Result<Setup, CliError> {
    for (option, is_set) in [
        ("--config", global.config.is_some()),
        ("--directory", global.directory.is_some()),
    ] {
        if is_set {
            return Err(CliError::Usage(format!(
                "the demo has its own configuration and directory; nothing was started. Remove {option}"
            )));
        }
    }
    let setup = Setup {
        read_only: global.read_only,
        ..Setup::default()
    };
    let Some(name) = global.profile.as_deref() else {
        return Ok(setup);
    };
    let known = PROFILES.into_iter().find(|profile| *profile == name);
    let profile = known.ok_or_else(|| {
        CliError::Usage(format!(
            "the demo has no profile {}; nothing was started. Use {}",
            visible(name),
            PROFILES.join(" or ")
        ))
    })?;
    Ok(Setup { profile, ..setup })
}

/// Creates the demo's world. A request to end during the creation removes it again.
pub(crate) async fn begin(
    groups: Option<u32>,
    setup: Setup,
    end: impl Future<Output = ()>,
) -> Result<World, CliError> {
    let failed = |error: DemoError| match error {
        DemoError::Lost => CliError::unexpected("the demo's world was lost")(error),
        other => CliError::Usage(other.to_string()),
    };
    let empty = EmptyWorld::open().await.map_err(failed)?;
    let groups = groups.map(|groups| groups as usize);
    // For a few groups there is no progress worth showing.
    let progress = groups.filter(|groups| *groups >= MANY).map(Progress::start);
    let told = |made: usize| {
        if let Some(progress) = &progress {
            progress.counts(made, &"groups created");
        }
    };
    let made = tokio::select! {
        world = empty.fill(groups, Clock::System, setup, told) => world.map_err(failed),
        () = end => Err(CliError::Interrupted { in_flight: false }),
    };
    if let Some(progress) = progress {
        progress.end(Exit::Done, None).await?;
    }
    made
}

/// The environment variables with which another shell works in this world.
pub(crate) fn exports(world: &World) -> Result<String, CliError> {
    let config = configuration(world)?;
    Ok(format!(
        "export GROUPDESK_CONFIG={}\nexport GROUPDESK_DIRECTORY={}\n",
        quoted(&config),
        quoted(&world.directory_file())
    ))
}

fn configuration(world: &World) -> Result<PathBuf, CliError> {
    let written = world.write_configuration();
    written.map_err(|error| CliError::Usage(error.to_string()))
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
