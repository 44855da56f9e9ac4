//! The generated pages of docs/reference: keys, settings and variables from tables of the code; commands, JSON and exit
//! codes from output of the shipped program. One test writes them all.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

use super::{is_writing, keys, settings};
use crate::support::clock;

const HOW: &str = "made by GROUPDESK_PICTURES=write cargo test --test it pictures";

/// The text with the part between its marks replaced by `made`.
fn with(text: &str, part: &str, made: &str) -> String {
    let begin = format!("<!-- {part}: {HOW} -->\n");
    let end = format!("<!-- end of {part} -->\n");
    let (before, rest) = text.split_once(&begin).expect("where it begins");
    let (_, after) = rest.split_once(&end).expect("where it ends");
    format!("{before}{begin}{made}{end}{after}")
}

/// The output of `groupdesk help`, independent of a terminal's width.
fn help(words: &[&str]) -> String {
    let said = Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .arg("help")
        .args(words)
        .env_clear()
        .envs(clock::outer())
        .output()
        .expect("it starts");
    assert!(said.status.success(), "help {words:?}: {said:?}");
    String::from_utf8(said.stdout).expect("UTF-8")
}

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_end())
}

/// Headings of the lists of commands.
const LISTS: [&str; 7] = [
    "Commands:",
    "Groups:",
    "Tokens:",
    "Files:",
    "Set-up:",
    "Service:",
    "Help:",
];

/// The commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let mut is_list = false;
    let lines = help.lines().filter(|line| {
        if !line.starts_with(' ') {
            is_list = LISTS.contains(line);
        }
        is_list
    });
    let first = |line: &str| {
        line.strip_prefix("  ")?
            .split(' ')
            .next()
            .map(str::to_owned)
    };
    lines
        .filter_map(first)
        .filter(|name| !name.is_empty())
        .collect()
}

/// Adds a command and all its subcommands.
fn command(words: &[&str], made: &mut String) {
    let help = help(words);
    let _ = writeln!(made, "## {}\n", words.join(" "));
    *made += &fenced(&help);
    made.push('\n');
    for name in listed(&help) {
        command(&[words, &[name.as_str()]].concat(), made);
    }
}

/// Every command, once.
fn commands() -> String {
    let all = help(&[]);
    let mut made = fenced(&all) + "\n";
    for name in listed(&all) {
        command(&[&name], &mut made);
    }
    made.truncate(made.trim_end().len());
    for head in ["## rotate", "## rotations check", "## serve keys create"] {
        let times = made.lines().filter(|told| *told == head).count();
        assert_eq!(times, 1, "{head} of {made}");
    }
    assert_eq!(made.matches("\nGlobal options:\n").count(), 1);
    made + "\n"
}

#[test]
fn the_reference_agrees_with_the_code() {
    let mut pages = BTreeMap::<_, Vec<_>>::new();
    for (page, part, made) in [
        ("keys", "keys", keys::table()),
        ("configuration", "settings", settings::settings()),
        ("configuration", "variables", settings::variables()),
        ("exit-codes", "exit codes", fenced(&help(&["exit-codes"]))),
        ("json", "contract", fenced(&help(&["json"]))),
        ("commands", "commands", commands()),
    ] {
        pages.entry(page).or_default().push((part, made));
    }
    for (page, parts) in pages {
        let name = format!("docs/reference/{page}.md");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
        let kept = fs::read_to_string(&file).expect("a page");
        let told = |text: String, (part, made): &(&str, String)| with(&text, part, made);
        let new = parts.iter().fold(kept.clone(), told);
        if is_writing() {
            fs::write(&file, new).expect("written");
            continue;
        }
        for (part, made) in parts {
            assert!(
                with(&kept, part, &made) == kept,
                "the {part} of {name} are not those in force; run GROUPDESK_PICTURES=write cargo test --test it pictures\n{made}"
            );
        }
    }
}
