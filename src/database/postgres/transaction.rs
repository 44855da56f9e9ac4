//! A transaction on a connection. BEGIN is sent with the first statements, and at the end it is certain whether the
//! transaction was committed.

use tokio_postgres::config::TargetSessionAttrs;

use super::{
    connection::{COMMIT, ServerConnection},
    fault::{Failure, ServerFault, Then},
};
use crate::database::{Rows, Statement, Value, values};

/// Asks whether the transaction with this stamp was committed; waits for it if it is still in progress. If this
/// statement inserts the row itself (`asked`), that transaction was not committed and never can be. It may be repeated,
/// because the connection can break during this statement, too.
const TAKE_STAMP: &str = "\
INSERT INTO writes (stamp, asked) VALUES (($1::text)::uuid, TRUE) \
ON CONFLICT (stamp) DO UPDATE SET stamp = excluded.stamp RETURNING asked";

/// The server ends it when it hears no more of it, so that its stamp can be asked for within the patience.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
     SET LOCAL idle_in_transaction_session_timeout = '5s'";
const BEGIN_WRITE_ONCE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

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
    /// The kind of server that it needs.
    kind: TargetSessionAttrs,
    /// Of a write: the row that tells whether it was committed.
    stamp: Option<String>,
    /// Statements whose results nobody needs, which go with the next ones.
    later: Vec<Statement>,
    state: TransactionState,
    /// Whether the server has answered something of it.
    is_answered: bool,
    /// The first failure, even if the work ignored it.
    failure: Option<Failure>,
}

impl<'l> ServerTransaction<'l> {
    /// `may_be_standby`: a standby may be read if no server can be written.
    pub(in crate::database) fn reading(
        connection: &'l mut ServerConnection,
        may_be_standby: bool,
    ) -> Self {
        let kind = if may_be_standby {
            connection.readable_servers()
        } else {
            TargetSessionAttrs::ReadWrite
        };
        Self::new(
            connection,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            kind,
            None,
        )
    }

    /// `stamp` is `None` if its table does not exist yet; then the outcome of an unanswered commit is unknown.
    pub(in crate::database) fn writing(
        connection: &'l mut ServerConnection,
        stamp: Option<String>,
    ) -> Self {
        Self::new(
            connection,
            match stamp {
                Some(_) => BEGIN_WRITE,
                None => BEGIN_WRITE_ONCE,
            },
            TargetSessionAttrs::ReadWrite,
            stamp,
        )
    }

    fn new(
        connection: &'l mut ServerConnection,
        begin: &'static str,
        kind: TargetSessionAttrs,
        stamp: Option<String>,
    ) -> Self {
        Self {
            connection,
            begin,
            kind,
            stamp,
            later: Vec::new(),
            state: TransactionState::New,
            is_answered: false,
            failure: None,
        }
    }

    pub(crate) fn writer(&self) -> i64 {
        self.connection.writer()
    }

    pub(in crate::database) fn connection_number(&self) -> u64 {
        self.connection.opened()
    }

    /// Sends a statement together with the next ones or the commit.
    pub(crate) fn add(&mut self, statement: Statement) {
        let statement = statement.for_server(self.writer());
        self.later.push(statement);
    }

    /// Several statements as one text, without parameters.
    pub(crate) fn batch(&mut self, text: &str) -> Result<(), ServerFault> {
        // As with any other statement, a failure here undoes the transaction.
        self.exchange(Vec::new(), Some(text)).map(drop)
    }

    /// Sends statements together. After a failure, all further statements fail, too.
    pub(crate) fn send(&mut self, statements: Vec<Statement>) -> Result<Vec<Rows>, ServerFault> {
        self.exchange(statements, None)
    }

    /// Sends the last statements together with the commit. If the connection breaks but they were committed, the last
    /// `reads` statements, which only read, are executed again.
    pub(crate) fn send_and_commit(
        &mut self,
        mut statements: Vec<Statement>,
        reads: &[Statement],
    ) -> Result<Vec<Rows>, ServerFault> {
        self.check_not_failed()?;
        let count = reads.len();
        statements.extend(reads.iter().cloned());
        match self.exchange(statements, Some(COMMIT)) {
            Ok(mut rows) => {
                self.mark_committed();
                Ok(rows.split_off(rows.len() - count))
            }
            Err(fault) => {
                if self.state != TransactionState::Open || !self.was_committed()? {
                    return Err(fault);
                }
                let Self {
                    connection,
                    failure,
                    ..
                } = self;
                let again = connection.send(None, reads, None);
                // The write is committed, but the result could not be read.
                again.map_err(|_| keep(failure, (ServerFault::Unclear, Then::GiveUp)))
            }
        }
    }

    /// Commits a transaction whose work has succeeded.
    pub(in crate::database) fn commit(&mut self) -> Result<(), ServerFault> {
        let is_done = match self.state {
            TransactionState::New => self.later.is_empty(),
            state => state == TransactionState::Committed,
        };
        if is_done {
            return Ok(());
        }
        self.check_not_failed()?;
        match self.exchange(Vec::new(), Some(COMMIT)) {
            Ok(_) => self.mark_committed(),
            Err(fault) => {
                if self.state != TransactionState::Open || !self.was_committed()? {
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    /// Rolls back what was not committed, so that the connection is free for the next transaction.
    pub(in crate::database) fn end(mut self) -> Option<Failure> {
        if matches!(
            self.state,
            TransactionState::Open | TransactionState::Refused
        ) {
            self.state = TransactionState::Over;
            self.connection.roll_back();
        }
        // What is committed is never executed again.
        let is_done = self.state == TransactionState::Committed;
        self.failure
            .map(|(fault, then)| (fault, if is_done { Then::GiveUp } else { then }))
    }

    pub(crate) fn stream(
        &mut self,
        statement: &Statement,
        take: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), ServerFault> {
        if self.stamp.is_some() {
            let rows = self.exchange(vec![statement.clone()], None)?;
            let _ = rows.into_iter().flat_map(|rows| rows.rows).all(take);
            return Ok(());
        }
        if let Some((fault, _)) = &self.failure {
            return Err(fault.clone());
        }
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
        self.connection.connect(self.kind)?;
        send(self.connection)
    }

    /// The text to begin with, if nothing was sent yet.
    fn begin_text(&mut self) -> Result<Option<&'static str>, ServerFault> {
        if self.state != TransactionState::New {
            return Ok(None);
        }
        let connected = self.connection.connect(self.kind);
        connected.map_err(|failure| keep(&mut self.failure, failure))?;
        self.state = TransactionState::Open;
        Ok(Some(self.begin))
    }

    fn exchange(
        &mut self,
        mut statements: Vec<Statement>,
        after: Option<&str>,
    ) -> Result<Vec<Rows>, ServerFault> {
        self.check_not_failed()?;
        let begin = self.begin_text()?;
        let mut first = Vec::new();
        if let Some(stamp) = begin.and(self.stamp.as_ref()) {
            first.push(Statement::new(self.connection.stamp(), values![stamp]));
        }
        first.append(&mut self.later);
        let skipped = first.len();
        statements.splice(0..0, first);
        let send = |connection: &mut ServerConnection| connection.send(begin, &statements, after);
        let mut sent = send(self.connection);
        if begin.is_some() && after.is_none() && matches!(sent, Err((_, Then::Reconnect))) {
            sent = self.reconnect_and_send(send);
        }
        match sent {
            Ok(mut rows) => {
                // A request that reads and then writes ends within one patience; an import or a copy takes longer.
                if self.is_answered || self.stamp.is_none() {
                    self.connection.renew();
                }
                self.is_answered = true;
                Ok(rows.split_off(skipped))
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
            let asked = self.connection.connect(self.kind).and_then(|()| {
                let take = std::slice::from_ref(&take);
                self.connection.send(None, take, None)
            });
            match asked {
                Ok(rows) => {
                    self.connection.count_decided();
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
