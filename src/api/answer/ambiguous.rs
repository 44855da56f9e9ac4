//! Answers that are neither success nor refusal: what was received, and what to do about it. Every text is cleaned;
//! none is built from a raw body.

use std::{fmt, time::Duration};

use super::error_message::Scrub;

/// Why an answer does not tell whether the call succeeded. The request was sent in every case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ambiguous {
    ServerError {
        status: u16,
        /// The proxy that may have answered instead of the service.
        via: Option<String>,
        words: Option<String>,
        /// The pause that the service asks for.
        retry_after: Option<Duration>,
    },
    Redirect {
        status: u16,
        /// The target, without user, password and query.
        to: Option<String>,
        hint: RedirectHint,
    },
    OddStatus {
        status: u16,
    },
    Empty {
        status: u16,
    },
    /// A proxy, a login page or a wrong path.
    WebPage {
        status: u16,
        /// The proxy through which it came.
        via: Option<String>,
    },
    NotJson {
        status: u16,
        line: usize,
        column: usize,
        /// The JSON ends too early.
        early: bool,
    },
    /// A key occurs twice.
    Twice {
        status: u16,
        line: usize,
        column: usize,
    },
    NotAnAnswer {
        status: u16,
        words: Option<String>,
    },
    SuccessMissing {
        status: u16,
        words: Option<String>,
    },
    SuccessOdd {
        status: u16,
        was: &'static str,
    },
    /// `success` is 1, but the status says no.
    SuccessDenied {
        status: u16,
    },
    NoGroup {
        status: u16,
    },
    NoToken {
        status: u16,
    },
    NoId {
        status: u16,
    },
    OtherGroup {
        status: u16,
        asked: String,
        got: String,
        /// Whether the request was a rotation, rather than a get or an update.
        rotation: bool,
    },
    TooLarge {
        status: u16,
        /// In bytes, after decompression.
        limit: usize,
    },
    TooMany {
        status: u16,
        /// In JSON values.
        limit: usize,
    },
}

impl std::error::Error for Ambiguous {}

/// What happened, that the request was sent, and what to do.
impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what();
        match (self, self.check()) {
            (Self::Redirect { hint, .. }, _) => {
                write!(
                    f,
                    "{what}, so nothing was done as far as can be seen; {hint}"
                )
            }
            (Self::OtherGroup { rotation, .. }, _) => {
                write!(f, "{what}; {}", other_group(*rotation))
            }
            (Self::ServerError { .. }, _) => write!(
                f,
                "{what}; the request was sent and may have taken effect; read the group before trying again"
            ),
            (_, Some(check)) => write!(
                f,
                "{what}; the request was sent; {check}, then read the group"
            ),
            (_, None) => write!(
                f,
                "{what}; the request was sent; read the group to see whether it took effect"
            ),
        }
    }
}

impl Ambiguous {
    /// What happened, without advice.
    pub fn what(&self) -> String {
        match self {
            Self::ServerError {
                status, via, words, ..
            } => {
                let who = via.as_deref().map_or_else(
                    || "the service".to_owned(),
                    |proxy| format!("the service or the proxy {proxy}"),
                );
                format!(
                    "{who} failed with HTTP {status}{}",
                    quoted(words.as_deref())
                )
            }
            Self::Redirect { status, to, .. } => {
                let to = to.as_deref().unwrap_or("nowhere");
                format!("HTTP {status} points to {to}; the redirect was not followed")
            }
            Self::OddStatus { status } => format!("HTTP {status} is not a response of this API"),
            Self::Empty { status } => format!("the response (HTTP {status}) is empty"),
            Self::WebPage { status, via } => format!(
                "the response is a web page instead of JSON (HTTP {status}): {}, a login page or a wrong path",
                via.as_deref().map_or_else(
                    || "a proxy".to_owned(),
                    |proxy| format!("the proxy {proxy}")
                )
            ),
            Self::NotJson {
                status,
                line,
                column,
                early,
            } => format!(
                "the response (HTTP {status}) is not JSON: it {}",
                broken(*line, *column, *early)
            ),
            Self::Twice {
                status,
                line,
                column,
            } => format!(
                "the response (HTTP {status}) has a key twice, at line {line}, column {column}, \
                 so it is not trusted"
            ),
            Self::NotAnAnswer { status, words } => format!(
                "the response (HTTP {status}) is JSON but {}",
                quoted_or(
                    words.as_deref(),
                    "does not have the shape of this interface"
                )
            ),
            Self::SuccessMissing { status, words } => format!(
                "the response (HTTP {status}) has no `success`{}",
                quoted(words.as_deref())
            ),
            Self::SuccessOdd { status, was } => {
                format!("`success` is {was}, neither 1 nor 0 (HTTP {status})")
            }
            Self::SuccessDenied { status } => {
                format!("`success` is 1 but the status is HTTP {status}")
            }
            Self::NoGroup { .. } => "the response reports success but has no `user_group`".into(),
            Self::NoToken { .. } => "the response reports success but has no token".into(),
            Self::NoId { .. } => {
                "the response does not name its group (no `provided_id`), so it is not trusted"
                    .into()
            }
            Self::OtherGroup { asked, got, .. } => {
                format!("the response is about group \"{got}\", not \"{asked}\"")
            }
            Self::TooLarge { status, limit } => format!(
                "the response (HTTP {status}) is larger than {} MiB and was not read completely",
                limit / (1024 * 1024)
            ),
            Self::TooMany { status, limit } => format!(
                "the response (HTTP {status}) contains more than {limit} values and was not processed"
            ),
        }
    }

    /// What in the profile may be wrong, if the answer looks like that of another service.
    pub fn check(&self) -> Option<String> {
        match self {
            Self::Redirect { hint, .. } => Some(hint.to_string()),
            Self::OddStatus { .. }
            | Self::WebPage { .. }
            | Self::NotAnAnswer { .. }
            | Self::TooLarge { .. }
            | Self::TooMany { .. } => Some("check base_url and path".into()),
            Self::ServerError {
                status: 502..=504,
                via: Some(_),
                ..
            } => Some(
                "check `base_url` and whether the service runs, and ask the proxy administrator whether it reaches the service"
                    .into(),
            ),
            Self::NoId { .. } | Self::OtherGroup { .. } => Some(
                "ask the network administrator whether a proxy drops request bodies, or responds from a cache"
                    .into(),
            ),
            Self::ServerError { .. }
            | Self::Empty { .. }
            | Self::NotJson { .. }
            | Self::Twice { .. }
            | Self::SuccessMissing { .. }
            | Self::SuccessOdd { .. }
            | Self::SuccessDenied { .. }
            | Self::NoGroup { .. }
            | Self::NoToken { .. } => None,
        }
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::ServerError { status, .. }
            | Self::Redirect { status, .. }
            | Self::OddStatus { status }
            | Self::Empty { status }
            | Self::WebPage { status, .. }
            | Self::NotJson { status, .. }
            | Self::Twice { status, .. }
            | Self::NotAnAnswer { status, .. }
            | Self::SuccessMissing { status, .. }
            | Self::SuccessOdd { status, .. }
            | Self::SuccessDenied { status }
            | Self::NoGroup { status }
            | Self::NoToken { status }
            | Self::NoId { status }
            | Self::OtherGroup { status, .. }
            | Self::TooLarge { status, .. }
            | Self::TooMany { status, .. } => *status,
        }
    }
}

/// What to do about a redirect (hazard 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectHint {
    #[error("end the profile's `path` with a slash")]
    AddSlash,
    #[error("take the slash off the end of the profile's `path`")]
    DropSlash,
    #[error("begin the profile's `base_url` with https://")]
    UseHttps,
    #[error(
        "check the profile's `base_url` and `path`; set them to that address only if you trust it"
    )]
    Check,
}

/// The target of a redirect, cleaned for display, and what to do about it.
pub(crate) fn redirect(
    status: u16,
    url: &str,
    location: Option<&str>,
    scrub: &Scrub<'_>,
) -> Ambiguous {
    let here = reqwest::Url::parse(url).ok();
    let there = match (&here, location) {
        (Some(here), Some(location)) => here.join(location).ok(),
        _ => None,
    };
    let hint = match (&here, &there) {
        (Some(here), Some(there)) => hint(here, there),
        _ => RedirectHint::Check,
    };
    let to = match (there, location) {
        (Some(there), _) => Some(shown(there, scrub)),
        (None, Some(_)) => Some("an address that cannot be read".to_owned()),
        (None, None) => None,
    };
    Ambiguous::Redirect { status, to, hint }
}

fn hint(here: &reqwest::Url, there: &reqwest::Url) -> RedirectHint {
    let same_place = here.host() == there.host() && here.query() == there.query();
    let (from, to) = (here.path(), there.path());
    if !same_place {
        RedirectHint::Check
    } else if here.origin() == there.origin() && to.strip_suffix('/') == Some(from) {
        RedirectHint::AddSlash
    } else if here.origin() == there.origin() && from.strip_suffix('/') == Some(to) {
        RedirectHint::DropSlash
    } else if here.scheme() == "http" && there.scheme() == "https" && from == to {
        RedirectHint::UseHttps
    } else {
        RedirectHint::Check
    }
}

fn shown(mut there: reqwest::Url, scrub: &Scrub<'_>) -> String {
    if there.cannot_be_a_base() {
        return format!("a {}: address", there.scheme());
    }
    // Both setters fail only if the URL cannot have a user at all.
    let _ = there.set_username("");
    let _ = there.set_password(None);
    there.set_query(None);
    there.set_fragment(None);
    scrub.clean(there.as_str())
}

fn quoted(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| format!(" and says \"{words}\""))
}

fn quoted_or(words: Option<&str>, silent: &str) -> String {
    words.map_or_else(|| silent.to_owned(), |words| format!("says \"{words}\""))
}

fn broken(line: usize, column: usize, early: bool) -> String {
    if early {
        format!("ends too early, at line {line}, column {column}")
    } else {
        format!("breaks at line {line}, column {column}")
    }
}

fn other_group(rotation: bool) -> &'static str {
    if rotation {
        "the token sent may belong to that group, and may be rotated; read both groups before anything else"
    } else {
        "a proxy may drop the body of the request; ask the network administrator, and send nothing more until it is clear"
    }
}
