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
pub(super) struct Connection {
    idle: IdleConnections,
    /// Cancelled when it has to make room.
    pub(super) end: CancellationToken,
    /// Its rank while it is idle.
    at: Mutex<Option<Rank>>,
}

/// The connection has a request in progress as long as this lives.
pub(super) struct Busy<'c>(&'c Connection);

impl Connection {
    /// It is idle from now on.
    fn enter(&self, open: bool) {
        let mut queue = lock(&self.idle.0);
        let rank = (open, queue.next);
        queue.next += 1;
        queue.places.insert(rank, self.end.clone());
        drop(queue);
        *lock(&self.at) = Some(rank);
    }

    fn leave(&self) {
        if let Some(rank) = lock(&self.at).take() {
            lock(&self.idle.0).places.remove(&rank);
        }
    }

    pub(super) fn busy(&self) -> Busy<'_> {
        self.leave();
        Busy(self)
    }

    /// Marks that nothing more is answered on this connection: it makes room before those that still accept requests.
    pub(super) fn is_over(&self) {
        self.leave();
        self.enter(false);
    }

    pub(super) fn is_busy(&self) -> bool {
        lock(&self.at).is_none()
    }
}

impl IdleConnections {
    pub(super) fn join(&self) -> Connection {
        let connection = Connection {
            idle: self.clone(),
            end: CancellationToken::new(),
            at: Mutex::default(),
        };
        connection.enter(true);
        connection
    }

    /// Tells the connection that has been idle longest to end. False if there is none.
    pub(super) fn end_longest(&self) -> bool {
        let longest = lock(&self.0).places.pop_first();
        longest.is_some_and(|(_, end)| {
            end.cancel();
            true
        })
    }
}

/// Nothing panics while it holds one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Drop for Busy<'_> {
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
        assert!(second.end.is_cancelled() && !first.end.is_cancelled());
        drop(busy);
        assert!(
            idle.end_longest(),
            "the third waits longer than the first now"
        );
        assert!(third.end.is_cancelled() && !first.end.is_cancelled());
        let fourth = idle.join();
        fourth.is_over();
        assert!(idle.end_longest(), "what is over waits for nothing");
        assert!(fourth.end.is_cancelled() && !first.end.is_cancelled());
        drop(first);
        assert!(!idle.end_longest(), "gone");
    }
}
