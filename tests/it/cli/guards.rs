//! What is refused with exit 3, checked with a service that counts requests: none is sent.

use serde_json::{Value, json};

use super::program::Home;
use crate::support::{
    assertions::assert_has,
    bare::args,
    faults::{Fault, Faults, json as answer},
};

/// A good answer for `acme` with this token.
pub(super) fn group(token: &str, more: &Value) -> Fault {
    let mut user_group = json!({"team_id": 7, "token": token, "name": "Acme", "provided_id": "acme", "properties": null});
    for (key, value) in more.as_object().into_iter().flatten() {
        user_group[key] = value.clone();
    }
    answer(
        "200 OK",
        &json!({"success": 1, "new_user_group": false, "user_group": user_group}),
    )
}

/// An installation that knows `acme`, and the service it knows it from.
pub(super) async fn knowing_acme(script: Vec<Fault>) -> (Home, Faults) {
    let mut home = Home::new();
    let script: Vec<_> = [group("token-0", &Value::Null)]
        .into_iter()
        .chain(script)
        .collect();
    let service = Faults::start(script).await;
    home.connect(&service.base_url(), "key-of-the-desk");
    let met = home.json(0, &["get", "acme", "--exists"]).await;
    assert_eq!(met["outcome"], "found");
    assert_eq!(service.requests().len(), 1);
    // Connects again with a profile that may update as last known.
    home.connect(&service.base_url(), "key-of-the-desk");
    (home, service)
}

pub(super) fn methods(service: &Faults) -> Vec<String> {
    let word = |head: String| head.split(' ').next().unwrap_or_default().to_owned();
    service
        .requests()
        .iter()
        .map(|request| word(request.head()))
        .collect()
}

#[tokio::test]
async fn an_unknown_id_is_refused_and_nothing_is_sent() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for command in [
        &["get", "acmee"][..],
        &["update", "acmee", "--name", "x", "--yes"],
        &["update", "acmee", "--name", "x", "--dry-run"],
        &["rotate", "acmee", "--yes"],
    ] {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 3, "{command:?}: {}", ran.err);
        for words in [
            "nothing was sent",
            "did you mean \"acme\"?",
            "groupdesk create",
            "--exists",
        ] {
            assert!(ran.err.contains(words), "{command:?}: {words}: {}", ran.err);
        }
        assert_eq!(ran.out, "");
        let failure = home.json(3, command).await;
        assert_eq!(failure["outcome"], Value::Null);
        assert!(
            failure["error"]
                .as_str()
                .is_some_and(|error| error.contains("nothing was sent"))
        );
    }
    assert_eq!(service.connections(), 1, "only the meeting");
}

#[tokio::test]
async fn unconfirmed_and_forbidden_changes_are_not_sent() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for mutation in [
        &["create", "acme-2"][..],
        &["update", "acme", "--name", "x"],
        &["rotate", "acme"],
        &["rotate", "acme", "--no-input"],
        &["rotate", "acme", "--read-only", "--yes"],
        &["update", "acme", "--name", "x", "--read-only", "--yes"],
        &["create", "acme-2", "--read-only", "--yes"],
    ] {
        let ran = home.run(mutation).await;
        assert_eq!(ran.code, 3, "{mutation:?}: {}", ran.err);
        let is_unconfirmed = ran.err.contains("confirmation required");
        let told = if is_unconfirmed {
            "nothing was changed"
        } else {
            "nothing was sent"
        };
        assert!(ran.err.contains(told), "{mutation:?}: {}", ran.err);
    }
    assert_eq!(service.connections(), 1, "only the meeting");
}

#[tokio::test]
async fn a_get_that_created_the_group_is_an_alarm_and_stops_the_command() {
    for command in [
        &["get", "acme", "--exists"][..],
        &["update", "acme", "--exists", "--name", "x", "--yes"],
        &["rotate", "acme", "--exists", "--yes"],
    ] {
        let mut home = Home::new();
        let new = json!({"success": 1, "new_user_group": true, "user_group": {"team_id": 7, "token": "t", "name": null, "provided_id": "acme"}});
        let service = Faults::always(answer("200 OK", &new)).await;
        home.connect(&service.base_url(), "key");
        let failure = home.json(3, command).await;
        assert_eq!(failure["outcome"], "created_by_get", "{failure}");
        assert!(failure.to_string().contains("ALARM"), "{failure}");
        assert_eq!(methods(&service), ["GET"], "{command:?}");
    }
}

#[tokio::test]
async fn the_wrong_environment_is_an_alarm_and_stops_the_command() {
    let wrong = json!({"api_environment_tag": "Testing"});
    for command in [
        &["update", "acme", "--name", "x", "--yes"][..],
        &["rotate", "acme", "--yes"],
    ] {
        let (home, service) = knowing_acme(vec![group("token-0", &wrong)]).await;
        let failure = home.json(3, command).await;
        assert!(
            failure["error"]
                .as_str()
                .is_some_and(|error| error.contains("tagged Testing")),
            "{failure}"
        );
        assert_eq!(methods(&service), ["GET", "GET"], "{command:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_being_rotated_is_not_rotated_twice() {
    // The answer is lost, and every read returns the old token: the rotation is open until the horizon has passed.
    let old = || group("token-0", &Value::Null);
    let (home, service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    assert_eq!(
        home.json(7, &["rotate", "acme", "--yes"]).await["outcome"],
        "unknown"
    );
    let ran = home.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err.contains("NOT rotated") && ran.err.contains("never rotate to find out"),
        "{}",
        ran.err
    );
    let posts = methods(&service)
        .iter()
        .filter(|method| *method == "POST")
        .count();
    assert_eq!(posts, 1);
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let (home, service) = knowing_acme(vec![group("token-0", &Value::Null)]).await;
    let create = home
        .run(&args("create acme-3 --name x\u{202e}y --dry-run"))
        .await;
    assert_eq!(create.code, 0);
    assert!(
        create.out.contains("\\u202e") && create.out.starts_with("GET http://127.0.0.1"),
        "{}",
        create.out
    );
    assert_has(&create.err, "similar known IDs: \"acme\"");
    assert_eq!(service.connections(), 1, "a new group is not even read");
    for command in [
        &["update", "acme", "--name", "x", "--dry-run"][..],
        &["rotate", "acme", "--dry-run"],
    ] {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    assert!(methods(&service).iter().all(|method| method == "GET"));
}
