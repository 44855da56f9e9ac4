//! One operator's desk: whose it is, which directory and service it uses, and what time it is there.

use std::time::Duration;

use groupdesk::{
    config::{
        Environment,
        profile::{KeySource, Profile},
    },
    directory::Directory,
    operations::{Clock, Operations},
};
use jiff::Timestamp;

use super::ANA;

/// Builds [`Operations`]; everything is as usual until it is said otherwise.
#[derive(Clone)]
pub(crate) struct Desk {
    profile: Profile,
    environment: Environment,
    directory: Directory,
    operator: String,
    clock: Clock,
}

impl Desk {
    pub(super) fn new(profile: Profile, directory: Directory) -> Self {
        Self {
            profile,
            environment: Environment::default(),
            directory,
            operator: ANA.into(),
            clock: Clock::System,
        }
    }

    /// The operator.
    pub(crate) fn by(mut self, operator: &str) -> Self {
        self.operator = operator.into();
        self
    }

    /// Another directory.
    pub(crate) fn on(mut self, directory: &Directory) -> Self {
        self.directory = directory.clone();
        self
    }

    /// Another address in place of the service: a fault server, a meddler.
    pub(crate) fn through(mut self, base_url: impl Into<String>) -> Self {
        self.profile.base_url = base_url.into();
        self
    }

    /// A clock that stands still.
    pub(crate) fn at(mut self, time: Timestamp) -> Self {
        self.clock = Clock::Fixed(time);
        self
    }

    /// Any other clock.
    pub(crate) fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The time-out of an exchange; the settle horizon is twice as long, and at least a minute.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.profile.timeout = timeout;
        self.profile.connect_timeout = timeout;
        self
    }

    /// This API key, from a variable.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.profile.api_key = KeySource::Env("KEY".into());
        self.environment = [("KEY", key)].into_iter().collect();
        self
    }

    /// What a command of this desk finds in its environment.
    pub(crate) fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Any other setting of the profile.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Profile)) -> Self {
        change(&mut self.profile);
        self
    }

    pub(crate) fn operations(self) -> Operations {
        Operations::new(
            self.profile,
            self.environment,
            self.directory,
            self.operator,
            self.clock,
        )
    }
}
