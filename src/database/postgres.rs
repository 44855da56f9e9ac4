//! PostgreSQL: what is asked goes over lines of its own, statements that belong together in one journey. A write ends with
//! one of three answers: committed, not committed, or (only after a server was away for long) not known.

mod fault;
mod line;
mod open;
mod value;

pub(crate) use fault::ServerFault;
pub(super) use fault::Then;
pub(crate) use line::{AddressFault, Server};
pub(super) use line::{Failure, Line, PATIENCE};
pub(crate) use open::Open;
