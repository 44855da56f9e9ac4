//! Numbers that stand for the bytes of a text: a list in a program, or a dump of `od`, `xxd` or `hexdump`.

use zeroize::{Zeroize, Zeroizing};

use super::{shape::is_hex, streams::lines};

/// In bytes. Fewer are no token, but numbers.
const SHORTEST: usize = 12;
/// A word of a dump has 16 bytes at most.
const LONGEST_WORD: usize = 32;

/// Digits of the address at the beginning of a line.
const ADDRESS: usize = 6;

/// How a word stands for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    Binary,
    Decimal,
    /// This many bytes each.
    Octal(usize),
    Hex(usize),
    /// The last byte first.
    Turned(usize),
}

const ALL: [Notation; 11] = [
    Notation::Binary,
    Notation::Decimal,
    Notation::Octal(1),
    Notation::Octal(2),
    Notation::Hex(1),
    Notation::Hex(2),
    Notation::Hex(4),
    Notation::Hex(8),
    Notation::Turned(2),
    Notation::Turned(4),
    Notation::Turned(8),
];

impl Notation {
    fn bytes(self, word: &str) -> Option<Zeroizing<Vec<u8>>> {
        let plain = word.strip_prefix("0x").unwrap_or(word);
        let (count, radix, digits) = match self {
            Self::Binary => (1, 2, 8..=8),
            Self::Decimal => (1, 10, 1..=3),
            Self::Octal(1) => (1, 8, 2..=3),
            Self::Octal(count) => (count, 8, 3 * count..=3 * count),
            Self::Hex(count) | Self::Turned(count) => (count, 16, 2 * count..=2 * count),
        };
        if !digits.contains(&plain.len()) || (radix != 16 && plain.len() != word.len()) {
            return None;
        }
        let number = u64::from_str_radix(plain, radix).ok()?;
        let mut bytes = Zeroizing::new(number.to_be_bytes().to_vec());
        if bytes[..8 - count].iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.drain(..8 - count);
        if matches!(self, Self::Turned(_) | Self::Octal(2)) {
            bytes.reverse();
        }
        Some(bytes)
    }
}

/// A text in numbers, and the line in which it begins.
pub(super) type Dumped = (Zeroizing<String>, usize);

/// The texts that numbers stand for. `text` has no colours.
pub(super) fn texts(text: &str) -> Vec<Dumped> {
    if text.len() < 2 * SHORTEST || !text.contains(|c: char| c.is_ascii_digit()) {
        return Vec::new();
    }
    // A string that grows leaves copies of itself in memory; no token is longer.
    let room = text.len().min(2 * super::LONGEST);
    let mut found = Vec::new();
    for notation in ALL {
        let mut now: Option<Dumped> = None;
        for (line, number) in lines(text) {
            let run = longest_run(line, notation);
            if run.is_empty() {
                found.extend(now.take().filter(is_long));
            } else if let Some((text, _)) = &mut now {
                push(text, &run);
            } else {
                let mut text = Zeroizing::new(String::with_capacity(room));
                push(&mut text, &run);
                now = Some((text, number));
            }
        }
        found.extend(now.filter(is_long));
    }
    found
}

fn is_long((text, _): &Dumped) -> bool {
    text.chars().filter(char::is_ascii_graphic).count() >= SHORTEST
}

/// The bytes of the most words that follow each other. An address stands before them in a dump, the text behind them.
fn longest_run(line: &str, notation: Notation) -> Zeroizing<Vec<u8>> {
    let line = match line.split_once(':') {
        Some((address, rest)) if address.len() >= ADDRESS && is_hex(address) => rest,
        _ => line,
    };
    let empty = || Zeroizing::new(Vec::with_capacity(line.len() + 8));
    let (mut longest, mut run) = (empty(), empty());
    let mut rest = line;
    // Looked for once for all words of a name: a line may be one long name.
    let mut behind_name = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        rest = &rest[start..];
        if rest.len() <= behind_name.len() {
            behind_name = rest.trim_start_matches(is_of_name);
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        if behind_name.starts_with('(') && word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            continue;
        }
        let bytes = Some(word).filter(|word| word.len() <= LONGEST_WORD);
        if let Some(bytes) = bytes.and_then(|word| notation.bytes(word)) {
            run.extend_from_slice(&bytes);
            continue;
        }
        if run.len() > longest.len() {
            std::mem::swap(&mut longest, &mut run);
        }
        // What was written, not the room of a whole line for each of its words.
        run.as_mut_slice().zeroize();
        run.clear();
    }
    if run.len() > longest.len() {
        run
    } else {
        longest
    }
}

/// What the name of a function around each number consists of, as in `String.fromCharCode(51)` or `Chr(51) & Chr(98)`.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$".contains(c)
}

/// Zeros are those of characters of two bytes. What is no sign divides.
fn push(text: &mut String, bytes: &[u8]) {
    let bytes = bytes.iter().filter(|byte| **byte != 0);
    text.extend(bytes.map(|byte| match byte {
        b'!'..=b'~' => char::from(*byte),
        _ => ' ',
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_stand_between_numbers() {
        let numbers = (0..20).map(|at| 65 + at);
        let of = |name: &str| {
            let calls = numbers.clone().map(|number| format!("{name}({number})"));
            texts(&calls.collect::<Vec<_>>().join(" & "))
        };
        let is_found = |name| of(name).iter().any(|(text, _)| text.starts_with("ABCD"));
        assert!(is_found("Chr") && is_found("String.from_code$at"));
        assert!(!is_found("Chr x"), "no function");
    }

    /// It would take hours if each word looked for the end of the name.
    #[test]
    fn a_line_that_is_one_long_name_is_read_once() {
        let line = format!("{}7", "a.".repeat(1 << 17));
        assert!(texts(&line).is_empty());
        assert!(texts(&format!("{line}(")).is_empty());
    }
}
