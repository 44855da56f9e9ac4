//! The request inspector and the messages, with the real service and with misbehaving ones: requests and answers are
//! there, and no secret is.

use groupdesk::operations::{ExchangeKind, RecordedExchange};

use super::prelude::*;
use crate::support::faults::{Fault, json as answer};

fn recorded(console: &Console) -> Vec<RecordedExchange> {
    let all = console.runner.app.context.exchanges.all();
    all.map(|exchange| exchange.recorded.clone()).collect()
}

/// No secret is in the recorded exchanges, in a debug text, or on any page of the inspector and the messages.
#[track_caller]
fn assert_no_secret(console: &Console, secrets: &[String], what: &str) {
    let kept = format!("{:?} {:#?}", console.runner.app, recorded(console));
    let screen = console.screen();
    for secret in secrets {
        assert!(!is_in(&kept, secret), "{what}: {secret} is kept: {kept}");
        assert!(!is_in(&screen, secret), "{what}: {screen}");
        let half = &secret[..secret.len() / 2];
        assert!(!is_in(&screen, half), "{what}: half of {secret}: {screen}");
    }
}

/// Opens every exchange and every message in full, and scrolls through every page.
async fn look_at_everything(console: &mut Console, secrets: &[String], what: &str) {
    for list in ["4", "m"] {
        console.keys(list).await;
        let rows = match list {
            "4" => console.runner.app.context.exchanges.all().len(),
            _ => console.runner.app.context.messages.all().len(),
        };
        for _ in 0..rows {
            console.keys("<enter>").await;
            for _ in 0..6 {
                assert_no_secret(console, secrets, what);
                console.keys("<pgdn>").await;
            }
            console.keys("<esc><down>").await;
        }
        console.keys("<esc>").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_up_a_rotation_and_a_refusal_are_recorded_without_secrets() {
    let world = a_world().await;
    let (proxy, through) = through_a_proxy(&world).await;
    let mut console = open_with(vec![through]).await;
    let mut secrets = world.secrets();
    console.keys("4").await.shows("Nothing has been sent yet");
    console.keys("<esc><enter>").await;
    console.keys("<esc>tTy").await;
    console.keys("<esc>").await;
    let refusal = json!({"success": 0, "error": "no such token, says canary"});
    let refused = http(
        "403 Forbidden",
        &["Content-Type: application/json"],
        refusal.to_string(),
    );
    proxy.next("PUT", ProxyFault::swallowed(Then::Instead(refused)));
    console.keys("e<end> plc<ctrl-s>y").await;
    console.shows_all(["the service refused (403)", "nothing was changed"]);
    secrets.extend(world.secrets());
    let all = recorded(&console);
    let calls: Vec<&str> = all.iter().rev().map(|one| one.call.method()).collect();
    assert_eq!(
        calls.iter().filter(|method| **method == "POST").count(),
        1,
        "{calls:?}"
    );
    assert_eq!(all[0].kind, ExchangeKind::Refused);
    assert_eq!(all[0].status, Some(403));
    console.keys("<esc><esc><esc>4").await;
    console.shows_all(["PUT update", "POST rotate", "403 forbidden", "testing"]);
    console.keys("<enter>").await;
    console.shows_all(["PUT http://", "\"name\": \"Acme Europe plc\""]);
    console.keys("G").await;
    console.shows_all(["HTTP 403", "no such token, says canary"]);
    console.keys("<esc>").await;
    look_at_everything(&mut console, &secrets, "a usual day").await;
    // The old and the new token can be told apart and recognized.
    let rotation = recorded(&console)
        .into_iter()
        .find(|one| one.call.method() == "POST")
        .expect("one");
    let masks = |text: &str| -> Vec<String> {
        let parts = text.split('"').filter(|part| part.starts_with("****"));
        parts.map(str::to_owned).collect()
    };
    let old = masks(&rotation.request.text);
    let new = masks(&rotation.answer.expect("an answer").text);
    assert!(
        old.len() == 1 && new.len() == 1 && old != new,
        "{old:?} {new:?}"
    );
    world.scan_installations(&secrets);
}

const KEY: &str = "canary-key-77e1";
const FIRST: &str = "canary-token-first-and-old";
const SECOND: &str = "canary-token-second-and-new";

fn good(token: &str) -> Value {
    json!({"success": 1, "new_user_group": false, "user_group": {
        "team_id": 7, "token": token, "name": "Acme Europe", "provided_id": "acme-eu",
        "properties": null, "api_environment_tag": "Testing"}})
}

/// Answers that repeat the key, the old token and the new one wherever they can.
#[rustfmt::skip] // A table: one case per line.
fn parrots() -> Vec<Fault> {
    let words = format!("Token {KEY} for {FIRST}, then {SECOND}");
    let raw =
        |status: &str, headers: &[&str], body: String| Fault::Answer(http(status, headers, body));
    vec![
        answer("200 OK", &json!({"success": 0, "error": {"code": KEY, "message": words}})),
        answer("401 Unauthorized", &json!({"message": words, "errors": [{"detail": words}]})),
        answer("500 Internal Server Error", &json!({"error": words, (FIRST): {"x": [SECOND]}})),
        answer("200 OK", &json!({"success": 1, "user_group": {"token": SECOND, "provided_id": KEY}})),
        raw("200 OK", &["Content-Type: text/html"], format!("<html>{words}</html>")),
        raw("200 OK", &[], format!("{{\"success\": 1, \"user_group\": {{\"token\": \"{SECOND}")),
        raw("502 Bad Gateway", &[&format!("Server: {FIRST}"), &format!("X-Request-Id: {SECOND}")], words.clone()),
        raw("307 Moved", &[&format!("Location: http://{KEY}/{FIRST}?{SECOND}")], String::new()),
        raw("200 OK", &[], format!("{{\"a\": \"\\u0063{}\", ", &FIRST[1..])),
        Fault::AnswerAndClose(format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{words}").into_bytes()),
        Fault::Close,
        Fault::Reset,
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_repeated_by_the_service_are_not_shown() {
    let secrets = [KEY, FIRST, SECOND].map(str::to_owned);
    let world = a_world().await;
    for round in 0..parrots().len() {
        let parrot = || parrots().swap_remove(round);
        // The old token is read, the rotation is answered with the new one, and the next answer repeats secrets.
        let faults = [
            answer("200 OK", &good(FIRST)),
            answer("200 OK", &good(FIRST)),
            answer("200 OK", &good(FIRST)),
            answer("200 OK", &good(SECOND)),
            parrot(),
            parrot(),
            parrot(),
        ];
        let server = Faults::start(faults).await;
        let directory = world.other_directory(&format!("desk-{round}"));
        let installation = world
            .installation(Side::Testing)
            .at(NOW)
            .key(KEY)
            .on(&directory);
        let operations = installation.through(server.base_url()).operations();
        make_known(&operations).await;
        let mut console = open_with(vec![operations]).await;
        console.keys("tTy").await;
        let what = format!("round {round}");
        let rotations = recorded(&console);
        let rotated = rotations.iter().find(|one| one.call.method() == "POST");
        let kind = rotated.map(|rotation| rotation.kind);
        assert_eq!(
            kind,
            Some(ExchangeKind::Done),
            "{what}: {}",
            console.screen()
        );
        assert_no_secret(&console, &secrets, &what);
        console.keys("<esc><enter>r<esc>").await;
        assert_no_secret(&console, &secrets, &what);
        let wrong = recorded(&console);
        assert!(wrong[0].kind != ExchangeKind::Done, "{what}: {wrong:?}");
        look_at_everything(&mut console, &secrets, &what).await;
    }
    world.scan_installations(&secrets);
}

/// Makes the directory know the group, without asking the service under test.
async fn make_known(operations: &groupdesk::operations::Operations) {
    use groupdesk::operations::UnknownIdPolicy;
    let id = crate::support::world::id("acme-eu");
    let done = operations.look_up(&id, UnknownIdPolicy::Exists).await;
    assert!(done.is_ok(), "{done:?}");
}
