//! Which transactions of a server a console has seen. Of several writers no number that is counted up tells in which order
//! rows became visible: what is new is what the last snapshot did not see.

use std::time::{Duration, Instant};

/// Sees nothing.
pub(in crate::directory) const NOTHING: &str = "1:1:";

/// For how long a server has to live on until it forgets no transaction of a snapshot in a crash: it writes its log several
/// times a second.
const LASTS: Duration = Duration::from_mins(1);

/// What a server says of itself when it is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::directory) struct Look {
    pub(in crate::directory) snapshot: String,
    /// Which installation, on which timeline: after a failover to a standby what was seen may be gone.
    pub(in crate::directory) server: String,
    /// The number of the line it was asked over; another one by now: the server may have crashed.
    pub(in crate::directory) line: u64,
    pub(in crate::directory) at: Instant,
}

/// After a crash numbers of transactions that nobody waited for are given out again: the last snapshot may name rows as seen
/// that were written since. What lasted is kept for then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::directory) struct Snapshots {
    last: Look,
    lasting: Option<String>,
    /// The next that lasts, and when it was taken.
    next: (String, Instant),
}

impl Snapshots {
    pub(in crate::directory) fn begin(look: Look) -> Self {
        Self {
            next: (look.snapshot.clone(), look.at),
            last: look,
            lasting: None,
        }
    }

    /// What this look is to tell: what that snapshot did not see. `None`: nobody has written.
    pub(in crate::directory) fn since(&self, look: &Look) -> Option<&str> {
        if look.server != self.last.server {
            return Some(NOTHING);
        }
        if look.line != self.last.line {
            // Of a server that is a copy from before, or another one's, nothing was seen.
            let lasting = self.lasting.as_deref();
            let lasting = lasting.filter(|lasting| end(lasting) <= end(&look.snapshot));
            return Some(lasting.unwrap_or(NOTHING));
        }
        (look.snapshot != self.last.snapshot).then_some(&*self.last.snapshot)
    }

    /// After that look.
    pub(in crate::directory) fn then(&self, look: Look) -> Self {
        if look.server != self.last.server {
            return Self::begin(look);
        }
        let (mut lasting, mut next) = (self.lasting.clone(), self.next.clone());
        let taken = (look.snapshot.clone(), look.at);
        if look.line != self.last.line {
            next = taken;
        } else if look.at.saturating_duration_since(next.1) >= LASTS {
            lasting = Some(std::mem::replace(&mut next, taken).0);
        }
        Self {
            last: look,
            lasting,
            next,
        }
    }
}

/// The first transaction that was not begun yet.
fn end(snapshot: &str) -> Option<u64> {
    snapshot.split(':').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_another_line_only_a_snapshot_that_the_server_outlived_counts() {
        let begun = Instant::now();
        let look = |snapshot: &str, line, seconds| Look {
            snapshot: snapshot.into(),
            server: "desk/1".into(),
            line,
            at: begun + Duration::from_secs(seconds),
        };
        let since = |seen: &Snapshots, snapshot, line| {
            let since = seen.since(&look(snapshot, line, 0));
            since.map(str::to_owned)
        };
        let some = |text: &str| Some(text.to_owned());
        let first = Snapshots::begin(look("3:3:", 1, 0));
        assert_eq!(since(&first, "3:3:", 1), None, "nobody has written");
        assert_eq!(since(&first, "3:4:", 1), some("3:3:"));
        assert_eq!(
            since(&first, "3:3:", 2),
            some(NOTHING),
            "nothing is certain"
        );

        let second = first.then(look("5:5:", 1, 59));
        assert_eq!(since(&second, "6:6:", 1), some("5:5:"));
        assert_eq!(since(&second, "6:6:", 2), some(NOTHING));

        // The first one has lasted; that time went by while there was no line says nothing.
        let third = second.then(look("7:7:", 1, 60));
        assert_eq!(since(&third, "7:7:", 2), some("3:3:"));
        let back = third.then(look("4:4:", 2, 500));
        assert_eq!(since(&back, "6:6:", 2), some("4:4:"));
        assert_eq!(since(&back, "6:6:", 3), some("3:3:"), "as before");
        let soon = back.then(look("8:8:", 2, 559));
        assert_eq!(since(&soon, "9:9:", 3), some("3:3:"));
        let later = soon.then(look("9:9:", 2, 560));
        assert_eq!(since(&later, "9:9:", 3), some("4:4:"));

        // A copy of the tables that was put back has begun to count anew.
        assert_eq!(since(&later, "3:3:", 3), some(NOTHING));

        // Another server took over: nothing that was seen counts, on no line.
        let elsewhere = |line| Look {
            server: "desk/2".into(),
            ..look("9:9:", line, 600)
        };
        assert_eq!(later.since(&elsewhere(2)), Some(NOTHING));
        let over = later.then(elsewhere(3));
        assert_eq!(over.since(&elsewhere(4)), Some(NOTHING));
    }
}
