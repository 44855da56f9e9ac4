//! Ctrl-Z and back: the shell gets its terminal, and the console is redrawn completely.

use rustix::process::Pid;

use super::prelude::*;

/// The rows of the list, which no message and no detail changes.
fn rows(screen: &str) -> Vec<String> {
    let rows = screen.lines().skip(2).take(10);
    rows.map(str::to_owned).collect()
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_resumes_the_console() {
    let place = TempHome::new();
    let script = "groupdesk demo; echo \"status $?.\"; read line; fg; echo \"over $?\"";
    let mut session = place.shell(script).start();
    session.wait_for(FIRST, PATIENCE);
    session.type_until("jj", ">   Brass", PATIENCE);
    let before = session.wait_for("brasserie-zoe   ", PATIENCE);
    session.send("\x1a");
    // 128 and the number of SIGTTOU, by which it stops.
    let shell = session.wait_for("status 150.", PATIENCE);
    assert!(!shell.contains(FIRST), "{shell}");
    assert_given_back(&mut session);

    session.send("\n");
    // Two frames are drawn: when it continues, and when it notices that it was stopped. In between a frame may be
    // incomplete.
    session.wait_until("the same rows", PATIENCE, |screen| {
        let contents = screen.contents();
        let lines: Vec<&str> = contents.lines().map(str::trim_end).collect();
        rows(&lines.join("\n")) == rows(&before) && contents.contains("? help")
    });
    assert_taken(&mut session);
    session.type_until("j", ">   Globex", PATIENCE);
    session.type_until("q", "over 0", PATIENCE);
    session.exit_status(PATIENCE);
    assert_given_back(&mut session);
    assert!(!place.has_demo_folder());
}

/// The child processes of a process.
pub(super) fn children(parent: Pid) -> Vec<Pid> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let numbers = std::fs::read_to_string(path).expect("it runs");
    let numbers = numbers.split_whitespace();
    numbers
        .filter_map(|number| Pid::from_raw(number.parse().ok()?))
        .collect()
}

/// Without a shell to continue it, it would stay stopped for ever.
#[test]
fn ctrl_z_without_job_control_only_redraws() {
    let place = TempHome::new();
    let mut session = place.demo();
    session.type_until("\x1aj", ">   Acme US", PATIENCE);
    assert_taken(&mut session);
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
}

/// What was typed while the shell had the terminal was not typed for the question of the console.
#[test]
fn a_key_typed_before_the_console_is_back_confirms_nothing() {
    let place = TempHome::new();
    let script = "groupdesk demo; echo \"status $?.\"; read line; fg; echo \"over $?\"";
    let mut session = place.shell(script).start();
    session.wait_for(FIRST, PATIENCE);
    session.type_until("t", "T rotate", PATIENCE);
    session.type_until("T", "y ROTATE", PATIENCE);
    session.send("\x1a");
    session.wait_for("status 150.", PATIENCE);
    session.send("\ny");
    session.wait_for("y ROTATE", PATIENCE);
    session.type_until("\x1b", "Nothing was sent", PATIENCE);
    session.send("\x03\x03");
    session.wait_for("over", PATIENCE);
    session.exit_status(PATIENCE);
}
