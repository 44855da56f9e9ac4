//! The JSON of the interface as files: requests byte by byte, and documented and real answers, each with its expected
//! verdict (`verdicts.json`).

use std::{collections::BTreeSet, path::PathBuf};

use groupdesk::{
    api::{
        answer::{
            Exchange, Expected, Group, Verdict, error_message::Scrub, judge,
            rotation::rotation_answer,
        },
        client::Reply,
        wire::{self, GroupRequest, RotateRequest, WireToken},
    },
    domain::{
        group::UserGroupId,
        rotation::RotateOutcome,
        token::{Fingerprinter, Token},
    },
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const KEY: &str = "canary-key";

/// One entry of `verdicts.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// A file of `answers`.
    body: String,
    status: u16,
    content_type: Option<String>,
    asked: AskedFor,
    /// The body is a documented answer: the shared types must represent all of it.
    #[serde(default)]
    wire: bool,
    #[serde(rename = "is")]
    expected: Value,
    /// The meaning of the answer for a rotation.
    rotation: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum AskedFor {
    Group(String),
    Rotation {
        expected: Option<String>,
        old: String,
    },
}

fn golden(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(path)
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(golden(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files(folder: &str) -> BTreeSet<String> {
    std::fs::read_dir(golden(folder))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("a plain name"))
        .collect()
}

#[test]
fn requests_are_the_golden_bytes() {
    let properties = |text: &str| serde_json::from_str(text).expect("a JSON object");
    let mapping = |rows: &[(&str, &str)]| {
        Some(
            rows.iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
    };
    let full = GroupRequest {
        name: Some("Acme Europe".into()),
        user_group_id: "acme-eu".into(),
        mapping: mapping(&[("7", "40"), ("134", "386")]),
        properties: Some(properties(
            r#"{"tier":"gold","limit":12345678901234567890,"share":0.10,"nested":{"z":1,"a":[true,null]}}"#,
        )),
    };
    let minimal = GroupRequest {
        user_group_id: "acme-eu".into(),
        ..GroupRequest::default()
    };
    let empty = GroupRequest {
        name: Some(String::new()),
        user_group_id: "é 東京 \"quoted\"".into(),
        mapping: mapping(&[]),
        properties: Some(Map::new()),
    };
    let mut checked = BTreeSet::new();
    for (file, request) in [
        ("full.json", full),
        ("minimal.json", minimal),
        ("empty_fields.json", empty),
    ] {
        let bytes = read(&format!("requests/{file}"));
        let sent = serde_json::to_string(&request).expect("serialises");
        assert_eq!(sent.as_bytes(), bytes.trim_ascii_end(), "{file}");
        let parsed: GroupRequest = serde_json::from_slice(&bytes).expect("parses");
        assert_eq!(parsed, request, "{file}");
        checked.insert(file.to_owned());
    }
    let rotate = RotateRequest {
        current_token: WireToken(format!("{:064}", 1).into()),
    };
    let sent = serde_json::to_string(&rotate).expect("serialises");
    assert_eq!(
        sent.as_bytes(),
        read("requests/rotate.json").trim_ascii_end()
    );
    checked.insert("rotate.json".to_owned());
    assert_eq!(checked, files("requests"), "every request file is checked");
}

#[test]
fn every_answer_gets_its_verdict() {
    let cases: Vec<Case> = serde_json::from_slice(&read("verdicts.json")).expect("the index");
    let mut judged = BTreeSet::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let got = judged_as(case);
        let wanted = (case.expected.clone(), case.rotation.clone());
        if got != wanted {
            let Case { body, status, .. } = case;
            wrong.push(format!("{body} as HTTP {status}:\n  {got:?}\n  {wanted:?}"));
        }
        judged.insert(case.body.clone());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(judged, files("answers"), "every answer file is judged");
}

#[test]
fn the_shared_types_represent_documented_answers_completely() {
    let cases: Vec<Case> = serde_json::from_slice(&read("verdicts.json")).expect("the index");
    let documented: Vec<&Case> = cases.iter().filter(|case| case.wire).collect();
    assert!(documented.len() > 5);
    for case in documented {
        let bytes = read(&format!("answers/{}", case.body));
        let whole: Value = serde_json::from_slice(&bytes).expect("JSON");
        let answer: wire::ResponseBody =
            serde_json::from_slice(&bytes).expect("the documented types");
        let again = serde_json::to_value(&answer).expect("serialises");
        assert_eq!(again, whole, "{}", case.body);
        assert!(!format!("{answer:?}").contains("c04d51aa"), "{}", case.body);
    }
}

fn judged_as(case: &Case) -> (Value, Option<String>) {
    let id = |text: &String| UserGroupId::parse(text.clone()).expect("a valid ID");
    let (group, expected, old);
    let asked = match &case.asked {
        AskedFor::Group(text) => {
            group = id(text);
            Expected::Group(&group)
        }
        AskedFor::Rotation {
            expected: text,
            old: token,
        } => {
            expected = text.as_ref().map(id);
            old = Token::new(token.clone());
            Expected::Rotation {
                expected: expected.as_ref(),
                old: &old,
            }
        }
    };
    let exchange = Exchange {
        status: case.status,
        url: "https://api.example.com/api/user",
        content_type: case.content_type.as_deref(),
        location: None,
        retry_after: None,
        via: None,
        not_done: false,
        body: &read(&format!("answers/{}", case.body)),
    };
    let verdict = judge(&exchange, &asked, Scrub::of(&[KEY]));
    let said = format!("{verdict:?} {:?}", verdict.explain());
    for secret in [KEY, "c04d51aa", &"0".repeat(40)] {
        assert!(!said.contains(secret), "{}: {said}", case.body);
    }
    assert_eq!(
        verdict.explain().is_none(),
        matches!(verdict, Verdict::Success(_))
    );
    let plain = plain(&verdict);
    let reply = Reply {
        verdict,
        status: case.status,
        latency: std::time::Duration::ZERO,
        facts: Vec::new(),
    };
    let rotation = case.rotation.as_ref().map(|_| {
        match rotation_answer(&Ok(reply), &Fingerprinter::new(&[7; 32])) {
            RotateOutcome::NewToken(_) => "new",
            RotateOutcome::SameToken => "same",
            RotateOutcome::WrongGroup => "wrong_group",
            RotateOutcome::Refused => "refused",
            RotateOutcome::NotSent => "not_sent",
            RotateOutcome::Unclear => "unclear",
        }
        .to_owned()
    });
    (plain, rotation)
}

/// A verdict in the words of `verdicts.json`.
fn plain(verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Success(group) => json!({"success": plain_group(group)}),
        Verdict::SameToken(group) => json!({"same_token": plain_group(group)}),
        Verdict::Refused {
            stated,
            code,
            words,
            ..
        } => {
            json!({"refused": filled(json!({"stated": stated, "code": code, "words": words}))})
        }
        Verdict::Unclear(unclear) => {
            let debug = format!("{:?}", unclear.kind);
            let inner = debug.strip_prefix("Json(").unwrap_or(&debug);
            let variant = inner.split([' ', '(', ')']).next().expect("a name");
            json!({"unclear": variant})
        }
    }
}

fn plain_group(group: &Group) -> Value {
    filled(json!({
        "provided_id": group.provided_id.as_ref().map(UserGroupId::as_str),
        "token": group.token.expose(),
        "team_id": group.team_id,
        "name": group.name,
        "properties": group.properties,
        "environment_tag": group.environment_tag.as_ref().map(|tag| tag.as_str().to_owned()),
        "new_user_group": group.new_user_group,
    }))
}

fn filled(value: Value) -> Value {
    let Value::Object(map) = value else {
        return value;
    };
    map.into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect()
}
