//! Comma-separated values according to RFC 4180, parsed one byte at a time. An unquoted empty cell means that there is
//! no value; a quoted one is an empty text.

use super::{Column, Columns, GroupRow, columns, no_such_column};
use crate::{
    domain::{annotation::AnnotationChange, change::DesiredFields, group::UserGroupId},
    formats::strict_json,
};

#[derive(Debug, Default)]
struct Cell {
    bytes: Vec<u8>,
    quoted: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CellState {
    /// Nothing of the cell was read yet.
    #[default]
    Start,
    Plain,
    Quoted,
    /// After a quote inside a quoted cell: the end of the cell, or the first half of a doubled quote.
    Quote,
}

/// Splits bytes into records.
#[derive(Debug, Default)]
pub(super) struct RecordSplitter {
    state: CellState,
    cells: Vec<Cell>,
    cell: Cell,
    error: Option<&'static str>,
    bytes: usize,
}

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    cells: Vec<Cell>,
    error: Option<&'static str>,
}

impl RecordSplitter {
    /// The size of the current record so far, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, byte: u8) -> Option<Record> {
        self.bytes += 1;
        match (self.state, byte) {
            (CellState::Quoted, b'"') => self.state = CellState::Quote,
            (CellState::Quoted, _) => self.cell.bytes.push(byte),
            (CellState::Quote, b'"') => {
                self.cell.bytes.push(byte);
                self.state = CellState::Quoted;
            }
            (_, b',') => self.end_cell(),
            (_, b'\n') => return self.end_record(),
            // The line ends with the next byte.
            (CellState::Quote, b'\r') => {}
            (CellState::Quote, _) => {
                self.error = Some("something stands behind a closing quote");
                // So that the next line starts a new row.
                self.state = CellState::Plain;
            }
            (CellState::Start, b'"') => {
                self.cell.quoted = true;
                self.state = CellState::Quoted;
            }
            (CellState::Plain, b'"') => {
                self.error = Some(
                    "a quote inside a cell without quotes; quote the cell and double the quotes in it",
                );
            }
            (CellState::Start | CellState::Plain, _) => {
                self.cell.bytes.push(byte);
                self.state = CellState::Plain;
            }
        }
        None
    }

    /// The last record, if the file does not end with a line break.
    pub(super) fn end(&mut self) -> Option<Record> {
        if self.state == CellState::Quoted {
            self.error = Some("a quoted cell is not closed");
        }
        self.end_record()
    }

    fn end_cell(&mut self) {
        self.cells.push(std::mem::take(&mut self.cell));
        self.state = CellState::Start;
    }

    /// Returns `None` for an empty line.
    fn end_record(&mut self) -> Option<Record> {
        if self.state == CellState::Plain && self.cell.bytes.last() == Some(&b'\r') {
            self.cell.bytes.pop();
        }
        self.end_cell();
        self.bytes = 0;
        let cells = std::mem::take(&mut self.cells);
        let error = self.error.take();
        let is_empty = matches!(&cells[..], [only] if only.bytes.is_empty() && !only.quoted);
        (!is_empty || error.is_some()).then_some(Record { cells, error })
    }
}

/// Maps each cell to its column.
#[derive(Debug)]
pub(super) struct Header(Vec<Column>);

impl Header {
    pub(super) fn parse(record: Record) -> Result<Self, String> {
        let example = format!(
            "the first line must name the columns: {}",
            super::write::names(&Columns::default())
        );
        let mut columns = Vec::new();
        let mut problems: Vec<String> = record.error.map(ToOwned::to_owned).into_iter().collect();
        for cell in record.cells {
            let name = String::from_utf8(cell.bytes)
                .map_err(|_| format!("the file is not UTF-8 text; save it as UTF-8; {example}"))?;
            if name.contains([';', '\t']) {
                problems.push("the columns are separated by commas here, and not otherwise".into());
                continue;
            }
            match Column::parse(name.trim()) {
                Some(column) if columns.contains(&column) => {
                    problems.push(format!("the column {} stands twice", column.as_str()));
                }
                Some(column) => columns.push(column),
                None => problems.push(no_such_column(name.trim())),
            }
        }
        if !columns.contains(&Column::Id) {
            problems.push(example);
        }
        if problems.is_empty() {
            Ok(Self(columns))
        } else {
            Err(problems.join("; "))
        }
    }

    pub(super) fn row(&self, record: Record) -> Result<GroupRow, String> {
        if let Some(error) = record.error {
            return Err(error.into());
        }
        if record.cells.len() != self.0.len() {
            return Err(format!(
                "{} cells, but the first line names {} columns; a cell with a comma needs quotes",
                record.cells.len(),
                self.0.len()
            ));
        }
        let mut id = None;
        let mut fields = DesiredFields::default();
        let mut annotation = AnnotationChange::default();
        let mut errors = Vec::new();
        for (column, cell) in self.0.iter().copied().zip(record.cells) {
            let name = column.as_str();
            let Ok(text) = String::from_utf8(cell.bytes) else {
                errors.push(format!("{name} is not UTF-8 text; save the file as UTF-8"));
                continue;
            };
            let done = match column {
                Column::Id => UserGroupId::parse(text)
                    .map(|parsed| id = Some(parsed))
                    .map_err(|error| error.to_string()),
                Column::Name => {
                    fields.name = (cell.quoted || !text.is_empty()).then_some(text);
                    Ok(())
                }
                Column::Note | Column::Labels | Column::Favourite => {
                    if cell.quoted || !text.is_empty() {
                        columns::cell(&mut annotation, column, &text)
                    } else {
                        Ok(())
                    }
                }
                _ if text.is_empty() => Ok(()),
                Column::Mapping => {
                    strict_json::mapping(&text).map(|mapping| fields.mapping = Some(mapping))
                }
                Column::Properties => strict_json::properties(&text)
                    .map(|properties| fields.properties = Some(properties)),
            };
            errors.extend(done.err().map(|why| format!("{name}: {why}")));
        }
        match id {
            Some(id) if errors.is_empty() => GroupRow {
                id,
                fields,
                annotation,
            }
            .checked(),
            _ => Err(errors.join("; ")),
        }
    }
}
