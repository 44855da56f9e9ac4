//! SQL texts with bound values, and the resulting rows. Each text is written once, in the SQL that SQLite and
//! PostgreSQL share; parameters are `$1`, `$2`, … and must first appear in that order, because SQLite numbers them by
//! first appearance.

use std::borrow::Cow;

use super::{
    Fault, Value, ValueRef,
    value::{FromValue, column},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(super) text: Cow<'static, str>,
    pub(super) values: Vec<Value>,
    /// On a server the row is locked until the end of the transaction, so that what was decided from it stays true. SQLite
    /// has a single writer.
    locks: bool,
}

impl Statement {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        Self {
            text: text.into(),
            values,
            locks: false,
        }
    }

    /// Adapts the statement for a server and this writer.
    pub(super) fn for_server(mut self, writer: i64) -> Self {
        if self.locks {
            self.text = format!("{} FOR UPDATE", self.text).into();
        }
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

/// Statements that are executed in order, and sent together to a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Statements(pub(super) Vec<Statement>);

impl Statements {
    pub(crate) fn add(&mut self, text: impl Into<Cow<'static, str>>, values: Vec<Value>) {
        self.0.push(Statement::new(text, values));
    }

    /// Reads and locks a row that a decision depends on.
    pub(crate) fn lock(&mut self, text: &'static str, values: Vec<Value>) {
        let mut statement = Statement::new(text, values);
        statement.locks = true;
        self.0.push(statement);
    }

    pub(crate) fn append(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(super) fn for_server(self, writer: i64) -> Vec<Statement> {
        let all = self.0.into_iter();
        all.map(|statement| statement.for_server(writer)).collect()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(crate) fn texts(self) -> Vec<String> {
        let texts = self.0.into_iter().map(|statement| statement.text.into());
        texts.collect()
    }

    pub(crate) fn with(mut self, text: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        self.add(text, values);
        self
    }
}

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

    pub(crate) fn get<T: FromValue>(&self, index: usize) -> Result<T, Fault> {
        T::from_value(self.value(index)?)
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

#[cfg(test)]
impl Rows {
    pub(crate) fn of(rows: Vec<Vec<Value>>) -> Self {
        Self { rows, changed: 0 }
    }

    pub(crate) fn changed(changed: usize) -> Self {
        let rows = Vec::new();
        Self { rows, changed }
    }
}

impl Rows {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn first<T, E>(
        &self,
        read: impl FnOnce(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let first = self.rows.first();
        first.map(|row| read(&Row::Kept(row))).transpose()
    }

    pub(crate) fn all<T, E>(
        &self,
        mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        self.rows.iter().map(|row| read(&Row::Kept(row))).collect()
    }

    /// The rows that can be read; others are skipped.
    pub(crate) fn readable<T, E>(&self, read: impl Fn(&Row<'_>) -> Result<T, E>) -> Vec<T> {
        let rows = self.rows.iter();
        rows.filter_map(|row| read(&Row::Kept(row)).ok()).collect()
    }
}

/// The results of several statements, in order.
#[derive(Debug)]
pub(crate) struct Results(pub(super) std::vec::IntoIter<Rows>);

impl Results {
    /// The result of the next statement.
    pub(crate) fn next(&mut self) -> Rows {
        self.0.next().unwrap_or_default()
    }

    pub(crate) fn of(rows: Vec<Rows>) -> Self {
        Self(rows.into_iter())
    }

    pub(super) fn keep_last(&mut self, count: usize) {
        while self.0.len() > count {
            self.0.next();
        }
    }
}
