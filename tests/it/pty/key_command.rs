//! A command that prints a key and asks on the terminal: on the command line it gets it, in the console and in the
//! background it is told at once that it cannot ask.

use super::{PATIENCE, place::TempHome};
use crate::support::{pty::Program, world::World};

/// Ends with 3 where there is no terminal. A command that waits is stopped after 10 s, which another message says.
const ASKS: &str =
    r#"printf 'Pass''phrase: ' >/dev/tty || exit 3; read -r line </dev/tty; echo "$line""#;

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

#[tokio::test(flavor = "multi_thread")]
async fn on_the_command_line_it_gets_the_terminal() {
    let world = World::new().await;
    let key = world.new_key("testing", Some("Testing"));
    let place = configured(&world, ASKS);
    let program = place.groupdesk(&["profile", "check", "eu"]);
    let mut session = here(&place, program).start();
    session.wait_for("Passphrase: ", PATIENCE);
    session.send(format!("{key}\n"));
    assert!(
        session.exit_status(PATIENCE).success(),
        "{}",
        session.screen()
    );
}

/// A question on standard error, as of `read -p`, and a command that says nothing.
#[tokio::test(flavor = "multi_thread")]
async fn what_it_asks_on_standard_error_and_that_it_is_waited_for_is_shown() {
    let world = World::new().await;
    let key = world.new_key("testing", Some("Testing"));
    for (asks, shown) in [
        ("printf 'Pass''phrase: ' >&2;", "sh: Passphrase:"),
        ("", "waiting for sh, which prints the API key"),
    ] {
        let asks = format!(r#"{asks} read -r line </dev/tty; echo "$line""#);
        let place = configured(&world, &asks);
        let program = place.groupdesk(&["profile", "check", "eu"]);
        let mut session = here(&place, program).start();
        session.wait_for(shown, PATIENCE);
        session.send(format!("{key}\n"));
        let status = session.exit_status(PATIENCE);
        assert!(status.success(), "{}", session.screen());
    }
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
