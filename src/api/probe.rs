//! Finds out whether a service can be reached and accepts an API key, without a request that could create anything.
//!
//! It sends one `PUT` (update) with the body `{}`. A get, even without an id, is a get-or-create (hazard 1), `HEAD` is
//! handled by the same code in many services, and a `POST` is a rotation. An update changes an existing group and names
//! none here, so a service can only refuse it; `OPTIONS` is often answered by a proxy that never sees the key.

use std::{
    io::ErrorKind,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::TlsConnector;

use super::{
    answer::{
        Verdict,
        ambiguous::{Ambiguous, AmbiguousKind, RedirectHint},
    },
    client::{Client, Reply},
    failure::{CallError, NotSent},
};
use crate::domain::word_enum::word_enum;

/// One check, its duration and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// For example `name api.example.com`.
    pub what: String,
    pub took: Duration,
    pub result: Result<String, String>,
}

word_enum! {
    /// What the probe found. The words are those of the JSON output.
    pub enum Finding {
        /// The service looked at the request, not only at the key.
        Accepted = "accepted",
        /// The key is known, but may not change anything, or not here.
        MayNotChange = "may_not_change",
        /// Answered in JSON, without a word about the key.
        NotFound = "not_found",
        KeyRefused = "key_refused",
        /// The path wants a slash, or does not want one.
        Slash = "slash",
        Redirected = "redirected",
        WebPage = "web_page",
        Busy = "busy",
        /// 5xx.
        ServiceFailed = "service_failed",
        /// An answer that this interface does not have.
        Strange = "strange",
        /// A connection was made, no answer came.
        NoAnswer = "no_answer",
        NotReached = "not_reached",
    }
}

impl Finding {
    /// One can work with this.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Accepted | Self::MayNotChange)
    }
}

/// All results of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub steps: Vec<Step>,
    pub finding: Finding,
    /// What was found and what to do, in plain words. Contains no raw text and no key.
    pub text: String,
}

impl Client {
    /// Tries name resolution, connection and one request that no service can take for a creation. Stops at the first
    /// failure.
    pub async fn probe(&self) -> Probe {
        let mut steps = Vec::new();
        // A proxy resolves and connects by itself.
        if self.inner.route.proxy.is_none()
            && let Err(text) = self.reach(&mut steps).await
        {
            return Probe {
                steps,
                finding: Finding::NotReached,
                text,
            };
        }
        let begun = Instant::now();
        let result = self.update_nothing().await;
        let (finding, text) = finding_of(&result, self.inner.address.url.path().ends_with('/'));
        steps.push(Step {
            // Includes a new connection, as for every write.
            what: "whole request".into(),
            took: begun.elapsed(),
            result: match &result {
                Ok(reply) => Ok(format!("HTTP {}", reply.status)),
                Err(_) => Err("no response".into()),
            },
        });
        Probe {
            steps,
            finding,
            text,
        }
    }

    /// Tries name resolution and connection separately, so that a failure can be named and timed.
    async fn reach(&self, steps: &mut Vec<Step>) -> Result<(), String> {
        let (host, port) = self.inner.address.host_and_port();
        let (name, patience) = (bare(host), self.inner.route.connect_timeout);
        let mut begun = Instant::now();
        let mut step = |what: String, result: Result<String, &'static str>| {
            let why = result.as_ref().err().copied();
            steps.push(Step {
                what,
                took: begun.elapsed(),
                result: result.map_err(str::to_owned),
            });
            begun = Instant::now();
            why
        };
        let addresses: Vec<_> = match self.inner.address.pinned(port) {
            Some(pinned) => pinned.to_vec(),
            None => match timeout(patience, lookup_host((name, port))).await {
                Ok(Ok(addresses)) => addresses.collect(),
                Ok(Err(_)) | Err(_) => Vec::new(),
            },
        };
        // An IP address needs no name resolution.
        if name.parse::<IpAddr>().is_err() {
            let first = addresses.first().map(|address| address.ip().to_string());
            if step(format!("name {host}"), first.ok_or("not found")).is_some() {
                return Err(format!(
                    "The name {host} was not found; nothing was sent. Check the base URL, the network and the name service."
                ));
            }
        }
        let stream = match timeout(patience, TcpStream::connect(&addresses[..])).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => Err("refused"),
            Ok(Err(_)) => Err("failed"),
            Err(_) => Err("no response in time"),
        };
        let connected = stream.as_ref().map(|_| "connected".into());
        let connected = connected.map_err(|why| *why);
        if let Some(why) = step(format!("connection to port {port}"), connected) {
            return Err(format!(
                "No connection to {host}, port {port}: {why}; nothing was sent. Check the base URL, the firewall, and whether the service runs."
            ));
        }
        if let (Ok(stream), Some(tls)) = (stream, self.inner.tls.clone()) {
            let shaking = shake_hands(tls, name, stream);
            if let Ok(Some(version)) = timeout(patience, shaking).await {
                step("TLS".into(), Ok(version));
            }
        }
        Ok(())
    }
}

/// Performs a TLS handshake on its own, and returns its version as text. `None` if it failed: a complete request will give
/// a better reason.
async fn shake_hands(tls: Arc<ClientConfig>, host: &str, stream: TcpStream) -> Option<String> {
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let stream = TlsConnector::from(tls).connect(name, stream).await.ok()?;
    let version = stream.get_ref().1.protocol_version()?.as_str()?;
    Some(version.replace("TLSv1_", "TLS 1."))
}

/// Removes the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn finding_of(result: &Result<Reply, CallError>, has_slash: bool) -> (Finding, String) {
    match result.as_ref().map(|reply| &reply.verdict) {
        Ok(Verdict::Refused {
            status,
            stated,
            words,
            via,
            ..
        }) => {
            let via = via.as_deref().filter(|_| !stated);
            let says = says(words.as_deref());
            let (finding, text) = match (status, via) {
                // A proxy that forbids says nothing about the key.
                (403, Some(_)) => {
                    let text = format!("The response is a refusal (HTTP 403).{says}");
                    (Finding::Strange, text)
                }
                _ => finding_of_refusal(*status, *stated, &says, has_slash),
            };
            (finding, text + &beside(via))
        }
        Ok(Verdict::Unclear(unclear)) => finding_of_unclear(unclear),
        Ok(Verdict::Success(_) | Verdict::SameToken(_)) => (Finding::Strange, SUCCESS.into()),
        Err(CallError::NotSent { why }) => {
            let next = match why {
                NotSent::Tls { .. } | NotSent::Proxy { .. } => why.next(),
                _ => "check the base URL and the network",
            };
            let text = format!("Not reached: {why}; nothing was sent. To do: {next}.");
            (Finding::NotReached, text)
        }
        Err(error @ CallError::Lost { .. }) => (
            Finding::NoAnswer,
            format!(
                "Connected, but {}. Is this an HTTP service? Check the base URL and its port.",
                error.what()
            ),
        ),
    }
}

const SUCCESS: &str = "The service reports success for an update without a group ID. The connection and the API key work, but \
the service does not behave as groupdesk expects: investigate before you change anything.";

/// Network Authentication Required (RFC 6585): never sent by the service itself.
const LOGIN_REQUIRED: u16 = 511;

fn says(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| format!(" It says: \"{words}\"."))
}

/// Over plain HTTP the answer may be that of a proxy.
fn beside(via: Option<&str>) -> String {
    via.map_or_else(String::new, |proxy| {
        format!(" The service or the proxy {proxy} sent this response: over plain HTTP they cannot be told apart.")
    })
}

fn finding_of_refusal(status: u16, stated: bool, says: &str, has_slash: bool) -> (Finding, String) {
    match status {
        401 => (
            Finding::KeyRefused,
            format!("Connected, but the service does not accept the API key (HTTP 401).{says} Check where the key comes from."),
        ),
        403 => (
            Finding::MayNotChange,
            format!("Connected; the API key may not change anything (HTTP 403).{says} With a read-only key you can read \
                groups, but not change them."),
        ),
        200..300 if stated => (
            Finding::Accepted,
            format!("Connected. The service correctly rejected a request without an ID, and did not reject the API key.{says}"),
        ),
        400 | 422 if stated => (
            Finding::Accepted,
            "Connected; the API key is accepted. The service correctly rejected the test request, which names no group.".into(),
        ),
        404 => {
            let slash = if has_slash { "without" } else { "with" };
            (
                Finding::NotFound,
                format!("Connected, but there is nothing at this path (HTTP 404).{says} Check the base URL and the path; some services want the path {slash} a slash at its end."),
            )
        }
        405 | 415 => (
            Finding::NotFound,
            format!("The server responds, but not with this API (HTTP {status}).{says} Check the base URL and the path."),
        ),
        429 | 503 => (
            Finding::Busy,
            format!("Connected, but the service is busy (HTTP {status}).{says} Try again later."),
        ),
        _ => (
            Finding::Strange,
            format!("The server responds with HTTP {status}, not as this API does.{says} A proxy may be in between; check the \
            base URL."),
        ),
    }
}

fn finding_of_unclear(unclear: &Ambiguous) -> (Finding, String) {
    let status = unclear.status;
    let via = unclear.via.as_deref();
    let (finding, text) = match &unclear.kind {
        AmbiguousKind::Redirect { to, hint } => {
            let to = to.as_deref().unwrap_or("nowhere");
            let finding = match hint {
                RedirectHint::AddSlash | RedirectHint::DropSlash => Finding::Slash,
                RedirectHint::UseHttps | RedirectHint::Check => Finding::Redirected,
            };
            (
                finding,
                format!(
                    "HTTP {status} points to {to}. It was not followed: a redirect can turn a rotation into a read. To do: {hint}."
                ),
            )
        }
        AmbiguousKind::WebPage => (
            Finding::WebPage,
            format!(
                "The response is a web page instead of JSON (HTTP {status}): a proxy, a login page or a wrong path. Check the base URL and the path."
            ),
        ),
        AmbiguousKind::ServerError { .. } if status == LOGIN_REQUIRED => (
            Finding::NotReached,
            format!(
                "Not reached: the network or a proxy requires you to log in first (HTTP {status}). Open any web page in a \
                browser, log in, then try again."
            ),
        ),
        AmbiguousKind::ServerError { words, .. } => {
            let text = match via.filter(|_| (502..=504).contains(&status)) {
                Some(proxy) => format!(
                    "The service or the proxy {proxy} failed (HTTP {status}): over plain HTTP they cannot be told apart. Check the base URL, and whether the proxy reaches the service."
                ),
                None => format!(
                    "Connected, but the service failed (HTTP {status}).{} It is unknown whether the service accepts the \
                    key; try again later.",
                    says(words.as_deref())
                ),
            };
            return (Finding::ServiceFailed, text);
        }
        AmbiguousKind::SuccessMissing(_)
        | AmbiguousKind::SuccessOdd(_)
        | AmbiguousKind::SuccessDenied
        | AmbiguousKind::OddStatus
        | AmbiguousKind::Empty
        | AmbiguousKind::Json(_)
        | AmbiguousKind::NotAnAnswer(_)
        | AmbiguousKind::TooLarge => (
            Finding::Strange,
            format!(
                "The server responds (HTTP {status}), but not as this API does. Check the base URL and the path."
            ),
        ),
        AmbiguousKind::NoGroup
        | AmbiguousKind::NoToken
        | AmbiguousKind::NoId
        | AmbiguousKind::OtherGroup { .. } => return (Finding::Strange, SUCCESS.into()),
    };
    (finding, text + &beside(via))
}
