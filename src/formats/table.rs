//! How a table is written: its separator, and what stands before its header. A table is read by what its header shows;
//! every difference from plain CSV is reported.

use super::{
    Column,
    csv::{Header, Record, RecordSplitter},
    drawn,
};
use crate::domain::text::counted;

const SEPARATORS: [(u8, &str); 4] = [
    (b',', "comma"),
    (b';', "semicolon"),
    (b'\t', "tab"),
    (b'|', "vertical bar"),
];

/// A table that is read byte by byte.
#[derive(Debug, Default)]
pub(super) struct Table {
    state: State,
    remarks: Remarks,
    /// The names in the header.
    names: Vec<String>,
    /// Only the ids are wanted, whatever other columns there are; and whether a line "id" is surely a header.
    of_ids: Option<bool>,
    /// It is drawn for reading, as Markdown and psql do.
    is_drawn: bool,
}

#[derive(Debug)]
enum State {
    /// The lines up to the header.
    Head(Head),
    Body(RecordSplitter, Header),
}

impl Default for State {
    fn default() -> Self {
        Self::Head(Head::default())
    }
}

#[derive(Debug, Default)]
struct Head {
    line: Vec<u8>,
    is_quoted: bool,
    /// Named by a line such as `sep=;`.
    separator: Option<u8>,
}

/// What was read differently from plain CSV, or skipped.
#[derive(Debug, Default)]
struct Remarks {
    separator: Option<&'static str>,
    comments: usize,
    empty_columns: usize,
    empty_rows: usize,
    headers: usize,
    /// Lines of dashes and of the number of rows, in a table that is drawn with vertical bars.
    drawn: usize,
}

impl Table {
    /// A table of which only the ids are wanted. One without a column of ids is an error. `is_certain`: no group is called
    /// "id".
    pub(super) fn of_ids(is_certain: bool) -> Self {
        Self {
            of_ids: Some(is_certain),
            ..Self::default()
        }
    }

    /// The size of the current record so far, in bytes.
    pub(super) fn len(&self) -> usize {
        match &self.state {
            State::Head(head) => head.line.len(),
            State::Body(splitter, _) => splitter.len(),
        }
    }

    /// Takes a byte; returns a record of the body that it ends.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<Record>, String> {
        let head = match &mut self.state {
            State::Body(splitter, _) => {
                let record = splitter.push(byte);
                return Ok(self.with_content(record));
            }
            State::Head(head) => head,
        };
        if matches!(byte, b'\n' | b'\r') && !head.is_quoted {
            self.head_line()?;
        } else {
            let is_comment = head.line.first() == Some(&b'#');
            head.is_quoted ^= byte == b'"' && !is_comment;
            head.line.push(byte);
        }
        Ok(None)
    }

    /// The last record, if the file does not end with a line break.
    pub(super) fn end(&mut self) -> Result<Option<Record>, String> {
        self.head_line()?;
        let State::Body(splitter, _) = &mut self.state else {
            return Ok(None);
        };
        let record = splitter.end();
        Ok(self.with_content(record))
    }

    pub(super) fn header(&self) -> Option<&Header> {
        match &self.state {
            State::Body(_, header) => Some(header),
            State::Head(_) => None,
        }
    }

    /// What was read differently from plain CSV, or skipped; in words.
    pub(super) fn remarks(&self) -> Option<String> {
        let Remarks {
            separator,
            comments,
            empty_columns,
            empty_rows,
            headers,
            drawn,
        } = self.remarks;
        let mut parts: Vec<String> = separator
            .map(|name| format!("the cells are separated by a {name}"))
            .into_iter()
            .collect();
        let skipped = [
            (comments, "comment line"),
            (empty_columns, "empty column"),
            (empty_rows, "empty row"),
            (headers, "repeated header"),
            (drawn, "drawn line"),
        ];
        let skipped: Vec<_> = skipped
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| counted(*count, what))
            .collect();
        if !skipped.is_empty() {
            parts.push(format!("{} skipped", skipped.join(" and ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Skips a record whose cells are all empty, unless the table has one column only; and what would be a group: the header of
    /// a second table, and lines of dashes.
    fn with_content(&mut self, record: Option<Record>) -> Option<Record> {
        let record = record?;
        let is_empty = record.is_empty();
        let is_header = record.repeats(&self.names);
        let is_drawn = self.is_drawn && !is_empty && record.is_drawn();
        self.remarks.empty_rows += usize::from(is_empty);
        self.remarks.headers += usize::from(is_header);
        self.remarks.drawn += usize::from(is_drawn);
        (!is_empty && !is_header && !is_drawn).then_some(record)
    }

    /// Takes a line before the body.
    fn head_line(&mut self) -> Result<(), String> {
        let State::Head(head) = &mut self.state else {
            return Ok(());
        };
        head.is_quoted = false;
        let line = std::mem::take(&mut head.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_matches([' ', '\r', '\n']);
        if text
            .trim_matches([' ', '"', ',', ';', '\t', '|'])
            .is_empty()
        {
            return Ok(());
        }
        if let Some(separator) = named_separator(text) {
            head.separator = Some(separator);
            return Ok(());
        }
        if text.contains(['|', '+']) && drawn::is_rule(text) {
            self.remarks.drawn += 1;
            return Ok(());
        }
        if text.trim_start_matches('"').starts_with('#') {
            self.remarks.comments += 1;
            return Ok(());
        }
        if let Some(why) = drawn::why_unreadable(text) {
            return Err(why.to_owned());
        }
        let usual = separator_of(text);
        let separator = head.separator.unwrap_or(usual);
        if has_id(text, usual) && !has_id(text, separator) {
            let name = |separator: u8| SEPARATORS.iter().find(|(sign, _)| *sign == separator);
            let [named, used] = [separator, usual]
                .map(|sign| name(sign).map_or("another character", |(_, name)| name));
            return Err(format!(
                "the line sep= names a {named}, but the header has the {used} between its columns; remove that line"
            ));
        }
        let mut splitter = RecordSplitter::new(separator);
        for byte in &line {
            splitter.push(*byte);
        }
        let Some(record) = splitter.end() else {
            return Ok(());
        };
        // A column alone begins with a blank.
        let is_alone = record.is_alone() && line.first() == Some(&b' ');
        self.is_drawn = separator == b'|' || is_alone;
        splitter.trims =
            is_alone || record.is_spaced() || separator == b'|' && drawn::cells(text).is_some();
        self.names = record.names();
        let header = if let Some(is_certain) = self.of_ids {
            Header::of_ids(&record, is_certain).ok_or_else(String::new)?
        } else {
            Header::parse(record)?
        };
        // Bars around the table are no columns.
        let around = [text.starts_with('|'), text.ends_with('|')];
        let around = around
            .into_iter()
            .filter(|is| *is && separator == b'|')
            .count();
        self.remarks.empty_columns = header.unnamed().saturating_sub(around);
        let named = SEPARATORS
            .iter()
            .skip(1)
            .find(|(byte, _)| *byte == separator);
        self.remarks.separator = named.map(|(_, name)| *name);
        self.state = State::Body(splitter, header);
        Ok(())
    }
}

/// `sep=;`, which spreadsheets write and read.
pub(super) fn named_separator(line: &str) -> Option<u8> {
    let line = line.trim_matches('"');
    let (name, value) = line.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case("sep=") {
        return None;
    }
    match value.as_bytes() {
        [separator] => Some(*separator),
        // A tab at the end of the line may be lost.
        b"\\t" | [] => Some(b'\t'),
        _ => None,
    }
}

/// The separator under which the header has an id; else the one that occurs most often outside quotes.
fn separator_of(line: &str) -> u8 {
    let candidates = SEPARATORS.iter().map(|(separator, _)| *separator);
    let best = candidates.rev().max_by_key(|separator| {
        let count = cells(line, *separator).count();
        (has_id(line, *separator) && count > 1, count)
    });
    best.unwrap_or(b',')
}

fn cells(line: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |c: char| {
        is_quoted ^= c == '"';
        !is_quoted && c == char::from(separator)
    })
}

/// Whether a header has a column of IDs under this separator.
fn has_id(line: &str, separator: u8) -> bool {
    let is_id = |cell: &str| Column::of_header(cell.trim_matches([' ', '"'])) == Some(Column::Id);
    cells(line, separator).any(is_id)
}
