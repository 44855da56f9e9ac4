//! The three operations over HTTP: one request each, never repeated, never redirected (hazards 5, 6, 7). Sends and
//! receives; what an answer means is decided in `answer`.
//!
//! ```text
//! body as bytes -> connection of its own (writes) -> in time? (send_by) -> sent once -> status, headers, body up to a limit
//!    -> judge: success, refusal, unclear -> Reply.  No answer -> CallError: nothing was sent, or unclear
//! ```

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use reqwest::{
    Method,
    header::{self, HeaderMap, HeaderValue},
    redirect,
};
use rustls::ClientConfig;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use tower_layer::layer_fn;
use zeroize::Zeroizing;

use crate::{
    config::{profile::Profile, scrub::shown},
    domain::{facts::Fact, group::UserGroupId, pasted::Parts, token::Token},
    intake::{self, proxy::Proxy},
};

use super::{
    address::Address,
    answer::{
        Exchange, Expected, Verdict,
        ambiguous::{Ambiguous, AmbiguousKind},
        error_message::Scrub,
        judge,
    },
    facts,
    failure::{Call, CallError, ClientError, NotSent, Route, is_refused_by_proxy},
    masking::SeenTokens,
    proxied::{self, ProxyFault},
    receiving::{announced, read, text},
    recording::{ClientInfo, Listener, ReceivedAnswer, Recorder},
    retry_after::retry_after,
    send_by::{CheckSendBy, SendBy},
    sent,
    tls::{client_config, provider},
    wire::{GroupRequest, RotateRequest, WireToken},
    zeroizing::{self, Buffer},
};

/// Pooled connections are closed early: if a server closes one during a request, the outcome is unclear (trap 8).
const IDLE: Duration = Duration::from_secs(15);

/// Calls one environment of the service. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    pub(super) inner: Arc<Inner>,
    listener: Option<Listener>,
    send_by: Option<SendBy>,
}

pub(super) struct Inner {
    pub(super) address: Address,
    /// With the API key and the tokens of this client.
    info: ClientInfo,
    pub(super) route: Route,
    authorization: HeaderValue,
    /// For reads, over pooled connections.
    reads: reqwest::Client,
    /// For writes, each over a connection of its own (docs/design/rotation.md, rule 1).
    writes: reqwest::Client,
    /// How connections are secured, for https.
    pub(super) tls: Option<Arc<ClientConfig>>,
    /// The name of the proxy, if it sees plain HTTP: then it may answer in the place of the service.
    plain_proxy: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.inner.address.host)
    }
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub verdict: Verdict,
    pub status: u16,
    /// From the first byte of the request to the last byte of the answer.
    pub latency: Duration,
    /// The facts that the service states about itself.
    pub facts: Vec<Fact>,
}

/// What a call brings.
type Answered = Result<Reply, CallError>;

impl Client {
    /// For https this loads the certificate authorities, which takes about 10 ms.
    pub fn new(profile: &Profile, key: SecretString) -> Result<Self, ClientError> {
        let address = Address::of(profile)?;
        let name = || profile.name.clone();
        if key.expose_secret().trim().is_empty() {
            return Err(ClientError::NoKey(name()));
        }
        let text = Zeroizing::new(format!("Token {}", key.expose_secret()).into_bytes());
        let mut authorization = HeaderValue::from_maybe_shared(zeroizing::shared(text))
            .map_err(|_| ClientError::Key(name()))?;
        authorization.set_sensitive(true);
        // Shorter than the total timeout, so that "never connected" is distinguished from "never answered".
        let connect_timeout = profile.connect_timeout.min(profile.timeout * 9 / 10);
        let is_encrypted = address.url.scheme() == "https";
        let ca_file = profile.ca_file.as_deref();
        // A file that cannot be used is a mistake, also where nothing is encrypted.
        let tls = (is_encrypted || ca_file.is_some()).then(|| client_config(ca_file));
        let tls = tls.transpose().map_err(|why| {
            ClientError::Unusable(match ca_file {
                Some(file) => format!(
                    "`ca_file` of profile {} cannot be used ({}): {why}",
                    profile.name,
                    shown(&file.to_string_lossy())
                ),
                None => "HTTPS cannot be used because no CA certificates were found; \
                         install your system's ca-certificates package, or set SSL_CERT_FILE"
                    .into(),
            })
        })?;
        let tls = tls.filter(|_| is_encrypted);
        let proxy = proxy_of(profile, &address)?;
        let sees_all = proxy.as_ref().filter(|_| !is_encrypted);
        let plain_proxy = sees_all.map(Proxy::named);
        let base = || {
            let base = base(&address, proxy.as_ref(), tls.as_deref())?;
            let base = base.timeout(profile.timeout);
            Ok(base.connect_timeout(connect_timeout))
        };
        let build = |builder: reqwest::ClientBuilder| builder.build().map_err(not_built);
        let info = ClientInfo {
            profile: name(),
            url: address.url.clone(),
            proxied: proxy.is_some(),
            seen: Mutex::new(SeenTokens::with_key(key.expose_secret())),
            key,
        };
        let inner = Inner {
            reads: build(base()?.pool_idle_timeout(IDLE))?,
            writes: build(
                base()?
                    .pool_max_idle_per_host(0)
                    .http1_only()
                    .connector_layer(layer_fn(CheckSendBy)),
            )?,
            route: Route {
                host: address.host.clone(),
                timeout: profile.timeout,
                connect_timeout,
                own_authorities: ca_file.is_some(),
                proxy,
            },
            info,
            tls,
            plain_proxy,
            address,
            authorization,
        };
        Ok(Self {
            inner: Arc::new(inner),
            listener: None,
            send_by: None,
        })
    }

    /// Whether a text has 16 characters in a row of its key or of a token that it sent or received, and that were not in what
    /// was there before.
    pub fn has_part_of_secret(&self, parts: &Parts, before: Option<&Parts>) -> bool {
        parts.are_of(self.inner.info.seen().parts(), before)
    }

    /// Returns the same client, with `listener` notified of its exchanges.
    #[must_use]
    pub fn with_listener(&self, listener: Option<Listener>) -> Self {
        Self {
            listener,
            ..self.clone()
        }
    }

    /// Returns the same client, whose writes are sent in time or not at all.
    #[must_use]
    pub fn until(mut self, send_by: SendBy) -> Self {
        self.send_by = Some(send_by);
        self
    }

    /// Gets the group, and creates it if the service does not know it (hazard 1).
    pub async fn get_or_create(&self, request: &GroupRequest, id: &UserGroupId) -> Answered {
        self.send(Call::GetOrCreate, request, &Expected::Group(id))
            .await
    }

    /// As [`Client::get_or_create`], for a group that is meant to be created: over a fresh connection, like every
    /// write.
    pub async fn create(&self, request: &GroupRequest, id: &UserGroupId) -> Answered {
        self.send(Call::Create, request, &Expected::Group(id)).await
    }

    /// Updates the group; may replace or merge (hazard 4).
    pub async fn update(&self, request: &GroupRequest, id: &UserGroupId) -> Answered {
        self.send(Call::Update, request, &Expected::Group(id)).await
    }

    /// Rotates the token, once, over a fresh connection. If the outcome is unclear, only a get may settle it.
    pub async fn rotate(&self, current: &Token, expected: Option<&UserGroupId>) -> Answered {
        let request = RotateRequest {
            current_token: WireToken(SecretString::from(current.expose())),
        };
        let expectation = Expected::Rotation {
            expected,
            old: current,
        };
        self.send(Call::Rotate, &request, &expectation).await
    }

    /// An update that names no group, which a service can only refuse; see `probe`.
    pub(super) async fn update_nothing(&self) -> Answered {
        let nobody = UserGroupId::parse("-").expect("a valid ID");
        let nothing = serde_json::Map::new();
        self.send(Call::Probe, &nothing, &Expected::Group(&nobody))
            .await
    }

    async fn send(
        &self,
        call: Call,
        request: &impl Serialize,
        expectation: &Expected<'_>,
    ) -> Answered {
        let body = zeroizing::json(request);
        let note = self.listener.as_ref().map(|listener| {
            Recorder::begin(listener, &self.inner.info, (call, expectation), &body)
        });
        let mut received = None;
        let exchange = self.inner.exchange(call, body, expectation, &mut received);
        let result = sent::counted(SendBy::during(self.send_by.clone(), exchange)).await;
        if let Some(note) = note {
            note.end(
                result.as_ref().map(|reply| &reply.verdict),
                received.as_ref(),
            );
        }
        result
    }
}

impl Inner {
    /// `came` receives what has arrived, even if that is no complete answer.
    async fn exchange(
        &self,
        call: Call,
        body: Buffer,
        expectation: &Expected<'_>,
        received: &mut Option<ReceivedAnswer>,
    ) -> Answered {
        let client = match call {
            Call::GetOrCreate => &self.reads,
            Call::Create | Call::Update | Call::Probe | Call::Rotate => &self.writes,
        };
        let method: Method = call.method().parse().expect("a method");
        let secrets = [self.info.key.expose_secret()];
        let scrub = Scrub::of(&secrets);
        let begun = Instant::now();
        let sent = client
            .request(method, self.address.url.clone())
            .header(header::AUTHORIZATION, self.authorization.clone())
            .body(zeroizing::shared(body))
            .send()
            .await;
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => {
                let failed = self.route.failed(call, &error, None, &scrub);
                let is_refused = is_refused_by_proxy(&error);
                return Err(self.named_by_proxy(failed, is_refused).await);
            }
        };
        let status = response.status().as_u16();
        let received = received.insert(ReceivedAnswer {
            status,
            headers: std::mem::take(response.headers_mut()),
            body: zeroizing::with_capacity(announced(&response)),
        });
        let verdict = match read(&mut response, &mut received.body).await {
            Ok(true) => {
                let headers = &received.headers;
                let exchange = Exchange {
                    status,
                    url: self.address.url.as_str(),
                    content_type: text(headers, &header::CONTENT_TYPE),
                    location: text(headers, &header::LOCATION),
                    retry_after: text(headers, &header::RETRY_AFTER)
                        .and_then(|text| retry_after(text, jiff::Timestamp::now())),
                    not_done: facts::not_done(headers),
                    via: self.plain_proxy.as_deref(),
                    body: &received.body,
                };
                let mut seen = self.info.seen();
                if let Expected::Rotation { old, .. } = expectation {
                    seen.note(old.expose());
                }
                let verdict = judge(&exchange, expectation, scrub.clone().with_seen(&seen));
                if let Verdict::Success(group) | Verdict::SameToken(group) = &verdict {
                    seen.note(group.token.expose());
                }
                verdict
            }
            Ok(false) => Verdict::Unclear(Ambiguous {
                status,
                kind: AmbiguousKind::TooLarge,
                via: self.plain_proxy.clone(),
            }),
            Err(error) => return Err(self.route.failed(call, &error, Some(status), &scrub)),
        };
        Ok(Reply {
            verdict,
            status,
            latency: begun.elapsed(),
            facts: facts::stated(&received.headers),
        })
    }

    /// Adds the status that the proxy answered.
    async fn named_by_proxy(&self, mut failed: CallError, is_refused: bool) -> CallError {
        if let (Some(proxy), true) = (&self.route.proxy, is_refused)
            && let CallError::NotSent {
                why: NotSent::Proxy { why, .. },
            } = &mut failed
        {
            let (host, port) = self.address.host_and_port();
            match proxied::status(&self.reads, proxy, host, port).await {
                Some(407) => *why = ProxyFault::Login,
                Some(status) => *why = ProxyFault::Status(status),
                None => {}
            }
        }
        failed
    }
}

/// The proxy that the profile lets the environment name. A proxy cannot reach our loopback, but would see the key.
fn proxy_of(profile: &Profile, address: &Address) -> Result<Option<Proxy>, ClientError> {
    if !profile.proxy_from_environment || address.loopback {
        return Ok(None);
    }
    let (host, port) = address.host_and_port();
    let found = Proxy::of(address.url.scheme(), host, port, intake::text::variable);
    found.map_err(|wrong| {
        ClientError::Unusable(format!(
            "{}, which profile {} uses with proxy_from_environment, {}",
            wrong.variable, profile.name, wrong.why
        ))
    })
}

fn not_built(_: reqwest::Error) -> ClientError {
    let why = "the HTTP client cannot be built; check the variables that set the proxy";
    ClientError::Unusable(why.into())
}

fn base(
    address: &Address,
    proxy: Option<&Proxy>,
    tls: Option<&ClientConfig>,
) -> Result<reqwest::ClientBuilder, ClientError> {
    provider();
    let json = HeaderValue::from_static("application/json");
    let headers =
        HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("groupdesk/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers);
    // Which one is used is decided here, so that a failure can name it.
    builder = builder.no_proxy();
    if let Some(proxy) = proxy {
        builder = builder.proxy(proxied::setting(proxy).map_err(not_built)?);
    }
    if let (Some(name), Some(places)) = (address.url.domain(), address.pinned(0)) {
        builder = builder.resolve_to_addrs(name, &places);
    }
    Ok(match tls {
        Some(tls) => {
            let mut tls = tls.clone();
            tls.alpn_protocols = vec![b"http/1.1".to_vec()];
            builder.tls_backend_preconfigured(tls)
        }
        // Without this, even plain http loads the certificate authorities (trap 7).
        None => builder.tls_certs_only([]),
    })
}
