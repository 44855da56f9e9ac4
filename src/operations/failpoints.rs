//! Points at which tests interrupt a rotation (docs/design/rotation.md) or make a process fail: how the program reports its
//! own internal errors cannot be tested otherwise. Without the feature `failpoints` these points do nothing.

use std::io;
#[cfg(feature = "failpoints")]
use std::sync::Arc;

use super::Operations;

/// A point that a rotation passes, numbered as in docs/design/rotation.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failpoint {
    /// 1: the preflight is done, nothing is written.
    BeforeIntent,
    /// 2
    IntentDurable,
    /// 3: nothing has been sent yet.
    SentDurable,
    /// 5: the answer, or the error in its place, is in memory only.
    Answered,
    /// 5 again: the directory did not let this operator record it.
    ShutOut,
    /// 6: nobody has seen the outcome yet.
    OutcomeDurable,
    /// 8
    UnknownDurable,
    /// 9: before a get is sent, also that of the preflight.
    BeforeGet,
    /// 10: the answer to the get is in memory only.
    GetAnswered,
    /// 11: what followed from the get is durable.
    GetDurable,
    /// 12: one item of a batch has ended, and the next has not started.
    ItemEnded,
}

/// Watcher of the points; there is none outside tests.
#[derive(Clone, Default)]
pub(super) struct Failpoints {
    #[cfg(feature = "failpoints")]
    watcher: Option<Arc<dyn Fn(Failpoint) + Send + Sync>>,
}

impl Failpoints {
    #[cfg(feature = "failpoints")]
    fn reached(&self, point: Failpoint) {
        if let Some(watcher) = &self.watcher {
            watcher(point);
        }
        // Only a panic is possible here.
        drop(fail_at(&format!("{point:?}")));
    }

    #[cfg(not(feature = "failpoints"))]
    #[expect(clippy::unused_self, reason = "called alike with the feature")]
    fn reached(&self, _: Failpoint) {}
}

impl Operations {
    pub(super) fn reached(&self, point: Failpoint) {
        self.0.points.reached(point);
    }

    /// Calls `watcher` at every point.
    ///
    /// # Panics
    /// If another handle already exists.
    #[cfg(feature = "failpoints")]
    #[must_use]
    pub fn watched(mut self, watcher: impl Fn(Failpoint) + Send + Sync + 'static) -> Self {
        let inner = Arc::get_mut(&mut self.0).expect("watched before it is shared");
        inner.points.watcher = Some(Arc::new(watcher));
        self
    }
}

/// Names the point and how to fail there: `panic PLACE MESSAGE` or `error PLACE MESSAGE`.
#[cfg(feature = "failpoints")]
const BREAK: &str = "GROUPDESK_TEST_BREAK";

/// Passes a point. Returns an error if the variable asks for one.
///
/// # Panics
/// If the variable asks for a panic.
#[cfg(feature = "failpoints")]
pub fn fail_at(place: &str) -> io::Result<()> {
    let spec = std::env::var(BREAK).unwrap_or_default();
    let mut words = spec.splitn(3, ' ');
    let how = words.next();
    if words.next() != Some(place) {
        return Ok(());
    }
    let message = words.next().unwrap_or_default();
    assert!(how != Some("panic"), "{message}");
    Err(io::Error::other(message.to_owned()))
}

#[cfg(not(feature = "failpoints"))]
pub fn fail_at(_: &str) -> io::Result<()> {
    Ok(())
}
