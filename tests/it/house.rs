//! The rules of the code base, checked by reading the sources: dependencies between rooms, circular dependencies, file
//! length, and forbidden content. The checker is also tested with bad lines, about which it must complain.

mod circles;
pub(crate) mod citations;
mod dependencies;
mod fingerprints;
mod floors;
mod readers;
mod rules;
mod source;
mod timestamps;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

use rules::{complaints, warning};

/// Every Rust file below `src` and `tests`, by its path inside the crate.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<PathBuf> = ["src", "tests"].map(|folder| root.join(folder)).into();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).expect("below the root");
                let text = fs::read_to_string(&path).expect("UTF-8");
                files.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_file_keeps_the_rules() {
    let files = files();
    assert!(
        files.iter().any(|(file, _)| file == "src/lib.rs"),
        "the sources were found"
    );
    for warning in files.iter().filter_map(|(file, text)| warning(file, text)) {
        eprintln!("warning: {warning}");
    }
    let complaints: Vec<_> = files
        .iter()
        .flat_map(|(file, text)| complaints(file, text))
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn the_checker_sees_the_arrows_that_are_there() {
    let rooms = ["src/config/", "src/directory/"];
    let is_of_rooms = |file: &str| rooms.iter().any(|room| file.starts_with(room));
    let arrows: Vec<_> = files()
        .iter()
        .filter(|(file, _)| is_of_rooms(file))
        .flat_map(|(file, text)| rules::arrows(file, text))
        .collect();
    for arrow in ["config -> domain", "directory -> domain"] {
        assert!(
            arrows.iter().any(|seen| seen == arrow),
            "{arrow} is not among {arrows:?}"
        );
    }
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let found = circles::circles(&files());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn a_forbidden_arrow_is_found_however_it_is_written() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("src/domain/group.rs", "use crate::config::Profile;"),
        ("src/domain/group.rs", "use super::super::api::wire;"),
        ("src/domain.rs", "use super::config;"),
        ("src/domain/group.rs", "fn f() { crate::config::files::private_file(p) }"),
        ("src/domain/group.rs", "use crate::{domain::{text, token::Token}, operations::Failure};"),
        ("src/domain/group.rs", "use crate::{\n    domain,\n    api as wires,\n};"),
        ("src/domain/group.rs", "use crate::*;"),
        ("src/domain.rs", "use super::*;"),
        ("src/domain/group.rs", "mod tests { use super::super::super::tui::App; }"),
        ("src/domain/group.rs", "#[cfg(test)] mod tests { use crate::service; }"),
        ("src/domain/group.rs", "let x: Vec<crate::api::Client> = y;"),
        ("src/domain/group.rs", "use groupdesk::api;"),
        ("src/main.rs", "groupdesk::tui::run();"),
        ("src/tui/panes/list.rs", "use crate::api::client::Client;"),
        ("src/tui/runtime/jobs.rs", "use crate::directory;"),
        ("src/operations.rs", "use crate::service;"),
        ("src/api/client.rs", "use crate::directory::Record;"),
        ("src/directory/sql.rs", "use crate::config::Settings;"),
        ("src/directory/sql.rs", "use crate::config::*;"),
        ("src/directory/sql.rs", "use crate::config;"),
        ("src/service.rs", "use crate::api::answer::judge;"),
        ("src/service.rs", "use crate::api::{wire, client};"),
        ("src/service.rs", "use crate::domain::group::UserGroupId;"),
        ("src/config/file.rs", "use crate::api::wire::DEFAULT_PATH;"),
        ("src/cli.rs", "use crate::cellar::Wine;"),
        ("src/attic/mod.rs", "use crate::domain;"),
    ];
    for (file, line) in table {
        assert_complains(file, line, "must not use");
    }
}

#[test]
fn a_crate_in_the_wrong_room_is_found() {
    for (file, line) in [
        ("src/operations.rs", "use rusqlite::Connection;"),
        ("src/cli.rs", "fn f(c: ::rusqlite::Connection) {}"),
        ("src/cli.rs", "use {ratatui::text::Line, std::io};"),
        ("src/cli.rs", "extern crate crossterm;"),
        ("src/operations.rs", "use crossterm as c;"),
        ("src/operations.rs", "use ratatui_textarea::TextArea;"),
        ("src/operations.rs", "use tui_input::Input;"),
        ("src/service.rs", "reqwest::Client::new();"),
        ("src/api/client.rs", "use axum::Router;"),
        ("src/domain/known.rs", "#[tokio::test] async fn f() {}"),
        ("src/domain/known.rs", "use std::{fs, fmt};"),
        (
            "src/domain/known.rs",
            "let now = std::time::Instant::now();",
        ),
        ("src/domain/known.rs", "let now = Timestamp::now();"),
    ] {
        assert_complains(file, line, "must not use");
    }
}

#[test]
fn a_time_or_a_folder_that_tests_cannot_choose_is_found() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("src/cli/commands/whose.rs", "let now = jiff::Timestamp::now();", "must ask a Clock"),
        ("src/tui.rs", "let now = SystemTime::now();", "must ask a Clock"),
        ("src/cli.rs", r#"env::var("GROUPDESK_TEST_X");"#, "must stand under"),
        ("tests/it/cli/desk.rs", "command.env_clear().env(a, b);", "must pass clock::outer()"),
        ("tests/it/cli/desk.rs", "let folder = tempfile::tempdir();", "must ask tests/it/support/folder.rs"),
    ];
    for (file, line, complaint) in table {
        assert_complains(file, line, complaint);
    }
}

#[test]
fn what_is_allowed_passes() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("src/main.rs", "fn main() { groupdesk::cli::main() }"),
        ("src/cli.rs", "use crate::{api, config::Settings, directory, domain, operations, service, tui};"),
        ("src/tui.rs", "use ratatui::{Frame, text::Line}; use crate::operations::Failure; use super::config;"),
        ("src/service.rs", "use crate::{api::wire::{self, Answer}, platform::private_files}; use rusqlite::Connection;"),
        ("src/service/storage.rs", "use super::keys; pub(crate) fn f() {} use self::rows::*; use axum::Json;"),
        ("src/directory.rs", "use crate::platform::private_files::create; use crate::domain::*;"),
        ("src/domain.rs", "mod tests { use super::*; } use std::{fmt, time::Duration}; use jiff::Timestamp;"),
        ("src/domain/text.rs", "// use crate::api;\n/* crate::tui /* nested */ crate::cli */ fn f<'a>(x: &'a str) {}"),
        ("src/domain/text.rs", r##"let x = ("crate::api", r#"use "crate::tui"#, b"\"crate::cli", '"', '\'', "rusqlite::x");"##),
        ("tests/it/world.rs", "use groupdesk::{api, service}; use rusqlite::Connection; tokio::time::sleep(d);"),
    ];
    for (file, line) in table {
        let text = format!("//! Head.\n{line}\n");
        assert_eq!(complaints(file, &text), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn what_may_not_stand_in_a_file_is_found() {
    for (line, words) in [
        ("fn f() { todo!() }", "todo"),
        ("fn f() { std::unimplemented ! (\"x\") }", "unimplemented"),
        ("#[test]\n#[ignore]\nfn f() {}", "ignore"),
        ("#[ignore = \"slow\"]", "ignore"),
        ("#[cfg_attr(unix, ignore)]", "ignore"),
        ("std::thread::sleep(d);", "sleep"),
        ("use std::thread::{self, sleep};", "sleep"),
        ("thread::sleep(d);", "sleep"),
        ("eventually(w, || server.execute(s, t) == x);", "session"),
    ] {
        assert_complains("src/tui.rs", line, words);
        assert_complains("tests/it/pty.rs", line, words);
    }
    let fine =
        "//! Head.\n// todo!()\nfn ignore(todo: bool) { ignore(todo) } let x = (a, ignore);\n";
    assert_eq!(complaints("src/tui.rs", fine), Vec::<String>::new());
}

#[test]
fn heads_and_lengths_are_checked() {
    assert_eq!(
        complaints("src/tui/state/app.rs", "use std::fmt;\n").len(),
        1
    );
    assert_eq!(complaints("tests/it/pty.rs", "// Head.\n").len(), 1);
    let line = "const X: u8 = 1;\n";
    let file = |lines: usize| format!("//! Head.\n{}", line.repeat(lines - 1));
    assert!(warning("src/tui/state/app.rs", &file(400)).is_none());
    assert!(warning("src/tui/state/app.rs", &file(401)).is_some());
    assert!(complaints("src/tui/state/app.rs", &file(600)).is_empty());
    assert_eq!(complaints("src/tui/state/app.rs", &file(601)).len(), 1);
}

#[test]
fn a_complaint_names_file_and_line() {
    let text = "//! Head.\n\nuse std::fmt;\nuse crate::{\n    tui,\n};\n";
    let expected = "src/domain/a.rs:5: domain must not use crate::tui";
    assert_eq!(complaints("src/domain/a.rs", text), [expected]);
}

#[track_caller]
fn assert_complains(file: &str, line: &str, words: &str) {
    let found = complaints(file, &format!("//! Head.\n{line}\n"));
    assert!(
        found.iter().any(|complaint| complaint.contains(words)),
        "{file}: {line}: {found:?}"
    );
}
