//! A command whose check fails writes nothing: no line of the configuration, no row of the directory, no file. Its exit code
//! is one that its help page names.

use std::{collections::BTreeMap, fs, net::TcpListener, path::PathBuf};

use futures_util::future::join_all;
use rusqlite::{Connection, types::Value};

use super::{
    help::pages,
    places::served,
    program::{Home, files},
};
use crate::support::assertions::assert_has;

/// Every row of a database.
fn rows(file: &std::path::Path) -> BTreeMap<String, Vec<Vec<Value>>> {
    let raw = Connection::open(file).expect("a connection");
    let mut tables = raw
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .expect("SQL");
    let tables = tables.query_map([], |row| row.get::<_, String>(0));
    let tables = tables.expect("SQL").map(|name| name.expect("a name"));
    let all = tables.map(|table| {
        let mut text = raw.prepare(&format!("SELECT * FROM {table}")).expect("SQL");
        let columns = text.column_count();
        let found = text.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
        let found = found.expect("SQL").map(|row| row.expect("a row"));
        (table, found.collect())
    });
    all.collect()
}

/// The files of a home with their contents, without those of databases in use, whose rows are compared.
fn contents(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = files(home.folder.path()).into_iter();
    let all = all.filter(|file| {
        let name = file.file_name().expect("a name").to_string_lossy();
        // A text that was typed and is not used is kept in a file of its own.
        !["service.db", "directory.db", "groupdesk-"]
            .iter()
            .any(|other| name.starts_with(other))
    });
    all.map(|file| (file.clone(), fs::read(&file).expect("readable")))
        .collect()
}

/// The exit codes that a help page names; empty if it names none of its own.
fn named_codes(help: &str) -> Vec<i32> {
    let Some((_, codes)) = help.split_once("Exit codes: ") else {
        return Vec::new();
    };
    let codes = codes.split("\n\n").next().unwrap_or_default();
    let words = codes.split(|c: char| !c.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_check_fails_writes_nothing_and_ends_as_its_help_says() {
    let (mut home, _serving, url) = served().await;
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("bound").to_string();
    home.set("BAD_KEY", "0123456789abcdef");
    let junk = home.write("junk", "no database");
    let broken = home.write("broken.toml", "x = [");
    let editor = home.write("editor", "#!/bin/sh\nsed -i s/base_url/basis/ \"$1\"\n");
    home.set("EDITOR", format!("sh {editor}"));
    let none = home.at("none.db");
    let copy = home.at("copy.db");
    let in_none = home.at("no/such");
    let nowhere = "postgres://ana@127.0.0.1:1/desk?sslmode=disable";
    let add = ["profile", "add", "eu", "--api-key-env"];
    let with = |more: &[&'static str]| -> Vec<String> {
        let all = add.iter().chain(more).map(|word| (*word).to_owned());
        all.chain(["--base-url".into(), url.clone()]).collect()
    };
    let of = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    #[rustfmt::skip] // A table: one case per line.
    let table: Vec<(Vec<String>, i32, &str)> = vec![
        (of(&[&add[..], &["LIVE_KEY", "--base-url", "http://127.0.0.1:1"]].concat()), 1, "the profile was not saved"),
        (of(&[&add[..], &["LIVE_KEY", "--base-url", "https://127.0.0.1:1", "--yes"]].concat()), 1, "the profile was not saved"),
        (with(&["BAD_KEY"]), 1, "the profile was not saved"),
        (with(&["NOT_SET", "--yes"]), 1, "the profile was not saved"),
        (with(&["LIVE_KEY", "--yes", "--ca-file", "/no/such/ca.pem"]), 1, "the profile was not saved"),
        (with(&["BAD_KEY", "--dry-run"]), 1, "does not accept the API key"),
        (with(&["LIVE_KEY", "--same-environment", "nowhere"]), 2, "nothing was changed"),
        (with(&["LIVE_KEY", "--same-environment", "nowhere", "--no-check"]), 2, "nothing was changed"),
        (of(&["config", "edit"]), 2, "basis"),
        (of(&["profile", "rename", "nobody", "x"]), 2, "not found"),
        (of(&["profile", "remove", "live"]), 3, "nothing was changed"),
        (of(&["profile", "behaviour", "nobody", "--sole-writer", "yes"]), 2, "not found"),
        (of(&["profile", "bind", "live", "--same-environment", "nowhere"]), 2, "nothing was changed"),
        (of(&["profile", "key", "live"]), 2, "comes from"),
        (of(&["profile", "check", "nobody"]), 2, "not found"),
        (of(&[&["--config", &in_none][..], &add[..], &["LIVE_KEY", "--base-url", "http://127.0.0.1:1", "--no-check"]].concat()), 2, "does not exist"),
        (of(&["--config", &broken, "config", "validate"]), 2, "broken.toml:1"),
        (of(&["--config", &broken, "doctor"]), 2, "broken.toml:1"),
        (of(&["--directory", &junk, "doctor"]), 2, "junk"),
        (of(&["--directory", &junk, "list"]), 2, "not a directory of groupdesk"),
        (of(&["directory", "backup", &in_none]), 2, "no/such"),
        (of(&["directory", "backup", &junk]), 2, "junk"),
        (of(&["directory", "copy", nowhere, &copy]), 8, "cannot be reached"),
        (of(&["directory", "copy", &junk, nowhere]), 2, "not a directory of groupdesk"),
        (of(&["directory", "init", nowhere]), 8, "cannot be reached"),
        (of(&["directory", "migrate"]), 2, "is a file"),
        (of(&["directory", "grant", "ben", "operator"]), 2, "is a file"),
        (of(&["serve", "check", "--database", &none]), 2, "no database"),
        (of(&["serve", "check", "--database", &junk]), 2, "not a database"),
        (of(&["serve", "backup", &copy, "--database", &none]), 2, "no database"),
        (of(&["serve", "backup", &copy, "--database", &junk]), 2, "not a database"),
        (of(&["serve", "keys", "list", "--database", &none]), 2, "no database"),
        (of(&["serve", "keys", "revoke", "3", "--database", &none]), 2, "no database"),
        (of(&["serve", "keys", "create", "--environment", "x", "--expires", "2020-01-01", "--database", &none]), 2, "expired"),
        (of(&["serve", "keys", "create", "--environment", "", "--database", &none]), 2, "environment"),
        (of(&["serve", "--listen", &taken, "--database", &none]), 2, "cannot listen"),
        (of(&["serve", "--listen", "127.0.0.1:0", "--metrics", &taken, "--database", &none]), 2, "cannot listen"),
        (of(&["serve", "--listen", "127.0.0.1:0", "--database", &in_none]), 2, "does not exist"),
        (of(&["serve", "keys", "create", "--environment", "x", "--database", &in_none]), 2, "does not exist"),
        (of(&["serve", "init", "--storage", nowhere]), 2, "nothing was changed"),
        (of(&["environment", "rename", "nobody", "x"]), 2, "nothing was changed"),
        (of(&["environment", "merge", "nobody", "live", "--yes"]), 2, "nothing was changed"),
        (of(&["environment", "merge", "live", "live"]), 2, "nothing was changed"),
        (of(&["environment", "acknowledge", "live", "--reason", "x"]), 2, "no alarm"),
        (of(&["import", &none]), 2, "nothing was changed"),
        (of(&["apply", &none]), 2, "nothing was changed"),
    ];
    let directory = home.path(".local/share/groupdesk/directory.db");
    let before = (contents(&home), rows(&directory));
    let helps: BTreeMap<_, _> = pages().collect();
    // Those that wait for a server do it at the same time.
    let is_waiting = |case: &(Vec<String>, i32, &str)| case.0.iter().any(|word| word == nowhere);
    let (waiting, others): (Vec<_>, Vec<_>) = table.into_iter().partition(is_waiting);
    for cases in others.chunks(1).chain([&*waiting]) {
        let ran = cases.iter().map(async |(command, ..)| {
            let command: Vec<_> = command.iter().map(String::as_str).collect();
            home.run(&command).await
        });
        let ran = join_all(ran).await;
        let after = (contents(&home), rows(&directory));
        for (ran, (command, code, words)) in ran.into_iter().zip(cases) {
            let told = ran.all();
            assert_eq!(ran.code, *code, "{command:?}: {told}");
            assert_has(&told, words);
            for (file, text) in &before.0 {
                let is_kept = after.0.get(file) == Some(text);
                assert!(is_kept, "{command:?} changed {file:?}: {told}");
            }
            let files = after.0.keys();
            assert_eq!(files.len(), before.0.len(), "{command:?}: {files:?}");
            assert_eq!(after.1, before.1, "{command:?} wrote rows: {told}");
            let names = command.iter().take_while(|word| !word.starts_with('-'));
            let names: Vec<_> = names.map(String::as_str).collect();
            let mut lengths = (1..=names.len().min(2)).rev();
            let help = lengths.find_map(|length| helps.get(&*names[..length].join(" ")));
            let named = help.map(|help| named_codes(help)).unwrap_or_default();
            // Usage and the confirmation have their codes everywhere.
            let is_named = named.is_empty() || [2, 3].contains(code) || named.contains(code);
            assert!(is_named, "{command:?} ends with {code}, not {named:?}");
        }
    }
}

/// A copy leaves one file, and a failed one none.
#[tokio::test]
async fn a_copy_of_the_database_of_a_service_leaves_nothing_beside_it() {
    let home = Home::new();
    for folder in ["copies", "data"] {
        fs::create_dir(home.path(folder)).expect("created");
    }
    let database = home.at("data/service.db");
    let to = home.at("copies/service.db");
    for command in [
        &["serve", "keys", "create", "--environment", "live"][..],
        &["serve", "backup", &to],
    ] {
        home.exits(0, &[command, &["--database", &database]].concat())
            .await;
    }
    assert_eq!(files(&home.path("copies")), [PathBuf::from(to)]);
}
