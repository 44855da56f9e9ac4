//! Failures of the service and the network, and the exit code of each.

use serde_json::{Value, json};

use super::guards::{group, knowing_acme};
use crate::support::faults::{Fault, json as answer};

#[tokio::test]
async fn a_refusal_ends_with_one_and_shows_the_words_of_the_service() {
    let words =
        json!({"success": 0, "error": {"code": "bad_mapping", "message": "schema 40 is unknown"}});
    let refuse = || answer("422 Unprocessable Entity", &words);
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), old(), refuse()]).await;
    let failure = home.json(1, "update acme --name x --yes").await;
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
    home.exits(1, "get acme").await;
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
