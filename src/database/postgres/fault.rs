//! What a server, or the line to it, says when something fails. Its own words are not kept: they can quote values.

use tokio_postgres::{Error, error::SqlState};

/// Why a server did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerFault {
    /// No line to a server, or it broke. Nothing was committed.
    Unreachable,
    /// The line broke in a commit, and it could not be found out in time whether it took effect.
    Unclear,
    /// The name or the password is not accepted, or a right is missing.
    NotAllowed(String),
    /// A standby, or a server that was set to read only.
    ReadOnly,
    /// No room on its disk.
    Full,
    /// A table or its schema is not there.
    NotThere,
    /// Others held what was needed, again and again.
    Busy,
    /// Anything else, by its code.
    Other(String),
}

/// What is to be done after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::database) enum Then {
    /// Somebody else was faster: what was read is no longer so.
    Again,
    Reconnect,
    GiveUp,
}

impl ServerFault {
    pub(super) fn of(error: &Error) -> (Self, Then) {
        let Some(code) = error.code() else {
            return if is_ours(error) {
                (
                    Self::Other("a value or a row could not be understood".into()),
                    Then::GiveUp,
                )
            } else {
                (Self::Unreachable, Then::Reconnect)
            };
        };
        if *code == SqlState::UNIQUE_VIOLATION {
            // One that stays is no matter of who was faster.
            return (Self::Other(code.code().into()), Then::Again);
        }
        let again = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
        ];
        if again.contains(code) {
            return (Self::Busy, Then::Again);
        }
        let class = code.code().get(..2).unwrap_or_default();
        let fault = match class {
            _ if *code == SqlState::TOO_MANY_CONNECTIONS => Self::Unreachable,
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => Self::NotAllowed(code.code().into()),
            _ if *code == SqlState::UNDEFINED_TABLE => Self::NotThere,
            "28" => Self::NotAllowed(code.code().into()),
            "08" | "57" => Self::Unreachable,
            "53" => Self::Full,
            _ => Self::Other(code.code().into()),
        };
        let then = match fault {
            Self::Unreachable => Then::Reconnect,
            _ => Then::GiveUp,
        };
        (fault, then)
    }
}

/// Of a value that was bound or read, not of the line.
fn is_ours(error: &Error) -> bool {
    use std::error::Error as _;
    let text = error.to_string();
    !error.is_closed()
        && error
            .source()
            .is_none_or(|source| !source.is::<std::io::Error>())
        && (text.starts_with("error serializing") || text.starts_with("error deserializing"))
}
