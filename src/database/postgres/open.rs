//! A transaction on a line. It begins with what is sent first, and says at its end for certain whether it was committed.

use std::time::Instant;

use tokio_postgres::config::TargetSessionAttrs;

use super::{
    fault::{Failure, ServerFault, Then},
    line::{COMMIT, Line},
    server::PATIENCE,
};
use crate::database::{Rows, Statement, Value, values};

/// Waits for the transaction that has the stamp, if it is still in progress. A row of a question: it was not committed, and
/// never can be. However often it is asked: a line can break in a question, too.
const TAKE_STAMP: &str = "\
INSERT INTO writes (stamp, asked) VALUES (($1::text)::uuid, TRUE) \
ON CONFLICT (stamp) DO UPDATE SET stamp = excluded.stamp RETURNING asked";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Nothing was sent yet.
    New,
    Open,
    /// The server said no: nothing of it will stand, whether COMMIT was on its way or not.
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
    /// A server is waited for until then.
    deadline: Instant,
    /// What failed first; whatever the work makes of it.
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

    /// `stamp`: none where there is no table for it yet; a commit that is not answered is then not known.
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

    /// Several statements as one text, without values.
    pub(crate) fn batch(&mut self, text: &str) -> Result<(), ServerFault> {
        // A failure here undoes the transaction as any other does.
        self.exchange(Vec::new(), Some(text)).map(drop)
    }

    /// Sends statements together. What is asked after a failure fails, too.
    pub(crate) fn send(&mut self, statements: Vec<Statement>) -> Result<Vec<Rows>, ServerFault> {
        self.exchange(statements, None)
    }

    /// Sends the last statements with the commit. Where the line breaks meanwhile, and they were committed all the same,
    /// `reads` are asked again: the last ones of the statements, which only read.
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
                // It is there; what it looks like now could not be read.
                again.map_err(|_| keep(failure, (ServerFault::Unclear, Then::GiveUp)))
            }
        }
    }

    /// Ends a transaction whose work has succeeded.
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

    /// Undoes what was not committed, so that the line is free for the next.
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
        // What is committed is never done again.
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

    /// The line broke while nobody looked at it, and nothing has begun.
    fn again<T>(
        &mut self,
        send: impl FnOnce(&mut Line) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.line.connect(self.kind, self.deadline)?;
        send(self.line)
    }

    /// The text to begin with, where nothing was sent yet.
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
                // Where the line is down, the commit has to be asked for.
                if after == Some(COMMIT) && self.line.is_up() {
                    self.stands = Stands::Refused;
                }
                Err(keep(&mut self.failure, failure))
            }
        }
    }

    /// Whatever the work has made of it, nothing more is sent, and nothing committed.
    fn not_failed(&self) -> Result<(), ServerFault> {
        let failed = self.failure.as_ref();
        failed.map_or(Ok(()), |(fault, _)| Err(fault.clone()))
    }

    fn is_committed(&mut self) {
        self.stands = Stands::Committed;
        self.line.has_written();
    }

    /// After the line broke in a commit. It can be done again only where this says that it was not.
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

/// The first failure is what is told.
fn keep(kept: &mut Option<Failure>, failure: Failure) -> ServerFault {
    kept.get_or_insert(failure).0.clone()
}
