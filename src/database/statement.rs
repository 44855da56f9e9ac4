//! SQL texts with bound values, and the resulting rows. Each text is written once, in the SQL that SQLite and
//! PostgreSQL share; parameters are `$1`, `$2`, … and must first appear in that order, because SQLite numbers them by
//! first appearance.

use std::borrow::Cow;

use super::{Fault, Value, ValueRef, value::column};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(super) text: Cow<'static, str>,
    pub(super) values: Vec<Value>,
    /// Whether somebody may want the answer.
    pub(super) is_asked: bool,
}

impl Statement {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
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

/// The values of a statement, converted to [`crate::database::Value`].
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::database::Value::from($value)),*]
    };
}
pub(crate) use values;

/// A row, valid while it is being read.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Kept(&'a [Value]),
}

impl Row<'_> {
    pub(crate) fn value(&self, index: usize) -> Result<ValueRef<'_>, Fault> {
        match self {
            Self::Sqlite(row) => column(row, index),
            Self::Kept(values) => values.get(index).map(Value::as_ref).ok_or(Fault::Column),
        }
    }

    /// Borrowed, so that a long list copies each text only once.
    pub(crate) fn text(&self, index: usize) -> Result<&str, Fault> {
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
