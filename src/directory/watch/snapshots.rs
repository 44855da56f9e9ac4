//! Which transactions of a server a console has seen. With several writers, no ascending number tells in which order
//! rows became visible: a change is new if the last snapshot did not see it.

use std::time::{Duration, Instant};

/// Sees nothing.
pub(in crate::directory) const NOTHING: &str = "1:1:";

/// How long a server must stay up until no transaction of a snapshot can be lost in a crash: it writes its log several
/// times a second.
const LASTING_AFTER: Duration = Duration::from_mins(1);

/// The state of the server when changes were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::directory) struct ServerState {
    pub(in crate::directory) snapshot: String,
    /// The installation and its timeline: after a failover to a standby, what was seen may be gone.
    pub(in crate::directory) server: String,
    /// The number of the connection used; if it changes, the server may have crashed.
    pub(in crate::directory) connection: u64,
    pub(in crate::directory) at: Instant,
}

/// After a crash a server reuses transaction numbers of commits that nobody waited for: the last snapshot may then
/// claim to have seen rows that were written later. A lasting snapshot is kept for that case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::directory) struct Snapshots {
    last: ServerState,
    lasting: Option<String>,
    /// The next snapshot to become the lasting one, and when it was taken.
    next: (String, Instant),
}

impl Snapshots {
    pub(in crate::directory) fn begin(state: ServerState) -> Self {
        Self {
            next: (state.snapshot.clone(), state.at),
            last: state,
            lasting: None,
        }
    }

    /// The snapshot to report changes against. `None` if nobody has written.
    pub(in crate::directory) fn since(&self, state: &ServerState) -> Option<&str> {
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
    pub(in crate::directory) fn then(&self, state: ServerState) -> Self {
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
