//! Which transactions of a server a console has seen. Of several writers no number that is counted up tells in which order
//! rows became visible: what is new is what the last snapshot did not see.

use std::time::{Duration, Instant};

/// Sees nothing.
pub(in crate::directory) const NOTHING: &str = "1:1:";

/// For how long a server has to live on until it forgets no transaction of a snapshot in a crash: it writes its log several
/// times a second.
const LASTS: Duration = Duration::from_mins(1);

/// After a crash numbers of transactions that nobody waited for are given out again: the last snapshot may name rows as seen
/// that were written since. What lasted is kept for then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::directory) struct Snapshots {
    last: String,
    /// The number of the line it was asked over; another one by now: the server may have crashed.
    line: u64,
    lasting: Option<String>,
    /// The next that lasts, and when it was taken.
    next: (String, Instant),
}

impl Snapshots {
    pub(in crate::directory) fn begin(snapshot: String, line: u64, now: Instant) -> Self {
        Self {
            next: (snapshot.clone(), now),
            last: snapshot,
            line,
            lasting: None,
        }
    }

    /// What a look over this line with this snapshot is to tell: what that one did not see. `None`: nobody has written.
    pub(in crate::directory) fn since(&self, snapshot: &str, line: u64) -> Option<&str> {
        if line != self.line {
            return Some(self.lasting.as_deref().unwrap_or(NOTHING));
        }
        (snapshot != self.last).then_some(&*self.last)
    }

    /// After that look.
    pub(in crate::directory) fn then(&self, snapshot: String, line: u64, now: Instant) -> Self {
        let (mut lasting, mut next) = (self.lasting.clone(), self.next.clone());
        if line != self.line {
            next = (snapshot.clone(), now);
        } else if now.saturating_duration_since(next.1) >= LASTS {
            lasting = Some(std::mem::replace(&mut next, (snapshot.clone(), now)).0);
        }
        Self {
            last: snapshot,
            line,
            lasting,
            next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_another_line_only_a_snapshot_that_the_server_outlived_counts() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let first = Snapshots::begin("3:3:".into(), 1, begun);
        assert_eq!(first.since("3:3:", 1), None, "nobody has written");
        assert_eq!(first.since("3:4:", 1), Some("3:3:"));
        assert_eq!(first.since("3:3:", 2), Some(NOTHING), "nothing is certain");

        let second = first.then("5:5:".into(), 1, after(59));
        assert_eq!(second.since("6:6:", 1), Some("5:5:"));
        assert_eq!(second.since("6:6:", 2), Some(NOTHING));

        // The first one has lasted; that time went by while there was no line says nothing.
        let third = second.then("7:7:".into(), 1, after(60));
        assert_eq!(third.since("7:7:", 2), Some("3:3:"));
        let back = third.then("4:4:".into(), 2, after(500));
        assert_eq!(back.since("6:6:", 2), Some("4:4:"));
        assert_eq!(back.since("6:6:", 3), Some("3:3:"), "as before");
        let soon = back.then("8:8:".into(), 2, after(559));
        assert_eq!(soon.since("9:9:", 3), Some("3:3:"));
        let later = soon.then("9:9:".into(), 2, after(560));
        assert_eq!(later.since("9:9:", 3), Some("4:4:"));
    }
}
