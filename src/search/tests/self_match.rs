//! Every text finds the group that contains it: every code point, at every position of a word, in either case.

use super::*;
use crate::search::{
    normalize,
    words::{Needle, Words},
};

fn named(name: &str) -> KnownGroup {
    super::group("g", name)
}

/// Whether a filter matches a name; `Some(true)` if it matches exactly.
fn found(name: &str, typed: &str) -> Option<bool> {
    let index = Index::of(&[named(name)]);
    let entry = index.entry(0).expect("a group");
    let fit = Words::of(&Query::parse(typed, None)).fit(entry);
    fit.map(|fit| fit.exact)
}

/// The graphemes of a name that are highlighted.
fn marked(name: &str, typed: &str) -> Vec<usize> {
    let index = Index::of(&[named(name)]);
    let entry = index.entry(0).expect("a group");
    let [marks, _] = Marker::of(&Query::parse(typed, None)).marks(entry);
    marks
}

#[test]
fn a_part_is_found_wherever_it_stands() {
    for (name, typed) in [
        // At the end of a name that is not ASCII.
        ("Zoé & Größe", "größe"),
        ("Zoé eu", "eu"),
        // Letters after two others, at the end, and in the other case.
        ("acme-2024-q1", "2024-q1"),
        ("ACME-12AB-x", "12ab"),
        // A line break is one grapheme, in ASCII and in other text.
        ("one\r\ntwo", "e\r\nt"),
        ("one\r\ntwo é", "e\r\nt"),
    ] {
        assert_eq!(found(name, &format!("\"{typed}\"")), Some(true), "{name}");
    }
    for name in [
        "İstanbul Şubesi",
        "ΣΑΣ Ελλάς",
        "STRASSE & Größe",
        "ǅungla",
        "K-Å",
        "ﬁn",
        "Zoe\u{301} (in parts)",
        // Signs that join what follows them, and a line break of two characters.
        "\u{6dd}\u{fffd}\u{fffd}s",
        "?m\u{70f}:ag\u{fffd}=",
        "one\r\ntwo",
        // A mark whose lower case is a letter.
        ":m\u{345}\u{fffd}\u{fffd}I",
    ] {
        assert!(found(name, name).is_some(), "{name}");
        assert!(found(name, &format!("\"{name}\"")).is_some(), "{name}");
    }
}

#[test]
fn a_letter_without_its_marks_finds_those_that_have_them_and_not_the_other_way() {
    for (name, typed) in [
        ("Nguyễn", "nguyen"),
        ("ĐÔNG Á", "dong"),
        ("Şube Ānanda", "sube"),
        ("Şube Ānanda", "ananda"),
        ("Ⱥ & Ⱦ", "a"),
        ("ΕΛΛΆΣ", "ελλας"),
        ("İstanbul", "istanbul"),
        // A syllable that is not typed completely.
        ("한국", "하"),
        ("Zoe\u{301}", "zoe"),
    ] {
        assert_eq!(found(name, typed), Some(true), "{typed} in {name}");
    }
    for (name, typed) in [("zoe", "zoé"), ("ḥ", "o"), ("i", "İ")] {
        assert_eq!(found(name, typed), None, "{typed} in {name}");
    }
}

#[test]
fn marks_stand_on_the_graphemes_that_were_found() {
    for (name, typed, marks) in [
        ("Zoé & Größe", "größe", vec![6, 7, 8, 9, 10]),
        ("a\r\nbcd", "\"bc\"", vec![2, 3]),
        ("é\r\nbcd", "\"bc\"", vec![2, 3]),
        ("é\r\nb-c-d", "bcd", vec![2, 4, 6]),
        ("Zoe\u{301} eu", "\"eu\"", vec![4, 5]),
        ("x-12AB", "\"12ab\"", vec![2, 3, 4, 5]),
    ] {
        assert_eq!(marked(name, typed), marks, "{typed} in {name:?}");
    }
}

/// A code point alone; and between letters, doubled.
fn around(c: char) -> [String; 2] {
    [c.to_string(), format!("a{c}b{c}{c}")]
}

/// In quotes, because the text may be a space or the sign of a test.
fn needle(text: &str) -> Option<Needle> {
    let query = Query::parse(&format!("\"{text}\""), None);
    query.words.first().map(Needle::of)
}

/// Whether both texts are found between other characters, as they are and in the other case.
fn is_found(c: char) -> bool {
    let mut buffer = Vec::new();
    around(c).iter().all(|word| {
        let Some(needle) = needle(word) else {
            return false;
        };
        let mut holds = |name: &str| {
            let letters = needle.letters_of(name, &mut buffer);
            needle.is_in(letters)
        };
        let other = other_case(word);
        holds(&format!("x-{word}-y")) && (other == *word || holds(&other))
    })
}

/// In the other case, if that is again one character.
fn other_case(text: &str) -> String {
    fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
        let first = letters.next();
        first.filter(|_| letters.next().is_none())
    }
    let other = |c: char| -> char {
        let cases = [only(c.to_uppercase()), only(c.to_lowercase())];
        let mut others = cases.into_iter().flatten();
        others
            .find(|other| *other != c && normalize::lower(*other) == normalize::lower(c))
            .unwrap_or(c)
    };
    text.chars().map(other).collect()
}

/// Counts these code points after checking that each finds itself, except for the quote, which a filter cannot express.
#[track_caller]
fn all_are_found(some: impl Iterator<Item = char>) -> usize {
    let mut count = 0;
    let all = some.filter(|c| *c != '"').inspect(|_| count += 1);
    let bad: Vec<_> = all.filter(|c| !is_found(*c)).map(u32::from).collect();
    let first = &bad[..bad.len().min(99)];
    assert!(bad.is_empty(), "{} of them: {first:04X?}", bad.len());
    count
}

// In parts that run in parallel: all code points with a case, marks or parts, and some of the others.
#[test]
fn every_code_point_of_the_first_plane_is_found_by_itself() {
    assert_eq!(all_are_found('\0'..='\u{ffff}'), 0x10000 - 0x800 - 1);
}

#[test]
fn every_code_point_of_plane_1_and_those_of_plane_2_with_parts_are_found_by_themselves() {
    let all = ('\u{10000}'..='\u{1ffff}').chain('\u{2f800}'..='\u{2fa1f}');
    assert_eq!(all_are_found(all), 0x10000 + 0x220);
}

#[test]
fn every_code_point_of_plane_14_and_some_of_those_without_parts_are_found_by_themselves() {
    assert_eq!(all_are_found('\u{e0000}'..='\u{effff}'), 0x10000);
    // Ideographs, and the empty planes.
    let others = ('\u{20000}'..='\u{dffff}').chain('\u{f0000}'..=char::MAX);
    assert!(all_are_found(others.step_by(61)) > 15_000);
}

#[test]
fn the_whole_way_finds_what_has_marks_a_case_or_letters_of_several_parts() {
    for c in "ȺȾⱥÅ\u{345}ᾳǅẞꭰᎠᲐ한\u{1f600}\u{6dd}\u{301}".chars() {
        for word in around(c) {
            for typed in [format!("\"{word}\""), word.clone()] {
                for name in [word.clone(), format!("x-{word}-y")] {
                    assert_eq!(found(&name, &typed), Some(true), "{word:?}");
                }
            }
        }
    }
}

#[test]
fn a_test_finds_what_is_written_as_it_is() {
    // A sigma at the end of a word has another form, and where a word ends depends on its surroundings.
    let group = KnownGroup {
        mapping: known(mapping(&[("Σ", "ΑΣ")])),
        properties: known([("Σ".to_owned(), "ΑΣ".into())].into_iter().collect()),
        ..named("g")
    };
    let index = Index::of(&[group]);
    for typed in "map:Σ map:Σ=ΑΣ map:ας MAP:ΑΣ prop:Σ prop:σ=ας".split(' ') {
        assert_eq!(find(&index, asked(typed)).shown.len(), 1, "{typed}");
    }
}

#[test]
fn a_word_of_any_length_is_found() {
    let name = "ab".repeat(5_000);
    assert_eq!(found(&name, &name), Some(true));
    assert_eq!(
        found(&format!("x{name}é"), &name.to_uppercase()),
        Some(true)
    );
    assert_eq!(found(&name, &"ba".repeat(5_000)), None);
}
