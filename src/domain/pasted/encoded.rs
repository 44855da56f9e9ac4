//! Words that are a text in base64 or in hex themselves, as in a mail, a Kubernetes secret or an HTTP header.

use zeroize::Zeroizing;

use super::{decode::text_of, streams::Stream};

/// Shorter words are no token in disguise.
const SHORTEST: usize = 12;
const LONGEST: usize = 64 * 1024;
/// In a word that is tried in every combination of its parts.
const CUTS: usize = 12;

/// Of a token in hex.
const BYTES: usize = super::DIGITS / 2;
/// Signs of base64 that more often stand beside it, as in a path.
const SIGNS: [char; 4] = ['+', '/', '-', '_'];

/// The texts of the words that are one.
pub(super) fn inner(stream: &Stream) -> Vec<Stream> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || SIGNS.contains(&c);
    let text = stream.text.as_str();
    let mut found = Vec::new();
    let mut take = |from: usize, to: usize| {
        let word = &text[from..to];
        if !(SHORTEST..=LONGEST).contains(&word.len()) {
            return;
        }
        for bytes in [base64(word), hex(word)].into_iter().flatten() {
            let text = text_of(&bytes);
            let is_text = |c: char| c != '\u{fffd}' && (!c.is_control() || c.is_whitespace());
            if text.chars().all(is_text) {
                found.push(Stream::of(&text, stream.line(from)));
            } else if bytes.len() == BYTES {
                found.push(Stream::of(&digits(&bytes), stream.line(from)));
            }
        }
    };
    let mut at = 0;
    for word in text.split(|c| !is_of_word(c)) {
        // The words before and after it may have been joined to it.
        let end = at + word.len();
        let first = stream.cuts.partition_point(|cut| *cut <= at);
        let last = stream.cuts.partition_point(|cut| *cut < end);
        let inner = stream.cuts.get(first..last).unwrap_or_default();
        let mut edges = vec![at, end];
        edges.extend_from_slice(inner);
        between(&mut edges, CUTS, &mut take);
        let signs = word.match_indices(SIGNS).map(|(sign, _)| at + sign);
        edges.extend(signs.flat_map(|sign| [sign, sign + 1]));
        if edges.len() > inner.len() + 2 {
            between(&mut edges, 2 * CUTS, &mut take);
        }
        at += word.len()
            + text[at + word.len()..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
    }
    found
}

/// What lies between any two of these places, or, of more than so many, between neighbours.
fn between(places: &mut Vec<usize>, most: usize, take: &mut impl FnMut(usize, usize)) {
    places.sort_unstable();
    places.dedup();
    let tries = if places.len() <= most { most } else { 1 };
    for (index, from) in places.iter().enumerate() {
        for to in places[index + 1..].iter().take(tries) {
            take(*from, *to);
        }
    }
}

fn digits(bytes: &[u8]) -> Zeroizing<String> {
    let mut digits = Zeroizing::new(String::with_capacity(bytes.len() * 2));
    let each = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.extend(each.filter_map(|four| char::from_digit(four.into(), 16)));
    digits
}

pub(crate) fn base64(word: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(word.len()));
    let (mut bits, mut count) = (0_u32, 0);
    for byte in word.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

fn hex(word: &str) -> Option<Zeroizing<Vec<u8>>> {
    let word = word
        .strip_prefix('0')
        .filter(|rest| rest.starts_with('x'))
        .unwrap_or(word);
    let word = word.strip_prefix('x').unwrap_or(word);
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = Zeroizing::new(Vec::with_capacity(word.len() / 2));
    for two in word.as_bytes().chunks(2) {
        let [high, low] = two else { return None };
        bytes.push((digit(*high)? << 4 | digit(*low)?) as u8);
    }
    Some(bytes)
}
