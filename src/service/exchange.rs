//! One request and its answer over HTTP: media type, body, operation, JSON. The order of the checks is the order of the
//! refusals: host, path, method, a key, overload, the right key, read-only, media type, size, body, rules.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{self, Next},
    response::Response,
    routing::any,
};
use hyper::body::Body as _;
use serde_json::{Value, json};

use super::{
    admission::{self, DESCRIPTION_PATH, Hosts, RequestSlot, RequestSlots},
    body,
    observe::{RequestDetails, Verdict},
    refusal::Refusal,
    request,
    rules::{self, Change},
    secret,
    store::{Access, Store},
};
use crate::{
    api::wire::{Presence, ResponseBody},
    db::Tx,
};

const DESCRIPTION: &[u8] = include_bytes!("../../assets/openapi.json");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT");
/// What `rules` does where the interface leaves it open; otherwise clients would have to find out by experiment.
const FACTS: HeaderValue = HeaderValue::from_static(
    "properties-on-get=returned, absent-name=keep, absent-properties=keep, absent-mapping=keep",
);

/// State shared by all requests.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) slots: RequestSlots,
    pub(super) body_time: Duration,
    pub(super) states_facts: bool,
}

/// Serves the interface at `path` and its description; JSON 404s everywhere else. The path must have been checked.
pub(super) fn router(path: &str, hosts: Hosts, shared: Shared) -> Router {
    Router::new()
        .route(path, any(answer))
        .route(DESCRIPTION_PATH, any(described))
        .fallback(async |request: Request| refuse(&Refusal::UnknownPath, request.body()))
        .layer(middleware::from_fn_with_state(hosts, require_host))
        .with_state(shared)
}

/// Answers 503 to every request.
pub(super) fn overloaded_router() -> Router {
    let any = Hosts::default();
    Router::new()
        .fallback(async |request: Request| refuse(&Refusal::Overloaded, request.body()))
        .layer(middleware::from_fn_with_state(any, require_host))
}

/// A request that does not say whom it is for may be meant for another server, or may hide a second request.
async fn require_host(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    match admission::check_host(request.headers(), &hosts) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(&refusal, request.body()),
    }
}

/// The description is the same for everybody and no secret, so it needs no key.
async fn described(request: Request) -> Response {
    if [Method::GET, Method::HEAD].contains(request.method()) {
        let mut response = answered(StatusCode::OK, JSON, DESCRIPTION);
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        return response;
    }
    let mut response = refuse(&Refusal::Method, request.body());
    let allowed = HeaderValue::from_static("GET, HEAD");
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let admitted = match shared.slots.admit(&shared.store, &parts).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refuse(&refusal, &body),
    };
    let details = parts.extensions.get::<Arc<RequestDetails>>();
    let details = details.cloned().unwrap_or_default();
    details.key(admitted.key.clone());
    let mut response = match exchange(&shared, admitted, &parts, &details, &mut body).await {
        Ok(answer) => answered(StatusCode::OK, JSON, text(&answer)),
        Err(refusal) => refuse(&refusal, &body),
    };
    if shared.states_facts {
        response.headers_mut().insert("groupdesk-facts", FACTS);
    }
    response
}

async fn exchange(
    shared: &Shared,
    admitted: RequestSlot,
    parts: &Parts,
    details: &RequestDetails,
    body: &mut Body,
) -> Result<ResponseBody, Refusal> {
    let RequestSlot { key, caller, .. } = &admitted;
    let method = &parts.method;
    if caller.read_only && method != Method::GET {
        return Err(Refusal::ReadOnlyKey);
    }
    body::check_type(&parts.headers)?;
    let body = body::read(body, shared.body_time).await?;
    let wanted = || {
        let wanted = request::group(&body)?;
        details.user_group_id(&wanted.user_group_id);
        Ok::<_, Refusal>(wanted)
    };
    let change = match *method {
        Method::GET => Change::GetOrCreate {
            wanted: wanted()?,
            new_token: secret::random()?,
        },
        Method::PUT => Change::Update(wanted()?),
        _ => Change::Rotate {
            current: request::current_token(&body)?,
            new_token: secret::random()?,
        },
    };
    let is_use_due = !caller.was_used_lately();
    let key = (key.number, caller.environment);
    let done = execute_change(&shared.store, key, is_use_due, change).await?;
    if let Presence::Present(group) = &done.user_group
        && let Presence::Present(id) = &group.provided_id
    {
        details.user_group_id(id);
    }
    Ok(done)
}

/// Queues the change for the holder of a key, in its environment. On a server, an existing group is only read; a missing
/// one is created by a write that looks again.
async fn execute_change(
    store: &Store,
    key: (i64, i64),
    is_use_due: bool,
    change: Change,
) -> Result<ResponseBody, Refusal> {
    let change = Arc::new(change);
    if store.is_shared() && !is_use_due && matches!(*change, Change::GetOrCreate { .. }) {
        let change = Arc::clone(&change);
        let find = move |tx: &Tx<'_>| rules::find_existing(tx, key, &change);
        if let Some(found) = store.execute(Access::Short, find).await? {
            return Ok(found);
        }
    }
    let work = move |tx: &Tx<'_>| rules::execute(tx, key, is_use_due, &change);
    store.execute(Access::Write, work).await?
}

/// The JSON of a refusal.
pub(super) fn refusal_text(refusal: &Refusal) -> Vec<u8> {
    text(&ResponseBody {
        success: Presence::Present(Value::from(0)),
        error: Presence::Present(json!({
            "code": refusal.code(),
            "message": refusal.to_string(),
        })),
        ..ResponseBody::default()
    })
}

/// Answers at once, however much of the body has arrived: `connections` makes sure that the refusal reaches a client
/// that is still sending.
fn refuse(refusal: &Refusal, body: &Body) -> Response {
    let mut response = answered(refusal.status(), JSON, refusal_text(refusal));
    response.extensions_mut().insert(Verdict(refusal.code()));
    let headers = response.headers_mut();
    let its_own = match refusal {
        Refusal::Method => Some((header::ALLOW, METHODS)),
        Refusal::Unauthorized => {
            Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Token")))
        }
        Refusal::Overloaded => Some((header::RETRY_AFTER, HeaderValue::from(1))),
        Refusal::TooMany { seconds } => Some((header::RETRY_AFTER, HeaderValue::from(*seconds))),
        _ => None,
    };
    if let Some((name, value)) = its_own {
        // The request was refused before its body was read, or by the storage: a client may report that nothing was done,
        // and retry.
        if name == header::RETRY_AFTER {
            headers.insert("groupdesk-not-done", HeaderValue::from_static("1"));
        }
        headers.insert(name, value);
    }
    if !body.is_end_stream() || matches!(refusal, Refusal::Host | Refusal::UnknownHost) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn text(answer: &ResponseBody) -> Vec<u8> {
    // An answer consists of strings, numbers and maps with string keys, so it always serializes.
    serde_json::to_vec(answer).unwrap_or_else(|_| br#"{"success":0}"#.to_vec())
}

pub(super) fn answered(status: StatusCode, kind: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    // Answers contain tokens, and a GET can change things.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
