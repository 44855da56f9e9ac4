//! Failures of the service and the network, and the exit code of each.

use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::Home,
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    bare::args,
    faults::{Fault, Faults, closed_port, json as answer},
};

#[tokio::test]
async fn a_missing_or_wrong_key_ends_with_four() {
    let mut home = Home::new();
    let service = Faults::always(answer(
        "401 Unauthorized",
        &json!({"success": 0, "error": {"message": "no such key"}}),
    ))
    .await;
    home.connect(&service.base_url(), "");
    let missing = home.run(&["get", "acme", "--exists"]).await;
    assert_eq!(missing.code, 4, "{}", missing.err);
    assert!(missing.err.contains("LIVE_KEY"), "{}", missing.err);
    assert_eq!(service.connections(), 0);
    home.connect(&service.base_url(), "canary-wrong");
    for command in [
        &["get", "acme", "--exists"][..],
        &["create", "acme", "--yes"],
    ] {
        let refused = home.run(command).await;
        assert_eq!(refused.code, 4, "{}", refused.err);
        assert_has(&refused.err, "no such key");
        assert_lacks(&refused.err, "canary");
    }
}

#[tokio::test]
async fn a_refusal_ends_with_one_and_shows_the_words_of_the_service() {
    let words =
        json!({"success": 0, "error": {"code": "bad_mapping", "message": "schema 40 is unknown"}});
    let refuse = || answer("422 Unprocessable Entity", &words);
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), old(), refuse()]).await;
    let failure = home.json(1, &args("update acme --name x --yes")).await;
    assert_eq!(failure["outcome"], "refused");
    assert!(
        failure["error"]
            .as_str()
            .is_some_and(|error| error.contains("schema 40 is unknown")),
        "{failure}"
    );
    let garbage = Fault::Answer(crate::support::faults::http(
        "200 OK",
        &["Content-Type: text/html"],
        "<html>",
    ));
    let (home, _service) = knowing_acme(vec![garbage]).await;
    let unreadable = home.run(&["get", "acme"]).await;
    assert_eq!(unreadable.code, 1, "{}", unreadable.err);
}

#[tokio::test]
async fn an_unreachable_service_ends_with_five() {
    let mut home = Home::new();
    let (_closed, address) = closed_port();
    home.connect(&format!("http://{address}"), "key");
    for (command, outcome) in [
        (&["get", "acme", "--exists"][..], json!("unreachable")),
        (&["create", "acme", "--yes"], json!("unreachable")),
    ] {
        let failure = home.json(5, command).await;
        assert_eq!(failure["outcome"], outcome);
    }
}

#[tokio::test]
async fn a_lost_answer_to_a_change_ends_with_seven() {
    let old = || group("token-0", &Value::Null);
    for (command, method) in [
        (&["update", "acme", "--name", "x", "--yes"][..], "PUT"),
        (&["rotate", "acme", "--yes"], "POST"),
    ] {
        // An update reads again under its claim.
        let mut script = vec![old(), Fault::Reset, old()];
        if method == "PUT" {
            script.insert(0, old());
        }
        let (home, service) = knowing_acme(script).await;
        let failure = home.json(7, command).await;
        assert_eq!(failure["outcome"], "unknown");
        let sent = methods(&service)
            .iter()
            .filter(|sent| *sent == method)
            .count();
        assert_eq!(sent, 1, "sent once: {:?}", methods(&service));
        let history = home.json(0, &["history"]).await;
        assert_eq!(history[0]["outcome"], "unknown");
    }
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    assert_eq!(
        home.json(7, &["create", "acme-9", "--yes"]).await["outcome"],
        "unknown"
    );
}

#[tokio::test]
async fn a_lost_answer_whose_rotation_a_read_finds_is_recovered() {
    let new = || group("token-1", &Value::Null);
    let (home, _service) =
        knowing_acme(vec![group("token-0", &Value::Null), Fault::Close, new()]).await;
    let token = home.path("acme.token");
    let rotated = home
        .json(
            0,
            &[
                "rotate",
                "acme",
                "--yes",
                "--token-out",
                &token.display().to_string(),
            ],
        )
        .await;
    assert_eq!(rotated["outcome"], "recovered");
    assert_eq!(
        std::fs::read_to_string(token).expect("written"),
        "token-1\n"
    );
}
