//! A transaction on a connection. BEGIN is sent with the first statements, and at the end it is certain whether the
//! transaction was committed.

use std::time::Instant;

use tokio_postgres::config::TargetSessionAttrs;

use super::{
    fault::{Failure, ServerFault, Then},
    line::{COMMIT, Line},
    server::PATIENCE,
};
use crate::database::{Rows, Statement, Value, values};

/// Asks whether the transaction with this stamp was committed; waits for it if it is still in progress. If this
/// statement inserts the row itself (`asked`), that transaction was not committed and never can be. It may be repeated,
/// because the connection can break during this statement, too.
const TAKE_STAMP: &str = "\
INSERT INTO writes (stamp, asked) VALUES (($1::text)::uuid, TRUE) \
ON CONFLICT (stamp) DO UPDATE SET stamp = excluded.stamp RETURNING asked";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Nothing was sent yet.
    New,
    Open,
    /// The server refused: nothing of the transaction takes effect, whether COMMIT had been sent or not.
    Refused,
    Committed,
    Over,
}

pub(crate) struct Open<'l> {
    line: &'l mut Line,
    begin: &'static str,
    /// Which servers will do.
    kind: TargetSessionAttrs,
    /// Of a write: the row that tells whether it was committed.
    stamp: Option<String>,
    stands: Stands,
    /// How long to wait for the server.
    deadline: Instant,
    /// The first failure, even if the work ignored it.
    failure: Option<Failure>,
}

impl<'l> Open<'l> {
    /// `may_be_standby`: where no server can be written.
    pub(in crate::database) fn reading(line: &'l mut Line, may_be_standby: bool) -> Self {
        let kind = if may_be_standby {
            line.to_read_from()
        } else {
            TargetSessionAttrs::ReadWrite
        };
        Self::new(
            line,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            kind,
            None,
            Instant::now() + PATIENCE,
        )
    }

    /// `stamp` is `None` if its table does not exist yet; then the outcome of an unanswered commit is unknown.
    pub(in crate::database) fn writing(
        line: &'l mut Line,
        stamp: Option<String>,
        deadline: Instant,
    ) -> Self {
        Self::new(
            line,
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
            TargetSessionAttrs::ReadWrite,
            stamp,
            deadline,
        )
    }

    fn new(
        line: &'l mut Line,
        begin: &'static str,
        kind: TargetSessionAttrs,
        stamp: Option<String>,
        deadline: Instant,
    ) -> Self {
        Self {
            line,
            begin,
            kind,
            stamp,
            stands: Stands::New,
            deadline,
            failure: None,
        }
    }

    pub(crate) fn writer(&self) -> i64 {
        self.line.writer()
    }

    pub(in crate::database) fn line(&self) -> u64 {
        self.line.opened()
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
        self.not_failed()?;
        let count = reads.len();
        statements.extend(reads.iter().cloned());
        match self.exchange(statements, Some(COMMIT)) {
            Ok(mut rows) => {
                self.is_committed();
                Ok(rows.split_off(rows.len() - count))
            }
            Err(fault) => {
                if self.stands != Stands::Open || !self.was_committed()? {
                    return Err(fault);
                }
                let Self { line, failure, .. } = self;
                let again = line.send(None, reads, None, Instant::now() + PATIENCE);
                // The write is committed, but the result could not be read.
                again.map_err(|_| keep(failure, (ServerFault::Unclear, Then::GiveUp)))
            }
        }
    }

    /// Commits a transaction whose work has succeeded.
    pub(in crate::database) fn commit(&mut self) -> Result<(), ServerFault> {
        if matches!(self.stands, Stands::New | Stands::Committed) {
            return Ok(());
        }
        self.not_failed()?;
        match self.exchange(Vec::new(), Some(COMMIT)) {
            Ok(_) => self.is_committed(),
            Err(fault) => {
                if self.stands != Stands::Open || !self.was_committed()? {
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    /// Rolls back what was not committed, so that the connection is free for the next transaction.
    pub(in crate::database) fn end(mut self) -> Option<Failure> {
        if matches!(self.stands, Stands::Open | Stands::Refused) {
            self.stands = Stands::Over;
            let rolled_back =
                self.line
                    .send(None, &[], Some("ROLLBACK"), Instant::now() + PATIENCE);
            if rolled_back.is_err() {
                self.line.hang_up();
            }
        }
        // What is committed is never executed again.
        let is_done = self.stands == Stands::Committed;
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
        let begin = self.begins()?;
        let mut handed_over = false;
        let mut streamed = self.line.stream(begin, statement, &mut |row| {
            handed_over = true;
            take(row)
        });
        if begin.is_some() && matches!(streamed, Err((_, Then::Reconnect))) && !handed_over {
            streamed = self.again(|line| line.stream(begin, statement, take));
        }
        streamed.map_err(|failure| keep(&mut self.failure, failure))
    }

    /// Reconnects and sends again: the connection broke while it was idle, and nothing had begun.
    fn again<T>(
        &mut self,
        send: impl FnOnce(&mut Line) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.line.connect(self.kind, self.deadline)?;
        send(self.line)
    }

    /// The text to begin with, if nothing was sent yet.
    fn begins(&mut self) -> Result<Option<&'static str>, ServerFault> {
        if self.stands != Stands::New {
            return Ok(None);
        }
        let connected = self.line.connect(self.kind, self.deadline);
        connected.map_err(|failure| keep(&mut self.failure, failure))?;
        self.stands = Stands::Open;
        Ok(Some(self.begin))
    }

    fn exchange(
        &mut self,
        mut statements: Vec<Statement>,
        after: Option<&str>,
    ) -> Result<Vec<Rows>, ServerFault> {
        self.not_failed()?;
        let begin = self.begins()?;
        let stamp = begin.and(self.stamp.as_ref());
        if let Some(stamp) = stamp {
            statements.insert(0, Statement::new(self.line.stamp(), values![stamp]));
        }
        let skipped = usize::from(stamp.is_some());
        let send =
            |line: &mut Line| line.send(begin, &statements, after, Instant::now() + PATIENCE);
        let mut sent = send(self.line);
        if begin.is_some() && after.is_none() && matches!(sent, Err((_, Then::Reconnect))) {
            sent = self.again(send);
        }
        match sent {
            Ok(mut rows) => Ok(rows.split_off(skipped)),
            Err(failure) => {
                // If the connection is down, the outcome of the commit has to be asked for; otherwise the server
                // refused it.
                if after == Some(COMMIT) && self.line.is_up() {
                    self.stands = Stands::Refused;
                }
                Err(keep(&mut self.failure, failure))
            }
        }
    }

    /// After a failure nothing more is sent or committed, even if the work ignored it.
    fn not_failed(&self) -> Result<(), ServerFault> {
        let failed = self.failure.as_ref();
        failed.map_or(Ok(()), |(fault, _)| Err(fault.clone()))
    }

    fn is_committed(&mut self) {
        self.stands = Stands::Committed;
        self.line.has_written();
    }

    /// Determines the outcome after the connection broke during a commit. The request may be executed again only if
    /// this returns false.
    fn was_committed(&mut self) -> Result<bool, ServerFault> {
        let Some(stamp) = &self.stamp else {
            return Err(ServerFault::Unclear);
        };
        let deadline = Instant::now() + PATIENCE;
        let take = Statement::new(TAKE_STAMP, values![stamp]);
        loop {
            let asked = self.line.connect(self.kind, deadline).and_then(|()| {
                self.line
                    .send(None, std::slice::from_ref(&take), None, deadline)
            });
            match asked {
                Ok(rows) => {
                    self.line.has_decided();
                    let asked = rows.first().and_then(|rows| rows.rows.first());
                    let committed = asked.is_some_and(|row| row[..] == [Value::Bool(false)]);
                    if committed {
                        self.is_committed();
                        self.failure = None;
                    } else {
                        self.stands = Stands::Over;
                    }
                    return Ok(committed);
                }
                Err((_, Then::Reconnect | Then::Again)) if Instant::now() < deadline => {}
                Err(_) => {
                    self.stands = Stands::Over;
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
