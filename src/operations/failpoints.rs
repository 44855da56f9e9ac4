//! The places of docs/design/rotation.md where tests interrupt a rotation. Without the feature `failpoints` there is
//! nothing to switch on: passing a point compiles to nothing.

#[cfg(feature = "failpoints")]
use std::sync::Arc;

use super::Operations;

/// A place that a rotation passes; the numbers are those of docs/design/rotation.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failpoint {
    /// 1: the preflight is done, nothing is written.
    BeforeIntent,
    /// 2
    IntentDurable,
    /// 3: nothing has left.
    SentDurable,
    /// 5: the answer, or what came in its place, is in memory only.
    Answered,
    /// 6: nobody has seen it.
    OutcomeDurable,
    /// 8
    UnknownDurable,
    /// 9: a get is about to leave; also of the preflight.
    BeforeGet,
    /// 10: what the get brought is in memory only.
    GetAnswered,
    /// 11: what followed from the get is on disk.
    GetDurable,
    /// 12: one of a bulk has ended, and the next has not begun.
    ItemEnded,
}

/// Who is told of the points; nobody outside tests.
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
        // Here it can only panic.
        drop(super::break_at(&format!("{point:?}")));
    }

    #[cfg(not(feature = "failpoints"))]
    #[expect(clippy::unused_self, reason = "called alike with the feature")]
    fn reached(&self, _: Failpoint) {}
}

impl Operations {
    pub(super) fn reached(&self, point: Failpoint) {
        self.0.points.reached(point);
    }

    /// Tells `watcher` of every point, at the point.
    ///
    /// # Panics
    /// When there already is another handle.
    #[cfg(feature = "failpoints")]
    #[must_use]
    pub fn watched(mut self, watcher: impl Fn(Failpoint) + Send + Sync + 'static) -> Self {
        let inner = Arc::get_mut(&mut self.0).expect("watched before it is shared");
        inner.points.watcher = Some(Arc::new(watcher));
        self
    }
}
