//! The bytes of a token that stand in a text as bytes: as escapes of a program or of a page, or as a list of numbers.

use zeroize::Zeroizing;

use super::{decode::byte_escape, numbers::Dumped, streams::lines};

/// In bytes. Half of what stands for a whole token; fewer are letters of a language.
const SHORTEST: usize = 16;

/// The runs of bytes of which some are no signs, in hex digits.
pub(super) fn texts(text: &str) -> Vec<Dumped> {
    let escapes = text.contains(['\\', '&']);
    let mut found = Vec::new();
    for (line, number) in lines(text) {
        let runs = [
            escapes.then(|| longest(line, next_escaped)),
            Some(longest(line, next_decimal)),
        ];
        let runs = runs.into_iter().flatten().filter(|run| is_odd(run));
        found.extend(runs.map(|run| (in_hex(&run), number)));
    }
    found
}

fn is_odd(run: &[u8]) -> bool {
    let high = run.iter().filter(|byte| **byte >= 0x80).count();
    run.len() >= SHORTEST && high * 8 >= run.len()
}

fn in_hex(run: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(run.len() * 2));
    let digits = run.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    text.extend(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)));
    text
}

/// A byte at the beginning of a text, or none for a sign between bytes, and the length of what was read.
type Next = Option<(Option<u8>, usize)>;

/// The longest run of bytes in a line. `next` returns a byte at the beginning of a text and its length there; what has no
/// byte and is no sign between them ends a run.
fn longest(line: &str, next: fn(&str, bool) -> Next) -> Zeroizing<Vec<u8>> {
    let empty = || Zeroizing::new(Vec::with_capacity(line.len()));
    let (mut longest, mut run) = (empty(), empty());
    let (mut rest, mut is_begin) = (line, true);
    while let Some(c) = rest.chars().next() {
        if let Some((byte, length)) = next(rest, is_begin) {
            run.extend(byte);
            rest = &rest[length..];
        } else {
            if is_odd(&run) && run.len() > longest.len() {
                longest = std::mem::replace(&mut run, empty());
            }
            run.clear();
            rest = &rest[c.len_utf8()..];
        }
        is_begin = !c.is_alphanumeric();
    }
    if is_odd(&run) && run.len() > longest.len() {
        run
    } else {
        longest
    }
}

/// An escape, or between escapes a sign that stands for itself, as Python writes bytes.
fn next_escaped(text: &str, _: bool) -> Next {
    if let Some((byte, length)) = byte_escape(text) {
        return Some((Some(byte), length));
    }
    let byte = text.bytes().next()?;
    (byte.is_ascii_graphic() && !b"\"'".contains(&byte)).then_some((Some(byte), 1))
}

/// A number of a list.
fn next_decimal(text: &str, is_begin: bool) -> Next {
    let digits = text.bytes().take(4).take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        let c = text.chars().next()?;
        return matches!(c, ' ' | ',' | ';' | '-').then_some((None, 1));
    }
    let is_end = !text[digits..].starts_with(|c: char| c.is_alphanumeric() || ".:".contains(c));
    let byte = text[..digits].parse().ok();
    let byte = byte.filter(|_| is_begin && is_end && digits <= 3)?;
    Some((Some(byte), digits))
}
