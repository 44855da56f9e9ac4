//! Programs that inherit nothing from the environment but the time.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use tokio::process::{Child, Command};

use super::clock;

/// The longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_mins(1);
/// The shipped binary.
pub(crate) const GROUPDESK: &str = env!("CARGO_BIN_EXE_groupdesk");

/// A program with its home in this folder; killed when dropped.
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

/// The same after a line of shell, such as `ulimit`.
pub(crate) fn bare_after(line: &str, program: impl AsRef<OsStr>, home: &Path) -> Command {
    let mut command = bare("/bin/sh", home);
    command.args(["-c", &format!("{line}; exec \"$0\" \"$@\"")]);
    command.arg(program);
    command
}

/// The arguments of a command line without quotes.
pub(crate) fn args(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Standard output and standard error.
pub(crate) fn all_output(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The exit code and all output.
pub(crate) async fn ended(child: Child) -> (i32, String) {
    let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    let output = output.expect("it ends in time").expect("it ran");
    let said = all_output(&output);
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code().expect("no signal killed it"), said)
}

pub(crate) async fn run(mut command: Command) -> (i32, String) {
    ended(command.spawn().expect("it starts")).await
}
