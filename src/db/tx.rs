//! An open transaction, on either database. What is asked is sent when an answer is awaited: a server gets all that was
//! asked and written until then in one round trip, and the rest together with the commit. Everything may be done again
//! from its start after a deadlock or a lost connection: nothing has any effect in between.

use std::cell::RefCell;

use rusqlite::{CachedStatement, Connection};

use super::{
    Cursor, Fault, Read, Row, Rows, Statement, Value,
    postgres::ServerTransaction,
    record::{self, NewRow},
    value::{Result, Text},
};

enum Engine<'c> {
    Sqlite(&'c Connection),
    Server(RefCell<ServerTransaction<'c>>),
}

pub(crate) struct Tx<'c>(Engine<'c>);

/// An answer that can be awaited.
pub(crate) struct Asked<'t, 'c, T> {
    answer: Answer<'t, 'c, T>,
}

enum Answer<'t, 'c, T> {
    /// Read already, each row for itself: one that cannot be read hides no other.
    Here(Found<T>),
    /// The number of the statement in the transaction.
    Sent(&'t RefCell<ServerTransaction<'c>>, usize),
    /// Not read yet.
    Later(&'c Connection, Statement),
}

/// The rows of a statement, or how many it wrote.
struct Found<T> {
    rows: Vec<Result<T>>,
    changed: usize,
}

impl<'c> Tx<'c> {
    pub(crate) fn of(connection: &'c Connection) -> Self {
        Self(Engine::Sqlite(connection))
    }

    pub(super) fn of_server(transaction: ServerTransaction<'c>) -> Self {
        Self(Engine::Server(RefCell::new(transaction)))
    }

    /// The connection, for features that only SQLite has.
    pub(crate) fn sqlite(&self) -> Option<&'c Connection> {
        match &self.0 {
            Engine::Sqlite(connection) => Some(connection),
            Engine::Server(_) => None,
        }
    }

    /// The number of the connection to a server, once something was sent: it changes when the connection is reopened.
    pub(crate) fn connection_number(&self) -> u64 {
        match &self.0 {
            Engine::Sqlite(_) => 0,
            Engine::Server(transaction) => transaction.borrow().connection_number(),
        }
    }

    /// Asks, or writes and asks what changed; done in this order, on a server when an answer is awaited. `*` stands for
    /// the columns of the record that is read.
    pub(crate) fn ask<T: Read>(
        &self,
        text: impl Into<Text>,
        values: Vec<Value>,
    ) -> Result<Asked<'_, 'c, T>> {
        let statement = Statement::new(record::with_columns::<T>(text.into()), values);
        let answer = match &self.0 {
            Engine::Sqlite(connection) => Answer::Here(run(connection, &statement)?),
            Engine::Server(transaction) => sent(transaction, statement),
        };
        Ok(Asked { answer })
    }

    /// As [`Self::ask`], for a read whose answer is not always needed: SQLite, which has no round trips to save, reads it
    /// when it is awaited.
    pub(crate) fn ask_later<T: Read>(
        &self,
        text: &'static str,
        values: Vec<Value>,
    ) -> Asked<'_, 'c, T> {
        let statement = Statement::new(record::with_columns::<T>(text.into()), values);
        let answer = match &self.0 {
            Engine::Sqlite(connection) => Answer::Later(connection, statement),
            Engine::Server(transaction) => sent(transaction, statement),
        };
        Asked { answer }
    }

    /// As [`Self::ask`]; on a server with several writers the rows are locked, so that what is decided from them stays
    /// true until the end. SQLite has a single writer.
    pub(crate) fn lock<T: Read>(
        &self,
        text: &'static str,
        values: Vec<Value>,
    ) -> Result<Asked<'_, 'c, T>> {
        match &self.0 {
            Engine::Sqlite(_) => self.ask(text, values),
            Engine::Server(_) => self.ask(format!("{text} FOR UPDATE"), values),
        }
    }

    /// The row of a statement that returns at most one.
    pub(crate) fn one<T: Read>(
        &self,
        text: impl Into<Text>,
        values: Vec<Value>,
    ) -> Result<Option<T>> {
        self.ask(text, values)?.one()
    }

    pub(crate) fn all<T: Read>(&self, text: impl Into<Text>, values: Vec<Value>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(text, values, |one| {
            all.push(one);
            Ok::<_, Fault>(true)
        })?;
        Ok(all)
    }

    /// The rows that can be read; others are left out.
    pub(crate) fn readable<T: Read>(
        &self,
        text: impl Into<Text>,
        values: Vec<Value>,
    ) -> Result<Vec<T>> {
        self.ask(text, values)?.readable()
    }

    /// Passes on rows as they arrive; `take` returns whether it wants more.
    pub(crate) fn each<T: Read, E: From<Fault>>(
        &self,
        text: impl Into<Text>,
        values: Vec<Value>,
        mut take: impl FnMut(T) -> Result<bool, E>,
    ) -> Result<(), E> {
        let text = record::with_columns::<T>(text.into());
        self.each_row(text, values, |row| take(T::read(&mut Cursor::of(row))?))
    }

    /// As [`Self::each`], with the columns as they are.
    pub(crate) fn each_row<E: From<Fault>>(
        &self,
        text: impl Into<Text>,
        values: Vec<Value>,
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.stream(Statement::new(text, values), &mut take)
    }

    /// Not generic over the callbacks, so that it is compiled only once per error type.
    fn stream<E: From<Fault>>(
        &self,
        statement: Statement,
        take: &mut dyn FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let transaction = match &self.0 {
            Engine::Sqlite(connection) => return each(connection, &statement, take),
            Engine::Server(transaction) => transaction,
        };
        let mut refused = None;
        let streamed = transaction.borrow_mut().stream(statement, &mut |row| {
            let taken = take(&Row::Kept(&row));
            taken.unwrap_or_else(|error| {
                refused = Some(error);
                false
            })
        });
        streamed.map_err(Fault::from)?;
        refused.map_or(Ok(()), Err)
    }

    /// Writes, and returns the number of rows written.
    pub(crate) fn write(&self, text: impl Into<Text>, values: Vec<Value>) -> Result<usize> {
        self.ask::<()>(text, values)?.changed()
    }

    /// Writes what nobody asks the result of.
    pub(crate) fn put(&self, text: impl Into<Text>, values: Vec<Value>) -> Result<()> {
        let statement = Statement::new(text, values);
        match &self.0 {
            Engine::Sqlite(connection) => run::<()>(connection, &statement).map(drop),
            Engine::Server(transaction) => {
                transaction.borrow_mut().put(statement);
                Ok(())
            }
        }
    }

    /// Adds a row.
    pub(crate) fn insert(&self, table: &str, row: NewRow) -> Result<()> {
        let (text, values) = record::insert(table, row);
        self.put(text, values)
    }

    /// Adds a row, or replaces that with the same key: its first `key` columns.
    pub(crate) fn upsert(&self, table: &str, key: usize, row: NewRow) -> Result<()> {
        let (text, values) = record::upsert(table, key, row);
        self.put(text, values)
    }

    /// Adds a row that `is_new`, or changes the one whose key are the first `key` columns. On a server with several writers a
    /// new row fails if another one was faster; then the work starts again.
    pub(crate) fn keep(&self, table: &str, key: usize, row: NewRow, is_new: bool) -> Result<()> {
        if is_new {
            return self.insert(table, row);
        }
        let (text, values) = record::update(table, key, row);
        self.put(text, values)
    }

    /// Sends what was asked on a server and not sent yet.
    pub(crate) fn flush(&self) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(_) => Ok(()),
            Engine::Server(transaction) => Ok(transaction.borrow_mut().flush()?),
        }
    }

    /// Nothing is written from here on: on a server, what is still asked is sent together with the commit.
    pub(crate) fn ends_with_reads(&self) {
        if let Engine::Server(transaction) = &self.0 {
            transaction.borrow_mut().ends_with_reads();
        }
    }

    /// Executes several statements as one text; only for a server.
    pub(crate) fn batch(&self, text: &str) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(connection) => Ok(connection.execute_batch(text)?),
            Engine::Server(transaction) => Ok(transaction.borrow_mut().batch(text)?),
        }
    }

    /// Only for a server; SQLite commits many pieces of work together.
    pub(super) fn commit(&self) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(_) => Ok(()),
            Engine::Server(transaction) => Ok(transaction.borrow_mut().commit()?),
        }
    }

    /// Rolls back what was not committed, and returns the first failure.
    pub(super) fn end(self) -> Option<super::postgres::Failure> {
        match self.0 {
            Engine::Sqlite(_) => None,
            Engine::Server(transaction) => transaction.into_inner().end(),
        }
    }
}

fn sent<'t, 'c, T>(
    transaction: &'t RefCell<ServerTransaction<'c>>,
    mut statement: Statement,
) -> Answer<'t, 'c, T> {
    statement.is_asked = true;
    let number = transaction.borrow_mut().put(statement);
    Answer::Sent(transaction, number)
}

impl<T: Read> Asked<'_, '_, T> {
    fn found(self) -> Result<Found<T>> {
        match self.answer {
            Answer::Here(found) => Ok(found),
            Answer::Later(connection, statement) => run(connection, &statement),
            Answer::Sent(transaction, number) => {
                let Rows { rows, changed } = transaction.borrow_mut().answer(number)?;
                let read = |row: &Vec<Value>| T::read(&mut Cursor::of(&Row::Kept(row)));
                let rows = rows.iter().map(read).collect();
                Ok(Found { rows, changed })
            }
        }
    }

    /// What was read before in the same transaction.
    pub(crate) fn known(row: T) -> Self {
        let (rows, changed) = (vec![Ok(row)], 0);
        Self {
            answer: Answer::Here(Found { rows, changed }),
        }
    }

    pub(crate) fn one(self) -> Result<Option<T>> {
        self.found()?.rows.into_iter().next().transpose()
    }

    pub(crate) fn all(self) -> Result<Vec<T>> {
        self.found()?.rows.into_iter().collect()
    }

    /// The rows that can be read; others are left out.
    pub(crate) fn readable(self) -> Result<Vec<T>> {
        Ok(self.found()?.rows.into_iter().flatten().collect())
    }

    /// The number of rows written.
    pub(crate) fn changed(self) -> Result<usize> {
        Ok(self.found()?.changed)
    }
}

// Statements on an SQLite connection, each prepared once per connection.

/// Binds each value to the parameter that names it. SQLite itself numbers `$2` by where it first appears.
fn bound<'c>(connection: &'c Connection, statement: &Statement) -> Result<CachedStatement<'c>> {
    let mut prepared = connection.prepare_cached(&statement.text)?;
    let (values, count) = (&statement.values, prepared.parameter_count());
    if values.len() != count {
        return Err(rusqlite::Error::InvalidParameterCount(values.len(), count).into());
    }
    for index in 1..=count {
        let name = prepared.parameter_name(index).unwrap_or_default();
        let number: Option<usize> = name.get(1..).and_then(|digits| digits.parse().ok());
        let value = number.and_then(|number| values.get(number.checked_sub(1)?));
        let value = value.ok_or_else(|| rusqlite::Error::InvalidParameterName(name.into()))?;
        prepared.raw_bind_parameter(index, value)?;
    }
    Ok(prepared)
}

fn each<E: From<Fault>>(
    connection: &Connection,
    statement: &Statement,
    take: &mut dyn FnMut(&Row<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let mut prepared = bound(connection, statement)?;
    let mut found = prepared.raw_query();
    while let Some(row) = found.next().map_err(Fault::from)? {
        if !take(&Row::Sqlite(row))? {
            break;
        }
    }
    Ok(())
}

fn run<T: Read>(connection: &Connection, statement: &Statement) -> Result<Found<T>> {
    let mut prepared = bound(connection, statement)?;
    let mut rows = Vec::new();
    if prepared.column_count() == 0 {
        let changed = prepared.raw_execute()?;
        return Ok(Found { rows, changed });
    }
    let mut found = prepared.raw_query();
    while let Some(row) = found.next()? {
        rows.push(T::read(&mut Cursor::of(&Row::Sqlite(row))));
    }
    Ok(Found { rows, changed: 0 })
}
