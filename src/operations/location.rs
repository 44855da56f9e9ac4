//! From what a configuration says of a directory to the directory.

use std::sync::Arc;

use crate::{
    api::tls,
    config::{DirectoryAt, Environment, TeamSettings},
    directory::{Directory, DirectoryError, Location, TeamLocation},
};

/// Opens the directory that is configured. Blocks, briefly.
pub fn open_directory(at: &DirectoryAt, env: &Environment) -> Result<Directory, DirectoryError> {
    match at {
        DirectoryAt::File(file) => Directory::open(Location::File(file.clone())),
        DirectoryAt::Team(team) => Directory::open(Location::Team(team_location(team, env)?)),
    }
}

/// Where a team's directory is, whom to trust there, and how to be believed.
pub fn team_location(
    team: &TeamSettings,
    env: &Environment,
) -> Result<TeamLocation, DirectoryError> {
    let unusable = |why: String| DirectoryError::NotAPlace(why);
    let location = TeamLocation::parse(&team.url, &team.schema);
    let mut location = location.map_err(|why| unusable(why.to_string()))?;
    if location.needs_tls() {
        let trusted = tls::client_config(team.ca.as_deref());
        location = location.with_tls(trusted.map_err(|why| unusable(format!("ca: {why}")))?);
    }
    if let Some(source) = &team.password {
        let (source, env) = (Arc::new(source.clone()), env.clone());
        location = location.with_password(Arc::new(move || {
            let (source, env) = (Arc::clone(&source), env.clone());
            Box::pin(async move { source.read_password(&env).await })
        }));
    }
    Ok(location)
}
