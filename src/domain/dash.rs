//! Dashes that word processors, chats and macOS write instead of `-` and `--`.

use unicode_width::UnicodeWidthChar;

use super::text::is_hidden;

/// Every dash but that of the keyboard (Unicode `Pd`, the minus signs and the hyphen bullet), and the lines and long vowels
/// that look like one.
#[rustfmt::skip] // A table of code points.
pub fn is_long(c: char) -> bool {
    matches!(
        u32::from(c),
        0x02D7 | 0x058A | 0x05BE | 0x1400 | 0x1806 | 0x2010..=0x2015 | 0x2043 | 0x207B | 0x208B | 0x2053 | 0x2212
            | 0x23AF | 0x2500..=0x2501 | 0x2574 | 0x2796 | 0x2E17 | 0x2E1A | 0x2E3A..=0x2E3B | 0x2E40 | 0x2E5D
            | 0x301C | 0x3030 | 0x30A0 | 0x30FC | 0xFE31..=0xFE32 | 0xFE58 | 0xFE63 | 0xFF0D | 0xFF70 | 0x10D6E
            | 0x10EAD
    )
}

/// Quotes that word processors put before an option that is copied with them.
const QUOTES: &str = "\"'`“”„‟‘’‚‛«»‹›";

pub fn is_quote(c: char) -> bool {
    QUOTES.contains(c)
}

fn takes_no_room(c: char) -> bool {
    is_hidden(c) || c.width() == Some(0)
}

/// Whether one of the dashes at the beginning is such a dash, or is behind signs that nobody sees: either was meant as `-`.
/// So were two dashes behind a quote; one may be that of a number.
pub fn begins_long(text: &str) -> bool {
    let (mut is_behind, mut is_quoted, mut after_dash) = (false, false, false);
    for c in text.chars() {
        if is_long(c) {
            return true;
        }
        match c {
            '-' if is_behind || is_quoted && after_dash => return true,
            '-' => after_dash = true,
            _ if is_quote(c) && !after_dash => is_quoted = true,
            _ if takes_no_room(c) || c.is_whitespace() && !after_dash => is_behind = true,
            _ => return false,
        }
    }
    false
}

/// What a word has before its first letter or digit; a long vowel that looks like a dash is none.
pub fn before_letters(word: &str) -> impl Iterator<Item = char> {
    word.chars()
        .take_while(|c| is_long(*c) || !c.is_alphanumeric())
}

/// Whether a text begins as an option does: with two dashes or one that no keyboard types, and a letter or digit behind.
pub fn begins_option(text: &str) -> bool {
    let rest = text.trim_start_matches(|c| c == '-' || is_long(c));
    let dashes = &text[..text.len() - rest.len()];
    (dashes.starts_with("--") || dashes.contains(is_long))
        && rest.starts_with(char::is_alphanumeric)
}

/// What a word has before its first letter that makes it no option; else it is misspelt further inside.
pub fn what_is_wrong(word: &str) -> &'static str {
    let mut before = before_letters(word);
    let first = before.next();
    let is_first_long = first.is_some_and(is_long);
    match (is_first_long || before.any(is_long), first) {
        (true, Some('-')) => "contains a long dash",
        (true, _) => "begins with a long dash",
        (false, Some('-')) if word.contains(is_long) => "contains a long dash",
        (false, Some('-')) => "contains an invisible character",
        (false, Some(c)) if c.is_whitespace() => "begins with a blank",
        (false, Some(c)) if is_quote(c) => "begins with a quote",
        (false, _) => "begins with an invisible character",
    }
}

/// What begins with a dash behind a blank at which a shell does not divide words: `acme--dry-run` with a no-break space, as
/// web pages and chats write it.
pub fn behind_odd_blanks(text: &str) -> impl Iterator<Item = &str> {
    let is_odd =
        |c: char| !c.is_ascii() && c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}');
    let parts = text.split(is_odd).skip(1);
    parts.filter(|part| part.starts_with('-') || begins_long(part))
}

/// What begins with a dash behind a blank inside a word, which was in quotes.
pub fn behind_blanks(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_ascii_whitespace().skip(1);
    parts.filter(|part| part.starts_with('-') || begins_long(part))
}

/// What was meant: the text without what stands before its first dash, and with the keyboard's dash for every other one. Those
/// at the beginning are left out.
pub fn undashed(text: &str) -> String {
    let is_before =
        |c: char| c == '-' || is_long(c) || c.is_whitespace() || takes_no_room(c) || is_quote(c);
    let word = text.trim_start_matches(is_before);
    let word = word.trim_end_matches(is_quote);
    word.chars()
        .map(|c| if is_long(c) { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_that_no_keyboard_types_is_seen_at_the_beginning() {
        let dashes = ('\u{2010}'..='\u{2015}').chain(
            "\u{2212}\u{fe58}\u{fe63}\u{ff0d}\u{2d7}\u{2500}\u{2796}\u{30fc}\u{ff70}".chars(),
        );
        for dash in dashes {
            assert!(begins_long(&format!("{dash}dry{dash}run")), "{dash}");
            assert!(begins_long(&format!(" \u{200b}{dash}")), "{dash}");
            assert_eq!(undashed(&format!("{dash}-dry{dash}run")), "dry-run");
            assert!(!begins_long(&format!("acme{dash}eu")), "{dash}");
            for mixed in ["-~yes", "~-yes", "-~~yes", "--~yes", "-\u{200b}~yes"] {
                assert!(
                    begins_long(&mixed.replace('~', &dash.to_string())),
                    "{mixed}"
                );
            }
            assert!(!begins_long(&format!("-P{dash}x")), "{dash}");
        }
        for before in ["\u{a0}", "\u{301}", "\u{20e3}", "“", "\"", "«"] {
            for dashes in ["--", "—"] {
                let text = format!("{before}{dashes}yes");
                assert!(begins_long(&text), "{text}");
                assert_eq!(undashed(&format!("{text}”")), "yes");
            }
        }
        assert!(begins_long("-\u{200b}-yes"));
        for blank in ["\u{a0}", "\u{2009}", "\u{3000}", "\u{200b}"] {
            let text = format!("a{blank}x{blank}--yes{blank}{blank}—y z");
            assert_eq!(
                behind_odd_blanks(&text).collect::<Vec<_>>(),
                ["--yes", "—y z"]
            );
        }
        assert_eq!(behind_odd_blanks("--yes a --yes e\u{301}-x").next(), None);
        let fine =
            "|-|--|--yes|-y|- x|- - x|acme| acme|·|“acme”|\"-5\"|'-|\u{301}acme|一号|e\u{301}-x";
        for fine in fine.split('|') {
            assert!(!begins_long(fine), "{fine}");
        }
    }
}
