//! A transaction on a connection. BEGIN is sent with the first statements, and at the end it is certain whether the
//! transaction was committed.

use std::{collections::HashMap, sync::atomic::Ordering};

use super::{
    connection::{COMMIT, ServerConnection},
    fault::{Failure, ServerFault, Then},
};
use crate::db::{Rows, Statement, Value, values};

/// Asks whether the transaction with this stamp was committed; waits for it if it is still in progress. If this
/// statement inserts the row itself (`asked`), that transaction was not committed and never can be. It may be repeated,
/// because the connection can break during this statement, too.
const TAKE_STAMP: &str = "\
INSERT INTO writes (stamp, asked) VALUES (($1::text)::uuid, TRUE) \
ON CONFLICT (stamp) DO UPDATE SET stamp = excluded.stamp RETURNING asked";

/// The server ends it when it hears no more of it, so that its stamp can be asked for within the patience. Not READ WRITE,
/// which a server that was made read-only for a switchover would allow.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; \
     SET LOCAL idle_in_transaction_session_timeout = '5s'";
const BEGIN_WRITE_ONCE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransactionState {
    /// Nothing was sent yet.
    New,
    Open,
    /// The server refused: nothing of the transaction takes effect, whether COMMIT had been sent or not.
    Refused,
    Committed,
    Over,
}

pub(crate) struct ServerTransaction<'l> {
    connection: &'l mut ServerConnection,
    begin: &'static str,
    /// Of a write: the row that tells whether it was committed.
    stamp: Option<String>,
    /// Statements that were not sent yet: they go with the next answer that is awaited, or with the commit.
    later: Vec<Statement>,
    /// The number of those that were sent.
    sent: usize,
    /// What somebody may still want to know, by the number of its statement.
    answers: HashMap<usize, Rows>,
    /// Set if the next ones are sent together with the commit: from which of them on they only read.
    last_reads: Option<usize>,
    state: TransactionState,
    /// Whether the server has answered something of it.
    is_answered: bool,
    /// The first failure, even if the work ignored it.
    failure: Option<Failure>,
}

impl<'l> ServerTransaction<'l> {
    pub(in crate::db) fn reading(connection: &'l mut ServerConnection) -> Self {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        Self::new(connection, begin, None)
    }

    /// `stamp` is `None` if its table does not exist yet; then the outcome of an unanswered commit is unknown.
    pub(in crate::db) fn writing(
        connection: &'l mut ServerConnection,
        stamp: Option<String>,
    ) -> Self {
        Self::new(
            connection,
            match stamp {
                Some(_) => BEGIN_WRITE,
                None => BEGIN_WRITE_ONCE,
            },
            stamp,
        )
    }

    fn new(
        connection: &'l mut ServerConnection,
        begin: &'static str,
        stamp: Option<String>,
    ) -> Self {
        Self {
            connection,
            begin,
            stamp,
            later: Vec::new(),
            sent: 0,
            answers: HashMap::new(),
            last_reads: None,
            state: TransactionState::New,
            is_answered: false,
            failure: None,
        }
    }

    pub(in crate::db) fn connection_number(&self) -> u64 {
        self.connection.opened
    }

    /// Adds a statement, and returns its number.
    pub(crate) fn put(&mut self, statement: Statement) -> usize {
        self.later
            .push(statement.for_server(self.connection.server.writer));
        self.sent + self.later.len() - 1
    }

    /// The answer to a statement, which is sent with all before and after it that were not sent yet.
    pub(crate) fn answer(&mut self, number: usize) -> Result<Rows, ServerFault> {
        if number >= self.sent {
            self.flush()?;
        }
        match self.answers.remove(&number) {
            Some(rows) => Ok(rows),
            None => self.check_not_failed().map(|()| Rows::default()),
        }
    }

    pub(crate) fn flush(&mut self) -> Result<(), ServerFault> {
        match self.last_reads.take() {
            Some(first) => self.read_and_commit(first),
            None if self.later.is_empty() => self.check_not_failed(),
            None => self.exchange(None),
        }
    }

    /// What is put from here on only reads, and is sent together with the commit.
    pub(crate) fn ends_with_reads(&mut self) {
        self.last_reads = Some(self.later.len());
    }

    /// Several statements as one text, without parameters.
    pub(crate) fn batch(&mut self, text: &str) -> Result<(), ServerFault> {
        // As with any other statement, a failure here undoes the transaction.
        self.exchange(Some(text))
    }

    /// Sends the last statements together with the commit. If the connection breaks but they were committed, those from
    /// `first` on, which only read, are executed again.
    fn read_and_commit(&mut self, first: usize) -> Result<(), ServerFault> {
        self.check_not_failed()?;
        let reads = self.later[first..].to_vec();
        let number = self.sent + first;
        if !self.send_commit()? {
            let Self {
                connection,
                failure,
                answers,
                ..
            } = self;
            let again = connection.send(None, &reads, None);
            // The write is committed, but the result could not be read.
            let again = again.map_err(|_| keep(failure, (ServerFault::Unclear, Then::GiveUp)))?;
            answers.extend((number..).zip(again));
        }
        Ok(())
    }

    /// Sends all statements that were not sent yet with the commit. Returns whether the server answered them; otherwise it
    /// was asked, and has committed them.
    fn send_commit(&mut self) -> Result<bool, ServerFault> {
        match self.exchange(Some(COMMIT)) {
            Ok(()) => {
                self.mark_committed();
                Ok(true)
            }
            Err(fault) => {
                if self.state == TransactionState::Open && self.was_committed()? {
                    Ok(false)
                } else {
                    Err(fault)
                }
            }
        }
    }

    /// Commits a transaction whose work has succeeded.
    pub(in crate::db) fn commit(&mut self) -> Result<(), ServerFault> {
        let is_done = match self.state {
            TransactionState::New => self.later.is_empty(),
            state => state == TransactionState::Committed,
        };
        if is_done {
            return Ok(());
        }
        self.check_not_failed()?;
        self.send_commit().map(drop)
    }

    /// Rolls back what was not committed, so that the connection is free for the next transaction.
    pub(in crate::db) fn end(mut self) -> Option<Failure> {
        if matches!(
            self.state,
            TransactionState::Open | TransactionState::Refused
        ) {
            self.state = TransactionState::Over;
            self.connection.roll_back();
        }
        // The next request looks for the primary; and the session of a role that was dropped has no rights although a new
        // role of that name has.
        let failed = self.failure.as_ref().map(|(fault, _)| fault);
        if matches!(
            failed,
            Some(ServerFault::ReadOnly | ServerFault::NotAllowed(_) | ServerFault::NotThere)
        ) {
            self.connection.disconnect();
        }
        // What is committed is never executed again.
        let is_done = self.state == TransactionState::Committed;
        self.failure
            .map(|(fault, then)| (fault, if is_done { Then::GiveUp } else { then }))
    }

    pub(crate) fn stream(
        &mut self,
        mut statement: Statement,
        take: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), ServerFault> {
        if self.stamp.is_some() {
            statement.is_asked = true;
            let number = self.put(statement);
            let _ = self.answer(number)?.rows.into_iter().all(take);
            return Ok(());
        }
        self.flush()?;
        let statement = &statement.for_server(self.connection.server.writer);
        let begin = self.begin_text()?;
        let mut handed_over = false;
        let mut streamed = self.connection.stream(begin, statement, &mut |row| {
            handed_over = true;
            take(row)
        });
        if begin.is_some() && matches!(streamed, Err((_, Then::Reconnect))) && !handed_over {
            streamed =
                self.reconnect_and_send(|connection| connection.stream(begin, statement, take));
        }
        streamed.map_err(|failure| keep(&mut self.failure, failure))
    }

    /// Reconnects and sends again: the connection broke while it was idle, and nothing had begun.
    fn reconnect_and_send<T>(
        &mut self,
        send: impl FnOnce(&mut ServerConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.connection.connect()?;
        send(self.connection)
    }

    /// The text to begin with, if nothing was sent yet.
    fn begin_text(&mut self) -> Result<Option<&'static str>, ServerFault> {
        if self.state != TransactionState::New {
            return Ok(None);
        }
        let connected = self.connection.connect();
        connected.map_err(|failure| keep(&mut self.failure, failure))?;
        self.state = TransactionState::Open;
        Ok(Some(self.begin))
    }

    /// Sends all statements that were not sent yet, and then this text.
    fn exchange(&mut self, after: Option<&str>) -> Result<(), ServerFault> {
        self.check_not_failed()?;
        let begin = self.begin_text()?;
        let mut statements = std::mem::take(&mut self.later);
        self.last_reads = None;
        let first = self.sent;
        self.sent += statements.len();
        let stamp = begin.and(self.stamp.as_ref());
        let stamp =
            stamp.map(|stamp| Statement::new(self.connection.server.stamp.clone(), values![stamp]));
        let skipped = usize::from(stamp.is_some());
        statements.splice(0..0, stamp);
        let send = |connection: &mut ServerConnection| connection.send(begin, &statements, after);
        let mut sent = send(self.connection);
        if begin.is_some() && after.is_none() && matches!(sent, Err((_, Then::Reconnect))) {
            sent = self.reconnect_and_send(send);
        }
        match sent {
            Ok(rows) => {
                // Work that reads and then writes ends within one patience; an import or a copy takes longer.
                if self.is_answered || self.stamp.is_none() {
                    self.connection.renew();
                }
                self.is_answered = true;
                let answers = statements.iter().zip(rows).skip(skipped);
                let answers = (first..).zip(answers);
                let asked = answers.filter(|(_, (statement, _))| statement.is_asked);
                self.answers
                    .extend(asked.map(|(number, (_, rows))| (number, rows)));
                Ok(())
            }
            Err(failure) => {
                // If the connection is down, the outcome of the commit has to be asked for; otherwise the server
                // refused it.
                if after == Some(COMMIT) && self.connection.is_up() {
                    self.state = TransactionState::Refused;
                }
                Err(keep(&mut self.failure, failure))
            }
        }
    }

    /// After a failure nothing more is sent or committed, even if the work ignored it.
    fn check_not_failed(&self) -> Result<(), ServerFault> {
        let failed = self.failure.as_ref();
        failed.map_or(Ok(()), |(fault, _)| Err(fault.clone()))
    }

    fn mark_committed(&mut self) {
        self.state = TransactionState::Committed;
        self.connection.note_commit();
    }

    /// Determines the outcome after the connection broke during a commit. The request may be executed again only if
    /// this returns false.
    fn was_committed(&mut self) -> Result<bool, ServerFault> {
        let Some(stamp) = &self.stamp else {
            return Err(ServerFault::Unclear);
        };
        let take = Statement::new(TAKE_STAMP, values![stamp]);
        loop {
            let asked = self.connection.connect().and_then(|()| {
                let take = std::slice::from_ref(&take);
                self.connection.send(None, take, None)
            });
            match asked {
                Ok(rows) => {
                    let decided = &self.connection.server.decided;
                    decided.fetch_add(1, Ordering::Relaxed);
                    let asked = rows.first().and_then(|rows| rows.rows.first());
                    let committed = asked.is_some_and(|row| row[..] == [Value::Bool(false)]);
                    if committed {
                        self.mark_committed();
                        self.failure = None;
                    } else {
                        self.state = TransactionState::Over;
                    }
                    return Ok(committed);
                }
                Err((_, Then::Reconnect | Then::Again)) if self.connection.has_time() => {}
                Err(_) => {
                    self.state = TransactionState::Over;
                    self.failure = Some((ServerFault::Unclear, Then::GiveUp));
                    return Err(ServerFault::Unclear);
                }
            }
        }
    }
}

/// Keeps and returns the first failure.
fn keep(kept: &mut Option<Failure>, failure: Failure) -> ServerFault {
    kept.get_or_insert(failure).0.clone()
}
