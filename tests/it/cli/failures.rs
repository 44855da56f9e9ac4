//! Failures of the service and the network, and the exit code of each.

use serde_json::Value;

use super::guards::{group, knowing_acme};
use crate::support::faults::Fault;

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
