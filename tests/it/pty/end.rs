//! However the console ends, the terminal is restored and the demo's folder is gone.

use super::prelude::*;

#[test]
fn a_hangup_ends_the_console_even_while_typing() {
    let place = TempHome::new();
    let mut session = place.demo();
    session.type_until("e", "Edit acme-eu", PATIENCE);
    session.send("x".repeat(200));
    session.hang_up();
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert!(!place.has_demo_folder());
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
    for step in (0..20_usize).step_by(2) {
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
