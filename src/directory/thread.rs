//! The threads of a directory: a database connection never leaves its own.

use std::{sync::mpsc, thread::JoinHandle};

use super::{request::Request, sqlite};

/// A thread that does requests until nobody can send any more.
pub(super) fn start(
    name: &str,
    store: sqlite::Store,
) -> std::io::Result<(mpsc::Sender<Request>, JoinHandle<()>)> {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .name(name.into())
        .spawn(move || sqlite::serve(store, &receiver))?;
    Ok((sender, thread))
}
