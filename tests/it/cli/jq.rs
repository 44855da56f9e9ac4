//! `--jq`: a jq expression applied to a result.

use rustix::process::Signal;

use super::program::{Background, Home};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    bare::args,
    wait::eventually,
};

#[tokio::test]
async fn a_list_is_passed_as_a_whole_or_line_by_line() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let count = home.json(0, &["list"]).await.as_array().map(Vec::len);
    let count = format!("{}\n", count.expect("a list"));
    let printed = async |words: &[&str]| {
        let ran = home.run(words).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{words:?}");
        ran.out
    };
    assert_eq!(printed(&["list", "--jq", "length"]).await, count);
    let id = ".user_group_id";
    let by_line = printed(&["list", "-o", "jsonl", "--jq", id]).await;
    assert_eq!(by_line, printed(&["list", "-o", "name"]).await);
    let show = printed(&["show", "acme-eu", "--jq", ".user_group_id, .mapping"]).await;
    assert!(show.starts_with("acme-eu\n{\""), "{show}");
    let none = printed(&["list", "--filter", "nothinglikeit", "--jq", ".[]"]).await;
    assert_eq!(none, "");
    let history = "map(.operation) | unique | length > 1";
    assert_eq!(printed(&["history", "--jq", history]).await, "true\n");
}

#[tokio::test]
async fn a_wrong_expression_is_reported_before_anything_is_done_and_no_result_is_lost() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let canary = "s3cret-of-the-environment";
    home.set("GROUPDESK_CANARY", canary);
    let before = home.json(0, &["history"]).await;
    for wrong in [
        "env",
        "$ENV",
        "env.GROUPDESK_CANARY",
        ".[",
        "halt",
        "include \"x\"; .",
    ] {
        let rotate = ["rotate", "acme-eu", "--reason", "x", "--yes", "--jq", wrong];
        let ran = home.run(&rotate).await;
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (2, ""),
            "{wrong}: {}",
            ran.err
        );
        assert_has(&ran.err, "--jq: ");
        assert_lacks(&ran.err, canary);
    }
    let ran = home.run(&["list", "-o", "csv", "--jq", "."]).await;
    assert!(
        ran.code == 2 && ran.err.contains("-o json or jsonl"),
        "{}",
        ran.err
    );
    assert_eq!(home.json(0, &["history"]).await, before);

    // An expression that does not fit the result: the change was still made and is reported.
    let ran = home
        .run(&["show", "acme-eu", "--jq", ".user_group_id | tonumber"])
        .await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(shown["user_group_id"], "acme-eu");
    assert!(ran.err.contains("--jq failed"), "{}", ran.err);
    let read = [
        "get",
        "acme-eu",
        "--exists",
        "--reveal",
        "--jq",
        ".token | tonumber",
    ];
    let ran = home.run(&read).await;
    let token = serde_json::from_str::<serde_json::Value>(&ran.out).expect("JSON");
    let token = token["token"].as_str().expect("a token");
    assert!(!ran.err.contains(token), "{}", ran.err);

    // Other errors are not passed through the expression.
    let ran = home
        .run(&args("show nobody-here --jq .user_group_id"))
        .await;
    assert!(
        ran.code != 0 && ran.out.is_empty(),
        "{} {}",
        ran.code,
        ran.out
    );
}

#[tokio::test]
async fn an_endless_expression_is_stopped_and_the_result_stands() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let endless = ["show", "acme-eu", "--jq", "def f: f; f"];
    let mut showing = Background::start(home.command(&endless));
    let pid = showing.pid().as_raw_nonzero();
    eventually("the expression runs", || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("Linux");
        tasks.flatten().any(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            // After the name: the state and ten numbers, then the processor time.
            let worked = stat.rsplit(") ").next().and_then(|s| s.split(' ').nth(11));
            stat.contains("(jq)") && worked.is_some_and(|ticks| ticks != "0")
        })
    })
    .await;
    showing.signal(Signal::INT);
    while !showing.line().await.contains("\"acme-eu\"") {}
    showing.says("it was stopped").await;
    assert_eq!(showing.code().await, Some(130));
}
