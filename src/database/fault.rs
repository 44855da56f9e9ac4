//! Why a statement failed. The calling room decides what that means.

use std::sync::Arc;

use super::postgres::ServerFault;

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Sqlite(Arc<rusqlite::Error>),
    Server(ServerFault),
    /// A column contains another type than the schema says.
    Column,
    /// A row of this table cannot be decoded.
    Row(&'static str),
}

impl Fault {
    /// Names the table of a row that cannot be decoded.
    pub(crate) fn in_table(self, table: &'static str) -> Self {
        match self {
            Self::Column => Self::Row(table),
            fault => fault,
        }
    }
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
