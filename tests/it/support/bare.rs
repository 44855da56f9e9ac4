//! Programs that get nothing of the environment but the time.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use tokio::process::{Child, Command};

use super::clock;

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_mins(1);
/// The shipped binary.
pub(crate) const GROUPDESK: &str = env!("CARGO_BIN_EXE_groupdesk");

/// A program at home in this folder, which is killed when it is dropped.
pub(crate) fn bare(program: impl AsRef<OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(clock::outer())
        .env("HOME", home)
        .env("USER", "ana")
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// The same after a line of the shell, as `ulimit`.
pub(crate) fn bare_after(line: &str, program: impl AsRef<OsStr>, home: &Path) -> Command {
    let mut command = bare("/bin/sh", home);
    command.args(["-c", &format!("{line}; exec \"$0\" \"$@\"")]);
    command.arg(program);
    command
}

/// All that it said.
pub(crate) fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Exit code, and all it said.
pub(crate) async fn ended(child: Child) -> (i32, String) {
    let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    let output = output.expect("it ends in time").expect("it ran");
    let said = said(&output);
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code().expect("no signal killed it"), said)
}

pub(crate) async fn run(mut command: Command) -> (i32, String) {
    ended(command.spawn().expect("it starts")).await
}
