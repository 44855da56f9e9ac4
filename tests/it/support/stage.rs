//! Where the hostile stories play: groups at the real service that an installation knows, a proxy that interferes in between, and the
//! shipped binary beside it.

use std::{
    path::PathBuf,
    process::{Output, Stdio},
    time::Duration,
};

use groupdesk::{
    domain::change::DesiredFields,
    operations::{Done, Failure, Operations, UnknownIdPolicy},
};
use serde_json::json;
use tokio::process::{Child, Command};

use super::{
    clock,
    proxy::FaultyProxy,
    world::{Side, World, id},
};

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_mins(1);

/// What can be asked of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Get,
    Create,
    Update,
    Rotate,
}

impl Task {
    pub(crate) const ALL: [Self; 4] = [Self::Get, Self::Create, Self::Update, Self::Rotate];
    /// The three of the interface.
    pub(crate) const THREE: [Self; 3] = [Self::Get, Self::Update, Self::Rotate];

    /// Reads the group under its claim, before its own request.
    pub(crate) fn reads_before(self) -> bool {
        matches!(self, Self::Update | Self::Rotate)
    }

    /// The method of its own request; what reads before may read again after it.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Get | Self::Create => "GET",
            Self::Update => "PUT",
            Self::Rotate => "POST",
        }
    }

    /// Done with a group that exists; a create is of `new-…`.
    pub(crate) async fn run(self, installation: &Operations, group: &str) -> Result<Done, Failure> {
        let known = UnknownIdPolicy::KnownOnly;
        match self {
            Self::Get => installation.look_up(&id(group), known).await,
            Self::Create => installation.create(&id(&created(group)), &wanted()).await,
            Self::Update => {
                let base = DesiredFields::default();
                installation
                    .update(&id(group), &base, &wanted(), known)
                    .await
            }
            Self::Rotate => installation.rotate(&id(group), None, known).await,
        }
    }

    /// The same for the shipped binary.
    pub(crate) fn arguments(self, group: &str) -> Vec<String> {
        let created = created(group);
        let words: &[&str] = match self {
            Self::Get => &["get", group],
            Self::Create => &["create", &created, "--yes"],
            Self::Update => &["update", group, "--name", "Changed", "--yes"],
            Self::Rotate => &["rotate", group, "--yes"],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// The id that [`Task::Create`] creates.
pub(crate) fn created(group: &str) -> String {
    format!("new-{group}")
}

fn wanted() -> DesiredFields {
    DesiredFields {
        name: Some("Changed".into()),
        mapping: Some([("7".to_owned(), "41".to_owned())].into_iter().collect()),
        properties: Some(serde_json::Map::new()),
    }
}

/// A world with groups that the installation knows, and a proxy.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) proxy: FaultyProxy,
    /// Works through the proxy.
    pub(crate) ana: Operations,
    pub(crate) groups: Vec<String>,
}

impl Stage {
    pub(crate) async fn new(groups: usize) -> Self {
        let world = World::new().await;
        let groups: Vec<_> = (0..groups).map(|number| format!("h{number:04}")).collect();
        let there = world.operations(Side::Testing);
        for group in &groups {
            world.seed(Side::Testing, group, group, &[("7", "40")], &json!({}));
            let met = there.look_up(&id(group), UnknownIdPolicy::Exists).await;
            met.expect("the group is known now");
        }
        let proxy = FaultyProxy::before(world.address()).await;
        let installation = world.installation(Side::Testing).through(proxy.base_url());
        Self {
            ana: installation.operations(),
            world,
            proxy,
            groups,
        }
    }

    /// The same installation through another address.
    pub(crate) fn through(&self, base_url: &str, timeout: Duration) -> Operations {
        let installation = self.world.installation(Side::Testing).through(base_url);
        installation.timeout(timeout).operations()
    }

    /// The token the service holds now.
    pub(crate) fn token(&self, group: &str) -> String {
        self.world.stored(Side::Testing, group).token
    }

    /// All that the directory knows of all groups.
    pub(crate) async fn known(&self) -> String {
        format!("{:?}", self.ana.list().await.expect("readable"))
    }

    /// A configuration whose testing profile has this address, and these lines more.
    pub(crate) fn config(&self, base_url: &str, lines: &str) -> PathBuf {
        let text = std::fs::read_to_string(self.world.config_file()).expect("readable");
        let text = text.replace(self.world.base_url(), base_url);
        self.world.at(base_url);
        let file = tempfile::Builder::new()
            .prefix("config")
            .suffix(".toml")
            .tempfile_in(self.world.folder());
        let (_, file) = file.and_then(|file| Ok(file.keep()?)).expect("a file");
        // The testing profile is the last one.
        std::fs::write(&file, format!("{}\n{lines}\n", text.trim_end())).expect("written");
        file
    }

    /// The shipped binary at this installation, with nothing in its environment.
    pub(crate) fn program(&self, config: &PathBuf, arguments: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupdesk"));
        command
            .args(arguments)
            .env_clear()
            .envs(clock::outer())
            .env("HOME", self.world.folder())
            .env("USER", "ana")
            .env("GROUPDESK_CONFIG", config)
            .env("GROUPDESK_DIRECTORY", self.world.directory_file())
            .current_dir(self.world.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

/// Exit code, and all it said.
pub(crate) async fn ended(child: Child) -> (i32, String) {
    let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    said(&output.expect("it ends in time").expect("it ran"))
}

pub(crate) async fn run(mut command: Command) -> (i32, String) {
    ended(command.spawn().expect("it starts")).await
}

fn said(output: &Output) -> (i32, String) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(!all.contains("panicked"), "{all}");
    (output.status.code().expect("no signal killed it"), all)
}
