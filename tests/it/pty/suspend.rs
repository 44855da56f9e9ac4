//! Ctrl-Z and back: the shell gets its terminal, and the console comes back whole.

use rustix::process::Signal;

use super::{
    PATIENCE, assert_given_back, assert_taken,
    place::{FIRST, Place},
};

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_the_console_back() {
    let place = Place::new();
    let script = "groupdesk demo; echo \"status $?\"; read line; fg; echo \"over $?\"";
    let mut session = place.shell(script).start();
    session.wait_for(FIRST, PATIENCE);
    session.send("jj");
    let before = session.wait_for(">  Brass", PATIENCE);
    session.send("\x1a");
    // 128 and the number of SIGTSTP.
    let shell = session.wait_for("status 148", PATIENCE);
    assert!(!shell.contains(FIRST), "{shell}");
    assert_given_back(&mut session);

    session.send("\n");
    // The shell's echo of the empty line may still stand where the frame has not come: its last row comes last.
    let after = session.wait_for_start(" TESTING ", PATIENCE);
    assert_taken(&mut session);
    let rows = |screen: &str| {
        screen
            .lines()
            .skip(2)
            .take(10)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&after), rows(&before));
    session.send("j");
    session.wait_for(">  Globex", PATIENCE);
    session.send("q");
    session.wait_for("over 0", PATIENCE);
    session.exit_status(PATIENCE);
    assert_given_back(&mut session);
    assert!(!place.has_demo_folder());
}

/// As a debugger or `kill -STOP` does: nothing could be given back, but all of it is taken again.
#[test]
fn a_console_that_is_continued_takes_its_terminal_again() {
    let place = Place::new();
    let mut session = place.demo();
    let taken = |session: &mut crate::support::pty::Session| {
        let enter = b"\x1b[?1049h";
        let raw = session.raw_output();
        raw.windows(enter.len())
            .filter(|bytes| bytes == enter)
            .count()
    };
    assert_eq!(taken(&mut session), 1);
    session.signal(Signal::STOP);
    session.signal(Signal::CONT);
    super::place::wait_until("the screen is taken again", || taken(&mut session) == 2);
    session.wait_for(FIRST, PATIENCE);
    assert_taken(&mut session);
    session.send("j");
    session.wait_for(">  Acme US", PATIENCE);
}

/// Without a shell that could continue it, a stop would be for ever.
#[test]
fn ctrl_z_without_job_control_only_draws_anew() {
    let place = Place::new();
    let mut session = place.demo();
    session.send("\x1aj");
    session.wait_for(">  Acme US", PATIENCE);
    assert_taken(&mut session);
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
}
