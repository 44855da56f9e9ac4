//! `list --watch` and `history --follow`: the current rows, then new ones, until a signal or until the reader closes.

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::AsyncReadExt;

use super::program::{Background, Home};
use crate::support::bare::args;

/// A production profile with one group.
async fn one() -> (Home, Background) {
    let (home, serving) = Home::served().await;
    create(&home, "acme").await;
    (home, serving)
}

async fn create(home: &Home, id: &str) {
    home.exits(0, &format!("create {id} --name {id} --yes"))
        .await;
}

async fn next(watching: &mut Background) -> Value {
    serde_json::from_str(&watching.line().await).expect("one object per line")
}

/// The rest of standard error, once the process has ended.
async fn remaining_stderr(mut watching: Background) -> String {
    let mut said = String::new();
    let mut err = watching.child.stderr.take().expect("piped");
    err.read_to_string(&mut said).await.expect("UTF-8");
    said
}

#[tokio::test]
async fn a_watched_list_prints_each_group_that_changes() {
    let (home, _serving) = one().await;
    let watch = "list --filter ac --watch -o jsonl";
    let mut watching = Background::start(home.command(watch));
    assert_eq!(next(&mut watching).await["user_group_id"], "acme");
    create(&home, "globex").await;
    create(&home, "acorn").await;
    assert_eq!(next(&mut watching).await["user_group_id"], "acorn");
    let rotated = home.json(0, "rotate acme --yes").await;
    // The read before the rotation changes the group as well: its line may be printed alone or not.
    loop {
        let told = next(&mut watching).await;
        assert_eq!(told["user_group_id"], "acme");
        if told["fingerprint"] == rotated["fingerprint"] {
            break;
        }
    }
    watching.signal(Signal::INT);
    assert_eq!(watching.code().await, Some(130));
    assert_eq!(
        remaining_stderr(watching).await,
        "",
        "that is its usual end"
    );

    let mut watching = Background::start(home.command("list --watch"));
    assert!(watching.line().await.starts_with("NAME"));
    for known in ["acme", "acorn", "globex"] {
        assert!(watching.line().await.contains(known));
    }
    create(&home, "initech-of-a-longer-name").await;
    let line = watching.line().await;
    assert!(line.contains("initech-of-a-longer-name"), "{line}");
    watching.signal(Signal::TERM);
    assert_eq!(watching.code().await, Some(130));
}

#[tokio::test]
async fn a_followed_history_prints_each_line_once_and_in_order() {
    let (home, _serving) = one().await;
    for number in 0..12 {
        let name = format!("N{number}");
        home.json(0, &format!("update acme --name {name} --yes"))
            .await;
    }
    let follow = args("history --follow -o jsonl --operation update");
    let mut following = Background::start(home.command(&follow));
    let mut numbers = Vec::new();
    for expected in 2..12 {
        let line = next(&mut following).await;
        assert_eq!(line["changes"]["name"][1], format!("N{expected}"), "{line}");
        numbers.push(line["number"].as_i64().expect("a number"));
    }
    // Entries that the options exclude are left out.
    create(&home, "globex").await;
    home.json(0, "update globex --name G --yes").await;
    let line = next(&mut following).await;
    assert_eq!(line["user_group_id"], "globex");
    numbers.push(line["number"].as_i64().expect("a number"));
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    following.signal(Signal::INT);
    assert_eq!(following.code().await, Some(130));

    let mut people = Background::start(home.command("history -f --limit 1"));
    let line = people.line().await;
    assert!(line.contains("  globex  update updated"), "{line}");
    create(&home, "initech").await;
    let line = people.line().await;
    assert!(line.contains("  initech  create created"), "{line}");
}

#[tokio::test]
async fn watching_ends_when_the_reader_closes() {
    let (home, _serving) = one().await;
    for command in [&["list", "--watch"][..], &["history", "--follow"]] {
        let mut watching = Background::start(home.command(command));
        watching.line().await;
        assert!(watching.child.try_wait().expect("asked").is_none());
        let mut child = watching.into_child();
        let ended = tokio::time::timeout(super::program::DEADLINE, child.wait()).await;
        let code = ended.expect("it ends by itself").expect("it ran").code();
        assert_eq!(code, Some(0), "{command:?}");
    }
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "list --watch --json", ""),
        (2, "list --watch -o json", ""),
        (2, "history --follow --reverse", ""),
    ]).await;
}
