//! Notices what others write into the directory: a hint that something was written, then a look that finds out what.
//! For a file, the hint is a file system event; nothing is polled.

pub(super) mod requests;

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{PlaceId, RotationRow};
use crate::{
    domain::{
        active_change::ActiveChange, annotation::Annotation, group::UserGroupId, known::KnownGroup,
    },
    search::SavedView,
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
        /// The number of the last write of a note, of labels or of a favourite.
        annotation: i64,
        /// The commits of others that the connection had seen, and its own count; see `changes::commits`.
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
    /// The groups whose notes, labels or favourites were written, here as well.
    pub annotations: Vec<(UserGroupId, Annotation)>,
    /// All saved views, by name.
    pub saved_views: Vec<SavedView>,
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
