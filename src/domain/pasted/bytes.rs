//! The bytes of a token that stand in a text as bytes: as escapes of a program or of a page, or as a list of numbers.

use zeroize::{Zeroize, Zeroizing};

use super::{
    decode::{BREAK, byte_escape},
    numbers::Dumped,
};

/// In bytes. Half of what stands for a whole token; fewer are letters of a language.
const SHORTEST: usize = 16;

/// The runs of bytes of which some are no signs, in hex digits.
pub(super) fn texts(text: &str) -> Vec<Dumped> {
    let mut found = runs(text, next_number);
    if text.contains(['\\', '&']) {
        found.extend(runs(text, next_escaped));
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

/// The runs of bytes in a text, with the line of each. `next` returns a byte at the beginning of a text and its length there;
/// what has no byte and is no sign between them ends a run.
fn runs(text: &str, next: fn(&str, bool) -> Next) -> Vec<Dumped> {
    let mut found = Vec::new();
    let mut run = Zeroizing::new(Vec::with_capacity(text.len()));
    let (mut line, mut begin) = (1, 1);
    let (mut rest, mut is_begin) = (text, true);
    while let Some(c) = rest.chars().next() {
        let read = next(rest, is_begin);
        if let Some((byte, _)) = read {
            if run.is_empty() {
                begin = line;
            }
            run.extend(byte);
        } else {
            end(&mut run, begin, &mut found);
        }
        line += usize::from(c == '\n');
        rest = &rest[read.map_or(c.len_utf8(), |(_, length)| length)..];
        is_begin = !c.is_alphanumeric();
    }
    end(&mut run, begin, &mut found);
    found
}

fn end(run: &mut Vec<u8>, line: usize, found: &mut Vec<Dumped>) {
    if is_odd(run) {
        found.push((in_hex(run), line));
    }
    // What was written, not the room of the whole text.
    run.as_mut_slice().zeroize();
    run.clear();
}

/// An escape, or between escapes a sign that stands for itself, as Python writes bytes.
fn next_escaped(text: &str, _: bool) -> Next {
    if let Some((byte, length)) = byte_escape(text) {
        return Some((Some(byte), length));
    }
    let byte = text.bytes().next()?;
    (byte.is_ascii_graphic() && !b"\"'".contains(&byte)).then_some((Some(byte), 1))
}

/// A number of a list, in one line or in several: `239`, `0xef`, and as Java and SQL have bytes `-17` or `(byte) 0xef`.
fn next_number(text: &str, is_begin: bool) -> Next {
    const CAST: &str = "(byte)";
    if text.starts_with(CAST) {
        return Some((None, CAST.len()));
    }
    let count =
        |text: &str, is_digit: fn(&u8) -> bool| text.bytes().take(4).take_while(is_digit).count();
    let rest = text.strip_prefix('-').filter(|_| is_begin).unwrap_or(text);
    let sign = text.len() - rest.len();
    let (digits, radix, prefix) = match rest.strip_prefix("0x") {
        Some(hex) => (count(hex, u8::is_ascii_hexdigit), 16, 2),
        None => (count(rest, u8::is_ascii_digit), 10, 0),
    };
    if digits == 0 {
        let c = text.chars().next()?;
        let is_between = matches!(c, ' ' | ',' | ';' | '-' | '\t' | '\r' | '\n' | BREAK);
        return is_between.then_some((None, c.len_utf8()));
    }
    let length = sign + prefix + digits;
    let is_end = !text[length..].starts_with(|c: char| c.is_alphanumeric() || ".:".contains(c));
    let number = i16::from_str_radix(&rest[prefix..prefix + digits], radix).ok()?;
    let number = if sign > 0 { -number } else { number };
    let byte = u8::try_from(number).ok();
    let byte = byte.or_else(|| i8::try_from(number).ok().map(i8::cast_unsigned));
    let byte = byte.filter(|_| is_begin && is_end && digits <= 3)?;
    Some((Some(byte), length))
}
