//! Keeps API keys out of displayed text: any word that looks like a key becomes `…`, whoever wrote it.

use crate::domain::text;

/// Keys have at least this many letters and digits in a row.
const SHORTEST_KEY: usize = 16;
/// Changes between letters and digits. A name may end in a number or contain a year; a key alternates more often.
const FEWEST_CHANGES: usize = 3;
const LONGEST_SHOWN: usize = 200;

/// Whether a text may be an API key itself: a long run of mixed letters and digits.
pub fn looks_like_a_key(text: &str) -> bool {
    text.split(|c: char| !is_of_a_key(c)).any(is_long_and_mixed)
}

/// The text for display: hidden characters escaped, key-like words replaced, and cut to a readable length.
pub fn shown(text: &str) -> String {
    text::cut_middle(&scrub(&text::visible(text)), LONGEST_SHOWN, "…")
}

fn scrub(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_a_key) {
        let (before, from_run) = rest.split_at(start);
        let end = from_run.find(|c| !is_of_a_key(c)).unwrap_or(from_run.len());
        let (run, after) = from_run.split_at(end);
        clean.push_str(before);
        clean.push_str(if is_long_and_mixed(run) { "…" } else { run });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

fn is_of_a_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '=')
}

fn is_long_and_mixed(run: &str) -> bool {
    let changes = run
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    run.len() >= SHORTEST_KEY && changes >= FEWEST_CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_and_words_are_not() {
        let key = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
        assert_eq!(shown(&format!("denied for {key}!")), "denied for …!");
        assert_eq!(shown("sk_live_4eC39HqLyjWDarjtT1zdP7dc"), "…");
        for harmless in [
            "/home/ana/.password-store/eu.gpg: not found",
            "GROUPDESK_API_KEY_FOR_EU_2",
            "eu-live-2",
            "productioneurope2026",
        ] {
            assert!(!looks_like_a_key(harmless));
            assert_eq!(shown(harmless), harmless);
        }
    }
}
