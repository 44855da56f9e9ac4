//! Text from outside passes the intake (`src/intake`): nothing else reads files as text, asks for variables, decodes bytes
//! or splits lines, except for the files below, each with its reason.

use super::files;

/// What reads, decodes or splits text.
const READERS: [&str; 4] = [
    "read_to_string(",
    "env::var(",
    "String::from_utf8(",
    ".lines()",
];

/// Files and folders with text that is not from outside or has passed the intake, and why.
#[rustfmt::skip] // A table: one file per line.
const ALLOWED: [(&str, &str); 27] = [
    ("src/cli/output.rs", "splits what is printed"),
    ("src/cli/commands/contract.rs", "splits the description of the JSON, which is in the program"),
    ("src/cli/commands/run.rs", "a variable of the tests"),
    ("src/cli/output/exchanges.rs", "splits a body that is printed"),
    ("src/cli/output/form.rs", "splits what is printed"),
    ("src/cli/output/human.rs", "splits a table that is printed, and its cells; COLUMNS, a number, of the terminal"),
    ("src/cli/output/progress.rs", "splits what is printed"),
    ("src/tui/panes/connect.rs", "splits the lines of the file that it would write"),
    ("src/tui/panes/inspector.rs", "splits a body that is shown"),
    ("src/tui/panes/review/sending.rs", "splits a body that is shown"),
    ("src/tui/terminal.rs", "TERM and its like, of the terminal"),
    ("src/tui/terminal/panic.rs", "splits the message of a panic of its own"),
    ("src/cli/commands/import/shown.rs", "splits what is printed"),
    ("src/cli/commands/man.rs", "splits the manual"),
    ("src/domain/pasted", "the reader of pasted tokens, which must see every sign"),
    ("src/config/edit", "splits a file that has passed the intake"),
    ("src/config/key_command.rs", "splits what a command complained about, for the message"),
    ("src/config/new_profile.rs", "splits settings that it has written itself"),
    ("src/db/postgres/timelines.rs", "a file that groupdesk has written itself"),
    ("src/formats/csv.rs", "cells that have passed the intake"),
    ("src/formats/json.rs", "lines that have passed the intake"),
    ("src/operations/doctor/terminal.rs", "what a program of the system answers"),
    ("src/operations/failpoints.rs", "a variable of the tests"),
    ("src/operations/handoff/scrub.rs", "splits what a command complained about, for the message"),
    ("src/platform/boot_time.rs", "a file of the kernel"),
    ("src/platform/process.rs", "a file of the kernel"),
    ("src/platform/test_clock.rs", "a file of the tests"),
];

/// How often a file uses a reader outside its tests and comments.
fn uses(text: &str) -> Vec<(usize, &'static str)> {
    let body = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = body.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|(at, line)| {
            let used = READERS.iter().filter(move |reader| line.contains(**reader));
            used.map(move |reader| (at + 1, *reader))
        })
        .collect()
}

fn is_outside(file: &str) -> bool {
    let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
    let may = ALLOWED
        .iter()
        .any(|(known, _)| file == *known || is_below(file, known));
    file.starts_with("src/") && !file.starts_with("src/intake") && !is_test && !may
}

/// Of a module with a folder.
fn is_below(file: &str, folder: &str) -> bool {
    std::path::Path::new(folder).extension().is_none()
        && file
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with(['/', '.']))
}

#[test]
fn text_from_outside_passes_the_intake() {
    let mut complaints = Vec::new();
    let all = files();
    for (file, text) in all.iter().filter(|(file, _)| is_outside(file)) {
        let found = uses(text).into_iter().map(|(line, reader)| {
            format!("{file}:{line}: {reader} outside the intake; use src/intake, or add the file with a reason")
        });
        complaints.extend(found);
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    for (known, why) in ALLOWED {
        assert!(!why.is_empty(), "{known}");
        let mut named = all
            .iter()
            .filter(|(file, _)| file == known || is_below(file, known));
        assert!(
            named.any(|(_, text)| !uses(text).is_empty()),
            "{known} reads nothing: take it out of the list"
        );
    }
}

#[test]
fn a_reader_is_found_outside_tests_and_comments() {
    let text = "//! Head.\n// text.lines()\nlet x = text.lines();\nlet y = std::env::var(\"Z\");\n\
                #[cfg(test)]\nmod tests {\n    fs::read_to_string(file);\n}\n";
    assert_eq!(uses(text), [(3, ".lines()"), (4, "env::var(")]);
}
