//! Whose token is this? A pasted text is looked through for tokens, and each is looked up by its fingerprint; nothing is
//! sent, and nothing of the text is kept.

use crate::{
    directory::{Directory, DirectoryError, Owner, Role},
    domain::{
        pasted::{self, DIGITS},
        token::{Fingerprint, Token},
    },
};

/// What there is to say of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenReport {
    pub fingerprint: Fingerprint,
    /// Of the pasted text, counted from 1.
    pub line: usize,
    /// The groups that have or had it.
    pub owners: Vec<Owner>,
}

/// What came of a pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenLookup {
    /// The tokens in it, those of a known group first; at least one.
    Answered(Vec<TokenReport>),
    /// That nobody has it says nothing.
    NotAToken { characters: usize },
}

impl TokenLookup {
    /// Looks every token of a text up, in all profiles.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub async fn of(directory: &Directory, text: &Token) -> Result<Self, DirectoryError> {
        // Who may only look has no key to make fingerprints with.
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

/// What a person is told of a text that has no token in it.
pub fn not_a_token(characters: usize) -> String {
    format!(
        "this is not the shape of a token ({characters} characters): a token is {DIGITS} hexadecimal digits. No group here \
         has or had it, but that is no all-clear: give the whole token, or the line it stands in"
    )
}
