//! PostgreSQL: what is asked goes over lines of its own, statements that belong together in one journey. A write ends with
//! one of three answers: committed, not committed, or (only after a server was away for long) not known.

mod fault;
mod hints;
mod line;
mod open;
mod server;
mod value;

pub(crate) use fault::ServerFault;
pub(super) use fault::{Failure, Then};
pub(crate) use hints::Hints;
pub(super) use line::Line;
pub(crate) use open::Open;
pub(super) use server::PATIENCE;
pub(crate) use server::{AddressFault, Password, Server};
