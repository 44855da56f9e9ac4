//! Durable before sent, durable before shown: what the process really asked of the system, in order. A small library
//! between it and the C library writes the record; tracing would need rights and a program that not every machine has.

use std::{fs, process::Command};

use super::{
    desk::Task,
    stage::{Process, Scene, Stage},
};

const WRITE_AHEAD_LOG: &str = "directory.db-wal";

/// Builds the witness with the C compiler that SQLite needs anyway.
fn witness(scene: &Scene<'_>) -> std::path::PathBuf {
    let source = scene.folder.join("witness.c");
    let library = scene.folder.join("witness.so");
    fs::write(&source, include_str!("witness.c")).expect("written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let built = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .output()
        .expect("a C compiler");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    library
}

/// What the system was asked for, as `what file`; only what concerns the directory, the request and the showing.
async fn record(scene: &Scene<'_>, variant: super::Variant) -> Vec<String> {
    let notes = scene.folder.join("notes");
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .env("LD_PRELOAD", witness(scene))
        .env("WITNESS", &notes);
    let mut order = scene.order(Task::Rotate);
    order.variant = variant;
    let mut desk = Process::start_as(command, &order);
    while let Some((what, words)) = desk.said().await {
        assert_ne!(what, "failed", "{words}");
        desk.go_on().await;
    }
    let notes = fs::read_to_string(notes).expect("notes");
    let is_ours = |line: &&str| {
        line.contains(WRITE_AHEAD_LOG) || !(line.starts_with("write ") || line.starts_with("sync "))
    };
    let mut lines: Vec<String> = notes.lines().filter(is_ours).map(brief).collect();
    // Many writes of one commit say no more than one.
    lines.dedup();
    lines
}

fn brief(line: &str) -> String {
    let (what, _) = line.split_once(' ').expect("a word and a file");
    what.to_owned()
}

/// What is wrong with a record.
fn complaint(record: &[String]) -> Option<&'static str> {
    let at = |what: &str| record.iter().position(|line| line == what);
    let (Some(send), Some(receive), Some(show)) = (at("send"), at("receive"), at("show")) else {
        return Some("something never happened");
    };
    let before = |at: usize| -> Vec<&str> { record[..at].iter().map(String::as_str).collect() };
    // Preflight, intent, sending: each written and synced.
    let begun = before(send);
    let last = show.min(record.len());
    if record.iter().filter(|line| *line == "send").count() != 1 {
        Some("not sent once")
    } else if !begun.ends_with(&["write", "sync", "write", "sync"]) {
        Some("sent before the intent was synced")
    } else if receive != send + 1 {
        Some("something between the request and its answer")
    } else if last < receive || !before(show).ends_with(&["receive", "write", "sync"]) {
        Some("shown before the outcome was synced")
    } else {
        None
    }
}

#[tokio::test]
async fn synced_before_it_is_sent_and_synced_before_it_is_shown() {
    let stage = Stage::new().await;
    let scene = stage.scene().await;
    let shipped = record(&scene, super::Variant::Shipped).await;
    assert_eq!(complaint(&shipped), None, "{shipped:?}");
    // The record can tell: the same of rotations with a mistake.
    for (variant, expected) in [
        (super::Variant::Careful, None),
        (
            super::Variant::ShowFirst,
            Some("shown before the outcome was synced"),
        ),
        (
            super::Variant::IntentAfterSending,
            Some("sent before the intent was synced"),
        ),
    ] {
        let scene = stage.scene().await;
        let record = record(&scene, variant).await;
        assert_eq!(complaint(&record), expected, "{variant:?}: {record:?}");
    }
}
