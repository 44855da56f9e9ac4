//! Records exchanges so that people can look at them afterwards: what was sent, what was received, how long it took.
//! Secrets are hidden before anything is kept, and without a listener there is no cost.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::{Url, header::HeaderMap};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::mpsc;

use super::{
    answer::{Expected, Verdict},
    failure::{Call, CallError},
    masking::{Mask, SeenTokens},
    zeroizing::Buffer,
};
pub use super::{
    masking::{Body, MAX_KEPT_BODY},
    secret_text::MASK,
};
use crate::domain::group::UserGroupId;

/// Response headers that are informative; any other could contain a session.
const SAFE_HEADERS: [&str; 13] = [
    "content-type",
    "content-length",
    "content-encoding",
    "date",
    "server",
    "via",
    "location",
    "retry-after",
    "allow",
    // Operators of a service find a request again by these.
    "x-request-id",
    "x-correlation-id",
    "x-amzn-requestid",
    "cf-ray",
];
const LONGEST_HEADER: usize = 300;

/// The result of an exchange, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeKind {
    /// Begun and not ended.
    InFlight,
    Done,
    /// A rotation that returned the old token.
    SameToken,
    Refused,
    Unclear,
    NotSent,
    /// The request was sent, but no complete answer arrived.
    Lost,
    /// Nobody waited for the answer any more.
    GivenUp,
}

/// One exchange, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedExchange {
    /// The same at its beginning and end; unique in this process.
    pub number: u64,
    /// The listener's own value for what it is about.
    pub about: u64,
    pub profile: String,
    pub call: Call,
    /// The user group that the request names or means.
    pub id: Option<String>,
    pub url: String,
    pub request: Body,
    /// Whether a proxy from the environment may have been used.
    pub proxied: bool,
    /// The status of the answer, even of an incomplete one.
    pub status: Option<u16>,
    /// The informative headers of the answer.
    pub headers: Vec<(String, String)>,
    pub answer: Option<Body>,
    /// From before connecting to the last byte, or to the failure.
    pub duration: Duration,
    pub kind: ExchangeKind,
    /// What happened and what to do; empty for a success.
    pub words: String,
}

/// Receives the exchanges of a client, each at its beginning and at its end. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Listener {
    about: u64,
    to: mpsc::UnboundedSender<RecordedExchange>,
}

impl Listener {
    /// `about` is returned with every exchange.
    pub fn new(about: u64, to: mpsc::UnboundedSender<RecordedExchange>) -> Self {
        Self { about, to }
    }

    /// Passes on an exchange that another listener received.
    pub fn tell(&self, exchange: RecordedExchange) {
        // The receiver may be gone.
        let _ = self.to.send(exchange);
    }
}

/// What has been received, unchanged.
pub(super) struct ReceivedAnswer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Buffer,
}

/// What a recording needs to know of its client.
pub(super) struct ClientInfo {
    pub(super) profile: String,
    pub(super) url: Url,
    /// Whether a proxy from the environment may be used.
    pub(super) proxied: bool,
    pub(super) key: SecretString,
    /// Tokens that were sent or received, so that no text and no recorded exchange shows them.
    pub(super) seen: Mutex<SeenTokens>,
}

impl ClientInfo {
    pub(super) fn seen(&self) -> MutexGuard<'_, SeenTokens> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An exchange in progress; if this is dropped, the exchange was given up.
pub(super) struct Recorder<'c> {
    client: &'c ClientInfo,
    listener: &'c Listener,
    begun: Instant,
    /// Until it is sent to the listener.
    recorded: Option<RecordedExchange>,
}

impl<'c> Recorder<'c> {
    pub(super) fn begin(
        listener: &'c Listener,
        client: &'c ClientInfo,
        (call, expected): (Call, &Expected<'_>),
        body: &[u8],
    ) -> Self {
        let id = match expected {
            Expected::Group(id) => Some(id.as_str()),
            Expected::Rotation { expected, .. } => expected.map(UserGroupId::as_str),
        };
        let recorded = {
            let mut seen = client.seen();
            if let Expected::Rotation { old, .. } = expected {
                seen.note(old.expose());
            }
            let mask = seen.mask(client.key.expose_secret(), id);
            RecordedExchange {
                number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
                about: listener.about,
                profile: client.profile.clone(),
                call,
                id: id.map(|id| mask.mask_if_secret(id)),
                url: mask.mask_text(client.url.as_str()),
                request: mask.mask_body(body),
                proxied: client.proxied,
                status: None,
                headers: Vec::new(),
                answer: None,
                duration: Duration::ZERO,
                kind: ExchangeKind::GivenUp,
                words: GIVEN_UP.into(),
            }
        };
        let begins = RecordedExchange {
            kind: ExchangeKind::InFlight,
            words: String::new(),
            ..recorded.clone()
        };
        listener.tell(begins);
        Self {
            client,
            listener,
            begun: Instant::now(),
            recorded: Some(recorded),
        }
    }

    pub(super) fn end(
        mut self,
        result: Result<&Verdict, &CallError>,
        received: Option<&ReceivedAnswer>,
    ) {
        let Some(mut recorded) = self.recorded.take() else {
            return;
        };
        recorded.duration = self.begun.elapsed();
        let mut seen = self.client.seen();
        if let Some(received) = received {
            seen.note_secrets_of(&received.body);
        }
        let mask = seen.mask(self.client.key.expose_secret(), recorded.id.as_deref());
        if let Some(received) = received {
            recorded.status = Some(received.status);
            recorded.headers = safe_headers(&received.headers, &mask);
            recorded.answer = Some(mask.mask_body(&received.body));
        }
        let (kind, words) = kind_and_words(result);
        recorded.kind = kind;
        recorded.words = mask.mask_text(&words);
        drop(seen);
        self.listener.tell(recorded);
    }
}

/// The number of the next exchange.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

const GIVEN_UP: &str =
    "cancelled before a response arrived; a group that did not exist may exist now";

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        if let Some(mut recorded) = self.recorded.take() {
            recorded.duration = self.begun.elapsed();
            self.listener.tell(recorded);
        }
    }
}

fn kind_and_words(result: Result<&Verdict, &CallError>) -> (ExchangeKind, String) {
    match result {
        Ok(verdict) => {
            let kind = match verdict {
                Verdict::Success(_) => ExchangeKind::Done,
                Verdict::SameToken(_) => ExchangeKind::SameToken,
                Verdict::Refused { .. } => ExchangeKind::Refused,
                Verdict::Unclear(_) => ExchangeKind::Unclear,
            };
            (kind, verdict.explain().unwrap_or_default())
        }
        Err(error @ CallError::NotSent { .. }) => (ExchangeKind::NotSent, error.to_string()),
        Err(error @ CallError::Lost { .. }) => (ExchangeKind::Lost, error.to_string()),
    }
}

fn safe_headers(headers: &HeaderMap, mask: &Mask<'_>) -> Vec<(String, String)> {
    let kept = SAFE_HEADERS.into_iter().filter_map(|name| {
        let value = String::from_utf8_lossy(headers.get(name)?.as_bytes());
        let mut value = mask.mask_text(&value);
        value.truncate(value.floor_char_boundary(LONGEST_HEADER));
        Some((name.to_owned(), value))
    });
    kept.collect()
}
