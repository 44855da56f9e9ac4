//! `groupdesk serve keys`: creates, lists and revokes API keys. A key is printed only once, when it is created.

use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::storage::Storage;
use crate::{
    cli::{
        args::{CreateKey, Global, Keys},
        error::CliError,
        output::{self, human},
        process::exit::Exit,
    },
    domain::text::visible,
    operations::Clock,
    service::{
        keys::{KeyInfo, NewKey, check_new},
        store::{Options, StoreError},
    },
};

pub(crate) fn run(command: Keys, storage: &Storage, global: &Global) -> Result<Exit, CliError> {
    // A key that cannot be, and a look at what is not there, create no database.
    match &command {
        Keys::Create(create) => {
            check_new(&new_key(create, global), Clock::System.now())?;
        }
        Keys::List if !storage.is_there() => return print(&[], global),
        Keys::Revoke { id } if !storage.is_there() => {
            return Err(StoreError::UnknownKey(*id).into());
        }
        Keys::List | Keys::Revoke { .. } => {}
    }
    let store = storage.open(Options::default())?;
    match command {
        Keys::Create(create) => {
            let (info, key) = store.create_new_key(new_key(&create, global))?;
            output::say(&format!(
                "created API key {} for environment {}. It is shown only once: save it in a file with mode 600, and set api_key \
                 = {{ file = \"...\" }} in a profile",
                info.id,
                visible(&info.environment)
            ));
            if global.json {
                let mut object = object(&info);
                object["key"] = key.expose_secret().into();
                output::json(&object)?;
            } else {
                output::result(key.expose_secret())?;
            }
            Ok(Exit::Done)
        }
        Keys::List => print(&store.list_keys()?, global),
        Keys::Revoke { id } => {
            let info = store.revoke_key(id)?;
            let environment = visible(&info.environment);
            let text = || format!("revoked API key {id} of environment {environment}");
            output::either(global.json, || object(&info), text)
        }
    }
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
    let none = "there is no API key yet";
    output::list(global.json, keys, object, none, || list(keys))
}

fn object(info: &KeyInfo) -> Value {
    json!({
        "id": info.id,
        "name": info.name,
        "environment": info.environment,
        "tag": info.tag,
        "read_only": info.read_only,
        "created_at": info.created_at.to_string(),
        "revoked_at": info.revoked_at.map(|at| at.to_string()),
        "expires_at": info.expires_at.map(|at| at.to_string()),
        "last_used_at": info.last_used_at.map(|at| at.to_string()),
    })
}

fn list(keys: &[KeyInfo]) -> String {
    let lines = keys.iter().map(|key| {
        let second = |at: jiff::Timestamp| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        let minute = |at: jiff::Timestamp| at.strftime("%Y-%m-%d %H:%MZ").to_string();
        [
            key.id.to_string(),
            key.name
                .as_deref()
                .map(visible)
                .unwrap_or_default()
                .into_owned(),
            visible(&key.environment).into_owned(),
            key.tag.clone().unwrap_or_default(),
            if key.read_only { "read" } else { "read, write" }.to_owned(),
            second(key.created_at),
            key.last_used_at.map_or_else(|| "never".into(), minute),
            key.expires_at.map(second).unwrap_or_default(),
            key.revoked_at.map(second).unwrap_or_default(),
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
    human::rows(header, &lines.collect::<Vec<_>>(), None)
}
