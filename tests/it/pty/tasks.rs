//! The everyday tasks from the first key to the last, by keyboard alone at 80×24, and the state of the service
//! afterwards. `pictures::tasks` draws the same tasks.

use std::{fs, net::TcpListener};

use groupdesk::domain::change::DesiredFields;

use super::{
    PATIENCE,
    drafts::{assert_offered, kept, kill_over_a_draft},
    place::{TempHome, wait_until},
};
use crate::support::{
    pty::Session,
    service::Caller,
    world::{Side, World, id},
};

const GROUPS: [(&str, &str); 3] = [
    ("acme-eu", "Acme Europe"),
    ("globex", "Globex"),
    ("initech", "Initech"),
];

/// A service whose groups this installation knows, and a person's folders.
struct Scene {
    world: World,
    place: TempHome,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        for side in [Side::Production, Side::Testing] {
            let operations = world.operations(side);
            for (group, name) in GROUPS {
                let mapping = [("40", "213"), ("134", "386")];
                let mapping = mapping.map(|(schema, source)| (schema.into(), source.into()));
                let wanted = DesiredFields {
                    name: Some(name.into()),
                    mapping: Some(mapping.into()),
                    properties: serde_json::from_str(r#"{"tier":"gold"}"#).expect("an object"),
                };
                let created = operations.create(&id(group), &wanted).await;
                created.expect("created");
            }
        }
        let place = TempHome::new();
        Self { world, place }
    }

    /// The shipped binary on a profile, with its list on the screen.
    fn console(&self, side: Side, config: &str) -> Session {
        let file = self.place.below("config/errands.toml");
        fs::write(&file, config).expect("written");
        let mut session = self
            .place
            .groupdesk(&["--profile", side.name()])
            .env("GROUPDESK_CONFIG", file.to_string_lossy())
            .env(
                "GROUPDESK_DIRECTORY",
                self.world.directory_file().to_string_lossy(),
            )
            .start();
        session.wait_for("3 groups", PATIENCE);
        session
    }

    fn on(&self, side: Side) -> Session {
        self.console(side, &self.config())
    }

    fn config(&self) -> String {
        fs::read_to_string(self.world.config_file()).expect("readable")
    }

    /// How many groups the service has, each with one token.
    fn groups(&self) -> usize {
        self.world.secrets().len()
    }
}

/// Filters the list down to one group.
fn find(session: &mut Session, group: &str) {
    session.type_until(format!("/{group}\r"), "1 of 3", PATIENCE);
}

/// Every screen of a task in production names it.
#[track_caller]
fn assert_production(screen: &str) {
    assert!(screen.starts_with(" PRODUCTION "), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_row_of_a_production_mapping_is_changed() {
    let scene = Scene::new().await;
    let before = scene.world.stored(Side::Production, "acme-eu");
    let mut session = scene.on(Side::Production);
    find(&mut session, "acme-eu");
    session.send("e");
    assert_production(&session.wait_for("nothing changed", PATIENCE));
    session.send("\tl\r\x15999\r");
    assert_production(&session.wait_for("was 213", PATIENCE));
    let review = session.type_until("\x13", ": unchanged since you started", PATIENCE);
    assert_production(&review);
    assert!(review.contains("~ 40  213 → 999"), "{review}");
    assert!(review.contains("nothing is sent yet"), "{review}");
    assert_eq!(scene.world.stored(Side::Production, "acme-eu"), before);

    session.send("y");
    assert_production(&session.wait_for("then Enter: ", PATIENCE));
    let result = session.type_until("acme-eu\r", "UPDATED", PATIENCE);
    assert_production(&result);
    assert!(result.contains("40 → 999"), "{result}");
    let after = scene.world.stored(Side::Production, "acme-eu");
    assert_eq!(after.mapping["40"], "999");
    assert_eq!(after.mapping["134"], "386", "the other row");
    assert_eq!(
        (after.name, after.properties, after.token),
        (before.name, before.properties, before.token)
    );
    let testing = scene.world.stored(Side::Testing, "acme-eu");
    assert_eq!(testing.mapping["40"], "213", "the other environment");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leaked_token_is_found_and_rotated() {
    let scene = Scene::new().await;
    let leaked = scene.world.stored(Side::Production, "initech").token;
    let mut session = scene.on(Side::Production);
    session.type_until("W", "Whose token is this?", PATIENCE);
    session.paste(&leaked);
    let found = session.type_until("\r", "current  token of initech in production", PATIENCE);
    assert_production(&found);
    session.type_until("t", "T rotates it", PATIENCE);
    session.send("T");
    assert_production(&session.wait_for("nothing is sent yet", PATIENCE));
    session.type_until(
        "\x1b[Zleaked in a ticket\tinitec\r",
        "Text differs; nothing was sent",
        PATIENCE,
    );
    let now = || scene.world.stored(Side::Production, "initech").token;
    assert_eq!(now(), leaked, "Nothing was sent");
    session.send("h\r");
    assert_production(&session.wait_for("confirmation   confirmed", PATIENCE));
    assert_ne!(now(), leaked);
    let key = scene.world.new_key("production", Some("Customer"));
    let caller = Caller::new(scene.world.base_url(), &key.into());
    let refused = caller.rotate(&leaked).await.refused();
    assert_eq!(
        refused,
        (409, "token_retired".into()),
        "the old one is dead"
    );

    session.type_until("W", "Whose token is this?", PATIENCE);
    session.paste(&leaked);
    session.type_until("\r", "former   token of initech in production", PATIENCE);
    let written = String::from_utf8_lossy(session.raw_output()).into_owned();
    for token in [leaked, now()] {
        assert!(!written.contains(&token), "a token was shown");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_alike_id_is_named_and_can_be_left() {
    let scene = Scene::new().await;
    let groups = scene.groups();
    let mut session = scene.on(Side::Production);
    session.type_until("o", "Open or create a group", PATIENCE);
    session.paste("\u{430}cme-eu");
    let warned = session.wait_for("looks like \"a\"", PATIENCE);
    assert_production(&warned);
    assert!(warned.contains("sending creates the group"), "{warned}");
    assert!(warned.contains("Did you mean?"), "{warned}");
    assert!(warned.contains("  acme-eu"), "{warned}");
    // As far as the last key before sending.
    session.type_until("\r", "Create", PATIENCE);
    let review = session.type_until("Acme\x13", "new group", PATIENCE);
    assert_production(&review);
    assert!(review.contains("looks like \"a\""), "{review}");
    session.send("\x1b");
    session.wait_for_no("new group", PATIENCE);
    session.type_until("\x1b", "3 groups", PATIENCE);

    session.type_until("o", "Open or create a group", PATIENCE);
    session.paste("acme-eu\u{200b}");
    session.wait_for("invisible", PATIENCE);
    session.send("\x1b");
    session.wait_for_no("Open or create a group", PATIENCE);
    session.send("q");
    session.exit_status(PATIENCE);
    assert_eq!(scene.groups(), groups, "no group was created");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_service_does_not_block_the_other_profile() {
    let scene = Scene::new().await;
    // Accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = format!("http://{}", silent.local_addr().expect("an address"));
    let config = scene.config();
    let (production, testing) = config.split_once("[profiles.testing]").expect("both");
    let testing = testing.replace(scene.world.base_url(), &silent);
    scene.world.at(&silent);
    let config = format!("{production}[profiles.testing]{testing}");
    let mut session = scene.console(Side::Testing, &config);
    session.type_until("\r", "reading it from the service", PATIENCE);
    let choice = session.type_until("P", " Profiles ", PATIENCE);
    assert!(choice.starts_with(" TESTING "), "{choice}");
    session.send("k\r");
    assert_production(&session.wait_for_start(" PRODUCTION ", PATIENCE));
    session.wait_for("3 groups", PATIENCE);
    find(&mut session, "globex");
    session.type_until("\r", "Groups › Globex", PATIENCE);
    let read = session.wait_for(" 200 ", PATIENCE);
    assert_production(&read);
    // And one can work in it.
    session.type_until("e", "nothing changed", PATIENCE);
    session.type_until(" plc\x13", ": unchanged since you started", PATIENCE);
    session.type_until("y", "UPDATED", PATIENCE);
    let stored = scene.world.stored(Side::Production, "globex");
    assert_eq!(stored.name, "Globex plc");
}

#[test]
fn a_draft_is_resumed_after_a_kill_and_sent() {
    let place = TempHome::new();
    let held = place.hold();
    kill_over_a_draft(&place, &held);
    let mut session = assert_offered(&place, &held);
    // Completes the half of the JSON.
    session.send("\t\t\x1b[1;5F}");
    session.wait_for_no("1 problem", PATIENCE);
    let review = session.type_until("\x13", ": unchanged since you started", PATIENCE);
    assert_production(&review);
    assert!(review.contains("Half a name"), "{review}");
    let result = session.type_until("y", "UPDATED", PATIENCE);
    for sent in ["Half a name", "→ 999", "oops"] {
        assert!(result.contains(sent), "{sent} is not in\n{result}");
    }
    wait_until("the draft is forgotten", || kept(&held).is_none());
}
