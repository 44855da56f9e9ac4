//! The columns of the list and their content.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{UNKNOWN, of, passed};
use crate::cli::output::form;
use crate::{
    domain::{age, annotation::Annotation, known::KnownGroup, text::visible},
    formats::chosen,
    search::column_words,
};

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

impl Columns {
    /// `id,prop:tier` selects these; `+prop:tier,+map:40` adds to the default ones; an empty text is the default ones.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let usual = NAMED[..USUAL].iter().map(|(column, ..)| column.clone());
        let shown = chosen(
            column_words(text),
            Vec::new(),
            usual.collect(),
            Column::parse,
        )?;
        let is_chosen = !text.is_empty();
        Ok(Self { shown, is_chosen })
    }

    /// The words that select columns; for keys and rows, the prefix.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> {
        let named = NAMED.iter().map(|(_, word, _)| *word);
        named.chain(["prop:", "map:"])
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
            let names = NAMED.map(|(_, name, _)| name).join(", ");
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
            named => {
                let mut all = NAMED.iter();
                let found = all.find(|(column, ..)| column == named);
                found.map_or("", |(.., title)| title).to_owned()
            }
        }
    }

    /// The word that selects the column.
    fn word(&self) -> String {
        match self {
            Self::Property(key) => format!("prop:{key}"),
            Self::MapRow(schema) => format!("map:{schema}"),
            named => {
                let mut all = NAMED.iter();
                let found = all.find(|(column, ..)| column == named);
                found.map_or("", |(_, word, _)| word).to_owned()
            }
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
            Self::Token => json!(
                group
                    .fingerprint
                    .as_ref()
                    .map(|known| known.value.to_string())
            ),
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
