//! Strings of characters in which a token may stand in one piece: all lines joined, the first, last and longest words of
//! the lines, the columns of a table.

use zeroize::Zeroizing;

use super::{clean::CUT, decode::BREAK};

/// Columns of a table that are looked at.
const COLUMNS: usize = 12;

/// Characters without blanks. It remembers where something was left out.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) text: Zeroizing<String>,
    /// Where something was left out: a token may begin or end there, or go on. In bytes, ascending.
    pub(super) cuts: Vec<usize>,
    /// From which byte on, which line.
    lines: Vec<(usize, usize)>,
}

impl Stream {
    fn with_room(bytes: usize) -> Self {
        Self {
            // A string that grows leaves copies of itself in memory.
            text: Zeroizing::new(String::with_capacity(bytes)),
            ..Self::default()
        }
    }

    /// One text, which stands in this line.
    pub(super) fn of(text: &str, line: usize) -> Self {
        let mut stream = Self::with_room(text.len());
        stream.add(text, line);
        stream
    }

    fn cut(&mut self) {
        let at = self.text.len();
        if self.cuts.last() != Some(&at) {
            self.cuts.push(at);
        }
    }

    /// Adds a part of a line, without its blanks and marks.
    fn add(&mut self, part: &str, line: usize) {
        if self.lines.last().is_none_or(|(_, last)| *last != line) {
            self.lines.push((self.text.len(), line));
        }
        self.cut();
        for c in part.chars() {
            if c == CUT || c.is_whitespace() {
                self.cut();
            } else {
                self.text.push(c);
            }
        }
        self.cut();
    }

    /// The line of a byte.
    pub(super) fn line(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|(from, _)| *from <= at);
        self.lines
            .get(after.saturating_sub(1))
            .map_or(1, |(_, line)| *line)
    }
}

/// The lines of a cleaned text with their numbers. An escaped line break begins a line with the same number.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let numbered = text.split('\n').zip(1..);
    numbered.flat_map(|(line, number)| line.split(BREAK).map(move |line| (line, number)))
}

/// All lines, joined.
pub(super) fn joined(text: &str, trims: bool) -> Stream {
    let mut stream = Stream::with_room(text.len());
    for (line, number) in lines(text) {
        stream.add(if trims { trimmed(line) } else { line }, number);
    }
    stream
}

/// A text as another program means it: without the second of doubled quotes, as in cells of CSV and in strings of SQL, YAML
/// and a shell; and without the signs that make, PowerShell, cmd and formats put before others.
pub(super) fn undoubled(text: &str) -> impl Iterator<Item = Zeroizing<String>> {
    let quotes = replaced(text, quote);
    quotes.into_iter().chain(replaced(text, escaped))
}

/// `None` if nothing is replaced. `of` tells what begins a text, and its length.
fn replaced(text: &str, of: fn(&str) -> Option<(usize, char)>) -> Option<Zeroizing<String>> {
    let mut out = Zeroizing::new(String::with_capacity(text.len()));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (length, meant) = of(rest).unwrap_or((c.len_utf8(), c));
        out.push(meant);
        rest = &rest[length..];
    }
    (out.len() < text.len()).then_some(out)
}

fn quote(text: &str) -> Option<(usize, char)> {
    const DOUBLED: [(&str, char); 4] =
        [("'\\''", '\''), ("'''", '\''), ("''", '\''), ("\"\"", '"')];
    let doubled = DOUBLED.iter().find(|(all, _)| text.starts_with(all));
    doubled.map(|(all, one)| (all.len(), *one))
}

/// `$$`, `%%`, and the sign behind `` ` `` or `^`.
fn escaped(text: &str) -> Option<(usize, char)> {
    match *text.as_bytes() {
        [b'^', b'^', b'!', ..] => Some((3, '!')),
        [first, meant, ..] if first == meant && b"$%".contains(&meant) => Some((2, meant.into())),
        [b'`', meant, ..] if meant.is_ascii_punctuation() => Some((2, meant.into())),
        [b'^', meant, ..] if b"^!&|<>()%\"".contains(&meant) => Some((2, meant.into())),
        _ => None,
    }
}

/// Whether a word of this length or longer has letters of both cases and digits in turns, as base64 has.
pub(super) fn alternates(word: &str, shortest: usize) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let is_change =
        |two: &&[u8]| class(two[0]) * class(two[1]) > 0 && class(two[0]) != class(two[1]);
    let changes = || word.as_bytes().windows(2).filter(is_change).count();
    word.len() >= shortest && changes() * 3 >= word.len()
}

/// Words beside one of base64.
const BESIDE: usize = 3;
/// In characters: the shortest word between two `+`.
const SHORTEST_WORD: usize = 4;

/// What looks like base64, with what stands beside it and `+` for the blanks between: a form decodes `+` to a blank.
pub(super) fn with_plus(text: &str) -> Stream {
    let mut stream = Stream::with_room(text.len());
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "+/".contains(c);
    for (line, number) in lines(text) {
        let words: Vec<&str> = line.split(' ').collect();
        let is_encoded = |word: &&str| {
            let mut runs = word.split(|c| !is_of_word(c));
            runs.any(|run| alternates(run, SHORTEST_WORD))
        };
        let mut from = 0;
        while let Some(first) = words[from..].iter().position(is_encoded) {
            let first = from + first;
            // Up to the first word with none like it beside it.
            let mut last = first;
            while let Some(next) = words[last + 1..].iter().take(BESIDE).rposition(is_encoded) {
                last += next + 1;
            }
            let range = first.saturating_sub(BESIDE).max(from)..words.len().min(last + 1 + BESIDE);
            from = last + 1;
            if range.len() > 1 {
                let joined = Zeroizing::new(words[range].join("+"));
                stream.add(&joined, number);
            }
        }
    }
    stream
}

/// All lines joined, without the signs that tokens rarely have.
pub(super) fn without_signs(text: &str) -> Stream {
    let mut stream = Stream::with_room(text.len());
    let mut kept = Zeroizing::new(String::with_capacity(text.len()));
    for (line, number) in lines(text) {
        kept.clear();
        let is_sign = |c: char| !c.is_ascii_alphanumeric() && !"-_./+=~".contains(c);
        kept.extend(
            trimmed(line)
                .chars()
                .map(|c| if is_sign(c) { CUT } else { c }),
        );
        stream.add(&kept, number);
    }
    stream
}

/// A part of each line, joined: the first word, the last, the longest, all behind the first or behind the sign of a
/// difference, all up to the sign of a line that goes on. What stands beside it in the lines is in between.
pub(super) fn words_of_lines(text: &str) -> [Stream; 5] {
    let mut streams = [0; 5].map(|_| Stream::with_room(text.len()));
    let is_between = |c: char| c.is_whitespace() || "\"'`,;()[]{}<>|:".contains(c) || !c.is_ascii();
    for (line, number) in lines(text) {
        let words = || line.split(is_between).filter(|word| has_word(word));
        let longest = words().max_by_key(|word| word.len());
        let behind_word = || line.trim_start().split_once(' ').map(|(_, rest)| rest);
        let behind = line.strip_prefix(['+', '-']).or_else(behind_word);
        let up_to = trimmed(line).trim_end_matches(['-', '+', '$']);
        let parts = [
            words().next(),
            words().next_back(),
            longest,
            behind,
            Some(up_to),
        ];
        for (stream, word) in streams.iter_mut().zip(parts) {
            if let Some(word) = word {
                stream.add(word, number);
            }
        }
    }
    streams
}

/// The columns of a table: cells between bars, tabs or several blanks.
pub(super) fn columns(text: &str) -> Vec<Stream> {
    let mut columns: Vec<Stream> = Vec::new();
    for (line, number) in lines(text) {
        let bars = line.matches(is_bar).count();
        let cells: Vec<&str> = if bars > 0 {
            line.split(is_bar).collect()
        } else {
            line.split("  ").filter(|cell| has_word(cell)).collect()
        };
        for (at, cell) in cells.into_iter().take(COLUMNS).enumerate() {
            if columns.len() <= at {
                columns.push(Stream::with_room(text.len()));
            }
            if has_word(cell) {
                columns[at].add(cell, number);
            }
        }
    }
    if columns.len() < 2 {
        columns.clear();
    }
    columns
}

fn has_word(text: &str) -> bool {
    text.contains(|c: char| c.is_alphanumeric())
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '¦' | '\u{2500}'..='\u{257f}')
}

/// Without marks of quoted mail, comments, borders and continued lines.
fn trimmed(line: &str) -> &str {
    let is_edge = |c: char| c.is_whitespace() || c == CUT || c == '>' || c == '#' || is_bar(c);
    let mut rest = line;
    loop {
        let mut shorter = rest.trim_start_matches(is_edge);
        for mark in ["// ", "* ", "- ", "+ ", "; ", "-- "] {
            shorter = shorter.strip_prefix(mark).unwrap_or(shorter);
        }
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    let is_end = |c: char| {
        c.is_whitespace()
            || c == CUT
            || c == '\\'
            || is_bar(c)
            || !(c.is_ascii() || c.is_alphanumeric())
    };
    rest.trim_end_matches(is_end)
}
