//! A console that nobody touches costs nothing.

use std::{fs, time::Duration};

use super::{PATIENCE, place::Place};
use crate::support::pty::Session;

/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(3);
/// Clock ticks, of which a second usually has 100: a busy loop or a drawing clock takes more.
pub(super) const FEW_TICKS: u64 = 3;
/// Wake-ups of all threads, the service's among them: a clock of ten a second takes more.
const FEW_WAKE_UPS: u64 = 30;

/// Clock ticks of processor time so far.
pub(super) fn ticks(session: &Session) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", session.pid())).expect("it runs");
    let (_, rest) = stat.rsplit_once(')').expect("a name");
    // After the name: state is field 3, user time 14, system time 15.
    let fields = rest.split_whitespace().skip(11).take(2);
    fields
        .map(|field| field.parse::<u64>().expect("a number"))
        .sum()
}

/// How often its threads went to sleep by themselves so far.
fn wake_ups(session: &Session) -> u64 {
    let threads = fs::read_dir(format!("/proc/{}/task", session.pid())).expect("it runs");
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok())
        .filter_map(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse::<u64>().ok()
        })
        .sum()
}

#[track_caller]
fn assert_idle(session: &mut Session, place: &str) {
    while !session.output_during(Duration::from_millis(500)).is_empty() {}
    let (ticks_before, wake_ups_before) = (ticks(session), wake_ups(session));
    let written = session.output_during(WATCHED);
    let ticks = ticks(session) - ticks_before;
    let wake_ups = wake_ups(session) - wake_ups_before;
    println!("{place}: {ticks} ticks, {wake_ups} wake-ups in {WATCHED:?}");
    assert_eq!(String::from_utf8_lossy(&written), "", "{place}");
    assert!(ticks <= FEW_TICKS, "{place}: {ticks} ticks");
    assert!(wake_ups <= FEW_WAKE_UPS, "{place}: {wake_ups} wake-ups");
}

#[test]
fn nothing_is_written_and_nothing_is_done() {
    let place = Place::new();
    let mut session = place.demo();
    assert_idle(&mut session, "the list of the demo");
    session.send("\r");
    session.wait_for("read at", PATIENCE);
    assert_idle(&mut session, "a group that was read");

    let held = place.hold();
    let mut session = place
        .groupdesk(&[])
        .env("GROUPDESK_CONFIG", held.config.as_str())
        .env("GROUPDESK_DIRECTORY", held.directory.as_str())
        .start();
    session.wait_for("10 of 10", PATIENCE);
    assert_idle(&mut session, "the list without the service");
}
