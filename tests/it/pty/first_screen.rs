//! The first start on a fresh machine: no profile, and the demo one key away.

use super::{
    PATIENCE, assert_given_back, assert_taken,
    place::{FIRST, Place},
};

#[test]
fn it_says_how_to_connect_and_quits() {
    let place = Place::new();
    let mut session = place.groupdesk(&[]).size(24, 120).start();
    let screen = session.wait_for("No profile is configured yet", PATIENCE);
    let file = place.below("config/groupdesk/config.toml");
    assert!(screen.contains(&*file.to_string_lossy()), "{screen}");
    assert!(screen.contains("GROUPDESK_BASE_URL"), "{screen}");
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
}

#[test]
fn one_key_starts_the_demo_in_the_same_terminal() {
    let place = Place::new();
    let mut session = place.groupdesk(&[]).start();
    session.wait_for("No profile is configured yet", PATIENCE);
    session.send("d");
    let screen = session.wait_for(FIRST, PATIENCE);
    assert!(screen.contains("A demo:"), "{screen}");
    assert_taken(&mut session);
    session.send("jj\r");
    session.wait_for("Groups > Brasserie", PATIENCE);
    session.wait_for("read 0s ago", PATIENCE);
    session.send("q");
    session.wait_for("10 of 10", PATIENCE);
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
    assert!(!place.has_demo_folder());
}

#[test]
fn keys_that_mean_two_things_are_refused_with_their_lines() {
    let place = Place::new();
    let folder = place.below("config/groupdesk");
    std::fs::create_dir(&folder).expect("a folder");
    let text = "[keys.list]\nedit = [\"x\"]\nsort = [\"x\"]\n";
    std::fs::write(folder.join("config.toml"), text).expect("written");
    let mut session = place.groupdesk(&[]).size(24, 250).start();
    let screen = session.wait_for("give one of them another key", PATIENCE);
    assert!(screen.contains("config.toml:3:1: the key x"), "{screen}");
    assert!(
        screen.contains("edit (line 2) and sort (line 3)"),
        "{screen}"
    );
    assert_eq!(session.exit_status(PATIENCE).code(), Some(2));
}
