//! What can happen to a rotate request: whether the service applied it, and what was answered.

use super::*;
use crate::support::cases::cases;

/// A token that no service issued.
pub(super) const INVENTED: &str =
    "badbadbad0badbadbad0badbadbad0badbadbad0badbadbad0badbadbad0bad0";

cases! {
    pub(super) enum Fault {
        Good,
        NeverArrives,
        AnswerNeverArrives,
        /// It reaches the service long after the installation has given up.
        ArrivesLate,
        SuccessZeroApplied,
        SuccessZero,
        RefusedApplied,
        Refused,
        TooMany,
        ServerErrorApplied,
        ServerError,
        BadGatewayApplied,
        BadGateway,
        Redirect,
        HalfBody,
        Html,
        OtherGroup,
        ResetBefore,
        ResetAfter,
        TokenUnchanged,
        /// A success that never happened, as by a cache or a mock.
        Invented,
    }
}

/// How a rotation with this fault ends when nothing is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Confirmed,
    Recovered,
    NotApplied,
    Conflict,
}

impl Fault {
    pub(super) fn ends(self) -> Ends {
        match self {
            Self::Good => Ends::Confirmed,
            Self::OtherGroup | Self::Invented => Ends::Conflict,
            _ if self.is_applied() => Ends::Recovered,
            _ => Ends::NotApplied,
        }
    }

    /// Whether the installation gets no answer and waits for its timeout.
    pub(super) fn hangs(self) -> bool {
        matches!(
            self,
            Self::NeverArrives | Self::AnswerNeverArrives | Self::ArrivesLate
        )
    }

    /// Whether the service rotates, sooner or later, if the request was sent.
    pub(super) fn is_applied(self) -> bool {
        match self {
            Self::Good
            | Self::AnswerNeverArrives
            | Self::ArrivesLate
            | Self::SuccessZeroApplied
            | Self::RefusedApplied
            | Self::ServerErrorApplied
            | Self::BadGatewayApplied
            | Self::HalfBody
            | Self::OtherGroup
            | Self::ResetAfter => true,
            Self::NeverArrives
            | Self::SuccessZero
            | Self::Refused
            | Self::TooMany
            | Self::ServerError
            | Self::BadGateway
            | Self::Redirect
            | Self::Html
            | Self::ResetBefore
            | Self::TokenUnchanged
            | Self::Invented => false,
        }
    }

    /// `old` is the token in the request, `group` the right id.
    pub(super) fn proxy_fault(self, group: &str, old: &str) -> ProxyFault {
        let then = match self {
            Self::Good => Then::Pass,
            Self::NeverArrives | Self::AnswerNeverArrives | Self::ArrivesLate => Then::Hang,
            Self::SuccessZeroApplied | Self::SuccessZero => {
                json_answer("200 OK", &json!({"success": 0, "error": "not now"}))
            }
            Self::RefusedApplied | Self::Refused => {
                json_answer("403 Forbidden", &json!({"success": 0, "error": "no"}))
            }
            Self::TooMany => json_answer("429 Too Many Requests", &json!({"success": 0})),
            Self::ServerErrorApplied | Self::ServerError => {
                json_answer("500 Internal Server Error", &json!({"error": "oops"}))
            }
            Self::BadGatewayApplied | Self::BadGateway => {
                page("502 Bad Gateway", &[], "<html><h1>502</h1></html>")
            }
            Self::Redirect => page(
                "307 Temporary Redirect",
                &["Location: http://127.0.0.1:1/api/user"],
                "",
            ),
            Self::HalfBody => Then::Half,
            Self::Html => page("200 OK", &["Content-Type: text/html"], "<html>Sign in"),
            Self::OtherGroup => {
                return ProxyFault::change(|answer| {
                    answer["user_group"]["provided_id"] = "somebody-else".into();
                });
            }
            Self::ResetBefore | Self::ResetAfter => Then::Reset,
            Self::TokenUnchanged => json_answer("200 OK", &success(group, old)),
            Self::Invented => json_answer("200 OK", &success(group, INVENTED)),
        };
        if self.is_applied() {
            ProxyFault::applied(then)
        } else {
            ProxyFault::swallowed(then)
        }
    }
}

fn success(group: &str, token: &str) -> Value {
    json!({"success": 1, "user_group": {"team_id": 1, "token": token, "name": "G", "provided_id": group,
        "properties": null, "api_environment_tag": "Testing"}})
}

fn json_answer(status: &str, body: &Value) -> Then {
    page(
        status,
        &["Content-Type: application/json"],
        &body.to_string(),
    )
}

fn page(status: &str, headers: &[&str], body: &str) -> Then {
    Then::Instead(http(status, headers, body))
}
