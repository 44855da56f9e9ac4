//! Completion in the shells themselves, installed as the guide says: the Tab key of a person who knows half of an id.

use std::path::Path;

use super::{PATIENCE, Place};
use crate::support::pty::Program;

/// A shell without a person's settings, and the line that installs the completion.
#[rustfmt::skip] // A table: one case a line.
const SHELLS: [(&str, &[&str], &str); 3] = [
    ("bash", &["--norc", "--noprofile", "-i"], "eval \"$(groupdesk completions bash)\""),
    ("zsh", &["-f", "-i"], "mkdir ~/.zfunc; groupdesk completions zsh > ~/.zfunc/_groupdesk; fpath+=~/.zfunc; autoload -Uz compinit; compinit -D -u"),
    ("fish", &["--private"], "mkdir -p $XDG_CONFIG_HOME/fish/completions; groupdesk completions fish > $XDG_CONFIG_HOME/fish/completions/groupdesk.fish"),
];

/// Where `GROUPDESK_SHELLS=required` is not set, a shell that is not installed is left out, and a line says so.
fn is_there(shell: &str) -> bool {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"];
    let is_there = folders.iter().any(|f| Path::new(f).join(shell).exists());
    if !is_there {
        let required = std::env::var_os("GROUPDESK_SHELLS").is_some_and(|said| said == "required");
        assert!(!required, "{shell} is required, and not installed");
        eprintln!("left out: completion in {shell}, which is not installed");
    }
    is_there
}

#[test]
fn half_an_id_and_a_tab_are_a_command_in_every_shell() {
    let program = Path::new(env!("CARGO_BIN_EXE_groupdesk"));
    let folder = program.parent().expect("a folder").display();
    let place = Place::new();
    let held = place.hold();
    for (shell, arguments, installs) in SHELLS {
        if !is_there(shell) {
            continue;
        }
        let place = Place::new();
        let started = place
            .here(Program::new(shell, arguments))
            .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
            .env("GROUPDESK_CONFIG", held.config.clone())
            .env("GROUPDESK_DIRECTORY", held.directory.clone())
            .size(50, 120);
        let mut session = started.start();
        session.send(format!("{installs}; echo in''stalled\r"));
        session.wait_until(shell, PATIENCE, |screen| {
            screen.contents().contains("installed\n")
        });
        // What is suggested and not taken would not be run.
        session.send("groupdesk show acme-e\t--json\r");
        session.wait_for("\"user_group_id\": \"acme-eu\"", PATIENCE);
        session.send("groupdesk doc\t--help\r");
        session.wait_for("Usage: groupdesk doctor", PATIENCE);
    }
}
