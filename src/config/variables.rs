//! The profile made from `GROUPDESK_BASE_URL` and related variables, without any file; and which variables of ours are mistyped.

use strsim::damerau_levenshtein;

use super::{
    address,
    environment::{API_KEY, Environment},
    error::ConfigError,
    profile::{ENVIRONMENT, KeySource, Profile},
    reference::VARIABLES,
};
use crate::domain::group::EnvironmentTag;

const BASE_URL: &str = "GROUPDESK_BASE_URL";
const TAG: &str = "GROUPDESK_ENVIRONMENT";
const PATH: &str = "GROUPDESK_PATH";

/// What our variables begin with.
const OURS: &str = "GROUPDESK_";
/// Options that one may take a variable for.
const OPTIONS: [&str; 6] = [
    "--read-only",
    "--dry-run",
    "--no-input",
    "--yes",
    "--output",
    "--json",
];

/// Refuses a mistyped variable of ours, and one for an option that has none: whoever set it counts on it.
pub(super) fn refuse_mistyped(env: &Environment) -> Result<(), ConfigError> {
    let is_known = |name: &str| VARIABLES.iter().any(|(known, _)| *known == name);
    for name in env.other_names() {
        let Some(rest) = name.strip_prefix(OURS).filter(|_| !is_known(name)) else {
            continue;
        };
        let option = format!("--{}", rest.to_lowercase().replace('_', "-"));
        if OPTIONS.contains(&option.as_str()) {
            let what = format!("is not read by groupdesk; pass {option}, or unset the variable");
            return Err(ConfigError::variable(name, &what));
        }
        // Names of further keys are often like that of the first.
        let mut known = VARIABLES.iter().filter(|(known, _)| *known != API_KEY);
        // One in six letters of what is behind the prefix.
        let mistakes = (rest.len() / 6).clamp(1, 2);
        let near = |(known, _): &&(&str, &str)| damerau_levenshtein(known, name) <= mistakes;
        if let Some((known, _)) = known.find(near) {
            let what = format!("is not read by groupdesk; rename it to {known}, or unset it");
            return Err(ConfigError::variable(name, &what));
        }
    }
    Ok(())
}

/// The profile that needs no file. Its name contains host and tag, so that what the directory remembers of one service
/// is not taken as known at another (hazard 1 of docs/design/service.md).
pub(super) fn profile(
    env: &Environment,
    others: &[Profile],
) -> Result<Option<Profile>, ConfigError> {
    let lacks = |name, other| {
        let what = format!("is set, but {other} is not; set both or neither");
        Err(ConfigError::variable(name, &what))
    };
    let Some(base_url) = env.text(BASE_URL)? else {
        let mut set = [API_KEY, TAG, PATH].into_iter();
        let set = set.find(|name| env.get(name).is_some());
        // A profile of the file may use this very variable.
        let of_file = KeySource::Env(API_KEY.into());
        let is_of_file = others.iter().any(|profile| profile.api_key == of_file);
        return match set {
            Some(name) if name != API_KEY || !is_of_file => lacks(name, BASE_URL),
            Some(_) | None => Ok(None),
        };
    };
    if env.get(API_KEY).is_none() {
        return lacks(BASE_URL, API_KEY);
    }
    let base_url = address::base_url(base_url, false)
        .map_err(|error| ConfigError::variable(BASE_URL, &error))?;
    let path = env.text(PATH)?.unwrap_or(address::DEFAULT_PATH);
    let path = address::path(path).map_err(|error| ConfigError::variable(PATH, &error))?;
    let tag = env.text(TAG)?;
    if let Some(tag) = tag {
        (ENVIRONMENT.check)(&ENVIRONMENT, &tag.into())
            .map_err(|what| ConfigError::variable(TAG, &what))?;
    }
    let environment = tag.map(EnvironmentTag::parse);
    let mut profile = Profile {
        from_variables: true,
        path,
        production: environment != Some(EnvironmentTag::Testing),
        environment,
        ..Profile::new("", &base_url, KeySource::Env(API_KEY.into()))
    };
    let tag = tag.map(|tag| format!("-{}", tag.to_lowercase()));
    profile.name = format!("env-{}{}", place(&profile), tag.unwrap_or_default());
    if others.iter().any(|other| other.name == profile.name) {
        let what = format!(
            "defines a profile \"{}\", which also exists in the configuration file; rename it there",
            profile.name
        );
        return Err(ConfigError::variable(BASE_URL, &what));
    }
    Ok(Some(profile))
}

/// Host and, if it is not the default, path: ids known at one service must not count as known at another (hazard 1).
fn place(profile: &Profile) -> String {
    let url = profile.url();
    let place = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    place
        .strip_suffix(address::DEFAULT_PATH)
        .unwrap_or(place)
        .trim_end_matches('/')
        .replace('/', "-")
}
