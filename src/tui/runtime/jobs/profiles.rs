//! Testing and adding a profile; the only jobs that work without one.

use secrecy::SecretString;

use super::Backends;
use crate::{
    config::{
        given_key,
        new_profile::{Field, NewProfile},
    },
    domain::token::Token,
    tui::state::message::Outcome,
};

const NOT_HERE: &str = "profiles cannot be added here";

pub(super) async fn check(backends: &Backends, new: &NewProfile, key: Option<Token>) -> Outcome {
    let key = match secret(key) {
        Ok(key) => key,
        Err(no) => return no,
    };
    let Some(connector) = &backends.0.connector else {
        return Outcome::NotAdded(vec![(None, NOT_HERE.into())]);
    };
    match connector.check(new, key.as_ref()).await {
        Ok(checkup) => Outcome::Checked(Box::new(checkup)),
        Err(error) => Outcome::NotAdded(error.problems()),
    }
}

pub(super) async fn add(backends: &Backends, new: &NewProfile, key: Option<Token>) -> Outcome {
    let key = match secret(key) {
        Ok(key) => key,
        Err(no) => return no,
    };
    let Some(connector) = &backends.0.connector else {
        return Outcome::NotAdded(vec![(None, NOT_HERE.into())]);
    };
    match connector.add(new, key.as_ref()).await {
        Ok(operations) => {
            let profile = operations.profile().clone();
            Outcome::ProfileAdded(backends.add(operations), Box::new(profile))
        }
        Err(error) => Outcome::NotAdded(error.problems()),
    }
}

fn secret(key: Option<Token>) -> Result<Option<SecretString>, Outcome> {
    key.map(|key| given_key(key.expose()))
        .transpose()
        .map_err(|error| Outcome::NotAdded(vec![(Some(Field::ApiKey), error)]))
}
