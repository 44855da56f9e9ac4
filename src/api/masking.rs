//! Makes bodies and headers fit to be kept: every known secret, and everything that looks like one or is in the place
//! of one, is removed before anybody can look. If in doubt, it hides too much.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
};

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use zeroize::Zeroizing;

use super::{
    secret_text::{
        ENCODED_SECRET, MASK, SHORTEST, decoded_variants, mask_after_names, names_a_secret,
        replace_hex_runs, replace_secret,
    },
    zeroizing::ParsedAnswer,
};
use crate::domain::pasted::TokenParts;

/// Maximum length of a kept body, in bytes of its masked text.
pub const MAX_KEPT_BODY: usize = 16 * 1024;
/// How much of a body is examined.
const WINDOW: usize = 64 * 1024;
/// Tokens of this session that are remembered, to be recognised anywhere.
const MAX_REMEMBERED: usize = 512;

/// Tokens that were sent or received, newest last; wiped when they are dropped.
#[derive(Default)]
pub(super) struct SeenTokens {
    tokens: VecDeque<Seen>,
    /// Of the key, and of the tokens up to the number `parted`: few texts are ever compared with them.
    parts: TokenParts,
    parted: u32,
    count: u32,
    hasher: RandomState,
}

struct Seen {
    /// So that few of them are compared with a token that is not among them.
    hash: u64,
    token: SecretString,
    number: u32,
}

impl SeenTokens {
    /// With the parts of the key, which is no token and is not forgotten.
    pub(super) fn with_key(key: &str) -> Self {
        let mut seen = Self::default();
        seen.parts.add(key);
        seen
    }

    /// Remembers a token; the same token keeps its number.
    pub(super) fn note(&mut self, token: &str) {
        let hash = self.hasher.hash_one(token);
        let is_known = |seen: &Seen| seen.hash == hash && seen.token.expose_secret() == token;
        if token.len() < SHORTEST || self.tokens.iter().any(is_known) {
            return;
        }
        if self.tokens.len() == MAX_REMEMBERED
            && let Some(oldest) = self.tokens.pop_front()
            && oldest.number <= self.parted
        {
            self.parts.remove(oldest.token.expose_secret());
        }
        self.count += 1;
        self.tokens.push_back(Seen {
            hash,
            token: SecretString::from(token),
            number: self.count,
        });
    }

    /// All remembered tokens.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().map(|seen| seen.token.expose_secret())
    }

    /// Their parts, and those of the key.
    pub(super) fn parts(&mut self) -> &TokenParts {
        let new = self.tokens.iter().rev();
        for seen in new.take_while(|seen| seen.number > self.parted) {
            self.parts.add(seen.token.expose_secret());
        }
        self.parted = self.count;
        &self.parts
    }

    /// Remembers every text below a key whose name denotes a secret.
    pub(super) fn note_secrets_of(&mut self, body: &[u8]) {
        if let Ok(value) = serde_json::from_slice(window(body)).map(ParsedAnswer) {
            self.note_secrets_of_value(&value, false);
        }
    }

    fn note_secrets_of_value(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::String(text) if is_secret => self.note(text),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.note_secrets_of_value(item, is_secret)),
            Value::Object(map) => {
                for (key, value) in map {
                    self.note_secrets_of_value(value, is_secret || names_a_secret(key));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The mask that hides all of them and the API key. `id` is the requested group: it may look like a token.
    pub(super) fn mask<'a>(&'a self, key: &'a str, id: Option<&'a str>) -> Mask<'a> {
        let seen = self.tokens.iter().rev();
        let seen = seen.map(|seen| {
            (
                seen.token.expose_secret(),
                format!("{MASK}#{}", seen.number),
            )
        });
        Mask::of(std::iter::once((key, MASK.to_owned())).chain(seen), id)
    }
}

/// A body as it may be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Masked; JSON is indented. May still contain hidden characters.
    pub text: String,
    /// Size of the whole body, in bytes.
    pub size: usize,
    /// Whether the body was longer than what is kept.
    pub is_cut: bool,
    /// Whether something was hidden, so that the text is not what was sent.
    pub is_masked: bool,
}

pub(super) struct Mask<'a> {
    /// Longest first.
    secrets: Vec<Secret<'a>>,
    id: Option<&'a str>,
}

struct Secret<'a> {
    text: &'a str,
    low: Zeroizing<String>,
    /// Its replacement.
    mask: String,
}

impl Secret<'_> {
    /// Whether it occurs in a lower-case text.
    fn is_in(&self, low: &str) -> bool {
        low.len() >= self.low.len() && low.contains(self.low.as_str())
    }
}

fn window(body: &[u8]) -> &[u8] {
    &body[..body.len().min(WINDOW)]
}

impl<'a> Mask<'a> {
    /// Of these secrets, each with its replacement.
    pub(super) fn of(
        secrets: impl Iterator<Item = (&'a str, String)>,
        id: Option<&'a str>,
    ) -> Self {
        let secrets = secrets.filter(|(text, _)| text.len() >= SHORTEST);
        let mut secrets: Vec<_> = secrets
            .map(|(text, mask)| Secret {
                text,
                low: Zeroizing::new(text.to_ascii_lowercase()),
                mask,
            })
            .collect();
        // If two secrets overlap, the longer one is replaced first.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.text.len()));
        Self { secrets, id }
    }

    pub(super) fn mask_body(&self, body: &[u8]) -> Body {
        let size = body.len();
        let whole = (size <= WINDOW).then(|| serde_json::from_slice(body).map(ParsedAnswer).ok());
        let (raw, mut text) = if let Some(value) = whole.flatten() {
            let raw = Zeroizing::new(pretty(&value));
            // Last pass: finds a number, or a secret that spans several texts.
            let text = self.mask_verbatim(&pretty(&self.mask_value(&value, false)));
            (raw, text)
        } else {
            let raw = Zeroizing::new(String::from_utf8_lossy(window(body)).into_owned());
            let mut text = self.mask_text(&raw);
            if size > WINDOW {
                self.drop_cut_secret(&mut text);
            }
            (raw, text)
        };
        let is_masked = text != *raw;
        let is_cut = size > WINDOW || text.len() > MAX_KEPT_BODY;
        text.truncate(text.floor_char_boundary(MAX_KEPT_BODY));
        Body {
            text,
            size,
            is_cut,
            is_masked,
        }
    }

    fn mask_value(&self, value: &Value, is_secret: bool) -> Value {
        match value {
            Value::Number(_) if is_secret => MASK.into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) if is_secret => self.replacement_of(text).into(),
            Value::String(text) => self.mask_text(text).into(),
            Value::Array(items) => items
                .iter()
                .map(|item| self.mask_value(item, is_secret))
                .collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| {
                    let is_secret = is_secret || names_a_secret(key);
                    (self.mask_text(key), self.mask_value(value, is_secret))
                })
                .collect(),
        }
    }

    /// The replacement of a whole secret: with its number if it has one.
    fn replacement_of(&self, text: &str) -> String {
        let known = self.secrets.iter().find(|secret| secret.text == text);
        known.map_or_else(|| MASK.to_owned(), |secret| secret.mask.clone())
    }

    /// A text that is shown as it is unless it is or contains a secret.
    pub(super) fn mask_if_secret(&self, text: &str) -> String {
        if self.contains_secret(text) {
            MASK
        } else {
            text
        }
        .to_owned()
    }

    /// Masks any text: a broken body, a web page, a header, a JSON value.
    pub(super) fn mask_text(&self, raw: &str) -> String {
        let text = self.replace_secrets(raw);
        // Before runs of hex digits are replaced, because a secret may end with one.
        if decoded_variants(&text).any(|plain| self.contains_secret(&plain)) {
            return ENCODED_SECRET.into();
        }
        mask_after_names(&self.replace_hex_runs(&text))
    }

    fn contains_secret(&self, text: &str) -> bool {
        let low = text.to_ascii_lowercase();
        self.secrets.iter().any(|secret| secret.is_in(&low))
    }

    /// Removes secrets that occur verbatim, and runs of hex digits.
    fn mask_verbatim(&self, raw: &str) -> String {
        self.replace_hex_runs(&self.replace_secrets(raw))
    }

    fn replace_secrets(&self, raw: &str) -> String {
        let mut text = raw.to_owned();
        let low = raw.to_ascii_lowercase();
        for secret in self.secrets.iter().filter(|secret| secret.is_in(&low)) {
            text = replace_secret(&text, secret.text, &secret.mask);
        }
        text
    }

    fn replace_hex_runs(&self, text: &str) -> String {
        let is_id = |hex: &str| self.id.is_some_and(|id| id.contains(hex));
        replace_hex_runs(text, MASK, is_id)
    }

    /// The end of the window may have cut a secret in two.
    fn drop_cut_secret(&self, text: &mut String) {
        let low = text.to_ascii_lowercase();
        let half = self.secrets.iter().filter_map(|secret| {
            let ends = secret.low.char_indices().map(|(at, _)| at).skip(1);
            ends.filter(|at| low.ends_with(&secret.low[..*at])).max()
        });
        let hex = text.len() - text.trim_end_matches(|c: char| c.is_ascii_hexdigit()).len();
        let gone = half.max().unwrap_or(0).max(hex);
        text.truncate(text.len() - gone);
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON serialises")
}

#[cfg(test)]
mod tests;
