//! Judging answers, and the JSON of the interface: what counts as a success, and what may never be shown.

use std::time::Duration;

use groupdesk::{
    api::{
        answer::{
            Exchange, Expected, Verdict, ambiguous::AmbiguousKind, error_message::Scrub, judge,
        },
        wire::{GroupRequest, ResponseBody},
    },
    domain::{group::UserGroupId, token::Token},
    formats::strict_json::JsonError,
};
use serde_json::Value;

use super::{CANARY, is_safe};

/// Another secret: the token that a rotation replaces.
const OLD: &str = "0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f60d1e2f3a4b5c6d7e8f90a1b2c3d4e5f6";
const STATUSES: [u16; 32] = [
    200, 201, 202, 204, 206, 250, 299, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 408,
    409, 410, 413, 415, 422, 429, 500, 501, 502, 503, 504, 599, 199,
];

/// # Panics
///
/// If something that must hold does not, like all targets.
pub fn run(data: &[u8]) {
    let [status, shape, body @ ..] = data else {
        return;
    };
    let status = STATUSES[usize::from(*status) % STATUSES.len()];
    let id = UserGroupId::parse("acme-eu").expect("an id");
    let old = Token::new(OLD.to_owned());
    let asked = match shape % 3 {
        0 => Expected::Group(&id),
        1 => Expected::Rotation {
            expected: Some(&id),
            old: &old,
        },
        _ => Expected::Rotation {
            expected: None,
            old: &old,
        },
    };
    let location = String::from_utf8_lossy(&body[..body.len().min(64)]).into_owned();
    let exchange = Exchange {
        status,
        url: "https://api.example.com/api/user",
        content_type: [
            None,
            Some("application/json"),
            Some("text/html; charset=utf-8"),
        ][usize::from(shape / 3 % 3)],
        location: (shape & 0x80 != 0).then_some(location.as_str()),
        via: None,
        not_done: shape & 0x20 != 0,
        retry_after: (shape & 0x40 != 0).then_some(Duration::from_secs(7)),
        body,
    };
    let verdict = judge(&exchange, &asked, Scrub::of(&[CANARY]));
    assert_eq!(
        verdict,
        judge(&exchange, &asked, Scrub::of(&[CANARY])),
        "the same twice"
    );
    for text in [verdict.what(), verdict.explain()].into_iter().flatten() {
        keeps_secrets(&text, body);
    }
    check(&verdict, &exchange, &asked);
    wire(body);
}

fn keeps_secrets(text: &str, body: &[u8]) {
    is_safe(text);
    assert!(
        !text.to_lowercase().contains(OLD),
        "repeats the old token: {text:?}"
    );
    let body: Option<Value> = serde_json::from_slice(body).ok();
    let token = body
        .as_ref()
        .and_then(|body| body.get("user_group")?.get("token")?.as_str());
    // A shorter one may occur in our own words by chance.
    if let Some(token) = token.filter(|token| token.len() >= 24) {
        assert!(!text.contains(token), "repeats the token: {text:?}");
    }
}

fn check(verdict: &Verdict, exchange: &Exchange<'_>, asked: &Expected<'_>) {
    let status = exchange.status;
    match verdict {
        Verdict::Success(group) | Verdict::SameToken(group) => {
            assert!((200..300).contains(&status), "a success with {status}");
            assert!(!group.token.expose().trim().is_empty());
            if let Expected::Group(id)
            | Expected::Rotation {
                expected: Some(id), ..
            } = asked
            {
                assert_eq!(group.provided_id.as_ref(), Some(*id));
            }
            let is_same = matches!(asked, Expected::Rotation { old, .. } if group.token == **old);
            assert_eq!(matches!(verdict, Verdict::SameToken(_)), is_same);
            assert_eq!(says(exchange.body), Some(true));
        }
        Verdict::Refused {
            stated,
            code,
            words,
            ..
        } => {
            let not_done =
                status == 503 && exchange.not_done && matches!(asked, Expected::Group(_));
            assert!((200..300).contains(&status) || (400..500).contains(&status) || not_done);
            if status < 300 || not_done {
                assert!(*stated, "only the service itself refuses so");
                assert_eq!(says(exchange.body), Some(false));
            } else {
                assert_ne!(says(exchange.body), Some(true), "it says that it did it");
            }
            for (text, most) in [(code, 60), (words, 300)] {
                let length = text.as_ref().map_or(0, |text| text.chars().count());
                assert!(length <= most, "{length} characters");
            }
        }
        Verdict::Unclear(unclear) => {
            assert_eq!(unclear.status, status);
            if let AmbiguousKind::Json(JsonError::NotJson { line, column, .. }) = &unclear.kind {
                let lines = exchange.body.split(|byte| *byte == b'\n').count();
                assert!(*line <= lines && *column <= exchange.body.len() + 1);
            }
        }
    }
}

/// The meaning of `success`, judged by code independent of that under test; `None`: unclear.
fn says(body: &[u8]) -> Option<bool> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let body: Value = serde_json::from_slice(body.trim_ascii()).ok()?;
    let success = body.get("success")?;
    let text = success
        .as_str()
        .map_or_else(|| success.to_string(), str::to_owned);
    match (success, text.parse::<f64>()) {
        (Value::Bool(flag), _) => Some(*flag),
        (Value::String(_), _) => ["0", "1"].contains(&text.as_str()).then(|| text == "1"),
        (Value::Number(_), Ok(1.0)) => Some(true),
        (Value::Number(_), Ok(0.0)) => Some(false),
        _ => None,
    }
}

/// Everything that can be read of the interface is written so that it is read as the same value.
fn wire(body: &[u8]) {
    if let Ok(answer) = serde_json::from_slice::<ResponseBody>(body) {
        let written = serde_json::to_string(&answer).expect("it can be written");
        let read: ResponseBody =
            serde_json::from_str(&written).expect("what was written can be read");
        assert_eq!(serde_json::to_string(&read).expect("and written"), written);
        assert!(!format!("{answer:?}").contains(CANARY) || !token_is_canary(body));
    }
    if let Ok(request) = serde_json::from_slice::<GroupRequest>(body) {
        let written = serde_json::to_string(&request).expect("it can be written");
        let read: GroupRequest = serde_json::from_str(&written).expect("it can be read");
        assert_eq!(read, request);
    }
}

/// Whether the body has the canary as the token and nowhere else.
fn token_is_canary(body: &[u8]) -> bool {
    let body = String::from_utf8_lossy(body);
    body.matches(CANARY).count() == 1 && body.contains(&format!("\"token\":\"{CANARY}\""))
}
