//! The memory of the process: no other process of its user may read it, and no core dump is written, unless a debugger
//! is asked for.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::ExitStatusExt,
    },
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use crate::support::{
    assertions::assert_has,
    bare::{all_output, bare, bare_after},
};

const DEADLINE: Duration = Duration::from_mins(1);
const NOBODY: u32 = 65_534;

/// The service run by a plain user: as `nobody` when the test runs as root, because root may read everything.
struct Scene {
    folder: tempfile::TempDir,
    uid: u32,
}

impl Scene {
    fn new() -> Self {
        let folder = crate::support::folder::temporary();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("set");
        // Copied by another process: a child of another test could inherit our descriptor, which is open for writing.
        let copied = std::process::Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_groupdesk"))
            .arg(folder.path().join("groupdesk"))
            .status();
        assert!(copied.expect("it runs").success());
        let home = folder.path().join("desk");
        fs::create_dir(&home).expect("made");
        let us = geteuid();
        let uid = if us.is_root() { NOBODY } else { us.as_raw() };
        if us.is_root() {
            chown(&home, Some(uid), None).expect("given away");
        }
        Self { folder, uid }
    }

    fn binary(&self) -> PathBuf {
        self.folder.path().join("groupdesk")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("desk")
    }

    /// Starts the service with core dumps allowed as far as this machine allows them.
    async fn serve(&self, variable: Option<(&str, &str)>) -> Child {
        let mut command = bare_after("ulimit -c $(ulimit -H -c)", self.binary(), &self.home());
        command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--database",
                "service.db",
            ])
            .env("PATH", "/usr/bin:/bin")
            .envs(variable)
            .stderr(Stdio::null());
        if geteuid().is_root() {
            command.uid(self.uid);
        }
        let mut child = command.spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
        let line = tokio::time::timeout(DEADLINE, lines.next_line()).await;
        let line = line.expect("in time").expect("readable").expect("a line");
        assert!(line.starts_with("listening"), "{line}");
        child
    }

    /// How many core dumps are in the folder of the process.
    fn cores(&self) -> usize {
        let entries = fs::read_dir(self.home()).expect("readable").flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().contains("core"))
            .count()
    }
}

/// The owner of the process's files in /proc (root when the process is not dumpable), and its limit for core dumps.
fn proc_owner_and_limit(child: &Child) -> (u32, String) {
    let pid = child.id().expect("it runs");
    let owner = fs::metadata(format!("/proc/{pid}/mem"))
        .expect("it runs")
        .uid();
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("it runs");
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<_> = line.expect("a limit").split_whitespace().collect();
    (owner, format!("{} {}", words[4], words[5]))
}

async fn abort(mut child: Child) -> std::process::ExitStatus {
    let pid = Pid::from_raw(child.id().expect("it runs").cast_signed()).expect("a number");
    kill_process(pid, Signal::ABORT).expect("it runs");
    let ended = tokio::time::timeout(DEADLINE, child.wait()).await;
    ended.expect("it ends").expect("it ran")
}

#[tokio::test]
async fn the_memory_is_unreadable_and_no_core_dump_is_left() {
    let scene = Scene::new();
    let child = scene.serve(None).await;
    assert_eq!(proc_owner_and_limit(&child), (0, "0 0".to_owned()));
    let status = abort(child).await;
    assert_eq!(status.signal(), Some(Signal::ABORT.as_raw()));
    assert!(!status.core_dumped());
    assert_eq!(scene.cores(), 0);
}

/// Control: the same checks on a process that may be debugged find what they look for.
#[tokio::test]
async fn a_debugger_may_attach_when_asked_for() {
    let scene = Scene::new();
    let child = scene.serve(Some(("GROUPDESK_DEBUGGABLE", "1"))).await;
    let (owner, limit) = proc_owner_and_limit(&child);
    assert_eq!(owner, scene.uid);
    let status = abort(child).await;
    // When core_pattern names a program, that program decides.
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").expect("readable");
    if limit.starts_with("unlimited") && !pattern.starts_with('|') {
        assert!(status.core_dumped(), "a core dump can be seen: {pattern}");
    } else {
        println!("no core dumps on this machine: limit {limit}, pattern {pattern}");
    }
    let child = scene.serve(Some(("GROUPDESK_DEBUGGABLE", "yes"))).await;
    assert_eq!(proc_owner_and_limit(&child), (0, "0 0".to_owned()));
}

/// A shell's process substitution passes a file of `/proc/self/fd`: the process itself can still read it.
#[tokio::test]
async fn process_substitutions_are_still_readable() {
    let scene = Scene::new();
    let script = "printf '{\"user_group_id\": \"acme\"}\\n' | \
                  \"$0\" --config /dev/fd/3 --directory d.db import /dev/stdin 3<config && \
                  \"$0\" --config /dev/fd/3 --directory d.db export --output /dev/stdout 3<config; echo $?";
    let config =
        "[profiles.eu]\nbase_url = \"https://api.example.com\"\napi_key = { env = \"EU\" }\n";
    let file = scene.home().join("config");
    fs::write(&file, config).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("set");
    let mut command = bare("/bin/sh", &scene.home());
    command
        .args(["-c", script])
        .arg(scene.binary())
        .env("PATH", "/usr/bin:/bin")
        .env("EU", "a-key");
    if geteuid().is_root() {
        command.uid(scene.uid);
    }
    let output = command.output().await.expect("it runs");
    let said = all_output(&output);
    assert!(
        said.contains("1 row; nothing was sent. Result in the directory of eu"),
        "{said}"
    );
    // Nor is it replaced by a file, even by a user who may do that.
    assert_has(&said, "/dev/stdout: it is not a regular file");
}
