//! Memory does not grow with the number of groups when they are only passed on, and grows little in a console that
//! holds them. The margins are wide, because this is a debug build.

use std::process::Stdio;

use serde_json::Value;
use tokio::{io::AsyncReadExt, process::Child};

use super::program::{DEADLINE, Home};
use crate::support::{memory::memory_of, pty::Program};

/// Held in memory as they are, these groups take more than 30 MiB.
const MANY: &str = "6000";
/// How much more memory many groups may take than a few, in KiB.
const MORE: usize = 12 * 1024;
/// More than pipes and buffers hold of the output that follows.
const NEAR_THE_END: usize = 400 * 1024;

fn peak(id: impl std::fmt::Display) -> usize {
    memory_of(id, "VmHWM").expect("it runs")
}

fn peak_of_child(child: &Child) -> usize {
    peak(child.id().expect("it runs"))
}

/// The peak of a command, read shortly before its end, while it waits for its reader.
async fn peak_of(home: &Home, arguments: &[&str], all: usize) -> usize {
    let mut child = home
        .command(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = child.stdout.take().expect("standard output");
    let mut read = vec![0; all - NEAR_THE_END];
    out.read_exact(&mut read).await.expect("so much text");
    let peak = peak_of_child(&child);
    child.kill().await.expect("it runs");
    peak
}

/// The peak of a console that has read all groups.
fn peak_of_console(home: &Home, groups: &str) -> usize {
    let folder = home.path("").display().to_string();
    let variables = ["GROUPDESK_CONFIG", "GROUPDESK_DIRECTORY"];
    let program = Program::groupdesk(&["--profile", "testing"]).size(40, 120);
    let mut session = variables
        .into_iter()
        .fold(program, |program, name| {
            program.env(name, home.variable(name))
        })
        .env("HOME", folder)
        .env("USER", "ana")
        .start();
    let is_read = |screen: &str| screen.contains(groups) && !screen.contains("reading");
    session.wait_until("all groups", DEADLINE, |screen| is_read(&screen.contents()));
    peak(session.pid())
}

#[tokio::test]
async fn a_long_list_and_a_large_demo_are_processed_in_constant_memory() {
    let mut few = Home::new();
    let small = few.hold(&["demo", "--hold"]).await;
    let mut home = Home::new();
    let large = home.hold(&["demo", "--hold", "--groups", MANY]).await;
    let (before, after) = (peak_of_child(&small.child), peak_of_child(&large.child));
    assert!(after < before + 3 * MORE, "{before} KiB, then {after}");

    let (console, many) = (
        peak_of_console(&few, " groups"),
        peak_of_console(&home, "6000 groups"),
    );
    // Unpacked, the groups would take more than three times as much.
    assert!(many < console + MORE, "{console} KiB, then {many}");

    let least = few.run(&["list"]).await.out.len();
    assert!(least < 64 * 1024, "{least} bytes");
    let at_rest = peak_of_child(&large.child);
    let filtered = ["list", "--filter", "-label:none", "--sort", "name"];
    let shown = ["show", "--filter", "-label:none", "--json"];
    for arguments in [&filtered[..], &["list", "--json"], &shown] {
        let ran = home.run(arguments).await;
        let told = "-label:none: excludes no known group";
        let is_all = ran.err.is_empty() || ran.err.contains(told);
        assert!(ran.code == 0 && is_all, "{}", ran.err);
        let peak = peak_of(&home, arguments, ran.out.len()).await;
        // The service beside it does more work than a list.
        assert!(
            peak < at_rest.min(before) + MORE,
            "{arguments:?}: {peak} KiB"
        );
        if arguments.contains(&"--json") {
            let read: Value = serde_json::from_str(&ran.out).expect("JSON");
            assert_eq!(read.as_array().map(Vec::len), Some(6000));
            let whole = serde_json::to_string_pretty(&read).expect("JSON");
            assert!(ran.out == format!("{whole}\n"), "as one text at once");
        } else {
            let column = |line: &str| line.find("group-").map(|at| line[..at].chars().count());
            let lines: Vec<_> = ran.out.lines().collect();
            assert_eq!(lines.len(), 6001);
            let headers = lines.iter().filter(|line| line.starts_with("NAME "));
            assert_eq!(headers.count(), 1);
            let plain = lines.iter().filter(|line| line.is_ascii());
            let columns: Vec<_> = plain.filter_map(|line| column(line)).collect();
            assert!(columns.len() > 4500 && columns.iter().all(|at| *at == columns[0]));
        }
    }
}
