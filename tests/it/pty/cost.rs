//! How much a key writes to the terminal: bytes are counted instead of time, so that the same screen gives the same
//! number.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::prelude::*;

/// Silence after which nothing more is under way, such as the start or a draft being saved.
const SILENCE: Duration = Duration::from_millis(300);
/// Silence after which a frame is complete; a frame is written at once.
const FRAME: Duration = Duration::from_millis(30);

/// Bytes written after a key until the screen shows a text and nothing more follows, so that the next key starts in
/// silence.
#[track_caller]
fn cost(session: &mut Session, key: &str, shows: &str, silence: Duration) -> usize {
    let before = session.raw_output().len();
    session.type_until(key, shows, PATIENCE);
    while !session.output_during(silence).is_empty() {}
    session.raw_output().len() - before
}

/// The row of the cursor.
fn cursor_row(screen: &vt100::Screen) -> String {
    let contents = screen.contents();
    let row = contents.lines().find(|line| line.starts_with('>'));
    row.unwrap_or_default().trim_end().to_owned()
}

/// As [`cost`], until the cursor is on another row.
#[track_caller]
fn cost_of_move(session: &mut Session, key: &str) -> usize {
    // Counted first, because on a busy machine part of the frame may come while waiting.
    let before = session.raw_output().len();
    let mut row = String::new();
    session.wait_until("a cursor", PATIENCE, |screen| {
        row = cursor_row(screen);
        !row.is_empty()
    });
    session.send(key);
    session.wait_until("another row", PATIENCE, |screen| cursor_row(screen) != row);
    while !session.output_during(FRAME).is_empty() {}
    session.raw_output().len() - before
}

/// Rows and columns: details below the list, beside it, and with more room than they need.
const SIZES: [(u16, u16); 3] = [(24, 80), (40, 120), (50, 160)];

/// On a busy machine the rest of something may come after the silence, and is counted with the next key. What a key
/// costs shows in every try.
const TRIES: usize = 3;

/// Runs the test at all sizes in parallel, because it mostly waits for silence.
fn in_each_size(test: impl Fn(u16, u16) + Sync) {
    let tried = |rows, columns| {
        let once = || catch_unwind(AssertUnwindSafe(|| test(rows, columns)));
        let failed = (1..TRIES).all(|_| once().is_err());
        if failed {
            test(rows, columns);
        }
    };
    std::thread::scope(|scope| {
        for (rows, columns) in SIZES {
            let tried = &tried;
            scope.spawn(move || tried(rows, columns));
        }
    });
}

/// Waits until nothing more is written.
fn settle(session: &mut Session) {
    while !session.output_during(SILENCE).is_empty() {}
}

#[test]
fn a_cursor_move_writes_few_bytes_whatever_it_shows() {
    in_each_size(|rows, columns| {
        let place = TempHome::new();
        let demo = place.groupdesk(&["demo"]).size(rows, columns);
        let mut session = demo.start();
        session.wait_for(FIRST, PATIENCE);
        // Between two groups everything that differs is written: long names, other schemas, unknown values.
        let there = (2..=10).map(|row| ("j", row));
        let back = (1..=9).rev().map(|row| ("k", row));
        settle(&mut session);
        for (key, row) in there.chain(back) {
            let bytes = cost_of_move(&mut session, key);
            let what = format!("{columns}x{rows}, row {row}: {bytes} bytes");
            assert!((1..1_200).contains(&bytes), "{what}");
        }
        session.send("d");
        session.wait_for_no("d hide", PATIENCE);
        settle(&mut session);
        let bytes = cost_of_move(&mut session, "j");
        // Also where a row has all its columns and their colours.
        assert!(
            (1..=250).contains(&bytes),
            "{columns}: no details: {bytes} bytes"
        );
    });
}

#[test]
fn the_list_does_not_scroll_until_the_cursor_nears_its_edge() {
    in_each_size(|rows, columns| {
        let place = TempHome::new();
        let demo = place.groupdesk(&["demo", "--groups", "200"]);
        let mut session = demo.size(rows, columns).start();
        session.wait_for("200 groups", PATIENCE);
        let still = if columns < 100 {
            8
        } else {
            usize::from(rows) - 10
        };
        settle(&mut session);
        for row in 2..=still {
            let bytes = cost_of_move(&mut session, "j");
            let what = format!("{columns}x{rows}, row {row}: {bytes} bytes");
            assert!((1..1_200).contains(&bytes), "{what}");
        }
        // Beside the details the terminal cannot scroll the rows alone.
        let limit = if columns < 100 { 650 } else { 2_200 };
        for row in still + 1..=still + 8 {
            let bytes = cost_of_move(&mut session, "j");
            let what = format!("{columns}x{rows}, row {row}: {bytes} bytes");
            assert!((1..=limit).contains(&bytes), "{what}");
        }
        for row in (still + 2..still + 8).rev() {
            let bytes = cost_of_move(&mut session, "k");
            let what = format!("{columns}x{rows}, back to {row}: {bytes} bytes");
            assert!((1..1_200).contains(&bytes), "{what}");
        }
    });
}

/// Edits the name of the group that many rows below the first; `limits` are those of the letters q, w and z.
fn letters_write_few_bytes(down: usize, title: &str, name: &str, limits: [usize; 3]) {
    in_each_size(|rows, columns| {
        let place = TempHome::new();
        let mut session = place.groupdesk(&["demo"]).size(rows, columns).start();
        session.wait_for(FIRST, PATIENCE);
        for _ in 0..down {
            cost_of_move(&mut session, "j");
        }
        session.type_until("e", title, PATIENCE);
        settle(&mut session);
        let mut typed = name.to_owned();
        for (letter, limit) in ["q", "w", "z"].into_iter().zip(limits) {
            typed.push_str(letter);
            let bytes = cost(&mut session, letter, &typed, SILENCE);
            let what = format!("{title}, {columns}x{rows}, {letter}: {bytes} bytes");
            assert!((1..limit).contains(&bytes), "{what}");
        }
    });
}

#[test]
fn a_letter_writes_few_bytes() {
    // The first letter adds the signs for a change, and its description.
    letters_write_few_bytes(2, "Edit brasserie-zoe", "(test)", [200, 200, 200]);
    // A long name scrolls in its field with every letter, and the first letter adds two lines about the change.
    letters_write_few_bytes(7, "Edit municipal-water", "Land (test)", [300, 200, 200]);
}

/// A terminal that does not know a query may print it; the query for the background is known where there are 256
/// colours.
#[test]
fn the_terminal_is_asked_for_its_background_only() {
    let place = TempHome::new();
    let mut session = place
        .groupdesk(&["demo"])
        .env("TERM", "xterm-kitty")
        .start();
    session.wait_for(FIRST, PATIENCE);
    settle(&mut session);
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    for question in [
        "\x1b[c",
        "\x1b[0c",
        "\x1b[>c",
        "\x1b[6n",
        "\x1b[5n",
        "$p",
        "\x1b]10;?",
        "\x1b]11;?",
        "\x1b[?u",
        // Nor is the mouse, which nobody has asked for.
        "\x1b[?1000h",
        "\x1bP",
    ] {
        assert!(!raw.contains(question), "{question:?}");
    }
    assert!(raw.contains("\x1b[?2026h") && raw.contains("\x1b[?2026l"));
    let mut plain = place.demo();
    plain.wait_for(FIRST, PATIENCE);
    // The query is sent after the first frame.
    let began = Instant::now();
    while !String::from_utf8_lossy(plain.raw_output()).contains("\x1b]11;?") {
        assert!(began.elapsed() < PATIENCE, "it is not asked");
        plain.output_during(FRAME);
    }
    settle(&mut plain);
    let raw = String::from_utf8_lossy(plain.raw_output()).into_owned();
    assert!(!raw.contains("2026"));
    assert_eq!(raw.matches("\x1b]").count(), 1);
}
