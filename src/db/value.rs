//! Statements and rows with their values, the same for every database, and why a statement failed. Each text is written
//! once, in the SQL that SQLite and PostgreSQL share; parameters are `$1`, `$2`, … in any order.

use std::{borrow::Cow, sync::Arc, time::Duration};

use rusqlite::{
    ToSql,
    types::{ToSqlOutput, ValueRef as Column},
};

use super::postgres::ServerFault;

/// The SQL of a statement.
pub(super) type Text = Cow<'static, str>;

/// A value bound to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// The number of the process that has the database open; distinguishes its writes from those of others.
    Writer,
}

thread_local! {
    static WRITER: i64 = new_writer();
}

pub(super) fn new_writer() -> i64 {
    let mut number = [0; 8];
    // Without randomness, its own writes may look like those of another writer.
    let _ = getrandom::fill(&mut number);
    i64::from_le_bytes(number)
}

/// A borrowed value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueRef<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> ValueRef<'a> {
    pub(crate) fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl Value {
    pub(super) fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null | Self::Writer => ValueRef::Null,
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text),
            Self::Bytes(bytes) => ValueRef::Bytes(bytes),
        }
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Bool(value) => Self::Bool(value),
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Text(text) => Self::Text(text.to_owned()),
            ValueRef::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
        }
    }
}

macro_rules! bound {
    ($($of:ty: |$it:ident| $to:expr;)*) => {$(
        impl From<$of> for Value {
            fn from($it: $of) -> Self {
                $to
            }
        }
    )*};
}

bound! {
    bool: |it| Self::Bool(it);
    i64: |it| Self::Integer(it);
    i32: |it| Self::Integer(it.into());
    // In microseconds.
    Duration: |it| Self::Integer(i64::try_from(it.as_micros()).unwrap_or(i64::MAX));
    // A position in a list.
    usize: |it| Self::Integer(i64::try_from(it).unwrap_or(i64::MAX));
    &str: |it| Self::Text(it.to_owned());
    &String: |it| Self::Text(it.clone());
    String: |it| Self::Text(it);
    &[u8; 32]: |it| Self::Bytes(it.to_vec());
    Vec<u8>: |it| Self::Bytes(it);
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Conversion from the value of a column.
pub(crate) trait FromValue: Sized {
    fn from_value(value: ValueRef<'_>) -> Result<Self>;
}

macro_rules! read {
    ($($of:ty: |$value:ident| $read:expr;)*) => {$(
        impl FromValue for $of {
            fn from_value($value: ValueRef<'_>) -> Result<Self> {
                $read.ok_or(Fault::Column)
            }
        }
    )*};
}

read! {
    i64: |value| value.integer();
    i32: |value| value.integer().and_then(|number| number.try_into().ok());
    u32: |value| value.integer().and_then(|number| number.try_into().ok());
    usize: |value| value.integer().and_then(|number| number.try_into().ok());
    Duration: |value| value.integer().map(|micros| Duration::from_micros(micros.unsigned_abs()));
    // SQLite has no boolean type: 0 is false.
    bool: |value| match value {
        ValueRef::Bool(value) => Some(value),
        value => value.integer().map(|number| number != 0),
    };
    String: |value| value.text().map(str::to_owned);
    [u8; 32]: |value| value.bytes().and_then(|bytes| bytes.try_into().ok());
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => Column::Null,
            Self::Bool(value) => Column::Integer((*value).into()),
            Self::Integer(number) => Column::Integer(*number),
            Self::Text(text) => Column::Text(text.as_bytes()),
            Self::Bytes(bytes) => Column::Blob(bytes),
            // One thread executes all work of an open directory.
            Self::Writer => Column::Integer(WRITER.with(|number| *number)),
        }))
    }
}

/// Converts SQLite's value of a column.
pub(super) fn column<'a>(row: &'a rusqlite::Row<'_>, index: usize) -> Result<ValueRef<'a>> {
    Ok(match row.get_ref(index)? {
        Column::Null => ValueRef::Null,
        Column::Integer(number) => ValueRef::Integer(number),
        // Invalid UTF-8 in one field is reported by its reader, and hides no other field.
        Column::Text(text) => str::from_utf8(text).map_or(ValueRef::Bytes(text), ValueRef::Text),
        Column::Blob(bytes) => ValueRef::Bytes(bytes),
        // None of our columns uses REAL.
        Column::Real(_) => return Err(Fault::Column),
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(super) text: Text,
    pub(super) values: Vec<Value>,
    /// Whether somebody may want the answer.
    pub(super) is_asked: bool,
}

impl Statement {
    pub(crate) fn new(text: impl Into<Text>, values: Vec<Value>) -> Self {
        Self {
            text: text.into(),
            values,
            is_asked: false,
        }
    }

    /// Adapts the statement for a server and this writer.
    pub(super) fn for_server(mut self, writer: i64) -> Self {
        for value in &mut self.values {
            if *value == Value::Writer {
                *value = Value::Integer(writer);
            }
        }
        self
    }
}

/// The values of a statement, converted to [`crate::db::Value`].
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::db::Value::from($value)),*]
    };
}
pub(crate) use values;

/// A row, valid while it is being read.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Kept(&'a [Value]),
}

impl Row<'_> {
    pub(crate) fn value(&self, index: usize) -> Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => column(row, index),
            Self::Kept(values) => values.get(index).map(Value::as_ref).ok_or(Fault::Column),
        }
    }

    /// Borrowed, so that a long list copies each text only once.
    pub(crate) fn text(&self, index: usize) -> Result<&str> {
        self.value(index)?.text().ok_or(Fault::Column)
    }
}

/// The result of one statement.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(super) rows: Vec<Vec<Value>>,
    /// Number of rows written.
    pub(crate) changed: usize,
}

/// What a statement comes to.
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// Why a statement failed. The calling room decides what that means.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Sqlite(Arc<rusqlite::Error>),
    Server(ServerFault),
    /// A column contains another type than the schema says.
    Column,
    /// A row of this table cannot be decoded.
    Row(&'static str),
}

impl Fault {
    /// Names the table of a row that cannot be decoded.
    pub(crate) fn in_table(self, table: &'static str) -> Self {
        match self {
            Self::Column => Self::Row(table),
            fault => fault,
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

impl From<ServerFault> for Fault {
    fn from(fault: ServerFault) -> Self {
        Self::Server(fault)
    }
}
