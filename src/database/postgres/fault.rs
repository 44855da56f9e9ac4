//! What a server, or the line to it, says when something fails. Its own words are not kept: they can quote values.

use std::io;

use rustls::CertificateError;
use tokio_postgres::{Error, error::SqlState};

/// Why a server did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerFault {
    /// No line to a server, or it broke. Nothing was committed.
    Unreachable,
    /// It takes no more connections, of anybody or of this role.
    Crowded,
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
    /// What was to be made is there already.
    There,
    /// There is no role of that name.
    Nobody,
    /// Others held what was needed, again and again.
    Busy,
    /// The server asks for a password, and there is none; or why it could not be had.
    NoPassword(Option<String>),
    /// Whoever answered was not believed, and nothing was sent: why.
    Unsafe(String),
    /// It cannot hold a directory: why.
    Unfit(&'static str),
    /// Anything else, by its code.
    Other(String),
}

/// Why a server behind a pooler cannot be used.
pub(super) const POOLED: &str = "a connection pooler stands before it, and a directory needs sessions of its own (settings, \
     prepared statements and LISTEN stay with each): name the server itself as the address, most often on port 5432";

/// What failed, and what is to be done about it.
pub(in crate::database) type Failure = (ServerFault, Then);

/// What is to be done after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::database) enum Then {
    /// Somebody else was faster: what was read is no longer so.
    Again,
    Reconnect,
    GiveUp,
}

impl ServerFault {
    /// Of a line that was not made.
    pub(super) fn of_connecting(error: &Error) -> (Self, Then) {
        use std::error::Error as _;
        let give_up = |fault| (fault, Then::GiveUp);
        let why = error.source().map_or_else(String::new, ToString::to_string);
        // The library tells its kinds apart in words only.
        match error.to_string() {
            text if text.starts_with("error performing TLS handshake") => match distrust(error) {
                Some(why) => give_up(Self::Unsafe(why.into())),
                // The line broke meanwhile.
                None => (Self::Unreachable, Then::Reconnect),
            },
            text if text.starts_with("invalid configuration") && why == "password missing" => {
                give_up(Self::NoPassword(None))
            }
            text if text.starts_with("error connecting")
                && why == "database does not allow writes" =>
            {
                // A failover is waited for.
                (Self::ReadOnly, Then::Reconnect)
            }
            // A pooler takes no settings with which a session begins.
            _ if error.code() == Some(&SqlState::PROTOCOL_VIOLATION) => {
                give_up(Self::Unfit(POOLED))
            }
            text if text.starts_with("authentication error") => give_up(Self::Unsafe(
                "it asks for the password without proving who it is; SCRAM over TLS is needed"
                    .into(),
            )),
            _ => Self::of(error),
        }
    }

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
            _ if *code == SqlState::TOO_MANY_CONNECTIONS => Self::Crowded,
            _ if *code == SqlState::DUPLICATE_SCHEMA => Self::There,
            _ if *code == SqlState::UNDEFINED_OBJECT => Self::Nobody,
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => Self::NotAllowed(code.code().into()),
            _ if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code) => {
                Self::NotThere
            }
            "28" => Self::NotAllowed(code.code().into()),
            "08" | "57" => Self::Unreachable,
            "53" => Self::Full,
            _ => Self::Other(code.code().into()),
        };
        let then = match fault {
            Self::Unreachable | Self::Crowded => Then::Reconnect,
            _ => Then::GiveUp,
        };
        (fault, then)
    }
}

/// Why a server was not believed; `None` where it said nothing.
fn distrust(error: &Error) -> Option<&'static str> {
    use std::error::Error as _;
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        let tls = error.downcast_ref::<rustls::Error>();
        let tls = tls.or_else(|| inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()));
        match tls {
            Some(rustls::Error::InvalidCertificate(certificate)) => {
                return Some(match certificate {
                    CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                        "its certificate has expired"
                    }
                    CertificateError::NotValidForName
                    | CertificateError::NotValidForNameContext { .. } => {
                        "its certificate is for another name"
                    }
                    CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                        "its certificate is signed by nobody who is known here; `ca` of [directory] names an authority"
                    }
                    _ => "its certificate is not valid",
                });
            }
            Some(_) => return Some("it speaks no TLS 1.2 or 1.3 that fits"),
            None => {}
        }
        if error.to_string() == "server does not support TLS" {
            return Some("it does not speak TLS");
        }
        cause = error.source();
    }
    None
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
