//! The corpus of unusual texts through the shipped binary: for people escaped and aligned, for programs exact and
//! without raw control characters. CSV has no escapes: a file or a pipe gets the cells as they are, because they must
//! be read back exactly; a terminal gets them escaped.

use std::{path::Path, process::Output, time::Duration};

use serde_json::Value;

use crate::support::{
    bare::{GROUPDESK, bare},
    long,
    pty::Program,
    texts::{
        CORPUS, a_world, assert_harmless, at, found, framed, holds, id_of, is_undisputed, sendable,
        shown, wanted,
    },
    world::World,
};

const PATIENCE: Duration = Duration::from_mins(1);
const FORMATS: [&str; 3] = ["csv", "json", "jsonl"];

fn run(world: &World, directory: &Path, arguments: &[&str]) -> Output {
    bare(GROUPDESK, world.folder())
        .as_std_mut()
        .args(arguments)
        .env("TMPDIR", world.folder())
        .env("GROUPDESK_CONFIG", world.config_file())
        .env("GROUPDESK_DIRECTORY", directory)
        .output()
        .expect("it runs")
}

/// Standard output, after checking that standard error is empty.
#[track_caller]
fn stdout_of(world: &World, arguments: &[&str]) -> String {
    let output = run(world, &world.directory_file(), arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn json(world: &World, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    let text = stdout_of(world, &arguments);
    assert_harmless(&text, &format!("{arguments:?}"));
    serde_json::from_str(&text).expect("JSON")
}

/// All fields come back as they were sent.
#[track_caller]
fn assert_exact(group: &Value, number: usize) {
    let (what, text) = CORPUS[number];
    let wanted = wanted(number, text);
    assert_eq!(at(group, "/user_group_id"), id_of(number, text), "{what}");
    assert_eq!(Some(at(group, "/name")), wanted.name.as_deref(), "{what}");
    let mapping = serde_json::to_value(wanted.mapping).expect("JSON");
    assert_eq!(group["mapping"], mapping, "{what}");
    let properties = serde_json::to_value(wanted.properties).expect("JSON");
    assert_eq!(group["properties"], properties, "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_get_every_text_exactly() {
    let world = a_world().await;
    let mut count = 0;
    let list = json(&world, &["list"]);
    let export = json(&world, &["export"]);
    for groups in [&list, &export] {
        let groups = groups.as_array().expect("an array");
        assert_eq!(groups.len(), CORPUS.len());
        for (number, group) in groups.iter().enumerate() {
            assert_exact(group, number);
            count += 1;
        }
    }
    let rotations = json(&world, &["rotations"]);
    let history = json(&world, &["history"]);
    for (number, (what, text)) in CORPUS.iter().enumerate() {
        let rotation = &rotations[CORPUS.len() - 1 - number];
        assert_eq!(
            at(rotation, "/user_group_id"),
            id_of(number, text),
            "{what}"
        );
        assert_eq!(at(rotation, "/reason"), framed('R', text), "{what}");
        assert_eq!(at(rotation, "/by"), framed('O', text), "{what}");
        let lines = history.as_array().expect("an array").iter();
        let reasons = lines.filter(|line| line["reason"] == framed('R', text));
        assert!(reasons.count() >= 1, "{what}");
        count += 2;
    }
    for (number, (_, text)) in long::spread(CORPUS.iter().enumerate(), 9) {
        assert_exact(&json(&world, &["show", &id_of(number, text)]), number);
        count += 1;
    }
    println!("{count} texts for programs");
    assert!(count >= 4 * CORPUS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_bring_every_text_back() {
    let world = a_world().await;
    let mut count = 0;
    for format in FORMATS {
        let text = stdout_of(&world, &["export", "--format", format]);
        if format == "csv" {
            let rows = csv(&text);
            for (row, (number, (what, text))) in rows[1..].iter().zip(CORPUS.iter().enumerate()) {
                let wanted = wanted(number, text);
                assert_eq!(row[0], id_of(number, text), "{what}");
                assert_eq!(Some(&row[1]), wanted.name.as_ref(), "{what}");
                let mapping: Value = serde_json::from_str(&row[2]).expect("JSON");
                let text = sendable(text);
                assert_eq!(
                    at(&mapping, &pointer(&framed('K', &text))),
                    framed('V', &text)
                );
                count += 1;
            }
        } else {
            assert_harmless(&text, format);
        }
        // Into an empty directory and out again: the same bytes.
        let file = world.folder().join(format!("all.{format}"));
        std::fs::write(&file, &text).expect("written");
        let empty = world.folder().join(format!("{format}.db"));
        let imported = run(&world, &empty, &["import", &file.to_string_lossy()]);
        let error = String::from_utf8_lossy(&imported.stderr);
        assert!(imported.status.success(), "{error}");
        assert_harmless(&error, "import");
        let again = run(&world, &empty, &["export", "--format", format]);
        assert!(
            again.stdout == text.as_bytes(),
            "{format} changed on its way"
        );
        count += CORPUS.len();
    }
    println!("{count} texts in files");
    assert_eq!(count, 4 * CORPUS.len());
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Records by RFC 4180, parsed by independent code.
fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let row = rows.last_mut().expect("one");
        let cell = row.last_mut().expect("one");
        match c {
            '"' if is_quoted && rest.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(String::new()),
            '\r' if !is_quoted && rest.next_if_eq(&'\n').is_some() => {
                rows.push(vec![String::new()]);
            }
            c => cell.push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last line ends");
    rows
}

/// The output of a command on a terminal of 700 columns: its bytes, and the resulting screen.
fn on_terminal(world: &World, arguments: &[&str]) -> (String, vt100::Screen) {
    let mut session = Program::groupdesk(arguments)
        .env("HOME", world.folder().to_string_lossy())
        .env("NO_COLOR", "1")
        .env("GROUPDESK_CONFIG", world.config_file().to_string_lossy())
        .env(
            "GROUPDESK_DIRECTORY",
            world.directory_file().to_string_lossy(),
        )
        .cwd(world.folder())
        .size(150, 700)
        .start();
    session.exit_status(PATIENCE);
    let raw = String::from_utf8(session.raw_output().to_vec()).expect("UTF-8");
    // The headings are bold; no text of the corpus is.
    let raw = raw.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    (raw.replace("\r\n", "\n"), session.terminal_state().clone())
}

/// The row and column where a text begins.
fn column(screen: &vt100::Screen, text: &str) -> Option<(u16, u16)> {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let signs: Vec<_> = text.chars().map(String::from).collect();
    let is_here = |row: u16, column: u16| {
        signs.iter().zip(column..).all(|(sign, column)| {
            screen
                .cell(row, column)
                .is_some_and(|cell| cell.contents() == *sign)
        })
    };
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .find(|(row, column)| is_here(*row, *column))
}

#[tokio::test(flavor = "multi_thread")]
async fn people_get_every_text_escaped_and_in_its_column() {
    let world = a_world().await;
    let mut count = 0;
    for (arguments, header, lead, fields) in [
        (&["list"][..], "ID", "I[", "IN"),
        (&["rotations"], "AGE", "2d", "IRO"),
        (&["history"], "WHAT", "rotate", "IRO"),
        (&["export", "--format", "csv"], "", "", "INKVPQD"),
        (&["export", "--format", "jsonl"], "", "", "INKVPQD"),
        (&["list", "--json"], "", "", "INKVPQD"),
    ] {
        let (raw, screen) = on_terminal(&world, arguments);
        assert_harmless(&raw, &format!("{arguments:?}"));
        let heading = column(&screen, header);
        for (number, (what, text)) in CORPUS.iter().enumerate() {
            for field in fields.chars() {
                assert!(
                    holds(&raw, field, text),
                    "{field} of {what} in {arguments:?}:\n{raw}"
                );
                count += 1;
            }
            // In running text, a character of disputed width moves what follows it in its own line; that cannot be
            // helped.
            if header.is_empty() || !is_undisputed(&shown(text)[0]) {
                continue;
            }
            // The first row of the group, and the column after its id.
            let (row, _) = column(&screen, &format!("{number:02}I[")).expect(what);
            let line: Vec<_> = (0..700)
                .map(|x| screen.cell(row, x).map_or("", vt100::Cell::contents))
                .collect();
            let from = heading.expect(header).1;
            let lead = if lead == "I[" {
                format!("{number:02}I[")
            } else {
                lead.to_owned()
            };
            let here = line[usize::from(from)..].concat();
            assert!(
                here.starts_with(&lead),
                "{what} in {arguments:?}: {here:?} does not begin {lead:?}"
            );
            count += 1;
        }
    }
    let disputed = CORPUS
        .iter()
        .filter(|(_, text)| !is_undisputed(&shown(text)[0]))
        .count();
    println!("{count} texts for people, {disputed} disputed");
    assert_eq!(count, CORPUS.len() * (2 + 3 + 3 + 7 * 3 + 3) - 3 * disputed);
    assert!(disputed < 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_group_is_shown_escaped() {
    let world = a_world().await;
    let mut count = 0;
    for (number, (what, text)) in long::spread(CORPUS.iter().enumerate(), 7) {
        let id = id_of(number, text);
        let unknown = format!("?{id}");
        let name = format!("n{}", framed('N', &sendable(text)));
        for (arguments, fields) in [
            (&["show", &id][..], "INKVPQD"),
            (&["history", &id], "IRO"),
            (&["get", &id], "INPQD"),
            (&["update", &id, "--name", &name, "--dry-run"], "IN"),
            (&["show", &unknown], "I"),
            (&["rotate", &id, "--reason", &name, "--dry-run"], "I"),
        ] {
            let (raw, _) = on_terminal(&world, arguments);
            let at = format!("{what} in {arguments:?}");
            assert_harmless(&raw, &at);
            let seen = found(&raw, text);
            for field in fields.chars() {
                // Long cells break over lines.
                let is_there =
                    seen.contains(&field) || shown(text).iter().any(|text| raw.contains(text));
                assert!(is_there, "{field} of {at}:\n{raw}");
                count += 1;
            }
        }
    }
    println!("{count} texts of one group");
    assert!(count >= 19 * 5);
}
