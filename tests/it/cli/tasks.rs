//! A night's work as a shell script, with nothing but the shipped binary.

use std::{process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use super::program::Home;
use crate::support::clock;

/// The script does more than a hundred exchanges, each followed by a write to disk.
const DEADLINE: Duration = Duration::from_mins(5);

/// Runs the script in an installation of its own. Returns its exit code and output.
async fn night(program: &str) -> (i32, String) {
    let home = Home::new();
    let child = Command::new("bash")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tasks.sh"))
        .arg(program)
        .env_clear()
        .envs(clock::outer())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.folder.path())
        .env("TMPDIR", home.folder.path())
        .env("USER", "ana")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // The demo that the script starts is killed with its process group.
        .process_group(0)
        .spawn()
        .expect("bash is there");
    let group = Pid::from_raw(child.id().expect("it runs") as i32).expect("a number");
    let ended = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    let Ok(ended) = ended else {
        let _ = kill_process_group(group, Signal::KILL);
        panic!("the night is too long");
    };
    let ended = ended.expect("it ran");
    let left = std::fs::read_dir(home.folder.path()).expect("a folder");
    assert_eq!(left.count(), 0, "it leaves nothing behind");
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (ended.status.code().expect("no signal killed it"), said)
}

#[tokio::test]
async fn the_script_does_its_work_with_commands_alone() {
    let (code, said) = night(env!("CARGO_BIN_EXE_groupdesk")).await;
    assert_eq!(code, 0, "{said}");
    for line in [
        "created: 40",
        "new groups rotated and read back: 40",
        "the group: night-27",
        "exit code of doctor: 0",
    ] {
        assert!(said.contains(line), "{line} is missing in {said}");
    }
}

#[tokio::test]
async fn the_script_notices_a_program_that_does_nothing() {
    let (code, said) = night("true").await;
    assert_eq!(code, 1, "{said}");
    assert!(!said.contains("The night is over"), "{said}");
}
