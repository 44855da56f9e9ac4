//! A fingerprint is never called a token: no token begins with those 8 digits. Read from all accepted screens and outputs
//! and from the documents.

use std::{fs, path::PathBuf};

/// Whether these characters are a fingerprint, and nothing longer.
fn is_fingerprint(text: &[char]) -> bool {
    let digits = text.iter().take_while(|c| c.is_ascii_hexdigit()).count();
    let goes_on = text.get(8).is_some_and(|c| c.is_alphanumeric());
    digits == 8 && !goes_on
}

/// The lines in which a fingerprint stands behind the word token, or in a column of that name.
fn complaints(text: &str) -> Vec<String> {
    let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for (from, word) in line.windows(5).enumerate() {
            let word: String = word.iter().collect();
            let rest = &line[from + 5..];
            let blanks = rest.iter().take_while(|c| " •*".contains(**c)).count();
            let is_sentence =
                word.eq_ignore_ascii_case("token") && blanks > 0 && is_fingerprint(&rest[blanks..]);
            let mut below = lines[at + 1..].iter().take(3);
            let is_column =
                word == "TOKEN" && below.any(|below| below.get(from..).is_some_and(is_fingerprint));
            if is_sentence || is_column {
                found.push(line.iter().collect());
            }
        }
    }
    found
}

#[test]
fn a_fingerprint_is_called_fingerprint() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<PathBuf> = ["tests/it", "docs", "README.md"]
        .map(|path| root.join(path))
        .into();
    let (mut read, mut wrong) = (0, Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path
            .extension()
            .is_some_and(|end| end == "snap" || end == "md")
        {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let found = complaints(&text).into_iter();
            wrong.extend(found.map(|line| format!("{}: {line}", path.display())));
            read += 1;
        }
    }
    assert!(read > 50, "{read} files");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_fingerprints_sees_them() {
    for wrong in [
        "acme rotated, token 3fa9c1d2 is now 90b1e772",
        " token   •••••••• 3fa9c1d2  rotated",
        "ID    TOKEN\nacme  3fa9c1d2 -> 90b1e772",
        "ID    TOKEN     MAP\n\nacme  3fa9c1d2  4",
    ] {
        assert_eq!(complaints(wrong).len(), 1, "{wrong}");
    }
    for right in [
        "token  fingerprint 3fa9c1d2",
        "TOKEN    SEEN\ncurrent  4d",
        "token 3fa9c1d23fa9c1d2",
        "token acme-eu",
    ] {
        assert_eq!(complaints(right), [""; 0], "{right}");
    }
}
