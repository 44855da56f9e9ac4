//! The threads that execute the requests of a directory, whichever database it uses, and the way back of their answers.

use std::{
    path::Path,
    sync::{Arc, mpsc},
};

use tokio::sync::oneshot;

use super::{
    DirectoryError, Location, TeamLocation,
    lanes::{LaneGuard, Lanes, Subject},
    sql::{self, Fault},
};
use crate::{
    database::{Access, EPHEMERAL, Hints, Server, Work, Worker},
    domain::token::Fingerprinter,
};

/// The queue is unbounded.
type Thread = Worker<mpsc::Sender<Box<dyn Work<Fault>>>>;

pub(super) struct Engine {
    location: Location,
    /// For reads of a few rows, which must not wait for commits. Dropped, and so closed, before the other connection:
    /// SQLite lets the last connection remove the log, and of two that close at the same time neither is the last.
    reads: Thread,
    /// More than one only for a server.
    requests: Vec<Thread>,
    lanes: Lanes,
    /// For a server: where the hints of other writers arrive.
    server: Option<Server>,
}

impl Engine {
    /// `is_ephemeral`: writes need not survive a crash of the machine.
    pub(super) fn of_file(
        path: &Path,
        is_ephemeral: bool,
    ) -> Result<(Self, Fingerprinter), DirectoryError> {
        // Absolute, because SQLite gives names like ":memory:" a meaning of their own.
        let path = std::path::absolute(path).map_err(|source| DirectoryError::Unusable {
            path: path.to_owned(),
            source: source.into(),
        })?;
        let (session, fingerprinter) = sql::File::open(&path)?;
        if is_ephemeral && let Some(connection) = &session.connection {
            let done = connection.execute_batch(EPHEMERAL).map_err(Fault::from);
            done.map_err(|fault| fault.explain(&path))?;
        }
        let location = Location::File(path.clone());
        let unusable = unusable(&location);
        let requests = Worker::start("directory", session, mpsc::channel()).map_err(&unusable)?;
        let (session, _) = sql::File::open(&path)?;
        let reads = Worker::start("directory-reads", session, mpsc::channel());
        let reads = reads.map_err(&unusable)?;
        let engine = Self {
            location,
            reads,
            requests: vec![requests],
            lanes: Lanes::new(1),
            server: None,
        };
        Ok((engine, fingerprinter))
    }

    /// Prepares the lanes to a server; they connect when the first request is made.
    pub(super) fn of_team(team: &TeamLocation) -> Result<Self, DirectoryError> {
        let location = Location::Team(team.clone());
        let server = team.server.clone().with_new_writer();
        let start = |name| Worker::start_on_server(name, server.clone(), mpsc::channel());
        let unusable = unusable(&location);
        let reads = start("directory-reads").map_err(&unusable)?;
        let requests = (0..team.connections).map(|_| start("directory"));
        let requests = requests.collect::<Result<Vec<_>, _>>().map_err(&unusable)?;
        Ok(Self {
            location,
            reads,
            lanes: Lanes::new(requests.len()),
            requests,
            server: Some(server),
        })
    }

    /// Subscribes to hints that others have written on the server. Must be called inside a Tokio runtime.
    pub(super) fn hints(&self) -> Option<Hints> {
        self.server.clone().map(Hints::of)
    }

    /// For a server: whether one patience is for all requests together.
    pub(super) fn set_is_of_command(&self, is_of_command: bool) {
        if let Some(server) = &self.server {
            server.set_is_of_command(is_of_command);
        }
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// The lane that should now handle requests about this subject.
    pub(super) fn lane_of(&self, subject: Option<Subject>) -> LaneGuard {
        self.lanes.take(subject)
    }

    pub(super) async fn execute<T>(
        &self,
        lane: usize,
        work: Box<dyn Work<Fault>>,
        answer: oneshot::Receiver<Result<T, Fault>>,
    ) -> Result<T, DirectoryError> {
        self.queue(lane, work)?;
        let answer = answer.await.map_err(|_| self.stopped())?;
        answer.map_err(|fault| self.explain(fault))
    }

    /// Sends the work to a thread and blocks until it is done.
    pub(super) fn execute_blocking<T>(
        &self,
        work: Box<dyn Work<Fault>>,
        answer: &mpsc::Receiver<Result<T, Fault>>,
    ) -> Result<T, DirectoryError> {
        self.queue(0, work)?;
        let answer = answer.recv().map_err(|_| self.stopped())?;
        answer.map_err(|fault| self.explain(fault))
    }

    fn queue(&self, lane: usize, work: Box<dyn Work<Fault>>) -> Result<(), DirectoryError> {
        let thread = match work.access() {
            Access::Short => &self.reads,
            Access::Long | Access::Write | Access::WriteOnce => &self.requests[lane],
        };
        let queue = thread.queue().ok_or_else(|| self.stopped())?;
        queue.send(work).map_err(|_| self.stopped())
    }

    fn explain(&self, fault: Fault) -> DirectoryError {
        match &self.location {
            Location::File(path) => fault.explain(path),
            Location::Team(team) => fault.explain_for_team(team),
        }
    }

    fn stopped(&self) -> DirectoryError {
        DirectoryError::Stopped {
            path: self.location.shown(),
        }
    }
}

fn unusable(location: &Location) -> impl Fn(std::io::Error) -> DirectoryError + use<> {
    let path = location.shown();
    move |source| DirectoryError::Unusable {
        path: path.clone(),
        source: Arc::new(source),
    }
}
