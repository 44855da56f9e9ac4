//! Waits for hints, and reads what has changed.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::{sync::watch, time::timeout};

use super::{ChangeCursor, Changes, HistoryCursor};
use crate::{
    db::{Access, Hints, ServerFault, Tx},
    directory::{
        Directory, DirectoryError, Location, Numbered, PlaceId, Result, TeamFault, sql::changes,
    },
    domain::history::Entry,
    platform::{file_events::FileEvents, private_files::with_suffix},
};

/// Where hints come from.
enum Events {
    File(FileEvents),
    Team(Hints),
}

/// Watches one place from a cursor on.
pub struct Watch {
    directory: Directory,
    cursor: ChangeCursor,
    events: Option<Events>,
    refused: Option<TeamFault>,
}

impl Directory {
    fn refused(&self, fault: impl Into<TeamFault>) -> DirectoryError {
        DirectoryError::of_team(&self.location().shown().display(), fault)
    }

    /// Returns the cursor from which a later read misses nothing written later.
    pub async fn cursor(&self, place: PlaceId) -> Result<ChangeCursor> {
        // On the connection that reads the changes, so that writes of this directory in between need no read.
        self.execute(Access::Long, move |c| changes::cursor(c, place))
            .await
    }

    /// Returns the history entries of a place that were not seen yet, oldest first, and the cursor of the next call;
    /// without a cursor only the latter. After a lost connection an entry may be reported twice.
    pub async fn history_since(
        &self,
        place: PlaceId,
        cursor: Option<HistoryCursor>,
    ) -> Result<(HistoryCursor, Vec<Numbered<Entry>>)> {
        let read_changes = move |tx: &Tx<'_>| changes::history(tx, place, cursor.as_ref());
        self.execute(Access::Long, read_changes).await
    }

    /// Watches what others write from this cursor on; writes of this directory are not reported. Must be called inside
    /// a Tokio runtime.
    pub fn watch(&self, from: ChangeCursor) -> Watch {
        Watch {
            directory: self.clone(),
            cursor: from,
            // A commit is appended to the log before it takes effect; a server sends its hint after the commit.
            events: match (self.location(), &self.0.engine.server) {
                (_, Some(server)) => Some(Events::Team(Hints::of(server.clone()))),
                (Location::File(path), None) => {
                    FileEvents::of(&with_suffix(path, "-wal")).map(Events::File)
                }
                (Location::Team(_), None) => None,
            },
            refused: None,
        }
    }
}

/// The state of the connection to a directory, for callers that want to know whether it is up. That to a file never
/// breaks.
pub struct WatchedConnection {
    directory: Directory,
    down: Option<watch::Receiver<Option<ServerFault>>>,
}

impl WatchedConnection {
    /// Waits until the connection has been down for `time`, and returns why. Waits without end while it is up.
    pub async fn lost_for(&mut self, time: Duration) -> DirectoryError {
        let Some(down) = &mut self.down else {
            return std::future::pending().await;
        };
        loop {
            // If the sender is gone, nothing is lost.
            if down.wait_for(Option::is_some).await.is_err() {
                return std::future::pending().await;
            }
            let is_back = timeout(time, down.wait_for(Option::is_none)).await.is_ok();
            let fault = down.borrow().clone().filter(|_| !is_back);
            if let Some(fault) = fault {
                return self.directory.refused(fault);
            }
        }
    }

    /// Whether the connection is down now.
    pub fn is_lost(&self) -> bool {
        let down = self.down.as_ref();
        down.is_some_and(|down| down.borrow().is_some())
    }
}

impl Watch {
    /// Whether the system reports writes. Otherwise the caller has to poll.
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// Behaves as on a file system that does not report writes.
    pub fn disable_events(&mut self) {
        self.events = None;
    }

    /// Waits until something may have been written; without end if nothing reports that.
    pub async fn maybe_written(&mut self) {
        match &mut self.events {
            Some(Events::File(events)) => events.next().await,
            Some(Events::Team(hints)) => hints.next().await,
            None => std::future::pending().await,
        }
    }

    /// The state of the connection that brings the hints.
    pub fn connection(&self) -> WatchedConnection {
        WatchedConnection {
            directory: self.directory.clone(),
            down: match &self.events {
                Some(Events::Team(hints)) => Some(hints.down()),
                Some(Events::File(_)) | None => None,
            },
        }
    }

    /// Where a later look can be begun again, and how many notes, labels and views had been written here.
    pub fn position(&self) -> (ChangeCursor, u64) {
        let written = self.directory.0.written_beside.load(Ordering::Acquire);
        (self.cursor.clone(), written)
    }

    /// Whether something was written here since that position that a look from there may have missed; then it is to be
    /// repeated, and begins there. Otherwise its older values could replace what was just saved.
    pub fn missed(&mut self, (cursor, written): (ChangeCursor, u64)) -> bool {
        let is_missed = self.position().1 != written;
        if is_missed {
            self.cursor = cursor;
        }
        is_missed
    }

    /// Returns what others have changed in the place since the last call; `None` if nobody else has written. Waits for
    /// a commit in progress, so that a hint from the middle of a commit is enough.
    pub async fn read_changes(&mut self, place: PlaceId) -> Result<Option<Changes>> {
        let seen = self.cursor.clone();
        // On a server nobody needs to wait.
        let access = match self.directory.location() {
            Location::File(_) if self.directory.0.engine.unwritable().is_none() => Access::Write,
            _ => Access::Long,
        };
        let read_changes = move |tx: &Tx<'_>| changes::since(tx, place, &seen);
        let read = self.directory.execute(access, read_changes).await?;
        self.cursor = read.next;
        self.refused = read.refused;
        Ok(read.changes)
    }

    /// Why the directory could not be written at the last call although it could be read: rights or tables have
    /// changed, or the disk of a file is full or read-only.
    pub fn write_refusal(&self) -> Option<DirectoryError> {
        match &self.refused {
            Some(fault) => Some(self.directory.refused(fault.clone())),
            None => self.directory.0.engine.unwritable(),
        }
    }
}
