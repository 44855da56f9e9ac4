//! A service that repeats key and token wherever an answer has room for them.

use serde_json::{Value, json};

use super::{
    canary::{KEY, NEW_TOKEN, TOKEN},
    faults::{Fault, http, json as answer},
};

/// Headers that a client may evaluate or show.
fn headers(key: &str, sent: &str) -> Vec<String> {
    let clean = key.replace('"', "%22");
    vec![
        format!("WWW-Authenticate: Token {key} {sent}"),
        format!("Server: {key}"),
        format!("Via: 1.1 {sent}"),
        format!("X-Request-Id: {key}{sent}"),
        format!("CF-Ray: {sent}"),
        format!("Allow: {key}"),
        format!("Set-Cookie: session={clean}"),
        format!("X-Debug: {clean} {sent}"),
    ]
}

fn with_headers(status: &str, more: &[String], body: &str, key: &str, sent: &str) -> Fault {
    let all: Vec<String> = headers(key, sent)
        .into_iter()
        .chain(more.iter().cloned())
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    Fault::Answer(http(status, &all, body))
}

fn group(token: &str, key: &str) -> Value {
    json!({"success": 1, "new_user_group": false, "debug": {"authorization": key, "current_token": TOKEN},
        "user_group": {"team_id": 7, "token": token, "name": "Acme", "provided_id": "acme",
            "properties": null, "api_environment_tag": "Testing", "previous_token": TOKEN}})
}

/// A good answer in which everything is repeated.
pub(crate) fn good(token: &str, key: &str) -> Fault {
    let json = ["Content-Type: application/json".to_owned()];
    with_headers("200 OK", &json, &group(token, key).to_string(), key, TOKEN)
}

/// What the service does to the request under test: to all requests, or to the rotation alone.
pub(crate) fn parrots(key: &str, sent: &str, other: &str) -> Vec<(&'static str, Fault)> {
    let words = format!("Token {key} is not allowed for {sent}, try {other}");
    let in_address = words.replace('"', "%22").replace(' ', "%20");
    let told = |status: &str, body: Value| answer(status, &body);
    let json = ["Content-Type: application/json".to_owned()];
    let place = |text: String| [format!("Location: {text}")];
    vec![
        ("401", told("401 Unauthorized", json!({"message": words, "errors": [{"detail": words, "code": key}]}))),
        ("403 page", with_headers("403 Forbidden", &["Content-Type: text/html".to_owned()], &format!("<html><h1>{words}</h1>"), key, sent)),
        ("success 0", told("200 OK", json!({"success": 0, "error": {"code": key, "message": words}}))),
        ("307 elsewhere", with_headers("307 Moved", &place(format!("http://example.invalid/{in_address}?key={in_address}#{in_address}")), "", key, sent)),
        ("302 here", with_headers("302 Found", &place(format!("/api/user/?token={in_address}")), "", key, sent)),
        ("301 of its own", with_headers("301 Moved", &place(words.clone()), "", key, sent)),
        ("500", with_headers("500 Oops", &[], &words, key, sent)),
        ("no JSON", with_headers("200 OK", &json, &format!("{{\"success\": 1, \"token\": {words}"), key, sent)),
        ("half", Fault::AnswerAndClose(format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{{\"a\": \"{words}").into_bytes())),
        ("429", with_headers("429 Slow", &[format!("Retry-After: {key}")], &words, key, sent)),
        ("404", told("404 Not Found", json!({"detail": [words, {"title": words, words.as_str(): words}]}))),
        ("other id", told("200 OK", json!({"success": 1, "new_user_group": false, "user_group": {"token": other, "name": "x", "provided_id": words}}))),
        ("no id", told("200 OK", json!({"success": 1, "user_group": {"token": other}}))),
        ("success in words", told("200 OK", json!({"success": words, "user_group": {"token": other}}))),
        ("content type", with_headers("200 OK", &[format!("Content-Type: {words}")], &words, key, sent)),
        ("close", Fault::Close),
        ("reset", Fault::Reset),
    ]
}

/// For a command that reads, and perhaps writes afterwards.
pub(crate) fn always(fault: Fault) -> Vec<Fault> {
    vec![fault]
}

/// For a rotation: the read before it succeeds, and so does every one after it.
pub(crate) fn at_the_second(fault: Fault, key: &str) -> Vec<Fault> {
    vec![good(TOKEN, key), fault, good(NEW_TOKEN, key)]
}

/// The key that is repeated for the usual profile.
pub(crate) const USUAL: &str = KEY;
