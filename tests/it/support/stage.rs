//! The setting of the hostile tests: groups at the real service that an installation knows, a proxy in between, and the
//! shipped binary.

use std::{path::PathBuf, time::Duration};

use groupdesk::{
    domain::change::DesiredFields,
    operations::{Done, Failure, Operations, UnknownIdPolicy},
};
use serde_json::json;
use tokio::process::Command;

pub(crate) use super::bare::run;
use super::{
    at_once::AtOnce as _,
    bare::{GROUPDESK, bare},
    proxy::{FaultyProxy, ProxyFault, Then},
    world::{Side, World, id},
};

/// The operations of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Get,
    Create,
    Update,
    Rotate,
}

impl Task {
    pub(crate) const ALL: [Self; 4] = [Self::Get, Self::Create, Self::Update, Self::Rotate];
    /// The three operations of the interface.
    pub(crate) const THREE: [Self; 3] = [Self::Get, Self::Update, Self::Rotate];

    /// Whether it reads the group under its claim before its own request.
    pub(crate) fn reads_before(self) -> bool {
        matches!(self, Self::Update | Self::Rotate)
    }

    /// The method of its own request; an operation that reads before may read again after it.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Get | Self::Create => "GET",
            Self::Update => "PUT",
            Self::Rotate => "POST",
        }
    }

    /// Runs the operation on an existing group; a create is of `new-…`.
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
    /// Operations that work through the proxy.
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

    /// The task's own request is answered with this, and never reaches the service.
    pub(crate) fn instead(&self, task: Task, then: Then) {
        if task.reads_before() {
            self.proxy.next("GET", ProxyFault::passed());
        }
        self.proxy.next(task.method(), ProxyFault::swallowed(then));
    }

    /// The token that the service has now.
    pub(crate) fn token(&self, group: &str) -> String {
        self.world.stored(Side::Testing, group).token
    }

    /// Everything that the directory knows of all groups.
    pub(crate) async fn known(&self) -> String {
        format!("{:?}", self.ana.list().await.expect("readable"))
    }

    /// A configuration whose testing profile has this address and these additional lines.
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

    /// The shipped binary with this installation, with an empty environment.
    pub(crate) fn program(&self, config: &PathBuf, arguments: &[String]) -> Command {
        let mut command = bare(GROUPDESK, self.world.folder());
        command
            .args(arguments)
            .env("GROUPDESK_CONFIG", config)
            .env("GROUPDESK_DIRECTORY", self.world.directory_file());
        command
    }
}
