//! The beginning or the end of a token, with the sign that something was left out: `9f86d081884c...`, `…15b0f00a08`.

use super::{
    grouped::changes,
    shape::{CHANGES, is_hex, is_mixed_hex},
    streams::lines,
};

/// What stands for the rest.
const SIGNS: [&str; 4] = ["...", "…", "***", "•••"];
/// Fewer characters are a number or a name.
const SHORTEST: usize = 6;

/// The line of the first such part. Of a cleaned text.
pub(super) fn line(text: &str) -> Option<usize> {
    let mut lines = lines(text);
    lines
        .find(|(line, _)| SIGNS.iter().any(|sign| has_part(line, sign)))
        .map(|(_, number)| number)
}

fn has_part(line: &str, sign: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_between = |c: char| !is_of_word(c);
    let mut parts = line.split(sign).peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let part = part.trim_matches(|c| " []()*.•".contains(c));
        let starts = !is_first && part.split(is_between).next().is_some_and(is_part);
        let ends = parts.peek().is_some() && part.rsplit(is_between).next().is_some_and(is_part);
        if starts || ends {
            return true;
        }
        is_first = false;
    }
    false
}

fn is_part(word: &str) -> bool {
    word.len() >= SHORTEST && (is_hex(word) && is_mixed_hex(word) || changes(word) >= CHANGES)
}
