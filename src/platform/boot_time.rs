//! A clock that nobody can set and that all processes of a machine share: the time since boot, together with the boot
//! id. The wall clock is for people to read; this one decides (docs/design/rotation.md, H).

use std::{fmt, sync::OnceLock, time::Duration};

use jiff::SignedDuration;

use super::test_clock::ahead;

/// Prefix of an age that was measured by the clock of a shared database.
const AGE: &str = "age";

/// A moment relative to the machine's boot. It may be before the boot, if it comes from an age measured by a shared
/// clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootTime {
    boot: String,
    since: SignedDuration,
}

impl BootTime {
    /// `None` if the system does not provide a boot id.
    pub fn now() -> Option<Self> {
        Some(Self {
            boot: boot_id()?.to_owned(),
            since: SignedDuration::try_from(since_boot()? + ahead()).ok()?,
        })
    }

    /// Time from an earlier moment to this one; `None` if the machine was restarted in between.
    pub fn since(&self, earlier: &Self) -> Option<Duration> {
        let since = self.since.saturating_sub(earlier.since);
        (self.boot == earlier.boot).then(|| Duration::try_from(since).unwrap_or_default())
    }

    /// Parses the format of [`fmt::Display`], or `age:` followed by the microseconds that have passed until now.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (boot, micros) = text.split_once(':')?;
        let since = SignedDuration::from_micros(micros.parse().ok()?);
        if boot == AGE {
            let now = Self::now()?;
            let since = now.since.saturating_sub(since);
            return Some(Self { since, ..now });
        }
        Some(Self {
            boot: boot.to_owned(),
            since,
        })
    }
}

/// The id of this boot of this machine; `None` if the system does not provide one.
pub(super) fn boot_id() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let boot = BOOT.get_or_init(|| {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(boot.trim().to_owned()).filter(|boot| !boot.is_empty())
    });
    boot.as_deref()
}

/// A clock that keeps running while the machine sleeps.
#[cfg(target_os = "linux")]
fn since_boot() -> Option<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(now).ok()
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Option<Duration> {
    None
}

impl fmt::Display for BootTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.boot, self.since.as_micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written_and_counts_within_one_boot_only() {
        let earlier = BootTime::parse("one:1500000").expect("read");
        assert_eq!(earlier.to_string(), "one:1500000");
        let later = BootTime::parse("one:2500000").expect("read");
        assert_eq!(later.since(&earlier), Some(Duration::from_secs(1)));
        assert_eq!(earlier.since(&later), Some(Duration::ZERO));
        let other = BootTime::parse("two:9500000").expect("read");
        assert_eq!(other.since(&earlier), None);
        if BootTime::now().is_some() {
            let earlier = BootTime::parse("age:36000000000000").expect("read");
            let now = BootTime::now().expect("it is there");
            let age = now.since(&earlier).expect("of this machine");
            assert!(age >= Duration::from_hours(10_000), "{age:?}");
        }
        assert_eq!(BootTime::parse("one"), None);
        assert_eq!(BootTime::parse("one:x"), None);
    }
}
