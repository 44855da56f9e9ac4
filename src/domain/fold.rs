//! How texts are compared where people search: one fold, applied alike to what is typed and to what is searched, so that
//! every text is found by itself. What the matcher is given needs no fold of its own.

use nucleo_matcher::chars::{normalize, to_lower_case};
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

/// A character without its case, always one for one: İ stays, ς is σ. Folded again, it stays.
pub fn lower(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        // U+0345 is a mark; its capital is a letter.
        _ if canonical_combining_class(c) != 0 => c,
        (Some(lower), None) => to_lower_case(lower),
        _ => c,
    }
}

/// A text without its case, character for character.
pub fn lowered(text: &str) -> String {
    text.chars().map(lower).collect()
}

/// Whether a text is the same as one that [`lowered`] gave.
pub fn is_same(text: &str, lowered: &str) -> bool {
    if text.is_ascii() {
        text.eq_ignore_ascii_case(lowered)
    } else {
        text.chars().map(lower).eq(lowered.chars())
    }
}

/// A text as it is searched: each letter and each of its marks by itself (NFD), without case. So é is the same in one
/// part and in two. Of ASCII only the case changes.
pub fn letters(text: &str) -> impl Iterator<Item = char> {
    text.nfd().map(lower)
}

/// [`letters`] without accents: those of é and ё, not the vowels of other scripts; ø is o.
pub fn bare_letters(text: &str) -> impl Iterator<Item = char> {
    letters(text).filter(|c| !is_accent(*c)).map(bare)
}

/// Whether [`bare_letters`] leave a letter as it is.
pub fn is_bare(letter: char) -> bool {
    !is_accent(letter) && bare(letter) == letter
}

/// Whether a character stands above, below or across the letter before it, by its combining class.
pub fn is_accent(c: char) -> bool {
    !c.is_ascii() && matches!(canonical_combining_class(c), 1 | 200..)
}

/// From here on the library's table is out of step: there ḥ would be o.
const OUT_OF_STEP: char = '\u{1e00}';

/// A letter without a stroke that is a part of it.
fn bare(letter: char) -> char {
    match letter {
        '\u{2c65}' => 'a',
        '\u{2c66}' => 't',
        OUT_OF_STEP.. => letter,
        _ => lower(normalize(letter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    #[test]
    fn a_fold_changes_nothing_the_second_time() {
        assert_eq!(all().count(), 1_112_064);
        for c in all() {
            let once = lower(c);
            assert_eq!(lower(once), once, "{:04X}", u32::from(c));
            let text = c.to_string();
            let bare: String = bare_letters(&text).collect();
            assert!(bare.chars().all(is_bare), "{:04X}", u32::from(c));
            let again: String = bare_letters(&bare).collect();
            assert_eq!(again, bare, "{:04X}", u32::from(c));
        }
    }

    #[test]
    fn both_cases_are_the_same() {
        for c in all() {
            for other in [c.to_lowercase().to_string(), c.to_uppercase().to_string()] {
                let mut one = other.chars();
                let (Some(other), None) = (one.next(), one.next()) else {
                    continue;
                };
                // A mark is no letter, and ı no i.
                if canonical_combining_class(c) == 0 && c != 'ı' {
                    assert_eq!(lower(c), lower(other), "{:04X}", u32::from(c));
                }
            }
        }
    }

    #[test]
    fn a_text_is_the_same_in_one_part_and_in_several() {
        let several = |text: &str| -> Vec<char> { letters(text).collect() };
        assert_eq!(several("É"), several("e\u{301}"));
        assert_eq!(several("\u{212b}"), several("å"));
        assert_eq!(several("ΣΑΣ"), several("σας"));
        assert!(is_same("ΣΑΣ", &lowered("σας")) && !is_same("É", &lowered("e")));
        let bare: String = bare_letters("Nguyễn Đông Ⱥ Ё Ø हिंदी が").collect();
        assert_eq!(bare, "nguyen dong a е o हिंदी か\u{3099}");
    }
}
