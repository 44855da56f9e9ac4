//! The external editor gets the terminal, a private file and no secret; afterwards everything is as before.

use super::prelude::*;

/// F4 in a form.
const WHOLE_GROUP: &str = "\x1bOS";

/// Notes the modes of its file, then runs the script in `next`.
const EDITOR: &str = r#"#!/bin/sh
[ "$1" = --wait ] || exit 9
file=$2
here=$(dirname "$0")
stat -c %a "$file" >"$here/modes"
stat -c %a "$(dirname "$file")" >>"$here/modes"
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
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(place.below("run"), private).expect("private");
        let folder = place.below("home/my editor");
        fs::create_dir(&folder).expect("a folder");
        let script = folder.join("edit");
        fs::write(&script, EDITOR).expect("written");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
        Self {
            place,
            held,
            folder,
        }
    }

    /// A console with a form open.
    fn form(&self) -> Session {
        let editor = format!("'{}/edit' --wait", self.folder.display());
        let program = self.held.console(self.place.groupdesk(&[]));
        let program = program.env("EDITOR", "false").env("VISUAL", editor);
        let mut session = program.size(30, 100).start();
        session.wait_for(FIRST, PATIENCE);
        session.type_until("e", "nothing changed", PATIENCE);
        session
    }

    /// Sets what the editor does next; `$file` is its file.
    fn next(&self, script: &str) {
        fs::write(self.folder.join("next"), script).expect("written");
    }

    #[track_caller]
    fn assert_gone(&self) {
        let left = fs::read_dir(self.place.below("run")).expect("readable");
        assert_eq!(left.count(), 0);
    }
}

#[test]
fn the_editor_has_the_keyboard_alone() {
    let home = Home::new();
    let mut session = home.form();
    home.next("echo the editor reads; read line; sed -i \"s/\\\"name\\\": .*/\\\"name\\\": \\\"$line\\\",/\" \"$file\"");
    session.type_until(WHOLE_GROUP, "the editor reads", PATIENCE);
    assert!(session.is_cooked());
    assert!(!session.terminal_state().alternate_screen());
    let line = "every letter of it, q and \\x1b\n";
    session.type_until(line, "Loaded from the editor", PATIENCE);
    session.wait_for("every letter of it, q and", PATIENCE);
    assert_taken(&mut session);
    let modes = fs::read_to_string(home.folder.join("modes"));
    assert_eq!(modes.expect("noted"), "600\n700\n");
    session.type_until("!", "x1b!", PATIENCE);
    // Ctrl-C goes to the editor; the console takes nothing over, and stays.
    home.next("echo the editor waits; read line");
    session.type_until(WHOLE_GROUP, "the editor waits", PATIENCE);
    session.type_until("\x03", "not applied", PATIENCE);
    session.wait_for("x1b!", PATIENCE);
    home.assert_gone();
}

#[test]
fn on_sigterm_the_console_ends_its_editor_and_leaves_no_file() {
    let home = Home::new();
    let mut session = home.form();
    session.type_until("x", "1 change", PATIENCE);
    home.next("echo typed >\"$file\"; echo the editor waits; exec sleep 1000");
    session.type_until(WHOLE_GROUP, "the editor waits", PATIENCE);
    session.signal(Signal::TERM);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert_given_back(&mut session);
    // What was typed is in a file of its own, whose path is printed.
    assert!(session.screen().contains("1 unsent draft is kept"));
    let joined: String = session.screen().split_whitespace().collect();
    let tmp = home.place.below("tmp").display().to_string();
    assert!(joined.contains(&tmp), "{joined}");
    let leader = session.pid();
    wait_until("no process is left", || {
        processes_of_session(leader).is_empty()
    });
    home.assert_gone();
}
