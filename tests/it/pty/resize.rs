//! A new size at any time: the screen is complete again, and keys work.

use super::prelude::*;

/// Waits until every row of the usual list is there, as after a start.
#[track_caller]
fn wait_for_whole(session: &mut Session) -> String {
    session.wait_until("a whole screen", PATIENCE, |screen| {
        let contents = screen.contents();
        let rows: Vec<&str> = contents.lines().collect();
        rows.len() == 24
            && rows[0].starts_with(" TESTING ")
            && rows[2].starts_with('━')
            && rows[2].ends_with('━')
            && contents.contains(FIRST)
            && rows[17].starts_with('─')
            && rows[17].ends_with('─')
            && rows[23].trim_end().ends_with("? help")
    })
}

#[test]
fn every_size_is_drawn_completely() {
    let place = TempHome::new();
    let mut session = place.demo();
    wait_for_whole(&mut session);
    session.resize(50, 160);
    session.wait_until("the whole width", PATIENCE, |screen| {
        let contents = screen.contents();
        let rows: Vec<&str> = contents.lines().collect();
        rows.len() == 50 && rows[49].ends_with("? help") && rows[49].chars().count() == 159
    });
    session.resize(8, 40);
    session.wait_until("eight rows", PATIENCE, |screen| {
        let contents = screen.contents();
        contents.contains("acme-eu")
            && contents.lines().count() == 8
            && contents.ends_with("? help")
    });
    session.resize(5, 30);
    session.wait_for("30x5, needs 40x8", PATIENCE);
    // Also without rows or columns.
    for (rows, columns) in [(0, 0), (1, 200), (0, 80), (24, 0)] {
        session.resize(rows, columns);
    }
    session.resize(24, 80);
    wait_for_whole(&mut session);
    session.type_until("?", "Help", PATIENCE);
}

/// A terminal that was smaller for a moment has lost everything beyond that size.
#[test]
fn a_size_restored_before_the_console_looks_is_drawn_again() {
    let place = TempHome::new();
    let mut session = place.demo();
    for _ in 0..15 {
        wait_for_whole(&mut session);
        session.resize(6, 20);
        session.resize(24, 80);
    }
    wait_for_whole(&mut session);
}
