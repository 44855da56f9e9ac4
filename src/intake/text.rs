//! Whole texts: from bytes, a file or standard input, and their lines.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::{decoder::Decoder, fault::Fault};

/// Decodes a text; an empty one is a fault.
pub fn decoded(bytes: &[u8]) -> Result<String, Fault> {
    let mut decoder = Decoder::default();
    let mut out = Vec::with_capacity(bytes.len());
    decoder.push(bytes, &mut out)?;
    decoder.end(&mut out)?;
    // The decoder writes UTF-8 only.
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// Decodes a text that may be empty.
pub fn maybe_empty(bytes: &[u8]) -> Result<String, Fault> {
    match decoded(bytes) {
        Err(Fault::Empty) => Ok(String::new()),
        decoded => decoded,
    }
}

/// Reads everything, up to this many bytes.
pub fn bytes(from: impl Read, limit: u64) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::Unreadable(error.to_string()))?;
    // If it were cut off, its end could be another text.
    if bytes.len() as u64 > limit {
        return Err(Fault::TooLarge(limit));
    }
    Ok(bytes)
}

/// What a file contains; `-` is standard input. It may block.
pub fn source(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        Ok(Box::new(io::stdin()))
    } else if path.is_dir() {
        Err(io::Error::other(
            "it is a folder; use a file in it (apply and diff read folders)",
        ))
    } else {
        Ok(Box::new(File::open(path)?))
    }
}

/// The text of a file, or of standard input for `-`. It may block.
pub fn of_source(path: &Path, limit: u64) -> Result<String, Fault> {
    let from = source(path).map_err(|error| Fault::Unreadable(error.to_string()))?;
    decoded(&bytes(from, limit)?)
}

/// The beginning of a file, enough to tell its kind; `None` if it cannot be read.
pub fn start(path: &Path) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    let file = File::open(path).ok()?;
    file.take(super::kind::LOOK as u64)
        .read_to_end(&mut start)
        .ok()?;
    Some(start)
}

/// How a file is named in a message.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The lines of a text, which ends them in any of the three ways: LF, CR LF, or CR alone. A line end at the end of the
/// text begins no further line.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(at) = text.find(['\n', '\r']) else {
            return Some(text);
        };
        let end = if text[at..].starts_with("\r\n") {
            at + 2
        } else {
            at + 1
        };
        rest = Some(&text[end..]).filter(|rest| !rest.is_empty());
        Some(&text[..at])
    })
}

/// Counts the lines of a text, which end as in [`lines`], byte by byte.
#[derive(Debug, Clone, Copy)]
pub struct LineCount {
    /// The line of the next byte, counted from 1.
    pub line: usize,
    /// Where something begins that may have several lines.
    pub begin: usize,
    after_cr: bool,
}

impl Default for LineCount {
    fn default() -> Self {
        Self {
            line: 1,
            begin: 1,
            after_cr: false,
        }
    }
}

impl LineCount {
    pub fn take(&mut self, byte: u8) {
        self.line += usize::from(byte == b'\r' || byte == b'\n' && !self.after_cr);
        self.after_cr = byte == b'\r';
    }
}

/// The text with LF for every line end that is CR alone.
pub fn with_line_ends(text: String) -> String {
    let is_alone = |(at, _): (usize, &str)| !text[at + 1..].starts_with('\n');
    if !text.match_indices('\r').any(is_alone) {
        return text;
    }
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A value without the byte order mark, blanks and line ends around it.
pub fn trimmed(value: &str) -> &str {
    let is_around = |c: char| c.is_whitespace() || c == '\u{feff}';
    value.trim_matches(is_around)
}

/// A value without the byte order mark and the line ends around it. Its blanks may be part of it.
pub fn without_line_ends(value: &str) -> &str {
    value.trim_matches(['\u{feff}', '\r', '\n'])
}

/// A pasted text without the byte order mark that spreadsheets and editors put on the clipboard.
pub fn unmarked(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// A variable of this process; `None` if it is not set or no text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
