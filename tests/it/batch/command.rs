//! The shipped binary again: which groups are meant, how fast, what stops it, and where the new tokens go.

use std::{
    fs::OpenOptions,
    io::Write,
    process::Stdio,
    time::{Duration, Instant},
};

use groupdesk::operations::UnknownIdPolicy;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use super::{
    Scene, assert_sent_once,
    binary::{assert_adds_up, read, wait},
};
use crate::support::{
    faults::http,
    proxy::{ProxyFault, Then},
    world::{Side, id},
};

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn the_ids_may_come_from_standard_input() {
    let scene = Scene::new(3).await;
    let mut command = scene.command(&["--from", "-", "--yes", "--json"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"g002\n\ng000\n").await.expect("it reads");
    drop(input);
    let (code, lines, err) = read(wait(child).await);
    assert_eq!(code, 0, "{err}");
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["planned"], &summary["confirmed"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(scene.proxy.count("POST"), 2);
    // They are no answer to the question that would come otherwise.
    let mut command = scene.command(&["--from", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    let _ = input.write_all(b"g001\nrotate 1 in testing\n").await;
    drop(input);
    let (code, _, err) = read(wait(child).await);
    assert_eq!(code, 3, "{err}");
    assert_eq!(scene.proxy.count("POST"), 2);
}

#[tokio::test]
async fn the_old_ones_are_those_whose_token_is_older_or_of_unknown_age() {
    let scene = Scene::new(4).await;
    for (group, days) in [("g000", 100), ("g001", 80), ("g002", 91)] {
        let installation = scene.world.installation(Side::Testing);
        let then = installation.at(Timestamp::now() - days * DAY).operations();
        let rotated = then
            .rotate(&id(group), None, UnknownIdPolicy::KnownOnly)
            .await;
        then.confirm(rotated.expect("rotated")).await;
    }
    let arguments = ["--older-than", "90d", "--dry-run", "--json"];
    let output = wait(scene.command(&arguments).spawn().expect("it starts")).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(plan["ready"], json!(["g000", "g002", "g003"]));
    assert_eq!(plan["skipped"], json!([]));
    assert_eq!(scene.proxy.count("POST"), 0);
}

#[tokio::test]
async fn what_was_not_applied_is_tried_again_as_a_new_batch() {
    let scene = Scene::new(3).await;
    let refused = ProxyFault::swallowed(Then::Instead(http("403 Forbidden", &[], "{}")));
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", refused);
    let (code, lines, err) = scene
        .rotate(&["--filter", "g", "--yes", "--json", "--concurrency", "1"])
        .await;
    assert_eq!(code, 6, "{err}");
    assert_eq!(lines.last().expect("a summary")["not_applied"], 1);
    let (code, lines, err) = scene
        .rotate(&["--retry-failed", "1", "--yes", "--json"])
        .await;
    assert_eq!(code, 0, "{err}");
    let [item, summary] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (&item["batch"], &item["user_group_id"]),
        (&json!(2), &json!("g001"))
    );
    assert_eq!(summary["confirmed"], 1);
    assert_adds_up(summary);
    assert_eq!(scene.proxy.count("POST"), 4);
    let (code, _, err) = scene.rotate(&["--retry-failed", "2", "--yes"]).await;
    assert_eq!(code, 3, "nothing failed in it: {err}");
}

/// A lower bound only: a busy machine is never too fast.
#[tokio::test]
async fn no_more_are_begun_than_the_rate_allows() {
    let scene = Scene::new(4).await;
    let begun = Instant::now();
    let (code, _, err) = scene
        .rotate(&["--filter", "g", "--yes", "--rate", "10/s"])
        .await;
    assert_eq!(code, 0, "{err}");
    assert!(begun.elapsed() >= Duration::from_millis(300), "{err}");
    assert_eq!(scene.proxy.count("POST"), 4);
}

#[tokio::test]
async fn a_conflict_stops_it_and_is_exit_7() {
    let scene = Scene::new(3).await;
    scene.proxy.next("POST", ProxyFault::passed());
    let other = |answer: &mut Value| answer["user_group"]["provided_id"] = "another".into();
    scene.proxy.next("POST", ProxyFault::change(other));
    let (code, lines, err) = scene
        .rotate(&["--filter", "g", "--yes", "--json", "--concurrency", "1"])
        .await;
    assert_eq!(code, 7, "{err}");
    let summary = lines.last().expect("a summary");
    let counts = ["confirmed", "conflict", "not_started"].map(|key| &summary[key]);
    assert_eq!(counts, [&json!(1); 3], "{summary}");
    assert!(
        summary["stopped"]
            .as_str()
            .is_some_and(|why| why.contains("g001")),
        "{summary}"
    );
    assert_adds_up(summary);
}

#[tokio::test]
async fn no_tokens_are_written_into_a_git_work_tree() {
    let scene = Scene::new(2).await;
    std::fs::create_dir(scene.world.folder().join(".git")).expect("made");
    let arguments = ["--filter", "g", "--yes", "--token-out", "new.jsonl"];
    let (code, _, err) = scene.rotate(&arguments).await;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("git work tree"), "{err}");
    assert!(!scene.world.folder().join("new.jsonl").exists());
    assert_eq!(scene.proxy.methods(), [""; 0]);
    assert!(scene.ana.batches().await.expect("readable").is_empty());
}

/// With a hand-off command of one line of shell; what it reads is on standard input.
fn handing(scene: &Scene, arguments: &[&str], script: &str) -> Command {
    let command = scene.program(arguments);
    let file = scene.world.folder().join("meddled.toml");
    let file = OpenOptions::new().append(true).open(file);
    let line = format!("handoff = {{ command = [\"/bin/sh\", \"-c\", {script:?}] }}\n");
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("written");
    command
}

#[tokio::test]
async fn every_new_token_is_handed_off_and_what_does_not_arrive_is_said() {
    let scene = Scene::new(3).await;
    let folder = scene.world.folder().join("taken");
    std::fs::create_dir(&folder).expect("a folder");
    let take = format!("cat > {}/$$", folder.display());
    let fails = format!("read line; case $line in *g001*) exit 3;; esac; echo \"$line\" | {take}");
    let rotate = ["rotate", "--filter", "g", "--yes", "--json"];
    let child = handing(&scene, &rotate, &fails).spawn().expect("it starts");
    let (code, lines, err) = read(wait(child).await);
    assert_eq!(code, 6, "{err}");
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["confirmed"], &summary["not_handed_off"]),
        (&json!(3), &json!(1))
    );
    assert_adds_up(summary);
    assert!(err.contains("1 new token has not been handed off"), "{err}");
    assert!(err.contains("groupdesk rotations handoff"), "{err}");

    let again = ["rotations", "handoff", "--failed", "--json"];
    let child = handing(&scene, &again, &take).spawn().expect("it starts");
    let output = wait(child).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut taken: Vec<(String, String)> = std::fs::read_dir(&folder)
        .expect("readable")
        .map(|entry| {
            let text = std::fs::read(entry.expect("an entry").path()).expect("readable");
            let message: Value = serde_json::from_slice(&text).expect("JSON");
            let text = |key: &str| message[key].as_str().expect("a text").to_owned();
            (text("user_group_id"), text("token"))
        })
        .collect();
    taken.sort();
    let stored = |group: &String| {
        let token = scene.world.stored(Side::Testing, group).token;
        (group.clone(), token)
    };
    assert_eq!(taken, scene.groups.iter().map(stored).collect::<Vec<_>>());
    assert_sent_once(&scene.proxy);
}
