//! The content of `config.toml`: its keys, their defaults, and the messages about mistakes. Pure: takes the text and
//! returns profiles or problems.

use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::{
    address,
    directory::{TeamSettings, directory},
    duration,
    environment::PathContext,
    error::{Problem, meant},
    guard::guards,
    handoff::handoff,
    key_source::{api_key, ca_file, key_in_the_file},
    keybindings::{self, KeyOverride},
    name::{nearest, objection},
    profile::{CONNECT_TIMEOUT, MAX_BULK, Profile, TIMEOUT},
    scrub::shown,
    toml_reader::{Entry, Problems, Section, Spanned},
    ui::{UiSettings, read_ui},
};
use crate::domain::{age, group::EnvironmentTag};

/// The parsed file.
#[derive(Debug, Default)]
pub(super) struct ConfigFile {
    pub(super) default_profile: Option<String>,
    pub(super) operator: Option<String>,
    pub(super) ui: UiSettings,
    /// The directory of a team.
    pub(super) directory: Option<TeamSettings>,
    /// In file order.
    pub(super) profiles: Vec<Profile>,
    /// In file order. Only the console can interpret them.
    pub(super) keys: Vec<KeyOverride>,
}

/// Parses a configuration file. All problems are reported together.
pub(super) fn read(text: &str, around: PathContext) -> Result<ConfigFile, Vec<Problem>> {
    let mut problems = Problems::of(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        // Use only the parser's own message: its `Display` quotes the line, which may contain an API key.
        let at = error.span().map_or(text.len(), |span| span.start);
        problems.add(at, format!("not TOML: {}", error.message()));
    }
    if !problems.is_empty() {
        return Err(problems.into_list());
    }
    let mut top = Section::of(document.get_ref());
    let default_profile = top.text("default_profile", "eu-live", &mut problems);
    let operator = operator(&mut top, &mut problems);
    let ui = read_ui(&mut top, &mut problems);
    let directory = directory(&mut top, around, &mut problems);
    let mut names = Vec::new();
    let mut profiles = Vec::new();
    match top.value("profiles") {
        None => {}
        Some(Spanned {
            value: DeValue::Table(table),
            ..
        }) => {
            for entry in Section::of(table).entries() {
                names.push(entry.key);
                profiles.extend(profile(entry, around, &mut problems));
            }
        }
        Some(Spanned { at, .. }) => problems.add(
            at,
            "profiles must be a table; write [profiles.NAME] on a line of its own",
        ),
    }
    let keys = keybindings::read(&mut top, &mut problems);
    if let Some(Spanned { at, value: name }) = default_profile
        && !names.contains(&name)
    {
        let near = meant(nearest(name, names.iter().copied()));
        problems.add(
            at,
            format!(
                "default_profile: profile \"{}\" not found{near}",
                shown(name)
            ),
        );
    }
    top.finish(&mut problems, misplaced);
    if problems.is_empty() {
        Ok(ConfigFile {
            default_profile: default_profile.map(|name| name.value.to_owned()),
            operator,
            ui,
            directory,
            profiles,
            keys,
        })
    } else {
        Err(problems.into_list())
    }
}

fn operator(top: &mut Section, problems: &mut Problems) -> Option<String> {
    let Spanned { at, value } = top.text("operator", "ana", problems)?;
    if let Some(objection) = objection(value) {
        problems.add(at, format!("operator {objection}"));
    }
    Some(value.to_owned())
}

fn profile(entry: &Entry, around: PathContext, problems: &mut Problems) -> Option<Profile> {
    if let Some(objection) = objection(entry.key) {
        problems.add(entry.key_at, format!("the name of the profile {objection}"));
    }
    let DeValue::Table(table) = entry.value else {
        problems.add(
            entry.key_at,
            "a profile is a table; write [profiles.NAME] on a line of its own",
        );
        return None;
    };
    let mut section = Section::of(table);
    let allow_plain_http = section.flag("allow_plain_http", false, problems);
    let base_url = base_url(&mut section, entry, allow_plain_http, problems);
    let path = path(&mut section, base_url.as_ref(), problems);
    let api_key = api_key(&mut section, around, problems);
    let environment = environment(&mut section, problems);
    let production = section.flag(
        "production",
        environment != Some(EnvironmentTag::Testing),
        problems,
    );
    let read_only = section.flag("read_only", false, problems);
    let (timeout, connect_timeout) = timeouts(&mut section, problems);
    let ca_file = ca_file("ca_file", &mut section, around, problems);
    let proxy_from_environment = section.flag("proxy_from_environment", false, problems);
    let read_properties = section.flag("read_properties", false, problems);
    let handoff = handoff(&mut section, around, problems);
    let max_token_age = max_token_age(&mut section, problems);
    let max_bulk = section
        .count("max_bulk", problems)
        .map_or(MAX_BULK, |count| count as usize);
    let guards = guards(&mut section, problems);
    let key_changes = section.flag("key_changes", false, problems);
    section.finish(problems, |entry, near| key_in_the_file(entry, near));
    Some(Profile {
        name: entry.key.to_owned(),
        base_url: base_url?.value,
        path,
        api_key: api_key?,
        environment,
        production,
        read_only,
        timeout,
        connect_timeout,
        allow_plain_http,
        ca_file,
        proxy_from_environment,
        read_properties,
        handoff,
        max_token_age,
        max_bulk,
        guards,
        from_variables: false,
        key_changes,
    })
}

fn base_url(
    section: &mut Section,
    entry: &Entry,
    allow_plain_http: bool,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    let Some(_) = section.value("base_url") else {
        problems.add(
            entry.key_at,
            "the profile has no base_url; add for example base_url = \"https://api.example.com\"",
        );
        return None;
    };
    let Spanned { at, value } = section.text("base_url", "https://api.example.com", problems)?;
    match address::base_url(value, allow_plain_http) {
        Ok(value) => Some(Spanned { at, value }),
        Err(error) => {
            problems.add(at, format!("base_url {error}"));
            None
        }
    }
}

fn path(
    section: &mut Section,
    base_url: Option<&Spanned<String>>,
    problems: &mut Problems,
) -> String {
    let path = match section.text("path", address::DEFAULT_PATH, problems) {
        None => address::DEFAULT_PATH.to_owned(),
        Some(Spanned { at, value }) => address::path(value).unwrap_or_else(|error| {
            problems.add(at, format!("path {error}"));
            address::DEFAULT_PATH.to_owned()
        }),
    };
    let end = path.trim_end_matches('/');
    if let Some(Spanned { at, value }) = base_url
        && !end.is_empty()
        && value.ends_with(end)
    {
        problems.add(
            *at,
            format!("base_url already ends with the path; remove \"{end}\" from it"),
        );
    }
    path
}

fn environment(section: &mut Section, problems: &mut Problems) -> Option<EnvironmentTag> {
    let Spanned { at, value } = section.text("environment", "Customer", problems)?;
    tag(value)
        .map_err(|what| problems.add(at, format!("environment {what}")))
        .ok()
}

/// One of the two documented tags. Any other text is taken for a typing mistake.
pub(super) fn tag(text: &str) -> Result<EnvironmentTag, String> {
    match EnvironmentTag::parse(text) {
        EnvironmentTag::Other(other) => {
            let near = nearest(&other, ["Customer", "Testing"]);
            Err(format!(
                "must be \"Customer\" or \"Testing\"{}",
                meant(near)
            ))
        }
        known => Ok(known),
    }
}

fn timeouts(section: &mut Section, problems: &mut Problems) -> (Duration, Duration) {
    let mut read = |key, example| {
        let Spanned { at, value } = section.text(key, example, problems)?;
        duration::parse(value)
            .map(|value| Spanned { at, value })
            .map_err(|error| problems.add(at, format!("{key} {error}")))
            .ok()
    };
    let timeout = read("timeout", "30s").map_or(TIMEOUT, |placed| placed.value);
    let connect = read("connect_timeout", "5s");
    if let Some(Spanned { at, value }) = connect
        && value > timeout
    {
        problems.add(
            at,
            "connect_timeout is longer than timeout, which applies to the whole request; shorten it",
        );
    }
    let connect = connect.map_or(CONNECT_TIMEOUT, |placed| placed.value);
    (timeout, connect.min(timeout))
}

fn max_token_age(section: &mut Section, problems: &mut Problems) -> Option<Duration> {
    let Spanned { at, value } = section.text("max_token_age", "90d", problems)?;
    age::parse(value)
        .map_err(|error| problems.add(at, format!("max_token_age {error}")))
        .ok()
}

/// A better message for a top-level key that belongs into a profile.
fn misplaced(entry: &Entry, near: Option<&str>) -> Option<String> {
    const OF_A_PROFILE: [&str; 14] = [
        "base_url",
        "path",
        "api_key",
        "environment",
        "production",
        "read_only",
        "timeout",
        "connect_timeout",
        "ca_file",
        "key_changes",
        "handoff",
        "max_token_age",
        "max_bulk",
        "guard",
    ];
    if OF_A_PROFILE.contains(&entry.key) {
        return Some(format!(
            "\"{}\" belongs in a profile; put it below a line [profiles.NAME]",
            entry.key
        ));
    }
    key_in_the_file(entry, near)
}
