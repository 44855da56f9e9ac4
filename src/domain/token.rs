//! The user group token, which is never printed, and the fingerprint, which represents it everywhere else (hazard 10 of
//! docs/design/service.md; docs/design/rotation.md).

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// A bearer secret. Its `Debug` output reveals nothing, it has no `Display`, and its memory is wiped on drop.
#[derive(Clone)]
pub struct Token(SecretString);

impl Token {
    pub fn new(text: String) -> Self {
        Self(SecretString::from(text))
    }

    /// The secret itself. Every caller of this is a place where a token can leave: keep them few.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        use subtle::ConstantTimeEq;
        self.expose()
            .as_bytes()
            .ct_eq(other.expose().as_bytes())
            .into()
    }
}

impl Eq for Token {}

/// HMAC-SHA-256 of a token under the directory's own key; identifies a token without being one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The first 8 hex digits: the form that people see (docs/design/rotation.md).
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.first_chunk().expect("it is longer");
        let first = u32::from_be_bytes(*first);
        if f.width().is_some() || f.precision().is_some() {
            return f.pad(&format!("{first:08x}"));
        }
        write!(f, "{first:08x}")
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// Computes fingerprints with the random key of one directory.
#[derive(Clone)]
pub struct Fingerprinter(Hmac<Sha256>);

impl Fingerprinter {
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes a key of any length"))
    }

    pub fn of(&self, token: &Token) -> Fingerprint {
        self.of_text("", token.expose())
    }

    /// The fingerprint of an API key. A key and a token with the same text have different fingerprints.
    pub fn of_key(&self, key: &SecretString) -> Fingerprint {
        self.of_text("api key\0", key.expose_secret())
    }

    /// Tells whether another fingerprint key is the same, without revealing it.
    pub fn check(&self) -> Fingerprint {
        self.of_text("key check\0", "groupdesk")
    }

    fn of_text(&self, kind: &str, secret: &str) -> Fingerprint {
        let mut mac = self.0.clone();
        mac.update(kind.as_bytes());
        mac.update(secret.as_bytes());
        Fingerprint(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprinter(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_in_its_debug_text() {
        let token = Token::new("canary-token".into());
        assert_eq!(format!("{:?}", Some(&token)), "Some(Token(…))");
        let made = Fingerprinter::new(b"canary-key-of-thirty-two-letters");
        assert_eq!(format!("{made:?}"), "Fingerprinter(…)");
        let fingerprint = Fingerprint::from_bytes([0x3f; 32]);
        assert_eq!(format!("{fingerprint:?}"), "Fingerprint(3f3f3f3f)");
    }

    #[test]
    fn fingerprints_differ_by_token_and_by_key() {
        let (a, b) = (Fingerprinter::new(&[1; 32]), Fingerprinter::new(&[2; 32]));
        let token = Token::new("one".into());
        assert_eq!(a.of(&token), a.of(&token.clone()));
        assert_ne!(a.of(&token), b.of(&token));
        assert_ne!(a.of(&token), a.of(&Token::new("two".into())));
        assert_eq!(a.of(&token).to_string().len(), 8);
    }
}
