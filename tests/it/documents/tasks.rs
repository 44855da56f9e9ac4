//! The tables of tasks, as typed: the commands of each row, one after the other in one home, on a terminal, with the answers
//! that a person gives to their questions.

use std::{fmt::Write as _, fs};

use super::{
    page,
    run::{self, DEADLINE},
};
use crate::{
    house::citations::below,
    support::{assertions::in_one_line, pty::Session},
};

/// The last column of a table of tasks.
const COLUMN: &str = "on the command line";

/// Commands that do not end with 0, and why.
#[rustfmt::skip] // A table: one case per line.
const ENDS: [(&str, i32, &str); 7] = [
    ("groupdesk batches resume 12", 2, "batch 12 is not in the directory"),
    ("groupdesk batches retry 12", 2, "batch 12 is not in the directory"),
    ("groupdesk batches check 12", 2, "batch 12 is not in the directory"),
    ("groupdesk batches reverse 12", 2, "batch 12 is not in the directory"),
    ("groupdesk copy acme-eu --to eu-live --dry-run", 2, "the demo has no such profile"),
    ("groupdesk diff acme-eu --with eu-live", 2, "the demo has no such profile"),
    ("groupdesk create", 2, "the ID is meant to be added"),
];

/// What has to be there before a command.
const BEFORE: [(&str, &str); 1] = [(
    "groupdesk whose < leaked.token",
    "test -e leaked.token || groupdesk get acme-eu --token-out leaked.token",
)];

/// The commands of the tables of tasks on a page.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_table = false;
    for line in page.lines() {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|') {
            is_table = false;
        } else if cells.last() == Some(&COLUMN) {
            is_table = true;
        } else if is_table {
            let last = cells.last().expect("a cell");
            let spans = last.split('`').skip(1).step_by(2);
            found.extend(
                spans
                    .filter(|span| span.starts_with("groupdesk"))
                    .map(str::to_owned),
            );
        }
    }
    found
}

/// Each command as a function call that notes its exit code.
fn script(commands: &[String]) -> String {
    let mut script = String::new();
    for (number, command) in commands.iter().enumerate() {
        for (_, before) in BEFORE.iter().filter(|(of, _)| of == command) {
            let _ = writeln!(script, "{before}");
        }
        let _ = writeln!(
            script,
            "printf '\\033[2J\\033[H'; code=0\n{command} || code=$?\necho \"ended {number} with $code.\"; read -r _"
        );
    }
    script.push_str("echo all ended.\n");
    script
}

/// The answer to the question at the end of the screen.
fn answer(screen: &str) -> Option<String> {
    let joined = in_one_line(screen);
    if joined.ends_with("[y/N]") {
        return Some("y".into());
    }
    let asked = joined.strip_suffix(" to confirm:")?;
    if let Some(words) = asked.strip_suffix('"') {
        let words = words.rsplit_once("Type \"")?.1;
        return Some(words.to_owned());
    }
    let id = asked.strip_suffix(')')?.rsplit_once("Type the ID (")?.1;
    Some(id.to_owned())
}

/// Answers what is asked until all commands have ended, each as it should.
fn type_all(session: &mut Session, commands: &[String]) -> Result<usize, String> {
    let mut answered = 0;
    for (number, command) in commands.iter().enumerate() {
        let end = format!("ended {number} with ");
        let mut last = String::new();
        let screen = loop {
            let screen = session.wait_until("a question or the end", DEADLINE, |screen| {
                let screen = screen.contents();
                screen.contains(&end) || in_one_line(&screen) != last && answer(&screen).is_some()
            });
            if screen.contains(&end) {
                break screen;
            }
            let line = answer(&screen).expect("a question");
            session.send(format!("{line}\n"));
            answered += 1;
            last = in_one_line(&screen);
        };
        let wanted = ENDS.iter().find(|(of, ..)| of == command);
        let wanted = wanted.map_or(0, |(_, code, _)| *code);
        if !screen.contains(&format!("{end}{wanted}.")) {
            return Err(format!("{command}: not {wanted}\n{screen}"));
        }
        session.send("\n");
    }
    Ok(answered)
}

#[test]
fn the_tasks_of_readme_after_its_own_set_up() {
    let page = page("README.md");
    let commands = commands(&page);
    assert!(commands.len() >= 9, "{commands:?}");
    let blocks = super::blocks(&page);
    let console = blocks
        .iter()
        .find(|block| block.kind == super::Kind::Console);
    let set_up = &console.expect("a set-up").text;
    let (home, mut session) = run::in_a_home(set_up, &script(&commands));
    session.wait_for(run::LISTED, DEADLINE);
    session.send("q");
    let answered = type_all(&mut session, &commands);
    let answered = answered.unwrap_or_else(|said| panic!("{said}"));
    assert!(answered >= 3, "a create, an update and a rotation ask");
    session.wait_for("all ended.", DEADLINE);
    let token = fs::read_to_string(home.path().join("acme.token")).expect("written");
    assert_eq!(token.trim().len(), 64);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tasks_of_the_guide_in_the_demo() {
    let mut ran = 0;
    for file in below("docs/guide", &["md"]) {
        let commands = commands(&page(&file));
        if commands.is_empty() {
            continue;
        }
        ran += commands.len();
        let (_home, _demo, mut session) = run::in_the_demo(&script(&commands)).await;
        if let Err(said) = type_all(&mut session, &commands) {
            panic!("{file}: {said}");
        }
        session.wait_for("all ended.", DEADLINE);
    }
    assert!(ran >= 20, "{ran}");
}

#[test]
fn questions_are_recognised() {
    for (screen, line) in [
        ("Update \"a\"? [y/N]", Some("y")),
        ("x Type the ID (acme-eu) to\nconfirm:", Some("acme-eu")),
        (
            "x. Type \"rotate 3 in testing\" to confirm:",
            Some("rotate 3 in testing"),
        ),
        ("Update \"a\"? [y/N] y", None),
    ] {
        assert_eq!(answer(screen).as_deref(), line, "{screen}");
    }
    let table = "| task | on the command line |\n|---|---|\n| a | `groupdesk b`, `--c` |\n\n| x | `groupdesk y` |";
    assert_eq!(commands(table), ["groupdesk b"]);
}
