//! Answers that are neither success nor refusal: what was received, and what to do about it. Every text is cleaned;
//! none is built from a raw body.

use std::{fmt, time::Duration};

use super::{error_message::Scrub, who_refused};
use crate::{
    domain::size::{MAX_ANSWER_BYTES, MAX_ANSWER_VALUES},
    formats::strict_json::JsonError,
};

/// An answer that does not tell whether the call succeeded. The request was sent in every case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambiguous {
    /// The status of the answer.
    pub status: u16,
    pub kind: AmbiguousKind,
    /// The proxy through which plain HTTP goes: it may have answered, or spoilt the answer, in place of the service.
    pub via: Option<String>,
}

/// Why it does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AmbiguousKind {
    ServerError {
        words: Option<String>,
        /// The pause that the service asks for.
        retry_after: Option<Duration>,
    },
    Redirect {
        /// The target, without user, password and query.
        to: Option<String>,
        hint: RedirectHint,
    },
    OddStatus,
    Empty,
    /// A proxy, a login page or a wrong path.
    WebPage,
    Json(JsonError),
    /// JSON without the shape of this interface; with its words.
    NotAnAnswer(Option<String>),
    /// With its words.
    SuccessMissing(Option<String>),
    /// What `success` is instead.
    SuccessOdd(&'static str),
    /// `success` is 1, but the status says no.
    SuccessDenied,
    NoGroup,
    NoToken,
    NoId,
    OtherGroup {
        asked: String,
        got: String,
        /// Whether the request was a rotation, rather than a get or an update.
        rotation: bool,
    },
    /// After decompression.
    TooLarge,
}

use AmbiguousKind as Kind;

impl std::error::Error for Ambiguous {}

/// What happened, that the request was sent, and what to do.
impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next = match (&self.kind, self.check()) {
            (Kind::Redirect { hint, .. }, _) => {
                format!(", so apparently nothing was changed; {hint}")
            }
            (Kind::OtherGroup { rotation: true, .. }, _) => {
                "; the token sent may belong to that group, and may be rotated; read both groups before anything else".into()
            }
            (Kind::OtherGroup { .. }, _) => {
                "; a proxy may drop the body of the request; ask the network administrator, and send nothing more until it is clear".into()
            }
            (Kind::ServerError { .. }, _) => {
                "; the request was sent and may have taken effect; read the group before trying again".into()
            }
            (_, Some(check)) => format!("; the request was sent; {check}, then read the group"),
            (_, None) => "; the request was sent; read the group to see whether it took effect".into(),
        };
        write!(f, "{}{next}", self.what())
    }
}

impl Ambiguous {
    /// What happened, without advice.
    pub fn what(&self) -> String {
        let what = self.kind_in_words();
        match (&self.kind, &self.via) {
            // They name it themselves.
            (Kind::ServerError { .. } | Kind::WebPage, _) | (_, None) => what,
            (_, Some(proxy)) => format!("{what}; it came through the proxy {proxy}"),
        }
    }

    fn kind_in_words(&self) -> String {
        let (status, via) = (self.status, self.via.as_deref());
        match &self.kind {
            Kind::ServerError { words, .. } => {
                let who = who_refused(via.is_none(), via);
                format!(
                    "{who} failed with HTTP {status}{}",
                    and_says(words.as_deref())
                )
            }
            Kind::Redirect { to, .. } => {
                let to = to.as_deref().unwrap_or("nowhere");
                format!("HTTP {status} points to {to}; the redirect was not followed")
            }
            Kind::OddStatus => format!("HTTP {status} is not a response of this API"),
            Kind::Empty => format!("the response (HTTP {status}) is empty"),
            Kind::WebPage => {
                let proxy = via.map_or("a proxy".into(), |proxy| format!("the proxy {proxy}"));
                format!(
                    "the response is a web page instead of JSON (HTTP {status}): {proxy}, a login page or a wrong path"
                )
            }
            Kind::Json(wrong) => format!("the response (HTTP {status}) {}", json_in_words(*wrong)),
            Kind::NotAnAnswer(None) => format!(
                "the response (HTTP {status}) is JSON but does not have the shape of this interface"
            ),
            Kind::NotAnAnswer(Some(words)) => {
                format!("the response (HTTP {status}) is JSON but says \"{words}\"")
            }
            Kind::SuccessMissing(words) => {
                let says = and_says(words.as_deref());
                format!("the response (HTTP {status}) has no `success`{says}")
            }
            Kind::SuccessOdd(was) => format!("`success` is {was}, neither 1 nor 0 (HTTP {status})"),
            Kind::SuccessDenied => {
                format!("`success` is 1 but the status is HTTP {status}")
            }
            Kind::NoGroup => "the response reports success but has no `user_group`".into(),
            Kind::NoToken => "the response reports success but has no token".into(),
            Kind::NoId => {
                "the response does not name its group (no `provided_id`), so it is not trusted"
                    .into()
            }
            Kind::OtherGroup { asked, got, .. } => {
                format!("the response is about group \"{got}\", not \"{asked}\"")
            }
            Kind::TooLarge => format!(
                "the response (HTTP {status}) is larger than {} MiB and was not read completely",
                MAX_ANSWER_BYTES / (1024 * 1024)
            ),
        }
    }

    /// What in the profile may be wrong, if the answer looks like that of another service.
    pub fn check(&self) -> Option<String> {
        match &self.kind {
            Kind::Redirect { hint, .. } => Some(hint.to_string()),
            Kind::OddStatus
            | Kind::WebPage
            | Kind::NotAnAnswer(_)
            | Kind::TooLarge
            | Kind::Json(JsonError::TooMany) => Some("check base_url and path".into()),
            Kind::ServerError { .. }
                if self.via.is_some() && (502..=504).contains(&self.status) => Some(
                "check `base_url` and whether the service runs, and ask the proxy administrator whether it reaches the service"
                    .into(),
            ),
            Kind::NoId | Kind::OtherGroup { .. } => Some(
                "ask the network administrator whether a proxy drops request bodies, or responds from a cache"
                    .into(),
            ),
            Kind::ServerError { .. }
            | Kind::Empty
            | Kind::Json(_)
            | Kind::SuccessMissing(_)
            | Kind::SuccessOdd(_)
            | Kind::SuccessDenied
            | Kind::NoGroup
            | Kind::NoToken => None,
        }
    }
}

/// What to do about a redirect (hazard 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectHint {
    #[error("end the profile's `path` with a slash")]
    AddSlash,
    #[error("remove the slash from the end of the profile's `path`")]
    DropSlash,
    #[error("begin the profile's `base_url` with https://")]
    UseHttps,
    #[error("check the profile's `base_url` and `path`; set them to that URL only if you trust it")]
    Check,
}

/// The target of a redirect, cleaned for display, and what to do about it.
pub(super) fn redirect(url: &str, location: Option<&str>, scrub: &Scrub<'_>) -> AmbiguousKind {
    let to = |location| {
        let here = reqwest::Url::parse(url).ok()?;
        let there = here.join(location).ok()?;
        Some((hint(&here, &there), shown(there, scrub)))
    };
    let unreadable = || {
        let to = "a URL that cannot be read".to_owned();
        (RedirectHint::Check, to)
    };
    let (hint, to) = location
        .map(|location| to(location).unwrap_or_else(unreadable))
        .unzip();
    let hint = hint.unwrap_or(RedirectHint::Check);
    Kind::Redirect { to, hint }
}

fn hint(here: &reqwest::Url, there: &reqwest::Url) -> RedirectHint {
    let is_host = here.host() == there.host() && here.query() == there.query();
    let is_origin = is_host && here.origin() == there.origin();
    let (from, to) = (here.path(), there.path());
    if is_origin && to.strip_suffix('/') == Some(from) {
        RedirectHint::AddSlash
    } else if is_origin && from.strip_suffix('/') == Some(to) {
        RedirectHint::DropSlash
    } else if is_host && (here.scheme(), there.scheme()) == ("http", "https") && from == to {
        RedirectHint::UseHttps
    } else {
        RedirectHint::Check
    }
}

fn shown(mut there: reqwest::Url, scrub: &Scrub<'_>) -> String {
    if there.cannot_be_a_base() {
        return format!("a {}: URL", there.scheme());
    }
    // Both setters fail only if the URL cannot have a user at all.
    let _ = there.set_username("");
    let _ = there.set_password(None);
    there.set_query(None);
    there.set_fragment(None);
    scrub.clean(there.as_str())
}

fn json_in_words(wrong: JsonError) -> String {
    match wrong {
        JsonError::NotJson {
            line,
            column,
            early,
        } => {
            let breaks = if early {
                "ends too early, at"
            } else {
                "breaks at"
            };
            format!("is not JSON: it {breaks} line {line}, column {column}")
        }
        JsonError::DuplicateKey { line, column } => {
            format!("has a key twice, at line {line}, column {column}, so it is not trusted")
        }
        JsonError::TooMany => {
            format!("contains more than {MAX_ANSWER_VALUES} values and was not processed")
        }
    }
}

fn and_says(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| format!(" and says \"{words}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What would send the API key to another host is never proposed.
    #[test]
    fn a_redirect_to_another_host_is_only_to_be_checked() {
        let url = |text: &str| reqwest::Url::parse(text).expect("a URL");
        let here = url("http://a.invalid/user");
        for (there, expected) in [
            ("https://a.invalid/user", RedirectHint::UseHttps),
            ("http://a.invalid/user/", RedirectHint::AddSlash),
            ("https://b.invalid/user", RedirectHint::Check),
            ("http://b.invalid/user/", RedirectHint::Check),
            ("https://a.invalid/user?to=b", RedirectHint::Check),
            ("https://a.invalid/other", RedirectHint::Check),
        ] {
            assert_eq!(hint(&here, &url(there)), expected, "{there}");
        }
    }
}
