//! Finds tokens in a pasted text: alone, in a header, in a URL, in lines of a log.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

use zeroize::Zeroizing;

use super::token::Token;

/// Number of hex digits of a token as services generate it.
pub const DIGITS: usize = 64;
/// Shorter words are not looked up: they are no secrets.
const MIN_LEN: usize = 4;

/// Something that may be a token.
#[derive(Debug)]
pub struct Candidate {
    /// As it is in the text; if it has upper-case hex digits, also in lower case.
    pub forms: Vec<Token>,
    /// Line number, counted from 1.
    pub line: usize,
    /// Whether it has the shape of a token, so that "nobody has it" is an answer. Anything else is a token only if
    /// somebody has it.
    pub is_shaped: bool,
}

/// All candidates of a text, each once, those with the shape of a token first.
pub fn candidates(text: &str) -> Vec<Candidate> {
    // Stores hashes, because a set would leave its texts unwiped.
    let (mut seen, hash) = (HashSet::new(), RandomState::new());
    let mut add = |found: &mut Vec<Candidate>, word: &str, line: usize, is_shaped: bool| {
        let lower = Zeroizing::new(word.to_ascii_lowercase());
        let key = if is_shaped { lower.as_str() } else { word };
        if !seen.insert(hash.hash_one(key)) {
            return;
        }
        let mut forms = vec![Token::new(word.to_owned())];
        if is_shaped && *lower != word {
            forms.push(Token::new(lower.to_string()));
        }
        found.push(Candidate {
            forms,
            line,
            is_shaped,
        });
    };
    let mut found = Vec::new();
    let whole = Zeroizing::new(text.split_whitespace().collect::<String>());
    if is_shaped(&whole) {
        // A terminal may have wrapped the token.
        add(&mut found, &whole, 1, true);
    }
    let lines = || text.lines().zip(1..);
    for (line, number) in lines() {
        let line = decoded(line);
        for word in line.split(|c: char| !c.is_ascii_alphanumeric()) {
            if is_shaped(word) {
                add(&mut found, word, number, true);
            }
        }
    }
    add(&mut found, text.trim(), 1, false);
    for (line, number) in lines() {
        let words = line.split(|c: char| c.is_whitespace() || "\"'`<>()[]{},;:&?#\\".contains(c));
        let values = words
            .clone()
            .filter_map(|word| Some(word.split_once('=')?.1));
        for word in [line.trim()].into_iter().chain(words).chain(values) {
            if word.len() >= MIN_LEN {
                add(&mut found, word, number, false);
            }
        }
    }
    found.retain(|candidate| !candidate.forms[0].expose().is_empty());
    found
}

fn is_shaped(word: &str) -> bool {
    word.len() == DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Resolves the percent-escapes of a URL: the characters they stand for are no part of a token.
fn decoded(line: &str) -> Zeroizing<String> {
    let mut pieces = line.split('%');
    let mut text = Zeroizing::new(String::with_capacity(line.len()));
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push(' ');
        let digits = piece.bytes().take(2).take_while(u8::is_ascii_hexdigit);
        text.push_str(&piece[if digits.count() == 2 { 2 } else { 0 }..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn shaped(text: &str) -> Vec<(String, usize)> {
        let mut found = candidates(text);
        found.retain(|candidate| candidate.is_shaped);
        let last =
            |candidate: &Candidate| candidate.forms.last().expect("a form").expose().to_owned();
        found
            .iter()
            .map(|found| (last(found), found.line))
            .collect()
    }

    #[test]
    fn a_token_is_found_wherever_it_stands() {
        let upper = TOKEN.to_ascii_uppercase();
        let (front, back) = TOKEN.split_at(40);
        for text in [
            TOKEN.to_owned(),
            format!("  \t{upper} \r\n"),
            format!("Authorization: Token {TOKEN}"),
            format!("curl -H 'Authorization: Token {TOKEN}' https://bi.example.com"),
            format!("https://bi.example.com/embed?token={TOKEN}&x=1#top"),
            format!("https://bi.example.com/?next=%2Fembed%3Ftoken%3D{TOKEN}%26x"),
            format!("{{\"token\": \"{TOKEN}\"}}"),
            format!("  {front}\n  {back}\n"),
        ] {
            assert_eq!(shaped(&text), [(TOKEN.to_owned(), 1)], "{text:?}");
        }
    }

    #[test]
    fn each_line_of_a_log_is_looked_at() {
        let other = "0".repeat(64);
        let log = format!(
            "GET /a?token={TOKEN} 200\nGET /b 404\nGET /c?token={other} 200\nGET /d?token={TOKEN} 200\n"
        );
        assert_eq!(shaped(&log), [(TOKEN.to_owned(), 1), (other, 3)]);
    }

    #[test]
    fn what_is_longer_shorter_or_no_digit_has_not_the_shape() {
        for text in [
            format!("{TOKEN}0"),
            TOKEN[1..].to_owned(),
            format!("g{}", &TOKEN[1..]),
            format!("{TOKEN}\u{430}").replace(TOKEN, &TOKEN[..63]),
            "%".repeat(87),
            "é%é%2".into(),
            String::new(),
        ] {
            assert_eq!(shaped(&text), [], "{text:?}");
        }
    }

    #[test]
    fn a_token_of_another_shape_is_looked_up_as_it_stands() {
        for (text, token) in [
            ("tok/en+1==", "tok/en+1=="),
            ("a token of words", "a token of words"),
            ("Authorization: Token tok/en+1==", "tok/en+1=="),
            ("https://x/?token=tok/en+1==&b", "tok/en+1=="),
            ("\"token\":\"tok-1\"", "tok-1"),
        ] {
            let found = candidates(text);
            assert!(
                found.iter().any(|found| found.forms[0].expose() == token),
                "{text}"
            );
            assert!(found.iter().all(|found| !found.is_shaped));
        }
    }
}
