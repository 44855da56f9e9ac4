//! Fetches an API key from the source that a profile names. The key is returned as a secret and never appears in an
//! error.

use std::{
    fs::OpenOptions,
    io::Read,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
    time::Duration,
};

use rustix::fs::OFlags;
use secrecy::SecretString;
use zeroize::Zeroizing;

use super::{
    environment::Environment,
    key_command,
    key_source::{KeyError, LARGEST, Missing},
    keyring,
    profile::KeySource,
};
use crate::intake::secret;

const LONGEST_KEY: usize = 4 * 1024;
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

impl KeySource {
    /// Returns the API key. A command has ten seconds and runs without a shell; the first line of its output is the
    /// key.
    pub async fn read(&self, env: &Environment) -> Result<SecretString, KeyError> {
        self.read_within(env, COMMAND_LIMIT).await
    }

    /// Like [`KeySource::read`], with another time limit for a command.
    pub async fn read_within(
        &self,
        env: &Environment,
        limit: Duration,
    ) -> Result<SecretString, KeyError> {
        let found = self.found(env, limit).await;
        found.and_then(|bytes| key(&bytes)).map_err(|why| KeyError {
            from: match self {
                Self::Unset => "the profile".into(),
                _ => self.to_string(),
            },
            why,
        })
    }

    /// Returns the API key if that needs neither a command nor a wait: for shell completion.
    pub fn at_hand(&self, env: &Environment) -> Option<SecretString> {
        let bytes = match self {
            Self::Env(name) => variable(env, name).ok()?,
            Self::File(path) => file(path).ok()?,
            Self::Keyring(_) | Self::Command(_) | Self::Unset => return None,
        };
        key(&bytes).ok()
    }

    /// Returns the first line as a password. The error contains nothing of what was found.
    pub async fn read_password(&self, env: &Environment) -> Result<Zeroizing<Vec<u8>>, String> {
        let found = self.found(env, COMMAND_LIMIT).await;
        // Unlike a key, a password may begin and end with a space.
        let why = match found.map(|bytes| secret::first_line(&bytes)) {
            Ok(line) if line.is_empty() => "it is empty; put the password on its first line".into(),
            Ok(line) => return Ok(line),
            Err(Missing::NotSet) => "it is not set; export it, or use another source".into(),
            // The last line of a command's stderr may be output of a password agent, so leave it out.
            Err(Missing::Failed { ending, .. }) => format!("it ended with {ending}"),
            Err(Missing::TooMuch) => "it is larger than 64 KiB; use another source".into(),
            Err(why) => why.to_string(),
        };
        Err(format!("there is none from {self}: {why}"))
    }

    async fn found(
        &self,
        env: &Environment,
        limit: Duration,
    ) -> Result<Zeroizing<Vec<u8>>, Missing> {
        match self {
            Self::Env(name) => variable(env, name),
            Self::File(path) => {
                let path = path.clone();
                // A file system can hang, and the console must not.
                tokio::task::spawn_blocking(move || file(&path))
                    .await
                    .unwrap_or(Err(Missing::Lost))
            }
            Self::Keyring(name) => {
                let name = name.clone();
                tokio::task::spawn_blocking(move || keyring::read(&name))
                    .await
                    .map_or(Err(Missing::Lost), |read| read.map_err(Missing::Keyring))
            }
            Self::Command(argv) => key_command::run(argv, env, limit).await,
            Self::Unset => Err(Missing::NoSource),
        }
    }
}

fn variable(env: &Environment, name: &str) -> Result<Zeroizing<Vec<u8>>, Missing> {
    let value = env.get(name).ok_or(Missing::NotSet)?;
    Ok(Zeroizing::new(value.as_encoded_bytes().to_vec()))
}

/// A key file must satisfy the mode that ssh demands of its key files.
fn file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Missing> {
    let file = OpenOptions::new()
        .read(true)
        // Opening a FIFO must not block before it can be refused.
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(Missing::Unreadable)?;
    let metadata = file.metadata().map_err(Missing::Unreadable)?;
    if !metadata.is_file() {
        return Err(Missing::NotAFile);
    }
    private(
        metadata.mode(),
        metadata.uid(),
        rustix::process::geteuid().as_raw(),
    )?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(LARGEST + 1));
    file.take(LARGEST as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(Missing::Unreadable)?;
    if bytes.len() > LARGEST {
        return Err(Missing::TooMuch);
    }
    Ok(bytes)
}

/// Only root may own a key file for another user.
fn private(mode: u32, owner: u32, us: u32) -> Result<(), Missing> {
    if owner != us && owner != 0 {
        Err(Missing::NotOurs(owner))
    } else if mode & 0o077 != 0 {
        Err(Missing::TooOpen(mode & 0o7777))
    } else {
        Ok(())
    }
}

/// Checks an API key that a person entered. The error never quotes it.
pub fn given(text: impl AsRef<[u8]>) -> Result<SecretString, String> {
    key(text.as_ref()).map_err(|why| format!("the API key: {why}"))
}

/// The first line, trimmed. It goes into a header, so it must be printable ASCII without spaces.
fn key(bytes: &[u8]) -> Result<SecretString, Missing> {
    let line = secret::first_line(bytes);
    let line = line.trim_ascii();
    if line.is_empty() {
        return Err(Missing::Empty);
    }
    if line.len() > LONGEST_KEY {
        return Err(Missing::TooLong);
    }
    if let Some(place) = secret::first_unusual(line) {
        return Err(Missing::NotAKey(place));
    }
    if let Some(what) = secret::around(line) {
        return Err(Missing::NotAlone(what));
    }
    std::str::from_utf8(line)
        .map(SecretString::from)
        .map_err(|_| Missing::NotAKey(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It would be a key that no service knows.
    #[test]
    fn a_key_with_what_a_configuration_puts_around_it_is_refused() {
        for (text, words) in [
            ("\"canary\"", "in quotes"),
            ("'canary'\n", "in quotes"),
            ("GROUPDESK_API_KEY=canary", "an assignment"),
            ("api_key=canary", "an assignment"),
            ("{\"key\":\"canary\"}", "JSON"),
        ] {
            let why = given(text).expect_err(text);
            assert!(why.contains(words) && !why.contains("canary"), "{why}");
        }
        for text in ["canary", "CANARY==", "Can4=ry", "\"canary", "key"] {
            assert!(given(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_key_file_is_ours_or_of_root_and_closed_to_others() {
        for (mode, owner, us, refused) in [
            (0o100_600, 1000, 1000, None),
            (0o100_400, 0, 1000, None),
            (0o100_600, 0, 0, None),
            (0o100_600, 1001, 1000, Some("another user (number 1001)")),
            (0o100_600, 1000, 0, Some("another user (number 1000)")),
            (0o100_640, 1000, 1000, Some("chmod 600")),
            (0o100_604, 0, 1000, Some("chmod 600")),
        ] {
            let why = private(mode, owner, us).err().map(|why| why.to_string());
            match (why, refused) {
                (None, None) => {}
                (Some(why), Some(words)) => assert!(why.contains(words), "{why}"),
                (why, refused) => panic!("{mode:o} {owner} {us}: {why:?}, not {refused:?}"),
            }
        }
    }
}
