//! Guards, and answers with the tag of another environment, as the command line reports them.

use std::fs;

use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::{Home, has},
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    bare::args,
};

#[tokio::test]
async fn an_answer_with_the_other_tag_has_its_exit_code() {
    let wrong = |token| group(token, &json!({"api_environment_tag": "Testing"}));
    let right = || group("token-0", &Value::Null);
    let (home, service) = knowing_acme(vec![right(), right(), wrong("token-0")]).await;
    let updated = home.json(3, "update acme --name x --yes").await;
    assert_eq!(
        updated["outcome"], "updated",
        "it was done, in the wrong place"
    );
    assert!(
        updated["warnings"].to_string().contains("ALARM"),
        "{updated}"
    );
    assert_eq!(methods(&service), ["GET", "GET", "GET", "PUT"]);
    assert_alarm_needs_attention(&home).await;

    let (home, service) = knowing_acme(vec![right(), wrong("token-1")]).await;
    let rotated = home.json(7, "rotate acme --yes").await;
    assert_eq!(rotated["outcome"], "conflict", "{rotated}");
    assert!(
        rotated["error"]
            .as_str()
            .is_some_and(|text| text.contains("tagged Testing")),
        "{rotated}"
    );
    assert_eq!(methods(&service), ["GET", "GET", "POST"]);
    assert_alarm_needs_attention(&home).await;
}

/// Whatever a token would be passed to: the response with the alarm may be about another environment.
#[tokio::test]
async fn a_token_that_came_with_an_alarm_leaves_by_no_way() {
    let wrong = || group("token-9", &json!({"api_environment_tag": "Testing"}));
    for command in [
        "get acme --reveal",
        "get acme --reveal --json",
        "get acme --token-out FILE",
        "get acme --token-out -",
        "get acme --reveal --token-out FILE",
        "update acme --name x --yes --reveal",
        "update acme --name x --yes --token-out FILE",
        "export --reveal-tokens --token-out FILE",
    ] {
        let (home, _service) = knowing_acme((0..4).map(|_| wrong()).collect()).await;
        let file = home.path("acme.token");
        let name = file.display().to_string();
        let line = command.replace("FILE", &name);
        let ran = home.exits(3, &args(&line)).await;
        let said = ran.all();
        assert!(!said.contains("token-9"), "{command}: {said}");
        assert_has(&said, "ALARM");
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(!written.contains("token-9"), "{command}: {written}");
        if command.starts_with("get acme") {
            assert_has(
                &ran.err,
                "`groupdesk environment acknowledge live --reason WHY`",
            );
            assert_has(&ran.err, "`groupdesk get acme --token-out FILE`");
        }
    }
}

/// A rotation saves its token before it reads the group back, so that it is not lost; the message says so.
#[tokio::test]
async fn the_saved_token_of_a_rotation_is_named_although_the_read_after_it_has_an_alarm() {
    let right = || group("token-0", &Value::Null);
    let rotated = group("token-1", &Value::Null);
    let wrong = group("token-1", &json!({"api_environment_tag": "Testing"}));
    let (home, service) = knowing_acme(vec![right(), rotated, wrong]).await;
    let file = home.path("acme.token");
    let line = format!("rotate acme --yes --token-out {}", file.display());
    let ran = home.run(&args(&line)).await;
    assert_eq!(methods(&service), ["GET", "GET", "POST", "GET"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let written = fs::read_to_string(&file).expect("a token");
    assert_eq!(written, "token-1\n");
    assert_has(&ran.err, "saved the token to");
    assert_has(&ran.err, "Check the group before you use the token");
    assert_lacks(&ran.err, "withheld");
}

/// Until it is acknowledged, the alarm is the first row of what needs attention, with the command that ends it.
async fn assert_alarm_needs_attention(home: &Home) {
    let command = "groupdesk environment acknowledge live --reason WHY";
    for all in [&["attention"][..], &["attention", "--all"]] {
        let found = home.json(7, all).await;
        let first = &found[0];
        has!(first, {"what": "alarm", "object": "live", "unfinished": true});
        assert_eq!(first["next"], command, "{found}");
    }
    let ran = home.run("attention").await;
    let lines: Vec<_> = ran.out.lines().collect();
    assert!(lines[1].starts_with("alarm"), "{}", ran.out);
    assert_has(&ran.out, command);
    let checked = home.run("profile check").await;
    checked.says("! ALARM in environment live");
    let acknowledge = "environment acknowledge live --reason looked --yes";
    home.json(0, &args(acknowledge)).await;
    let found = home.run("attention").await;
    assert_lacks(&found.out, "alarm");
}
