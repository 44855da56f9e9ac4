//! Notices what others write into the directory: a hint that something was written, then a look that finds out what.
//! For a file, the hint is a file system event; nothing is polled.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::{sync::watch, time::timeout};

use super::{
    Directory, DirectoryError, Location, Numbered, PlaceId, Result, RotationRow, TeamFault,
    sql::changes,
};
use crate::{
    db::{Access, Hints, ServerFault, Tx},
    domain::{active_change::ActiveChange, group::UserGroupId, history::Entry, known::KnownGroup},
    platform::{file_events::FileEvents, private_files::with_suffix},
};

/// What a look has seen of a place; the next one reports later changes. Only meaningful to its own directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeCursor {
    pub(super) place: PlaceId,
    pub(super) seen: Seen,
}

/// How far the history was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryCursor(pub(super) ChangeCursor);

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    File {
        /// The number of the last write of a group.
        change: i64,
        /// The commits of others that the connection had seen, and the number of the connection.
        commits: (u64, i64),
    },
    Team(Snapshots),
}

impl ChangeCursor {
    pub fn place(&self) -> PlaceId {
        self.place
    }
}

/// What others have changed in a place. Rows are complete; one may be reported twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// In the order of their writes.
    pub groups: Vec<KnownGroup>,
    /// Whether more groups have changed than are reported: the place has to be read again.
    pub are_more: bool,
    /// All rotations with an unknown outcome.
    pub open: Vec<RotationRow>,
    /// All drafts.
    pub drafts: Vec<DraftHead>,
    pub status: PlaceStatus,
    /// Who is changing which group right now; filled in by `operations`, which has a clock.
    pub at_work: Vec<ActiveChange>,
}

/// A draft without its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftHead {
    pub id: UserGroupId,
    /// When it was changed.
    pub at: Timestamp,
    pub by: String,
}

/// The state of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceStatus {
    /// The place that was looked at; changes if the profile was bound to another one.
    pub place: PlaceId,
    /// Number of unacknowledged alarms.
    pub alarms: u32,
}

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

    /// Returns what others have changed in the place since the last call; `None` if nobody else has written. Waits for
    /// a commit in progress, so that a hint from the middle of a commit is enough.
    pub async fn read_changes(&mut self, place: PlaceId) -> Result<Option<Changes>> {
        let seen = self.cursor.clone();
        // On a server nobody needs to wait.
        let access = match self.directory.location() {
            Location::File(_) => Access::Write,
            Location::Team(_) => Access::Long,
        };
        let read_changes = move |tx: &Tx<'_>| changes::since(tx, place, &seen);
        let read = self.directory.execute(access, read_changes).await?;
        self.cursor = read.next;
        self.refused = read.refused;
        Ok(read.changes)
    }

    /// Why the directory could not be written at the last call although it could be read: rights or tables have
    /// changed.
    pub fn write_refusal(&self) -> Option<DirectoryError> {
        Some(self.directory.refused(self.refused.clone()?))
    }
}

// Which transactions of a server a console has seen. With several writers, no ascending number tells in which order rows
// became visible: a change is new if the last snapshot did not see it.

/// Sees nothing.
pub(super) const NOTHING: &str = "1:1:";

/// How long a server must stay up until no transaction of a snapshot can be lost in a crash: it writes its log several
/// times a second.
const LASTING_AFTER: Duration = Duration::from_mins(1);

/// The state of the server when changes were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerState {
    pub(super) snapshot: String,
    /// The installation and its timeline: after a failover to a standby, what was seen may be gone.
    pub(super) server: String,
    /// The number of the connection used; if it changes, the server may have crashed.
    pub(super) connection: u64,
    pub(super) at: Instant,
}

/// After a crash a server reuses transaction numbers of commits that nobody waited for: the last snapshot may then
/// claim to have seen rows that were written later. A lasting snapshot is kept for that case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshots {
    last: ServerState,
    lasting: Option<String>,
    /// The next snapshot to become the lasting one, and when it was taken.
    next: (String, Instant),
}

impl Snapshots {
    pub(super) fn begin(state: ServerState) -> Self {
        Self {
            next: (state.snapshot.clone(), state.at),
            last: state,
            lasting: None,
        }
    }

    /// The snapshot to report changes against. `None` if nobody has written.
    pub(super) fn since(&self, state: &ServerState) -> Option<&str> {
        if state.server != self.last.server {
            return Some(NOTHING);
        }
        if state.connection != self.last.connection {
            // If the server was restored from an earlier copy, or is another one, nothing of it was seen.
            let lasting = self.lasting.as_deref();
            let lasting = lasting.filter(|lasting| end(lasting) <= end(&state.snapshot));
            return Some(lasting.unwrap_or(NOTHING));
        }
        (state.snapshot != self.last.snapshot).then_some(&*self.last.snapshot)
    }

    /// The snapshots to remember after that read.
    pub(super) fn then(&self, state: ServerState) -> Self {
        if state.server != self.last.server {
            return Self::begin(state);
        }
        let (mut lasting, mut next) = (self.lasting.clone(), self.next.clone());
        let taken = (state.snapshot.clone(), state.at);
        if state.connection != self.last.connection {
            next = taken;
        } else if state.at.saturating_duration_since(next.1) >= LASTING_AFTER {
            lasting = Some(std::mem::replace(&mut next, taken).0);
        }
        Self {
            last: state,
            lasting,
            next,
        }
    }
}

/// The first transaction number that was not assigned yet.
fn end(snapshot: &str) -> Option<u64> {
    snapshot.split(':').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_another_line_only_a_snapshot_that_the_server_outlived_counts() {
        let begun = Instant::now();
        let state = |snapshot: &str, connection, seconds| ServerState {
            snapshot: snapshot.into(),
            server: "desk/1".into(),
            connection,
            at: begun + Duration::from_secs(seconds),
        };
        let since = |seen: &Snapshots, snapshot, connection| {
            let since = seen.since(&state(snapshot, connection, 0));
            since.map(str::to_owned)
        };
        let some = |text: &str| Some(text.to_owned());
        let first = Snapshots::begin(state("3:3:", 1, 0));
        assert_eq!(since(&first, "3:3:", 1), None, "nobody has written");
        assert_eq!(since(&first, "3:4:", 1), some("3:3:"));
        assert_eq!(
            since(&first, "3:3:", 2),
            some(NOTHING),
            "nothing is certain"
        );

        let second = first.then(state("5:5:", 1, 59));
        assert_eq!(since(&second, "6:6:", 1), some("5:5:"));
        assert_eq!(since(&second, "6:6:", 2), some(NOTHING));

        // The first snapshot is lasting; time that passed without a connection does not count.
        let third = second.then(state("7:7:", 1, 60));
        assert_eq!(since(&third, "7:7:", 2), some("3:3:"));
        let back = third.then(state("4:4:", 2, 500));
        assert_eq!(since(&back, "6:6:", 2), some("4:4:"));
        assert_eq!(since(&back, "6:6:", 3), some("3:3:"), "as before");
        let soon = back.then(state("8:8:", 2, 559));
        assert_eq!(since(&soon, "9:9:", 3), some("3:3:"));
        let later = soon.then(state("9:9:", 2, 560));
        assert_eq!(since(&later, "9:9:", 3), some("4:4:"));

        // Restored tables have started to count again.
        assert_eq!(since(&later, "3:3:", 3), some(NOTHING));

        // Another server took over: nothing that was seen counts, whatever the connection.
        let elsewhere = |connection| ServerState {
            server: "desk/2".into(),
            ..state("9:9:", connection, 600)
        };
        assert_eq!(later.since(&elsewhere(2)), Some(NOTHING));
        let over = later.then(elsewhere(3));
        assert_eq!(over.since(&elsewhere(4)), Some(NOTHING));
    }
}
