//! Finds tokens and API keys in any text, whatever their shape: alone, in a header or a URL, in a log, a mail or a table;
//! through colours, escapes, tags and invisible signs; over several lines. The directory has fingerprints only, so this
//! reads candidates, which are looked up. It also tells where a part of a token may stand: there is no all-clear for such
//! a text.
//!
//! What is recognised: a whole token or API key that the directory knows, of any shape, by its fingerprint; 16 characters
//! in a row of one of the last 512 tokens that this process has had ([`Parts`]); whatever its origin, 16 hex digits in a row and a
//! signed token ([`shape`](fn@shape)). What is not: a part of a token of another shape that only the directory knows,
//! because a part has another fingerprint, and secrets that nobody showed to groupdesk.

mod clean;
mod decode;
mod encoded;
mod grouped;
mod numbers;
mod parts;
mod shape;
mod streams;
#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    fmt,
    hash::{BuildHasher, RandomState},
};

use zeroize::Zeroizing;

use super::token::Token;
use clean::{CUT, Removing, cleaned};
use decode::{decoded, text_of};
pub use parts::{Parts, TokenParts, may_have_token};
use shape::{DIGITS, PIECE, suspicion};
pub use shape::{FRAGMENT, Shape, is_suspicious, shape, suspicious_words};
use streams::{Stream, columns, joined, lines, without_signs, words_of_lines};

/// In bytes. No token or API key is longer.
const LONGEST: usize = 4096;
/// Texts that are looked up, at most: enough for 64 KiB of a log.
const BUDGET: usize = 60_000;
/// Ends that are tried for each beginning: fewer the longer the text is.
const ENDS: std::ops::RangeInclusive<usize> = 5..=48;
const PER_STREAM: usize = 12_000;

/// Something that may be a token.
#[derive(Debug)]
pub struct Candidate {
    /// As it is in the text; if it has upper-case hex digits, also in lower case.
    pub forms: Vec<Token>,
    /// Line number, counted from 1.
    pub line: usize,
    /// Whether it has the shape of a whole token, so that "no group has it" is an answer. Anything else is a token only
    /// if it is known.
    pub is_shaped: bool,
}

/// A text that may have a secret, in any encoding. It is silent in `Debug` and wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Pasted(Zeroizing<Vec<u8>>);

impl Pasted {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub fn of(text: &str) -> Self {
        Self::new(text.as_bytes().to_vec())
    }

    /// Reads the text; see [`read`].
    pub fn reading(&self, shortest: usize) -> Reading {
        read(&self.0, shortest)
    }

    /// Its length in characters, without blanks around it.
    pub fn characters(&self) -> usize {
        text_of(&self.0).trim().chars().count()
    }

    /// The text, with what is no text replaced.
    pub fn text(&self) -> Zeroizing<String> {
        text_of(&self.0)
    }

    /// The whole text as a token.
    pub fn as_token(&self) -> Token {
        Token::new(text_of(&self.0).trim().to_owned())
    }

    pub fn is_empty(&self) -> bool {
        self.characters() == 0
    }
}

impl fmt::Debug for Pasted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pasted(…)")
    }
}

/// What a text has.
#[derive(Debug)]
pub struct Reading {
    /// All candidates, each once, those with the shape of a token first.
    pub candidates: Vec<Candidate>,
    /// The line of something that may be a part of a token, so that "not found" is no all-clear.
    pub unclear: Option<usize>,
}

/// Reads a text of any encoding. `shortest` is the length of the shortest candidate, in characters.
pub fn read(bytes: &[u8], shortest: usize) -> Reading {
    let text = text_of(bytes);
    let plain = cleaned(&text, Removing::Little);
    let resolved = decoded(&text);
    let without_tags = cleaned(&resolved, Removing::Tags);
    let with_tags = cleaned(&resolved, Removing::Colours);
    let suspicions = [suspicion(&without_tags), suspicion(&with_tags)];

    let mut collected = Collected::new(shortest);
    for (whole, line) in suspicions.iter().flat_map(|one| &one.whole) {
        collected.add(whole, *line, true);
        // Its parts may stand in another order: the second half first.
        let twice = Zeroizing::new(whole.repeat(2));
        for from in (PIECE..whole.len()).step_by(PIECE) {
            collected.add(&twice[from..from + whole.len()], *line, false);
        }
    }
    let lines_of_parts = suspicions.iter().map(|one| one.line);
    let lines_of_parts = lines_of_parts.chain([grouped::line(&without_tags)]);
    let mut unclear = lines_of_parts.flatten().min();
    let dumped = numbers::texts(&with_tags);
    for (text, line) in &dumped {
        let seen = suspicion(text);
        for (whole, _) in &seen.whole {
            collected.add(whole, *line, true);
        }
        unclear = unclear.or(seen.line.map(|_| *line));
    }
    collected.add(text.trim(), 1, false);
    for (line, number) in text.lines().zip(1..) {
        collected.add(line.trim(), number, false);
    }
    let all_lines = lines(&without_tags).nth(1).is_some();
    let mut streams = vec![joined(&plain, false), joined(&without_tags, true)];
    if *resolved != *text {
        streams.push(joined(&with_tags, true));
    }
    if without_tags.contains(CUT) {
        let unmarked = Zeroizing::new(without_tags.replace(CUT, ""));
        streams.push(joined(&unmarked, true));
    }
    streams.push(without_signs(&without_tags));
    let mut others = Vec::new();
    if all_lines {
        let [first, last, longest, behind, up_to] = words_of_lines(&without_tags);
        streams.extend([first, last, longest]);
        others.extend([behind, up_to]);
        streams.extend(columns(&without_tags));
    }
    let mut inner = encoded::inner(&streams[0]);
    inner.extend(encoded::inner(&streams[1]));
    streams.extend(inner.iter().flat_map(encoded::inner));
    streams.extend(inner);
    streams.extend(dumped.iter().map(|(text, line)| Stream::of(text, *line)));
    streams.extend(others);
    streams.dedup_by(|a, b| a.text == b.text && a.cuts == b.cuts);
    for stream in &streams {
        collected.hex_windows(stream);
        collected.within_words(stream);
    }
    for stream in &streams {
        collected.pieces(stream, |c| c.is_alphanumeric() || c == '-' || c == '_');
        collected.pieces(stream, char::is_alphanumeric);
    }
    Reading {
        candidates: collected.found,
        unclear,
    }
}

/// The texts that may be a secret in a text that is to be kept. A text without a digit, an escape or a long word is read
/// quickly: files have many of them.
pub fn candidates_of(text: &str, shortest: usize) -> Vec<Token> {
    if text.len() < shortest {
        return Vec::new();
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_prose = text.is_ascii()
        && digits < 4
        && !text.contains(['\\', '%', '\u{1b}', '&', '='])
        && text.split_whitespace().all(|word| word.len() < shortest);
    let candidates = if is_prose {
        let mut collected = Collected::new(shortest);
        for line in [text].into_iter().chain(text.lines()) {
            collected.add(line.trim(), 1, false);
        }
        collected.found
    } else {
        read(text.as_bytes(), shortest).candidates
    };
    let forms = candidates.into_iter().flat_map(|candidate| candidate.forms);
    forms.collect()
}

struct Collected {
    found: Vec<Candidate>,
    /// Hashes, because a set would leave its texts unwiped.
    seen: HashSet<u64>,
    hash: RandomState,
    shortest: usize,
}

impl Collected {
    fn new(shortest: usize) -> Self {
        Self {
            found: Vec::new(),
            seen: HashSet::new(),
            hash: RandomState::new(),
            shortest,
        }
    }

    fn add(&mut self, word: &str, line: usize, is_shaped: bool) {
        let is_short = word.len() < self.shortest || word.chars().count() < self.shortest;
        let is_full = self.found.len() >= BUDGET && !is_shaped;
        if word.is_empty() || word.len() > LONGEST || is_short || is_full {
            return;
        }
        let is_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        let has_upper = word.bytes().any(|byte| byte.is_ascii_uppercase());
        let lower = (has_upper && word.bytes().all(is_hex))
            .then(|| Zeroizing::new(word.to_ascii_lowercase()));
        let key = lower.as_ref().map_or(word, |lower| lower.as_str());
        if !self.seen.insert(self.hash.hash_one(key)) {
            return;
        }
        let mut forms = vec![Token::new(word.to_owned())];
        forms.extend(lower.map(|lower| Token::new(lower.to_string())));
        self.found.push(Candidate {
            forms,
            line,
            is_shaped,
        });
    }

    /// Every 64 hex digits in a row, whatever stands beside them or between them.
    fn hex_windows(&mut self, stream: &Stream) {
        let mut digits = Zeroizing::new(String::with_capacity(stream.text.len()));
        let mut places = Vec::new();
        for (at, c) in stream.text.char_indices() {
            if c.is_ascii_hexdigit() {
                digits.push(c);
                places.push(at);
                if digits.len() >= DIGITS {
                    let from = digits.len() - DIGITS;
                    self.add(&digits[from..], stream.line(places[from]), false);
                }
            } else if c.is_alphanumeric() {
                digits.clear();
                places.clear();
            }
        }
    }

    /// UUIDs and signed tokens, whatever stands beside them.
    fn within_words(&mut self, stream: &Stream) {
        const UUID: [usize; 5] = [8, 4, 4, 4, 12];
        const LENGTH: usize = 36;
        let text = stream.text.as_str();
        let is_of = |range: &[u8]| {
            let mut parts = range.split(|byte| *byte == b'-');
            let fits = |length: &usize| {
                let part = parts.next();
                part.is_some_and(|part| {
                    part.len() == *length && part.iter().all(u8::is_ascii_hexdigit)
                })
            };
            UUID.iter().all(fits)
        };
        for (at, range) in text.as_bytes().windows(LENGTH).enumerate() {
            if range[UUID[0]] == b'-' && is_of(range) {
                self.add(&text[at..at + LENGTH], stream.line(at), false);
            }
        }
        for (at, _) in text.match_indices("eyJ") {
            let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
            let rest = &text[at..];
            // A longer run is no token; its end is not looked for from each beginning.
            let run = rest.bytes().take(LONGEST + 1);
            let end = run.take_while(is_of_token).count();
            if end <= LONGEST {
                self.add(&rest[..end], stream.line(at), false);
            }
        }
    }

    /// Everything between two places where a word begins or ends.
    fn pieces(&mut self, stream: &Stream, is_of_word: fn(char) -> bool) {
        let text = stream.text.as_str();
        let mut ends = Vec::new();
        let mut cuts = stream.cuts.iter().copied().peekable();
        let mut before = false;
        for (at, c) in text.char_indices() {
            let is_cut = cuts.next_if_eq(&at).is_some();
            let now = is_of_word(c);
            if at == 0 || is_cut || !(before && now) {
                ends.push(at);
            }
            before = now;
        }
        ends.push(text.len());
        let tries = (PER_STREAM / ends.len()).clamp(*ENDS.start(), *ENDS.end());
        for (index, from) in ends.iter().enumerate() {
            let line = stream.line(*from);
            for to in ends[index + 1..].iter().take(tries) {
                if to - from > LONGEST {
                    break;
                }
                self.add(&text[*from..*to], line, false);
            }
        }
    }
}
