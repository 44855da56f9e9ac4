//! The keys of the tables of tasks, as typed: each row in a console of its own, one after the other in one home.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use super::run::{self, DEADLINE};
use crate::support::pty::Session;

/// The columns that hold keys.
const COLUMNS: [&str; 2] = ["in the console", "keys"];

const ENTER: &str = "\r";
const TAB: &str = "\t";
const ESC: &str = "\x1b";
const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const CTRL_S: &str = "\x13";
const CTRL_U: &str = "\x15";
/// Stands for a token that leaked; it is in [`LEAKED`].
const TOKEN: &str = "the token";
const LEAKED: &str = "console.token";
/// File with the number of the console's process.
const PID: &str = "console.pid";

/// The task, its keys, what a person presses, and what the screen shows then: parts between ` & `, `no X` if X is gone,
/// nothing if the key changes nothing.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// A page, what it needs before, and its rows.
struct Page {
    file: &'static str,
    /// Who has the token that leaked.
    leaks: &'static str,
    /// The rows are one tour, in one console.
    is_tour: bool,
    rows: &'static [Row],
}

#[rustfmt::skip] // A table: one row of a page and its keys.
const PAGES: [Page; 6] = [
    Page { file: "README.md", leaks: "acme-eu", is_tour: false, rows: &[
        ("see the known groups; nothing is sent", "Up, Down, `d` for details, `/` to filter",
            &[(UP, ""), (DOWN, ""), ("d", "no d hide"), ("d", "d hide"), ("/", "Enter apply"), ("acme", "filter  acme")]),
        ("read a group from the service", "Enter", &[(ENTER, "r refresh")]),
        ("create a group", "`o`, ID, Enter, fill in the form, Ctrl-S, `y`",
            &[("o", "user group ID"), ("new-eu", "new-eu"), (ENTER, "Create new-eu"), ("New", "name  New"), (CTRL_S, "y SEND"), ("y", "new-eu created")]),
        ("change a mapping row", "`e`, Tab, Down to the row, Enter, Ctrl-U, new data source, Enter, Ctrl-S, `y` (in production, if others may have changed it: the ID, Enter)",
            &[("e", "Edit acme-eu"), (TAB, "━━ Mapping"), (ENTER, "Enter save"), (CTRL_U, "data source ID is empty"), ("213", "was 40"), (ENTER, "Enter change"),
              (CTRL_S, "saved values   read at"), ("y", "Type acme-eu"), ("acme-eu", "then Enter: acme-eu"), (ENTER, "acme-eu updated")]),
        ("undo the last update", "Enter, `2`, Down to the update, `z`, `y` (production: then the phrase, Enter)",
            &[(ENTER, "r refresh"), ("2", "── update acme-eu"), ("z", "saved values   read at"), ("y", "Type update acme-eu in live"),
              ("update acme-eu in live", "Enter: update acme-eu in live"), (ENTER, "acme-eu updated")]),
        ("rotate a token and save the new one", "`t`, `T`, `y` (production: the ID, Enter), `w`, Enter",
            &[("t", "v shows it"), ("T", "Type acme-eu"), ("acme-eu", "then Enter: acme-eu"), (ENTER, "confirmation   confirmed"), ("w", "Enter save"), (ENTER, "Token saved to")]),
        ("find whose token leaked", "`W`, paste, Enter", &[("W", "Whose token is this?"), (TOKEN, "•"), (ENTER, "token of acme-eu in live")]),
        ("rotate all old tokens", "`/age>90d` Enter, `*`, `T`, the phrase, Enter",
            &[("/", "Enter apply"), ("age>90d", "filter  age>90d"), (ENTER, "no Enter apply"), ("*", "Not available: no group"), ("T", "nothing is marked")]),
        ("see what happened last night", "`2`", &[("2", "History")]),
        ("see what needs attention", "`0`", &[("0", "Attention")]),
    ] },
    Page { file: "docs/guide/getting-started.md", leaks: "acme-eu", is_tour: true, rows: &[
        ("find a group", "`/`, `acme`, Enter", &[("/", "Enter apply"), ("acme", "filter  acme"), (ENTER, "no Enter apply")]),
        ("read it from the service", "Enter", &[(ENTER, "r refresh")]),
        ("change a mapping row", "`e`, Tab, Enter, Ctrl-U, `214`, Enter, Ctrl-S",
            &[("e", "Edit acme-eu"), (TAB, "━━ Mapping"), (ENTER, "Enter save"), (CTRL_U, "data source ID is empty"), ("214", "was 213"), (ENTER, "Enter change"), (CTRL_S, "saved values   read at")]),
        ("send it", "`y`", &[("y", "acme-eu updated")]),
        ("see what happened", "`2`", &[("2", "History of acme-eu"), (ESC, "no History of acme-eu")]),
        ("rotate a token", "`t`, `T`, `y`", &[("t", "v shows it"), ("T", "y rotates"), ("y", "confirmation   confirmed")]),
        ("do the same in production", "`P`, Up to `production`, Enter", &[("P", "Profiles"), (UP, ">  production"), (ENTER, "Now in production")]),
        ("see what needs attention", "`0`", &[("0", "Attention")]),
        ("quit", "Esc, `q`", &[(ESC, "no Attention"), ("q", "ended with 0.")]),
    ] },
    Page { file: "docs/guide/groups.md", leaks: "acme-us -P production", is_tour: false, rows: &[
        ("see the known groups; nothing is sent", "Up, Down; `d` shows details, `/` filters",
            &[(DOWN, ">   Acme US"), (UP, ">   Acme Europe"), ("d", "no d hide"), ("d", "d hide"), ("/", "Enter apply"), ("acme", "filter  acme")]),
        ("read a group from the service", "Enter on it", &[(ENTER, "r refresh")]),
        ("create a group", "`o`, the ID, Enter, fill in the form, Ctrl-S, review, `y`",
            &[("o", "user group ID"), ("new-eu", "new-eu"), (ENTER, "Create new-eu"), ("New", "name  New"), (CTRL_S, "y SEND"), ("y", "new-eu created")]),
        ("change one mapping row in production", "`/acme` Enter, `e`, Tab, Down to the row, Enter, Ctrl-U, the new data source, Enter, Ctrl-S, review, `y` (if others may have changed it: then the ID, Enter)",
            &[("P", "Profiles"), (UP, ">  production"), (ENTER, "Now in production"), ("/", "Enter apply"), ("acme", "filter  acme"), (ENTER, "no Enter apply & of 13"), ("e", "Edit acme-eu"), (TAB, "━━ Mapping"),
              (DOWN, ">  134"), (ENTER, "Enter save"), (CTRL_U, "data source ID is empty"), ("214", "was 386"), (ENTER, "Enter change"), (CTRL_S, "saved values   read at"), ("y", "acme-eu updated")]),
        ("see what would be sent, without sending it", "Ctrl-S, `v`; Esc leaves",
            &[("e", "Edit acme-eu"), (TAB, "━━ Mapping"), (ENTER, "Enter save"), (CTRL_U, "data source ID is empty"), ("214", "was 213"), (ENTER, "Enter change"), (CTRL_S, "saved values   read at"), ("v", "update, as JSON"), (ESC, "Esc leave")]),
        ("rotate a token and save the new one", "`t`, `T`, `y` (the ID in production), `w`, Enter",
            &[("t", "v shows it"), ("T", "y rotates"), ("y", "confirmation   confirmed"), ("w", "Enter save"), (ENTER, "Token saved to")]),
        ("rotate many", "`/age>90d` Enter, `*`, `T`, the phrase it asks for",
            &[("/", "Enter apply"), ("age>90d", "filter  age>90d"), (ENTER, "no Enter apply"), ("*", "4 marked"), ("T", "Type rotate 4 in testing"),
              ("rotate 4 in testing", "Enter: rotate 4 in testing"), (ENTER, "4 confirmed of 4")]),
        ("find whose token leaked, and rotate it", "`W`, paste, Enter, `t`, `T`, the group ID, Enter",
            &[("P", "Profiles"), (UP, ">  production"), (ENTER, "Now in production"), ("W", "Whose token is this?"), (TOKEN, "•"), (ENTER, "token of acme-us in production"),
              ("t", "v shows it"), ("T", "Type acme-us"), ("acme-us", "then Enter: acme-us"), (ENTER, "confirmation   confirmed")]),
        ("find out how an interrupted rotation ended", "`3`, `r`", &[("3", "Rotations"), ("r", "No open rotation")]),
        ("see everything that needs attention", "`0`", &[("0", "Attention")]),
        ("resume an unfinished batch", "`5`, `R`, `y` (in production, a phrase if it is a colleague's or over 24 h old)",
            &[("5", "── Batch 1"), ("R", "this batch is finished")]),
        ("write a note on a group, and find it", "`a`, text, Enter; `/note:word`",
            &[("a", "Note and labels of"), ("call first", "call first"), (ENTER, "saved"), ("/", "Enter apply"), ("note:call", "filter  note:call"), (ENTER, "no Enter apply")]),
        ("set one row in many groups", "`/map:40=213` Enter, `*`, `B`",
            &[("/", "Enter apply"), ("map:40=213", "filter  map:40=213"), (ENTER, "no Enter apply"), ("*", "1 marked"), ("B", "Edit 1 marked group")]),
        ("undo the last update of a group", "Enter, `2`, Down to the update, `z`, review, `y` (production: then the phrase, Enter)",
            &[("P", "Profiles"), (UP, ">  production"), (ENTER, "Now in production"), ("/", "Enter apply"), ("acme-eu", "filter  acme-eu"), (ENTER, "no Enter apply & of 13"), (ENTER, "r refresh"), ("2", "── update acme-eu"),
              ("z", "saved values   read at"), ("y", "Type update acme-eu in production"), ("update acme-eu in production", "│ update acme-eu in production"), (ENTER, "acme-eu updated")]),
        ("see what happened last night", "`2`", &[("2", "History")]),
        ("get a warning when an ID looks like another", "`o`, type or paste the ID; Down picks the one you meant, Esc leaves",
            &[("o", "user group ID"), ("acme-eu1", "acme-eu1"), (DOWN, "> acme-eu"), (ESC, "no user group ID")]),
        ("keep working while a service hangs", "`P`, the other profile, Enter; Esc stops waiting", &[("P", "Profiles"), (UP, ">  production"), (ENTER, "Now in production")]),
        ("continue a draft after a crash", "`e` on the group flagged `d`, Ctrl-S", &[("e", "Your unsent draft"), (CTRL_S, "y SEND")]),
        ("write a note and labels", "`a`, the note, Tab, the labels (Tab completes one), Enter; `f` toggles a favourite",
            &[("a", "Note and labels of"), ("ask", "firstask"), (TAB, "Separate labels with"), ("vip", "Labels  vip"), (ENTER, "saved"), ("f", "avourite")]),
        ("find them again", "`/note:word`, `/label:vip`, `/fav`",
            &[("/", "Enter apply"), ("label:vip", "filter  label:vip"), (ENTER, "no Enter apply"), ("/", "Enter apply"), ("fav", "filter  fav"), (ENTER, "no Enter apply")]),
        ("save tonight's filter for tomorrow", "`v`, `w`, a name, Enter; then `/@name` Enter (Tab completes)",
            &[("/", "Enter apply"), ("label:vip", "filter  label:vip"), (ENTER, "no Enter apply"), ("v", "Views and columns"), ("w", "Enter save"), ("night", "night"), (ENTER, "View @night saved"),
              (ESC, "no Views and columns"), ("/", "Enter apply"), ("@night", "filter  @night"), (ENTER, "no Enter apply")]),
        ("show a property as a column", "`v`, `a`, the key, Enter", &[("v", "Views and columns"), ("a", "Tab complete"), ("tier", "Property  tier"), (ENTER, "TIER")]),
        ("label all marked groups", "mark them, then `:` and `add label vip`, Enter; to create a label, add it to one group first, with `a`",
            &[(DOWN, ">   Acme US"), (" ", "1 marked"), (":", "Enter run"), ("add label vip", "add label vip"), (ENTER, "+#vip")]),
        ("run a command", "`:` and a few letters of it. Profiles, saved views, groups, columns to sort by (`sort by age`), labels and colours are entries as well; a number goes to that row, or opens that batch",
            &[(":", "Enter run"), ("histo", ":  histo"), (ENTER, "Groups › History")]),
    ] },
    Page { file: "docs/guide/leaked-token.md", leaks: "acme-eu", is_tour: false, rows: &[
        ("1. Whose is it? Paste the text; nothing is sent", "`W`, paste, Enter", &[("W", "Whose token is this?"), (TOKEN, "•"), (ENTER, "token of acme-eu in testing")]),
        ("2. Rotate it", "`t`, `T`, `y` (production: the group ID, Enter), then `w`, Enter saves the new token",
            &[("t", "v shows it"), ("T", "y rotates"), ("y", "confirmation   confirmed"), ("w", "Enter save"), (ENTER, "Token saved to")]),
        ("3. Deliver the new token, if the profile has a hand-off that failed", "`h`", &[("0", "Attention"), ("h", "Not available")]),
        ("4. See that nothing is left to do", "`0`", &[("0", "Attention")]),
        ("5. Write down what happened", "`a` on the group", &[("a", "Note and labels of"), ("rotated", "rotated"), (ENTER, "saved")]),
    ] },
    Page { file: "docs/guide/rotation.md", leaks: "acme-eu", is_tour: false, rows: &[
        ("rotate a token and save the new one", "`t`, `T`, `y` (the ID in production), `w`, Enter",
            &[("t", "v shows it"), ("T", "y rotates"), ("y", "confirmation   confirmed"), ("w", "Enter save"), (ENTER, "Token saved to")]),
        ("see which rotations are open", "`3`", &[("3", "Rotations")]),
        ("find out how they ended; this never rotates", "`3`, `r`", &[("3", "Rotations"), ("r", "No open rotation")]),
        ("deliver new tokens that were not handed off", "`h` on the row in `0`", &[("0", "Attention"), ("h", "Not available")]),
    ] },
    Page { file: "docs/guide/many-groups.md", leaks: "acme-eu", is_tour: false, rows: &[
        ("check the remaining groups again, and resume", "`R`", &[("5", "Batches"), ("R", "Not available")]),
        ("retry what is not done, as a new batch", "`F`", &[("5", "Batches"), ("F", "Not available")]),
        ("read what is unknown", "`r`", &[("5", "Batches"), ("r", "")]),
        ("reverse a bulk edit, where rows still have the value it set", "`z`", &[("5", "Batches"), ("z", "Not available")]),
    ] },
];

/// The tasks of a page and their keys.
fn rows(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_table = false;
    for line in page.lines() {
        let cells = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'));
        let cells: Option<Vec<_>> = cells.map(|cells| cells.split('|').map(str::trim).collect());
        let Some([task, keys, ..]) = cells.as_deref() else {
            is_table = false;
            continue;
        };
        if COLUMNS.contains(keys) {
            is_table = true;
        } else if is_table && !keys.is_empty() && !keys.starts_with("--") {
            let task = task.split(" ([picture]").next().unwrap_or_default();
            found.push((task.to_owned(), (*keys).to_owned()));
        }
    }
    found
}

impl Page {
    /// Runs a console per row, and notes how it ended.
    fn script(&self) -> String {
        let mut script = format!(
            "groupdesk get {} --token-out {LEAKED} --quiet\n",
            self.leaks
        );
        let consoles = if self.is_tour { 1 } else { self.rows.len() };
        for number in 0..consoles {
            let _ = writeln!(
                script,
                "printf '\\033[2J\\033[H'; code=0\nsh -c 'echo $$ > {PID}; exec groupdesk' || code=$?\necho \"console {number} ended with $code.\"; read -r _"
            );
        }
        script.push_str("printf '\\033[2J\\033[H'\n");
        script
    }

    /// Presses the keys of all rows in the consoles of the script.
    fn press(&self, session: &mut Session, home: &Path) {
        for (number, (task, _, steps)) in self.rows.iter().enumerate() {
            if number == 0 || !self.is_tour {
                begin(session);
            }
            for (keys, shown) in *steps {
                let keys = if *keys == TOKEN {
                    fs::read_to_string(home.join(LEAKED))
                        .expect("a token")
                        .trim()
                        .to_owned()
                } else {
                    (*keys).to_owned()
                };
                let what = format!("{}: {task}: {shown}", self.file);
                let is_shown = |screen: &str| {
                    let mut parts = shown.split(" & ");
                    parts.all(|part| match part.strip_prefix("no ") {
                        Some(gone) => !screen.contains(gone),
                        None => screen.contains(part),
                    })
                };
                if shown.is_empty() {
                    session.send(keys);
                    continue;
                }
                // Otherwise the next key, or the end, could arrive before this one is read.
                assert!(!is_shown(&session.screen()), "already before: {what}");
                session.send(keys);
                session.wait_until(&what, DEADLINE, |screen| is_shown(&screen.contents()));
            }
            if !self.is_tour || number + 1 == self.rows.len() {
                end(session, home);
            }
        }
    }
}

/// Waits for the rows of the list, without the filter of the console before.
fn begin(session: &mut Session) {
    // The end of the footer is drawn last; only a row offers a change.
    let is_whole = |screen: &str| screen.contains("? help");
    let screen = session.wait_until("a list", DEADLINE, |screen| {
        let screen = screen.contents();
        is_whole(&screen) && (screen.contains("e edit") || screen.contains("Esc clear"))
    });
    if screen.contains("Esc clear") {
        session.send(ESC);
        session.wait_until("all groups", DEADLINE, |screen| {
            let screen = screen.contents();
            is_whole(&screen) && screen.contains("e edit") && !screen.contains("Esc clear")
        });
    }
}

/// Ends the console whatever page is open; a signal keeps drafts, as a closed terminal does.
fn end(session: &mut Session, home: &Path) {
    let ended = " ended with ";
    if !session.screen().contains(ended) {
        let pid = fs::read_to_string(home.join(PID)).expect("a console");
        let killed = Command::new("kill").arg(pid.trim()).status();
        assert!(killed.expect("kill is there").success());
        session.wait_for(ended, DEADLINE);
    }
    session.send("\n");
    session.wait_for_no(ended, DEADLINE);
}

#[test]
fn each_row_of_keys_is_pressed() {
    let [guide, operations] =
        ["docs/guide", "docs/operations"].map(|below| super::below(below, &["md"]));
    for file in guide
        .into_iter()
        .chain(operations)
        .chain(["README.md".to_owned()])
    {
        let page = PAGES.iter().find(|page| page.file == file);
        let pressed = page.map_or(&[][..], |page| page.rows).iter();
        let pressed = pressed.map(|(task, keys, _)| ((*task).to_owned(), (*keys).to_owned()));
        assert_eq!(
            rows(&super::page(&file)),
            pressed.collect::<Vec<_>>(),
            "{file}"
        );
    }
    let table =
        "| to | keys |\n|---|---|\n| a ([picture](b)) | `c`, D | e |\n| f | | g |\n\n| x | y |";
    assert_eq!(rows(table), [("a".to_owned(), "`c`, D".to_owned())]);
}

#[test]
fn the_keys_of_readme_after_its_own_set_up() {
    let [page, ..] = &PAGES;
    let blocks = super::blocks(&super::page(page.file));
    let console = blocks
        .iter()
        .find(|block| block.kind == super::Kind::Console);
    let set_up = &console.expect("a set-up").text;
    let (home, mut session) = run::in_a_home(set_up, &page.script());
    session.wait_for(run::LISTED, DEADLINE);
    session.send("q");
    session.wait_for_no(run::LISTED, DEADLINE);
    page.press(&mut session, home.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_the_guide_in_the_demo() {
    for page in &PAGES[1..] {
        let (home, _demo, mut session) = run::in_the_demo(&page.script()).await;
        page.press(&mut session, home.path());
    }
}
