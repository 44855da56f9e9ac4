//! The client on the wire: what it sends, that it sends it once, that it follows no redirect, and what it reports.

mod answers;
mod bodies;
mod connection;
mod proxies;
mod redirects;
mod tls;

use std::time::Duration;

use groupdesk::{
    api::{
        answer::{
            Verdict,
            ambiguous::{Ambiguous, AmbiguousKind, RedirectHint},
            rotation::rotation_answer,
        },
        client::{Client, Reply},
        failure::{Call, CallError, ClientError},
        wire::GroupRequest,
    },
    config::profile::{KeySource, Profile},
    domain::{
        group::UserGroupId,
        rotation::RotateOutcome,
        token::{Fingerprinter, Token},
    },
};
use serde_json::json;

pub(crate) use connection::full;
pub(crate) use tls::an_authority;

use crate::support::faults::{self, Fault, Faults, http};

pub(crate) const KEY: &str = "canary-key-5c1";
pub(crate) const OLD: &str = "canary-token-old";
pub(crate) const NEW: &str = "canary-token-new";
/// Long enough for a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(20);
pub(crate) const CALLS: [Call; 3] = [Call::GetOrCreate, Call::Update, Call::Rotate];

pub(crate) fn profile(base_url: String, timeout: Duration) -> Profile {
    Profile {
        base_url,
        timeout,
        connect_timeout: timeout,
        ..Profile::new("eu", "", KeySource::Env("KEY".into()))
    }
}

pub(crate) fn client_of(profile: &Profile) -> Client {
    Client::new(profile, KEY.into()).expect("a client")
}

pub(crate) fn client(server: &Faults, timeout: Duration) -> Client {
    client_of(&profile(server.base_url(), timeout))
}

pub(crate) fn id() -> UserGroupId {
    UserGroupId::parse("acme-eu").expect("a valid ID")
}

pub(crate) fn request() -> GroupRequest {
    GroupRequest {
        name: Some("Acme".into()),
        user_group_id: "acme-eu".into(),
        ..GroupRequest::default()
    }
}

/// Sends the request, and checks what holds for every outcome: no secret in any text.
pub(crate) async fn call(client: &Client, call: Call) -> Result<Reply, CallError> {
    let result = match call {
        Call::GetOrCreate => client.get_or_create(&request(), &id()).await,
        Call::Create => client.create(&request(), &id()).await,
        Call::Update => client.update(&request(), &id()).await,
        Call::Probe => panic!("a probe has its own tests"),
        Call::Rotate => client.rotate(&Token::new(OLD.into()), Some(&id())).await,
    };
    let said = match &result {
        Ok(reply) => format!("{:?}", reply.verdict.explain()),
        Err(error) => error.to_string(),
    };
    let said = format!("{said} {result:?} {client:?}");
    assert!(!said.contains("canary"), "{said}");
    assert!(!said.contains("Token can"), "{said}");
    result
}

fn good() -> Fault {
    faults::json(
        "200 OK",
        &json!({"success": 1, "user_group": {"token": NEW, "provided_id": "acme-eu"}}),
    )
}

pub(crate) fn answer(result: &Result<Reply, CallError>) -> RotateOutcome {
    rotation_answer(result, &Fingerprinter::new(&[1; 32]))
}

#[tokio::test]
async fn every_operation_sends_its_method_headers_and_body() {
    let server = Faults::always(good()).await;
    let client = client(&server, LONG);
    let group = r#"{"name":"Acme","user_group_id":"acme-eu"}"#;
    let token = format!(r#"{{"current_token":"{OLD}"}}"#);
    let expected = [("GET", group), ("PUT", group), ("POST", token.as_str())];
    for (at, (method, body)) in expected.into_iter().enumerate() {
        let reply = call(&client, CALLS[at]).await.expect("an answer");
        assert!(matches!(reply.verdict, Verdict::Success(_)), "{reply:?}");
        assert!(reply.status == 200 && reply.latency > Duration::ZERO);
        let request = &server.requests()[at];
        let line = format!("{method} /api/user HTTP/1.1\r\n");
        assert!(request.head().starts_with(&line), "{}", request.head());
        assert_eq!(request.body(), body.as_bytes());
        for (name, value) in [
            ("authorization", &format!("Token {KEY}")[..]),
            ("content-type", "application/json"),
            ("accept", "application/json"),
            (
                "user-agent",
                concat!("groupdesk/", env!("CARGO_PKG_VERSION")),
            ),
            ("accept-encoding", "gzip"),
            ("content-length", &body.len().to_string()),
            ("host", &server.address.to_string()),
        ] {
            assert_eq!(request.header(name), [value], "{method} {name}");
        }
    }
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn writes_never_share_a_connection() {
    use Call::{GetOrCreate, Rotate, Update};
    let server = Faults::always(good()).await;
    let client = client(&server, LONG);
    let calls = [GetOrCreate, Rotate, Rotate, Update, GetOrCreate, Rotate];
    for one in calls {
        call(&client, one).await.expect("an answer");
    }
    let connections: Vec<_> = server.requests().iter().map(|one| one.connection).collect();
    assert_eq!(connections.len(), calls.len());
    for (call, connection) in calls.iter().zip(&connections) {
        let sharing = connections
            .iter()
            .filter(|other| *other == connection)
            .count();
        assert!(
            *call == GetOrCreate || sharing == 1,
            "{call:?} shares its connection"
        );
    }
}

/// The target of redirects is tested in `redirects`.
#[tokio::test]
async fn sent_values_are_not_shown_in_the_target_of_a_redirect() {
    for one in CALLS {
        let sent = if one == Call::Rotate { OLD } else { KEY };
        let location = format!("Location: http://user:canary@a.example/{sent}?key={KEY}#canary");
        let moved = Fault::Answer(http("302 Moved", &[&location], ""));
        let server = Faults::always(moved).await;
        let result = call(&client(&server, LONG), one).await;
        assert_eq!(answer(&result), RotateOutcome::Unclear);
        let expected = Verdict::Unclear(Ambiguous {
            status: 302,
            kind: AmbiguousKind::Redirect {
                to: Some("http://a.example/****".into()),
                hint: RedirectHint::Check,
            },
            via: None,
        });
        assert_eq!(result.expect("an answer").verdict, expected);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn words_of_the_service_are_shown_without_sent_values() {
    let body =
        json!({"error": {"code": "retired", "message": format!("{OLD} is not {KEY}\u{202e}")}});
    let bytes = http("429 Slow", &["Retry-After: 7"], body.to_string());
    let server = Faults::always(Fault::Answer(bytes)).await;
    let reply = call(&client(&server, LONG), Call::Rotate)
        .await
        .expect("an answer");
    let expected = Verdict::Refused {
        status: 429,
        stated: true,
        via: None,
        code: Some("retired".into()),
        words: Some("**** is not ****\\u{202e}".into()),
        retry_after: Some(Duration::from_secs(7)),
    };
    assert_eq!(reply.verdict, expected);
    let said = reply.verdict.explain().expect("a text");
    assert!(said.ends_with("wait 7 s, then try again"), "{said}");
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_without_quoting_it() {
    let profile = profile("http://127.0.0.1:9".into(), LONG);
    let refused = |key: &str| Client::new(&profile, key.into()).expect_err("refused");
    assert_eq!(refused(" \n"), ClientError::NoKey("eu".into()));
    let error = refused("canary\n");
    assert_eq!(error, ClientError::Key("eu".into()));
    assert!(!format!("{error} {error:?}").contains("canary"));
}
