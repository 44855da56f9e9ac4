//! Resource limits of the process: reaching one is an error with an exit code, never a panic, a signal or a hang.

use std::{
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    process::Output,
};

use rusqlite::Connection;
use serde_json::Value;

use super::{
    guards::{group, knowing_acme, methods},
    program::{DEADLINE, Home, set_mode},
};
use crate::support::{bare::bare, faults::Fault};

const DIRECTORY: &str = ".local/share/groupdesk/directory.db";

async fn after(home: &Home, limit: &str, arguments: &[&str]) -> Output {
    let mut command = home.command_after(limit, arguments);
    let ran = tokio::time::timeout(DEADLINE, command.output()).await;
    ran.expect("it ends in time").expect("it starts")
}

#[tokio::test]
async fn the_file_size_limit_is_reported_like_a_full_disk() {
    let answers = vec![
        group("token-0", &Value::Null),
        group("token-0", &Value::Null),
    ];
    let (home, service) = knowing_acme(answers).await;
    for arguments in [&["rotate", "acme", "--yes"][..], &["get", "acme"]] {
        let ran = after(&home, "ulimit -f 0", arguments).await;
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{:?}: {said}", ran.status);
        let full = "nothing was sent: the disk of";
        assert!(said.contains(full) && said.contains("is full"), "{said}");
    }
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}

/// Without room for a log the file is read as it is. The log itself may be there already, or not.
#[tokio::test]
async fn what_the_directory_knows_is_read_on_a_full_disk() {
    let (home, service) = knowing_acme(vec![]).await;
    let before = service.connections();
    let with_log = Connection::open(home.path(DIRECTORY)).expect("opened");
    let row = "UPDATE user_groups SET name = 'in the log'";
    for held in [None, Some(with_log)] {
        let is_held = held.is_some();
        let changed = held.map(|held| held.execute(row, []).map(|_| held));
        for words in [&["list"][..], &["show", "acme"], &["export"]] {
            let ran = after(&home, "ulimit -f 0", words).await;
            let [out, err] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
            assert_eq!(ran.status.code(), Some(0), "{words:?}: {out}{err}");
            assert_eq!(out.contains("in the log"), is_held, "{words:?}: {out}");
        }
        for words in ["attention", "history", "rotations", "batches"] {
            let ran = after(&home, "ulimit -f 0", &[words]).await;
            let err = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(0), "{words}: {err}");
        }
        drop(changed);
    }
    assert_eq!(service.connections(), before, "nothing was sent");
}

/// A file system that cannot be written, where a test may mount one; otherwise a file and a folder that this user may not write.
#[tokio::test]
async fn what_the_directory_knows_is_read_where_nothing_can_be_written() {
    let (home, _service) = knowing_acme(vec![]).await;
    let folder = home.path("fixed");
    std::fs::create_dir(&folder).expect("created");
    let with_log = Connection::open(home.path(DIRECTORY)).expect("opened");
    let row = "UPDATE user_groups SET name = 'in the log'";
    with_log.execute(row, []).expect("changed");
    // As after a crash, or in a copy: with its log, whose index is missing.
    for (from, to) in [("", "directory.db"), ("-wal", "directory.db-wal")] {
        let from = home.path(&format!("{DIRECTORY}{from}"));
        std::fs::copy(from, folder.join(to)).expect("copied");
        set_mode(folder.join(to), 0o644);
    }
    let script = "if [ $(id -u) = 0 ]; then mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" || exit 99; \
                  else chmod 444 \"$0\"/*; chmod 500 \"$0\"; fi; \
                  for line in 'list' 'show acme' 'history' 'attention' 'rotations' 'batches' 'export' 'note acme hello' \
                  'get acme' 'rotate acme --yes'; do \
                  \"$1\" --directory \"$0\"/directory.db $line; echo \"ended $?\"; done; ls -A \"$0\"; chmod 700 \"$0\"";
    let is_root = rustix::process::geteuid().is_root();
    let (program, words) = if is_root {
        ("unshare", &["--mount", "/bin/sh", "-c", script][..])
    } else {
        ("/bin/sh", &["-c", script][..])
    };
    let folder = folder.display().to_string();
    let words = [words, &[&*folder, env!("CARGO_BIN_EXE_groupdesk")]].concat();
    let ran = home
        .command_of(program, &words)
        .output()
        .await
        .expect("it starts");
    let [out, err] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
    if is_root && !out.contains("ended") {
        println!("no mounting here: {err}");
        return;
    }
    let ends: Vec<_> = out
        .lines()
        .filter(|line| line.starts_with("ended"))
        .collect();
    assert_eq!(
        ends,
        [&["ended 0"; 7][..], &["ended 2"; 3]].concat(),
        "{out}{err}"
    );
    assert!(out.contains("in the log"), "{out}");
    assert!(
        out.ends_with("ended 2\ndirectory.db\ndirectory.db-wal\n"),
        "nothing was left: {out}"
    );
    assert_eq!(
        err.matches("cannot be written; make the file").count(),
        3,
        "{err}"
    );
    assert!(err.contains("nothing was sent"), "{err}");
}

/// What is only written down here, in the directory or in the configuration: the failure decides, not the command.
#[tokio::test]
async fn a_full_disk_ends_every_change_without_a_request_alike() {
    let (home, service) = knowing_acme(vec![]).await;
    let before = service.connections();
    let list = home.write("rows.jsonl", r#"{"user_group_id":"new","name":"x"}"#);
    let note = home.write("note.jsonl", r#"{"user_group_id":"acme","note":"x"}"#);
    #[rustfmt::skip] // A table: one command a line.
    let table = [
        &["note", "acme", "call first", "--json"][..],
        &["label", "acme", "--add", "vip"],
        &["favourite", "acme", "--add"],
        &["import", &list],
        &["import", &note, "--update", "--yes"],
        &["apply", &note, "--yes"],
        &["environment", "rename", "live", "eu-live"],
        &["profile", "behaviour", "live", "--sole-writer", "yes"],
        &["profile", "rename", "live", "eu"],
        &["profile", "unbind", "live"],
        &["profile", "add", "eu", "--base-url", "https://eu.example.com", "--api-key-env", "EU", "--no-check"],
        &["directory", "backup", "copy.db"],
    ];
    for words in table {
        let ran = after(&home, "ulimit -f 0", words).await;
        let [out, err] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {out}{err}");
        let causes = [
            "directory.db is full; free some space",
            "larger than the system allows",
            "copy.db: it cannot be written",
        ];
        let is_told = causes.iter().any(|cause| err.contains(cause));
        assert!(is_told, "{words:?}: {err}");
    }
    assert_eq!(service.connections(), before, "nothing was sent");
}

/// A program started for the user does not inherit the ignored SIGXFSZ.
#[tokio::test]
async fn a_started_program_does_not_inherit_ignored_signals() {
    let (home, _service) = knowing_acme(vec![group("token-0", &Value::Null)]).await;
    let script = home.write(
        "key",
        "grep SigIgn /proc/self/status >seen; echo key-of-the-desk",
    );
    let config = home.config();
    let command = format!("api_key = {{ command = [\"sh\", \"{script}\"] }}");
    home.write(
        "config.toml",
        &config.replace("api_key = { env = \"LIVE_KEY\" }", &command),
    );
    home.json(0, "get acme").await;
    let seen = std::fs::read_to_string(home.path("seen")).expect("written");
    let ignored = seen.trim_start_matches("SigIgn:").trim();
    let ignored = u64::from_str_radix(ignored, 16).expect("a set of signals");
    let number = rustix::process::Signal::XFSZ.as_raw();
    assert_eq!(ignored >> (number - 1) & 1, 0, "{seen}");
}

#[tokio::test]
async fn too_few_open_files_are_an_error_before_anything_is_done() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for files in [6, 8, 24] {
        let limit = format!("ulimit -n {files}");
        let ran = after(&home, &limit, &["get", "acme", "--json"]).await;
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{files}: {said}");
        assert!(said.contains("at least 32 are needed"), "{files}: {said}");
        let result: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
        assert_eq!(result["exit"], 2);
    }
    assert_eq!(service.connections(), 1, "only the meeting");
    let ran = after(&home, "ulimit -n 40", &["list"]).await;
    assert_eq!(ran.status.code(), Some(0));
}

#[tokio::test]
async fn too_little_memory_is_an_error_before_anything_is_done() {
    let (home, _held) = Home::in_demo().await;
    let mut refused = 0;
    // With less than the program itself needs, the system does not even load it.
    for mebibytes in (16..=160).step_by(12) {
        let limit = format!("ulimit -v {}", mebibytes * 1024);
        let mut command = home.command_after(&limit, &["get", "acme-eu"]);
        let ran = tokio::time::timeout(DEADLINE, command.output()).await;
        let ran = ran.expect("it ends in time").expect("it starts");
        let said = String::from_utf8_lossy(&ran.stderr);
        let is_refusal = said.contains("cannot start: there is too little memory");
        refused += usize::from(is_refusal);
        let is_loaded = is_refusal || !ran.stdout.is_empty() || said.contains("groupdesk crashed");
        // Where it starts, memory may still run out: that is an error, too, and no panic.
        let code = ran.status.code();
        let is_said = code == Some(2) && said.starts_with("error: ");
        assert!(
            is_said || (code == Some(0) && !is_refusal) || (!is_loaded && refused == 0),
            "{mebibytes} MiB: {:?} {:?}: {said}",
            ran.status.code(),
            ran.status.signal()
        );
    }
    assert!(refused > 0, "none was refused");
}

/// No limit of threads holds for root, so there the program runs as another user, who can execute only a copy.
#[tokio::test]
async fn too_few_threads_are_an_error_before_anything_is_done() {
    let folder = crate::support::folder::temporary();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).expect("set");
    let program = folder.path().join("groupdesk");
    // By another process: a program that another test starts now would inherit the open file, which stays busy then.
    let mut copying = bare("cp", folder.path());
    copying.arg(env!("CARGO_BIN_EXE_groupdesk")).arg(&program);
    assert!(copying.status().await.expect("it starts").success());
    let another = [
        "setpriv",
        "--reuid=54321",
        "--regid=54321",
        "--clear-groups",
    ];
    let is_root = rustix::process::geteuid().is_root();
    let another = if is_root { &another[..] } else { &[] };
    for threads in [1, 2, 3] {
        let mut command = bare("prlimit", folder.path());
        command.arg(format!("--nproc={threads}")).args(another);
        command.arg(&program).arg("list");
        let ran = tokio::time::timeout(DEADLINE, command.output()).await;
        let ran = ran.expect("it ends in time").expect("it starts");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{threads}: {said}");
        assert!(said.contains("cannot start: the system refuses"), "{said}");
    }
}
