//! Completion in the shells themselves, installed as the guide says: Tab after half of an id.

use super::{TempHome, prelude::*};

/// A shell without personal settings, and the line that installs the completion.
#[rustfmt::skip] // A table: one case per line.
const SHELLS: [(&str, &[&str], &str); 3] = [
    ("bash", &["--norc", "--noprofile", "-i"], "eval \"$(groupdesk completions bash)\""),
    ("zsh", &["-f", "-i"], "mkdir ~/.zfunc; groupdesk completions zsh > ~/.zfunc/_groupdesk; fpath+=~/.zfunc; autoload -Uz compinit; compinit -D -u"),
    ("fish", &["--private"], "mkdir -p $XDG_CONFIG_HOME/fish/completions; groupdesk completions fish > $XDG_CONFIG_HOME/fish/completions/groupdesk.fish"),
];

/// Without `GROUPDESK_SHELLS=required` a shell that is not installed is left out, and a line is printed.
fn is_installed(shell: &str) -> bool {
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
fn tab_completes_half_an_id_in_every_shell() {
    let program = Path::new(env!("CARGO_BIN_EXE_groupdesk"));
    let folder = program.parent().expect("a folder").display();
    let place = TempHome::new();
    let held = place.hold();
    for (shell, arguments, installs) in SHELLS {
        if !is_installed(shell) {
            continue;
        }
        let place = TempHome::new();
        let program = place.here(Program::new(shell, arguments));
        let mut session = held
            .console(program)
            .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
            .size(50, 120)
            .start();
        session.send(format!("{installs}; echo in''stalled\r"));
        session.wait_until(shell, PATIENCE, |screen| {
            screen.contents().contains("installed\n")
        });
        // A suggestion that was not inserted would not be run.
        session.type_until(
            "groupdesk show acme-e\t--json\r",
            "\"user_group_id\": \"acme-eu\"",
            PATIENCE,
        );
        session.type_until(
            "groupdesk doc\t--help\r",
            "Usage: groupdesk doctor",
            PATIENCE,
        );
    }
}
