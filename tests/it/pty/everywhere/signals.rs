//! Every signal in every place, also after stops and size changes.

use rustix::process::Signal;

use super::{
    PATIENCE, Scene, assert_restored, assert_soon,
    places::{PLACES, Steps, at, sign_of},
    wait_for_end,
};
use crate::{
    pty::{assert_comes_to_rest, assert_taken, children, wait_until},
    support::{long, pty::Session},
};

const SIGNALS: [Signal; 3] = [Signal::TERM, Signal::HUP, Signal::INT];

/// All rows of the place are on the screen.
#[track_caller]
fn assert_whole(session: &mut Session, steps: Steps) {
    let sign = sign_of(steps);
    session.wait_until("the same screen", PATIENCE, |screen| {
        let contents = screen.contents();
        contents.contains(sign) && contents.trim_end().ends_with("help")
    });
}

/// Another size and back: the same place.
fn change_size(session: &mut Session, steps: Steps) {
    session.resize(1, 1);
    session.resize(40, 132);
    session.resize(24, 80);
    session.signal(Signal::WINCH);
    assert_whole(session, steps);
}

#[test]
fn every_signal_ends_every_place_soon() {
    let scene = Scene::new();
    let mut cases = Vec::new();
    for (what, steps) in PLACES {
        for signal in SIGNALS {
            cases.push((what, steps, signal));
        }
    }
    let all = cases.len();
    assert!(all >= 60, "{all}");
    let mut took = Vec::new();
    for (what, steps, signal) in long::spread(cases, 19) {
        let what_at = format!("{signal:?} in {what}");
        let mut session = at(scene.console(), steps);
        change_size(&mut session, steps);
        assert_taken(&mut session);
        session.signal(signal);
        let (status, time) = wait_for_end(&mut session, &what_at);
        assert_eq!(status.code(), Some(130), "{what_at}");
        scene.assert_no_secret(&mut session, &what_at);
        took.push(time);
    }
    let mut session = scene.first_start();
    session.signal(Signal::TERM);
    let (status, time) = wait_for_end(&mut session, "the first start");
    assert_eq!(status.code(), Some(130));
    took.push(time);
    println!("{} of {} signals", took.len(), all + 1);
    assert!(!long::all() || took.len() == all + 1);
    assert_soon(&took);
}

#[test]
fn a_stop_in_every_place_restores_the_terminal_and_takes_it_again() {
    let scene = Scene::new();
    let script = "groupdesk; echo \"status $?.\"; read line; fg; echo \"over $?\"";
    let mut count = 0;
    for (what, steps) in long::spread(PLACES, 13) {
        for stop in [Signal::TSTP, Signal::STOP] {
            // A debugger's stop restores nothing, and here no shell continues it: the terminal is taken again.
            if stop == Signal::STOP {
                let mut session = at(scene.console(), steps);
                session.signal(Signal::STOP);
                session.signal(Signal::CONT);
                wait_until("the screen is taken again", || {
                    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
                    raw.matches("\x1b[?1049h").count() == 2
                });
                assert_whole(&mut session, steps);
                assert_taken(&mut session);
                session.signal(Signal::TERM);
                wait_for_end(&mut session, what);
                count += 1;
                continue;
            }
            let mut session = at(scene.shell(script), steps);
            let console = children(session.pid())[0];
            rustix::process::kill_process(console, stop).expect("it is there");
            session.wait_for("status 150.", PATIENCE);
            assert_restored(&mut session, what);
            session.send("\n");
            assert_whole(&mut session, steps);
            assert_taken(&mut session);
            rustix::process::kill_process(console, Signal::TERM).expect("it is there");
            session.wait_for("over 130", PATIENCE);
            session.exit_status(PATIENCE);
            assert_restored(&mut session, what);
            scene.assert_no_secret(&mut session, what);
            count += 1;
        }
    }
    println!("{count} stops");
    assert!(count >= 6 && (!long::all() || count == 60));
}

/// After all of it nothing happens by itself.
#[test]
fn after_stops_and_sizes_it_is_idle() {
    let scene = Scene::new();
    for (what, steps) in long::spread(PLACES, 15) {
        // A warning disappears after a while.
        if what == "one key more" {
            continue;
        }
        let mut session = at(scene.console(), steps);
        change_size(&mut session, steps);
        for signal in [Signal::STOP, Signal::CONT, Signal::WINCH] {
            session.signal(signal);
        }
        session.send("\x1a");
        assert_comes_to_rest(&mut session, what);
    }
}

/// A window of one cell from start to end.
#[test]
fn a_terminal_of_one_cell_is_restored_too() {
    let scene = Scene::new();
    for ((rows, columns), signal) in [(1, 1), (1, 80), (24, 1)].into_iter().zip(SIGNALS) {
        let mut session = scene.console().size(rows, columns).start();
        session.wait_until("it is taken", PATIENCE, vt100::Screen::alternate_screen);
        session.send("jke\t\t?\x1b");
        session.signal(signal);
        let what_at = format!("{rows} rows, {columns} columns");
        let (status, _) = wait_for_end(&mut session, &what_at);
        assert_eq!(status.code(), Some(130), "{what_at}");
    }
}
