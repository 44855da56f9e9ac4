//! Why a statement failed. The calling room decides what that means.

use std::sync::Arc;

use super::postgres::ServerFault;

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Sqlite(Arc<rusqlite::Error>),
    Server(ServerFault),
    /// A column contains another type than the schema says.
    Column,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

impl From<ServerFault> for Fault {
    fn from(fault: ServerFault) -> Self {
        Self::Server(fault)
    }
}
