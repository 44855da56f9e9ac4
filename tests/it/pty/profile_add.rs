//! `profile add` on a terminal: missing values are asked for, and so is behaviour of the service that is not
//! documented.

use std::fs::Permissions;

use serde_json::Value;

use super::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn undocumented_behaviour_is_asked_and_recorded_as_answered() {
    let world = World::new().await;
    let place = TempHome::new();
    let key = place.below("key");
    std::fs::write(&key, world.new_key("testing", Some("Testing"))).expect("written");
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("private");
    let mut session = place.groupdesk(&["profile", "add", "eu"]).start();
    for (question, answer) in [
        ("Base URL, for example", world.base_url()),
        ("Environment: Customer, Testing", "Testing"),
        ("API key from", "file"),
        ("File, for example", key.to_str().expect("a plain path")),
        ("fields that an update omits", "keep"),
        ("return its stored properties?", ""),
        ("anybody change this environment", "perhaps"),
    ] {
        session.wait_for(question, PATIENCE);
        session.send(format!("{answer}\n"));
    }
    session.wait_for("not a valid answer; left unknown", PATIENCE);
    assert!(session.exit_status(PATIENCE).success());
    let mut facts = place
        .groupdesk(&["profile", "behaviour", "eu", "--json"])
        .size(60, 200)
        .start();
    assert!(facts.exit_status(PATIENCE).success());
    let screen = facts.screen();
    let begin = screen.find('[').expect("a list");
    let told: Value = serde_json::from_str(&screen[begin..]).expect("JSON");
    let fact = |name: &str| {
        let mut all = told.as_array().expect("a list").iter();
        let fact = all.find(|fact| fact["fact"] == name).expect("it is there");
        (fact["value"].clone(), fact["source"].clone())
    };
    let as_told = |value: &str| (value.into(), "told".into());
    for field in ["absent_name", "absent_properties", "absent_mapping"] {
        assert_eq!(fact(field), as_told("keep"));
    }
    assert_eq!(fact("properties_on_get").1, "unknown");
    assert_eq!(fact("sole_writer").1, "unknown");
}
