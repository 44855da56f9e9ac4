//! The threads that execute the requests of a directory, whichever database it uses, and the way back of their answers.

use std::{
    borrow::Cow,
    path::Path,
    sync::{atomic::Ordering, mpsc},
};

use tokio::sync::oneshot;

use super::{
    Directory, DirectoryError, Location, Result, Role, TeamLocation,
    lanes::{LaneGuard, Lanes, Subject},
    sql::{self, Fault},
};
use crate::{
    db::{Access, EPHEMERAL, Read, Reply, Server, Tx, Value, Work, Worker, repeatable, task},
    domain::token::Fingerprinter,
};

/// The queue is unbounded.
type Thread = Worker<mpsc::Sender<Box<dyn Work<Fault>>>>;

pub(super) struct Engine {
    pub(super) location: Location,
    /// For reads of a few rows, which must not wait for commits. Dropped, and so closed, before the other connection:
    /// SQLite lets the last connection remove the log, and of two that close at the same time neither is the last.
    reads: Thread,
    /// More than one only for a server.
    requests: Vec<Thread>,
    lanes: Lanes,
    unwritable: sql::Unwritable,
    /// For a server: where the hints of other writers arrive.
    pub(super) server: Option<Server>,
}

impl Engine {
    /// `is_ephemeral`: writes need not survive a crash of the machine.
    pub(super) fn of_file(path: &Path, is_ephemeral: bool) -> Result<(Self, Fingerprinter)> {
        // Absolute, because SQLite gives names like ":memory:" a meaning of their own.
        let path = std::path::absolute(path).map_err(DirectoryError::unusable(path))?;
        let unwritable = sql::Unwritable::default();
        let (session, fingerprinter) = sql::File::open(&path, &unwritable)?;
        if is_ephemeral && let Some(connection) = &session.connection {
            let done = connection.execute_batch(EPHEMERAL).map_err(Fault::from);
            done.map_err(|fault| fault.explain(&path))?;
        }
        let unusable = DirectoryError::unusable(&path);
        let requests = Worker::start("directory", session, mpsc::channel()).map_err(&unusable)?;
        let (session, _) = sql::File::open(&path, &unwritable)?;
        let reads = Worker::start("directory-reads", session, mpsc::channel());
        let engine = Self {
            reads: reads.map_err(&unusable)?,
            location: Location::File(path.clone()),
            requests: vec![requests],
            lanes: Lanes::new(1),
            unwritable,
            server: None,
        };
        Ok((engine, fingerprinter))
    }

    /// Prepares the lanes to a server; they connect when the first request is made.
    pub(super) fn of_team(team: &TeamLocation) -> Result<Self> {
        let location = Location::Team(team.clone());
        let server = team.server.clone().with_new_writer();
        let start = |name| Worker::start_on_server(name, server.clone(), mpsc::channel());
        let unusable = DirectoryError::unusable(location.shown());
        let reads = start("directory-reads").map_err(&unusable)?;
        let requests = (0..team.connections.max(1)).map(|_| start("directory"));
        let requests = requests.collect::<Result<Vec<_>, _>>().map_err(&unusable)?;
        Ok(Self {
            location,
            reads,
            lanes: Lanes::new(requests.len()),
            unwritable: sql::Unwritable::default(),
            requests,
            server: Some(server),
        })
    }

    /// Why nothing can be written to the file, although it can be read.
    pub(super) fn unwritable(&self) -> Option<DirectoryError> {
        let fault = sql::lock(&self.unwritable).clone()?;
        Some(fault.explain(&self.location.shown()))
    }

    /// Does the work and blocks until it is done; the threads are no tasks of an async runtime.
    pub(super) fn block<T: Send + 'static>(
        &self,
        access: Access,
        work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = mpsc::sync_channel(1);
        let reply = move |result| drop(reply.send(result));
        self.queue(0, task(access, work, reply))?;
        self.explained(answer.recv().ok())
    }

    fn queue(&self, lane: usize, work: Box<dyn Work<Fault>>) -> Result<()> {
        let thread = match work.access() {
            Access::Short if sql::lock(&self.unwritable).is_none() => &self.reads,
            // What can only be read is opened by one thread at a time.
            _ => &self.requests[lane],
        };
        let queue = thread.queue().ok_or_else(|| self.stopped())?;
        queue.send(work).map_err(|_| self.stopped())
    }

    fn explained<T>(&self, answer: Option<Result<T, Fault>>) -> Result<T> {
        let answer = answer.ok_or_else(|| self.stopped())?;
        answer.map_err(|fault| match &self.location {
            Location::File(path) => fault.explain(path),
            Location::Team(team) => fault.explain_for_team(team),
        })
    }

    fn stopped(&self) -> DirectoryError {
        DirectoryError::Stopped {
            path: self.location.shown(),
        }
    }
}

/// Sends the answer to the caller; the lane is released first, so that the caller finds it free.
struct Answer<T>(oneshot::Sender<Result<T, Fault>>, Option<LaneGuard>);

impl<T: Send> Reply<T, Fault> for Answer<T> {
    fn is_awaited(&self) -> bool {
        self.0.is_awaited()
    }

    fn send(self, answer: Result<T, Fault>) {
        drop(self.1);
        Reply::send(self.0, answer);
    }
}

impl Directory {
    /// A write on the directory's thread. On a server it may be executed again from the start, so it must have no
    /// effect outside the database.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.write_about(None, true, work).await
    }

    /// A write of notes, labels or views, which a console shows as it was told last: see [`Watch::missed`].
    ///
    /// [`Watch::missed`]: super::Watch::missed
    pub(super) async fn write_beside<T: Send + 'static>(
        &self,
        work: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let written = self.write(work).await;
        self.0.written_beside.fetch_add(1, Ordering::Release);
        written
    }

    /// A write about one subject. Large values SQLite's thread moves out instead of copying: that is not
    /// `is_repeatable`.
    pub(super) async fn write_about<T: Send + 'static>(
        &self,
        subject: Option<Subject>,
        is_repeatable: bool,
        work: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.may(Role::Operator)?;
        let engine = &self.0.engine;
        let (guard, (reply, answer)) = (engine.lanes.take(subject), oneshot::channel());
        let lane = guard.lane;
        let reply = Answer(reply, Some(guard));
        engine.queue(
            lane,
            repeatable((Access::Write, is_repeatable), work, reply),
        )?;
        engine.explained(answer.await.ok())
    }

    /// Work that is executed once: a read, or something that cannot be repeated.
    pub(super) async fn execute<T: Send + 'static>(
        &self,
        access: Access,
        work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let engine = &self.0.engine;
        let guard = (access != Access::Short).then(|| engine.lanes.take(None));
        let (reply, answer) = oneshot::channel();
        engine.queue(0, task(access, work, Answer(reply, guard)))?;
        engine.explained(answer.await.ok())
    }

    /// A write of one statement; returns whether it wrote something.
    pub(super) async fn changes(&self, text: &'static str, values: Vec<Value>) -> Result<bool> {
        self.write(move |tx| Ok(tx.write(text, values.clone())? > 0))
            .await
    }

    /// The row of a short read that returns at most one.
    pub(super) async fn one<T: Read + Send + 'static>(
        &self,
        text: &'static str,
        values: Vec<Value>,
    ) -> Result<Option<T>> {
        let read = move |tx: &Tx<'_>| Ok(tx.one(text, values)?);
        self.execute(Access::Short, read).await
    }

    /// The rows of a read.
    pub(super) async fn all<T: Read + Send + 'static>(
        &self,
        access: Access,
        text: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> Result<Vec<T>> {
        let text: Cow<'static, str> = text.into();
        let read = move |tx: &Tx<'_>| Ok(tx.all(text, values)?);
        self.execute(access, read).await
    }
}
