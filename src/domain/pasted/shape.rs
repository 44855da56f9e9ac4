//! What has the shape of a token, or may be a part of one. The shape only decides what is suspicious: a token of any
//! shape is found by its fingerprint.

use zeroize::{Zeroize, Zeroizing};

use super::{
    clean::{CUT, Removing, cleaned},
    decode::{BREAK, decoded},
    streams::{alternates, lines},
};

/// Number of hex digits of a token of `groupdesk serve`.
pub(super) const DIGITS: usize = 64;
/// Hex digits in a row that may be a part of a token.
pub const FRAGMENT: usize = 16;
/// Shorter pieces are a part of a token only together with others.
pub(super) const PIECE: usize = 8;
/// Groups of digits that a person wrote apart, together.
const PIECES: usize = 24;
pub(super) const SHORTEST_PIECE: usize = 4;
/// Of hex digits, and in a date.
const MONTHS: [&str; 2] = ["Feb", "Dec"];
/// Hex digits of a UUID: an id, unless it is known as a token.
const UUID: usize = 32;
/// Of a signed token that is looked at.
const LONGEST: usize = 4096;
/// Letters and digits that alternate, in a row.
const MIXED: usize = 16;
pub(super) const CHANGES: usize = 3;
/// Without a digit, letters of both cases that alternate.
const MIXED_LETTERS: usize = 20;
const LETTER_CHANGES: usize = 6;

/// A part of a text that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Long hex digits, or a part of them.
    Fragment,
    /// 64 hex digits or more, or a signed token (JWT).
    Token,
}

/// What may be a part of a token, found in a text.
#[derive(Debug, Default)]
pub(super) struct Suspicion {
    /// The line of the first run that may be a part of a token.
    pub(super) line: Option<usize>,
    pub(super) shape: Option<Shape>,
    /// Runs with the shape of a whole token, also in pieces, and their lines.
    pub(super) whole: Vec<(String, usize)>,
    /// Digits of all short runs.
    short: usize,
}

impl Drop for Suspicion {
    fn drop(&mut self) {
        for (text, _) in &mut self.whole {
            text.zeroize();
        }
    }
}

/// Looks for the shape of a secret in a text, through colours, escapes and invisible signs.
pub fn shape(text: &str) -> Option<Shape> {
    if text.len() < FRAGMENT {
        return None;
    }
    let plain = cleaned(text, Removing::Little);
    let first = suspicion(&plain).shape;
    if first == Some(Shape::Token) {
        return first;
    }
    let decoded = decoded(text);
    let shapes = [Removing::Colours, Removing::Tags]
        .map(|removing| suspicion(&cleaned(&decoded, removing)).shape);
    first.max(shapes[0]).max(shapes[1])
}

/// Whether something in the text may be a token of any shape, or a part of one: to be looked up before it is shown.
pub fn is_suspicious(text: &str) -> bool {
    let decoded = decoded(text);
    let found = suspicion(&cleaned(&decoded, Removing::Tags));
    found.line.is_some() || found.shape.is_some()
}

/// Why a value with such a word is neither sent nor kept, in the console. In its footer with 80 columns also the field is
/// there.
pub const LOOKS_SECRET: &str = "looks like a token; if not: groupdesk apply FILE";

/// The words of a text, without what stands around them.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`,;()[]{}<>=".contains(c))
}

/// The words of a text that are suspicious by themselves: a caller may know them as something else.
pub fn suspicious_words(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| shape(word).is_some())
}

/// Of a cleaned text.
pub(super) fn suspicion(text: &str) -> Suspicion {
    let mut found = Suspicion::default();
    let mut pieces = Pieces::default();
    for (line, number) in lines(text) {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == CUT;
        for word in line.split(|c| !is_of_word(c)) {
            let mut parts = word.split(CUT);
            if let Some(whole) = parts.find(|part| part.len() == DIGITS && is_hex(part)) {
                pieces.end(&mut found);
                found.whole(whole, number);
                continue;
            }
            let word = without_cuts(word);
            if word.is_empty() {
                continue;
            }
            if is_hex(&word) {
                pieces.add(&word, number, &mut found);
            } else {
                pieces.end(&mut found);
                found.hex(hex_run(&word), number);
            }
        }
        let is_of_word = |c: char| is_of_word(c) || c == '-' || c == '_';
        for word in line.split(|c| !is_of_word(c)) {
            let word = without_cuts(word);
            let mut parts = word.split(['-', '_']);
            let has_whole = found
                .whole
                .iter()
                .any(|(whole, _)| word.contains(whole.as_str()))
                || parts.any(|part| part.len() == DIGITS && is_hex(part));
            if is_mixed(&word) && !is_hex(&word) && !has_whole {
                found.suspect(number);
            }
        }
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "+/".contains(c) || c == CUT;
        for word in line.split(|c| !is_of_word(c)) {
            let word = without_cuts(word);
            let is_of_both = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
            if word.contains(['+', '/'])
                && is_of_both(u8::is_ascii_lowercase)
                && is_of_both(u8::is_ascii_uppercase)
                && alternates(&word, FRAGMENT)
                && word.split(['+', '/']).all(|part| part.len() != DIGITS)
            {
                found.suspect(number);
            }
        }
        if signed(line) {
            found.shape = Some(Shape::Token);
            found.suspect(number);
        }
    }
    pieces.end(&mut found);
    let unbroken = |c: &char| !matches!(c, '\n' | ' ' | '>' | &CUT | &BREAK);
    let joined = Zeroizing::new(text.chars().filter(unbroken).collect::<String>());
    if found.shape != Some(Shape::Token) && signed(&joined) {
        found.shape = Some(Shape::Token);
        found.suspect(1);
    }
    found
}

fn without_cuts(word: &str) -> Zeroizing<String> {
    let mut kept = Zeroizing::new(String::with_capacity(word.len()));
    kept.extend(word.chars().filter(|c| *c != CUT));
    kept
}

impl Suspicion {
    fn suspect(&mut self, line: usize) {
        self.line.get_or_insert(line);
    }

    /// A word has this many hex digits in a row.
    fn hex(&mut self, length: usize, line: usize) {
        if length < PIECE {
            return;
        }
        self.short += length;
        if self.short >= FRAGMENT {
            self.suspect(line);
        }
        if length >= DIGITS {
            self.shape = Some(Shape::Token);
        } else if length >= FRAGMENT {
            self.shape = self.shape.max(Some(Shape::Fragment));
        }
    }

    fn whole(&mut self, text: &str, line: usize) {
        self.whole.push((text.to_owned(), line));
        self.shape = Some(Shape::Token);
    }
}

/// Groups of hex digits that follow each other.
#[derive(Default)]
struct Pieces {
    text: Zeroizing<String>,
    /// Length and line of each.
    groups: Vec<(usize, usize)>,
    pairs: Pairs,
}

/// Hex digits in a row in threes, in pairs as in `9f:86:d0`, or one by one. They are counted as they come, because a text
/// may consist of nothing else.
#[derive(Default)]
struct Pairs {
    length: usize,
    has_digit: bool,
    has_letter: bool,
}

impl Pairs {
    fn add(&mut self, word: &str) {
        self.length += word.len();
        self.has_digit |= word.contains(|c: char| c.is_ascii_digit());
        self.has_letter |= word.contains(|c: char| c.is_ascii_alphabetic());
    }

    fn are_suspicious(&self) -> bool {
        self.length >= FRAGMENT && self.has_digit && self.has_letter
    }
}

impl Pieces {
    fn add(&mut self, word: &str, line: usize, found: &mut Suspicion) {
        if word.len() == DIGITS {
            self.end(found);
            found.whole(word, line);
            return;
        }
        if word.len() >= SHORTEST_PIECE
            || MONTHS.iter().any(|month| month.eq_ignore_ascii_case(word))
        {
            self.pairs = Pairs::default();
        }
        if word.len() < SHORTEST_PIECE && self.groups.is_empty() {
            self.pairs.add(word);
            if self.pairs.are_suspicious() {
                found.suspect(line);
            }
            return;
        }
        self.groups.push((word.len(), line));
        self.text.push_str(word);
        if self.text.len() == DIGITS {
            self.end(found);
        }
    }

    /// The groups have ended.
    fn end(&mut self, found: &mut Suspicion) {
        let Self { text, groups, .. } = std::mem::take(self);
        let Some((_, line)) = groups.first().copied() else {
            return;
        };
        if text.len() == DIGITS {
            found.whole(&text, line);
            return;
        }
        let mut at = 0;
        for (length, line) in &groups {
            let word = &text[at..at + length];
            at += length;
            found.hex(hex_run(word), *line);
        }
        if groups.len() > 1 && text.len() >= PIECES && is_mixed_hex(&text) {
            found.suspect(line);
            if text.len() > UUID {
                found.shape = found.shape.max(Some(Shape::Fragment));
            }
        }
    }
}

/// Hex digits with letters and digits in a row in a text as it is written.
pub fn digits_in_a_row(text: &str) -> usize {
    hex_run(text)
}

/// Of the IDs that systems give, SHA-1 has the most hex digits in a row.
const LONGEST_ID: usize = 40;

/// What to look at in an ID with many hex digits in a row, unless a known one has as many.
pub fn odd_digits<'k>(id: &str, mut known: impl Iterator<Item = &'k str>) -> Option<String> {
    let digits = digits_in_a_row(id);
    let is_odd = digits >= FRAGMENT && !known.any(|one| digits_in_a_row(one) == digits);
    is_odd.then(|| {
        format!("the ID has {digits} hex digits in a row: make sure that it is not part of a token")
    })
}

/// Whether an ID has more hex digits in a row than those that systems give.
pub fn is_nearly_token(id: &str) -> bool {
    digits_in_a_row(id) > LONGEST_ID
}

/// Whether a text has more hex digits in a row than an ID, and fewer than a whole token, which its fingerprint tells from
/// a hash.
pub fn has_cut_token(text: &str) -> bool {
    runs(text).any(|run| run.len() > LONGEST_ID && run.len() < DIGITS)
}

pub(super) fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_mixed_hex(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// The length of the longest run of hex digits with letters and digits. Digits alone are a number, unless they are many.
fn hex_run(word: &str) -> usize {
    runs(word).map(str::len).max().unwrap_or(0)
}

fn runs(word: &str) -> impl Iterator<Item = &str> {
    let runs = word.split(|c: char| !c.is_ascii_hexdigit());
    runs.filter(|run| is_mixed_hex(run) || run.len() > 2 * FRAGMENT)
}

/// Letters and digits alternate as in no word and no date.
fn is_mixed(word: &str) -> bool {
    let (mut length, mut changes, mut cases) = (0, 0, 0);
    let mut before: Option<char> = None;
    for c in word.chars() {
        length += 1;
        if let Some(before) = before.filter(char::is_ascii_alphanumeric)
            && c.is_ascii_alphanumeric()
        {
            changes += usize::from(before.is_ascii_digit() != c.is_ascii_digit());
            cases += usize::from(before.is_ascii_uppercase() != c.is_ascii_uppercase());
        }
        before = Some(c);
    }
    length >= MIXED && changes >= CHANGES || length >= MIXED_LETTERS && cases >= LETTER_CHANGES
}

/// Whether there is a signed token (JWT): three parts in base64url, of which the first is a JSON object.
fn signed(text: &str) -> bool {
    let mut parts = text.match_indices("eyJ").map(|(at, _)| &text[at..]);
    parts.any(|rest| {
        let is_of_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let length = rest.chars().take(LONGEST).take_while(|c| is_of_part(*c));
        let mut parts = rest[..length.count()].split('.').map(str::len);
        parts.next().is_some_and(|head| head >= 10) && parts.next().is_some_and(|body| body >= 8)
    })
}
