//! API keys in the keyring of the Linux kernel: in memory, never on disk, and gone after a reboot at the latest. Only
//! this file uses the keyring crates.

use secrecy::SecretString;
use zeroize::Zeroizing;

/// The service name shared by all entries of this program.
#[cfg(all(target_os = "linux", feature = "keyring"))]
const SERVICE: &str = "groupdesk";

/// Why the keyring did not return or accept a key. Never contains one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    #[error("this groupdesk was built without the kernel keyring; use another source for the key")]
    NotBuiltIn,
    #[error(
        "the kernel keyring is not available here ({0}), as in many containers; use another source for the key"
    )]
    NotAvailable(String),
    #[error("it has no key (a reboot clears it). To store it again: groupdesk profile key NAME")]
    Missing,
    #[error("it gave an error: {0}")]
    Failed(String),
}

/// Returns the key of that name.
#[cfg(all(target_os = "linux", feature = "keyring"))]
pub(super) fn read(name: &str) -> Result<Zeroizing<Vec<u8>>, KeyringError> {
    Ok(Zeroizing::new(entry(name)?.get_secret()?))
}

/// Stores a key, replacing one of the same name.
#[cfg(all(target_os = "linux", feature = "keyring"))]
pub fn store(name: &str, key: &SecretString) -> Result<(), KeyringError> {
    use secrecy::ExposeSecret;

    let bytes = Zeroizing::new(key.expose_secret().as_bytes().to_vec());
    entry(name)?.set_secret(&bytes)?;
    // Some containers accept a key but do not return it; find out now.
    let back = read(name)?;
    if *back == *bytes {
        Ok(())
    } else {
        Err(KeyringError::Failed(
            "it returned a different key than was stored".into(),
        ))
    }
}

/// Removes a key. It is not an error if there is none.
#[cfg(all(target_os = "linux", feature = "keyring"))]
pub fn forget(name: &str) -> Result<(), KeyringError> {
    match entry(name)?.delete_credential().map_err(KeyringError::from) {
        Ok(()) | Err(KeyringError::Missing) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(all(target_os = "linux", feature = "keyring"))]
fn entry(name: &str) -> Result<keyring_core::Entry, KeyringError> {
    use keyring_core::api::CredentialStoreApi;

    let store = linux_keyutils_keyring_store::Store::new()?;
    Ok(store.build(SERVICE, name, None)?)
}

#[cfg(all(target_os = "linux", feature = "keyring"))]
impl From<keyring_core::Error> for KeyringError {
    fn from(error: keyring_core::Error) -> Self {
        use keyring_core::Error;

        match error {
            Error::NoEntry => Self::Missing,
            Error::NoStorageAccess(cause) | Error::PlatformFailure(cause) => {
                Self::NotAvailable(super::scrub::shown(&cause.to_string()))
            }
            // Some variants contain the secret itself, so only their kind is named.
            Error::BadEncoding(_) | Error::BadDataFormat(..) => {
                Self::Failed("its content is not a key".into())
            }
            Error::TooLong(what, most) => Self::Failed(format!("{what} is longer than {most}")),
            _ => Self::Failed("it rejected the request".into()),
        }
    }
}

#[cfg(not(all(target_os = "linux", feature = "keyring")))]
pub(super) fn read(_name: &str) -> Result<Zeroizing<Vec<u8>>, KeyringError> {
    Err(KeyringError::NotBuiltIn)
}

/// Without keyring support, this fails.
#[cfg(not(all(target_os = "linux", feature = "keyring")))]
pub fn store(_name: &str, _key: &SecretString) -> Result<(), KeyringError> {
    Err(KeyringError::NotBuiltIn)
}

/// Without keyring support, this fails.
#[cfg(not(all(target_os = "linux", feature = "keyring")))]
pub fn forget(_name: &str) -> Result<(), KeyringError> {
    Err(KeyringError::NotBuiltIn)
}
