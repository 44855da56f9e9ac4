//! A command that prints a key and asks on the terminal: on the command line it gets it, in the console and in the
//! background it is told at once that it cannot ask.

use super::prelude::*;

/// Ends with 3 where there is no terminal. A command that waits is stopped after 10 s, which another message says.
const ASKS: &str = r#"stty -echo </dev/tty
    printf 'Pass''phrase: ' >/dev/tty || exit 3; read -r line </dev/tty; echo "$line""#;

/// A profile whose key is what somebody types.
fn configured(world: &World, asks: &str) -> TempHome {
    let place = TempHome::new();
    let config = format!(
        "[profiles.eu]\nbase_url = \"{}\"\nenvironment = \"Testing\"\nproduction = false\n\
         api_key = {{ command = [\"sh\", \"-c\", '''{asks}'''] }}\n",
        world.base_url()
    );
    std::fs::write(place.below("config/eu.toml"), config).expect("written");
    place
}

fn here(place: &TempHome, program: Program) -> Program {
    let config = place.below("config/eu.toml");
    program.env("GROUPDESK_CONFIG", config.to_string_lossy())
}

/// A question on standard error, as of `read -p`, with what was said before it; but no key, as from `set -x`.
#[tokio::test(flavor = "multi_thread")]
async fn what_it_asks_on_standard_error_is_shown_and_no_key() {
    let world = World::new().await;
    let key = world.new_key("testing", Some("Testing"));
    let asks = r#"set 9f86d081-884c 7d65-9a2f-eaa0c55ad015
        echo "+ echo staple" >&2; echo "with $1-$2" >&2; echo both lines >&2; printf 'Pass''phrase: ' >&2
        read -r line </dev/tty; printf 'half %s' "$1" >&2; echo "$line""#;
    let place = configured(&world, asks);
    let program = place.groupdesk(&["profile", "check", "eu"]);
    let mut session = here(&place, program).start();
    session.wait_for("sh: Passphrase:", PATIENCE);
    session.send(format!("{key}\n"));
    let status = session.exit_status(PATIENCE);
    let screen = session.screen();
    assert!(status.success(), "{screen}");
    assert!(screen.contains("sh: with …"), "{screen}");
    assert!(!screen.contains("staple"), "{screen}");
    assert!(screen.contains("sh: both lines"), "{screen}");
    assert!(!screen.contains("9f86d081"), "{screen}");
    assert!(!screen.contains("eaa0c55ad015"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_console_and_in_the_background_it_cannot_ask_and_is_told_at_once() {
    let world = World::new().await;
    let place = configured(&world, ASKS);
    let key = world.new_key("testing", Some("Testing"));
    let create = ["create", "acme-eu", "--yes"];
    let mut session = here(&place, place.groupdesk(&create)).start();
    session.wait_for("Passphrase: ", PATIENCE);
    session.send(format!("{key}\n"));
    assert!(
        session.exit_status(PATIENCE).success(),
        "{}",
        session.screen()
    );
    // Ctrl-C ends both, and the terminal is as it was before.
    let mut session = here(&place, place.groupdesk(&["get", "acme-eu"])).start();
    session.wait_for("Passphrase: ", PATIENCE);
    session.send("\x03");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert_eq!(session.settings(), session.settings_before());

    let program = place.shell("groupdesk profile check eu & wait $!; echo ended with $?");
    let mut session = here(&place, program).size(24, 300).start();
    let screen = session.wait_for("ended with 4", PATIENCE);
    assert!(screen.contains("it cannot ask here"), "{screen}");
    assert!(!screen.contains("Passphrase"), "{screen}");
    let mut console = here(&place, place.groupdesk(&["--profile", "eu"]))
        .size(30, 120)
        .start();
    console.wait_for("acme-eu", PATIENCE);
    console.send("\r");
    let screen = console.wait_for("no API key from", PATIENCE);
    assert!(!screen.contains("Passphrase"), "{screen}");
}
