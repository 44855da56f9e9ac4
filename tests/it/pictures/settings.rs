//! The tables of settings and variables in docs/reference/configuration.md, made from those of the code.

use std::fmt::Write as _;

use groupdesk::config::reference::{DefaultValue, SETTINGS, Setting, VARIABLES};

/// The meaning of the words of a [`Setting::kind`].
#[rustfmt::skip] // A table: one kind a line.
const KINDS: [(&str, &str); 4] = [
    ("flag", "true or false, without quotes"),
    ("duration", "a whole number and ms, s or m: \"1500ms\", \"30s\", \"2m\""),
    ("age", "a whole number and h, d or w: \"36h\", \"90d\", \"12w\""),
    ("colour", "a name such as \"light-blue\", \"#rrggbb\", a number from 0 to 255, or \"default\""),
];

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn without(usual: DefaultValue) -> String {
    match usual {
        DefaultValue::Required => "required".to_owned(),
        DefaultValue::Value(value) => format!("`{value}`"),
        DefaultValue::Words(words) => cell(words),
    }
}

/// A row; settings that differ only in their meaning share one.
fn row(same: &[Setting]) -> String {
    let [first, rest @ ..] = same else {
        return String::new();
    };
    let (keys, meaning) = if rest.is_empty() {
        (format!("`{}`", first.key), cell(first.meaning))
    } else {
        let each = same
            .iter()
            .map(|one| format!("`{}` {}", one.key, cell(one.meaning)));
        ("a role".to_owned(), each.collect::<Vec<_>>().join(" · "))
    };
    let (kind, without) = (cell(first.kind.words), without(first.usual));
    format!("| {keys} | {kind} | {without} | {meaning} |\n")
}

pub(super) fn settings() -> String {
    let mut made =
        String::from("| setting | allowed values | default | meaning |\n|---|---|---|---|\n");
    for of_it in SETTINGS.chunk_by(|one, other| one.table == other.table) {
        let table = of_it[0].table;
        if !table.is_empty() {
            let _ = writeln!(made, "| **`[{table}]`** | | | |");
        }
        let share = |one: &Setting, other: &Setting| {
            one.kind.words == "colour" && other.kind.words == "colour" && one.usual == other.usual
        };
        for same in of_it.chunk_by(share) {
            made += &row(same);
        }
    }
    let kinds = KINDS.map(|(kind, meaning)| format!("*{kind}*: {}", cell(meaning)));
    let _ = writeln!(made, "\n{}.", kinds.join(" · "));
    made
}

pub(super) fn variables() -> String {
    let mut made = String::from("| variable | meaning |\n|---|---|\n");
    for (names, meaning) in VARIABLES {
        let names: Vec<_> = names.split(", ").map(|name| format!("`{name}`")).collect();
        let _ = writeln!(made, "| {} | {} |", names.join(" "), cell(meaning));
    }
    made
}
