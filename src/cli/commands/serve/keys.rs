//! `groupdesk serve keys`: creates, lists and revokes API keys. A key is printed only once, when it is created.

use secrecy::ExposeSecret;

use super::storage::Storage;
use crate::{
    cli::{args::new_name, commands::prelude::*},
    config::objection,
    service::{
        keys::{Expiry, KeyInfo, NewKey, check_new},
        store::{Options, Store, StoreError},
    },
};

/// List API keys; create and revoke them
#[derive(Debug, Args)]
pub(super) struct Keys {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create an API key and print it once
    #[command(visible_alias = "add")]
    Create(CreateKey),
    /// List API keys by number, without the keys themselves
    List,
    /// Revoke a key at once
    Revoke {
        /// Number of the key, as the list shows it
        id: i64,
    },
}

#[derive(Debug, Args)]
struct CreateKey {
    /// Environment of the key; created if it does not exist
    #[arg(long, value_name = "NAME", value_parser = new_name)]
    environment: String,
    /// Tag of the environment; needed if another environment has a group with the same ID
    #[arg(long, value_parser = ["Customer", "Testing"])]
    tag: Option<String>,
    /// Who or what uses the key, such as a team or a host; shown by `keys list`, the access log and metrics
    #[arg(long, value_name = "NAME", value_parser = new_name)]
    name: Option<String>,
    /// When the key expires: 90d, 2027-01-31 or 2027-01-31T12:00:00Z [default: never]
    #[arg(long, value_name = "WHEN")]
    expires: Option<Expiry>,
}

pub(super) fn run(asked: Keys, storage: &Storage, global: &Global) -> Result<Exit, CliError> {
    let command = asked.command.unwrap_or(Command::List);
    if !matches!(command, Command::Create(_)) {
        storage.must_be_there()?;
    }
    // A key that cannot be, and a look at what is not there, create no database.
    match &command {
        Command::Create(create) => {
            if let Some(why) = objection(&create.environment) {
                return Err(CliError::Usage(format!("--environment {why}")));
            }
            // In a storage that is there, its own clock decides whether a key has ended.
            if !storage.is_there() {
                check_new(&new_key(create, global), Clock::System.now())?;
            }
        }
        Command::List if !storage.is_there() => return print(&[], global),
        Command::Revoke { id } if !storage.is_there() => {
            return Err(storage.explain(StoreError::UnknownKey(*id)));
        }
        Command::List | Command::Revoke { .. } => {}
    }
    let store = storage.open(Options::default())?;
    match command {
        Command::Create(create) => {
            let is_new = is_new(&create.environment, &store.list_keys()?)?;
            let (info, key) = store.create_new_key(new_key(&create, global))?;
            output::say(&format!(
                "created API key {} for {}environment {}. It is shown only once: save it in a file with mode 600, and set api_key \
                 = {{ file = \"...\" }} in a profile",
                info.id,
                if is_new { "the new " } else { "" },
                visible(&info.environment)
            ));
            let key = key.expose_secret();
            let printed = if global.json {
                output::secret_json(&made(&info, key))
            } else {
                output::token(key).map_err(CliError::Output)
            };
            match printed {
                Ok(()) => Ok(Exit::Done),
                Err(why) => Err(unprinted(&store, storage, info.id, &why)),
            }
        }
        Command::List => print(&store.list_keys()?, global),
        Command::Revoke { id } => {
            let info = store
                .revoke_key(id)
                .map_err(|error| storage.explain(error))?;
            output::note_change();
            let environment = visible(&info.environment);
            let text = || format!("revoked API key {id} of environment {environment}");
            output::either(global.json, || object(&info), text)
        }
    }
}

/// Whether there is no environment of this name. One that differs from it in case only is meant.
fn is_new(name: &str, keys: &[KeyInfo]) -> Result<bool, CliError> {
    let mut known = keys.iter().map(|key| key.environment.as_str());
    if known.clone().any(|known| known == name) {
        return Ok(false);
    }
    match known.find(|known| known.to_lowercase() == name.to_lowercase()) {
        None => Ok(true),
        Some(known) => Err(CliError::Usage(format!(
            "environment \"{}\" not found (did you mean \"{}\"?); no key was created",
            visible(name),
            visible(known)
        ))),
    }
}

/// Revokes a key that nobody has.
fn unprinted(store: &Store, storage: &Storage, id: i64, why: &CliError) -> CliError {
    let why = match why {
        CliError::Output(error) => error.to_string(),
        other => other.to_string(),
    };
    CliError::Partly(match store.revoke_key(id) {
        Ok(_) => format!("API key {id} was revoked: it could not be printed: {why}"),
        Err(error) => format!(
            "API key {id} could not be printed: {why}. It is still valid, because it could not be revoked: {}. To revoke it: \
             groupdesk serve keys revoke {id}{}",
            storage.explain(error),
            storage.as_options()
        ),
    })
}

fn new_key(create: &CreateKey, global: &Global) -> NewKey {
    NewKey {
        environment: create.environment.clone(),
        tag: create.tag.clone(),
        name: create.name.clone(),
        read_only: global.read_only,
        expires: create.expires,
    }
}

fn print(keys: &[KeyInfo], global: &Global) -> Result<Exit, CliError> {
    let none = "no API keys yet";
    output::list(global.json, keys, object, none, || list(keys))
}

shape! {
    pub(crate) KEY = "key", "an API key of the embedded service, never the key itself";
    fn object(info: &KeyInfo) {
        "id": number = info.id, "its number, for revoke";
        "name": text or "it has none" = info.name.as_ref(), "who or what uses it";
        "environment": text = info.environment, "the environment it belongs to";
        "tag": text or "the environment has none" = info.tag.as_ref(), "Customer or Testing";
        "read_only": bool = info.read_only, "whether it can only read";
        "created_at": time = info.created_at, "when it was created";
        "revoked_at": time or "it was not revoked" = info.revoked_at, "when it was revoked";
        "expires_at": time or "it does not expire" = info.expires_at, "when it expires";
        "last_used_at": time or "it was never used" = info.last_used_at, "when it was last used, to the minute";
    }

    pub(crate) MADE = "key-made", "a new API key of the embedded service";
    fn made(info: &KeyInfo, key: &str) {
        ..KEY = object(info);
        "key": text = key, "the key itself; shown only once";
    }
}

fn list(keys: &[KeyInfo]) -> String {
    let lines = keys.iter().map(|key| {
        [
            key.id.to_string(),
            human::or_dash(key.name.as_deref().map(visible)),
            visible(&key.environment).into_owned(),
            human::or_dash(key.tag.clone()),
            if key.read_only { "read" } else { "read, write" }.to_owned(),
            when::second(key.created_at),
            key.last_used_at
                .map_or_else(|| "never".into(), when::minute),
            human::or_dash(key.expires_at.map(when::second)),
            human::or_dash(key.revoked_at.map(when::second)),
        ]
    });
    let header = [
        "ID",
        "NAME",
        "ENVIRONMENT",
        "TAG",
        "MAY",
        "CREATED",
        "LAST USED",
        "EXPIRES",
        "REVOKED",
    ];
    human::rows(header, lines, None)
}
