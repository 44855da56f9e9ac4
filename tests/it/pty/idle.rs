//! An idle console costs nothing.

use std::collections::BTreeMap;

use super::prelude::*;

/// How long it is observed.
const WATCHED: Duration = Duration::from_secs(3);
/// Clock ticks, usually 100 per second: a busy loop or a redrawn clock takes more.
pub(crate) const FEW_TICKS: u64 = 3;
/// How long the last message may stay, in half seconds.
const WAITS: usize = 40;
/// A pool may once drop an idle thread or connection meanwhile; anything periodic shows in every window.
const WINDOWS: usize = 4;
/// The same for what has just happened.
const SECONDS: usize = 10;

/// Clock ticks of processor time so far.
pub(crate) fn ticks(session: &Session) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", session.pid())).expect("it runs");
    let (_, rest) = stat.rsplit_once(')').expect("a name");
    // After the name: state is field 3, user time 14, system time 15.
    let fields = rest.split_whitespace().skip(11).take(2);
    fields
        .map(|field| field.parse::<u64>().expect("a number"))
        .sum()
}

/// How often each thread has gone to sleep voluntarily so far, including those of a demo's service.
fn sleeps(session: &Session) -> BTreeMap<String, u64> {
    let threads = fs::read_dir(format!("/proc/{}/task", session.pid())).expect("it runs");
    threads
        .flatten()
        .filter_map(|thread| {
            let status = fs::read_to_string(thread.path().join("status")).ok()?;
            let mut lines = status.lines();
            let line = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            let name = thread.file_name().to_string_lossy().into_owned();
            Some((name, line.trim().parse().ok()?))
        })
        .collect()
}

/// The wake-ups between two counts: a thread sleeps once more for each; one that has started or ended was awake.
fn count_wake_ups(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> u64 {
    let ended = before.keys().filter(|thread| !after.contains_key(*thread));
    let slept = after.iter().map(|(thread, count)| {
        let was = before.get(thread).map_or(0, |was| *was);
        (count - was).max(u64::from(!before.contains_key(thread)))
    });
    ended.count() as u64 + slept.sum::<u64>()
}

/// Waits for a second in which nothing is written and hardly anything is done: whatever has happened is handled by then,
/// and anything that goes on shows in every second.
#[track_caller]
pub(crate) fn assert_comes_to_rest(session: &mut Session, what: &str) {
    let mut seconds = Vec::new();
    for _ in 0..SECONDS {
        let before = ticks(session);
        let written = session.output_during(Duration::from_secs(1));
        let spent = ticks(session) - before;
        if written.is_empty() && spent <= FEW_TICKS {
            return;
        }
        seconds.push((String::from_utf8_lossy(&written).into_owned(), spent));
    }
    panic!("{what}: written and spent each second: {seconds:?}");
}

/// Nothing is written at all, and for a whole window no thread wakes up.
#[track_caller]
fn assert_idle(session: &mut Session, place: &str) {
    // A message disappears by itself, once.
    let is_said = |session: &mut Session| {
        let screen = session.screen();
        let row = screen.lines().rev().nth(1);
        row.is_some_and(|row| !row.trim().is_empty())
    };
    for _ in 0..WAITS {
        if !is_said(session) {
            break;
        }
        session.output_during(Duration::from_millis(500));
    }
    assert!(!is_said(session), "{place}:\n{}", session.screen());
    while !session.output_during(Duration::from_millis(500)).is_empty() {}
    let ticks_before = ticks(session);
    let mut wake_ups = Vec::new();
    while wake_ups.last() != Some(&0) {
        assert!(wake_ups.len() < WINDOWS, "{place}: {wake_ups:?} wake-ups");
        let before = sleeps(session);
        let written = session.output_during(WATCHED);
        assert_eq!(String::from_utf8_lossy(&written), "", "{place}");
        wake_ups.push(count_wake_ups(&before, &sleeps(session)));
    }
    let ticks = ticks(session) - ticks_before;
    println!("{place}: {ticks} ticks, {wake_ups:?} wake-ups in windows of {WATCHED:?}");
    assert!(ticks <= FEW_TICKS, "{place}: {ticks} ticks");
}

#[test]
fn an_idle_console_writes_nothing_and_does_nothing() {
    let place = TempHome::new();
    let mut session = place.demo();
    assert_idle(&mut session, "the list of the demo");
    session.type_until("\r", "read at", PATIENCE);
    assert_idle(&mut session, "a group that was read");
}

/// On a file system without change events the console looks when its window gets the focus.
#[test]
fn without_file_events_a_change_is_shown_when_the_window_gets_the_focus() {
    let place = TempHome::new();
    let held = place.hold();
    let groupdesk = |arguments: &[&str]| {
        let program = held.console(place.groupdesk(arguments));
        program.env("GROUPDESK_TEST_BREAK", "error file-events none")
    };
    let mut console = groupdesk(&[]).start();
    console.wait_for("10 groups", PATIENCE);
    assert_idle(&mut console, "a console without events");
    let mut other = groupdesk(&["rotate", "acme-eu", "--yes"]).start();
    assert!(other.exit_status(PATIENCE).success());
    let unseen = console.output_during(Duration::from_millis(500));
    assert!(unseen.is_empty(), "{unseen:?}");
    console.type_until("\x1b[I", "1 group changed by ", PATIENCE);
    console.send("q");
    assert!(console.exit_status(PATIENCE).success());
    let output = String::from_utf8_lossy(console.raw_output()).into_owned();
    let found = |what: &str| output.rfind(what).unwrap_or_else(|| panic!("no {what:?}"));
    assert!(found("\x1b[?1004h") < found("\x1b[?1004l"));
}

/// A write of another process is noticed, and after it the console sleeps again.
#[test]
fn a_change_by_another_process_is_shown_and_costs_nothing_afterwards() {
    let place = TempHome::new();
    let held = place.hold();
    let groupdesk = |arguments: &[&str]| held.console(place.groupdesk(arguments));
    let mut console = groupdesk(&[]).start();
    console.wait_for("10 groups", PATIENCE);
    assert_comes_to_rest(&mut console, "a console that watches");
    let mut other = groupdesk(&["rotate", "acme-eu", "--yes"]).start();
    let status = other.exit_status(PATIENCE);
    assert!(status.success(), "{status:?}");
    console.wait_for("1 group changed by ", PATIENCE);
    console.wait_for("acme-eu (token)", PATIENCE);
    assert_idle(&mut console, "a console that has seen a change");
}
