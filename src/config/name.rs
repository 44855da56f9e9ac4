//! Names that a person types: which profile names are allowed, and which known name a mistyped one is closest to.

use strsim::damerau_levenshtein;

use crate::domain::text::{self, Oddity};

use super::scrub::looks_like_a_key;

const LONGEST_NAME: usize = 64;

/// What is wrong with the name of a profile, a place or an operator; `None` if nothing is. It is shown in the history
/// and on every screen.
pub fn objection(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("is empty; give it a name".into());
    }
    if name.chars().count() > LONGEST_NAME {
        return Some(format!(
            "is longer than {LONGEST_NAME} characters; shorten it"
        ));
    }
    if looks_like_a_key(name) {
        return Some("looks like an API key; choose another name".into());
    }
    text::oddities(name)
        .into_iter()
        .next()
        .map(|Oddity { position, what }| {
            format!("has an invalid character at position {position}: {what}; replace it")
        })
}

/// The known name that a mistyped one was probably meant to be.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    known
        .into_iter()
        .filter_map(|name| {
            let plain = name.to_lowercase();
            let distance = damerau_levenshtein(&wrong, &plain);
            let is_part = wrong.len() >= 3 && (plain.contains(&wrong) || wrong.contains(&plain));
            let is_near = distance <= (plain.chars().count() / 3).max(1);
            (is_near || is_part).then_some((!is_near, distance, name))
        })
        .min()
        .map(|(_, _, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_or_none() {
        let known = ["base_url", "path", "timeout", "connect_timeout"];
        for (wrong, meant) in [
            ("base_ulr", Some("base_url")),
            ("url", Some("base_url")),
            ("Timeout", Some("timeout")),
            ("timeuot", Some("timeout")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), meant, "{wrong}");
        }
    }

    #[test]
    fn odd_names_are_objected_to() {
        let odd = "| |eu |\u{0435}u-live|a\u{200b}b|4eC39HqLyjWDarjtT1zdP7dc";
        for odd in odd.split('|') {
            assert!(objection(odd).is_some(), "{odd:?}");
        }
        for fine in ["eu-live", "EU live", "東京"] {
            assert_eq!(objection(fine), None, "{fine:?}");
        }
    }
}
