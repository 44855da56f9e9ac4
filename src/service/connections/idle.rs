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
    end: CancellationToken,
    /// Its rank while it is idle.
    at: Arc<Mutex<Option<Rank>>>,
}

/// The connection has a request in progress as long as this lives.
pub(super) struct Busy {
    idle: IdleConnections,
    end: CancellationToken,
    at: Arc<Mutex<Option<Rank>>>,
}

impl IdleConnections {
    pub(super) fn join(&self) -> Connection {
        let end = CancellationToken::new();
        let rank = self.enter(true, end.clone());
        Connection {
            idle: self.clone(),
            end,
            at: Arc::new(Mutex::new(Some(rank))),
        }
    }

    /// Tells the connection that has been idle longest to end. False if there is none.
    pub(super) fn end_longest(&self) -> bool {
        let longest = self.queue().places.pop_first();
        longest.is_some_and(|(_, end)| {
            end.cancel();
            true
        })
    }

    fn enter(&self, open: bool, end: CancellationToken) -> Rank {
        let mut queue = self.queue();
        let rank = (open, queue.next);
        queue.next += 1;
        queue.places.insert(rank, end);
        rank
    }

    fn leave(&self, at: &Mutex<Option<Rank>>) {
        if let Some(rank) = lock(at).take() {
            self.queue().places.remove(&rank);
        }
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
        self.idle.leave(&self.at);
        Busy {
            idle: self.idle.clone(),
            end: self.end.clone(),
            at: Arc::clone(&self.at),
        }
    }

    /// Marks that nothing more is answered on this connection: it makes room before those that still accept requests.
    pub(super) fn is_over(&self) {
        self.idle.leave(&self.at);
        *lock(&self.at) = Some(self.idle.enter(false, self.end.clone()));
    }

    /// Returns when this connection has to make room.
    pub(super) async fn must_end(&self) {
        self.end.cancelled().await;
    }

    pub(super) fn has_to_end(&self) -> bool {
        self.end.is_cancelled()
    }

    pub(super) fn is_busy(&self) -> bool {
        lock(&self.at).is_none()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.idle.leave(&self.at);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *lock(&self.at) = Some(self.idle.enter(true, self.end.clone()));
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
