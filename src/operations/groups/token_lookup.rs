//! Whose token is this? Finds tokens in a pasted text and looks each one up by its fingerprint. Nothing is sent, and
//! nothing of the text is kept.

use crate::{
    directory::Owner,
    domain::pasted::{Pasted, Reading},
    operations::prelude::*,
};

/// In characters. Shorter texts are no secrets.
const SHORTEST: usize = 4;

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
    /// The tokens in the text, those of known groups first; at least one. If none is of a known group, nothing else in
    /// the text may be a part of a token.
    Answered {
        tokens: Vec<TokenReport>,
        /// The line of something else that may be a token or a part of one.
        unclear: Option<usize>,
    },
    /// Nothing was found, which is no all-clear.
    Unclear(Unclear),
}

/// Why a text in which no known token was found is no all-clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclear {
    pub characters: usize,
    /// The line of something that may be a token or a part of one.
    pub line: Option<usize>,
    /// The line of a known API key.
    pub key: Option<usize>,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.key {
            return write!(
                f,
                "line {line} has an API key that groupdesk knows, and no known token. Replace the key at the service if \
                 others may have seen it"
            );
        }
        let characters = counted(self.characters, "character");
        write!(
            f,
            "no known token in this text ({characters}), but this is not conclusive: "
        )?;
        match self.line {
            Some(line) => write!(
                f,
                "line {line} may have a part of one, or a token that was never read here. Paste the whole token, or \
                 the lines it is in"
            ),
            None => f.write_str("nothing in it looks like a whole token. Paste the whole token, or the line it is in"),
        }
    }
}

impl TokenLookup {
    /// Looks up every token of a text, in all profiles. The tokens may have any shape.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub async fn of(directory: &Directory, text: &Pasted) -> Result<Self, DirectoryError> {
        // A viewer has no key to compute fingerprints with.
        if directory.role().is_some() {
            directory.may(Role::Operator)?;
        }
        let Reading {
            candidates,
            unclear,
        } = text.reading(SHORTEST);
        let fingerprinter = directory.fingerprinter();
        let forms = || {
            let all = candidates.iter().enumerate();
            all.flat_map(|(at, candidate)| candidate.forms.iter().map(move |form| (at, form)))
        };
        let tokens: Vec<_> = forms()
            .map(|(at, form)| (at, fingerprinter.of(form)))
            .collect();
        let keys = forms().map(|(_, form)| fingerprinter.of_key(&form.expose().to_owned().into()));
        let asked = tokens.iter().map(|(_, token)| *token).chain(keys).collect();
        let known = directory.known_secrets(asked).await?;
        let mut reports: Vec<TokenReport> = Vec::new();
        let mut add = |report: TokenReport| {
            if reports
                .iter()
                .all(|known| known.fingerprint != report.fingerprint)
            {
                reports.push(report);
            }
        };
        let mut found = HashSet::new();
        for (at, fingerprint) in known.iter().filter_map(|index| tokens.get(*index)) {
            let owners = directory.owners(*fingerprint).await?;
            found.insert(*at);
            add(TokenReport {
                fingerprint: *fingerprint,
                line: candidates[*at].line,
                owners,
            });
        }
        let shaped = candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| candidate.is_shaped);
        for (_, candidate) in shaped.filter(|(at, _)| !found.contains(at)) {
            let fingerprint =
                fingerprinter.of(candidate.forms.last().unwrap_or(&candidate.forms[0]));
            add(TokenReport {
                fingerprint,
                line: candidate.line,
                owners: Vec::new(),
            });
        }
        reports.sort_by_key(|report| (report.owners.is_empty(), report.line));
        let key = known.iter().find(|index| **index >= tokens.len());
        let key = key.and_then(|index| tokens.get(index - tokens.len()));
        let none = Unclear {
            characters: text.characters(),
            line: unclear,
            key: key.map(|(at, _)| candidates[*at].line),
        };
        let is_unknown = reports.iter().all(|report| report.owners.is_empty());
        Ok(
            if is_unknown && (reports.is_empty() || unclear.is_some() || key.is_some()) {
                Self::Unclear(none)
            } else {
                Self::Answered {
                    tokens: reports,
                    unclear,
                }
            },
        )
    }
}
