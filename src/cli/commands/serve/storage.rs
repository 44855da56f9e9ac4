//! Where the service stores its data: a file, or a schema of a PostgreSQL database. `serve init`, `serve backup` and `serve
//! check` create the tables on a server, copy the file, and check it.

use super::Serve;
use crate::{
    api::tls,
    cli::commands::prelude::*,
    config::{ConfigError, profile::KeySource},
    service::store::{self, BackupSummary, CheckResult, Options, SharedStorage, Store, StoreError},
};

const SCHEMA: &str = "groupdesk_service";

/// A database on a server instead of a file.
#[derive(Debug, Args)]
pub(crate) struct StorageArgs {
    /// Store data in a PostgreSQL database, shared by any number of processes: postgres://USER@HOST/DATABASE
    #[arg(
        long = "storage",
        global = true,
        value_name = "URL",
        conflicts_with = "database"
    )]
    pub(super) url: Option<String>,
    /// Schema in the PostgreSQL database
    #[arg(
        long = "storage-schema",
        global = true,
        value_name = "NAME",
        default_value = SCHEMA
    )]
    pub(super) schema: String,
    /// File with the database password; only you may read it
    #[arg(
        long = "storage-password-file",
        global = true,
        value_name = "FILE",
        conflicts_with = "database"
    )]
    pub(super) password: Option<PathBuf>,
    /// Additional CA certificates to trust for the database (PEM)
    #[arg(
        long = "storage-ca-file",
        global = true,
        value_name = "FILE",
        conflicts_with = "database"
    )]
    pub(super) ca: Option<PathBuf>,
}

impl StorageArgs {
    /// As they were typed; an address with a password is refused.
    fn as_typed(&self, url: &str) -> String {
        let schema = (self.schema != SCHEMA).then(|| self.schema.clone());
        let path = |path: &Option<PathBuf>| Some(path.as_ref()?.to_string_lossy().into_owned());
        let options = [
            ("storage", Some(url.to_owned())),
            ("storage-schema", schema),
            ("storage-password-file", path(&self.password)),
            ("storage-ca-file", path(&self.ca)),
        ];
        let options = options.into_iter();
        let given = options
            .filter_map(|(name, value)| Some(format!(" --{name} {}", quoted(value.as_ref()?))));
        given.collect()
    }
}

pub(crate) enum Storage {
    File {
        file: PathBuf,
        /// An option names it.
        is_named: bool,
    },
    /// With the options that name it.
    Shared(SharedStorage, String),
}

impl Storage {
    pub(super) fn of(arguments: &Serve, env: &Environment) -> Result<Self, CliError> {
        let said = &arguments.storage;
        let Some(url) = &said.url else {
            if said.password.is_some() || said.ca.is_some() {
                return Err(CliError::Usage(
                    "--storage-password-file and --storage-ca-file need --storage".into(),
                ));
            }
            let Some(file) = arguments.database.clone() else {
                let file = paths::service_database(env)?;
                return Ok(Self::File {
                    file,
                    is_named: false,
                });
            };
            let (by, text) = ("--database", file.to_string_lossy());
            if let Some(why) = paths::unusable(&text) {
                return Err(ConfigError::unusable_path(by, why).into());
            }
            if paths::is_no_file(&text) {
                return Err(CliError::Usage(
                    "--database is not a file; nothing was created. For a PostgreSQL database write --storage \
                     postgres://USER@HOST/DATABASE, for a file with such a name ./NAME"
                        .into(),
                ));
            }
            paths::in_a_folder(by, &file)?;
            return Ok(Self::File {
                file,
                is_named: true,
            });
        };
        let mut shared = SharedStorage::parse(url, &said.schema)
            .map_err(|error| CliError::Usage(error.to_string()))?
            // Without a home folder it is remembered as long as the process lives.
            .with_timelines(paths::timelines(env).unwrap_or_default());
        if shared.needs_tls() {
            let trusted = tls::client_config(said.ca.as_deref());
            let trusted =
                trusted.map_err(|why| CliError::Usage(format!("--storage-ca-file: {why}")))?;
            shared.server.tls = Some(Arc::new(move || Ok(Arc::clone(&trusted))));
        }
        if let Some(file) = &said.password {
            let (source, env) = (Arc::new(KeySource::File(file.clone())), env.clone());
            shared.server.password = Some(Arc::new(move || {
                let (source, env) = (Arc::clone(&source), env.clone());
                Box::pin(async move { source.read_password(&env).await })
            }));
        }
        Ok(Self::Shared(shared, said.as_typed(url)))
    }

    pub(super) fn open(&self, options: Options) -> Result<Store, CliError> {
        let is_new = !self.is_there();
        let opened = match self {
            Self::File { file, .. } => Store::open(file, options),
            Self::Shared(shared, _) => Store::open_shared(shared, options),
        };
        if let Self::File {
            file,
            is_named: true,
        } = self
            && is_new
            && opened.is_ok()
        {
            output::alarm(&format!(
                "! {} is a new, empty database; there was no file",
                file.display()
            ));
        }
        opened.map_err(|error| self.explain(error))
    }

    /// Whether there is something to open; a database on a server counts as there.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::File { file, .. } => file.symlink_metadata().is_ok(),
            Self::Shared(..) => true,
        }
    }

    /// Refuses a file that an option names and that is not there, for what only reads or changes: it was mistyped.
    pub(super) fn must_be_there(&self) -> Result<(), CliError> {
        match self {
            Self::File {
                file,
                is_named: true,
            } if !self.is_there() => Err(CliError::Usage(format!(
                "there is no database {}; nothing was changed. Check the path",
                file.display()
            ))),
            Self::File { .. } | Self::Shared(..) => Ok(()),
        }
    }

    pub(super) fn explain(&self, error: StoreError) -> CliError {
        match (self, &error) {
            (_, StoreError::UnknownKey(_)) => CliError::Usage(format!(
                "{error}; nothing was changed. For a list: groupdesk serve keys list{}",
                self.as_options()
            )),
            (Self::File { file, .. }, _) => CliError::from_store(file, error),
            (Self::Shared(shared, _), _) => CliError::Usage(format!("{shared}: {error}")),
        }
    }

    /// The file. Fails for a database on a server, which has its own tools for this.
    pub(super) fn file(&self, what: &str) -> Result<&Path, CliError> {
        self.must_be_there()?;
        match self {
            Self::File { file, .. } => Ok(file),
            Self::Shared(..) => Err(CliError::Usage(format!(
                "serve {what} works on database files only; for PostgreSQL, use pg_dump or pg_amcheck"
            ))),
        }
    }

    /// The options that name it, for a proposed command; nothing for the default file.
    pub(super) fn as_options(&self) -> String {
        match self {
            Self::File {
                file,
                is_named: true,
            } => format!(" --database {}", quoted(&file.to_string_lossy())),
            Self::File { .. } => String::new(),
            Self::Shared(_, options) => options.clone(),
        }
    }
}

pub(super) fn init(storage: &Storage, role: Option<&str>, json: bool) -> Result<Exit, CliError> {
    let Storage::Shared(shared, _) = storage else {
        return Err(CliError::Usage(
            "a database file needs no init; for PostgreSQL, pass --storage postgres://USER@HOST/DATABASE".into(),
        ));
    };
    let is_new = shared
        .set_up(role)
        .map_err(|error| storage.explain(error))?;
    output::note_change();
    let storage = shared.to_string();
    let may = |role| format!("; {} may serve from it", visible(role));
    let done = if is_new { "set up" } else { "already set up:" };
    let text = || format!("{done} {storage}{}", role.map(may).unwrap_or_default());
    output::either(json, || set_up(&storage, role, is_new), text)
}

shape! {
    pub(crate) SET_UP = "service-set-up", "a schema for the embedded service, in a database";
    fn set_up(storage: &str, role: Option<&str>, is_new: bool) {
        "storage": text = storage, "its URL and schema";
        "is_new": bool = is_new, "false: the schema already existed, and only the role was added";
        "role": text or "only its owner may serve from it" = role, "the role that may also serve from it";
    }
}

pub(super) fn backup(database: &Path, to: &Path, json: bool) -> Result<Exit, CliError> {
    let copied =
        store::backup(database, to).map_err(|error| CliError::from_store(database, error))?;
    output::note_change();
    let (file, bytes) = (to.display().to_string(), copied.bytes);
    let (groups, keys) = (copied.groups, copied.keys);
    output::either(
        json,
        || copy(&file, &copied),
        || {
            format!(
                "backed up to {file}: {}, {}, {bytes} bytes. It contains every token; keep it private",
                counted(groups as usize, "group"),
                counted(keys as usize, "key"),
            )
        },
    )
}

shape! {
    pub(crate) COPY = "service-copy", "a copy of the embedded service's database";
    fn copy(file: &str, copied: &BackupSummary) {
        "file": text = file, "the copy";
        "bytes": number = copied.bytes, "its size in bytes";
        "groups": number = copied.groups, "groups in it";
        "keys": number = copied.keys, "API keys in it, including revoked ones";
    }
}

pub(super) fn check(database: &Path, json: bool) -> Result<Exit, CliError> {
    let all = store::check(database).map_err(|error| CliError::from_store(database, error))?;
    let value = || all.iter().map(object).collect::<Vec<_>>();
    output::either(json, value, || {
        let lines = all.iter().map(|result| {
            let sign = if result.is_fine { "ok" } else { "WRONG" };
            [sign, result.about, &result.found].map(str::to_owned)
        });
        let header = ["", "ABOUT", "FOUND"];
        human::rows(header, lines, None)
    })?;
    let is_fine = all.iter().all(|result| result.is_fine);
    Ok(Exit::done_unless(!is_fine, Exit::Usage))
}

shape! {
    pub(crate) CHECK = "service-check", "a check of the embedded service's database";
    fn object(result: &CheckResult) {
        "about": text = result.about, "files, schema, integrity, references, groups, tokens, environments or keys";
        "ok": bool = result.is_fine, "whether the check passed";
        "found": text = result.found, "what was found; human-readable, may change";
    }
}
