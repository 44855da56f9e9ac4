//! How long ago a rotation was sent, for the settle window (docs/design/rotation.md, H): by the monotonic clock if this
//! process sent it, by the time since boot if another process of this machine did, otherwise by the wall clock. Decides
//! nothing.

use std::time::Instant;

use crate::{operations::prelude::*, platform::clock::Moment};

/// When this process sent which rotation.
#[derive(Debug, Default)]
pub(crate) struct SentTimes(Mutex<HashMap<RotationId, Instant>>);

impl SentTimes {
    pub(crate) fn note(&self, id: RotationId, at: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(id, at);
    }

    /// Time from the sending (or from the intent if nothing was sent) to `now`; zero if a clock went back.
    pub(crate) fn since(&self, row: &RotationRow, now: &Moment) -> Duration {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(sent), Some(now)) = (known.get(&row.id), now.monotonic) {
            return now.saturating_duration_since(*sent);
        }
        let wall = row.sent_at.unwrap_or(row.started_at);
        now.since_recorded(row.boot_clock.as_ref(), wall)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        directory::PlaceId,
        domain::{group::UserGroupId, handoff::HandOff, rotation::Rotation, token::Fingerprint},
        platform::boot_time::BootTime,
    };

    fn row(number: i64) -> RotationRow {
        RotationRow {
            id: RotationId(number),
            place: PlaceId(1),
            profile: "eu".into(),
            hands_off: false,
            user_group_id: UserGroupId::parse("acme").expect("a valid ID"),
            rotation: Rotation::intended(Fingerprint::from_bytes([1; 32])),
            by: "ana".into(),
            reason: None,
            started_at: Timestamp::UNIX_EPOCH,
            sent_at: None,
            note: None,
            handoff: HandOff::default(),
            boot_clock: None,
            process: None,
            settles_in: Duration::ZERO,
            taker: None,
        }
    }

    #[test]
    fn a_wall_clock_that_jumps_ends_no_horizon_of_this_process() {
        let sent_times = SentTimes::default();
        let sent = Instant::now();
        sent_times.note(RotationId(1), sent);
        let second = Duration::from_secs(1);
        let now = Moment {
            wall: Timestamp::UNIX_EPOCH + Duration::from_hours(10),
            monotonic: Some(sent + second),
            boot: BootTime::now(),
        };
        assert_eq!(sent_times.since(&row(1), &now), second);
        let others = sent_times.since(&row(2), &now);
        assert_eq!(others, Duration::from_hours(10), "nothing but the wall");
        if now.boot.is_some() {
            let mut others = row(2);
            others.boot_clock.clone_from(&now.boot);
            let since = sent_times.since(&others, &now);
            assert_eq!(since, Duration::ZERO, "sent by another process");
        }
        let back = Moment {
            wall: Timestamp::UNIX_EPOCH - second,
            ..now
        };
        assert_eq!(sent_times.since(&row(2), &back), Duration::ZERO);
    }
}
