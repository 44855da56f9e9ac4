//! Parts of tokens that this process has in memory. A fingerprint identifies only a whole token; a part can be
//! recognised only while the token itself is in memory.

use std::{
    hash::{BuildHasher, RandomState},
    sync::LazyLock,
};

use foldhash::{HashMap, HashSet};

use super::{
    clean::{CUT, Removing, cleaned},
    decode::decoded,
    shape::FRAGMENT,
    streams::{joined, without_signs},
};

/// Of all runs here, so that those of a text can be looked up among those of tokens.
static HASH: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// All runs of [`FRAGMENT`] characters of a text, through colours, escapes and line breaks. As hashes, because a set
/// would leave its texts unwiped.
pub struct Parts(HashSet<u64>);

impl Parts {
    /// `None` for a text that is too short, or of short words only.
    pub fn of(text: &str) -> Option<Self> {
        if text.len() < FRAGMENT {
            return None;
        }
        let resolved = decoded(text);
        let cleaned = cleaned(&resolved, Removing::Tags);
        let streams = [joined(&cleaned, true), without_signs(&cleaned)];
        let all: HashSet<_> = streams.iter().flat_map(|one| runs(&one.text)).collect();
        (!all.is_empty()).then_some(Self(all))
    }

    /// Whether some characters in a row of these tokens are in the text, and were not in the previous value.
    pub fn are_of(&self, tokens: &TokenParts, before: Option<&Self>) -> bool {
        let is_new = |run| !before.is_some_and(|before| before.0.contains(run));
        let mut runs = self.0.iter();
        runs.any(|run| tokens.0.contains_key(run) && is_new(run))
    }
}

/// The runs of all remembered tokens, each with the number of times it is in one.
#[derive(Default)]
pub struct TokenParts(HashMap<u64, u32>);

impl TokenParts {
    pub fn add(&mut self, token: &str) {
        for run in runs(token) {
            *self.0.entry(run).or_default() += 1;
        }
    }

    /// Forgets a token that was added.
    pub fn remove(&mut self, token: &str) {
        for run in runs(token) {
            if let Some(count) = self.0.get_mut(&run) {
                *count -= 1;
                if *count == 0 {
                    self.0.remove(&run);
                }
            }
        }
    }
}

fn runs(text: &str) -> impl Iterator<Item = u64> {
    let all = text.as_bytes().windows(FRAGMENT);
    all.filter(|run| is_telling(run))
        .map(|run| HASH.hash_one(run))
}

/// Words in lower case are no secret: a token may contain the id of its group.
fn is_telling(run: &[u8]) -> bool {
    !run.iter()
        .all(|byte| byte.is_ascii_lowercase() || b"-_. ".contains(byte))
}

/// Whether a text may have a token of any shape, and is to be looked up.
pub fn may_have_token(text: &str) -> bool {
    let is_odd = |c: char| c.is_ascii_uppercase() || "+=!$@&|^".contains(c);
    let is_mixed = |word: &str| {
        word.chars().nth(FRAGMENT - 1).is_some()
            && word.contains(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_ascii_alphabetic())
            && word.contains(is_odd)
    };
    text.split([' ', '\n', '\t', '\r', CUT]).any(is_mixed) || super::is_suspicious(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "Tok/en+4e8A==.Zq_7~Kx!acme-europe-production";

    #[test]
    fn sixteen_characters_in_a_row_are_a_part_and_words_are_none() {
        let mut tokens = TokenParts::default();
        tokens.add(TOKEN);
        for text in [
            TOKEN.to_owned(),
            format!("see {} there", &TOKEN[3..19]),
            format!("{}\n{}", &TOKEN[2..10], &TOKEN[10..20]),
            format!("\u{1b}[31m{}\u{1b}[0m", &TOKEN[1..17]),
            format!("{}\u{200b}{}", &TOKEN[2..10], &TOKEN[10..20]),
        ] {
            let parts = Parts::of(&text).expect("long enough");
            assert!(parts.are_of(&tokens, None), "{text:?}");
            assert!(may_have_token(&text) || text.contains('\n'), "{text:?}");
        }
        let part = Parts::of(&TOKEN[3..20]).expect("long enough");
        let other = Parts::of(&TOKEN[8..26]).expect("long enough");
        assert!(!part.are_of(&tokens, Some(&part)), "it was there");
        assert!(other.are_of(&tokens, Some(&part)), "more of it was not");
        for text in [
            &TOKEN[..15],
            "acme-europe-production",
            "tag:gold -tag:old age>90d",
            "the quick brown fox jumps over 25 dogs",
        ] {
            let found = Parts::of(text).is_some_and(|parts| parts.are_of(&tokens, None));
            assert!(!found, "{text:?}");
            assert!(!may_have_token(text), "{text:?}");
        }
    }

    #[test]
    fn a_forgotten_token_leaves_the_parts_of_others() {
        let (first, second) = (&TOKEN[..20], &TOKEN[2..24]);
        let mut tokens = TokenParts::default();
        tokens.add(first);
        tokens.add(second);
        tokens.remove(first);
        let is_part = |text| Parts::of(text).is_some_and(|parts| parts.are_of(&tokens, None));
        assert!(!is_part(&TOKEN[..16]));
        assert!(is_part(&TOKEN[2..18]), "both have it");
        tokens.remove(second);
        assert!(tokens.0.is_empty());
    }
}
