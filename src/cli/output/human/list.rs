//! The list: its columns and their content, one line per group, in the available width. Callers pass the groups twice, in
//! chunks: first to be measured, then to be written, so that a long list is never held in memory as a whole.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
use serde_json::{Map, json};

use super::{GAP, Tone, UNKNOWN, done, of, paragraphs, passed, table, terminal_width};
use crate::{
    cli::{output::form, prelude::*},
    domain::{
        age::{self, is_older},
        annotation::Annotation,
        text::{cut_middle, width},
    },
    formats::chosen,
    search::{FINGERPRINT, column_words},
};

const SHORTEST_NAME: usize = 16;

/// Groups, one per line. Ids are printed whole, names are cut in the middle, and columns that do not fit are dropped
/// from the right. If not even two columns fit, the second goes on a line below the first.
pub(crate) struct List {
    now: Timestamp,
    max_age: Option<Duration>,
    terminal: Option<usize>,
    columns: Vec<Column>,
    /// The column that is cut if there is too little room.
    cut: Option<usize>,
    /// The width of the widest text of each column, in cells.
    widest: Vec<usize>,
    has_header: bool,
}

impl List {
    /// A wide list takes all the room it needs.
    pub(crate) fn new(
        columns: Columns,
        is_wide: bool,
        now: Timestamp,
        max_age: Option<Duration>,
    ) -> Self {
        let columns = columns.shown;
        let place = |column: Column| columns.iter().position(|known| *known == column);
        let widest = columns
            .iter()
            .map(|column| width(&column.title()))
            .collect();
        Self {
            now,
            max_age,
            terminal: terminal_width().filter(|_| !is_wide),
            cut: place(Column::Name).or_else(|| place(Column::Note)),
            widest,
            columns,
            has_header: false,
        }
    }

    /// Sets the time that ages are relative to.
    pub(crate) fn at(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Widens the columns for groups that will be written.
    pub(crate) fn measure(&mut self, groups: &[Listed]) {
        for listed in groups {
            for at in 0..self.columns.len() {
                let cells = width(&self.cell(at, listed));
                self.widest[at] = self.widest[at].max(cells);
            }
        }
    }

    fn cell(&self, at: usize, (group, beside): &Listed) -> String {
        self.columns[at].cell(group, beside.as_ref(), (self.now, self.max_age))
    }

    /// The number of columns that fit, and the width of the column that is cut; `None` if not even two fit.
    fn fitting(&self) -> Option<(usize, usize)> {
        let all = self.columns.len();
        let Some(terminal) = self.terminal else {
            return Some((all, usize::MAX));
        };
        let cut = |columns: usize| self.cut.filter(|at| *at < columns);
        let beside = |columns: usize| {
            let others = (0..columns).filter(|at| cut(columns) != Some(*at));
            let cells: usize = others.map(|at| self.widest[at] + GAP).sum();
            let gap = if cut(columns).is_some() { 0 } else { GAP };
            cells.saturating_sub(gap)
        };
        let least = |columns: usize| cut(columns).map_or(0, |_| SHORTEST_NAME);
        let mut columns = all;
        while columns > 2 && beside(columns) + least(columns) > terminal {
            columns -= 1;
        }
        let room = terminal.saturating_sub(beside(columns));
        let is_enough = columns != 2 || beside(columns) + least(columns) <= terminal;
        is_enough.then_some((columns, room.max(SHORTEST_NAME)))
    }

    /// The lines of these groups. The first call also writes the header.
    pub(crate) fn lines(&mut self, groups: &[Listed]) -> String {
        let Some((columns, room)) = self.fitting() else {
            let rows = groups
                .iter()
                .map(|listed| [self.cell(0, listed), self.cell(1, listed)]);
            return paragraphs(
                &rows.collect::<Vec<_>>(),
                self.terminal.unwrap_or(usize::MAX),
            );
        };
        let mut widths = self.widest[..columns].to_vec();
        let cut = self.cut.filter(|at| *at < columns);
        if let Some(at) = cut {
            widths[at] = widths[at].min(room);
        }
        let is_first = !std::mem::replace(&mut self.has_header, true);
        let titles: Vec<String> = self.columns[..columns].iter().map(Column::title).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let mut table = table(if is_first { &titles } else { &[] });
        table.set_content_arrangement(ContentArrangement::Disabled);
        for listed in groups {
            table.add_row((0..columns).map(|at| {
                let mut cell = self.cell(at, listed);
                if cut == Some(at) {
                    cell = cut_middle(&cell, widths[at], "...");
                }
                let limit = self.max_age.filter(|_| self.columns[at] == Column::Age);
                let is_old = limit.is_some_and(|limit| is_older(&listed.0, limit, self.now));
                let tone = if is_old { Tone::Warning } else { Tone::Plain };
                tone.cell(&cell)
            }));
        }
        for (at, width) in widths.into_iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                let width = Width::Fixed(u16::try_from(width + GAP).unwrap_or(u16::MAX));
                column.set_constraint(ColumnConstraint::Absolute(width));
                if matches!(self.columns[at], Column::Map | Column::Props) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        done(&table)
    }
}

/// A column of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Column {
    Name,
    Id,
    Tag,
    Map,
    Props,
    Token,
    Age,
    Read,
    Due,
    By,
    Labels,
    Note,
    Favourite,
    /// The value of this key of the properties.
    Property(String),
    /// The data source of this row of the mapping.
    MapRow(String),
}

/// The columns that have a fixed name, with the words that select them and their headers.
const NAMED: [(Column, &str, &str); 13] = [
    (Column::Name, "name", "NAME"),
    (Column::Id, "id", "ID"),
    (Column::Tag, "tag", "TAG"),
    (Column::Map, "map", "MAP"),
    (Column::Props, "props", "PROPS"),
    (Column::Token, "token", "FINGERPRINT"),
    (Column::Age, "age", "AGE"),
    (Column::Read, "read", "READ"),
    (Column::Due, "due", "DUE"),
    (Column::By, "by", "BY"),
    (Column::Labels, "labels", "LABELS"),
    (Column::Note, "note", "NOTE"),
    (Column::Favourite, "favourite", "FAVOURITE"),
];

/// The words that select them, as they are offered. `token` is read as well, and stays the key in JSON.
fn offered() -> impl Iterator<Item = &'static str> {
    let words = NAMED.iter();
    words.map(|(column, word, _)| match column {
        Column::Token => FINGERPRINT,
        _ => word,
    })
}

/// How many of them are shown by default.
const USUAL: usize = 8;

/// A group, and its annotation if that is wanted.
pub(crate) type Listed = (KnownGroup, Option<Annotation>);

/// The columns that are shown, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(super) shown: Vec<Column>,
    /// The person chose the columns.
    is_chosen: bool,
}

impl Default for Columns {
    fn default() -> Self {
        let usual = NAMED[..USUAL].iter().map(|(column, ..)| column.clone());
        Self {
            shown: usual.collect(),
            is_chosen: false,
        }
    }
}

impl Columns {
    /// `id,prop:tier` selects these; `+prop:tier,+map:40` adds to the default ones.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let usual = Self::default().shown;
        Ok(Self {
            shown: chosen(column_words(text), Vec::new(), usual, Column::parse)?,
            is_chosen: true,
        })
    }

    /// The words that select columns; for keys and rows, the prefix.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> {
        offered().chain(["prop:", "map:"])
    }

    /// The words that select the shown columns.
    pub(crate) fn chosen_words(&self) -> Vec<String> {
        self.shown.iter().map(Column::word).collect()
    }

    pub(crate) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    pub(crate) fn shows(&self, column: &Column) -> bool {
        self.shown.contains(column)
    }

    /// The chosen columns or the default ones; for a wide table, all of them.
    #[must_use]
    pub(crate) fn or_usual(self, is_wide: bool) -> Self {
        if !is_wide || self.is_chosen {
            return self;
        }
        let all = NAMED.iter().map(|(column, ..)| column.clone());
        let shown = all.collect();
        Self { shown, ..self }
    }

    /// The values for a program, keyed by column word.
    pub(crate) fn values(&self, listed: &Listed, max_age: Option<Duration>) -> Map<String, Value> {
        let value = |column: &Column| (column.word(), column.value(listed, max_age));
        self.shown.iter().map(value).collect()
    }

    /// Whether a shown column needs the annotations.
    pub(crate) fn has_annotations(&self) -> bool {
        let beside = [Column::Labels, Column::Note, Column::Favourite];
        self.shown.iter().any(|column| beside.contains(column))
    }
}

impl Column {
    fn parse(text: &str) -> Result<Self, String> {
        let below = |name: &str| {
            let key = text.strip_prefix(name)?.strip_prefix([':', '.'])?;
            (!key.is_empty()).then(|| key.to_owned())
        };
        if let Some(key) = below("prop") {
            return Ok(Self::Property(key));
        }
        if let Some(schema) = below("map") {
            return Ok(Self::MapRow(schema));
        }
        let mut named = NAMED.into_iter();
        let found =
            named.find(|(_, name, title)| *name == text || title.eq_ignore_ascii_case(text));
        found.map(|(column, ..)| column).ok_or_else(|| {
            let names = offered().collect::<Vec<_>>().join(", ");
            format!(
                "unknown column \"{}\"; expected {names}, prop:KEY or map:SCHEMA",
                visible(text)
            )
        })
    }

    pub(crate) fn title(&self) -> String {
        match self {
            Self::Property(key) => visible(key).into_owned(),
            Self::MapRow(schema) => format!("map:{}", visible(schema)),
            // A wide table has the time.
            Self::Age if form::is_wide() => "ROTATED".into(),
            named => named.named().1.to_owned(),
        }
    }

    /// The word and the header of a column that has a fixed name.
    fn named(&self) -> (&'static str, &'static str) {
        let found = NAMED.iter().find(|(column, ..)| column == self);
        found.map_or(("", ""), |(_, word, title)| (word, title))
    }

    /// The word that selects the column.
    fn word(&self) -> String {
        match self {
            Self::Property(key) => format!("prop:{key}"),
            Self::MapRow(schema) => format!("map:{schema}"),
            // Such a table may be read back, where `token` would be a token.
            Self::Token if form::chosen() == Some(form::Form::Csv) => FINGERPRINT.into(),
            named => named.named().0.to_owned(),
        }
    }

    /// The value for a program: null if not known, and times as times.
    fn value(&self, (group, beside): &Listed, max_age: Option<Duration>) -> Value {
        let beside = beside.as_ref();
        let last = group.last_rotated.as_ref();
        let time = |at: Timestamp| at.to_string();
        match self {
            Self::Name => json!(group.name.as_ref().map(|known| &known.value)),
            Self::Id => json!(group.id.as_str()),
            Self::Tag => json!(group.environment_tag.as_ref().map(|tag| tag.value.as_str())),
            Self::Map => json!(group.mapping.as_ref().map(|known| known.value.len())),
            Self::Props => json!(group.properties.as_ref().map(|known| known.value.len())),
            Self::Token => {
                let known = group.fingerprint.as_ref();
                json!(known.map(|known| known.value.to_string()))
            }
            Self::Age => json!(last.map(|last| time(last.at))),
            Self::Read => json!(group.last_seen.map(time)),
            Self::Due => {
                let due = age::since_when(group)
                    .zip(max_age)
                    .and_then(|(at, age)| at.checked_add(age).ok());
                json!(due.map(time))
            }
            Self::By => json!(last.and_then(|last| last.by.as_ref())),
            Self::Labels => json!(beside.map(Annotation::labels_text)),
            Self::Note => json!(beside.and_then(|beside| beside.note.as_ref())),
            Self::Favourite => json!(beside.is_some_and(|beside| beside.is_favourite)),
            Self::Property(key) => {
                let known = group.properties.as_ref();
                known.and_then(|known| known.value.get(key)).cloned().into()
            }
            Self::MapRow(schema) => {
                let known = group.mapping.as_ref();
                json!(known.and_then(|known| known.value.get(schema)))
            }
        }
    }

    /// The text for people.
    pub(crate) fn cell(
        &self,
        group: &KnownGroup,
        beside: Option<&Annotation>,
        (now, max_age): (Timestamp, Option<Duration>),
    ) -> String {
        match self {
            Self::Name => of(group.name.as_ref(), |name| visible(name).into_owned()),
            Self::Id => group.id.to_string(),
            Self::Tag => of(group.environment_tag.as_ref(), ToString::to_string),
            Self::Map => of(group.mapping.as_ref(), |mapping| mapping.len().to_string()),
            Self::Props => of(group.properties.as_ref(), |known| known.len().to_string()),
            Self::Token => of(group.fingerprint.as_ref(), ToString::to_string),
            Self::Age if form::is_wide() => {
                let last = group.last_rotated.as_ref();
                last.map_or(UNKNOWN.into(), |last| passed(last.at, now))
            }
            Self::Age => in_days(age::age(group, now)),
            Self::Read if form::is_wide() => {
                let read = group.last_seen;
                read.map_or(UNKNOWN.into(), |at| passed(at, now))
            }
            Self::Read => in_days(group.last_seen.and_then(|at| age::of(at, now))),
            Self::Due => match (age::age(group, now), max_age) {
                (Some(age), Some(limit)) if age > limit => {
                    format!("{} overdue", age::days(age.saturating_sub(limit)))
                }
                (Some(age), Some(limit)) => format!("in {}", age::days(limit.saturating_sub(age))),
                _ => UNKNOWN.into(),
            },
            Self::By => {
                let last = group.last_rotated.as_ref();
                let by = last.and_then(|last| last.by.as_ref());
                by.map_or_else(|| UNKNOWN.into(), |by| visible(by).into_owned())
            }
            Self::Labels => beside.map_or_else(String::new, Annotation::labels_text),
            Self::Note => {
                let note = beside.and_then(|beside| beside.note.as_deref());
                visible(note.unwrap_or_default()).into_owned()
            }
            Self::Favourite => {
                let is_favourite = beside.is_some_and(|beside| beside.is_favourite);
                if is_favourite { "yes" } else { "" }.into()
            }
            Self::Property(key) => of(group.properties.as_ref(), |known| match known.get(key) {
                None => String::new(),
                Some(Value::String(text)) => visible(text).into_owned(),
                Some(other) => visible(&other.to_string()).into_owned(),
            }),
            Self::MapRow(schema) => of(group.mapping.as_ref(), |mapping| {
                let source = mapping.get(schema).map_or("", String::as_str);
                visible(source).into_owned()
            }),
        }
    }
}

fn in_days(age: Option<Duration>) -> String {
    age.map_or_else(|| UNKNOWN.into(), age::days)
}
