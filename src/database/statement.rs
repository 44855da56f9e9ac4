//! Texts with the values bound to them, and the rows that come back. Texts are written once, in the part of SQL that
//! SQLite and PostgreSQL share; parameters are `$1`, `$2`, … and first appear in that order, because SQLite numbers them so.

use std::borrow::Cow;

use super::{
    Fault, Value, ValueRef,
    value::{FromValue, column},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(super) text: Cow<'static, str>,
    pub(super) values: Vec<Value>,
    /// On a server the row is held until the end of the transaction: what is decided upon it stays true. SQLite has one writer.
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

    /// As a server is to do it, by this writer.
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

/// The values of a statement, each as what it is.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::database::Value::from($value)),*]
    };
}
pub(crate) use values;

/// Statements that are done one after another, and on a line to a server sent together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Statements(pub(super) Vec<Statement>);

impl Statements {
    pub(crate) fn add(&mut self, text: impl Into<Cow<'static, str>>, values: Vec<Value>) {
        self.0.push(Statement::new(text, values));
    }

    /// Reads a row that is then decided upon.
    pub(crate) fn lock(&mut self, text: &'static str, values: Vec<Value>) {
        let mut statement = Statement::new(text, values);
        statement.locks = true;
        self.0.push(statement);
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

/// One row while it is looked at.
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

    /// Borrowed, so that a long list copies each text once.
    pub(crate) fn text(&self, index: usize) -> Result<&str, Fault> {
        self.value(index)?.text().ok_or(Fault::Column)
    }
}

/// What one statement brought.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(super) rows: Vec<Vec<Value>>,
    /// How many rows it wrote.
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

    /// Those that can be read.
    pub(crate) fn readable<T, E>(&self, read: impl Fn(&Row<'_>) -> Result<T, E>) -> Vec<T> {
        let rows = self.rows.iter();
        rows.filter_map(|row| read(&Row::Kept(row)).ok()).collect()
    }
}

/// What some statements brought, in their order.
#[derive(Debug)]
pub(crate) struct Found(pub(super) std::vec::IntoIter<Rows>);

impl Found {
    /// What the next statement brought.
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
