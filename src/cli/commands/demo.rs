//! The demo's world: how it starts, how other processes reach it, and `demo --hold`, which keeps that world without a
//! console until a signal comes.

use std::path::{Path, PathBuf};

use crate::{
    cli::{
        args::Global,
        error::CliError,
        output::{self, progress::Progress, shape::shape},
        process::{exit::Exit, signals::Signals},
    },
    demo::{DemoError, EmptyWorld, PROFILES, Setup, World},
    domain::text::visible,
    operations::Clock,
};

/// With this many generated groups or more, creating them takes noticeable time.
const MANY: usize = 5_000;

pub(crate) async fn hold(groups: Option<u32>, setup: Setup, json: bool) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
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
                "the demo has a configuration and a directory of its own; nothing was started. Leave out {option}"
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
        progress.end(Exit::Done).await?;
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
