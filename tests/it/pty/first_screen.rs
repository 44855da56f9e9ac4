//! The first start on a fresh machine: no profile, and the demo one key away.

use super::prelude::*;

#[test]
fn one_key_starts_the_demo_in_the_same_terminal() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&[]).size(24, 120).start();
    let screen = session.wait_for("No profile is configured yet", PATIENCE);
    let file = place.below("config/groupdesk/config.toml");
    assert!(screen.contains(&*file.to_string_lossy()), "{screen}");
    session.type_until("d", FIRST, PATIENCE);
    session.wait_for("Demo on this machine", PATIENCE);
    assert_taken(&mut session);
    session.type_until("jj\r", "Groups › Brasserie", PATIENCE);
    session.wait_for("read at", PATIENCE);
    session.type_until("q", "10 groups", PATIENCE);
    quit(&mut session);
    assert!(!place.has_demo_folder());
}

#[test]
fn keys_with_two_meanings_are_refused_with_their_lines() {
    let place = TempHome::new();
    let folder = place.below("config/groupdesk");
    std::fs::create_dir(&folder).expect("a folder");
    let text = "[keys]\nedit = [\"&\"]\nsort = [\"&\"]\n";
    std::fs::write(folder.join("config.toml"), text).expect("written");
    let mut session = place.groupdesk(&[]).size(24, 250).start();
    let screen = session.wait_for("choose another key for one of them", PATIENCE);
    assert!(screen.contains("config.toml:3:1: the key &"), "{screen}");
    assert!(
        screen.contains("edit (line 2) and sort (line 3)"),
        "{screen}"
    );
    assert_eq!(session.exit_status(PATIENCE).code(), Some(2));
}
