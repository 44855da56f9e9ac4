//! Limits how many items are in flight. An item that found nothing new releases its slot before it is written, so that
//! others can be sent meanwhile: many such readings share a transaction.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::sync::Notify;

use super::RunLimits;

/// How many items that have released their slots may still be being written.
const MAX_RELEASED: usize = 64;

/// The slots of a run.
#[derive(Debug)]
pub(super) struct SlotPool {
    slots: usize,
    released: Arc<Released>,
}

/// The items in flight that have released their slots.
#[derive(Debug, Default)]
struct Released {
    count: AtomicUsize,
    freed: Notify,
    /// Whether a slot was released since the last call of [`SlotPool::take_released`].
    has_news: AtomicBool,
}

/// The slot of an item in flight. An item that ends without releasing it occupies the slot until its end was handled.
#[derive(Debug, Default)]
pub struct Slot {
    released: Arc<Released>,
    is_released: Arc<AtomicBool>,
}

impl SlotPool {
    pub(super) fn of(limits: RunLimits) -> Self {
        Self {
            slots: limits.concurrency.max(1),
            released: Arc::default(),
        }
    }

    /// Whether another item may begin while this many are in flight.
    pub(super) fn is_free(&self, in_flight: usize) -> bool {
        let released = self.released.count.load(Ordering::SeqCst).min(MAX_RELEASED);
        in_flight.saturating_sub(released) < self.slots
    }

    pub(super) fn slot(&self) -> Slot {
        Slot {
            released: Arc::clone(&self.released),
            is_released: Arc::default(),
        }
    }

    /// Whether a slot was released since the last call.
    pub(super) fn take_released(&self) -> bool {
        self.released.has_news.swap(false, Ordering::SeqCst)
    }

    /// Waits until a slot is released.
    pub(super) async fn freed(&self) {
        self.released.freed.notified().await;
    }
}

impl Slot {
    /// Lets the next item begin: it does not depend on how this one ends any more.
    pub fn release(&mut self) {
        if !self.is_released.swap(true, Ordering::SeqCst) {
            self.released.has_news.store(true, Ordering::SeqCst);
            self.released.count.fetch_add(1, Ordering::SeqCst);
            self.released.freed.notify_one();
        }
    }

    /// Becomes true when the slot is released; still readable when the slot is gone.
    pub(super) fn early(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_released)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.is_released.load(Ordering::SeqCst) {
            self.released.count.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_released_slot_lets_another_item_begin_while_its_own_still_counts() {
        let pool = SlotPool::of(RunLimits {
            concurrency: 2,
            ..RunLimits::default()
        });
        let mut slots: Vec<_> = (0..2).map(|_| pool.slot()).collect();
        assert!(pool.is_free(1) && !pool.is_free(2));
        assert_eq!(pool.freed().now_or_never(), None);
        slots[0].release();
        slots[0].release();
        assert_eq!(pool.freed().now_or_never(), Some(()));
        assert!(pool.is_free(2) && !pool.is_free(3));
        // Ended, but not handled yet: two are still in flight.
        drop(slots);
        assert!(!pool.is_free(2));
    }

    #[test]
    fn the_number_of_released_slots_is_limited() {
        let pool = SlotPool::of(RunLimits::default());
        let mut slots: Vec<_> = (0..2 * MAX_RELEASED).map(|_| pool.slot()).collect();
        slots.iter_mut().for_each(Slot::release);
        let max = RunLimits::default().concurrency + MAX_RELEASED;
        assert!(pool.is_free(max - 1) && !pool.is_free(max));
    }
}
