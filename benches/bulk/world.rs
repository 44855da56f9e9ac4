//! What the runs are measured with: the shipped binary as the service, on loopback, and a new directory.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use groupdesk::{
    api::wire::GroupRequest,
    config::{Environment, KeySource, Profile},
    directory::Directory,
    domain::{group::UserGroupId, known::KnownGroup, token::Token},
    operations::{Clock, Operations, UnknownIdPolicy},
    service::store::{Options, Store},
};
use secrecy::ExposeSecret;

/// Parallel reads before a measurement.
const READERS: usize = 64;

pub(crate) struct World {
    pub(crate) operations: Operations,
    pub(crate) ids: Vec<UserGroupId>,
    /// Base URL of the service.
    pub(crate) url: String,
    pub(crate) key: String,
    service: Serving,
}

impl World {
    /// With this many groups at the service, none of which is known yet.
    pub(crate) fn new(groups: usize, service: &Path, installation: &Path) -> Self {
        let database = service.join("service/service.db");
        let ids: Vec<UserGroupId> = (0..groups)
            .map(|number| id(&format!("group-{number:05}")))
            .collect();
        let key = seed(&database, &ids);
        let (service, url) = serve(&database);
        Self {
            operations: operations(&url, &key, installation),
            ids,
            url: format!("{url}/api/user"),
            key,
            service,
        }
    }

    /// Reads all groups, so that their current values are known.
    pub(crate) async fn read(&self) -> Vec<(KnownGroup, Token)> {
        let reads = self.ids.iter().map(|id| async move {
            let done = self.operations.look_up(id, UnknownIdPolicy::Exists).await;
            let done = done.expect("readable");
            {
                let token = done.token().cloned().expect("a token");
                (done.group, token)
            }
        });
        stream::iter(reads).buffered(READERS).collect().await
    }

    /// Processor time of this process and of the service so far.
    pub(crate) fn spent(&self) -> (Duration, Duration) {
        (spent("self"), spent(&self.service.0.id().to_string()))
    }
}

pub(crate) fn id(text: &str) -> UserGroupId {
    UserGroupId::parse(text).expect("an id")
}

fn spent(process: &str) -> Duration {
    /// Linux reports these times in hundredths of a second.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("Linux");
    let (_, numbers) = stat.rsplit_once(") ").expect("a name");
    let times = numbers.split(' ').skip(11).take(2);
    TICK * times
        .map(|time| time.parse::<u32>().expect("a number"))
        .sum::<u32>()
}

fn seed(database: &Path, ids: &[UserGroupId]) -> String {
    let store = Store::open(database, Options::default()).expect("a store");
    let (_, key) = store
        .create_key("testing", Some("Testing"), false)
        .expect("a key");
    let groups = ids.iter().map(|id| GroupRequest {
        user_group_id: id.as_str().to_owned(),
        ..GroupRequest::default()
    });
    let groups = groups.collect();
    let seeded = store.seed(move |seeder| seeder.add("testing", groups));
    seeded.expect("seeded");
    key.expose_secret().to_owned()
}

/// Stops when the bench ends.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(database: &Path) -> (Serving, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .args(["serve", "--listen", "127.0.0.1:0", "--database"])
        .arg(database)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let stdout = child.stdout.take().expect("standard output");
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let url = line
        .trim()
        .strip_prefix("listening on ")
        .and_then(|url| url.strip_suffix("/api/user"))
        .expect("an address");
    (Serving(child), url.to_owned())
}

fn operations(url: &str, key: &str, folder: &Path) -> Operations {
    let profile = Profile {
        name: "testing".into(),
        base_url: url.into(),
        path: "/api/user".into(),
        api_key: KeySource::Env("KEY".into()),
        environment: None,
        production: false,
        read_only: false,
        timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(30),
        allow_plain_http: false,
        ca_file: None,
        proxy_from_environment: false,
        read_properties: false,
        from_variables: false,
        key_changes: false,
        handoff: None,
        max_token_age: None,
        max_bulk: usize::MAX,
        guards: Vec::new(),
    };
    let environment: Environment = [("KEY", key)].into_iter().collect();
    let directory = Directory::open(&folder.join("desk/directory.db")).expect("a directory");
    Operations::new(
        profile,
        environment,
        directory,
        "bench".into(),
        Clock::System,
    )
}
