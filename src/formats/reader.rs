//! Reads rows from a stream of bytes and detects the format. Only a few bytes are kept per row.

use std::{borrow::Cow, path::Path};

use sha2::{Digest, Sha256};

use super::{
    Columns, GroupRow, MAX_ROW_BYTES,
    ids::Ids,
    json::{self, row},
    table::Table,
};
use crate::{
    domain::{group::UserGroupId, pasted::FRAGMENT, text::visible},
    intake::{decoder::Decoder, fault::Fault, text::LineCount},
};

/// One row, or what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowResult {
    /// Counted from 1. The CSV header does not count.
    pub number: usize,
    /// The line of the file in which the row begins, counted from 1.
    pub line: usize,
    pub row: Result<GroupRow, String>,
    /// An earlier row whose id is different but looks the same.
    pub twin: Option<usize>,
}

#[derive(Debug)]
enum Mode {
    /// The bytes so far do not determine the format.
    Open(Vec<u8>),
    Table(Box<Table>),
    Array(json::ElementSplitter),
    Lines(Vec<u8>),
    /// Objects that span several lines.
    Objects(json::ObjectSplitter),
}

impl Default for Mode {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

/// Reads one file after another. An id may occur only once in all of them.
#[derive(Debug, Default)]
pub struct Reader {
    decoder: Decoder,
    mode: Mode,
    /// Of this file; with the line where the current row begins.
    lines: LineCount,
    /// This file is JSON by its name.
    is_json: bool,
    rows: usize,
    ids: Ids,
    /// The names of the files so far, each with the number of rows before it.
    files: Vec<(usize, String)>,
    digest: Sha256,
}

impl Reader {
    /// Names the file that follows, for messages about ids that are in two files.
    pub fn begin_file(&mut self, name: &str) {
        self.files.push((self.rows, name.to_owned()));
    }

    /// Reads this file as JSON, whatever it begins with: as a table, a comment on top would be its columns.
    pub fn expect_json(&mut self) {
        self.is_json = true;
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// Fails if the file as a whole is invalid; nothing more can be read from it.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(RowResult)) -> Result<(), String> {
        let mut text = Vec::with_capacity(bytes.len());
        let decoded = self.decoder.push(bytes, &mut text);
        decoded.map_err(|fault| fault.to_string())?;
        self.take(&text, out)
    }

    /// Marks the end of the file. Another file may follow. Returns what was read differently from a plain file, in words.
    ///
    /// # Errors
    ///
    /// As for [`Reader::push`]; also if the file is empty or is not in a known encoding.
    pub fn end(&mut self, out: &mut impl FnMut(RowResult)) -> Result<Option<String>, String> {
        let mut text = Vec::new();
        let decoded = self.decoder.end(&mut text);
        if let Err(fault @ (Fault::Kind(_) | Fault::UnmarkedUtf16 | Fault::Utf32)) = &decoded {
            return Err(fault.to_string());
        }
        self.take(&text, out)?;
        decoded.map_err(|fault| fault.to_string())?;
        self.detect_format(true, out)?;
        let mode = std::mem::take(&mut self.mode);
        let mut remarks = None;
        match mode {
            Mode::Open(_) => {}
            Mode::Table(mut table) => {
                let record = table.end()?;
                if let (Some(record), Some(header)) = (record, table.header()) {
                    self.emit(header.row(record), out);
                }
                remarks = table.remarks();
            }
            Mode::Array(cutter) => cutter.end()?,
            Mode::Lines(line) => {
                self.lines.begin = self.lines.line;
                self.lines(line, out);
            }
            Mode::Objects(mut cutter) => {
                if let Some(object) = cutter.end() {
                    self.emit(row(object), out);
                }
            }
        }
        (self.lines, self.is_json) = (LineCount::default(), false);
        Ok(remarks)
    }

    /// The number of rows, valid and invalid.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A digest of the content of the valid rows. Another file with the same rows in the same order has the same
    /// digest.
    pub fn digest(&self) -> [u8; 32] {
        self.digest.clone().finalize().into()
    }

    /// All ids of the valid rows.
    pub fn into_ids(self) -> Ids {
        self.ids
    }

    fn take(&mut self, text: &[u8], out: &mut impl FnMut(RowResult)) -> Result<(), String> {
        if let Mode::Open(start) = &mut self.mode {
            start.extend_from_slice(text);
            return self.detect_format(false, out);
        }
        for byte in text {
            self.byte(*byte, out)?;
        }
        Ok(())
    }

    fn detect_format(
        &mut self,
        is_all: bool,
        out: &mut impl FnMut(RowResult),
    ) -> Result<(), String> {
        let Mode::Open(start) = &mut self.mode else {
            return Ok(());
        };
        let Some(at) = start.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            return if start.len() > MAX_ROW_BYTES {
                Err(
                    "the file begins with more than 8 MiB without content; is it the right file?"
                        .into(),
                )
            } else {
                Ok(())
            };
        };
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let first_line = start[at..].split(is_end).next().unwrap_or_default();
        let is_whole = is_all || start[at..].iter().any(is_end) || start.len() > MAX_ROW_BYTES;
        let mode = match start[at] {
            b'[' => Mode::Array(json::ElementSplitter::default()),
            b'{' if !is_whole => return Ok(()),
            b'{' if json::is_open(first_line) => Mode::Objects(json::ObjectSplitter::default()),
            b'{' => Mode::Lines(Vec::new()),
            _ if self.is_json => return Err(not_json(&start[..at])),
            _ => Mode::Table(Box::default()),
        };
        let text = std::mem::take(start);
        self.mode = mode;
        for byte in text {
            self.byte(byte, out)?;
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8, out: &mut impl FnMut(RowResult)) -> Result<(), String> {
        let (line, mut ended, mut starts) = (self.lines.line, None, false);
        let (length, found) = match &mut self.mode {
            Mode::Open(_) => (0, None),
            Mode::Table(table) => {
                let record = table.push(byte)?;
                let row = record.zip(table.header());
                let row = row.map(|(record, header)| header.row(record));
                starts = table.len() == 1;
                (table.len(), row)
            }
            Mode::Array(cutter) => {
                let was_inside = cutter.len() > 0;
                let element = cutter.push(byte)?;
                starts = !was_inside && cutter.len() > 0;
                (cutter.len(), element.map(row))
            }
            Mode::Lines(text) if matches!(byte, b'\n' | b'\r') => {
                ended = Some(std::mem::take(text));
                self.lines.begin = line;
                (0, None)
            }
            Mode::Lines(text) => {
                text.push(byte);
                (text.len(), None)
            }
            Mode::Objects(cutter) => {
                let was_inside = cutter.len() > 0;
                let object = cutter.push(byte);
                starts = !was_inside && cutter.len() > 0;
                (cutter.len(), object.map(row))
            }
        };
        self.lines.take(byte);
        if let Some(row) = found {
            self.emit(row, out);
        }
        // The byte may also have shown that the record before it is at its end.
        if starts {
            self.lines.begin = line;
        }
        if let Some(line) = ended {
            self.lines(line, out);
        }
        if length > MAX_ROW_BYTES {
            return Err(format!(
                "the row at line {} is longer than 8 MiB; is it the right file, or is a quote missing?",
                self.lines.begin
            ));
        }
        Ok(())
    }

    /// The objects of one line.
    fn lines(&mut self, line: Vec<u8>, out: &mut impl FnMut(RowResult)) {
        if line.trim_ascii().is_empty() {
            return;
        }
        for object in json::objects(line) {
            self.emit(row(object), out);
        }
    }

    /// An earlier row, in words.
    fn place(&self, row: usize, line: usize) -> String {
        match &self.files[..] {
            [_, _, ..] => {
                let file = self.files.iter().rfind(|(before, _)| *before < row);
                let name = file.map_or("", |(_, name)| name);
                format!("{name}, row {row}, line {line}")
            }
            _ => format!("row {row}"),
        }
    }

    fn emit(&mut self, row: Result<GroupRow, String>, out: &mut impl FnMut(RowResult)) {
        self.rows += 1;
        let (number, begin) = (self.rows, self.lines.begin);
        let mut twin = None;
        let row = row.and_then(|row| match self.ids.add(&row.id, number, begin) {
            Ok(alike) => {
                twin = alike;
                Ok(row)
            }
            Err((before, line)) => Err(format!(
                "the ID \"{}\" is already in {}",
                shown_id(&row.id),
                self.place(before, line)
            )),
        });
        if let Ok(row) = &row {
            self.digest.update(json::text(row, &Columns::all()));
            if !row.parts.is_empty() {
                self.digest.update(format!("{:?}", row.parts));
            }
            self.digest.update(b"\n");
        }
        let (line, row) = located(begin, row);
        out(RowResult {
            number,
            line,
            row,
            twin,
        });
    }
}

/// The ID, unless it is long enough to be a token: no directory is open yet that could tell whether it is one.
pub fn shown_id(id: &UserGroupId) -> Cow<'_, str> {
    if id.as_str().chars().nth(FRAGMENT - 1).is_some() {
        "…".into()
    } else {
        visible(id.as_str())
    }
}

/// Whether a file is JSON by its name.
pub fn is_json(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default();
    let mut endings = ["json", "jsonl", "ndjson"].into_iter();
    endings.any(|json| ending.eq_ignore_ascii_case(json))
}

/// Refuses a text that is JSON by its name and begins with something else.
///
/// # Errors
///
/// The line where it begins, and what is wrong.
pub fn begins_as_json(text: &str) -> Result<(), String> {
    let (text, rest) = (text.as_bytes(), text.trim_ascii_start());
    // As jq writes IDs.
    let is_list = || {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
        values.all(|one| one.is_ok_and(|one| one.is_string() || one.is_number()))
    };
    if rest.is_empty() || rest.starts_with(['{', '[']) || is_list() {
        return Ok(());
    }
    Err(not_json(&text[..text.len() - rest.len()]))
}

/// What is wrong with JSON that begins with something else behind these blanks.
fn not_json(before: &[u8]) -> String {
    let mut lines = LineCount::default();
    for byte in before {
        lines.take(*byte);
    }
    let line = lines.line;
    format!("line {line}: not JSON: it must begin with {{ or [, without a comment before it")
}

/// A row that spans several lines says in which of them its JSON breaks: that is the line of the file.
fn located(begin: usize, row: Result<GroupRow, String>) -> (usize, Result<GroupRow, String>) {
    let within = row.as_ref().err().and_then(|why| {
        let (line, why) = why.strip_prefix("line ")?.split_once(", column ")?;
        Some((line.parse::<usize>().ok()?, format!("column {why}")))
    });
    match within {
        Some((line, why)) => (begin + line.saturating_sub(1), Err(why)),
        None => (begin, row),
    }
}
