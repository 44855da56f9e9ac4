//! `assets/openapi.json` and the service agree: every answer is as described, and everything described happens.
//! `tests/schemathesis.sh` sends thousands of requests generated from the same description.

mod schema;

use std::{collections::BTreeSet, num::NonZeroU32, time::Duration};

use groupdesk::service::{Limits, Setup, store::Options};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::service::{Caller, TestService};

fn description() -> Value {
    let text = include_str!("../../../assets/openapi.json");
    serde_json::from_str(text).expect("JSON")
}

/// Operation, status and code; the code of a success is empty.
type Case = (String, u16, String);

/// All answers that the description allows.
fn described(document: &Value) -> BTreeSet<Case> {
    let operations = document["paths"]["/api/user"]
        .as_object()
        .expect("operations");
    let mut cases = BTreeSet::new();
    for (method, operation) in operations {
        for (status, response) in operation["responses"].as_object().expect("responses") {
            let status: u16 = status.parse().expect("a status");
            let response = schema::resolved(document, response);
            let of = &response["content"]["application/json"]["schema"];
            let codes =
                of["allOf"][1]["properties"]["error"]["properties"]["code"]["enum"].as_array();
            let codes = codes.cloned().unwrap_or_else(|| vec![json!("")]);
            assert_eq!(codes == [json!("")], status == 200, "{method} {status}");
            for code in codes {
                let code = code.as_str().expect("a code").to_owned();
                cases.insert((method.clone(), status, code));
            }
        }
    }
    cases
}

struct Coverage {
    document: Value,
    seen: BTreeSet<Case>,
}

impl Coverage {
    fn note_answer(
        &mut self,
        method: &str,
        status: u16,
        answer: &Value,
        headers: &dyn Fn(&str) -> Option<String>,
    ) {
        let operation = &self.document["paths"]["/api/user"][method];
        let response = &operation["responses"][status.to_string()];
        let what = format!("{method} {status}: {answer}");
        assert!(response.is_object(), "not described: {what}");
        let response = schema::resolved(&self.document, response);
        let of = &response["content"]["application/json"]["schema"];
        let wrong = schema::mismatch(&self.document, of, answer, "");
        assert_eq!(wrong, None, "{what}");
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let header = schema::resolved(&self.document, header);
            let value = headers(&name.to_lowercase());
            let value = value.unwrap_or_else(|| panic!("{name} is missing"));
            match &header["schema"]["const"] {
                Value::Null => {
                    assert_eq!(header["schema"]["pattern"], "^[1-9][0-9]*$", "{name}");
                    assert!(value.parse::<u64>().is_ok_and(|it| it > 0), "{value}");
                }
                wanted => assert_eq!(wanted, &Value::from(value), "{name}"),
            }
        }
        let code = answer["error"]["code"].as_str().unwrap_or_default();
        let case = (method.to_owned(), status, code.to_owned());
        self.seen.insert(case);
    }

    async fn send(&mut self, caller: &Caller, method: &Method, body: impl Into<reqwest::Body>) {
        self.send_as(caller.request(method.clone(), body), method)
            .await;
    }

    async fn send_as(&mut self, request: reqwest::RequestBuilder, method: &Method) -> Value {
        let reply = crate::support::service::Reply::of(request).await;
        let answer = reply.json();
        let header = |name: &str| Some(reply.headers.get(name)?.to_str().ok()?.to_owned());
        let method = method.as_str().to_lowercase();
        self.note_answer(&method, reply.status.as_u16(), &answer, &header);
        answer
    }

    /// Sends a request as bytes that a proper client cannot send.
    async fn raw(&mut self, service: &TestService, method: &Method, rest: &str) {
        let key = service.testing().authorization;
        let head = format!(
            "{method} /api/user HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n{rest}"
        );
        let text = super::slow::rest(&mut super::slow::connect(service, &head).await).await;
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let status = head[9..12].parse().expect("a status");
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|line| line.0 == name);
            found.map(|line| line.1.to_owned())
        };
        let answer = serde_json::from_str(body).expect("JSON");
        self.note_answer(&method.as_str().to_lowercase(), status, &answer, &header);
    }
}

const METHODS: [Method; 3] = [Method::GET, Method::PUT, Method::POST];

/// A valid body for the operation, about a group or token that does not exist.
fn unknown(method: &Method) -> String {
    if *method == Method::POST {
        json!({"current_token": "unknown"}).to_string()
    } else {
        json!({"user_group_id": "unknown"}).to_string()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_as_described_and_everything_described_happens() {
    let mut witness = Coverage {
        document: description(),
        seen: BTreeSet::new(),
    };
    let service = TestService::start().await;
    successes(&mut witness, &service).await;
    refusals(&mut witness, &service).await;
    under_pressure(&mut witness).await;
    let paths = witness.document["paths"].as_object().expect("paths").keys();
    assert!(paths.eq(["/api/user", "/openapi.json"]));
    let described = described(&witness.document);
    let missing: Vec<_> = described.difference(&witness.seen).collect();
    assert!(missing.is_empty(), "described, and never seen: {missing:?}");
    assert!(described.is_superset(&witness.seen));
}

async fn successes(witness: &mut Coverage, service: &TestService) {
    let full = json!({"user_group_id": "acme", "name": "A", "mapping": {"40": "213"}, "properties": {"a": [1]}});
    for caller in [service.testing(), service.caller("plain", None, false)] {
        let id = format!("of {}", caller.authorization.len());
        for body in [json!({"user_group_id": id}), full.clone()] {
            for method in [Method::GET, Method::PUT] {
                let request = caller.request(method.clone(), body.to_string());
                let token = witness.send_as(request, &method).await["user_group"]["token"].clone();
                if method == Method::PUT && token.is_string() {
                    let rotate = json!({"current_token": token}).to_string();
                    witness.send(&caller, &Method::POST, rotate.clone()).await;
                    witness.send(&caller, &Method::POST, rotate).await;
                }
            }
        }
    }
}

async fn refusals(witness: &mut Coverage, service: &TestService) {
    let caller = service.testing();
    let reader = service.caller("testing", None, true);
    let mut wrong = caller.clone();
    wrong.authorization = "Token wrong".into();
    for method in &METHODS {
        for body in ["{", "", "{}", "[]", "{\"a\":1,\"a\":2}"] {
            witness.send(&caller, method, body).await;
        }
        witness.send(&wrong, method, unknown(method)).await;
        witness.send(&reader, method, unknown(method)).await;
        let large = " ".repeat((1 << 20) + 1);
        witness.send(&caller, method, large).await;
        let request = caller.http.request(method.clone(), &caller.url);
        let request = request.header("authorization", &caller.authorization);
        witness.send_as(request.body("{}"), method).await;
        if *method != Method::GET {
            witness.send(&caller, method, unknown(method)).await;
        }
        let broken = "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
        witness.raw(service, method, broken).await;
        let long = format!("X: {}", "x".repeat(32 << 10));
        for line in ["Host: x", " :", &long] {
            let rest = format!("{line}\r\n\r\n");
            witness.raw(service, method, &rest).await;
        }
    }
}

/// Answers that need an overloaded or failing service.
async fn under_pressure(witness: &mut Coverage) {
    let with = async |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        super::slow::with(limits).await
    };
    let full = with(|limits| limits.in_flight = 0).await;
    let slow = with(|limits| limits.body_time = Duration::from_millis(20)).await;
    let limited = with(|limits| limits.rate = NonZeroU32::new(1)).await;
    let named = Setup {
        hosts: vec!["api.example.com".into()],
        ..Setup::default()
    };
    let named = TestService::start_as(Options::default(), Limits::default(), named).await;
    let broken = TestService::start().await;
    let drops = "DROP TABLE retired_tokens; DROP TABLE groups";
    broken
        .other_connection()
        .execute_batch(drops)
        .expect("dropped");
    for method in &METHODS {
        for service in [&full, &named, &broken] {
            witness
                .send(&service.testing(), method, unknown(method))
                .await;
        }
        let word = method.as_str().to_lowercase();
        let too_many = (word, 429, "rate_limited".to_owned());
        while !witness.seen.contains(&too_many) {
            witness
                .send(&limited.testing(), method, unknown(method))
                .await;
        }
        witness
            .raw(&slow, method, "Content-Length: 9\r\n\r\n{")
            .await;
    }
}
