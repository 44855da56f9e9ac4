//! Room for so many items at the same time. What found nothing new is written down while others are sent: many such readings
//! share a transaction.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::sync::Notify;

use super::RunLimits;

/// How many items may still be written down that have given their slots back.
const BEHIND: usize = 64;

#[derive(Debug)]
pub struct Room {
    slots: usize,
    behind: Arc<Behind>,
}

#[derive(Debug, Default)]
struct Behind {
    count: AtomicUsize,
    freed: Notify,
    /// A slot was given back since this was asked last.
    has_news: AtomicBool,
}

/// The slot of an item in flight. An item that ends without giving it back takes room until its end was looked at.
#[derive(Debug, Default)]
pub struct Slot {
    behind: Arc<Behind>,
    is_back: bool,
}

impl Room {
    pub fn of(limits: RunLimits) -> Self {
        Self {
            slots: limits.concurrency.max(1),
            behind: Arc::default(),
        }
    }

    /// Whether there is a slot beside so many items in flight.
    pub fn is_free(&self, in_flight: usize) -> bool {
        let behind = self.behind.count.load(Ordering::SeqCst).min(BEHIND);
        in_flight.saturating_sub(behind) < self.slots
    }

    pub fn slot(&self) -> Slot {
        Slot {
            behind: Arc::clone(&self.behind),
            is_back: false,
        }
    }

    /// Whether a slot was given back since this was asked last.
    pub fn was_given_back(&self) -> bool {
        self.behind.has_news.swap(false, Ordering::SeqCst)
    }

    /// Waits until a slot was given back.
    pub async fn freed(&self) {
        self.behind.freed.notified().await;
    }
}

impl Slot {
    /// No item that follows depends on how this one ends any more.
    pub fn give_back(&mut self) {
        if !self.is_back {
            self.is_back = true;
            self.behind.has_news.store(true, Ordering::SeqCst);
            self.behind.count.fetch_add(1, Ordering::SeqCst);
            self.behind.freed.notify_one();
        }
    }

    pub fn is_back(&self) -> bool {
        self.is_back
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.is_back {
            self.behind.count.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_slot_that_is_given_back_makes_room_and_its_item_still_counts() {
        let room = Room::of(RunLimits {
            concurrency: 2,
            ..RunLimits::default()
        });
        let mut slots: Vec<_> = (0..2).map(|_| room.slot()).collect();
        assert!(room.is_free(1) && !room.is_free(2));
        assert_eq!(room.freed().now_or_never(), None);
        slots[0].give_back();
        slots[0].give_back();
        assert_eq!(room.freed().now_or_never(), Some(()));
        assert!(room.is_free(2) && !room.is_free(3));
        // Ended, and not looked at yet: two are in flight still.
        drop(slots);
        assert!(!room.is_free(2));
    }

    #[test]
    fn not_more_than_so_many_are_behind() {
        let room = Room::of(RunLimits::default());
        let mut slots: Vec<_> = (0..2 * BEHIND).map(|_| room.slot()).collect();
        slots.iter_mut().for_each(Slot::give_back);
        let most = RunLimits::default().concurrency + BEHIND;
        assert!(room.is_free(most - 1) && !room.is_free(most));
    }
}
