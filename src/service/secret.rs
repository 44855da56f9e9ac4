//! Random secrets from the operating system, and the hashes stored in their place. Stores nothing itself.

use std::fmt::Write;

use secrecy::SecretString;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::store::{Result, StoreError};

/// A SHA-256, as stored for API keys and retired tokens.
pub(super) type Hash = [u8; 32];

/// 256 bits from the operating system as 64 lower-case hex digits: the format of tokens and API keys.
pub(super) fn random() -> Result<SecretString> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut()).map_err(|_| StoreError::NoRandomness)?;
    let mut text = String::with_capacity(64);
    for byte in bytes.iter() {
        write!(text, "{byte:02x}").expect("a String takes all text");
    }
    Ok(SecretString::from(text))
}

pub(super) fn hash(secret: &[u8]) -> Hash {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn secrets_are_64_lower_case_hex_digits_and_never_the_same() {
        let (one, other) = (random().expect("random"), random().expect("random"));
        assert_ne!(one.expose_secret(), other.expose_secret());
        let text = one.expose_secret();
        assert_eq!(text.len(), 64);
        assert!(
            text.bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        );
    }
}
