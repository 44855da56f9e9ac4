//! Questions on a real terminal: the typed answer decides, and a wrong id changes nothing.

use std::time::Duration;

use serde_json::Value;

use super::{
    guards::knowing_acme,
    program::{Home, Line},
};
use crate::support::{assertions::assert_has, faults::Fault, pty::Program};

/// A command that asks more than expected is not waited for longer.
const DEADLINE: Duration = Duration::from_mins(1);

/// Whether the text shown so far asks for the next answer.
pub(super) type Asks<'a> = &'a dyn Fn(&str) -> bool;

/// Runs the command on a terminal, types a line once it asks, and returns the screen's text and the exit code.
pub(super) fn answer_with_line(
    home: &Home,
    arguments: &(impl Line + ?Sized),
    line: &str,
) -> (String, Option<i32>) {
    let asks = |text: &str| {
        ["[y/N]", "to confirm:", "not shown"]
            .iter()
            .any(|question| text.contains(question))
    };
    dialogue_by(home, arguments, &[(&asks, line)])
}

/// Runs the command on a terminal without typing anything.
pub(super) fn unasked(home: &Home, arguments: &(impl Line + ?Sized)) -> (String, Option<i32>) {
    dialogue_by(home, arguments, &[])
}

/// Runs the command on a terminal: waits for each text, one after the other, and types its answer.
pub(super) fn dialogue(
    home: &Home,
    arguments: &(impl Line + ?Sized),
    steps: &[(&str, &str)],
) -> (String, Option<i32>) {
    let tests: Vec<_> = steps
        .iter()
        .map(|(question, _)| move |text: &str| text.contains(question))
        .collect();
    let steps: Vec<_> = tests
        .iter()
        .zip(steps)
        .map(|(test, (_, line))| (test as Asks<'_>, *line))
        .collect();
    dialogue_by(home, arguments, &steps)
}

/// As [`dialogue`], deciding from the text shown since the last answer.
pub(super) fn dialogue_by(
    home: &Home,
    arguments: &(impl Line + ?Sized),
    steps: &[(Asks<'_>, &str)],
) -> (String, Option<i32>) {
    let mut session = Program::of(home.command(arguments).as_std()).start();
    // The position from which the next question is searched for.
    let mut from = 0;
    for (asks, line) in steps {
        session.wait_until_written(from, DEADLINE, asks);
        from = session.raw_output().len();
        session.send(line);
    }
    let code = session.exit_status(DEADLINE).code();
    let shown = String::from_utf8_lossy(session.raw_output()).into_owned();
    (shown, code)
}

#[tokio::test(flavor = "multi_thread")]
async fn production_asks_for_the_id_and_testing_for_a_yes() {
    let (home, _held) = Home::in_demo().await;
    let fingerprint = |shown: &Value| shown["fingerprint"].clone();
    let production = "show acme-eu -P production";
    let before = fingerprint(&home.json(0, production).await);
    let rotate = "rotate acme-eu -P production";
    for wrong in ["y\n", "acme-us\n", "\n", "\u{4}"] {
        let (shown, code) = answer_with_line(&home, rotate, wrong);
        assert_eq!(code, Some(3), "{shown}");
        assert_has(&shown, "PRODUCTION production http://");
        assert_has(&shown, "not confirmed");
    }
    assert_eq!(fingerprint(&home.json(0, production).await), before);
    let (shown, code) = answer_with_line(&home, rotate, "acme-eu\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("confirmed: fingerprint"), "{shown}");
    assert_ne!(fingerprint(&home.json(0, production).await), before);

    let update = "update acme-eu --map 40=5";
    let (shown, code) = answer_with_line(&home, update, "n\n");
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("~ mapping 40: 213 -> 5"), "{shown}");
    let (shown, code) = answer_with_line(&home, update, "y\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown
            .lines()
            .all(|line| line.trim_end().chars().count() <= 80),
        "{shown}"
    );
}

/// A terminal drops what is behind the 4,095th byte of a line.
#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_line_that_the_terminal_cuts_is_not_searched() {
    let (home, _held) = Home::in_demo().await;
    let long = "x ".repeat(2_500);
    let (shown, code) = answer_with_line(&home, "whose", &format!("{long}\n"));
    assert_eq!(code, Some(2), "{shown}");
    assert_has(&shown, "keeps only 4095 bytes of a line");
    let unknown = format!("{}\n", "5f".repeat(32));
    let (shown, code) = answer_with_line(&home, "whose", &unknown);
    assert_eq!(code, Some(1), "{shown}");
}

/// As in the console: what brings back old values asks one level more, in production for words.
#[tokio::test(flavor = "multi_thread")]
async fn undoing_in_production_asks_for_words() {
    let (home, _held) = Home::in_demo().await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("testing", "Update \"acme-eu\"? [y/N]", "y\n"),
        ("production", "Type \"update acme-eu in production\" to confirm:", "update acme-eu in production\n"),
    ];
    for (profile, question, agreed) in table {
        let in_profile = |words: &[&'static str]| [words, &["-P", profile]].concat();
        let change = in_profile(&["update", "acme-eu", "--name", "Acme 2", "--yes"]);
        let ran = home.run(&change).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let undo = in_profile(&["history", "restore", "acme-eu"]);
        for (typed, code) in [("acme-eu\n", 3), (agreed, 0)] {
            let (shown, ended) = answer_with_line(&home, &undo, typed);
            assert_eq!(ended, Some(code), "{shown}");
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_has(&shown, question);
        }
    }
}

/// `--exists` vouches for an ID, so only one that looks mistyped is asked about, as `create` names it.
#[tokio::test]
async fn a_read_that_may_create_a_mistyped_id_asks_first() {
    let (home, _held) = Home::in_demo().await;
    let (similar, creates) = (
        "! similar known IDs: \"acme-eu\"",
        "If the group does not exist, reading it creates it",
    );
    let get = "get acme-eux --exists";
    let ran = home.exits(3, get).await;
    ran.says(similar).says("confirmation required");
    for line in [get, "update acme-eux --name x --exists"] {
        let (shown, code) = answer_with_line(&home, line, "n\n");
        assert_has(&shown, similar);
        assert_has(&shown, creates);
        assert_eq!(code, Some(3), "{shown}");
    }
    let (shown, code) = answer_with_line(&home, "rotate acme-eux --exists", "n\n");
    assert_has(&shown, similar);
    assert_has(&shown, creates);
    assert_eq!(code, Some(3), "{shown}");
    home.exits(3, "show acme-eux")
        .await
        .says("not in the directory");
    // What resembles nothing is read at once.
    home.run("get zzz-new --exists")
        .await
        .says("CREATED")
        .hides(similar);
    let ran = home.run(&format!("{get} --yes")).await;
    ran.says(similar).says("CREATED");
}

/// As a run does, a command with one request says what it waits for; once, and not in a file.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_wait_is_said_on_a_terminal() {
    let (home, _service) = knowing_acme(vec![Fault::Hang]).await;
    let steps = [("waiting for the service (Ctrl-C stops)", "\u{3}")];
    let (shown, code) = dialogue(&home, "get acme", &steps);
    assert_eq!(code, Some(130), "{shown}");
    assert_eq!(shown.matches("waiting for").count(), 1, "{shown}");
}
