//! All refusals of the service, with status, code and message. Messages say what to do, and never repeat a secret, a
//! body or an internal detail.

use std::time::Duration;

use axum::http::StatusCode;

use super::{json::Malformed, store::StoreError};

/// Makes the refusals: for each its status, its code and its message.
macro_rules! refusals {
    ($($(#[$about:meta])* $name:ident $(($($data:tt)+))? $({ $field:ident: $of:ty })? = $status:ident $code:literal, $message:literal;)+) => {
        /// Why a request was not done. Codes are part of the interface; messages may change.
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub(super) enum Refusal {
            $($(#[$about])* #[error($message)] $name $(($($data)+))? $({ $field: $of })?,)+
        }

        impl Refusal {
            fn status_and_code(&self) -> (StatusCode, &'static str) {
                match self {
                    $(Self::$name { .. } => (StatusCode::$status, $code),)+
                }
            }
        }
    };
}

refusals! {
    Head = BAD_REQUEST "malformed_request",
        "the request line or a header cannot be read; check the client, or a proxy in between";
    /// There is no `Host` header, more than one, or one that is no valid host.
    Host = BAD_REQUEST "malformed_request",
        "send exactly one Host header, with a name or an address and perhaps a port";
    UnknownHost = BAD_REQUEST "unknown_host",
        "this service does not accept the name in Host; use a name that was set with --host";
    /// Larger than [`super::connections::LONGEST_HEAD`], or too many headers.
    LargeHead = REQUEST_HEADER_FIELDS_TOO_LARGE "head_too_large",
        "the request line and the headers are larger than 32 KiB, or there are more than 100 headers; send less";
    Malformed(#[from] Malformed) = BAD_REQUEST "malformed_json", "{0}";
    EmptyBody = BAD_REQUEST "malformed_json", "the body is empty; send a JSON object";
    /// The body ended before its announced length, or its framing was broken.
    BrokenBody = BAD_REQUEST "incomplete_body", "the body did not arrive as a whole; send it again";
    /// A field is missing, has the wrong type or exceeds a limit; the text names it.
    Invalid(String) = BAD_REQUEST "invalid_request", "{0}";
    Unauthorized = UNAUTHORIZED "unauthorized",
        "no valid API key; send \"Authorization: Token <API_KEY>\" with a key that has not expired or been revoked";
    ReadOnlyKey = FORBIDDEN "read_only_key", "this API key may only read existing user groups; use a read-write key";
    UnknownPath = NOT_FOUND "not_found", "there is nothing at this path";
    UnknownGroup = NOT_FOUND "unknown_user_group",
        "no user group has this user_group_id in the environment of this API key";
    UnknownToken = NOT_FOUND "unknown_token", "no user group has this current_token in the environment of this API key";
    Method = METHOD_NOT_ALLOWED "method_not_allowed",
        "use GET to get or create, PUT to update, POST to rotate the token";
    SlowBody = REQUEST_TIMEOUT "request_timeout", "the body took too long to arrive; send it again";
    TagRequired = CONFLICT "environment_tag_required",
        "another environment has a user group with this user_group_id; both may exist only if one environment is \
         tagged Customer and the other Testing";
    TokenRetired = CONFLICT "token_retired",
        "this token was current once and has been rotated; get the group to read its current token";
    TooLarge = PAYLOAD_TOO_LARGE "body_too_large", "the body is larger than 1 MiB; send less";
    MediaType(&'static str) = UNSUPPORTED_MEDIA_TYPE "unsupported_media_type", "{0}";
    Overloaded = SERVICE_UNAVAILABLE "overloaded",
        "the service is overloaded, or the database cannot be used now; nothing was changed. Try again after Retry-After";
    TooMany { seconds: u64 } = TOO_MANY_REQUESTS "rate_limited",
        "too many requests with this API key; wait {seconds} s, then try again";
    Internal = INTERNAL_SERVER_ERROR "internal_error",
        "something failed inside the service; it is unknown whether the request took effect";
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
