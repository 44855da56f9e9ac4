//! The world of every test: the real service on loopback with a production and a testing environment, and the
//! installations of its operators, all in one temporary folder. There is no other way to build a scene.

mod copied;
mod empty;
mod installation;
mod stored;

use std::{
    collections::BTreeMap,
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use aho_corasick::AhoCorasick;
use groupdesk::{
    api::wire::{DEFAULT_PATH, GroupRequest},
    config::{
        Environment, Overrides, Settings,
        profile::{KeySource, Profile},
    },
    directory::{Directory, PlaceId, TeamLocation},
    domain::group::{EnvironmentTag, UserGroupId},
    operations::Operations,
    platform::private_files::{private_folder, write_new_private},
    service::{Limits, Running, Service, Setup, store::Store},
};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::{assertions::is_in, at_once::AllGroups as _, postgres};

pub(crate) use copied::Template;
pub(crate) use installation::{
    Installation, acknowledge, bind, opened_by, place, try_place, wait_for,
};
pub(crate) use stored::Stored;

/// The usual operator.
pub(crate) const ANA: &str = "ana@bastion2";
/// Of a team's directory the admin, who is no superuser either.
pub(crate) const ADMIN: &str = "desk@server1";
/// Another operator.
pub(crate) const LI: &str = "li@desk7";

/// The least length of a text that a scan takes for a secret, in bytes.
const SECRET: usize = 8;

/// The database of the service, and the usual directory.
const SERVICE: &str = "service/service.db";
const DIRECTORY: &str = "desks/groupdesk/directory.db";
/// Whose keys there are, and which of them are read-only.
const KEYS: [(Side, bool); 4] = [
    (Side::Production, false),
    (Side::Production, true),
    (Side::Testing, false),
    (Side::Testing, true),
];

/// The two environments of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Production,
    Testing,
}

impl Side {
    /// The name of the environment, and of the profile.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::Testing => "testing",
        }
    }

    pub(crate) fn tag(self) -> EnvironmentTag {
        match self {
            Self::Production => EnvironmentTag::Customer,
            Self::Testing => EnvironmentTag::Testing,
        }
    }
}

/// A service, its keys, and the folders of the installations. The folder is removed on drop.
pub(crate) struct World {
    service: Option<Running>,
    store: Store,
    base_url: String,
    /// All API keys: production, testing, and the two read-only ones.
    keys: Vec<String>,
    directory: Directory,
    /// Last, so that it is removed last.
    folder: tempfile::TempDir,
}

impl World {
    /// A running service without groups, and an empty directory.
    pub(crate) async fn new() -> Self {
        let (folder, store, keys) = copied::empty_service();
        Self::start(folder, store, keys, |_, _| {}).await
    }

    /// Starts the service with this storage. `at` is told its address before the directory is opened.
    async fn start(
        folder: tempfile::TempDir,
        store: Store,
        keys: Vec<String>,
        at: impl FnOnce(&Path, SocketAddr),
    ) -> Self {
        private_folder(&folder.path().join("keys")).expect("a folder");
        for ((side, read_only), key) in KEYS.into_iter().zip(&keys) {
            let file = key_file(folder.path(), side, read_only);
            write_new_private(&file, key.as_bytes()).expect("a key file");
        }
        let listen = ([127, 0, 0, 1], 0).into();
        let service = Service::start(
            listen,
            store.clone(),
            DEFAULT_PATH,
            Limits::default(),
            Setup::default(),
        )
        .await
        .expect("a service");
        at(folder.path(), service.address);
        let world = Self {
            base_url: format!("http://{}", service.address),
            service: Some(service),
            store,
            keys,
            directory: open(folder.path(), "groupdesk"),
            folder,
        };
        for side in [Side::Production, Side::Testing] {
            world.place(side);
        }
        world
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The address of the service.
    pub(crate) fn address(&self) -> SocketAddr {
        self.service.as_ref().expect("it runs").address
    }

    /// The folder that contains everything of the world.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder that installations write to; no secret may ever be in it. Other tests put their files here too.
    pub(crate) fn installations(&self) -> PathBuf {
        self.folder.path().join("desks")
    }

    /// The file of the usual directory.
    pub(crate) fn directory_file(&self) -> PathBuf {
        self.folder.path().join(DIRECTORY)
    }

    /// The location of the usual directory, if it is a team's.
    pub(crate) fn team(&self) -> Option<TeamLocation> {
        teams().get(&self.directory_file()).cloned().flatten()
    }

    /// The usual directory.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The directory of another installation that uses the same service.
    pub(crate) fn other_directory(&self, name: &str) -> Directory {
        open(self.folder.path(), name)
    }

    /// The profile of one environment. Its key is in a file with mode 0600.
    pub(crate) fn profile(&self, side: Side) -> Profile {
        Profile {
            environment: Some(side.tag()),
            production: side == Side::Production,
            // Long enough for a busy machine; tests of timeouts set their own.
            timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(20),
            ..Profile::new(side.name(), &self.base_url, self.key_source(side, false))
        }
    }

    /// Creates another key; for another environment if the name is new.
    pub(crate) fn new_key(&self, environment: &str, tag: Option<&str>) -> String {
        let (_, key) = self
            .store
            .create_key(environment, tag, false)
            .expect("a key");
        key.expose_secret().to_owned()
    }

    pub(crate) fn key_source(&self, side: Side, read_only: bool) -> KeySource {
        KeySource::File(key_file(self.folder.path(), side, read_only))
    }

    /// The place of this environment in the usual directory.
    pub(crate) fn place(&self, side: Side) -> PlaceId {
        self.place_in(&self.directory, side)
    }

    /// Declares that both environments can be reached at this address too.
    pub(crate) fn at(&self, base_url: &str) {
        for side in [Side::Production, Side::Testing] {
            let profile = Profile {
                base_url: base_url.into(),
                ..self.profile(side)
            };
            bind(&self.directory, &profile, &Environment::default());
        }
    }

    /// Declares, as a person would, whether the usual directory is the only one that writes to the service.
    pub(crate) fn alone(&self, alone: bool) {
        for side in [Side::Production, Side::Testing] {
            installation::tell_alone(&self.directory, self.place(side), alone);
        }
    }

    /// The same for another directory.
    pub(crate) fn place_in(&self, directory: &Directory, side: Side) -> PlaceId {
        let profile = self.profile(side);
        installation::bind(directory, &profile, &Environment::default()).expect("bound")
    }

    /// The operations of [`ANA`] on the usual directory.
    pub(crate) fn operations(&self, side: Side) -> Operations {
        self.installation(side).operations()
    }

    /// Builds operations of another operator, directory, address, key or time.
    pub(crate) fn installation(&self, side: Side) -> Installation {
        Installation::new(self.profile(side), self.directory.clone())
    }

    /// A configuration file with both profiles, for the shipped binary; testing is the default.
    pub(crate) fn config_file(&self) -> PathBuf {
        let profile = |side: Side| {
            let (name, tag, url) = (side.name(), side.tag(), &self.base_url);
            let key = key_file(self.folder.path(), side, false);
            let (key, production) = (key.display(), side == Side::Production);
            format!(
                "[profiles.{name}]\nbase_url = \"{url}\"\napi_key = {{ file = \"{key}\" }}\n\
                 environment = \"{tag}\"\nproduction = {production}\n\n"
            )
        };
        let profiles = [Side::Production, Side::Testing].map(profile).concat();
        let text = format!("default_profile = \"testing\"\n\n{profiles}");
        let file = self.folder.path().join("config.toml");
        fs::write(&file, text).expect("written");
        file
    }

    /// Puts a group into the service, as another client would; `properties` is a JSON object.
    pub(crate) fn seed(
        &self,
        side: Side,
        id: &str,
        name: &str,
        mapping: &[(&str, &str)],
        properties: &Value,
    ) {
        let mapping = mapping.iter();
        let mapping = mapping.map(|(schema, source)| ((*schema).into(), (*source).into()));
        let group = GroupRequest {
            user_group_id: id.into(),
            name: Some(name.into()),
            mapping: Some(mapping.collect()),
            properties: Some(properties.as_object().expect("an object").clone()),
        };
        self.store
            .seed(move |seeder| seeder.add(side.name(), vec![group]))
            .expect("the group is put in");
    }

    /// Every secret there is now: the API keys, and the tokens in the service. Collect them before and after a rotation
    /// to have all of them.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let tokens = stored::tokens(&self.service_file());
        self.keys.iter().cloned().chain(tokens).collect()
    }

    /// Panics if a file of the installations contains one of the secrets.
    pub(crate) fn scan_installations(&self, secrets: &[String]) {
        if let Some(team) = self.team() {
            let server = postgres::server().expect("a server");
            let written = server.dump(team.schema()) + &server.log();
            assert!(written.contains("CREATE TABLE"), "nothing was looked at");
            let found = secrets.iter().any(|secret| is_in(&written, secret));
            assert!(!found, "a secret is on the server");
            return;
        }
        let found = holders(&self.installations(), secrets).expect("readable");
        assert!(found.is_empty(), "a secret is in {found:?}");
    }

    fn service_file(&self) -> PathBuf {
        self.folder.path().join(SERVICE)
    }

    /// Stops the service and removes the folder. Dropping does so too, but without waiting.
    pub(crate) async fn end(mut self) {
        if let Some(service) = self.service.take() {
            service.stop().await;
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let Ok(mut teams) = TEAMS.lock() else { return };
        let ended = teams.extract_if(.., |file, _| file.starts_with(self.folder.path()));
        ended
            .filter_map(|(_, team)| team)
            .for_each(|team| postgres::leave(&team));
    }
}

pub(crate) fn id(text: &str) -> UserGroupId {
    UserGroupId::parse(text).expect("a valid ID")
}

/// Files below a folder; links are not followed.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// Files below a folder that contain one of the texts.
fn holders(folder: &Path, texts: &[String]) -> io::Result<Vec<PathBuf>> {
    let holds = holding_one_of(texts);
    // Read by another process: closing one of SQLite's files in this process would release its locks.
    let read = |files: &[PathBuf]| Command::new("cat").args(files).output();
    let mut found = files_below(folder)?;
    if !holds(&read(&found)?.stdout) {
        return Ok(Vec::new());
    }
    for at in (0..found.len()).rev() {
        if !holds(&read(&found[at..=at])?.stdout) {
            found.remove(at);
        }
    }
    Ok(found)
}

/// Whether bytes contain one of the texts, up to a thousand, in one pass.
pub(crate) fn holding_one_of(texts: &[String]) -> impl Fn(&[u8]) -> bool {
    assert!(texts.iter().all(|text| text.len() >= SECRET), "no secrets");
    let texts = AhoCorasick::new(texts).expect("an automaton");
    move |bytes| texts.is_match(bytes)
}

/// The schemas that replace files for tests in modules `team`.
static TEAMS: Mutex<Teams> = Mutex::new(BTreeMap::new());

type Teams = BTreeMap<PathBuf, Option<TeamLocation>>;

fn teams() -> MutexGuard<'static, Teams> {
    TEAMS.lock().expect("nobody panicked")
}

fn open(folder: &Path, name: &str) -> Directory {
    let file = folder.join("desks").join(name).join("directory.db");
    // The lock is not held meanwhile, so that a panic here fails one test and not all of them.
    let known = teams().get(&file).cloned();
    let team = known.unwrap_or_else(|| {
        let team = postgres::team();
        teams().insert(file.clone(), team.clone());
        team
    });
    let opened = if let Some(team) = &team {
        Directory::open(team)
    } else {
        if !file.exists() {
            empty::put(&file);
        }
        Directory::open(&file)
    };
    opened.expect("a directory")
}

fn key_file(folder: &Path, side: Side, read_only: bool) -> PathBuf {
    let suffix = if read_only { "-read-only" } else { "" };
    folder.join("keys").join(format!("{}{suffix}", side.name()))
}

#[tokio::test]
async fn the_world_leaves_nothing_behind() {
    let ended = World::new().await;
    let dropped = World::new().await;
    let folders = [ended.folder().to_owned(), dropped.folder().to_owned()];
    assert!(folders.iter().all(|folder| folder.exists()));
    ended.end().await;
    drop(dropped);
    assert!(!folders.iter().any(|folder| folder.exists()));
}

#[tokio::test]
async fn the_configuration_file_says_what_the_profiles_say() {
    let world = World::new().await;
    let overrides = Overrides {
        config: Some(world.config_file()),
        directory: Some(world.directory_file()),
        ..Overrides::default()
    };
    let settings = Settings::load(&overrides).expect("valid");
    for side in [Side::Production, Side::Testing] {
        let (read, built) = (settings.profile(Some(side.name())), world.profile(side));
        let read = read.expect("it is there");
        assert_eq!(read.base_url, world.base_url());
        assert_eq!(read.url(), built.url());
        assert_eq!(read.api_key, built.api_key);
        assert_eq!(read.environment, built.environment);
        assert_eq!(read.production, built.production);
    }
    let usual = settings.profile(None).expect("a default");
    assert_eq!(usual.name, Side::Testing.name());
    let groups = world.directory().groups(world.place(Side::Testing)).await;
    assert_eq!(groups.expect("readable"), [], "nothing is known at first");
}

#[tokio::test]
async fn the_scan_finds_what_it_looks_for() {
    let world = World::new().await;
    let none = serde_json::json!({});
    world.seed(Side::Testing, "acme-eu", "Acme", &[], &none);
    let secrets = world.secrets();
    assert_eq!(secrets.len(), 5, "four keys and a token");
    world.scan_installations(&secrets);
    for secret in &secrets {
        let file = world.installations().join("leak");
        fs::write(&file, format!("x{secret}x")).expect("written");
        assert_eq!(
            holders(&world.installations(), &secrets).expect("readable"),
            [file]
        );
    }
}
