//! The threads of a directory: a database connection never leaves its own.

use std::{sync::mpsc, thread::JoinHandle};

use super::{request::Request, sqlite};

/// A thread that does requests until this is dropped; dropping waits until all of them are done and the connection is
/// closed.
pub(super) struct Worker(Option<(mpsc::Sender<Request>, JoinHandle<()>)>);

impl Worker {
    pub(super) fn start(name: &str, store: sqlite::Store) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || sqlite::serve(store, &receiver))?;
        Ok(Self(Some((sender, thread))))
    }

    /// Whether somebody is there to do it.
    pub(super) fn send(&self, request: Request) -> bool {
        self.0
            .as_ref()
            .is_some_and(|(sender, _)| sender.send(request).is_ok())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // A panic over there was already answered with `Stopped`.
            drop(thread.join());
        }
    }
}
