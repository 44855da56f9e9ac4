//! Terminals that hang up, and terminals that accept no output for a while.

use rustix::process::Signal;

use super::{
    PATIENCE, Scene, Took, assert_soon,
    places::{PLACES, at},
    wait_for_end,
};
use crate::{
    pty::{processes_of_session, wait_until},
    support::long,
};

#[test]
fn a_hangup_ends_the_console_in_every_place() {
    let scene = Scene::new();
    let mut took = Vec::new();
    for (what, steps) in long::spread(PLACES, 9) {
        let mut session = at(scene.console(), steps);
        let leader = session.pid();
        let begin = std::time::Instant::now();
        session.hang_up();
        let status = session.exit_status(PATIENCE);
        took.push(Took::since(begin, &session));
        assert_eq!(status.code(), Some(130), "{what}");
        wait_until("no process is left", || {
            processes_of_session(leader).is_empty()
        });
    }
    assert!(took.len() >= 4);
    assert_soon(&took);
}

/// Nobody reads, keys are typed, and a signal to end comes meanwhile. Where nobody ever reads again, the console ends
/// all the same, and restores the settings; otherwise it is restored once it is read.
fn assert_ends_blocked(is_read_on: bool, count: usize) {
    let scene = Scene::new();
    let mut took = Vec::new();
    for (number, (what, steps)) in long::spread(PLACES, count).into_iter().enumerate() {
        let mut session = at(scene.console(), steps);
        session.stall();
        // The console has something to write, and cannot.
        session.send("\x1b?");
        let signal = [Signal::TERM, Signal::HUP, Signal::INT][number % 3];
        let what_at = format!("{signal:?} in a blocked {what}");
        let begin = std::time::Instant::now();
        session.signal(signal);
        if !is_read_on {
            let status = session.exit_unread(PATIENCE);
            took.push(Took::since(begin, &session));
            assert_eq!(status.code(), Some(130), "{what_at}");
        } else if number == 0 && long::all() {
            session.output_during(std::time::Duration::from_secs(10));
        }
        // The rest of its output, whenever somebody reads it.
        session.read_on();
        let (status, time) = wait_for_end(&mut session, &what_at);
        assert_eq!(status.code(), Some(130), "{what_at}");
        scene.assert_no_secret(&mut session, &what_at);
        if is_read_on {
            took.push(time);
        }
    }
    assert!(took.len() >= 4);
    assert_soon(&took);
}

#[test]
fn a_blocked_terminal_is_restored_once_it_reads() {
    assert_ends_blocked(true, 9);
}

#[test]
fn a_terminal_that_never_reads_does_not_prevent_the_end() {
    assert_ends_blocked(false, 8);
}

/// The same in plain mode, which writes lines.
#[test]
fn a_terminal_that_never_reads_does_not_prevent_the_end_in_plain_mode() {
    let scene = Scene::new();
    let mut session = scene
        .held
        .console(scene.place.groupdesk(&["--plain"]))
        .start();
    session.wait_for("acme-eu", PATIENCE);
    session.stall();
    session.send("?");
    session.signal(Signal::TERM);
    assert_eq!(session.exit_unread(PATIENCE).code(), Some(130));
    session.read_on();
    session.exit_status(PATIENCE);
    assert_eq!(session.settings(), session.settings_before());
}

/// Nobody ever reads again, and then the terminal hangs up.
#[test]
fn a_blocked_terminal_that_hangs_up_ends_the_console() {
    let scene = Scene::new();
    for (_, steps) in long::spread(PLACES, 15) {
        let mut session = at(scene.console(), steps);
        let leader = session.pid();
        session.stall();
        session.send("\x1b?");
        session.read_on();
        session.hang_up();
        assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
        wait_until("no process is left", || {
            processes_of_session(leader).is_empty()
        });
    }
}
