//! Finds the best exact occurrence of a word in a text: at the start of the text, of a word, after a sign, and so on.
//! The library's own search misses occurrences at the end, and letters after two that are not letters.

/// Score per letter, as in the library, which scores scattered letters.
const MATCH: u32 = 16;
/// Minimum bonus for a letter that follows another matched one.
const CONSECUTIVE: u32 = 4;
/// The maximum bonus of a position.
const BEST: u32 = 10;

/// The best position of a non-empty word, with its score; the first of equal ones. The text is raw ASCII or folded
/// characters.
pub(super) fn best<L: Copy + Into<char>>(text: &[L], word: &[char]) -> Option<(usize, u32)> {
    let is = |letter: L, folded: char| letter.into().to_ascii_lowercase() == folded;
    let (first, others) = word.split_first()?;
    let starts = text.len().checked_sub(others.len())?;
    let mut found: Option<(usize, u32)> = None;
    for (at, letter) in text[..starts].iter().enumerate() {
        if !is(*letter, *first) {
            continue;
        }
        let rest = &text[at + 1..at + word.len()];
        if !rest.iter().zip(others).all(|(one, other)| is(*one, *other)) {
            continue;
        }
        let before = at.checked_sub(1).map(|before| text[before].into());
        let bonus = before.map_or(BEST, |before| place(before, (*letter).into()));
        if found.is_none_or(|(_, best)| bonus > best) {
            found = Some((at, bonus));
        }
        if bonus >= BEST {
            break;
        }
    }
    let (at, bonus) = found?;
    let count = |letters: usize| u32::try_from(letters).unwrap_or(u32::MAX / 64);
    let others = count(others.len()) * (MATCH + bonus.max(CONSECUTIVE));
    Some((at, MATCH + 2 * bonus + others))
}

/// Whether an ASCII text contains the word. Most do not even have its first two letters next to each other: the loops have no
/// branches, so that the compiler can compare many bytes at once.
pub(super) fn is_in(text: &[u8], word: &[char]) -> bool {
    // No byte of ASCII is this large.
    let byte = |letter: char| u8::try_from(letter).unwrap_or(u8::MAX);
    match *word {
        [] => false,
        [only] => {
            let only = byte(only);
            let is_it = |letter: &u8| letter.to_ascii_lowercase() == only;
            text.iter()
                .fold(false, |found, letter| found | is_it(letter))
        }
        [first, second, ..] => {
            let (first, second) = (byte(first), byte(second));
            let is_pair = |(a, b): (&u8, &u8)| {
                (a.to_ascii_lowercase() == first) & (b.to_ascii_lowercase() == second)
            };
            let pairs = text.iter().zip(text.iter().skip(1));
            let is_word = |window: &[u8]| {
                let mut letters = window.iter().zip(word);
                letters.all(|(letter, other)| char::from(letter.to_ascii_lowercase()) == *other)
            };
            pairs.fold(false, |found, pair| found | is_pair(pair))
                && text.windows(word.len()).any(is_word)
        }
    }
}

/// The bonus of a position, from the character before it and its own.
fn place(before: char, own: char) -> u32 {
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let is_delimiter = |c: char| matches!(c, '/' | ',' | ':' | ';' | '|');
    if own.is_whitespace() {
        BEST
    } else if is_sign(own) {
        if is_delimiter(own) { 0 } else { 8 }
    } else if before.is_whitespace() {
        BEST
    } else if is_delimiter(before) {
        9
    } else if is_sign(before) {
        8
    } else if before.is_lowercase() && own.is_uppercase()
        || own.is_numeric() && !before.is_numeric()
    {
        5
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use nucleo_matcher::{Config, Matcher, Utf32Str};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_best_place_is_taken() {
        for (text, word, at) in [
            ("xacme acme", "acme", 6),
            ("xacme-acme", "acme", 6),
            ("acme acme", "acme", 0),
            ("xacme,acme-acme", "acme", 6),
            ("newAcme xacme", "acme", 3),
            ("a12b", "12b", 1),
            ("xx", "x", 0),
        ] {
            let word: Vec<char> = word.chars().collect();
            let found = best(text.as_bytes(), &word).map(|(at, _)| at);
            assert_eq!(found, Some(at), "{text}");
        }
        assert_eq!(best(b"ab", &['a', 'b', 'c']), None);
        assert_eq!(best(b"", &['a']), None);
    }

    proptest! {
        #[test]
        fn it_finds_what_the_plainest_search_finds(word in "[a-c1é]{1,4}", text in "[a-cA-C1 ]{0,9}") {
            let letters: Vec<char> = word.chars().collect();
            let holds = text.to_lowercase().contains(&word);
            prop_assert_eq!(is_in(text.as_bytes(), &letters), holds);
        }

        #[test]
        fn it_scores_as_the_library_does(text in "[a-cA-C1 ,-]{1,12}", word in "[a-c]{1,3}") {
            let letters: Vec<char> = word.chars().collect();
            let mut matcher = Matcher::new(Config::DEFAULT);
            let (text_32, word_32) = (Utf32Str::Ascii(text.as_bytes()), Utf32Str::Ascii(word.as_bytes()));
            let mut marks = Vec::new();
            let score = matcher.substring_indices(text_32, word_32, &mut marks).map(u32::from);
            let found = best(text.as_bytes(), &letters);
            prop_assert_eq!(found.map(|(at, _)| at as u32), marks.first().copied());
            // The library counts case changes inside the word a little higher.
            prop_assert!(found.map(|(_, score)| score) <= score);
            let small = text.to_ascii_lowercase();
            if let Some((at, score)) = best(small.as_bytes(), &letters) {
                marks.clear();
                let theirs = matcher.substring_indices(Utf32Str::Ascii(small.as_bytes()), word_32, &mut marks);
                prop_assert_eq!(Some(score), theirs.map(u32::from));
                prop_assert_eq!(Some(at as u32), marks.first().copied());
            }
        }
    }
}
