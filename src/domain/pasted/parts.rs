//! Parts of tokens that this process has in memory. A fingerprint identifies only a whole token; a part can be
//! recognised only while the token itself is in memory.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

use super::{
    clean::{CUT, Removing, cleaned},
    decode::decoded,
    shape::FRAGMENT,
    streams::{joined, without_signs},
};

/// All runs of [`FRAGMENT`] characters of a text, through colours, escapes and line breaks. As hashes, because a set
/// would leave its texts unwiped.
pub struct Parts {
    runs: HashSet<u64>,
    hash: RandomState,
}

impl Parts {
    /// `None` for a text that is too short, or of short words only.
    pub fn of(text: &str) -> Option<Self> {
        if text.len() < FRAGMENT {
            return None;
        }
        let resolved = decoded(text);
        let cleaned = cleaned(&resolved, Removing::Tags);
        let hash = RandomState::new();
        let mut runs = HashSet::new();
        for stream in [joined(&cleaned, true), without_signs(&cleaned)] {
            let all = stream.text.as_bytes().windows(FRAGMENT);
            runs.extend(
                all.filter(|run| is_telling(run))
                    .map(|run| hash.hash_one(run)),
            );
        }
        (!runs.is_empty()).then_some(Self { runs, hash })
    }

    /// Whether some characters in a row of a token are in the text, and were not in the previous value.
    pub fn are_of(&self, token: &str, before: Option<&Self>) -> bool {
        let mut all = token.as_bytes().windows(FRAGMENT);
        all.any(|run| {
            is_telling(run) && self.has(run) && !before.is_some_and(|before| before.has(run))
        })
    }

    fn has(&self, run: &[u8]) -> bool {
        self.runs.contains(&self.hash.hash_one(run))
    }
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
        for text in [
            TOKEN.to_owned(),
            format!("see {} there", &TOKEN[3..19]),
            format!("{}\n{}", &TOKEN[2..10], &TOKEN[10..20]),
            format!("\u{1b}[31m{}\u{1b}[0m", &TOKEN[1..17]),
            format!("{}\u{200b}{}", &TOKEN[2..10], &TOKEN[10..20]),
        ] {
            let parts = Parts::of(&text).expect("long enough");
            assert!(parts.are_of(TOKEN, None), "{text:?}");
            assert!(may_have_token(&text) || text.contains('\n'), "{text:?}");
        }
        let part = Parts::of(&TOKEN[3..20]).expect("long enough");
        let other = Parts::of(&TOKEN[8..26]).expect("long enough");
        assert!(!part.are_of(TOKEN, Some(&part)), "it was there");
        assert!(other.are_of(TOKEN, Some(&part)), "more of it was not");
        for text in [
            &TOKEN[..15],
            "acme-europe-production",
            "tag:gold -tag:old age>90d",
            "the quick brown fox jumps over 25 dogs",
        ] {
            let found = Parts::of(text).is_some_and(|parts| parts.are_of(TOKEN, None));
            assert!(!found, "{text:?}");
            assert!(!may_have_token(text), "{text:?}");
        }
    }
}
