//! Questions on a real terminal: what is typed decides, and a wrong id changes nothing.

use std::{
    io::{Read, Write},
    process::Child,
};

use serde_json::Value;

use super::desk::Desk;

/// Runs the command on a terminal, types a line once it asks, and returns what was shown and the exit code.
pub(super) fn typed(desk: &Desk, arguments: &[&str], line: &str) -> (String, Option<i32>) {
    let (mut terminal, pts) = pty_process::blocking::open().expect("a terminal");
    terminal
        .resize(pty_process::Size::new(24, 80))
        .expect("resized");
    let prepared = desk.command(arguments);
    let prepared = prepared.as_std();
    let mut command = pty_process::blocking::Command::new(prepared.get_program())
        .args(prepared.get_args())
        .env_clear()
        .current_dir(desk.folder.path());
    for (name, value) in prepared.get_envs() {
        command = command.env(name, value.expect("set"));
    }
    let mut child: Child = command.spawn(pts).expect("it starts");
    let mut shown = Vec::new();
    let mut answered = false;
    let mut buffer = [0; 1024];
    // The end of a terminal is an error on Linux.
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&shown);
        if !answered
            && (text.contains("[y/N]") || text.contains("to go on:") || text.contains("not shown"))
        {
            terminal.write_all(line.as_bytes()).expect("typed");
            answered = true;
        }
    }
    let code = child.wait().expect("it ran").code();
    (String::from_utf8_lossy(&shown).into_owned(), code)
}

#[tokio::test(flavor = "multi_thread")]
async fn production_asks_for_the_id_and_testing_for_a_yes() {
    let mut desk = Desk::new();
    let _held = desk.hold_demo().await;
    let fingerprint = |shown: &Value| shown["fingerprint"].clone();
    let production = ["show", "acme-eu", "-P", "production"];
    let before = fingerprint(&desk.json(0, &production).await);
    let rotate = ["rotate", "acme-eu", "-P", "production"];
    for wrong in ["y\n", "acme-us\n", "\n", "\u{4}"] {
        let (shown, code) = typed(&desk, &rotate, wrong);
        assert_eq!(code, Some(3), "{shown}");
        assert!(
            shown.contains("PRODUCTION production http://") && shown.contains("not confirmed"),
            "{shown}"
        );
    }
    assert_eq!(fingerprint(&desk.json(0, &production).await), before);
    let (shown, code) = typed(&desk, &rotate, "acme-eu\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("confirmed: token"), "{shown}");
    assert_ne!(fingerprint(&desk.json(0, &production).await), before);

    let update = ["update", "acme-eu", "--map", "40=5"];
    let (shown, code) = typed(&desk, &update, "n\n");
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("~ mapping 40: 213 -> 5"), "{shown}");
    let (shown, code) = typed(&desk, &update, "y\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown
            .lines()
            .all(|line| line.trim_end().chars().count() <= 80),
        "{shown}"
    );
}
