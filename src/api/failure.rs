//! Why there is no answer: a client that cannot be built, a call that was never sent, a call whose answer was lost. The
//! texts name the host, never the whole address, and never quote what was sent.

use std::{error::Error as _, fmt::Write, io, time::Duration};

use rustls::AlertDescription;

use super::{answer::error_message::Scrub, proxied::ProxyFault, send_by::TooLate, tls::TlsError};
use crate::{domain::word_enum::word_enum, intake::proxy::Proxy};

/// Why a profile cannot be used at all. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    #[error("the API key of profile {0} is empty; check where its `api_key` comes from")]
    NoKey(String),
    #[error(
        "the API key of profile {0} contains characters that cannot be sent, such as a line end; \
         check where its `api_key` comes from"
    )]
    Key(String),
    /// Its address, certificates or proxy.
    #[error("{0}")]
    Unusable(String),
}

word_enum! {
    /// Which operation was called.
    pub enum Call {
        GetOrCreate = "get",
        /// A get-or-create that is meant to create.
        Create = "create",
        Update = "update",
        /// An update that names no group, to see whether it is refused.
        Probe = "test",
        Rotate = "rotate",
    }
}

impl Call {
    /// The HTTP method.
    pub fn method(self) -> &'static str {
        match self {
            Self::GetOrCreate | Self::Create => "GET",
            Self::Update | Self::Probe => "PUT",
            Self::Rotate => "POST",
        }
    }
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No connection was made: certainly nothing reached the service.
    #[error("{why}; nothing was sent; {}", .why.next())]
    NotSent { why: NotSent },
    /// The request, or part of it, may have reached the service.
    #[error("{}; {}", lost(*.status, *.why, .via.as_deref()), next(*.call))]
    Lost {
        call: Call,
        /// The status of an answer that began and broke off.
        status: Option<u16>,
        why: Lost,
        /// The proxy that the connection went through, which may have broken it.
        via: Option<String>,
    },
}

impl CallError {
    /// Whether the request may have reached the service.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }

    /// What happened, without advice.
    pub fn what(&self) -> String {
        match self {
            Self::NotSent { why } => why.to_string(),
            Self::Lost {
                status, why, via, ..
            } => lost(*status, *why, via.as_deref()),
        }
    }
}

/// Why no connection was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    #[error("{0} refused the connection")]
    Refused(String),
    #[error("the name {0} was not found")]
    Name(String),
    #[error("no connection to {host} within {}", seconds(*.after))]
    TimedOut { host: String, after: Duration },
    #[error("no secure connection to {host}: {why}")]
    Tls { host: String, why: TlsError },
    /// The culprit is not the service.
    #[error("no connection to {host}: the proxy {proxy} {why}")]
    Proxy {
        host: String,
        /// Its address, and the variable that names it.
        proxy: String,
        why: ProxyFault,
    },
    #[error("no connection to {host}: {words}")]
    Other { host: String, words: String },
    /// The connection was established, but too late: others could have settled by then that nothing was sent.
    #[error("connecting to {0} took too long")]
    Late(String),
}

impl NotSent {
    /// What to do about it.
    pub fn next(&self) -> &'static str {
        match self {
            Self::Refused(_) => "check `base_url`, and that the service is running",
            Self::Name(_) => "check `base_url`, the network and the name service",
            Self::TimedOut { .. } | Self::Other { .. } => {
                "check the network, the firewall and `base_url`"
            }
            Self::Tls { why, .. } => why.next(),
            Self::Proxy { why, .. } => why.next(),
            Self::Late(_) => {
                "this machine was asleep or very busy: check the group, then try again"
            }
        }
    }
}

/// How an answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("no complete response within {}", seconds(*.0))]
    TimedOut(Duration),
    #[error("the connection broke before the response was complete")]
    Broken,
    #[error("the response was damaged in transit")]
    Damaged,
    /// To a request over plain HTTP.
    #[error(
        "the response was not HTTP; if the service speaks TLS on this port, write https:// in `base_url`"
    )]
    NotHttp,
}

fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

fn lost(status: Option<u16>, why: Lost, via: Option<&str>) -> String {
    let mut what = why.to_string();
    if let Some(status) = status {
        let _ = write!(what, " (it began with HTTP {status})");
    }
    if let Some(proxy) = via {
        let _ = write!(what, ", through the proxy {proxy}");
    }
    what
}

fn next(call: Call) -> &'static str {
    match call {
        Call::GetOrCreate => "the request was sent; reading the group again is safe",
        Call::Create => {
            "the request was sent; reading the group again is safe (a group that did not exist may exist now)"
        }
        Call::Update => {
            "the update was sent and may have taken effect; read the group before sending it again"
        }
        Call::Probe => "the request could change nothing; try again",
        Call::Rotate => {
            "the rotation was sent and may have taken effect; read the group, do not rotate again"
        }
    }
}

/// The way to the service, to name what failed on it.
pub(super) struct Route {
    /// Host, with the port unless it is the default.
    pub(super) host: String,
    pub(super) timeout: Duration,
    /// How long establishing a connection may take.
    pub(super) connect_timeout: Duration,
    /// Whether the profile names certificate authorities, trusted in addition to those of the system.
    pub(super) own_authorities: bool,
    /// The proxy of the environment that is used.
    pub(super) proxy: Option<Proxy>,
}

impl Route {
    /// Only an error while connecting, or while building the request, proves that nothing was sent. With TLS 1.3, a service that
    /// requires a client certificate says so after what the client takes for the end of connecting: it reads no request.
    pub(super) fn failed(
        &self,
        call: Call,
        error: &reqwest::Error,
        status: Option<u16>,
        scrub: &Scrub<'_>,
    ) -> CallError {
        let is_unread = || status.is_none() && lacks_certificate(error);
        let why = if error.is_connect() || is_unread() {
            self.not_connected(error, scrub)
        } else if error.is_builder() {
            NotSent::Other {
                host: self.host.clone(),
                words: "the request cannot be built".to_owned(),
            }
        } else {
            return CallError::Lost {
                call,
                status,
                why: self.lost(error),
                via: self.proxy.as_ref().map(Proxy::named),
            };
        };
        CallError::NotSent { why }
    }

    fn not_connected(&self, error: &reqwest::Error, scrub: &Scrub<'_>) -> NotSent {
        let mut host = self.host.clone();
        let kind = io_error(error).map(io::Error::kind);
        if chain(error).any(<dyn std::error::Error>::is::<TooLate>) {
            return NotSent::Late(host);
        }
        if let Some(proxy) = &self.proxy
            && let Some(why) = proxy_fault(error, kind)
        {
            return NotSent::Proxy {
                host,
                proxy: proxy.named(),
                why,
            };
        }
        // It may be the proxy that spoils what goes through it.
        if let Some(proxy) = &self.proxy {
            let _ = write!(host, " through the proxy {}", proxy.named());
        }
        if error.is_timeout() {
            return NotSent::TimedOut {
                host,
                after: self.connect_timeout,
            };
        }
        if kind == Some(io::ErrorKind::ConnectionRefused) {
            return NotSent::Refused(host);
        }
        if chain(error).any(|cause| cause.to_string().starts_with("dns error")) {
            return NotSent::Name(host);
        }
        // A system error has a number; a TLS error has none.
        if let Some(io) = io_error(error).filter(|io| io.raw_os_error().is_none()) {
            let why = TlsError::of(io, self.own_authorities, scrub);
            return NotSent::Tls { host, why };
        }
        // The innermost cause; the outer ones repeat the address.
        let words = chain(error)
            .last()
            .map_or_else(String::new, |cause| scrub.clean(&cause.to_string()));
        NotSent::Other { host, words }
    }

    fn lost(&self, error: &reqwest::Error) -> Lost {
        if error.is_timeout() {
            Lost::TimedOut(self.timeout)
        } else if error.is_decode()
            && !chain(error).any(<dyn std::error::Error>::is::<hyper::Error>)
        {
            Lost::Damaged
        } else if error.url().is_some_and(|url| url.scheme() == "http")
            && chain(error).any(is_not_http)
        {
            Lost::NotHttp
        } else {
            Lost::Broken
        }
    }
}

/// Whether the service refused the connection because no client certificate was sent.
fn lacks_certificate(error: &reqwest::Error) -> bool {
    let tls = io_error(error).and_then(io::Error::get_ref);
    let alert = tls.and_then(|tls| tls.downcast_ref());
    let required = AlertDescription::CertificateRequired;
    alert == Some(&rustls::Error::AlertReceived(required))
}

/// Whether what came back has not even the first line of HTTP, as the alert of a server that expects TLS.
fn is_not_http(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = cause.downcast_ref::<hyper::Error>();
    error.is_some_and(|error| {
        error.is_parse() && !error.is_parse_status() && !error.is_parse_too_large()
    })
}

/// What the proxy did; `None` if it is not the culprit.
fn proxy_fault(error: &reqwest::Error, kind: Option<io::ErrorKind>) -> Option<ProxyFault> {
    let says = |words: &str| chain(error).any(|cause| cause.to_string().starts_with(words));
    if kind == Some(io::ErrorKind::ConnectionRefused) {
        return Some(ProxyFault::Refused);
    }
    if says("dns error") {
        return Some(ProxyFault::Name);
    }
    // The library distinguishes these errors only by their text.
    if says("tunnel error: proxy authorization required") {
        return Some(ProxyFault::Login);
    }
    if says("tunnel error") {
        return Some(ProxyFault::Tunnel);
    }
    error.is_timeout().then_some(ProxyFault::TimedOut)
}

/// Whether the proxy answered that it makes no connection: its status is worth asking for.
pub(super) fn is_refused_by_proxy(error: &reqwest::Error) -> bool {
    chain(error).any(|cause| cause.to_string() == "tunnel error: unsuccessful")
}

fn chain<'a>(
    error: &'a reqwest::Error,
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// The innermost one: TLS errors are wrapped twice.
fn io_error(error: &reqwest::Error) -> Option<&io::Error> {
    let first = chain(error).find_map(|cause| cause.downcast_ref::<io::Error>());
    std::iter::successors(first, |&io| io.get_ref()?.downcast_ref()).last()
}
