//! Lines that are lost, and lines that take nothing for a while.

use rustix::process::Signal;

use super::{
    PATIENCE, Scene, assert_soon, ends,
    places::{PLACES, at},
};
use crate::{
    pty::{processes_of_session, wait_until},
    support::long,
};

#[test]
fn a_lost_line_ends_every_place() {
    let scene = Scene::new();
    let mut took = Vec::new();
    for (what, steps) in long::spread(PLACES, 7) {
        let mut session = at(scene.console(), steps);
        let leader = session.pid();
        let begin = std::time::Instant::now();
        session.hang_up();
        let status = session.exit_status(PATIENCE);
        took.push(begin.elapsed());
        assert_eq!(status.code(), Some(130), "{what}");
        wait_until("no process is left", || {
            processes_of_session(leader).is_empty()
        });
    }
    assert!(took.len() >= 4);
    assert_soon(took);
}

/// Nobody reads for a while, keys are typed, and the end is asked for meanwhile.
#[test]
fn a_blocked_terminal_is_given_back_once_it_reads() {
    let scene = Scene::new();
    let mut took = Vec::new();
    for (number, (what, steps)) in long::spread(PLACES, 7).into_iter().enumerate() {
        let mut session = at(scene.console(), steps);
        session.stall();
        // It has something to write, and cannot.
        session.send("\x1b?");
        let signal = [Signal::TERM, Signal::HUP, Signal::INT][number % 3];
        session.signal(signal);
        if number == 0 && long::all() {
            session.output_during(std::time::Duration::from_secs(10));
        }
        session.read_on();
        let what_at = format!("{signal:?} in a blocked {what}");
        let (status, time) = ends(&mut session, &what_at);
        assert_eq!(status.code(), Some(130), "{what_at}");
        scene.assert_no_secret(&mut session, &what_at);
        took.push(time);
    }
    assert!(took.len() >= 4);
    assert_soon(took);
}

/// Nobody ever reads again, and nobody closes the line: it ends all the same, and what it was is given back.
#[test]
fn a_terminal_that_never_reads_holds_no_end_back() {
    let scene = Scene::new();
    let mut took = Vec::new();
    for (number, (what, steps)) in long::spread(PLACES, 5).into_iter().enumerate() {
        let mut session = at(scene.console(), steps);
        session.stall();
        session.send("\x1b?");
        let signal = [Signal::TERM, Signal::HUP, Signal::INT][number % 3];
        let what_at = format!("{signal:?} in a {what} that nobody reads");
        let begin = std::time::Instant::now();
        session.signal(signal);
        let status = session.exit_unread(PATIENCE);
        took.push(begin.elapsed());
        assert_eq!(status.code(), Some(130), "{what_at}");
        // What it left on the way, whenever somebody reads it.
        session.read_on();
        let (_, _) = ends(&mut session, &what_at);
        scene.assert_no_secret(&mut session, &what_at);
    }
    assert!(took.len() >= 6);
    assert_soon(took);
}

/// The same where what is said goes on as lines.
#[test]
fn a_terminal_that_never_reads_holds_no_plain_end_back() {
    let scene = Scene::new();
    let mut session = scene.with(scene.place.groupdesk(&["--plain"])).start();
    session.wait_for("acme-eu", PATIENCE);
    session.stall();
    session.send("?");
    session.signal(Signal::TERM);
    assert_eq!(session.exit_unread(PATIENCE).code(), Some(130));
    session.read_on();
    session.exit_status(PATIENCE);
    assert_eq!(session.settings(), session.settings_before());
}

/// Nobody ever reads again, and then the line is gone.
#[test]
fn a_blocked_terminal_that_is_lost_ends_it() {
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
