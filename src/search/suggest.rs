//! The known ids closest to a typed one, so that a mistyped id is noticed before it creates a group (hazard 1).

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{Atom, AtomKind, CaseMatching, Normalization},
};

use crate::domain::text::Skeletons;

/// At most `limit` known ids that a person may have meant, most likely first. The id itself is not included.
pub fn similar<'a, T: AsRef<str> + Ord + ?Sized>(
    typed: &str,
    known: impl IntoIterator<Item = &'a T>,
    limit: usize,
) -> Vec<&'a T> {
    let Some(mut typed_id) = TypedId::of(typed.trim()) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, &T)> = known
        .into_iter()
        .filter(|id| (*id).as_ref() != typed)
        .filter_map(|id| Some((typed_id.distance(id.as_ref())?, id)))
        .collect();
    found.sort();
    found.truncate(limit);
    found.into_iter().map(|(_, id)| id).collect()
}

/// The id as it is typed. Compared in addition to its appearance, where an "m" looks like "rn" and one mistake would
/// count twice.
fn fill_keys(keys: &mut String, text: &str) {
    keys.clear();
    if text.is_ascii() {
        keys.push_str(text);
        keys.make_ascii_lowercase();
    } else {
        keys.push_str(&text.to_lowercase());
    }
}

/// How often each letter occurs, modulo a few buckets. Gives a cheap lower bound for the number of mistakes.
type Letters = [u8; 32];

fn letters(text: &str) -> Letters {
    let mut letters = Letters::default();
    for c in text.chars() {
        let bucket = &mut letters[c as usize % 32];
        *bucket = bucket.saturating_add(1);
    }
    letters
}

/// A lower bound: every mistake adds, removes or replaces at most one letter.
fn min_distance(one: &Letters, other: &Letters) -> usize {
    let missing = |a: &Letters, b: &Letters| -> usize {
        let each = a.iter().zip(b);
        each.map(|(a, b)| usize::from(a.saturating_sub(*b))).sum()
    };
    missing(one, other).max(missing(other, one))
}

/// Distances from here on mean that only the letters occur in order: "glxrt" for "globex-retail".
const SCATTERED_DISTANCE: usize = 100;
/// One or two letters occur in everything.
const MIN_LETTERS: usize = 3;
/// Fewer letters occur in order in many IDs, as do those of a word in one that is more than this many times as long.
const MIN_SCATTERED: usize = 5;
const SPREAD: usize = 3;

/// A text with what its mistakes are counted by.
struct Form {
    text: String,
    letters: Letters,
    length: usize,
}

impl Form {
    fn of(text: String) -> Self {
        Self {
            letters: letters(&text),
            length: text.chars().count(),
            text,
        }
    }

    /// The number of typing mistakes that make this text the other one, if they are so few.
    fn mistakes(&self, other: &str, allowed: usize) -> Option<usize> {
        // Different letter counts are a lower bound for the number of mistakes.
        if min_distance(&self.letters, &letters(other)) > allowed {
            return None;
        }
        let mistakes = strsim::damerau_levenshtein(&self.text, other);
        (mistakes <= allowed).then_some(mistakes)
    }
}

struct TypedId {
    skeleton: Form,
    keys: Form,
    skeletons: Skeletons,
    /// The keys typed for a candidate.
    typed: String,
    scattered: Atom,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl TypedId {
    /// Returns `None` if nothing visible was typed.
    fn of(typed: &str) -> Option<Self> {
        let mut skeletons = Skeletons::default();
        let skeleton = Form::of(skeletons.of(typed).to_owned());
        let mut keys = String::new();
        fill_keys(&mut keys, typed);
        let (case, marks) = (CaseMatching::Ignore, Normalization::Smart);
        (skeleton.length > 0).then(|| Self {
            skeleton,
            scattered: Atom::new(&keys, case, marks, AtomKind::Fuzzy, false),
            keys: Form::of(keys),
            skeletons,
            typed: String::new(),
            matcher: Matcher::new(Config::DEFAULT),
            buffer: Vec::new(),
        })
    }

    /// 0 for the same appearance; 1 if one contains the other; from 2 on by the number of typing mistakes; then if the
    /// letters occur in order; `None` if too different.
    fn distance(&mut self, candidate: &str) -> Option<usize> {
        let skeleton = self.skeletons.of(candidate);
        if skeleton == self.skeleton.text {
            return Some(0);
        }
        let length = skeleton.chars().count();
        let contains = self.skeleton.length >= MIN_LETTERS
            && skeleton.contains(&self.skeleton.text)
            || length >= MIN_LETTERS && self.skeleton.text.contains(skeleton);
        if contains {
            return Some(1);
        }
        fill_keys(&mut self.typed, candidate);
        let allowed = (self.keys.length / 4).clamp(1, 4);
        let skeletons = self.skeleton.mistakes(skeleton, allowed);
        let typed = self.keys.mistakes(&self.typed, allowed);
        if let Some(fewest) = skeletons.into_iter().chain(typed).min() {
            return Some(fewest + 1);
        }
        let length = self.typed.chars().count();
        if self.keys.length < MIN_SCATTERED || self.keys.length * SPREAD < length {
            return None;
        }
        let text = Utf32Str::new(&self.typed, &mut self.buffer);
        let score = self.scattered.score(text, &mut self.matcher)?;
        Some(SCATTERED_DISTANCE + usize::from(u16::MAX - score))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::group::UserGroupId;

    #[test]
    fn scattered_letters_come_last() {
        let known = ["globex-retail", "glxrt-eu", "initech"];
        assert_eq!(similar("glxrt", known, 9), ["glxrt-eu", "globex-retail"]);
        assert!(
            similar("gl", known, 9).is_empty(),
            "two letters say nothing"
        );
        for few in ["glr", "glxe", "brt"] {
            assert!(similar(few, known, 9).is_empty(), "{few}");
        }
        assert!(similar("glxrt", ["globex-north-west-retail"], 9).is_empty());
    }

    proptest! {
        #[test]
        fn letters_never_count_more_mistakes_than_there_are(one in "[a-eA-E\u{430}]{0,9}", other in "[a-eA-E\u{430}]{0,9}") {
            let least = min_distance(&letters(&one), &letters(&other));
            prop_assert!(least <= strsim::damerau_levenshtein(&one, &other));
        }
    }

    #[test]
    fn the_likeliest_come_first() {
        let known: Vec<_> = [
            "acme-eu",
            "acme-us",
            "\u{0430}cme-ue",
            "globex",
            "acme-eu-old",
        ]
        .into_iter()
        .map(|id| UserGroupId::parse(id).expect("a valid ID"))
        .collect();
        let found = |typed| -> Vec<_> {
            similar(typed, &known, 3)
                .into_iter()
                .map(UserGroupId::as_str)
                .collect()
        };
        assert_eq!(
            found("acme-ue"),
            ["\u{0430}cme-ue", "acme-eu", "acme-us"],
            "what looks the same, then one mistake each"
        );
        assert_eq!(found("acme-eu"), ["acme-eu-old", "\u{0430}cme-ue"]);
        assert_eq!(found("globx"), ["globex"]);
        assert_eq!(found("ace-us"), ["acme-us"], "a letter that looks like two");
        assert!(found("zz").is_empty());
        assert!(found("").is_empty());
    }

    #[test]
    fn what_contains_it_comes_before_a_mistake_and_two_letters_contain_nothing() {
        let known = ["acme-eo", "my-acme-eu"];
        assert_eq!(similar("acme-eu", known, 9), ["my-acme-eu", "acme-eo"]);
        assert_eq!(similar("acme-eu-old", ["eu", "acme-eu"], 9), ["acme-eu"]);
        assert!(similar("eu", ["acme-eu"], 9).is_empty());
        assert_eq!(similar("glo", ["globex-retail"], 9), ["globex-retail"]);
    }

    #[test]
    fn of_scattered_letters_those_that_stand_together_come_first() {
        let known = ["g-l-o-b-r-e-t-a-i-l", "globex-retail"];
        let found = similar("globretail", known, 9);
        assert_eq!(found, ["globex-retail", "g-l-o-b-r-e-t-a-i-l"]);
    }
}
