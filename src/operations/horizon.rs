//! How long ago a rotation was sent, for the settle horizon (docs/design/rotation.md, H): by the monotonic clock where
//! this process sent it, by the time since the machine started where another one did, else by the wall clock. It
//! decides nothing.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use crate::directory::{BootTime, JournalRow, RotationId};

/// One moment on all clocks; a clock of tests may have only the wall's.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub wall: Timestamp,
    pub monotonic: Option<Instant>,
    pub boot: Option<BootTime>,
}

impl Moment {
    /// Time from an earlier moment to this one, sleep included where a clock tells of it.
    pub(super) fn since(&self, earlier: &Self) -> Duration {
        let by_boot = self.boot.as_ref().zip(earlier.boot.as_ref());
        let by_boot = by_boot.and_then(|(now, earlier)| now.since(earlier));
        let monotonic = self.monotonic.zip(earlier.monotonic);
        let monotonic = monotonic.map(|(now, earlier)| now.saturating_duration_since(earlier));
        by_boot
            .or(monotonic)
            .unwrap_or_else(|| between(earlier.wall, self.wall))
    }

    /// Time since something that was written down, perhaps by another process.
    pub(super) fn since_recorded(&self, boot: Option<&BootTime>, wall: Timestamp) -> Duration {
        let by_boot = boot.zip(self.boot.as_ref());
        by_boot
            .and_then(|(sent, now)| now.since(sent))
            .unwrap_or_else(|| between(wall, self.wall))
    }
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
    pub(super) fn since(&self, row: &JournalRow, now: &Moment) -> Duration {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(sent), Some(now)) = (known.get(&row.id), now.monotonic) {
            return now.saturating_duration_since(*sent);
        }
        let wall = row.sent_at.unwrap_or(row.started_at);
        now.since_recorded(row.boot_clock.as_ref(), wall)
    }
}

/// Time between two moments of the wall clock; zero when the clock went back.
pub(super) fn between(earlier: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(earlier)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::PlaceId;
    use crate::domain::{
        group::UserGroupId, handoff::HandOff, rotation::Rotation, token::Fingerprint,
    };

    fn row(number: i64) -> JournalRow {
        JournalRow {
            id: RotationId(number),
            place: PlaceId(1),
            profile: "eu".into(),
            hands_off: false,
            user_group_id: UserGroupId::parse("acme").expect("a valid id"),
            rotation: Rotation::intended(Fingerprint::from_bytes([1; 32])),
            by: "ana".into(),
            reason: None,
            started_at: Timestamp::UNIX_EPOCH,
            sent_at: None,
            note: None,
            handoff: HandOff::default(),
            boot_clock: None,
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
            boot: BootTime::now(),
        };
        assert_eq!(sendings.since(&row(1), &now), second);
        let others = sendings.since(&row(2), &now);
        assert_eq!(others, Duration::from_hours(10), "nothing but the wall");
        if now.boot.is_some() {
            let mut others = row(2);
            others.boot_clock.clone_from(&now.boot);
            let since = sendings.since(&others, &now);
            assert_eq!(since, Duration::ZERO, "sent by another process");
        }
        let back = Moment {
            wall: Timestamp::UNIX_EPOCH - second,
            ..now
        };
        assert_eq!(sendings.since(&row(2), &back), Duration::ZERO);
    }
}
