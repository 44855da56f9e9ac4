//! Makes the last line of a command's output fit to be stored and shown: removes the token and any longer part of it.

use zeroize::Zeroizing;

use crate::{config::scrub::shown, domain::token::Token};

/// Bytes kept of a command's output.
const KEPT: usize = 16 * 1024;

/// A part of the token of this length is as sensitive as the token; shorter parts cannot be told from words.
const PART: usize = 8;

/// The last bytes of a stream.
#[derive(Default)]
pub(super) struct Tail {
    bytes: Zeroizing<Vec<u8>>,
    is_cut: bool,
}

impl Tail {
    pub(super) fn take(&mut self, more: &[u8]) {
        if self.bytes.capacity() == 0 {
            // Reserve once: a buffer that grows leaves its old memory unwiped.
            self.bytes.reserve_exact(2 * KEPT);
        }
        for chunk in more.chunks(KEPT) {
            if self.bytes.len() + chunk.len() > 2 * KEPT {
                let cut = self.bytes.len() - KEPT;
                self.bytes.drain(..cut);
                self.is_cut = true;
            }
            self.bytes.extend_from_slice(chunk);
        }
    }
}

/// Returns the last line that is not empty, scrubbed; empty if there is none.
pub(super) fn scrubbed(tail: &Tail, token: &Token) -> String {
    let text = Zeroizing::new(String::from_utf8_lossy(&tail.bytes).into_owned());
    let Some((number, line)) = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number, line.trim()))
        .filter(|(_, line)| !line.is_empty())
        .last()
    else {
        return String::new();
    };
    // If the beginning of the line is cut off, the line may begin with the end of the token.
    let lost = if tail.is_cut && number == 0 {
        token.expose().len()
    } else {
        0
    };
    let line = line.get(line.ceil_char_boundary(lost)..).unwrap_or("");
    shown(&redacted(line, token))
}

/// Replaces every part of the token by `…`: raw or JSON-escaped, in any case and with any spacing, since a shell
/// collapses several spaces into one.
fn redacted(line: &str, token: &Token) -> String {
    let json = Zeroizing::new(serde_json::to_string(token.expose()).unwrap_or_default());
    let (letters, places) = without_spaces(line);
    let mut hidden = vec![false; line.len()];
    for secret in [token.expose(), json.trim_matches('"')] {
        let (secret, _) = without_spaces(secret);
        let part = PART.min(secret.len());
        if part == 0 {
            continue;
        }
        for (here, at) in letters.windows(part).zip(places.windows(part)) {
            if secret.windows(part).any(|part| part == here) {
                hidden[at[0]..=at[part - 1]].fill(true);
            }
        }
    }
    let mut clean = String::with_capacity(line.len());
    let mut was_hidden = false;
    for (at, letter) in line.char_indices() {
        let is_hidden = hidden[at..at + letter.len_utf8()].contains(&true);
        if !is_hidden {
            clean.push(letter);
        } else if !was_hidden {
            clean.push('…');
        }
        was_hidden = is_hidden;
    }
    clean
}

/// The bytes that are not white space, in lower case, and their positions.
fn without_spaces(text: &str) -> (Zeroizing<Vec<u8>>, Vec<usize>) {
    let bytes = text.as_bytes();
    let is_letter = |at: &usize| !bytes[*at].is_ascii_whitespace();
    let places: Vec<_> = (0..bytes.len()).filter(is_letter).collect();
    let letters = places.iter().map(|at| bytes[*at].to_ascii_lowercase());
    (Zeroizing::new(letters.collect()), places)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "canary-token\"abcdefghijklmnop";

    #[test]
    fn no_part_of_the_token_is_kept() {
        let spaced = "abcd efg\thij  klm\nop";
        for (token, text, kept) in [
            (SECRET, "", ""),
            (SECRET, "one\n\n  two \n\n", "two"),
            (SECRET, "bad canary-token\"abcdefghijklmnop!", "bad …!"),
            (SECRET, "bad canary-token\\\"abcdefghijklmnop!", "bad …!"),
            (SECRET, "CANARY-TOKEN", "…"),
            (SECRET, "begins canary-t…", "begins ……"),
            (SECRET, "canary", "canary"),
            (SECRET, "red \u{1b}[31m", "red \\u{1b}[31m"),
            (spaced, "denied: abcd efg hij klm op!", "denied: …!"),
            (spaced, "denied: abcd  efg\thij  klm op!", "denied: …!"),
            (spaced, "denied: abcdefghijklmop!", "denied: …!"),
            (spaced, "denied: abcd efg\\thij  klm\\nop!", "denied: …!"),
        ] {
            let mut tail = Tail::default();
            tail.take(text.as_bytes());
            assert_eq!(scrubbed(&tail, &Token::new(token.into())), kept, "{text:?}");
        }
    }

    #[test]
    fn a_token_whose_beginning_was_cut_off_is_not_kept_either() {
        for padding in (0..64).step_by(5) {
            let text = format!("{SECRET}{}", "x".repeat(2 * KEPT - padding));
            let mut tail = Tail::default();
            for chunk in text.as_bytes().chunks(7) {
                tail.take(chunk);
            }
            let kept = scrubbed(&tail, &Token::new(SECRET.into()));
            assert!(!kept.contains("ijklm") && kept.contains('x'), "{kept}");
        }
        let mut tail = Tail::default();
        tail.take("y".repeat(100 * KEPT).as_bytes());
        tail.take(b"\nthe end");
        assert_eq!(scrubbed(&tail, &Token::new(SECRET.into())), "the end");
        assert!(tail.bytes.len() <= 2 * KEPT);
    }

    #[test]
    fn the_end_is_kept_in_one_place_that_never_grows() {
        let mut tail = Tail::default();
        let mut all = Vec::new();
        for (number, length) in [1, KEPT, KEPT - 1, 1, 7, 3 * KEPT, 5]
            .into_iter()
            .enumerate()
        {
            let more = vec![b'a' + number as u8; length];
            tail.take(&more);
            all.extend(more);
            assert_eq!(tail.bytes.capacity(), 2 * KEPT);
            assert!(tail.bytes.len() >= all.len().min(KEPT));
            assert!(all.ends_with(&tail.bytes));
            assert_eq!(tail.is_cut, tail.bytes.len() < all.len());
        }
    }
}
