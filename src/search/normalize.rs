//! How texts are compared in searches: one folding, applied both to what is typed and to what is searched, so that
//! every text finds itself. The matcher gets folded text and needs no folding of its own.

use std::sync::LazyLock;

use nucleo_matcher::chars::{normalize, to_lower_case};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

/// Lower-cases a character, always to exactly one character: İ stays, ς becomes σ. Idempotent.
pub fn lower(c: char) -> char {
    match c {
        '\0'..='\x7f' => c.to_ascii_lowercase(),
        // A mark whose capital is a letter, and scripts without case, for which the tables are skipped.
        '\u{345}' | '\u{590}'..='\u{109f}' | '\u{2de0}'..='\u{a63f}' | '\u{abc0}'..='\u{faff}' => c,
        ..'\u{590}' => FIRST[c as usize],
        _ => table(c),
    }
}

/// The results for Latin, Greek and Cyrillic, computed once.
static FIRST: LazyLock<Vec<char>> = LazyLock::new(|| ('\0'..'\u{590}').map(table).collect());

fn table(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => to_lower_case(lower),
        _ => c,
    }
}

/// A text in lower case, character by character.
pub fn lowered(text: &str) -> String {
    text.chars().map(lower).collect()
}

/// Whether a text equals one returned by [`lowered`], ignoring case.
pub fn is_same(text: &str, lowered: &str) -> bool {
    if text.is_ascii() {
        text.eq_ignore_ascii_case(lowered)
    } else {
        text.chars().map(lower).eq(lowered.chars())
    }
}

/// The searchable form of a text: decomposed into letters and marks (NFD) and in lower case, so that é is the same
/// whether composed or decomposed. In ASCII only the case changes.
pub fn letters(text: &str) -> String {
    let mut letters = Vec::new();
    fill(text, true, &mut letters);
    letters.into_iter().collect()
}

/// Appends [`letters`] of a text. Without `accents`, the accents of letters such as é and ё are dropped, and ø becomes
/// o; the vowel signs of other scripts stay.
pub fn fill(text: &str, accents: bool, letters: &mut Vec<char>) {
    let mut marks = letters.len();
    for c in text.chars() {
        match c {
            '\0'..='\x7f' => put(c.to_ascii_lowercase(), letters, &mut marks),
            // Ideographs have neither parts nor case.
            '\u{3400}'..='\u{9fff}' => put(c, letters, &mut marks),
            _ => decompose_canonical(c, |part| {
                if class(part) != 0 {
                    if accents || !is_accent(part) {
                        letters.push(part);
                    }
                } else if accents {
                    put(lower(part), letters, &mut marks);
                } else {
                    put(bare(lower(part)), letters, &mut marks);
                }
            }),
        }
    }
    order(&mut letters[marks..]);
}

/// Appends a letter. Its marks begin after it.
fn put(letter: char, letters: &mut Vec<char>, marks: &mut usize) {
    order(&mut letters[*marks..]);
    letters.push(letter);
    *marks = letters.len();
}

/// Sorts the marks of one letter into canonical order. There may be any number of them.
fn order(marks: &mut [char]) {
    if marks.len() > 1 {
        marks.sort_by_key(|c| class(*c));
    }
}

/// The canonical combining class; 0 for everything but marks.
fn class(c: char) -> u8 {
    if c < '\u{300}' {
        0
    } else {
        canonical_combining_class(c)
    }
}

/// Whether the letter stays the same in a text without accents.
pub fn is_bare(letter: char) -> bool {
    !is_accent(letter) && bare(letter) == letter
}

/// Whether a character is placed above, below or across the letter before it, according to its combining class.
pub fn is_accent(c: char) -> bool {
    matches!(class(c), 1 | 200..)
}

/// From here on the library's table is misaligned and would turn ḥ into o.
const OUT_OF_STEP: char = '\u{1e00}';

/// A letter without an accent or stroke that is part of the code point.
fn bare(letter: char) -> char {
    match letter {
        '\u{2c65}' => 'a',
        '\u{2c66}' => 't',
        '\0'..='\x7f' | OUT_OF_STEP.. => letter,
        _ => {
            let bare = normalize(letter);
            if bare == letter { letter } else { lower(bare) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    /// The planes that Unicode has filled, and some code points of the others.
    fn all() -> impl Iterator<Item = char> {
        let filled = ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{effff}');
        let empty = ('\u{40000}'..='\u{dffff}').chain('\u{f0000}'..=char::MAX);
        filled.chain(empty.step_by(61))
    }

    fn bare_letters(text: &str) -> String {
        let mut letters = Vec::new();
        fill(text, false, &mut letters);
        letters.into_iter().collect()
    }

    #[test]
    fn a_fold_changes_nothing_the_second_time() {
        assert!(all().count() > 330_000);
        for c in all() {
            let once = lower(c);
            assert_eq!(lower(once), once, "{:04X}", u32::from(c));
            let is_mark = canonical_combining_class(c) != 0;
            assert!(once == table(c) || is_mark, "{:04X}", u32::from(c));
            let bare = bare_letters(c.encode_utf8(&mut [0; 4]));
            assert!(bare.chars().all(is_bare), "{:04X}", u32::from(c));
            assert_eq!(bare_letters(&bare), bare, "{:04X}", u32::from(c));
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
                // Marks are not letters, and ı does not become i.
                if canonical_combining_class(c) == 0 && c != 'ı' {
                    assert_eq!(lower(c), lower(other), "{:04X}", u32::from(c));
                }
            }
        }
    }

    #[test]
    fn every_code_point_falls_into_the_parts_that_unicode_names() {
        for c in all() {
            let parts: String = std::iter::once(c).nfd().map(lower).collect();
            assert_eq!(
                letters(c.encode_utf8(&mut [0; 4])),
                parts,
                "{:04X}",
                u32::from(c)
            );
        }
    }

    proptest! {
        #[test]
        fn marks_stand_in_their_order(text in "([a-zé한が]|[\u{300}-\u{345}\u{591}-\u{5bd}\u{3099}\u{94d}]){0,12}") {
            let parts: String = text.nfd().map(lower).collect();
            prop_assert_eq!(letters(&text), parts);
            let bare = text.nfd().map(lower).filter(|c| !is_accent(*c)).map(bare);
            prop_assert_eq!(bare_letters(&text), bare.collect::<String>());
        }
    }

    #[test]
    fn a_text_is_the_same_in_one_part_and_in_several() {
        assert_eq!(letters("É"), letters("e\u{301}"));
        assert_eq!(letters("\u{212b}"), letters("å"));
        assert_eq!(letters("ΣΑΣ"), letters("σας"));
        assert!(is_same("ΣΑΣ", &lowered("σας")) && !is_same("É", &lowered("e")));
        let bare = bare_letters("Nguyễn Đông Ⱥ Ё Ø हिंदी が");
        assert_eq!(bare, "nguyen dong a е o हिंदी か\u{3099}");
    }
}
