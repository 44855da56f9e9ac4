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
    let Some(base_url) = env.text(BASE_URL)? else {
        return match [API_KEY, TAG, PATH]
            .into_iter()
            .find(|name| env.get(name).is_some())
        {
            // A profile of the file may use this very variable.
            Some(API_KEY)
                if others
                    .iter()
                    .any(|profile| profile.api_key == KeySource::Env(API_KEY.into())) =>
            {
                Ok(None)
            }
            Some(name) => Err(ConfigError::variable(
                name,
                format!("is set, but {BASE_URL} is not; set both or neither"),
            )),
            None => Ok(None),
        };
    };
    if env.get(API_KEY).is_none() {
        return Err(ConfigError::variable(
            BASE_URL,
            format!("is set, but {API_KEY} is not; set both or neither"),
        ));
    }
    let base_url = address::base_url(base_url, false)
        .map_err(|error| ConfigError::variable(BASE_URL, error.to_string()))?;
    let path = match env.text(PATH)? {
        Some(path) => {
            address::path(path).map_err(|error| ConfigError::variable(PATH, error.to_string()))?
        }
        None => address::DEFAULT_PATH.to_owned(),
    };
    let environment = env
        .text(TAG)?
        .map(|tag| {
            (ENVIRONMENT.check)(&ENVIRONMENT, &tag.into()).map(|()| EnvironmentTag::parse(tag))
        })
        .transpose()
        .map_err(|what| ConfigError::variable(TAG, what))?;
    let mut profile = Profile {
        from_variables: true,
        path,
        production: environment != Some(EnvironmentTag::Testing),
        environment,
        ..Profile::new("", &base_url, KeySource::Env(API_KEY.into()))
    };
    let tag = profile
        .environment
        .as_ref()
        .map(|tag| format!("-{}", tag.as_str().to_lowercase()));
    profile.name = format!("env-{}{}", place(&profile), tag.unwrap_or_default());
    if others.iter().any(|other| other.name == profile.name) {
        return Err(ConfigError::variable(
            BASE_URL,
            format!(
                "defines a profile \"{}\", which also exists in the configuration file; rename it there",
                profile.name
            ),
        ));
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
