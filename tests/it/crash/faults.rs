//! What can become of a rotate request on its way: whether the service did it, and what was told of it.

use serde_json::{Value, json};

use crate::support::{
    cases::cases,
    faults::http,
    proxy::{ProxyFault, Then},
};

/// A token that no service gave.
pub(super) const INVENTED: &str =
    "badbadbad0badbadbad0badbadbad0badbadbad0badbadbad0badbadbad0bad0";

cases! {
    pub(super) enum Fault {
        Good,
        NeverArrives,
        AnswerNeverArrives,
        /// It reaches the service when the installation has long given up.
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
        /// A success that never happened: a cache, a mock.
        Invented,
    }
}

/// How a rotation ends that nobody kills.
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

    /// The installation learns nothing and waits for its time-out.
    pub(super) fn hangs(self) -> bool {
        matches!(
            self,
            Self::NeverArrives | Self::AnswerNeverArrives | Self::ArrivesLate
        )
    }

    /// The service rotates, sooner or later, if the request left.
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

    /// `old` is the token that the request carries, `group` the id that is right.
    pub(super) fn proxy_fault(self, group: &str, old: &str) -> ProxyFault {
        let then = match self {
            Self::Good => Then::Pass,
            Self::NeverArrives | Self::AnswerNeverArrives | Self::ArrivesLate => Then::Hang,
            Self::SuccessZeroApplied | Self::SuccessZero => {
                told("200 OK", &json!({"success": 0, "error": "not now"}))
            }
            Self::RefusedApplied | Self::Refused => {
                told("403 Forbidden", &json!({"success": 0, "error": "no"}))
            }
            Self::TooMany => told("429 Too Many Requests", &json!({"success": 0})),
            Self::ServerErrorApplied | Self::ServerError => {
                told("500 Internal Server Error", &json!({"error": "oops"}))
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
            Self::TokenUnchanged => told("200 OK", &success(group, old)),
            Self::Invented => told("200 OK", &success(group, INVENTED)),
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

fn told(status: &str, body: &Value) -> Then {
    page(
        status,
        &["Content-Type: application/json"],
        &body.to_string(),
    )
}

fn page(status: &str, headers: &[&str], body: &str) -> Then {
    Then::Instead(http(status, headers, body))
}
