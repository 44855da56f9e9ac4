//! However the console ends, the terminal is restored and the demo's folder is gone.

use rustix::process::Signal;

use super::{
    PATIENCE, assert_given_back,
    place::{TempHome, processes_of_session, wait_until},
};
const SIGNALS: [Signal; 3] = [Signal::TERM, Signal::HUP, Signal::INT];

/// For every place see `everywhere::signals`. Each key is pressed when the text of the one before is there.
#[test]
fn a_signal_ends_the_demo_and_removes_its_folder() {
    let places: [&[(&str, &str)]; 3] = [
        &[("j", ">   Acme US")],
        &[("e\tl\r\x15999", "was 213")],
        &[("t", "T rotates it"), ("v", "hidden again in")],
    ];
    for (signal, steps) in SIGNALS.into_iter().zip(places) {
        let place = TempHome::new();
        let mut session = place.demo();
        for (keys, there) in steps {
            session.type_until(keys, there, PATIENCE);
        }
        session.signal(signal);
        let code = session.exit_status(PATIENCE).code();
        assert_eq!(code, Some(130), "{signal:?}");
        assert_given_back(&mut session);
        assert!(!place.has_demo_folder(), "{signal:?}: the folder was left");
    }
}

#[test]
fn ctrl_c_again_quits() {
    let place = TempHome::new();
    let mut session = place.demo();
    session.type_until("\x03", "Ctrl-C again quits", PATIENCE);
    // On a busy machine that may be too long ago for one more.
    session.send("\x03\x03");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
}

#[test]
fn a_hangup_ends_the_console_even_while_typing() {
    for typed in [0, 4_000] {
        let place = TempHome::new();
        let mut session = place.demo();
        session.type_until("e", "Edit acme-eu", PATIENCE);
        session.send("x".repeat(typed));
        session.hang_up();
        assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
        assert!(!place.has_demo_folder());
    }
}

/// The shell ignores the signal, as `nohup` does; then only the terminal shows the hangup.
#[test]
fn a_hangup_without_a_signal_ends_the_console() {
    let place = TempHome::new();
    let mut session = place
        .shell("trap '' HUP; set +m; groupdesk demo; exit 0")
        .start();
    session.wait_for(super::place::FIRST, PATIENCE);
    let leader = session.pid();
    session.hang_up();
    wait_until("no process is left", || {
        processes_of_session(leader).is_empty()
    });
    assert!(!place.has_demo_folder());
}

#[test]
fn a_signal_at_any_moment_of_the_start_leaves_nothing() {
    for step in 0..20_usize {
        let place = TempHome::new();
        let mut session = place.groupdesk(&["demo"]).start();
        // At a moment of the start, chosen by the number of times its progress was checked.
        for _ in 0..step * 40 {
            place.has_demo_folder();
        }
        session.signal(Signal::TERM);
        session.exit_status(PATIENCE);
        assert_given_back(&mut session);
        assert!(!place.has_demo_folder(), "{step}: the folder was left");
    }
}

#[test]
fn the_service_in_a_terminal_ends_with_ctrl_c() {
    let place = TempHome::new();
    let mut session = place
        .groupdesk(&["serve", "--listen", "127.0.0.1:0"])
        .start();
    session.wait_for("listening on http://127.0.0.1:", PATIENCE);
    session.type_until("\x03", "finishing running requests", PATIENCE);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
}
