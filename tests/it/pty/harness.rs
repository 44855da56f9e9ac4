//! Tests of the terminal harness itself, with small shell scripts.

use std::time::Duration;

use rustix::process::Signal;

use super::PATIENCE;
use crate::support::pty::Program;

fn shell(script: &str) -> Program {
    Program::new("/bin/sh", &["-c", script])
}

#[test]
fn the_harness_shows_what_is_typed_and_how_it_ended() {
    let mut session = shell("read line; printf '\\033[2Jgot %s' \"$line\"; exit 3").start();
    session.type_until("hello\n", "got hello", PATIENCE);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(3));
    assert!(session.raw_output().ends_with(b"got hello"));
    assert_eq!(session.screen().trim(), "got hello");
}

#[test]
fn the_harness_tells_the_program_of_a_new_size() {
    let script = "trap 'stty size; exit' WINCH; stty size; while :; do read line; done";
    let mut session = shell(script).size(10, 40).start();
    session.wait_for("10 40", PATIENCE);
    session.resize(12, 60);
    session.wait_for("12 60", PATIENCE);
}

#[test]
fn the_harness_starts_with_a_clean_environment_in_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "pwd; echo \"$TERM,$WORD,${HOME-none}\"";
    let mut session = shell(script)
        .env("WORD", "given")
        .cwd(folder.path())
        .size(24, 200)
        .start();
    assert!(session.exit_status(PATIENCE).success());
    let screen = session.screen();
    assert!(screen.contains("xterm-256color,given,none"), "{screen}");
    let name = folder.path().file_name().expect("a name");
    assert!(screen.contains(&*name.to_string_lossy()), "{screen}");
}

#[test]
#[should_panic(expected = "not within")]
fn the_harness_gives_up_at_the_deadline() {
    let mut session = shell("read line").start();
    session.wait_for("never", Duration::from_millis(10));
}

#[test]
fn the_harness_sends_signals() {
    let script = "trap 'echo asked to end; exit 7' TERM; echo ready; while :; do read line; done";
    let mut session = shell(script).start();
    session.wait_for("ready", PATIENCE);
    session.signal(Signal::TERM);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(7));
    assert!(session.screen().contains("asked to end"));
}

#[test]
fn the_harness_pastes_and_sees_the_modes_of_the_terminal() {
    let script = "stty -echo; printf '\\033[?1049h\\033[?2004hready'; read line; \
                  printf '%s' \"$line\" | od -An -c | tr -d ' \\n'; read line; printf '\\033[?1049l'; read line";
    let mut session = shell(script).start();
    session.wait_for("ready", PATIENCE);
    assert!(session.terminal_state().alternate_screen());
    assert!(session.terminal_state().bracketed_paste());
    session.paste("two");
    session.type_until("\n", "033[200~two033[201~", PATIENCE);
    assert!(session.output_during(Duration::from_millis(20)).is_empty());
    session.send("\n");
    session.wait_for_no("ready", PATIENCE);
    session.wait_until("the usual screen", PATIENCE, |screen| {
        !screen.alternate_screen()
    });
}
