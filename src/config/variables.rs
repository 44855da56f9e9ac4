//! The profile made from `GROUPDESK_BASE_URL` and related variables, without any file.

use super::{
    address,
    environment::{API_KEY, Environment},
    error::ConfigError,
    profile::{ENVIRONMENT, KeySource, Profile},
};
use crate::domain::group::EnvironmentTag;

const BASE_URL: &str = "GROUPDESK_BASE_URL";
const TAG: &str = "GROUPDESK_ENVIRONMENT";
const PATH: &str = "GROUPDESK_PATH";

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
