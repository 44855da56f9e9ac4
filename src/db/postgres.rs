//! PostgreSQL: each lane has its own connection, and related statements are sent in one round trip. A write has one of
//! three outcomes: committed, not committed, or (only if the server was away for long) unknown.

mod connection;
mod fault;
mod hints;
mod server;
pub(crate) mod timelines;
mod transaction;
mod value;

pub(super) use connection::ServerConnection;
pub(crate) use fault::Advice;
pub use fault::ServerFault;
pub(super) use fault::{Failure, Then};
pub(crate) use hints::Hints;
pub(crate) use server::{AddressFault, Password, Server, TimelineCheck};
pub(crate) use transaction::ServerTransaction;

/// A name as SQL writes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
