//! A console on a real terminal that breaks at a place that only a build for tests has; at any other: `everywhere::panics`.

use super::{PATIENCE, Place, assert_given_back};

const SECRET: &str = "3fa9c1d290b1e772c04d51aa3fa9c1d2";

/// Runs the binary, which breaks at a place and gives the terminal back; what it said after that.
fn broken(variables: &[(&str, &str)], arguments: &[&str], how: &str, code: i32) -> String {
    let place = Place::new();
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
fn a_console_that_breaks_says_what_was_being_done_on_the_terminal_of_before() {
    for (how, code, words) in [
        (
            "panic console",
            101,
            "groupdesk stopped by an error of its own: ",
        ),
        ("error console", 2, "the terminal of the console failed"),
    ] {
        for (arguments, command) in [
            (&[][..], "groupdesk, the console"),
            (&["demo"], "groupdesk demo"),
        ] {
            let said = broken(&[("NO_COLOR", "1")], arguments, how, code);
            for words in [words, command] {
                assert!(said.contains(words), "{how}: {said}");
            }
        }
    }
}

/// The sequences of colours and of attributes.
fn is_painted(said: &str) -> bool {
    let mut sequences = said.split("\x1b[").skip(1);
    sequences.any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')
    })
}

#[test]
fn an_error_of_its_own_is_in_colour_only_where_colours_are_wanted() {
    for (how, code) in [("panic start", 101), ("error start", 2)] {
        assert!(is_painted(&broken(&[], &["list"], how, code)), "{how}");
        for (variables, arguments) in [
            (&[("NO_COLOR", "1")][..], &["list"][..]),
            (&[("TERM", "dumb")], &["list"]),
            (&[], &["--plain"]),
        ] {
            let said = broken(variables, arguments, how, code);
            assert!(!said.contains('\x1b'), "{how}: {variables:?} {said:?}");
        }
    }
    // The console that was asked to be plain by its configuration has no argument that says so.
    for (how, code) in [("panic console", 101), ("error console", 2)] {
        let place = Place::new();
        let config = place.below("config.toml");
        std::fs::write(&config, "plain = true\n").expect("written");
        let config = config.to_string_lossy().into_owned();
        let said = broken(&[("GROUPDESK_CONFIG", &config)], &[], how, code);
        assert!(!is_painted(&said), "{how}: {said:?}");
    }
}
