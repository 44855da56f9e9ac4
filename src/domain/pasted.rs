//! Finds tokens and API keys in any text, whatever their shape: alone, in a header or a URL, in a log, a mail or a table;
//! through colours, escapes, tags and invisible signs; over several lines. The directory has fingerprints only, so this
//! reads candidates, which are looked up. It also tells where a part of a token may stand: there is no all-clear for such
//! a text.
//!
//! What is recognised: a whole token or API key that the directory knows, of any shape, by its fingerprint; 16 characters
//! in a row of one of the last 512 tokens that this process has had ([`Parts`]); whatever its origin, 16 hex digits in a row and a
//! signed token ([`shape`](fn@shape)). What is not: a part of a token of another shape that only the directory knows,
//! because a part has another fingerprint, and secrets that nobody showed to groupdesk.

mod bytes;
mod clean;
mod decode;
pub(crate) mod encoded;
mod ends;
mod grouped;
mod numbers;
mod parts;
mod recorded;
mod shape;
mod shortened;
mod streams;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::{BuildHasher, RandomState},
};

use zeroize::Zeroizing;

use super::token::Token;
use clean::{CUT, Removing, cleaned};
use decode::{readings, text_of};
use ends::{Ends, is_edge};
pub use parts::{Parts, TokenParts, may_have_token};
use shape::{DIGITS, PIECE, suspicion};
pub use shape::{
    FRAGMENT, LOOKS_SECRET, Shape, digits_in_a_row, has_cut_token, is_nearly_token, is_suspicious,
    odd_digits, shape, suspicious_words, words,
};
use streams::{
    Stream, alternates, columns, joined, lines, undoubled, with_plus, without_signs, words_of_lines,
};

/// In bytes. No token or API key is longer.
const LONGEST: usize = 4096;
/// Texts that are looked up, at most: enough for 64 KiB of a log. What is in excess is not read, which is no all-clear.
const BUDGET: usize = 120_000;
/// Ends that are tried within a word, however long the text is: so many signs has a token.
const WITHIN_WORD: usize = 14;

/// Something that may be a token.
#[derive(Debug)]
pub struct Candidate {
    /// As it is in the text. Hex digits also in upper and in lower case, which is the last; base64 also with its `=`.
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
    let readings: Vec<_> = readings(&text).into_iter().map(Resolved::of).collect();
    let first = &readings[0];
    let suspicions: Vec<_> = readings
        .iter()
        .flat_map(|one| [suspicion(&one.without_tags), suspicion(&one.with_tags)])
        .collect();

    let mut collected = Collected::new(shortest);
    for (whole, line) in suspicions.iter().flat_map(|one| &one.whole) {
        collected.add(whole, || *line, true);
        // Its parts may stand in another order: the second half first.
        let twice = Zeroizing::new(whole.repeat(2));
        for from in (PIECE..whole.len()).step_by(PIECE) {
            collected.add(&twice[from..from + whole.len()], || *line, false);
        }
    }
    // Of a mail not as if it were none: of its escapes `=3D` is joined to the token behind it.
    let lines_of_parts = suspicions[..2].iter().map(|one| one.line);
    let others = [grouped::line, shortened::line].map(|line| line(&first.without_tags));
    let lines_of_parts = lines_of_parts.chain(others);
    let mut unclear = lines_of_parts.flatten().min();
    let mut others = numbers::texts(&first.with_tags);
    // As they are written: of `\102` an escape in octal is another byte than one of Lua.
    if plain.contains('\\') {
        others.extend(numbers::texts(&plain));
    }
    others.extend(recorded::texts(&text));
    for (text, line) in &others {
        let seen = suspicion(text);
        for (whole, _) in &seen.whole {
            collected.add(whole, || *line, true);
        }
        unclear = unclear.or(seen.line.map(|_| *line));
    }
    let bytes = bytes::texts(&text);
    unclear = unclear.or(bytes.first().map(|(_, line)| *line));
    unclear = unclear.or_else(|| no_text(&text));
    collected.add(text.trim(), || 1, false);
    for (line, number) in text.lines().zip(1..) {
        collected.add(line.trim(), || number, false);
    }
    let mut streams = vec![joined(&plain, false)];
    streams.extend(undoubled(&plain).map(|text| joined(&text, false)));
    for one in &readings {
        one.add_streams(*one.text != *text, &mut streams);
    }
    streams.push(with_plus(&first.without_tags));
    let mut inner = encoded::inner(&streams[0]);
    inner.extend(encoded::inner(&joined(&first.without_tags, true)));
    streams.extend(inner.iter().flat_map(encoded::inner));
    streams.extend(inner);
    streams.extend(bytes.iter().map(|(text, line)| Stream::of(text, *line)));
    streams.extend(others.iter().map(|(text, line)| Stream::of(text, *line)));
    for one in &readings {
        one.add_words(&mut streams);
    }
    // By their hashes: a text of many encoded words has as many streams.
    let mut seen = HashSet::new();
    let hash = collected.hash.clone();
    streams.retain(|stream| seen.insert(hash.hash_one((stream.text.as_str(), &stream.cuts))));
    for stream in &streams {
        collected.hex_windows(stream);
        collected.within_words(stream);
    }
    collected.pieces(&streams);
    Reading {
        unclear: unclear.or(collected.unread),
        candidates: collected.found,
    }
}

/// So many bytes of a line are not those of a text of another language.
const NO_TEXT: usize = 8;

/// The first line of which bytes are no text: compressed or raw ones may be those of a token.
fn no_text(text: &str) -> Option<usize> {
    let is_none = |line: &str| line.matches('\u{fffd}').nth(NO_TEXT - 1).is_some();
    lines(text)
        .find(|(line, _)| is_none(line))
        .map(|(_, number)| number)
}

/// A text with its escapes resolved.
struct Resolved {
    text: Zeroizing<String>,
    without_tags: Zeroizing<String>,
    with_tags: Zeroizing<String>,
}

impl Resolved {
    fn of(text: Zeroizing<String>) -> Self {
        Self {
            without_tags: cleaned(&text, Removing::Tags),
            with_tags: cleaned(&text, Removing::Colours),
            text,
        }
    }

    /// What is joined of all lines.
    fn add_streams(&self, has_escapes: bool, streams: &mut Vec<Stream>) {
        let text = &self.without_tags;
        streams.push(joined(text, true));
        if has_escapes {
            streams.push(joined(&self.with_tags, true));
        }
        if text.contains(CUT) {
            let unmarked = Zeroizing::new(text.replace(CUT, ""));
            streams.push(joined(&unmarked, true));
        }
        streams.extend(undoubled(text).map(|text| joined(&text, true)));
        streams.push(without_signs(text));
    }

    /// What is joined of parts of the lines.
    fn add_words(&self, streams: &mut Vec<Stream>) {
        if lines(&self.without_tags).nth(1).is_some() {
            streams.extend(words_of_lines(&self.without_tags));
            streams.extend(columns(&self.without_tags));
        }
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
            collected.add(line.trim(), || 1, false);
        }
        collected.found
    } else {
        read(text.as_bytes(), shortest).candidates
    };
    let forms = candidates.into_iter().flat_map(|candidate| candidate.forms);
    forms.collect()
}

/// The spellings under which the directory may have a token that a text has as this word.
fn forms_of(word: &str) -> Vec<Token> {
    let is_of_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let is_of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    let mut forms = Vec::with_capacity(3);
    if word.bytes().all(is_of_hex) {
        if word.len() >= FRAGMENT {
            forms.push(Token::new(word.to_ascii_uppercase()));
        }
        forms.push(Token::new(word.to_owned()));
        forms.push(Token::new(word.to_ascii_lowercase()));
        forms.dedup_by(|one, other| one.expose() == other.expose());
        return forms;
    }
    let missing = (4 - word.len() % 4) % 4;
    if matches!(missing, 1 | 2) && alternates(word, FRAGMENT) && word.bytes().all(is_of_base64) {
        forms.push(Token::new(word.to_owned() + &"=="[..missing]));
    }
    forms.push(Token::new(word.to_owned()));
    forms
}

struct Collected {
    found: Vec<Candidate>,
    /// By the hashes of their spellings, because a map would leave its texts unwiped.
    seen: HashMap<u64, usize>,
    hash: RandomState,
    shortest: usize,
    /// The first line of which something was not tried.
    unread: Option<usize>,
}

impl Collected {
    fn new(shortest: usize) -> Self {
        Self {
            found: Vec::new(),
            seen: HashMap::new(),
            hash: RandomState::new(),
            shortest,
            unread: None,
        }
    }

    /// Most texts are there many times: what is new is looked at closely, and only its line is asked for.
    fn add(&mut self, word: &str, line: impl FnOnce() -> usize, is_shaped: bool) {
        let is_short = word.len() < self.shortest
            || word.len() < 4 * self.shortest && word.chars().count() < self.shortest;
        if word.is_empty() || word.len() > LONGEST || is_short {
            return;
        }
        if self.found.len() >= BUDGET && !is_shaped {
            self.unread.get_or_insert_with(line);
            return;
        }
        let written = self.hash.hash_one(word);
        if self.seen.contains_key(&written) {
            return;
        }
        let forms = forms_of(word);
        let hashes: Vec<_> = forms
            .iter()
            .map(|form| self.hash.hash_one(form.expose()))
            .collect();
        // Another spelling of one that is there is no other token.
        if let Some(at) = hashes.iter().find_map(|hash| self.seen.get(hash).copied()) {
            self.seen.insert(written, at);
            let same = &mut self.found[at];
            same.forms.insert(0, Token::new(word.to_owned()));
            same.is_shaped |= is_shaped;
            return;
        }
        let at = self.found.len();
        self.seen.extend(hashes.into_iter().map(|hash| (hash, at)));
        self.found.push(Candidate {
            forms,
            line: line(),
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
                    self.add(&digits[from..], || stream.line(places[from]), false);
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
        let starts = text
            .match_indices('-')
            .filter_map(|(dash, _)| dash.checked_sub(UUID[0]));
        for at in starts {
            let range = text.as_bytes().get(at..at + LENGTH);
            if range.is_some_and(is_of) {
                self.add(&text[at..at + LENGTH], || stream.line(at), false);
            }
        }
        for (at, _) in text.match_indices("eyJ") {
            let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
            let rest = &text[at..];
            // A longer run is no token; its end is not looked for from each beginning.
            let run = rest.bytes().take(LONGEST + 1);
            let end = run.take_while(is_of_token).count();
            if end <= LONGEST {
                self.add(&rest[..end], || stream.line(at), false);
            }
        }
    }

    /// Everything between two places where a word begins or ends: what has few of them first, because a long text has more
    /// than can be tried.
    fn pieces(&mut self, streams: &[Stream]) {
        const WORDS: [fn(char) -> bool; 3] = [
            |c| !is_edge(c),
            |c| c.is_alphanumeric() || c == '-' || c == '_',
            char::is_alphanumeric,
        ];
        let all = streams.iter().flat_map(|stream| {
            let ends = WORDS.map(|is_of_word| Ends::of(stream, is_of_word));
            ends.map(|ends| (stream, ends))
        });
        let all: Vec<_> = all.collect();
        for count in 1..=ends::MOST {
            for (stream, ends) in &all {
                self.pieces_of(stream, ends, count);
            }
        }
    }

    /// The pieces of this many words.
    fn pieces_of(&mut self, stream: &Stream, ends: &Ends, count: usize) {
        let text = stream.text.as_str();
        let is_everywhere = count <= ends.tries;
        if !is_everywhere && count > WITHIN_WORD {
            return;
        }
        for (index, (from, word)) in ends.at.iter().enumerate() {
            let Some((to, _)) = ends.at.get(index + count) else {
                break;
            };
            if self.found.len() >= BUDGET {
                self.unread.get_or_insert(stream.line(*from));
                break;
            }
            // The end of a word is where the next one begins.
            let piece = &text[*from..*to];
            let is_within = || {
                ends.at
                    .get(index + count - 1)
                    .is_some_and(|(_, last)| last == word)
            };
            let is_bare =
                || !piece.starts_with(is_edge) && !piece.trim_end_matches('=').ends_with(is_edge);
            if is_everywhere || is_within() && is_bare() {
                self.add(piece, || stream.line(*from), false);
            }
        }
    }
}
