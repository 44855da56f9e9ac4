//! Opens the directory that the configuration names.

use std::future::ready;

use super::prelude::*;
use crate::{
    api::tls,
    config::{
        DirectoryAt, Environment, KeySource, TeamSettings, paths,
        pgpass::{self, Endpoint},
    },
    directory::{Location, Password, TeamLocation},
};

/// Opens the configured directory. Blocks briefly.
pub fn open_directory(at: &DirectoryAt, env: &Environment) -> Result<Directory, DirectoryError> {
    match at {
        DirectoryAt::File(file) => match paths::latest_changes(env) {
            Some(seen) => Directory::open_remembered(file, seen),
            None => Directory::open(Location::File(file.clone())),
        },
        DirectoryAt::Team(team) => Directory::open(Location::Team(team_location(team, env)?)),
    }
}

/// Where a team's directory is, which certificates to trust, and how to authenticate.
pub fn team_location(
    team: &TeamSettings,
    env: &Environment,
) -> Result<TeamLocation, DirectoryError> {
    let unusable = |why: String| DirectoryError::NotAPlace(why);
    let location = TeamLocation::parse(&team.url, &team.schema);
    let mut location = location.map_err(|why| unusable(why.to_string()))?;
    if location.needs_tls() {
        let team = team.clone();
        let read = move || {
            let trusted = tls::client_config(team.ca_file.as_deref());
            let trusted = trusted.map_err(|why| format!("ca_file: {why}"))?;
            match team.pair()? {
                Some((cert, key)) => tls::with_certificate(&trusted, cert, key),
                None => Ok(trusted),
            }
        };
        read().map_err(unusable)?;
        location.server.tls = Some(Arc::new(read));
    }
    if let Some(source) = &team.password {
        location.server.password = Some(read(source, env));
    } else {
        let at = location.reaches().into_iter();
        let at = at.map(|(host, port, database, user)| Endpoint {
            host,
            port,
            database,
            user,
        });
        let (at, env) = (at.collect::<Vec<_>>(), env.clone());
        // No file or no entry: the server may not require a password.
        location.server.password = Some(Arc::new(move || {
            let found = pgpass::file(&env).map_or(Ok(None), |file| pgpass::password(&file, &at));
            Box::pin(ready(found.map(Option::unwrap_or_default)))
        }));
    }
    if let Some(source) = &team.fingerprint_key {
        location.fingerprint_key = Some(read(source, env));
    }
    if let Some(file) = paths::timelines(env) {
        location = location.with_timelines(file);
    }
    location.connections = team.connections as usize;
    if team.require_synchronous {
        location = location.only_synchronous();
    }
    Ok(location)
}

fn read(source: &KeySource, env: &Environment) -> Password {
    let (source, env) = (Arc::new(source.clone()), env.clone());
    Arc::new(move || {
        let (source, env) = (Arc::clone(&source), env.clone());
        Box::pin(async move { source.read_password(&env).await })
    })
}
