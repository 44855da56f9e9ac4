//! Errors of a server or of the connection to it. The server's own messages are not kept: they can quote values.

use std::io;

use rustls::{AlertDescription, CertificateError};
use tokio_postgres::{
    Error,
    error::{Severity, SqlState},
};

use crate::db::sqlstate::sentence;

/// Why a server did not execute the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerFault {
    /// No connection, or it broke. Nothing was committed.
    Unreachable,
    /// The server accepts no more connections, at all or for this role.
    Crowded,
    /// The connection broke during a commit, and it could not be determined in time whether it took effect.
    Unclear,
    /// The name or password is not accepted, or a right is missing.
    NotAllowed(String),
    /// A standby, or a server set to read-only.
    ReadOnly,
    /// Its disk is full.
    Full,
    /// A table or its schema does not exist.
    NotThere,
    /// What should be created exists already.
    There,
    /// There is no role of that name.
    Nobody,
    /// Others held the required locks, repeatedly.
    Busy,
    /// The server requires a password, and there is none; or the reason why it could not be obtained.
    NoPassword(Option<String>),
    /// The server's identity was not accepted, and nothing was sent; the reason.
    Unsafe(String),
    /// The certificates to use cannot be read; the reason.
    Unusable(String),
    /// The server refused our certificate, or requires one; what is wrong with it.
    OwnCertificate(&'static str),
    /// The server cannot hold a directory; the reason.
    Unfit(&'static str),
    /// Another server has taken over from this one; what is known of that.
    Outdated(String),
    /// Any other error, by its code.
    Other(String),
}

/// What whoever uses a server adds to the sentences about it.
pub(crate) struct Advice {
    /// What did not happen, for example `nothing was recorded`.
    pub(crate) state: &'static str,
    /// The consequence of a commit whose outcome is unknown.
    pub(crate) unclear: &'static str,
    pub(crate) ca_file: &'static str,
    pub(crate) password: &'static str,
    pub(crate) certificate: &'static str,
    pub(crate) set_up: &'static str,
    pub(crate) there: &'static str,
}

/// Why a server behind a connection pooler cannot be used.
pub(super) const POOLED: &str = "it is behind a connection pooler, but groupdesk needs its own sessions (settings, \
     prepared statements and LISTEN stay with each): connect to the server itself, usually on port 5432";

/// Why a server with a certificate of an unknown authority is not trusted.
const UNTRUSTED: &str = "its certificate is not signed by a trusted CA";

/// Why a certificate is not accepted now. The clock of this machine may be the cause.
const EXPIRED: &str = "its certificate has expired";
const NOT_YET_VALID: &str = "its certificate is not valid yet";

/// What failed, and how to react.
pub(in crate::db) type Failure = (ServerFault, Then);

/// How to react to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Then {
    /// Execute the request again: a concurrent change has invalidated what was read.
    Again,
    Reconnect,
    GiveUp,
}

impl ServerFault {
    /// What happened and what to do, as the rest of a sentence about the database.
    pub(crate) fn sentence(&self, advice: &Advice) -> String {
        let state = advice.state;
        match self {
            Self::Unreachable => format!(
                "cannot be reached; {state}. Check the server and the network, then try again"
            ),
            Self::Crowded => format!(
                "does not accept more connections; {state}: close a groupdesk that is not used, or ask its administrator to \
                 raise max_connections or the CONNECTION LIMIT of your role"
            ),
            Self::Unclear => format!("disconnected during a commit; {}", advice.unclear),
            Self::NotAllowed(code) | Self::Other(code) => format!("{}; {state}", sentence(code)),
            Self::ReadOnly => {
                format!(
                    "is a standby or read only; {state}: use the address of the primary, or try again when it can be reached"
                )
            }
            Self::Full => {
                format!("has no space left on its disk; {state}: inform its administrator")
            }
            Self::NotThere => advice.set_up.to_owned(),
            Self::There => format!(
                "already has this schema; nothing was changed: {}",
                advice.there
            ),
            Self::Nobody => {
                "has no role of that name; create it first: CREATE ROLE NAME LOGIN".to_owned()
            }
            Self::Busy => {
                format!("was busy with the same rows for too long; {state}: try again")
            }
            Self::NoPassword(Some(why)) => format!("asks for a password, and {why}"),
            Self::NoPassword(None) => format!("asks for a password; {}", advice.password),
            Self::Unsafe(why) if why == UNTRUSTED => format!(
                "could not be verified: {why}; {}; nothing was sent to it",
                advice.ca_file
            ),
            Self::Unsafe(why) if [EXPIRED, NOT_YET_VALID].contains(&&**why) => format!(
                "could not be verified: {why}; nothing was sent to it: check the clock of this machine, then the certificate"
            ),
            Self::Unsafe(why) => format!("could not be verified: {why}; nothing was sent to it"),
            Self::Unusable(why) => format!("was not contacted; {state}: {why}"),
            Self::OwnCertificate(why) => format!("{why}; {state}: {}", advice.certificate),
            Self::Unfit(why) => format!("cannot be used: {why}"),
            Self::Outdated(why) => why.clone(),
        }
    }

    /// For a connection that could not be established.
    pub(super) fn of_connecting(error: &Error) -> (Self, Then) {
        use std::error::Error as _;
        let give_up = |fault| (fault, Then::GiveUp);
        let why = error.source().map_or_else(String::new, ToString::to_string);
        // With TLS 1.3 this comes after the handshake.
        if let Some(why) = tls_cause(error).and_then(refused_certificate) {
            return give_up(Self::OwnCertificate(why));
        }
        // The library distinguishes these errors only by their text.
        match error.to_string() {
            text if text.starts_with("error performing TLS handshake") => match distrust(error) {
                Some(why) => give_up(Self::Unsafe(why.into())),
                // The connection broke meanwhile.
                None => (Self::Unreachable, Then::Reconnect),
            },
            text if text.starts_with("invalid configuration") && why == "password missing" => {
                give_up(Self::NoPassword(None))
            }
            text if text.starts_with("error connecting")
                && why == "database does not allow writes" =>
            {
                // Wait for a failover.
                (Self::ReadOnly, Then::Reconnect)
            }
            // A pooler rejects the settings in the startup message.
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

    /// For a request on an open connection.
    pub(super) fn of_request(error: &Error) -> (Self, Then) {
        // FATAL ends the session and PANIC the server, whatever the code says.
        if error.code().is_some() && !is_plain_error(error) {
            return (Self::Unreachable, Then::Reconnect);
        }
        Self::of(error)
    }

    fn of(error: &Error) -> (Self, Then) {
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
            // Retry; a violation that persists is not caused by a concurrent change.
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
            _ if *code == SqlState::DISK_FULL => Self::Full,
            _ if *code == SqlState::DUPLICATE_SCHEMA => Self::There,
            _ if *code == SqlState::UNDEFINED_OBJECT => Self::Nobody,
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => Self::NotAllowed(code.code().into()),
            _ if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code) => {
                Self::NotThere
            }
            "28" => Self::NotAllowed(code.code().into()),
            "08" | "57" => Self::Unreachable,
            _ => Self::Other(code.code().into()),
        };
        let then = match fault {
            // A server that was made read-only has rolled it back; another one may be the primary.
            Self::Unreachable | Self::Crowded | Self::ReadOnly => Then::Reconnect,
            _ => Then::GiveUp,
        };
        (fault, then)
    }
}

/// Classes of errors that the server reports only for a transaction that it has rolled back, and rolls back for:
/// values, constraints, rights, syntax, locks, missing room, what our own functions raise. All others (system errors,
/// internal errors, lost connections) may also be reported by something between us and the server, or come after the
/// commit.
const ROLLED_BACK: [&str; 17] = [
    "0A", "21", "22", "23", "25", "28", "2B", "3D", "3F", "40", "42", "44", "53", "54", "55", "GD",
    "P0",
];

/// Whether this answer to a transaction with its COMMIT proves that it was not committed. If not, only its stamp tells.
pub(super) fn is_refusal(error: &Error) -> bool {
    let Some(code) = error.code() else {
        return false;
    };
    let class = code.code().get(..2).unwrap_or_default();
    is_plain_error(error)
        && *code != SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        && ROLLED_BACK.contains(&class)
}

/// An ERROR: the session continues. A server that does not say so in English is not believed.
fn is_plain_error(error: &Error) -> bool {
    let error = error.as_db_error();
    error.is_some_and(|error| match error.parsed_severity() {
        Some(severity) => severity == Severity::Error,
        None => error.severity() == "ERROR",
    })
}

/// The server has no TLS.
pub(super) const NO_TLS: &str = "it does not support TLS";

/// Why the server's certificate was not accepted; `None` if that was not the problem.
fn distrust(error: &Error) -> Option<&'static str> {
    use std::error::Error as _;
    let certificate = match tls_cause(error) {
        Some(rustls::Error::InvalidCertificate(certificate)) => certificate,
        Some(_) => return Some("it does not support TLS 1.2 or 1.3 as required"),
        None => {
            let cause = error.source().map(ToString::to_string);
            return (cause.as_deref() == Some("server does not support TLS")).then_some(NO_TLS);
        }
    };
    Some(match certificate {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => EXPIRED,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            NOT_YET_VALID
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name"
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => UNTRUSTED,
        _ => "its certificate is not valid",
    })
}

/// The error of TLS behind this one.
fn tls_cause<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(tls) = error.downcast_ref().or(inner) {
            return Some(tls);
        }
        cause = error.source();
    }
    None
}

/// What the server says of our certificate; `None` if it complains of something else.
fn refused_certificate(error: &rustls::Error) -> Option<&'static str> {
    let rustls::Error::AlertReceived(alert) = error else {
        return None;
    };
    Some(match alert {
        AlertDescription::CertificateExpired => {
            "refuses your client certificate: it has expired, or is not valid yet"
        }
        AlertDescription::UnknownCA => {
            "refuses your client certificate: the server does not trust its CA"
        }
        AlertDescription::CertificateRequired => "requires a client certificate",
        AlertDescription::CertificateRevoked => "refuses your client certificate: it was revoked",
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::DecryptError => {
            "refuses your client certificate: it is not a client certificate, or does not match"
        }
        _ => return None,
    })
}

/// Whether the error concerns a bound or read value, not the connection.
fn is_ours(error: &Error) -> bool {
    use std::error::Error as _;
    let text = error.to_string();
    !error.is_closed()
        && error
            .source()
            .is_none_or(|source| !source.is::<std::io::Error>())
        && (text.starts_with("error serializing") || text.starts_with("error deserializing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TLS 1.3 reports it when something is read.
    #[test]
    fn a_refused_certificate_is_found_behind_an_error_of_reading() {
        for (alert, words) in [
            (AlertDescription::CertificateExpired, Some("expired")),
            (AlertDescription::UnknownCA, Some("CA")),
            (AlertDescription::CertificateRequired, Some("requires")),
            (AlertDescription::ProtocolVersion, None),
        ] {
            let error = rustls::Error::AlertReceived(alert);
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            let said = tls_cause(&error).and_then(refused_certificate);
            assert_eq!(said.is_some(), words.is_some(), "{said:?}");
            assert!(said.is_none_or(|said| said.contains(words.unwrap_or_default())));
        }
        assert_eq!(tls_cause(&io::Error::other("reset")), None);
    }
}
