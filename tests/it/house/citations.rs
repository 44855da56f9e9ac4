//! Whatever a comment cites must exist: a document by its path in the repository, a section by its heading, a numbered
//! hazard, trap, rule or level by its number.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Folders that are checked for citations. This file contains wrong ones for its own test.
const FOLDERS: [&str; 4] = ["src", "tests", "benches", "assets/migrations"];
const ENDINGS: [&str; 3] = ["rs", "sh", "sql"];
const OWN: &str = "tests/it/house/citations.rs";

/// The format of a number on a page.
type Written = fn(u32) -> String;

/// A word before a number, the page that numbers such things, and how it does.
#[rustfmt::skip] // A table: one case per line.
const NUMBERED: [(&str, &str, Written); 4] = [
    ("hazard", "docs/design/service.md", |n| { format!("### Hazard {n}: ") }),
    ("trap", "docs/design/dependencies.md", |n| { format!("### Trap {n}: ") }),
    ("rule", "docs/design/rotation.md", |n| { format!("### Rule {n}: ") }),
    ("level", "docs/design/console.md", |n| format!("| {n} | ")),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder of the repository, by their path in it.
pub(crate) fn below(folder: &str, endings: &[&str]) -> Vec<String> {
    let mut open: Vec<PathBuf> = vec![root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if path.is_dir() {
                open.push(path);
            } else if ending.is_some_and(|ending| endings.contains(&ending)) {
                let name = path.strip_prefix(root()).expect("below the root");
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(file: &str) -> Option<String> {
    fs::read_to_string(root().join(file)).ok()
}

/// A file as a single line without comment markers, so that a citation may be wrapped.
struct Flat {
    text: String,
    /// The start of each line, and whether the line is a comment.
    lines: Vec<(usize, bool)>,
}

impl Flat {
    fn of(text: &str) -> Self {
        let mut flat = Self {
            text: String::with_capacity(text.len()),
            lines: Vec::new(),
        };
        for line in text.lines() {
            let line = line.trim();
            let mut marks = ["//!", "///", "//", "--"].iter();
            let comment = marks.find_map(|mark| line.strip_prefix(mark));
            flat.lines.push((flat.text.len(), comment.is_some()));
            flat.text.push_str(comment.unwrap_or(line).trim());
            flat.text.push(' ');
        }
        flat
    }

    /// The number of the line, counted from 1, and whether it is a comment.
    fn line(&self, at: usize) -> (usize, bool) {
        let number = self.lines.partition_point(|(begin, _)| *begin <= at);
        (number, self.lines[number - 1].1)
    }
}

/// The numbers of "1", "1 and 11", "5, 6, 7" and "1 to 3" at the start of a text.
fn numbers(text: &str) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let (mut rest, mut is_range) = (text, false);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let (number, after) = rest.split_at(digits.unwrap_or(rest.len()));
        let Ok(number) = number.parse() else { break };
        match found.last() {
            Some(first) if is_range => found.extend(first + 1..=number),
            _ => found.push(number),
        }
        is_range = after.starts_with(" to ");
        let mut more = [", ", " and ", " to "].iter();
        let Some(next) = more.find_map(|word| after.strip_prefix(word)) else {
            break;
        };
        rest = next;
    }
    found
}

/// All citations in a file whose target does not exist, as `file:line: what`. `document` returns the text of a file of
/// the repository.
fn complaints(file: &str, text: &str, document: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let flat = Flat::of(text);
    let mut found = BTreeMap::new();
    for (at, ending) in flat.text.match_indices(".md") {
        let after = &flat.text[at + ending.len()..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        let before = &flat.text[..at];
        let begin = before.rfind(|c| !is_name(c)).map_or(0, |before| before + 1);
        if before.len() == begin || after.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        let path = format!("{}.md", before[begin..].trim_start_matches("../"));
        let Some(page) = document(&path) else {
            found.insert(at, format!("there is no {path}"));
            continue;
        };
        let Some((how, quoted)) = after.split_once('"').filter(|(how, _)| how.len() <= 2) else {
            continue;
        };
        let quoted = quoted.split('"').next().unwrap_or(quoted);
        let is_there = match how {
            ": " => page.contains(quoted),
            ", " | " " => page.lines().any(|line| {
                line.strip_prefix('#')
                    .is_some_and(|heading| heading.trim_start_matches('#').trim() == quoted)
            }),
            _ => true,
        };
        if !is_there {
            found.insert(at, format!("{path} has no \"{quoted}\""));
        }
    }
    let lower = flat.text.to_ascii_lowercase();
    for (word, page, written) in NUMBERED {
        for (at, _) in lower.match_indices(word) {
            let rest = lower[at + word.len()..].trim_start_matches('s');
            let Some(rest) = rest.strip_prefix(' ').filter(|_| flat.line(at).1) else {
                continue;
            };
            for number in numbers(rest) {
                let wanted = written(number);
                let page_text = document(page).unwrap_or_default();
                if !page_text.lines().any(|line| line.starts_with(&wanted)) {
                    found.insert(at, format!("{page} has no {word} {number}"));
                }
            }
        }
    }
    let place = |(at, what)| format!("{file}:{}: {what}", flat.line(at).0);
    found.into_iter().map(place).collect()
}

#[test]
fn every_citation_leads_somewhere() {
    let (mut cited, mut wrong) = (0, Vec::new());
    for folder in FOLDERS {
        for file in below(folder, &ENDINGS) {
            let text = read(&file).expect("UTF-8");
            cited += text.matches("docs/design/").count();
            if file != OWN {
                wrong.extend(complaints(&file, &text, read));
            }
        }
    }
    assert!(cited > 100, "the citations were found: {cited}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_citation_that_leads_nowhere_is_found() {
    let known = |file: &str| match file {
        "docs/design/rotation.md" => Some("# Head\n\nSome words.\n\n## Send-by\n".to_owned()),
        "docs/design/service.md" => Some("### Hazard 1: x\n### Hazard 2: x\n".to_owned()),
        "docs/design/console.md" => Some("| 4 | x |\n".to_owned()),
        _ => None,
    };
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("//! As b.md says.", "f:1: there is no b.md"),
        ("let x = 1;\n/// (a.md)", "f:2: there is no a.md"),
        ("-- (docs/\n", ""),
        ("include_str!(\"../../gone.md\")", "f:1: there is no gone.md"),
        ("// docs/design/rotation.md, \"Send\n// on\"", "f:1: docs/design/rotation.md has no \"Send on\""),
        ("// docs/design/rotation.md: \"other words\"", "f:1: docs/design/rotation.md has no \"other words\""),
        ("// x (hazard 3)", "f:1: docs/design/service.md has no hazard 3"),
        ("// hazards 1 and 3", "f:1: docs/design/service.md has no hazard 3"),
        ("// Hazards 1 to 4", "f:1: docs/design/service.md has no hazard 4"),
        ("// hazards 1,\n// 2, 7", "f:1: docs/design/service.md has no hazard 7"),
        ("// a hazard\n// 8", "f:1: docs/design/service.md has no hazard 8"),
        ("-- level 5", "f:1: docs/design/console.md has no level 5"),
        ("// rule 1", "f:1: docs/design/rotation.md has no rule 1"),
        ("// docs/design/rotation.md, \"Send-by\"; docs/design/rotation.md \"Send-by\"", ""),
        ("// docs/design/rotation.md: \"Some words\"", ""),
        ("// hazards 1 and 2; Level 4, a hazard of 9", ""),
        ("let hazard = 7; x.mdx; \".md\"", ""),
    ];
    for (text, complaint) in table {
        let found = complaints("f", text, known).join("\n");
        assert_eq!(found, complaint, "{text}");
    }
}

/// The documents of the repository.
fn documents() -> Vec<String> {
    let mut files = below("docs", &["md"]);
    let root = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
    ];
    files.extend(root.map(str::to_owned));
    files
}

/// The anchor of a heading in links.
fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Everything that a page links to or names but that does not exist. `folder` is the folder of the page.
fn dead_links(folder: &str, text: &str, document: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let target = text[at + 2..].split(')').next().unwrap_or_default();
        if target.contains("://") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            if part == ".." {
                parts.pop();
            } else {
                parts.push(part);
            }
        }
        let Some(page) = document(&parts.join("/")) else {
            found.push(target.to_owned());
            continue;
        };
        let headings = page.lines().filter(|line| line.starts_with('#'));
        let mut slugs = headings.map(|line| slug(line.trim_start_matches('#').trim()));
        if !anchor.is_empty() && !slugs.any(|slug| slug == anchor) {
            found.push(target.to_owned());
        }
    }
    for named in text.split('`').skip(1).step_by(2) {
        let is_ours = ["src/", "tests/", "assets/", "docs/", "packaging/"]
            .iter()
            .any(|folder| named.starts_with(folder));
        if is_ours && !named.contains([' ', '{', '*', '\n']) && !root().join(named).exists() {
            found.push(named.to_owned());
        }
    }
    found
}

#[test]
fn every_link_and_every_path_of_the_documents_leads_somewhere() {
    for file in documents() {
        let text = read(&file).expect("UTF-8");
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let dead = dead_links(folder, &text, read);
        assert!(dead.is_empty(), "{file}: {dead:?}");
    }
    let lines = read("README.md").expect("UTF-8").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}

/// The words that a line of a table says to be in a file, as "`word` in `file`" or "`word` and `word` in `file`", each with
/// the file.
fn said_to_be_in(line: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = line.split('`').collect();
    let is_path = |part: &str| part.starts_with("src/") && part.strip_suffix(".rs").is_some();
    let mut found = Vec::new();
    for at in (3..parts.len()).step_by(2) {
        let (word, file) = (parts[at - 2], parts[at]);
        if parts[at - 1] != " in " || !is_path(file) || is_path(word) {
            continue;
        }
        found.push((word, file));
        let other = at.checked_sub(4).map(|other| parts[other]);
        let other = other.filter(|other| parts[at - 3] == " and " && !is_path(other));
        found.extend(other.map(|other| (other, file)));
    }
    found
}

#[test]
fn the_files_to_open_have_the_words_to_look_for() {
    let text = read("CONTRIBUTING.md").expect("UTF-8");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let said: Vec<_> = rows.flat_map(said_to_be_in).collect();
    assert!(said.len() >= 15, "{said:?}");
    let is_missing = |(word, file): &&(&str, &str)| {
        let source = read(file).unwrap_or_default();
        !source.contains(word)
    };
    let missing: Vec<_> = said.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "not in their file: {missing:?}");
}

#[test]
fn a_word_and_its_file_are_found_in_a_row() {
    let row = "| x | `a` and `b` in `src/c.rs`, `src/d.rs`; `e` in `src/f.rs`, in `src/g.rs`; `h` in `docs` | `t` |";
    let found = [("b", "src/c.rs"), ("a", "src/c.rs"), ("e", "src/f.rs")];
    assert_eq!(said_to_be_in(row), found);
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let known = |file: &str| match file {
        "docs/guide/rotation.md" => Some("# It is 3 a.m.\n".to_owned()),
        _ => None,
    };
    for (text, dead) in [
        (
            "[a](rotation.md) [a](../guide/rotation.md#it-is-3-am) [x](https://x.example/a)",
            None,
        ),
        ("[b](b.md)", Some("b.md")),
        ("[a](../a.md)", Some("../a.md")),
        ("[a](rotation.md#it)", Some("rotation.md#it")),
        ("`src/lib.rs` and `tests/it`", None),
        ("`src/gone.rs`", Some("src/gone.rs")),
    ] {
        let found = dead_links("docs/guide", text, known);
        assert_eq!(found.first().map(String::as_str), dead, "{text}");
    }
}
