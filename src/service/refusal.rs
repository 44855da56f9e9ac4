//! All refusals of the service, with status, code and message. Messages say what to do, and never repeat a secret, a
//! body or an internal detail.

use std::time::Duration;

use axum::http::StatusCode;

use super::{json::Malformed, store::StoreError};

/// Why a request was not done. Codes are part of the interface; messages may change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the request line or a header cannot be read; check the client, or a proxy in between")]
    Head,
    /// There is no `Host` header, more than one, or one that is no valid host.
    #[error("send exactly one Host header, with a name or an address and perhaps a port")]
    Host,
    #[error("this service does not accept the name in Host; use a name that was set with --host")]
    UnknownHost,
    /// Larger than [`super::connections::LONGEST_HEAD`], or too many headers.
    #[error(
        "the request line and the headers are larger than 32 KiB, or there are more than 100 headers; send less"
    )]
    LargeHead,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("the body is empty; send a JSON object")]
    EmptyBody,
    /// The body ended before its announced length, or its framing was broken.
    #[error("the body did not arrive as a whole; send it again")]
    BrokenBody,
    /// A field is missing, has the wrong type or exceeds a limit; the text names it.
    #[error("{0}")]
    Invalid(String),
    #[error(
        "no valid API key; send \"Authorization: Token <API_KEY>\" with a key that has not expired or been revoked"
    )]
    Unauthorized,
    #[error("this API key may only read existing user groups; use a read-write key")]
    ReadOnlyKey,
    #[error("there is nothing at this path")]
    UnknownPath,
    #[error("no user group has this user_group_id in the environment of this API key")]
    UnknownGroup,
    #[error("no user group has this current_token in the environment of this API key")]
    UnknownToken,
    #[error("use GET to get or create, PUT to update, POST to rotate the token")]
    Method,
    #[error("the body took too long to arrive; send it again")]
    SlowBody,
    #[error(
        "another environment has a user group with this user_group_id; both may exist only if one environment is \
         tagged Customer and the other Testing"
    )]
    TagRequired,
    #[error(
        "this token was current once and has been rotated; get the group to read its current token"
    )]
    TokenRetired,
    #[error("the body is larger than 1 MiB; send less")]
    TooLarge,
    #[error("{0}")]
    MediaType(&'static str),
    #[error("too many requests; try again after Retry-After")]
    Overloaded,
    #[error("too many requests with this API key; wait {seconds} s, then try again")]
    TooMany { seconds: u64 },
    #[error("something failed inside the service; it is unclear whether the request was done")]
    Internal,
}

impl Refusal {
    /// Rounded up to whole seconds, so that the next request is not too early again.
    pub(super) fn too_many(wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Self::TooMany { seconds }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status_and_code().0
    }

    pub(super) fn code(&self) -> &'static str {
        self.status_and_code().1
    }

    fn status_and_code(&self) -> (StatusCode, &'static str) {
        use StatusCode as Status;
        match self {
            Self::Head | Self::Host => (Status::BAD_REQUEST, "malformed_request"),
            Self::UnknownHost => (Status::BAD_REQUEST, "unknown_host"),
            Self::LargeHead => (Status::REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large"),
            Self::Malformed(_) | Self::EmptyBody => (Status::BAD_REQUEST, "malformed_json"),
            Self::BrokenBody => (Status::BAD_REQUEST, "incomplete_body"),
            Self::Invalid(_) => (Status::BAD_REQUEST, "invalid_request"),
            Self::Unauthorized => (Status::UNAUTHORIZED, "unauthorized"),
            Self::ReadOnlyKey => (Status::FORBIDDEN, "read_only_key"),
            Self::UnknownPath => (Status::NOT_FOUND, "not_found"),
            Self::UnknownGroup => (Status::NOT_FOUND, "unknown_user_group"),
            Self::UnknownToken => (Status::NOT_FOUND, "unknown_token"),
            Self::Method => (Status::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::SlowBody => (Status::REQUEST_TIMEOUT, "request_timeout"),
            Self::TagRequired => (Status::CONFLICT, "environment_tag_required"),
            Self::TokenRetired => (Status::CONFLICT, "token_retired"),
            Self::TooLarge => (Status::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::MediaType(_) => (Status::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::Overloaded => (Status::SERVICE_UNAVAILABLE, "overloaded"),
            Self::TooMany { .. } => (Status::TOO_MANY_REQUESTS, "rate_limited"),
            Self::Internal => (Status::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded
            | StoreError::Busy
            | StoreError::Away
            | StoreError::Refused(_) => Self::Overloaded,
            // Revoked since the request arrived.
            StoreError::UnknownKey(_) => Self::Unauthorized,
            _ => Self::Internal,
        }
    }
}
