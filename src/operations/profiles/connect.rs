//! Creates profiles: tests the connection without creating anything, then writes the profile. A key that was typed in
//! is stored in the kernel's keyring or nowhere.

use secrecy::SecretString;

use crate::{
    api::{
        client::Client,
        probe::{Finding, Probe},
        recording::Listener,
    },
    config::{
        Overrides, Settings,
        edit::{self, Edit, EditError},
        keyring::{self, KeyringError},
        new_profile::{Field, NewProfile},
        profile::{KeySource, Profile},
    },
    domain::pasted::shape,
    operations::{Clock, open_directory, prelude::*},
};

/// A planned profile, and the result of testing its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionTest {
    pub edit: Edit,
    pub profile: Profile,
    /// The probe, or why it could not be attempted.
    pub probe: Result<Probe, String>,
}

impl ConnectionTest {
    /// Whether the service was reached and took the key.
    pub fn is_good(&self) -> bool {
        let probe = self.probe.as_ref();
        probe.is_ok_and(|probe| probe.finding.is_good())
    }
}

/// Why a profile was not added.
#[derive(Debug, thiserror::Error)]
pub enum NotAdded {
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("the key was not stored in the kernel keyring: {0}")]
    Keyring(#[from] KeyringError),
    #[error("{0}")]
    Other(String),
}

impl NotAdded {
    /// The problems, each with its field if it has one.
    pub fn problems(&self) -> Vec<(Option<Field>, String)> {
        match self {
            Self::Edit(EditError::Wrong(problems)) => problems
                .iter()
                .map(|(field, what)| (Some(*field), what.clone()))
                .collect(),
            Self::Edit(EditError::Exists(..)) => vec![(Some(Field::Name), self.to_string())],
            Self::Keyring(_) => vec![(Some(Field::ApiKey), self.to_string())],
            Self::Edit(_) | Self::Other(_) => vec![(None, self.to_string())],
        }
    }
}

/// Refuses to overwrite the stored key of another profile.
fn refuse_taken(entry: &str, name: &str, overrides: &Overrides) -> Result<(), NotAdded> {
    let holds_it = |profile: &Profile| {
        profile.name != name
            && matches!(&profile.api_key, KeySource::Keyring(other) if other == entry)
    };
    // Without a readable configuration file there is no other profile.
    let settings = Settings::load(overrides).ok();
    let profiles = settings
        .map(|settings| settings.profiles)
        .unwrap_or_default();
    match profiles.into_iter().find(holds_it) {
        None => Ok(()),
        Some(other) => Err(EditError::Wrong(vec![(
            Field::ApiKey,
            format!(
                "profile {} has its key in this entry; use another entry, or pass no key to share this one",
                other.name
            ),
        )])
        .into()),
    }
}

/// Adds profiles to the configuration of this installation.
#[derive(Clone)]
pub struct Connector {
    overrides: Overrides,
    /// The directory, if it is open already.
    directory: Option<Directory>,
    clock: Clock,
    listener: Option<Listener>,
}

/// The name of a profile is shown everywhere.
fn no_token_as_name(name: &str) -> Result<(), NotAdded> {
    match shape(name) {
        Some(_) => Err(NotAdded::Other(
            "name: this looks like a token, or a part of one; nothing was saved. To find its group, run `groupdesk whose`".into(),
        )),
        None => Ok(()),
    }
}

impl Connector {
    pub fn new(overrides: Overrides, directory: Option<Directory>, clock: Clock) -> Self {
        Self {
            overrides,
            directory,
            clock,
            listener: None,
        }
    }

    /// Sets the listener for the exchanges of connection tests; it gets them without secrets.
    #[must_use]
    pub fn with_listener(self, listener: Option<Listener>) -> Self {
        Self { listener, ..self }
    }

    /// Returns what would be written, and the profile as it will be read. Nothing is sent or written.
    pub fn plan(&self, new: &NewProfile) -> Result<(Edit, Profile), NotAdded> {
        no_token_as_name(&new.name)?;
        Ok(edit::Opened::read(&self.overrides)?.added(new)?)
    }

    /// Tests the connection and returns what would be written; writes and creates nothing. `key` is a key that is not
    /// stored yet.
    pub async fn check(
        &self,
        new: &NewProfile,
        key: Option<&SecretString>,
    ) -> Result<ConnectionTest, NotAdded> {
        let (mut edit, mut profile) = self.plan(new)?;
        if let (KeySource::Keyring(name), Some(_)) = (&new.api_key, key) {
            refuse_taken(name, &new.name, &self.overrides)?;
        }
        let probe = self.probe(&profile, key).await;
        if matches!(&probe, Ok(probe) if probe.finding == Finding::MayNotChange) {
            let read_only = NewProfile {
                read_only: true,
                ..new.clone()
            };
            (edit, profile) = self.plan(&read_only)?;
        }
        Ok(ConnectionTest {
            edit,
            profile,
            probe: probe.map_err(|failure| format!("{failure}.")),
        })
    }

    /// Reads the key of a profile, which may run a command.
    pub async fn key(&self, profile: &Profile) -> Result<SecretString, Failure> {
        let read = profile.api_key.read(&self.overrides.env).await;
        read.map_err(|error| error.of_profile(&profile.name).into())
    }

    /// Tests the connection of a profile with a request that can create nothing. On an error nothing was sent.
    pub async fn probe(
        &self,
        profile: &Profile,
        key: Option<&SecretString>,
    ) -> Result<Probe, Failure> {
        let key = match key {
            Some(key) => key.clone(),
            None => self.key(profile).await?,
        };
        let client = Client::new(profile, key)?;
        Ok(client.with_listener(self.listener.clone()).probe().await)
    }

    /// Returns what renaming a profile would write. Nothing is written.
    pub fn plan_rename(&self, name: &str, to: &str) -> Result<Edit, NotAdded> {
        no_token_as_name(to)?;
        Ok(edit::Opened::read(&self.overrides)?.renamed(name, to)?)
    }

    /// Renames a profile in the directory and in the configuration. Its place, with everything in it, stays the same.
    pub async fn rename(&self, name: &str, to: &str) -> Result<Edit, NotAdded> {
        let edit = self.plan_rename(name, to)?;
        let settings = Settings::load(&self.overrides).map_err(EditError::from)?;
        let other = |error: DirectoryError| {
            NotAdded::Other(match error {
                // Whether it was recorded is not known.
                DirectoryError::Failed { .. } => error.to_string(),
                error => format!("{error}; nothing was changed"),
            })
        };
        let directory = open_directory(&settings.directory, &self.overrides.env).map_err(other)?;
        let at = self.clock.now();
        let move_to = async |from, to| {
            directory
                .rename_profile(from, to, at, &settings.operator)
                .await
        };
        if let Err(place) = move_to(name, to).await.map_err(other)? {
            return Err(NotAdded::Other(format!(
                "the name {to} belonged to environment {place} at the same URL; nothing was changed. Choose another name, or if it is \
                 the same environment: groupdesk environment merge NAME INTO"
            )));
        }
        if let Err(error) = edit.make() {
            // A profile whose name is not bound is bound again by its address and key, so this may fail.
            drop(move_to(to, name).await);
            return Err(error.into());
        }
        Ok(edit)
    }

    /// Stores the key, if there is one and the profile uses the keyring, and writes the profile.
    pub async fn add(
        &self,
        new: &NewProfile,
        key: Option<&SecretString>,
    ) -> Result<Operations, NotAdded> {
        let (new, key, overrides) = (new.clone(), key.cloned(), self.overrides.clone());
        let writing = move || {
            let (edit, _) = edit::Opened::read(&overrides)?.added(&new)?;
            if let (KeySource::Keyring(name), Some(key)) = (&new.api_key, &key) {
                refuse_taken(name, &new.name, &overrides)?;
                keyring::store(name, key)?;
            }
            edit.make()?;
            Ok::<_, NotAdded>((new.name, Settings::load(&overrides)))
        };
        let written = tokio::task::spawn_blocking(writing).await;
        let (name, settings) = written
            .map_err(|_| NotAdded::Other("saving was interrupted; check the file".into()))??;
        let after = |error: String| {
            NotAdded::Other(format!(
                "the profile is saved, but cannot be opened: {error}"
            ))
        };
        let settings = settings.map_err(|error| after(error.to_string()))?;
        let profile = settings.profile(Some(&name));
        let profile = profile.map_err(|error| after(error.to_string()))?.clone();
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => open_directory(&settings.directory, &self.overrides.env)
                .map_err(|error| after(error.to_string()))?,
        };
        Ok(Operations::new(
            profile,
            self.overrides.env.clone(),
            directory,
            settings.operator,
            self.clock,
        ))
    }
}
