//! Whose token is this? Finds tokens in a pasted text and looks each one up by its fingerprint. Nothing is sent, and
//! nothing of the text is kept.

use crate::{
    directory::{Directory, DirectoryError, Owner, Role},
    domain::{
        pasted::{self, DIGITS},
        token::{Fingerprint, Token},
    },
};

/// What is known of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenReport {
    pub fingerprint: Fingerprint,
    /// Line in the pasted text, counted from 1.
    pub line: usize,
    /// The groups that have or had this token.
    pub owners: Vec<Owner>,
}

/// The result for a pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenLookup {
    /// The tokens in the text, those of known groups first; at least one.
    Answered(Vec<TokenReport>),
    /// The text is no token, so that finding no owner says nothing.
    NotAToken { characters: usize },
}

impl TokenLookup {
    /// Looks up every token of a text, in all profiles.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub async fn of(directory: &Directory, text: &Token) -> Result<Self, DirectoryError> {
        // A viewer has no key to compute fingerprints with.
        directory.may(Role::Operator)?;
        let mut answered: Vec<TokenReport> = Vec::new();
        for candidate in pasted::candidates(text.expose()) {
            let mut found = None;
            for form in &candidate.forms {
                let fingerprint = directory.fingerprinter().of(form);
                let owners = directory.owners(fingerprint).await?;
                if !owners.is_empty() || (candidate.is_shaped && found.is_none()) {
                    found = Some(TokenReport {
                        fingerprint,
                        line: candidate.line,
                        owners,
                    });
                }
            }
            let is_new = |found: &TokenReport| {
                let mut known = answered.iter();
                known.all(|known| known.fingerprint != found.fingerprint)
            };
            answered.extend(found.filter(is_new));
        }
        answered.sort_by_key(|answer| answer.owners.is_empty());
        Ok(if answered.is_empty() {
            let characters = text.expose().trim().chars().count();
            Self::NotAToken { characters }
        } else {
            Self::Answered(answered)
        })
    }
}

/// The message for a text without a token.
pub fn not_a_token(characters: usize) -> String {
    format!(
        "this is not the shape of a token ({characters} characters): a token is {DIGITS} hexadecimal digits. No group here \
         has or had it, but that is no all-clear: give the whole token, or the line it stands in"
    )
}
