//! `--verbose`: each exchange on standard error, without secrets. `--dry-run --curl`: the request as a command.

use std::process::Command;

use super::guards::{group, knowing_acme};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    faults::Fault,
};

const KEY: &str = "key-of-the-desk";

#[tokio::test]
async fn each_exchange_is_printed_with_its_time_and_without_secrets() {
    let token = "token-of-acme-5up3r53cr3t";
    let (home, _service) =
        knowing_acme(vec![group(token, &serde_json::Value::Null), Fault::Close]).await;
    let ran = home.exits(0, "get acme -v --json").await;
    assert!(
        serde_json::from_str::<serde_json::Value>(&ran.out).is_ok(),
        "{}",
        ran.out
    );
    ran.says("> 1 GET http://127.0.0.1:");
    assert_has(&ran.err, "\"user_group_id\": \"acme\"");
    ran.says("< 1 HTTP 200 after ");
    ran.says(" ms\n");
    for secret in [KEY, token] {
        assert_lacks(&ran.err, secret);
    }
    // The last exchange is printed before the error, also when it failed.
    let ran = home.run("get acme --verbose").await;
    assert_ne!(ran.code, 0, "{}", ran.err);
    let told = ran.err.find("< 1 after ").expect("it is told");
    assert!(
        told < ran.err.find("error: ").expect("an end"),
        "{}",
        ran.err
    );
    let ran = home.run("doctor -v").await;
    assert_has(&ran.err, "> ");
    assert_has(&ran.err, "< ");
    assert_lacks(&ran.err, KEY);
    home.exits(2, "list -v -q").await;
}

#[tokio::test]
async fn a_request_is_printed_as_a_command_without_the_key() {
    let (home, service) = knowing_acme(Vec::new()).await;
    let before = service.requests().len();
    let create = ["create", "new", "--name", "it's", "--dry-run", "--curl"];
    let ran = home.exits(0, &create).await;
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    ran.shows("\"$GROUPDESK_API_KEY\"").says("would CREATE");
    assert_lacks(&ran.out, KEY);
    assert_eq!(service.requests().len(), before, "nothing was sent");
    let parsed = Command::new("sh").args(["-n", "-c", &ran.out]).status();
    assert!(parsed.expect("sh is there").success(), "{}", ran.out);
    let told = home.json(0, &create).await;
    assert_eq!(told["curl"], ran.out.trim_end());
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "rotate acme --dry-run --curl", "its body is a token"),
        (2, "rotate acme acme --dry-run --curl", "for one group"),
        (2, "update --filter a --map 1=2 --dry-run --curl", "for one group"),
        (2, "create new --curl --yes", "--dry-run"),
    ]).await;
}
