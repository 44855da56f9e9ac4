//! The source of the time. Nothing else in the console and the commands reads the system clock.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{boot_time::BootTime, test_clock::ahead};

/// The clock. In tests and screen captures it stands still or runs ahead of the system clock.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// The system clock. In a build with `failpoints` it can be moved from outside for a whole process.
    #[default]
    System,
    Fixed(Timestamp),
    /// Ahead of the system clock by the amount in this file, which is read every time.
    #[cfg(feature = "failpoints")]
    Ahead(&'static std::path::Path),
    /// A wall clock that is wrong by this much; the other clocks are right, because nobody can set them.
    #[cfg(feature = "failpoints")]
    Wrong(jiff::SignedDuration),
}

impl Clock {
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now() + ahead(),
            Self::Fixed(at) => at,
            #[cfg(feature = "failpoints")]
            Self::Ahead(file) => Timestamp::now() + super::test_clock::ahead_by(file),
            #[cfg(feature = "failpoints")]
            Self::Wrong(by) => Timestamp::now() + by,
        }
    }

    pub(crate) fn moment(self) -> Moment {
        let wall = self.now();
        match self {
            Self::System => Moment {
                wall,
                monotonic: Some(Instant::now() + ahead()),
                boot: BootTime::now(),
            },
            #[cfg(feature = "failpoints")]
            Self::Wrong(_) => Moment {
                wall,
                ..Self::System.moment()
            },
            Self::Fixed(_) => Moment {
                wall,
                monotonic: None,
                boot: None,
            },
            // Leave it out: the directory records the boot time of its process, which does not follow the file of one
            // of its clocks.
            #[cfg(feature = "failpoints")]
            Self::Ahead(file) => Moment {
                wall,
                monotonic: Some(Instant::now() + super::test_clock::ahead_by(file)),
                boot: None,
            },
        }
    }
}

/// One moment on all clocks. A test clock may have only the wall clock.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub wall: Timestamp,
    pub monotonic: Option<Instant>,
    pub boot: Option<BootTime>,
}

impl Moment {
    /// Time from an earlier moment to this one. It includes sleep if a clock counts it.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        let by_boot = self.boot.as_ref().zip(earlier.boot.as_ref());
        let by_boot = by_boot.and_then(|(now, earlier)| now.since(earlier));
        let monotonic = self.monotonic.zip(earlier.monotonic);
        let monotonic = monotonic.map(|(now, earlier)| now.saturating_duration_since(earlier));
        by_boot
            .or(monotonic)
            .unwrap_or_else(|| between(earlier.wall, self.wall))
    }

    /// Time since something that was recorded, possibly by another process.
    pub(crate) fn since_recorded(&self, boot: Option<&BootTime>, wall: Timestamp) -> Duration {
        let by_boot = boot.zip(self.boot.as_ref());
        by_boot
            .and_then(|(sent, now)| now.since(sent))
            .unwrap_or_else(|| between(wall, self.wall))
    }
}

/// Time between two moments of the wall clock; zero if the clock was set back.
pub(crate) fn between(earlier: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(earlier)).unwrap_or_default()
}
