//! All refusals of the service, with status, code and message. Messages say what to do, and never repeat a secret, a
//! body or an internal detail.

use std::time::Duration;

use axum::http::StatusCode;

use super::{json::Malformed, store::StoreError};

/// Why a request was not done. Codes are part of the interface; messages may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The request line or a header cannot be parsed.
    Head,
    /// There is no `Host` header, more than one, or one that is no valid host.
    Host,
    /// `Host` names another host.
    UnknownHost,
    /// Request line and headers are larger than [`super::connections::LONGEST_HEAD`], or there are too many headers.
    LargeHead,
    /// The body is not valid JSON.
    Malformed(Malformed),
    EmptyBody,
    /// The body ended before its announced length, or its framing was broken.
    BrokenBody,
    /// A field is missing, has the wrong type or exceeds a limit; the text names it.
    Invalid(String),
    Unauthorized,
    ReadOnlyKey,
    UnknownPath,
    UnknownGroup,
    UnknownToken,
    Method,
    SlowBody,
    TagRequired,
    TokenRetired,
    TooLarge,
    MediaType(&'static str),
    Overloaded,
    /// The key has exceeded its rate.
    TooMany {
        seconds: u64,
    },
    Internal,
}

impl Refusal {
    /// Rounded up to whole seconds, so that the next request is not too early again.
    pub(super) fn too_many(wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Self::TooMany { seconds }
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Head
            | Self::Host
            | Self::UnknownHost
            | Self::Malformed(_)
            | Self::EmptyBody
            | Self::BrokenBody
            | Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::LargeHead => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::ReadOnlyKey => StatusCode::FORBIDDEN,
            Self::UnknownPath | Self::UnknownGroup | Self::UnknownToken => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::TagRequired | Self::TokenRetired => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Head | Self::Host => "malformed_request",
            Self::UnknownHost => "unknown_host",
            Self::LargeHead => "head_too_large",
            Self::Malformed(_) | Self::EmptyBody => "malformed_json",
            Self::BrokenBody => "incomplete_body",
            Self::Invalid(_) => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::ReadOnlyKey => "read_only_key",
            Self::UnknownPath => "not_found",
            Self::UnknownGroup => "unknown_user_group",
            Self::UnknownToken => "unknown_token",
            Self::Method => "method_not_allowed",
            Self::SlowBody => "request_timeout",
            Self::TagRequired => "environment_tag_required",
            Self::TokenRetired => "token_retired",
            Self::TooLarge => "body_too_large",
            Self::MediaType(_) => "unsupported_media_type",
            Self::Overloaded => "overloaded",
            Self::TooMany { .. } => "rate_limited",
            Self::Internal => "internal_error",
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Self::Head => {
                "the request line or a header cannot be read; check the client, or a proxy in between".into()
            }
            Self::Host => {
                "send exactly one Host header, with a name or an address and perhaps a port".into()
            }
            Self::UnknownHost => {
                "this service does not accept the name in Host; use a name that was set with --host".into()
            }
            Self::LargeHead => {
                "the request line and the headers are larger than 32 KiB, or there are more than 100 headers; send less".into()
            }
            Self::Malformed(found) => {
                let field = found
                    .field
                    .map(|field| format!(" in {field}"))
                    .unwrap_or_default();
                format!(
                    "the body is not acceptable JSON: line {}, column {}{field}: {}",
                    found.line, found.column, found.why
                )
            }
            Self::EmptyBody => "the body is empty; send a JSON object".into(),
            Self::BrokenBody => "the body did not arrive as a whole; send it again".into(),
            Self::Invalid(why) => why.clone(),
            Self::Unauthorized => {
                "no valid API key; send \"Authorization: Token <API_KEY>\" with a key that has not expired or been revoked".into()
            }
            Self::ReadOnlyKey => {
                "this API key may only read existing user groups; use a read-write key".into()
            }
            Self::UnknownPath => "there is nothing at this path".into(),
            Self::UnknownGroup => {
                "no user group has this user_group_id in the environment of this API key".into()
            }
            Self::UnknownToken => {
                "no user group has this current_token in the environment of this API key".into()
            }
            Self::Method => {
                "use GET to get or create, PUT to update, POST to rotate the token".into()
            }
            Self::SlowBody => "the body took too long to arrive; send it again".into(),
            Self::TagRequired => "another environment has a user group with this user_group_id; \
                both may exist only if one environment is tagged Customer and the other Testing"
                .into(),
            Self::TokenRetired => {
                "this token was current once and has been rotated; get the group to read its \
                current token"
                    .into()
            }
            Self::TooLarge => "the body is larger than 1 MiB; send less".into(),
            Self::MediaType(why) => (*why).into(),
            Self::Overloaded => "too many requests; try again after Retry-After".into(),
            Self::TooMany { seconds } => {
                format!("too many requests with this API key; wait {seconds} s, then try again")
            }
            Self::Internal => {
                "something failed inside the service; it is unclear whether the request was done"
                    .into()
            }
        }
    }
}

impl From<Malformed> for Refusal {
    fn from(found: Malformed) -> Self {
        Self::Malformed(found)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded | StoreError::Busy | StoreError::Away => Self::Overloaded,
            // Revoked since the request arrived.
            StoreError::UnknownKey(_) => Self::Unauthorized,
            _ => Self::Internal,
        }
    }
}
