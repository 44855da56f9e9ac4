//! One request and its answer over HTTP: method, key, media type, body, operation, JSON. The order of the checks is
//! the order of the refusals: path, method, overload, key, read-only, media type, size, body, rules.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
    routing::any,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    body,
    keys::{self, Caller},
    refusal::Refusal,
    request, rules, secret,
    store::{Access, Store},
};
use crate::api::wire::{Answer, Presence};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT");
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");
/// What `rules` does where the interface leaves it open, for clients that would else have to prove it.
const FACTS: HeaderValue = HeaderValue::from_static(
    "properties-on-get=returned, absent-name=keep, absent-properties=keep, absent-mapping=keep",
);

/// What all requests share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) room: Arc<Semaphore>,
    pub(super) body_time: Duration,
    pub(super) states_facts: bool,
}

/// A request of somebody with a key, who takes one of the places until it is done.
struct Admitted {
    operation: Operation,
    key: i64,
    caller: Caller,
    _place: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    GetOrCreate,
    Update,
    Rotate,
}

/// The interface at `path`, JSON 404s everywhere else. The path must have been checked.
pub(super) fn router(path: &str, shared: Shared) -> Router {
    Router::new()
        .route(path, any(answer))
        .fallback(unknown_path)
        .with_state(shared)
}

/// 503 everywhere, whatever is asked.
pub(super) fn full() -> Router {
    Router::new().fallback(overloaded)
}

async fn overloaded(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    refuse(&Refusal::Overloaded, &parts, body).await
}

async fn unknown_path(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    refuse(&Refusal::UnknownPath, &parts, body).await
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let admitted = match admit(&shared, &parts).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refuse(&refusal, &parts, body).await,
    };
    let mut response = match exchange(&shared, admitted, &parts, &mut body).await {
        Ok(answer) => response(StatusCode::OK, &answer),
        Err(refusal) => refuse(&refusal, &parts, body).await,
    };
    if shared.states_facts {
        response.headers_mut().insert("groupdesk-facts", FACTS);
    }
    response
}

/// Everything that is checked before a byte of the body is read.
async fn admit(shared: &Shared, parts: &Parts) -> Result<Admitted, Refusal> {
    let operation = match parts.method {
        Method::GET => Operation::GetOrCreate,
        Method::PUT => Operation::Update,
        Method::POST => Operation::Rotate,
        _ => return Err(Refusal::Method),
    };
    let room = Arc::clone(&shared.room);
    let place = room.try_acquire_owned().map_err(|_| Refusal::Overloaded)?;
    let (key, caller) = authenticate(shared, &parts.headers).await?;
    Ok(Admitted {
        operation,
        key,
        caller,
        _place: place,
    })
}

async fn exchange(
    shared: &Shared,
    admitted: Admitted,
    parts: &Parts,
    body: &mut Body,
) -> Result<Answer, Refusal> {
    let Admitted {
        operation,
        key,
        caller,
        ..
    } = &admitted;
    if caller.read_only && *operation != Operation::GetOrCreate {
        return Err(Refusal::ReadOnlyKey);
    }
    body::check_type(&parts.headers)?;
    let body = body::read(body, shared.body_time).await?;
    match operation {
        Operation::GetOrCreate => {
            let wanted = request::group(&body)?;
            let token = secret::random()?;
            act(shared, *key, move |connection, caller| {
                rules::get_or_create(connection, caller, wanted, token)
            })
            .await
        }
        Operation::Update => {
            let wanted = request::group(&body)?;
            act(shared, *key, move |connection, caller| {
                rules::update(connection, caller, wanted)
            })
            .await
        }
        Operation::Rotate => {
            let current = request::current_token(&body)?;
            let token = secret::random()?;
            act(shared, *key, move |connection, caller| {
                rules::rotate(connection, caller, &current, token)
            })
            .await
        }
    }
}

/// Recognises the caller. No key and a wrong key take the same way.
async fn authenticate(shared: &Shared, headers: &HeaderMap) -> Result<(i64, Caller), Refusal> {
    let presented = secret::hash(presented_key(headers).unwrap_or_default());
    let recognised = shared
        .store
        .ask(Access::Read, move |connection| {
            let Some(key) = keys::recognise(connection, &presented)? else {
                return Ok(None);
            };
            Ok(keys::caller(connection, key)?.map(|caller| (key, caller)))
        })
        .await?;
    recognised.ok_or(Refusal::Unauthorized)
}

/// The key of `Authorization: Token <KEY>`; the scheme in any case.
fn presented_key(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let value = value.as_bytes().trim_ascii();
    let space = value.iter().position(u8::is_ascii_whitespace)?;
    let (scheme, key) = value.split_at(space);
    scheme
        .eq_ignore_ascii_case(b"token")
        .then(|| key.trim_ascii())
}

/// Queues the operation. The key is looked at again in the same transaction: it may have been revoked meanwhile.
async fn act<F>(shared: &Shared, key: i64, operation: F) -> Result<Answer, Refusal>
where
    F: FnOnce(&Connection, &Caller) -> rules::Verdict + Send + 'static,
{
    let work = move |connection: &Connection| match keys::caller(connection, key)? {
        Some(caller) => operation(connection, &caller),
        None => Ok(Err(Refusal::Unauthorized)),
    };
    shared.store.ask(Access::Write, work).await?
}

async fn refuse(refusal: &Refusal, parts: &Parts, mut body: Body) -> Response {
    let answer = Answer {
        success: Presence::Present(Value::from(0)),
        error: Presence::Present(json!({
            "code": refusal.code(),
            "message": refusal.message(),
        })),
        ..Answer::default()
    };
    let mut response = response(refusal.status(), &answer);
    let headers = response.headers_mut();
    match refusal {
        Refusal::Method => {
            headers.insert(header::ALLOW, METHODS);
        }
        Refusal::Unauthorized => {
            let scheme = HeaderValue::from_static("Token");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        Refusal::Overloaded => {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        _ => {}
    }
    // A client that waits for "100 Continue" sends nothing after a refusal.
    let waits = parts.headers.contains_key(header::EXPECT);
    if waits || *refusal == Refusal::SlowBody || !body::discard(&mut body).await {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn response(status: StatusCode, answer: &Answer) -> Response {
    // An answer is made of strings, numbers and maps with string keys: it always serializes.
    let bytes = serde_json::to_vec(answer).unwrap_or_else(|_| br#"{"success":0}"#.to_vec());
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    // Tokens stand in answers, and a GET changes things.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_what_follows_the_scheme() {
        let key = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_str(value).expect("a header");
                headers.append(header::AUTHORIZATION, value);
            }
            presented_key(&headers).map(|key| String::from_utf8_lossy(key).into_owned())
        };
        assert_eq!(key(&["Token abc"]).as_deref(), Some("abc"));
        assert_eq!(key(&["tOKEN   abc "]).as_deref(), Some("abc"));
        assert_eq!(key(&["Bearer abc"]), None);
        assert_eq!(key(&["Tokenabc"]), None);
        assert_eq!(key(&["abc"]), None);
        assert_eq!(key(&["Token abc", "Token abc"]), None);
        assert_eq!(key(&[]), None);
    }
}
