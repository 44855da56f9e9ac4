//! A request to a database in three steps, so that it needs two round trips to a server and can be executed again after
//! a deadlock or a lost connection: nothing has any effect in between.

use std::{borrow::Cow, cell::RefCell};

use super::{
    Fault, Results, Row, Statement, Statements, Value, postgres::ServerTransaction, sqlite,
};

/// Reads, decides, writes.
pub(crate) trait Request {
    type Answer;
    type Error: From<Fault>;

    /// Statements that read what is needed, and claims whose success decides.
    fn read(&self) -> Statements;

    /// Decides by rules alone, from the results of [`Request::read`] in the same order. An error rolls the claims back.
    fn decide(&self, found: &mut Results) -> Result<(Statements, Self::Answer), Self::Error>;

    /// Reads of the resulting state that the answer needs.
    fn read_after(&self) -> Statements {
        Statements::default()
    }

    /// Adds the results of [`Request::read_after`] to the answer. The transaction is committed by then, so this cannot
    /// fail.
    fn finish(&self, _answer: &mut Self::Answer, _after: &mut Results) {}
}

enum Engine<'c> {
    Sqlite(&'c rusqlite::Connection),
    Server(RefCell<ServerTransaction<'c>>),
}

/// An open transaction, on either database.
pub(crate) struct Tx<'c>(Engine<'c>);

impl<'c> Tx<'c> {
    pub(crate) fn of(connection: &'c rusqlite::Connection) -> Self {
        Self(Engine::Sqlite(connection))
    }

    pub(super) fn of_server(transaction: ServerTransaction<'c>) -> Self {
        Self(Engine::Server(RefCell::new(transaction)))
    }

    /// The connection, for features that only SQLite has.
    pub(crate) fn sqlite(&self) -> Option<&'c rusqlite::Connection> {
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

    /// Executes one of several requests of a transaction.
    pub(crate) fn run<R: Request>(&self, request: &R) -> Result<R::Answer, R::Error> {
        let mut found = self.send(request.read())?;
        let (mut writes, mut answer) = request.decide(&mut found)?;
        let reads = request.read_after();
        let count = reads.0.len();
        writes.0.extend(reads.0);
        let mut after = self.send(writes)?;
        after.keep_last(count);
        request.finish(&mut answer, &mut after);
        Ok(answer)
    }

    /// Executes the only or last request of a transaction, together with the commit.
    pub(crate) fn run_last<R: Request>(&self, request: &R) -> Result<R::Answer, R::Error> {
        let Engine::Server(transaction) = &self.0 else {
            return self.run(request);
        };
        let mut found = self.send(request.read())?;
        let (writes, mut answer) = request.decide(&mut found)?;
        let reads = request.read_after();
        let mut transaction = transaction.borrow_mut();
        let writer = transaction.writer();
        let after =
            transaction.send_and_commit(writes.for_server(writer), &reads.for_server(writer));
        let mut after = Results::of(after.map_err(Fault::from)?);
        request.finish(&mut answer, &mut after);
        Ok(answer)
    }

    /// Executes statements together, in one round trip to a server.
    pub(crate) fn read(&self, statements: Statements) -> Result<Results, Fault> {
        self.send(statements)
    }

    fn send(&self, statements: Statements) -> Result<Results, Fault> {
        let rows = match &self.0 {
            Engine::Sqlite(connection) => sqlite::run(connection, statements)?,
            Engine::Server(_) if statements.0.is_empty() => Vec::new(),
            Engine::Server(transaction) => {
                let mut transaction = transaction.borrow_mut();
                let statements = statements.for_server(transaction.writer());
                transaction.send(statements)?
            }
        };
        Ok(Results::of(rows))
    }

    /// Passes on the rows of one statement one at a time; `take` returns whether it wants more.
    pub(crate) fn each_while<E: From<Fault>>(
        &self,
        text: impl Into<Cow<'static, str>>,
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
            Engine::Sqlite(connection) => return sqlite::each(connection, &statement, take),
            Engine::Server(transaction) => transaction,
        };
        let mut transaction = transaction.borrow_mut();
        let statement = statement.for_server(transaction.writer());
        let mut refused = None;
        let streamed = transaction.stream(&statement, &mut |row| {
            let taken = take(&Row::Kept(&row));
            taken.unwrap_or_else(|error| {
                refused = Some(error);
                false
            })
        });
        streamed.map_err(Fault::from)?;
        refused.map_or(Ok(()), Err)
    }

    /// Passes on the rows of one statement one at a time.
    pub(crate) fn each<E: From<Fault>>(
        &self,
        text: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
        mut take: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_while(text, values, |row| take(row).map(|()| true))
    }

    pub(crate) fn all<T, E: From<Fault>>(
        &self,
        text: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut all = Vec::new();
        self.each(text, values, |row| {
            all.push(read(row)?);
            Ok(())
        })
        .map(|()| all)
    }

    /// The row of a statement that returns at most one.
    pub(crate) fn one<T, E: From<Fault>>(
        &self,
        text: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let mut one = None;
        self.each(text, values, |row| {
            one = Some(read(row)?);
            Ok(())
        })
        .map(|()| one)
    }

    pub(crate) fn write_all(&self, statements: Statements) -> Result<(), Fault> {
        self.send(statements).map(drop)
    }

    /// Executes a write; returns the number of rows written.
    pub(crate) fn write(
        &self,
        text: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> Result<usize, Fault> {
        let statement = Statement::new(text, values);
        match &self.0 {
            Engine::Sqlite(connection) => sqlite::write(connection, &statement),
            Engine::Server(transaction) => {
                let mut transaction = transaction.borrow_mut();
                let statement = statement.for_server(transaction.writer());
                let rows = transaction.send(vec![statement])?;
                Ok(rows.first().map_or(0, |rows| rows.changed))
            }
        }
    }

    /// Executes a write whose result nobody needs: a server gets it together with the next statement, or the commit.
    pub(crate) fn write_later(
        &self,
        text: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> Result<(), Fault> {
        match &self.0 {
            Engine::Sqlite(_) => self.write(text, values).map(drop),
            Engine::Server(transaction) => {
                transaction.borrow_mut().add(Statement::new(text, values));
                Ok(())
            }
        }
    }

    /// As [`Self::write_later`], for several.
    pub(crate) fn write_all_later(&self, statements: Statements) -> Result<(), Fault> {
        match &self.0 {
            Engine::Sqlite(_) => self.write_all(statements),
            Engine::Server(transaction) => {
                let mut transaction = transaction.borrow_mut();
                statements
                    .0
                    .into_iter()
                    .for_each(|one| transaction.add(one));
                Ok(())
            }
        }
    }

    /// Executes several statements as one text; only for a server.
    pub(crate) fn batch(&self, text: &str) -> Result<(), Fault> {
        match &self.0 {
            Engine::Sqlite(connection) => Ok(connection.execute_batch(text)?),
            Engine::Server(transaction) => Ok(transaction.borrow_mut().batch(text)?),
        }
    }

    /// Only for a server; SQLite commits many pieces of work together.
    pub(super) fn commit(&self) -> Result<(), Fault> {
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
