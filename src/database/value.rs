//! A value as bound to a statement and read from a column, the same for every database.

use rusqlite::{
    ToSql,
    types::{ToSqlOutput, ValueRef as Column},
};

use super::Fault;

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
    static WRITER: i64 = {
        let mut number = [0; 8];
        // Without randomness, its own writes may look like those of another writer.
        let _ = getrandom::fill(&mut number);
        i64::from_le_bytes(number)
    };
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

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

/// A position in a list.
impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&[u8; 32]> for Value {
    fn from(bytes: &[u8; 32]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Conversion from the value of a column.
pub(crate) trait FromValue: Sized {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault>;
}

impl FromValue for i64 {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        value.integer().ok_or(Fault::Column)
    }
}

impl FromValue for i32 {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        i64::from_value(value)?
            .try_into()
            .map_err(|_| Fault::Column)
    }
}

impl FromValue for u32 {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        i64::from_value(value)?
            .try_into()
            .map_err(|_| Fault::Column)
    }
}

/// SQLite has no boolean type: 0 is false.
impl FromValue for bool {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        match value {
            ValueRef::Bool(value) => Ok(value),
            ValueRef::Integer(number) => Ok(number != 0),
            _ => Err(Fault::Column),
        }
    }
}

impl FromValue for String {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        value.text().map(str::to_owned).ok_or(Fault::Column)
    }
}

impl FromValue for [u8; 32] {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        let bytes = value.bytes().ok_or(Fault::Column)?;
        bytes.try_into().map_err(|_| Fault::Column)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
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
pub(super) fn column<'a>(row: &'a rusqlite::Row<'_>, index: usize) -> Result<ValueRef<'a>, Fault> {
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
