//! The demo's world: the service running in this process on a loopback port, two environments as profiles, and a
//! directory that remembers a past. Everything is in one temporary folder; tests and pictures build the same world.

mod history;
mod samples;
mod seed;

use std::{
    ffi::OsString,
    io,
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::{Timestamp, Unit};
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

use samples::SampleEnvironment;
use seed::Filler;

use crate::{
    api::wire::DEFAULT_PATH,
    config::{ConfigError, Environment, Overrides, Settings},
    directory::{BindingAnswer, Caller, Directory, DirectoryError, PlaceId, Statement},
    domain::facts::{Basis, Fact},
    operations::{Clock, Operations},
    platform::private_files,
    service::{
        self, Limits, Running, Service,
        store::{Options, Store, StoreError},
    },
};

/// Names of the variables that pass the API keys to the profiles. They are not set in the environment of any process.
const KEYS: [&str; 2] = ["DEMO_KEY_PRODUCTION", "DEMO_KEY_TESTING"];

/// Why the demo's world could not be created.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("the demo needs a temporary folder: {0}; set TMPDIR to one with room")]
    Folder(io::Error),
    #[error("the demo cannot listen on this machine: {0}")]
    Listen(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("the samples are damaged: {0}")]
    Samples(String),
    #[error("the demo's preparation was lost; try again")]
    Lost,
}

/// How the profiles of the demo are configured.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// The default profile, one of `PROFILES`.
    pub profile: &'static str,
    pub read_only: bool,
}

/// The names of the demo's profiles.
pub(crate) const PROFILES: [&str; 2] = ["production", "testing"];

impl Default for Setup {
    fn default() -> Self {
        Self {
            profile: PROFILES[1],
            read_only: false,
        }
    }
}

/// A running service, two profiles and a directory; all are deleted on exit.
pub struct World {
    pub production: Operations,
    pub testing: Operations,
    pub operator: String,
    /// The service's own storage.
    pub store: Store,
    keys: [SecretString; 2],
    setup: Setup,
    running: Running,
    /// The last field, so that everything in the folder is closed before it is removed.
    folder: TempDir,
}

/// A world that has no groups yet.
pub struct EmptyWorld {
    directory: Directory,
    store: Store,
    keys: [SecretString; 2],
    /// The last field, as in [`World`].
    folder: TempDir,
}

impl World {
    /// The address that the service listens on.
    pub fn address(&self) -> SocketAddr {
        self.running.address
    }

    /// The directory's database file.
    pub fn directory_file(&self) -> PathBuf {
        directory_file(self.folder.path())
    }

    /// Writes a configuration for other processes, and the API keys it refers to as files with mode 0600 beside it.
    pub fn write_configuration(&self) -> io::Result<PathBuf> {
        let write = |name: &str, text: &str| {
            let file = self.folder.path().join(name);
            private_files::write_new_private(&file, text.as_bytes()).map(|()| file)
        };
        let names = PROFILES.map(|name| format!("{name}.key"));
        for (name, key) in names.iter().zip(&self.keys) {
            write(name, key.expose_secret())?;
        }
        let sources = names.map(|name| format!("file = \"{name}\""));
        let text = configuration(self.address(), &sources, self.setup);
        write("shared.toml", &text)
    }

    /// Stops the service, closes the files and removes the folder.
    pub async fn end(self) {
        let Self {
            production,
            testing,
            store,
            running,
            folder,
            ..
        } = self;
        running.stop().await;
        // Closing waits for pending work, and removing a folder can be slow too.
        let closed = tokio::task::spawn_blocking(move || {
            drop((production, testing, store));
            drop(folder);
        });
        drop(closed.await);
    }
}

impl EmptyWorld {
    /// Creates every file; later steps only fill them. Must not be cancelled half way: a file that is created after its
    /// folder was removed brings the folder back.
    pub async fn open() -> Result<Self, DemoError> {
        blocking(|| {
            let folder = tempfile::Builder::new()
                .prefix("groupdesk-demo-")
                .permissions(std::fs::Permissions::from_mode(0o700))
                .tempdir_in(private_files::temporary_folder())
                .map_err(DemoError::Folder)?;
            let options = Options {
                is_ephemeral: true,
                ..Options::default()
            };
            let store = Store::open(&folder.path().join("service.db"), options)?;
            let (_, production) = store.create_key("production", Some("Customer"), false)?;
            let (_, testing) = store.create_key("testing", Some("Testing"), false)?;
            Ok(Self {
                directory: Directory::open_ephemeral(&directory_file(folder.path()))?,
                store,
                keys: [production, testing],
                folder,
            })
        })
        .await
    }

    /// Fills the world and starts the service; `on_progress` is called with the number of groups so far. May be cancelled at
    /// any time.
    pub async fn fill(
        self,
        groups: Option<usize>,
        clock: Clock,
        setup: Setup,
        mut on_progress: impl FnMut(usize),
    ) -> Result<World, DemoError> {
        let Self {
            folder,
            store,
            keys,
            directory,
        } = self;
        let limits = Limits {
            // Nobody waits for a demo to shut down.
            grace: Duration::from_secs(1),
            ..Limits::default()
        };
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let running = Service::start(
            listen,
            store.clone(),
            DEFAULT_PATH,
            limits,
            service::Setup::default(),
        )
        .await
        .map_err(DemoError::Listen)?;
        let places = places(&directory, running.address, &keys, clock.now()).await?;
        let with_history = groups.is_none();
        // Rounded to the precision that is stored.
        let now = clock.now().round(Unit::Microsecond).unwrap_or(clock.now());
        let mut filler = Filler::of(&directory);
        let (mut parts, making) = seed::chunks(store.clone(), groups);
        let mut made = 0;
        while let Some(part) = parts.recv().await {
            let (plan, tokens) = part?;
            if with_history {
                history::record(&directory, places, &plan, &tokens, now).await?;
            } else {
                let known = history::known(directory.fingerprinter(), places, &plan, &tokens, now)?;
                filler.add(known).await?;
            }
            made += plan.len();
            on_progress(made);
        }
        filler.finish().await?;
        // If it panicked, fewer groups arrived than were asked for.
        making.await.map_err(|_| DemoError::Lost)?;
        let config = folder.path().join("config.toml");
        let sources = KEYS.map(|name| format!("env = \"{name}\""));
        private_files::write_new_private(
            &config,
            configuration(running.address, &sources, setup).as_bytes(),
        )
        .map_err(DemoError::Folder)?;
        let env = environment(&keys);
        let settings = Settings::load(&Overrides {
            config: Some(config),
            directory: Some(directory_file(folder.path())),
            env: env.clone(),
            ..Overrides::default()
        })?;
        let of = |name| {
            let profile = settings.profile(Some(name))?.clone();
            Ok::<_, ConfigError>(Operations::new(
                profile,
                env.clone(),
                directory.clone(),
                settings.operator.clone(),
                clock,
            ))
        };
        Ok(World {
            production: of(PROFILES[0])?,
            testing: of(PROFILES[1])?,
            operator: settings.operator.clone(),
            store,
            keys,
            setup,
            running,
            folder,
        })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DemoError> + Send + 'static,
) -> Result<T, DemoError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| DemoError::Lost)?
}

fn directory_file(folder: &Path) -> PathBuf {
    folder.join("directory.db")
}

/// Records the two environments in the directory, told apart by their API keys.
async fn places(
    directory: &Directory,
    address: SocketAddr,
    keys: &[SecretString; 2],
    at: Timestamp,
) -> Result<[PlaceId; 2], DemoError> {
    let mut places = [PlaceId::NONE; 2];
    let all = SampleEnvironment::ALL.into_iter().zip(keys);
    for ((sample, key), place) in all.zip(&mut places) {
        let caller = Caller {
            profile: sample.environment().into(),
            url: format!("http://{address}{DEFAULT_PATH}"),
            key: directory.fingerprinter().of_key(key),
            environment: Some(sample.tag()),
            from_variables: false,
            key_changes: false,
            at,
            by: String::new(),
        };
        let bound = directory.answer_binding(caller, BindingAnswer::New).await?;
        *place = bound.map_err(|_| DemoError::Lost)?.place;
        // The demo is deleted together with its service, so nobody else can write to it.
        let alone = Statement {
            fact: Fact::SoleWriter(true),
            basis: Basis::Told,
            at,
            by: "demo".into(),
        };
        directory.state_facts(*place, vec![alone]).await?;
    }
    Ok(places)
}

/// The environment variables of the demo: the API keys, and the name of the operator.
fn environment(keys: &[SecretString; 2]) -> Environment {
    let process = Environment::of_process();
    let person = ["USER", "LOGNAME"]
        .into_iter()
        .filter_map(|name| Some((OsString::from(name), process.get(name)?.to_owned())));
    let keys = KEYS
        .into_iter()
        .zip(keys)
        .map(|(name, key)| (OsString::from(name), OsString::from(key.expose_secret())));
    person.chain(keys).collect::<Environment>()
}

fn configuration(address: SocketAddr, sources: &[String; 2], setup: Setup) -> String {
    let Setup { profile, read_only } = setup;
    let samples = SampleEnvironment::ALL.into_iter().zip(sources);
    let profiles = samples.map(|(sample, source)| {
        let (name, tag) = (sample.environment(), sample.tag());
        let production = sample == SampleEnvironment::Production;
        format!(
            "\n[profiles.{name}]\n\
             base_url = \"http://{address}\"\n\
             api_key = {{ {source} }}\n\
             environment = \"{}\"\n\
             production = {production}\n\
             read_only = {read_only}\n\
             read_properties = true\n",
            tag.as_str()
        )
    });
    let profiles: String = profiles.collect();
    format!("default_profile = \"{profile}\"\n{profiles}")
}
