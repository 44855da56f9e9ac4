//! Where the time comes from. Nothing else in the console and the commands asks the machine for it.

use std::time::Instant;

use jiff::Timestamp;

use super::horizon::Moment;
use crate::directory::{BootTime, ahead};

/// Tests and pictures stand still, or go ahead of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// In a build with `failpoints` it can be moved from outside, for a whole process.
    #[default]
    System,
    Fixed(Timestamp),
    /// As far ahead of the machine as the file says each time.
    #[cfg(feature = "failpoints")]
    Ahead(&'static std::path::Path),
}

impl Clock {
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now() + ahead(),
            Self::Fixed(at) => at,
            #[cfg(feature = "failpoints")]
            Self::Ahead(file) => Timestamp::now() + crate::directory::ahead_by(file),
        }
    }

    pub(super) fn moment(self) -> Moment {
        let wall = self.now();
        match self {
            Self::System => Moment {
                wall,
                monotonic: Some(Instant::now() + ahead()),
                boot: BootTime::now(),
            },
            Self::Fixed(_) => Moment {
                wall,
                monotonic: None,
                boot: None,
            },
            // The directory writes down the boot time of its process, which does not follow one desk's file.
            #[cfg(feature = "failpoints")]
            Self::Ahead(file) => Moment {
                wall,
                monotonic: Some(Instant::now() + crate::directory::ahead_by(file)),
                boot: None,
            },
        }
    }
}
