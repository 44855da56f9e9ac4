//! How long ago a rotation was sent, for the settle horizon (rotation.md, H): by the monotonic clock where this process
//! sent it, else by the wall clock of the journal. It decides nothing.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use crate::directory::{JournalRow, RotationId};

/// One moment on both clocks; a clock that stands still has no monotonic one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub wall: Timestamp,
    pub monotonic: Option<Instant>,
}

/// When this process sent which rotation.
#[derive(Debug, Default)]
pub(super) struct Sendings(Mutex<HashMap<RotationId, Instant>>);

impl Sendings {
    pub(super) fn note(&self, id: RotationId, at: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(id, at);
    }

    /// Time from the sending (from the intent where nothing was sent) to a moment; zero when a clock went back.
    pub(super) fn since(&self, row: &JournalRow, now: Moment) -> Duration {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (known.get(&row.id), now.monotonic) {
            (Some(sent), Some(now)) => now.saturating_duration_since(*sent),
            _ => between(row.sent_at.unwrap_or(row.started_at), now.wall),
        }
    }
}

/// Time between two moments of the wall clock; zero when the clock went back.
pub(super) fn between(earlier: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(earlier)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        group::UserGroupId, handoff::HandOff, rotation::Rotation, token::Fingerprint,
    };

    fn row(number: i64) -> JournalRow {
        JournalRow {
            id: RotationId(number),
            profile: "eu".into(),
            user_group_id: UserGroupId::parse("acme").expect("a valid id"),
            rotation: Rotation::intended(Fingerprint::from_bytes([1; 32])),
            by: "ana".into(),
            reason: None,
            started_at: Timestamp::UNIX_EPOCH,
            sent_at: None,
            note: None,
            handoff: HandOff::default(),
        }
    }

    #[test]
    fn a_wall_clock_that_jumps_ends_no_horizon_of_this_process() {
        let sendings = Sendings::default();
        let sent = Instant::now();
        sendings.note(RotationId(1), sent);
        let second = Duration::from_secs(1);
        let now = Moment {
            wall: Timestamp::UNIX_EPOCH + Duration::from_hours(10),
            monotonic: Some(sent + second),
        };
        assert_eq!(sendings.since(&row(1), now), second);
        let others = sendings.since(&row(2), now);
        assert_eq!(others, Duration::from_hours(10), "sent by another process");
        let back = Moment {
            wall: Timestamp::UNIX_EPOCH - second,
            ..now
        };
        assert_eq!(sendings.since(&row(2), back), Duration::ZERO);
    }
}
