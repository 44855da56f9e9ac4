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
