//! The idle connections, so that the one that has been idle longest can be ended first.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// Shared by all connections.
#[derive(Clone, Default)]
pub(super) struct IdleConnections(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    next: u64,
    /// Connections whose request was refused come first, then by the start of idling.
    places: BTreeMap<Rank, CancellationToken>,
}

/// Whether it still accepts requests, and when it began to idle.
type Rank = (bool, u64);

/// One connection; it counts as idle unless it is [`Connection::busy`].
pub(super) struct Connection(Arc<Place>);

/// The connection has a request in progress as long as this lives.
pub(super) struct Busy(Arc<Place>);

struct Place {
    idle: IdleConnections,
    end: CancellationToken,
    /// Its rank while it is idle.
    at: Mutex<Option<Rank>>,
}

impl Place {
    /// It is idle from now on.
    fn enter(&self, open: bool) {
        let mut queue = self.idle.queue();
        let rank = (open, queue.next);
        queue.next += 1;
        queue.places.insert(rank, self.end.clone());
        drop(queue);
        *lock(&self.at) = Some(rank);
    }

    fn leave(&self) {
        if let Some(rank) = lock(&self.at).take() {
            self.idle.queue().places.remove(&rank);
        }
    }
}

impl IdleConnections {
    pub(super) fn join(&self) -> Connection {
        let place = Place {
            idle: self.clone(),
            end: CancellationToken::new(),
            at: Mutex::default(),
        };
        place.enter(true);
        Connection(Arc::new(place))
    }

    /// Tells the connection that has been idle longest to end. False if there is none.
    pub(super) fn end_longest(&self) -> bool {
        let longest = self.queue().places.pop_first();
        longest.is_some_and(|(_, end)| {
            end.cancel();
            true
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.0)
    }
}

/// Nothing panics while it holds one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    pub(super) fn busy(&self) -> Busy {
        self.0.leave();
        Busy(Arc::clone(&self.0))
    }

    /// Marks that nothing more is answered on this connection: it makes room before those that still accept requests.
    pub(super) fn is_over(&self) {
        self.0.leave();
        self.0.enter(false);
    }

    /// Returns when this connection has to make room.
    pub(super) async fn must_end(&self) {
        self.0.end.cancelled().await;
    }

    pub(super) fn has_to_end(&self) -> bool {
        self.0.end.is_cancelled()
    }

    pub(super) fn is_busy(&self) -> bool {
        lock(&self.0.at).is_none()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.enter(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_waiting_ends_first_and_a_busy_one_never() {
        let idle = IdleConnections::default();
        let [first, second, third] = [(); 3].map(|()| idle.join());
        let busy = first.busy();
        assert!(idle.end_longest());
        assert!(second.0.end.is_cancelled() && !first.0.end.is_cancelled());
        drop(busy);
        assert!(
            idle.end_longest(),
            "the third waits longer than the first now"
        );
        assert!(third.0.end.is_cancelled() && !first.0.end.is_cancelled());
        let fourth = idle.join();
        fourth.is_over();
        assert!(idle.end_longest(), "what is over waits for nothing");
        assert!(fourth.0.end.is_cancelled() && !first.0.end.is_cancelled());
        drop(first);
        assert!(!idle.end_longest(), "gone");
    }
}
