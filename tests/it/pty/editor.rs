//! The external editor gets the terminal, a private file and no secret; afterwards everything is as before.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use rustix::process::Signal;

use super::{
    PATIENCE, assert_taken,
    place::{BackgroundDemo, FIRST, TempHome, processes_of_session, wait_until},
};
use crate::support::pty::Session;

/// F4 in a form.
const WHOLE_GROUP: &str = "\x1bOS";
const CANARY: &str = "canary-key-0123456789abcdef";

/// Notes its arguments and the modes of its file, then runs the script in `next`.
const EDITOR: &str = r#"#!/bin/sh
[ "$1" = --wait ] || exit 9
file=$2
here=$(dirname "$0")
stat -c %a "$file" >"$here/modes"
stat -c %a "$(dirname "$file")" >>"$here/modes"
env >"$here/env"
cp "$file" "$here/given"
touch "$file~"
. "$here/next"
"#;

struct Home {
    place: TempHome,
    held: BackgroundDemo,
    folder: PathBuf,
}

impl Home {
    fn new() -> Self {
        let place = TempHome::new();
        let held = place.hold();
        let run = place.below("run");
        fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).expect("private");
        let folder = place.below("home/my editor");
        fs::create_dir(&folder).expect("a folder");
        let script = folder.join("edit");
        fs::write(&script, EDITOR).expect("written");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
        let config = "[profiles.testing]\nbase_url = \"http://127.0.0.1:1\"\napi_key = { env = \"KEY\" }\n\
                      environment = \"Testing\"\nproduction = false\n";
        fs::write(place.below("config/mine.toml"), config).expect("written");
        held.is_also_at("http://127.0.0.1:1", CANARY, "testing", "Testing");
        Self {
            place,
            held,
            folder,
        }
    }

    /// A console with a form open.
    fn form(&self) -> Session {
        let editor = format!("'{}/edit' --wait", self.folder.display());
        self.form_with(Some(&editor))
    }

    fn form_with(&self, editor: Option<&str>) -> Session {
        let config = self.place.below("config/mine.toml");
        let program = self
            .place
            .groupdesk(&["--profile", "testing"])
            .env("GROUPDESK_CONFIG", config.to_string_lossy())
            .env("GROUPDESK_DIRECTORY", self.held.directory.as_str())
            .env("KEY", CANARY)
            .env("GROUPDESK_BASE_URL", "http://127.0.0.1:1")
            .env("GROUPDESK_API_KEY", CANARY)
            .env("EDITOR", "false");
        let program = match editor {
            Some(editor) => program.env("VISUAL", editor),
            None => program.env("EDITOR", ""),
        };
        let mut session = program.size(30, 100).start();
        session.wait_for(FIRST, PATIENCE);
        session.type_until("e", "nothing changed", PATIENCE);
        session
    }

    /// Sets what the editor does next; `$file` is its file.
    fn next(&self, script: &str) {
        fs::write(self.folder.join("next"), script).expect("written");
    }

    fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).expect("noted")
    }

    /// The files with texts that were not used.
    fn kept(&self) -> Vec<PathBuf> {
        let mut kept = entries(&self.place.below("tmp"));
        kept.retain(|path| {
            let text = fs::read(path).unwrap_or_default();
            text.starts_with(b"typed")
        });
        kept
    }

    #[track_caller]
    fn assert_gone(&self) {
        let left = entries(&self.place.below("run"));
        assert!(left.is_empty(), "{left:?}");
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("readable");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn the_whole_group_is_edited_and_reviewed() {
    let home = Home::new();
    let mut session = home.form();
    session.send("\x1b");
    session.wait_for_no("Edit acme-eu", PATIENCE);
    home.next("echo 'half' >>\"$file\"");
    let screen = session.type_until("E", "kept: F4 opens it again", PATIENCE);
    assert!(screen.contains("line "), "{screen}");
    assert!(
        home.noted("given")
            .contains("\"user_group_id\": \"acme-eu\"")
    );
    assert_taken(&mut session);
    assert_eq!(home.noted("modes"), "600\n700\n");
    let env = home.noted("env");
    assert!(env.contains("TERM=") && !env.contains(CANARY), "{env}");
    home.assert_gone();
    home.next("sed -i -e '$d' -e 's/\"name\": .*/\"name\": \"From outside\",/' \"$file\"");
    session.type_until(WHOLE_GROUP, "Loaded from the editor", PATIENCE);
    assert!(home.noted("given").ends_with("half\n"), "the same text");
    let screen = session.wait_for("1 change", PATIENCE);
    assert!(screen.contains("From outside"), "{screen}");
    home.assert_gone();
}

#[test]
fn the_editor_has_the_keyboard_alone() {
    let home = Home::new();
    let mut session = home.form();
    home.next("echo the editor reads; read line; sed -i \"s/\\\"name\\\": .*/\\\"name\\\": \\\"$line\\\",/\" \"$file\"");
    session.type_until(WHOLE_GROUP, "the editor reads", PATIENCE);
    assert!(session.is_cooked());
    assert!(!session.terminal_state().alternate_screen());
    session.type_until(
        "every letter of it, q and \\x1b\n",
        "Loaded from the editor",
        PATIENCE,
    );
    session.wait_for("every letter of it, q and", PATIENCE);
    assert_taken(&mut session);
    session.type_until("!", "x1b!", PATIENCE);
    // Ctrl-C goes to the editor; the console takes nothing over, and stays.
    home.next("echo the editor waits; read line");
    session.type_until(WHOLE_GROUP, "the editor waits", PATIENCE);
    session.type_until("\x03", "not applied", PATIENCE);
    session.wait_for("x1b!", PATIENCE);
    home.assert_gone();
}

#[test]
fn an_editor_that_fails_crashes_or_is_missing_changes_nothing() {
    let home = Home::new();
    let mut session = home.form();
    for (next, said) in [
        (
            "echo typed >\"$file\"; exit 3",
            "the editor ended with exit code 3",
        ),
        ("echo typed >\"$file\"; kill -9 $$", "SIGKILL"),
        ("rm \"$file\"", "the editor left no file"),
        ("printf 'typed\\377' >\"$file\"", "not UTF-8"),
    ] {
        home.next(next);
        let screen = session.type_until(WHOLE_GROUP, said, PATIENCE);
        assert!(screen.contains("nothing changed"), "{screen}");
        home.assert_gone();
    }
    assert_eq!(
        home.kept().len(),
        3,
        "what was typed is in files of its own"
    );
    for (editor, said) in [
        (
            Some("no-such-editor"),
            "the editor was not found: no-such-editor",
        ),
        (None, "no editor is set"),
    ] {
        let mut session = home.form_with(editor);
        session.type_until(WHOLE_GROUP, said, PATIENCE);
        assert_taken(&mut session);
        home.assert_gone();
    }
}

/// The console ends, so the path is printed after it.
#[test]
fn on_sigterm_what_was_typed_in_the_editor_is_kept() {
    let home = Home::new();
    let mut session = home.form();
    home.next("echo typed >\"$file\"; echo the editor waits; exec sleep 1000");
    session.type_until(WHOLE_GROUP, "the editor waits", PATIENCE);
    session.signal(Signal::TERM);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    let kept = home.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let joined: String = session.screen().split_whitespace().collect();
    let path = kept[0].display().to_string();
    assert!(joined.contains(&path), "{path}: {joined}");
    home.assert_gone();
}

#[test]
fn on_sigterm_the_console_ends_its_editor_and_leaves_no_file() {
    let home = Home::new();
    let mut session = home.form();
    session.type_until("x", "1 change", PATIENCE);
    home.next("echo the editor waits; exec sleep 1000");
    session.type_until(WHOLE_GROUP, "the editor waits", PATIENCE);
    session.signal(Signal::TERM);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    super::assert_given_back(&mut session);
    assert!(session.screen().contains("1 unsent draft is kept"));
    let leader = session.pid();
    wait_until("no process is left", || {
        processes_of_session(leader).is_empty()
    });
    home.assert_gone();
}
