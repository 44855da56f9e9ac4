//! The mouse belongs to the terminal, unless the configuration asks for it.

use super::prelude::*;

const ON: &[u8] = b"\x1b[?1000h";
const OFF: &[u8] = b"\x1b[?1000l";

fn times(session: &mut Session, bytes: &[u8]) -> usize {
    let raw = session.raw_output();
    raw.windows(bytes.len())
        .filter(|part| *part == bytes)
        .count()
}

/// A console on an existing demo, with a line added at the top of its configuration.
fn console(place: &TempHome, held: &BackgroundDemo, line: &str) -> Session {
    let text = fs::read_to_string(&held.config).expect("readable");
    // In the same folder, because the configuration has relative paths of key files.
    let config = Path::new(&held.config).with_file_name("mouse.toml");
    fs::write(&config, format!("{line}\n{text}")).expect("written");
    let mut session = place
        .groupdesk(&["--config", &config.to_string_lossy()])
        .env("GROUPDESK_DIRECTORY", held.directory.as_str())
        .start();
    session.wait_for("10 groups", PATIENCE);
    session
}

/// Waits until the cursor is on this row of the screen, counted from 1.
#[track_caller]
fn wait_for_cursor(session: &mut Session, row: usize) -> String {
    session.wait_until("the cursor", PATIENCE, |screen| {
        let contents = screen.contents();
        contents.lines().position(|line| line.starts_with('>')) == Some(row - 1)
    })
}

/// Presses and releases a button at a column and row, counted from 1.
fn press(session: &mut Session, button: u8, column: u16, row: u16) {
    session.send(format!(
        "\x1b[<{button};{column};{row}M\x1b[<{button};{column};{row}m"
    ));
}

/// A notch of the wheel, which has no release.
fn wheel(session: &mut Session, button: u8) {
    session.send(format!("\x1b[<{button};10;10M"));
}

#[test]
fn wheel_and_click_move_the_cursor_and_nothing_else() {
    let place = TempHome::new();
    let held = place.hold();
    let mut session = console(&place, &held, "mouse = true");
    session.wait_for(FIRST, PATIENCE);
    assert_eq!(times(&mut session, ON), 1);
    wheel(&mut session, 65);
    wait_for_cursor(&mut session, 8);
    wheel(&mut session, 64);
    wait_for_cursor(&mut session, 5);
    // Row 5 has the first group.
    press(&mut session, 0, 10, 7);
    wait_for_cursor(&mut session, 7);
    press(&mut session, 0, 10, 5);
    wait_for_cursor(&mut session, 5);
    let screen = session.screen();
    // Clicking a key in the footer presses it; then back.
    let keys = screen.lines().nth(23).expect("the footer");
    let edit = keys.find("e edit").expect("it is there") as u16 + 1;
    press(&mut session, 0, edit, 24);
    session.wait_for("› Edit", PATIENCE);
    session.signal(Signal::TERM);
    session.exit_status(PATIENCE);
    assert_eq!(times(&mut session, OFF), 1);
    assert_given_back(&mut session);
}
