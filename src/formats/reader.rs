//! Reads rows from a stream of bytes and detects the format. Only a few bytes are kept per row.

use sha2::{Digest, Sha256};

use super::{
    Columns, GroupRow, MAX_ROW_BYTES, csv,
    ids::Ids,
    json::{self, row},
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
    Csv(csv::RecordSplitter, Option<csv::Header>),
    Array(json::ElementSplitter),
    Lines(Vec<u8>),
    /// One object that spans several lines.
    Object(Vec<u8>),
}

/// Reads one file after another. An id may occur only once in all of them.
#[derive(Debug)]
pub struct Reader {
    mode: Mode,
    line: usize,
    /// The line where the current row begins.
    begin: usize,
    rows: usize,
    ids: Ids,
    digest: Sha256,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            mode: Mode::Open(Vec::new()),
            line: 1,
            begin: 1,
            rows: 0,
            ids: Ids::default(),
            digest: Sha256::new(),
        }
    }
}

impl Reader {
    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// Fails if the file as a whole is invalid; nothing more can be read from it.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(RowResult)) -> Result<(), String> {
        if let Mode::Open(start) = &mut self.mode {
            start.extend_from_slice(bytes);
            return self.detect_format(false, out);
        }
        for byte in bytes {
            self.byte(*byte, out)?;
        }
        Ok(())
    }

    /// Marks the end of the file. Another file may follow.
    ///
    /// # Errors
    ///
    /// As for [`Reader::push`].
    pub fn end(&mut self, out: &mut impl FnMut(RowResult)) -> Result<(), String> {
        self.detect_format(true, out)?;
        let mode = std::mem::replace(&mut self.mode, Mode::Open(Vec::new()));
        match mode {
            Mode::Open(_) => {}
            Mode::Csv(mut cutter, header) => match (cutter.end(), header) {
                (Some(record), Some(header)) => self.emit(header.row(record), out),
                (Some(record), None) => drop(csv::Header::parse(record)?),
                (None, _) => {}
            },
            Mode::Array(cutter) => cutter.end()?,
            Mode::Lines(line) | Mode::Object(line) => self.json(line, out),
        }
        (self.line, self.begin) = (1, 1);
        Ok(())
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

    fn detect_format(
        &mut self,
        is_all: bool,
        out: &mut impl FnMut(RowResult),
    ) -> Result<(), String> {
        let Mode::Open(start) = &mut self.mode else {
            return Ok(());
        };
        if !is_all && start.len() < 3 {
            return Ok(());
        }
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        let Some(at) = text.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            return if start.len() > MAX_ROW_BYTES {
                Err("the file begins with more than 8 MiB of nothing; is it another file?".into())
            } else {
                Ok(())
            };
        };
        let first_line = text[at..].split(|byte| *byte == b'\n').next();
        let is_whole = is_all || text[at..].contains(&b'\n') || text.len() > MAX_ROW_BYTES;
        let mode = match text[at] {
            b'[' => Mode::Array(json::ElementSplitter::default()),
            b'{' if !is_whole => return Ok(()),
            b'{' if first_line.is_some_and(|line| line.trim_ascii() == b"{") => {
                Mode::Object(Vec::new())
            }
            b'{' => Mode::Lines(Vec::new()),
            _ => Mode::Csv(csv::RecordSplitter::default(), None),
        };
        let text = text.to_vec();
        self.mode = mode;
        for byte in text {
            self.byte(byte, out)?;
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8, out: &mut impl FnMut(RowResult)) -> Result<(), String> {
        let (length, found) = match &mut self.mode {
            Mode::Open(_) => (0, None),
            Mode::Csv(cutter, header) => {
                if cutter.len() == 0 {
                    self.begin = self.line;
                }
                let record = cutter.push(byte);
                let row = match (record, &header) {
                    (Some(record), Some(header)) => Some(header.row(record)),
                    (Some(record), None) => {
                        *header = Some(csv::Header::parse(record)?);
                        None
                    }
                    (None, _) => None,
                };
                (cutter.len(), row)
            }
            Mode::Array(cutter) => {
                let was_inside = cutter.is_inside();
                let element = cutter.push(byte)?;
                if !was_inside && cutter.is_inside() {
                    self.begin = self.line;
                }
                (cutter.len(), element.map(row))
            }
            Mode::Lines(line) if byte == b'\n' => {
                let line = std::mem::take(line);
                self.begin = self.line;
                let is_blank = line.trim_ascii().is_empty();
                (0, (!is_blank).then(|| row(line)))
            }
            Mode::Lines(text) | Mode::Object(text) => {
                text.push(byte);
                (text.len(), None)
            }
        };
        if byte == b'\n' {
            self.line += 1;
        }
        if let Some(row) = found {
            self.emit(row, out);
        }
        if length > MAX_ROW_BYTES {
            return Err(format!(
                "the row at line {} is longer than 8 MiB; is it another file, or is a quote missing?",
                self.begin
            ));
        }
        Ok(())
    }

    fn json(&mut self, text: Vec<u8>, out: &mut impl FnMut(RowResult)) {
        if !text.trim_ascii().is_empty() {
            self.begin = self.line + 1 - text.split(|byte| *byte == b'\n').count();
            self.emit(row(text), out);
        }
    }

    fn emit(&mut self, row: Result<GroupRow, String>, out: &mut impl FnMut(RowResult)) {
        self.rows += 1;
        let number = self.rows;
        let mut twin = None;
        let row = row.and_then(|row| match self.ids.add(&row.id, number) {
            Ok(alike) => {
                twin = alike;
                Ok(row)
            }
            Err(before) => Err(format!(
                "the id \"{}\" stands in row {before} already",
                row.id
            )),
        });
        if let Ok(row) = &row {
            self.digest.update(json::text(row, &Columns::all()));
            self.digest.update(b"\n");
        }
        out(RowResult {
            number,
            line: self.begin,
            row,
            twin,
        });
    }
}
