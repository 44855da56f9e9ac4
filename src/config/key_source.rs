//! `api_key` and similar settings in the configuration file. They name one source, never the key itself. Nothing in
//! them is quoted, not even names, because people paste the key anywhere.

use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

use super::{
    environment::PathContext,
    error::meant,
    name::{nearest, objection},
    paths,
    profile::KeySource,
    scrub::looks_like_a_key,
    toml_reader::{Entry, Problems, Section, Spanned, texts},
};
use crate::domain::age;

pub(super) const KEY_SOURCES: &str = "{ env = \"EU_KEY\" }, { file = \"~/eu.key\" }, { command = [\"pass\", \"show\", \"eu\"] } or { keyring = \"eu\" }";

/// The kind of secret, as the file names it.
#[derive(Clone, Copy)]
pub(super) struct Secret {
    pub(super) key: &'static str,
    /// For use in a sentence.
    pub(super) word: &'static str,
}

const API_KEY: Secret = Secret {
    key: "api_key",
    word: "key",
};

pub(super) fn api_key(
    section: &mut Section,
    around: PathContext,
    problems: &mut Problems,
) -> Option<KeySource> {
    let Some(Spanned { at, value }) = section.value(API_KEY.key) else {
        return Some(KeySource::Unset);
    };
    let source = source(API_KEY, value, around);
    source.map_err(|what| problems.add(at, what)).ok()
}

pub(super) fn source(
    secret @ Secret { key, word }: Secret,
    value: &DeValue,
    around: PathContext,
) -> Result<KeySource, String> {
    match value {
        DeValue::Table(table) => of_table(secret, table, around),
        DeValue::String(_) => Err(format!(
            "{key} must not contain the {word} itself; remove it from the file (and replace the {word} if others could read it), \
             then set its source: {KEY_SOURCES}"
        )),
        _ => Err(format!("{key} must name its source: {KEY_SOURCES}")),
    }
}

fn of_table(
    secret @ Secret { key: of, word }: Secret,
    table: &DeTable,
    around: PathContext,
) -> Result<KeySource, String> {
    let mut entries = table.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(format!("{of} must name exactly one source: {KEY_SOURCES}"));
    };
    match (key.get_ref().as_ref(), value.get_ref()) {
        ("env", DeValue::String(name)) => env_source(secret, name),
        ("file", DeValue::String(file)) => file_source(secret, file, around),
        ("command", DeValue::Array(array)) => texts(array)
            .and_then(|argv| command_source(argv, around))
            .ok_or_else(|| format!("{of}.command must be a list of strings that begins with a program: [\"pass\", \"show\", \"eu\"]")),
        ("command", DeValue::String(_)) => Err(format!("{of}.command runs without a shell; write it as a list: [\"pass\", \"show\", \"eu\"]")),
        ("keyring", DeValue::String(name)) => match objection(name) {
            None => Ok(KeySource::Keyring(name.to_string())),
            Some(_) => Err(format!("{of}.keyring must be the name of an entry in the kernel's keyring, for example \"eu-live\", not the {word} itself")),
        },
        ("env" | "file" | "command" | "keyring", value) => Err(format!("{of} has a source of type {}; write {KEY_SOURCES}", value.type_str())),
        (unknown, _) => {
            let near = nearest(unknown, ["env", "file", "command", "keyring"]);
            Err(format!("{of} has an unknown source{}; write {KEY_SOURCES}", meant(near)))
        }
    }
}

fn env_source(Secret { key, word }: Secret, name: &str) -> Result<KeySource, String> {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name || looks_like_a_key(name) {
        return Err(format!(
            "{key}.env must be the name of an environment variable, for example \"EU_KEY\", not the {word} itself"
        ));
    }
    Ok(KeySource::Env(name.to_owned()))
}

fn file_source(
    Secret { key, word }: Secret,
    file: &str,
    around: PathContext,
) -> Result<KeySource, String> {
    if file.is_empty() || looks_like_a_key(file) && !file.contains('/') {
        return Err(format!(
            "{key}.file must be the name of a file, for example \"~/eu.key\", not the {word} itself"
        ));
    }
    paths::resolve(file, around.folder, around.env)
        .map(KeySource::File)
        .map_err(|why| format!("{key}.file {why}"))
}

/// Reads a setting that names a PEM file of certificate authorities.
pub(super) fn ca_file(
    key: &'static str,
    section: &mut Section,
    around: PathContext,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let Spanned { at, value } = section.text(key, "~/our-ca.pem", problems)?;
    let file = (!value.is_empty()).then(|| paths::resolve(value, around.folder, around.env));
    let wrong = match file {
        Some(Ok(file)) => return Some(file),
        Some(Err(why)) => why.to_string(),
        None => "must be the name of a file, for example \"~/our-ca.pem\"".into(),
    };
    problems.add(at, format!("{key} {wrong}"));
    None
}

/// A program with a slash in its name is resolved like a key file: relative to the configuration file.
pub(super) fn command_source(mut argv: Vec<String>, around: PathContext) -> Option<KeySource> {
    let program = argv.first_mut()?;
    if program.is_empty() || looks_like_a_key(program) && !program.contains('/') {
        return None;
    }
    if program.contains('/') {
        *program = paths::resolve(program, around.folder, around.env)
            .ok()?
            .into_os_string()
            .into_string()
            .ok()?;
    }
    Some(KeySource::Command(argv))
}

/// The message for a setting that contains, or seems to contain, an API key.
pub(super) fn key_in_the_file(entry: &Entry, near: Option<&str>) -> Option<String> {
    let is_age = |value: &str| age::parse(value).is_ok();
    if near == Some("max_token_age") && entry.value.as_str().is_some_and(is_age) {
        return None;
    }
    let plain = entry.key.to_lowercase();
    let is_secret = [
        "key",
        "token",
        "secret",
        "password",
        "authorization",
        "bearer",
        "credential",
    ]
    .iter()
    .any(|word| plain.contains(word));
    (entry.value.is_str() && (is_secret || near == Some("api_key")) || looks_like_a_key(entry.key)).then(|| {
        format!("an API key or token must not be in this file; remove it, then write api_key = with one of {KEY_SOURCES}")
    })
}
