//! The answers that are neither success nor refusal: what came, and what to do about it. Every text is clean; none
//! is built from a raw body.

use std::time::Duration;

use super::words::Scrub;

/// Why an answer does not say whether the call succeeded. The request was sent in every case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    #[error(
        "the service failed with HTTP {status}{}; the request was sent and may have taken effect; \
         read the group before trying again",
        quoted(.words.as_deref())
    )]
    ServerError {
        status: u16,
        words: Option<String>,
        /// How long the service asks to be left alone.
        retry_after: Option<Duration>,
    },
    #[error("HTTP {status} points to {}; the redirect was not followed, so nothing was done as far as can be seen; {hint}", .to.as_deref().unwrap_or("nowhere"))]
    Redirect {
        status: u16,
        /// Where it wanted to go, without user, password and query.
        to: Option<String>,
        hint: RedirectHint,
    },
    #[error(
        "HTTP {status} is no answer this interface has; the request was sent; \
         check base_url and path, then read the group"
    )]
    OddStatus { status: u16 },
    #[error(
        "the answer (HTTP {status}) is empty; the request was sent; \
         read the group to see whether it took effect"
    )]
    Empty { status: u16 },
    #[error(
        "a web page came instead of JSON (HTTP {status}): a proxy, a login page or a wrong path; \
         check base_url and path, then read the group"
    )]
    WebPage { status: u16 },
    #[error(
        "the answer (HTTP {status}) is not JSON: it {}; the request was sent; \
         read the group to see whether it took effect",
        broken(*.line, *.column, *.early)
    )]
    NotJson {
        status: u16,
        line: usize,
        column: usize,
        /// It would be JSON if it went on.
        early: bool,
    },
    #[error(
        "the answer (HTTP {status}) is JSON but {}; the request was sent; check base_url and path, then read the group",
        quoted_or(.words.as_deref(), "does not have the shape of this interface")
    )]
    NotAnAnswer { status: u16, words: Option<String> },
    #[error(
        "the answer (HTTP {status}) has no `success`{}; the request was sent; \
         read the group to see whether it took effect",
        quoted(.words.as_deref())
    )]
    SuccessMissing { status: u16, words: Option<String> },
    #[error(
        "`success` is {was}, neither 1 nor 0 (HTTP {status}); the request was sent; \
         read the group to see whether it took effect"
    )]
    SuccessOdd { status: u16, was: &'static str },
    #[error(
        "`success` is 1 but the status is HTTP {status}; the request was sent; \
         read the group to see whether it took effect"
    )]
    SuccessDenied { status: u16 },
    #[error(
        "the answer reports success but has no `user_group`; the request was sent; \
         read the group to see whether it took effect"
    )]
    NoGroup { status: u16 },
    #[error(
        "the answer reports success but has no token; the request was sent; \
         read the group to see whether it took effect"
    )]
    NoToken { status: u16 },
    #[error(
        "the answer does not say which group it speaks of (no `provided_id`), so it is not believed; \
         the request was sent; read the group to see whether it took effect"
    )]
    NoId { status: u16 },
    #[error("the answer speaks of group \"{got}\", not of \"{asked}\"; {}", other_group(*.rotation))]
    OtherGroup {
        status: u16,
        asked: String,
        got: String,
        /// The request was a rotation, not a get or an update.
        rotation: bool,
    },
    #[error(
        "the answer (HTTP {status}) is larger than {} MiB and was not read to its end; the request was sent; \
         check base_url and path, then read the group",
        .limit / (1024 * 1024)
    )]
    TooLarge {
        status: u16,
        /// In bytes, after decompression.
        limit: usize,
    },
}

impl Unclear {
    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::ServerError { status, .. }
            | Self::Redirect { status, .. }
            | Self::OddStatus { status }
            | Self::Empty { status }
            | Self::WebPage { status }
            | Self::NotJson { status, .. }
            | Self::NotAnAnswer { status, .. }
            | Self::SuccessMissing { status, .. }
            | Self::SuccessOdd { status, .. }
            | Self::SuccessDenied { status }
            | Self::NoGroup { status }
            | Self::NoToken { status }
            | Self::NoId { status }
            | Self::OtherGroup { status, .. }
            | Self::TooLarge { status, .. } => *status,
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

/// Where a redirect wanted to go, as it may be shown, and what to do about it.
pub(super) fn redirect(
    status: u16,
    url: &str,
    location: Option<&str>,
    scrub: &Scrub<'_>,
) -> Unclear {
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
    Unclear::Redirect { status, to, hint }
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
    // Both setters fail only where there can be no user at all.
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
        "a proxy may drop the body of the request; ask whoever runs the network, and send nothing more until it is clear"
    }
}
