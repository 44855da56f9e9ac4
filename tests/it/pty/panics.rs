//! A console on a real terminal that panics at a place that only test builds have; for other places see
//! `everywhere::panics`.

use super::{TempHome, prelude::*};

const SECRET: &str = "3fa9c1d290b1e772c04d51aa3fa9c1d2";

/// Runs the binary, which panics at a place and restores the terminal. Returns what it printed after that.
fn run_until_panic(variables: &[(&str, &str)], arguments: &[&str], how: &str, code: i32) -> String {
    let place = TempHome::new();
    let mut program = place.groupdesk(arguments).size(24, 120);
    for (name, value) in variables {
        program = program.env(name, *value);
    }
    let message = "a cable came loose near";
    let mut session = program
        .env("GROUPDESK_TEST_BREAK", format!("{how} {message} {SECRET}"))
        .start();
    assert_eq!(session.exit_status(PATIENCE).code(), Some(code));
    assert_given_back(&mut session);
    session.assert_never_written(&SECRET[..8]);
    let screen = session.screen();
    assert!(screen.contains(message), "{screen}");
    assert!(screen.contains("What was being done:"), "{screen}");
    assert!(screen.contains("Nothing was sent."), "{screen}");
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    raw.rsplit("?1049l").next().unwrap_or_default().to_owned()
}

#[test]
fn a_panicking_console_reports_its_work_on_the_restored_terminal() {
    for (how, code, words) in [
        ("panic console", 101, "groupdesk crashed (internal error): "),
        ("error console", 2, "the terminal of the console failed"),
    ] {
        for (arguments, command) in [
            (&[][..], "groupdesk, the console"),
            (&["demo"], "groupdesk demo"),
        ] {
            let said = run_until_panic(&[("NO_COLOR", "1")], arguments, how, code);
            for words in [words, command] {
                assert!(said.contains(words), "{how}: {said}");
            }
        }
    }
}

/// Whether the text has sequences for colours or attributes.
fn is_painted(said: &str) -> bool {
    let mut sequences = said.split("\x1b[").skip(1);
    sequences.any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')
    })
}

#[test]
fn an_internal_error_is_coloured_only_if_colours_are_wanted() {
    for (how, code) in [("panic start", 101), ("error start", 2)] {
        assert!(
            is_painted(&run_until_panic(&[], &["list"], how, code)),
            "{how}"
        );
        for (variables, arguments) in [
            (&[("NO_COLOR", "1")][..], &["list"][..]),
            (&[("TERM", "dumb")], &["list"]),
            (&[], &["--plain"]),
        ] {
            let said = run_until_panic(variables, arguments, how, code);
            assert!(!said.contains('\x1b'), "{how}: {variables:?} {said:?}");
        }
    }
    // The plain mode may come from the configuration instead of an argument.
    for (how, code) in [("panic console", 101), ("error console", 2)] {
        let place = TempHome::new();
        let config = place.below("config.toml");
        std::fs::write(&config, "plain = true\n").expect("written");
        let config = config.to_string_lossy().into_owned();
        let said = run_until_panic(&[("GROUPDESK_CONFIG", &config)], &[], how, code);
        assert!(!is_painted(&said), "{how}: {said:?}");
    }
}
