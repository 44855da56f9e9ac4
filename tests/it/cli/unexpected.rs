//! A panic in the middle of a rotation: its message about what was sent is true at that moment.

use serde_json::Value;

use super::guards::{group, knowing_acme, methods};
use crate::support::faults::Fault;

const IN_FLIGHT: &str =
    "A change may be in progress: see `groupdesk history --open` and `groupdesk rotations --open`.";
const NOTHING: &str = "Nothing was sent.";
const ANSWERED: &str = "No change is in progress; for completed changes, see `groupdesk history`.";

#[tokio::test]
async fn a_panic_says_what_was_sent_by_then() {
    for (place, sections, posts) in [
        ("start", NOTHING, 0),
        ("BeforeGet", NOTHING, 0),
        ("BeforeIntent", ANSWERED, 0),
        ("IntentDurable", ANSWERED, 0),
        ("SentDurable", IN_FLIGHT, 0),
        ("Answered", IN_FLIGHT, 1),
        ("OutcomeDurable", ANSWERED, 1),
    ] {
        let answers = ["token-0", "token-1", "token-1"];
        let answers = answers.map(|token| group(token, &Value::Null));
        let (mut desk, service) = knowing_acme(answers.into()).await;
        desk.set(
            "GROUPDESK_TEST_BREAK",
            format!("panic {place} a cable came loose near token-1"),
        );
        let ran = desk.exits(101, "rotate acme --yes").await;
        for words in [
            "a cable came loose",
            "What was being done:\n   groupdesk rotate\n",
            sections,
        ] {
            ran.says(words);
        }
        let sent = methods(&service);
        let sent = sent.iter().filter(|method| *method == "POST").count();
        assert_eq!(sent, posts, "{place}");
    }
}

#[tokio::test]
async fn an_unknown_outcome_counts_as_in_flight() {
    let answers = vec![group("token-0", &Value::Null), Fault::Close];
    let (mut desk, _service) = knowing_acme(answers).await;
    desk.set("GROUPDESK_TEST_BREAK", "panic UnknownDurable a cable");
    desk.exits(101, "rotate acme --yes").await.says(IN_FLIGHT);
}
