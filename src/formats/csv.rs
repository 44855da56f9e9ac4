//! Comma-separated values according to RFC 4180, parsed one byte at a time. An unquoted empty cell means that there is
//! no value; a quoted one is an empty text. The separator is that of the header ([`super::table`]).

use super::{Column, Columns, GroupRow, OF_TABLES, Parts, columns, drawn, no_such_columns};
use crate::{
    domain::{
        annotation::AnnotationChange,
        change::DesiredFields,
        group::UserGroupId,
        text::{counted, is_hidden, visible},
    },
    formats::strict_json,
    intake::{json_key::RESERVED, signs, text},
};

#[derive(Debug, Default)]
struct Cell {
    bytes: Vec<u8>,
    quoted: bool,
    /// A blank stood before its quote.
    after_blank: bool,
}

impl Cell {
    /// Its text; `None` if it says nothing.
    fn said(self) -> Option<String> {
        let is_said = self.quoted || !self.bytes.is_empty();
        String::from_utf8(self.bytes).ok().filter(|_| is_said)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CellState {
    /// Nothing of the cell was read yet.
    #[default]
    Start,
    /// Only blanks were read; a quote may follow.
    Blank,
    Plain,
    Quoted,
    /// After a quote inside a quoted cell: the end of the cell, or the first half of a doubled quote.
    Quote,
    /// Only blanks since the end of a quoted cell.
    Closed,
}

/// Splits bytes into records.
#[derive(Debug)]
pub(super) struct RecordSplitter {
    separator: u8,
    /// Blanks around cells without quotes are not part of them.
    pub(super) trims: bool,
    state: CellState,
    /// After a carriage return, which ends the record also without a line feed.
    after_cr: bool,
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

impl Record {
    /// Whether no cell has a value. A quoted empty text is one.
    pub(super) fn is_empty(&self) -> bool {
        let is_nothing = |cell: &Cell| cell.bytes.trim_ascii().is_empty() && !cell.quoted;
        self.error.is_none() && self.cells.iter().all(is_nothing)
    }

    /// Whether it is the header again, as where several tables were put one after the other. One of them may begin with a
    /// byte order mark.
    pub(super) fn repeats(&self, header: &[String]) -> bool {
        let is_named = |(cell, name): (&Cell, &String)| {
            std::str::from_utf8(&cell.bytes).is_ok_and(|text| text::trimmed(text) == name)
        };
        self.error.is_none()
            && self.cells.len() == header.len()
            && self.cells.iter().zip(header).all(is_named)
    }

    /// Whether it has one cell only.
    pub(super) fn is_alone(&self) -> bool {
        self.cells.len() == 1
    }

    /// Whether it is a line of dashes or of the number of rows, as in tables that are drawn.
    pub(super) fn is_drawn(&self) -> bool {
        let line = self.names().join("|");
        let is_quoted = self.cells.iter().any(|cell| cell.quoted);
        !is_quoted && (drawn::is_rule(&line) || drawn::is_count(&line))
    }

    /// Its cells without the blanks around them.
    pub(super) fn names(&self) -> Vec<String> {
        let text = |cell: &Cell| text::trimmed(&String::from_utf8_lossy(&cell.bytes)).to_owned();
        self.cells.iter().map(text).collect()
    }

    /// Whether a blank follows every separator.
    pub(super) fn is_spaced(&self) -> bool {
        let mut rest = self.cells.iter().skip(1).peekable();
        rest.peek().is_some()
            && rest
                .all(|cell| cell.after_blank || !cell.quoted && cell.bytes.first() == Some(&b' '))
    }
}

/// The cells of one line, without the blanks around those without quotes; `None` if it is no row of a table.
pub(super) fn cells(line: &str, separator: u8) -> Option<Vec<String>> {
    let mut splitter = RecordSplitter::new(separator);
    splitter.trims = true;
    for byte in line.bytes() {
        splitter.push(byte);
    }
    let record = splitter.end().filter(|record| record.error.is_none())?;
    let cells = record.cells.into_iter();
    cells
        .map(|cell| String::from_utf8(cell.bytes).ok())
        .collect()
}

impl RecordSplitter {
    pub(super) fn new(separator: u8) -> Self {
        Self {
            separator,
            trims: false,
            state: CellState::Start,
            after_cr: false,
            cells: Vec::new(),
            cell: Cell::default(),
            error: None,
            bytes: 0,
        }
    }

    /// The size of the current record so far, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, byte: u8) -> Option<Record> {
        if std::mem::take(&mut self.after_cr) && byte != b'\n' {
            let record = self.end_record();
            self.take(byte);
            return record;
        }
        self.take(byte)
    }

    fn take(&mut self, byte: u8) -> Option<Record> {
        self.bytes += 1;
        match (self.state, byte) {
            (CellState::Quoted, b'"') => self.state = CellState::Quote,
            (CellState::Quoted, _) => self.cell.bytes.push(byte),
            (CellState::Quote, b'"') => {
                self.cell.bytes.push(byte);
                self.state = CellState::Quoted;
            }
            (_, byte) if byte == self.separator => self.end_cell(),
            (_, b'\n') => return self.end_record(),
            (_, b'\r') => self.after_cr = true,
            (CellState::Quote | CellState::Closed, b' ') => self.state = CellState::Closed,
            (CellState::Quote | CellState::Closed, _) => {
                self.error = Some("there is text after a closing quote");
                // So that the next line starts a new row.
                self.state = CellState::Plain;
            }
            (CellState::Start | CellState::Blank, b'"') => {
                self.cell.after_blank = self.state == CellState::Blank;
                self.cell.bytes.clear();
                self.cell.quoted = true;
                self.state = CellState::Quoted;
            }
            (CellState::Plain, b'"') => {
                self.error = Some(
                    "a quote inside a cell without quotes; quote the cell and double the quotes in it",
                );
            }
            (CellState::Start | CellState::Blank, b' ') => {
                self.cell.bytes.push(byte);
                self.state = CellState::Blank;
            }
            (CellState::Start | CellState::Blank | CellState::Plain, _) => {
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
        self.after_cr = false;
        self.end_record()
    }

    fn end_cell(&mut self) {
        let mut cell = std::mem::take(&mut self.cell);
        if self.trims && !cell.quoted {
            cell.bytes = cell.bytes.trim_ascii().to_vec();
        }
        self.cells.push(cell);
        self.state = CellState::Start;
    }

    /// Returns `None` for an empty line.
    fn end_record(&mut self) -> Option<Record> {
        self.end_cell();
        self.bytes = 0;
        let cells = std::mem::take(&mut self.cells);
        let error = self.error.take();
        let is_empty = matches!(&cells[..], [only] if only.bytes.is_empty() && !only.quoted);
        (!is_empty || error.is_some()).then_some(Record { cells, error })
    }
}

/// What the cells of a column are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    Column(Column),
    /// One row of the mapping.
    Map(String),
    /// One key of the properties.
    Property(String),
    /// The column has no name: its cells must be empty.
    Unnamed,
    /// Only ids are wanted.
    Ignored,
}

impl Slot {
    /// `map:40` or `prop:tier`.
    fn part(name: &str) -> Option<Self> {
        let (kind, key) = name.split_once(':')?;
        let (kind, key) = (kind.trim().to_ascii_lowercase(), key.trim());
        let key = (!key.is_empty() && !key.starts_with(RESERVED)).then(|| key.to_owned())?;
        match &*kind {
            "map" => Some(Self::Map(key)),
            "prop" => Some(Self::Property(key)),
            _ => None,
        }
    }

    /// The column of which it is a part.
    fn whole(&self) -> Option<Column> {
        match self {
            Self::Map(_) => Some(Column::Mapping),
            Self::Property(_) => Some(Column::Properties),
            Self::Column(_) | Self::Unnamed | Self::Ignored => None,
        }
    }
}

/// Maps each cell to its column.
#[derive(Debug)]
pub(super) struct Header(Vec<Slot>);

impl Header {
    pub(super) fn parse(record: Record) -> Result<Self, String> {
        let example = format!(
            "the first line must contain the column names: {}",
            super::write::names(&Columns::default())
        );
        let mut columns: Vec<Slot> = Vec::new();
        let mut problems: Vec<String> = record.error.map(ToOwned::to_owned).into_iter().collect();
        let mut unknown = Vec::new();
        for cell in record.cells {
            let name = String::from_utf8_lossy(&cell.bytes);
            let name = name.trim();
            if name.is_empty() {
                columns.push(Slot::Unnamed);
                continue;
            }
            if let Some(sign) = name.chars().find(|c| is_hidden(*c)) {
                let sign =
                    signs::named(sign).unwrap_or_else(|| "an invisible character".to_owned());
                problems.push(format!("the column {}: {sign}", visible(name)));
            }
            let column = || Column::of_header(name).map(Slot::Column);
            match Slot::part(name).or_else(column) {
                Some(slot) if columns.contains(&slot) => {
                    problems.push(format!("the column {} appears twice", visible(name)));
                }
                Some(slot) => columns.push(slot),
                None => unknown.push(name.to_owned()),
            }
        }
        problems.extend(no_such_columns(&unknown, OF_TABLES));
        let mut wholes: Vec<Column> = columns.iter().filter_map(Slot::whole).collect();
        wholes.retain(|whole| columns.contains(&Slot::Column(*whole)));
        if let Some(whole) = wholes.first() {
            problems.push(format!(
                "the column {} and single parts of it cannot be combined; remove one of them",
                whole.as_str()
            ));
        }
        if !columns.contains(&Slot::Column(Column::Id)) {
            problems.push(example);
        }
        if problems.is_empty() {
            Ok(Self(columns))
        } else {
            Err(problems.join("; "))
        }
    }

    /// The number of columns without a name.
    pub(super) fn unnamed(&self) -> usize {
        self.0.iter().filter(|slot| **slot == Slot::Unnamed).count()
    }

    /// A header of which only the ids are wanted; `None` if it has none. `is_certain`: it is no group that is called "id".
    pub(super) fn of_ids(record: &Record, is_certain: bool) -> Option<Self> {
        let names = record.names();
        let only = |wanted: &str| {
            let mut at = (0..names.len()).filter(|at| names[*at].eq_ignore_ascii_case(wanted));
            at.next().filter(|_| at.next().is_none())
        };
        let id = || only("id").filter(|_| is_certain || names.len() > 1);
        let at = only(Column::Id.as_str()).or_else(id)?;
        let mut slots = vec![Slot::Ignored; names.len()];
        slots[at] = Slot::Column(Column::Id);
        Some(Self(slots))
    }

    /// The id of a record, as text.
    pub(super) fn id(&self, record: Record) -> Option<String> {
        let cells = self.0.iter().zip(record.cells);
        let mut ids = cells.filter(|(slot, _)| **slot != Slot::Ignored);
        let cell = ids.next()?.1;
        String::from_utf8(cell.bytes).ok()
    }

    pub(super) fn row(&self, record: Record) -> Result<GroupRow, String> {
        if let Some(error) = record.error {
            return Err(error.into());
        }
        let is_nothing = |cell: &Cell| cell.bytes.trim_ascii().is_empty();
        let mut more = record.cells.iter().skip(self.0.len());
        // Spreadsheets write empty cells behind the last column.
        if record.cells.len() < self.0.len() || !more.all(is_nothing) {
            return Err(format!(
                "{}, but the first line names {}; a cell with a separator in it needs quotes",
                counted(record.cells.len(), "cell"),
                counted(self.0.len(), "column")
            ));
        }
        let mut id = None;
        let mut fields = DesiredFields::default();
        let mut annotation = AnnotationChange::default();
        let mut parts = Parts::default();
        let mut errors = Vec::new();
        for (at, (slot, cell)) in self.0.iter().zip(record.cells).enumerate() {
            let part = match slot {
                Slot::Map(key) => Some((&mut parts.map, key)),
                Slot::Property(key) => Some((&mut parts.properties, key)),
                Slot::Column(_) | Slot::Unnamed | Slot::Ignored => None,
            };
            if let Some((pairs, key)) = part {
                if let Some(cell) = cell.said() {
                    pairs.push((key.clone(), cell));
                }
                continue;
            }
            let &Slot::Column(column) = slot else {
                if !is_nothing(&cell) {
                    errors.push(format!(
                        "cell {} has a value, but its column has no name",
                        at + 1
                    ));
                }
                continue;
            };
            let name = column.as_str();
            let Ok(text) = String::from_utf8(cell.bytes) else {
                errors.push(format!("{name} is not UTF-8 text; save the file as UTF-8"));
                continue;
            };
            let done = match column {
                Column::Id => UserGroupId::written(text)
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
                parts,
            }
            .checked(),
            _ => Err(errors.join("; ")),
        }
    }
}
