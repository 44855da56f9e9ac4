//! The server of a team's directory goes away, or restricts what is allowed, while the console is open, and recovers.

use groupdesk::{
    config::profile::{KeySource, Profile},
    directory::TeamLocation,
};

use super::prelude::*;
use crate::support::world::Installation;

/// A console on the directory of a team, with two known groups.
pub(super) struct Scene {
    pub(super) world: World,
    pub(super) proxy: FaultyProxy,
    pub(super) directory: Directory,
    pub(super) console: Console,
}

/// Waits until the message was given, even if it is not visible on the screen.
async fn until_said(console: &mut Console, text: &str) {
    let is_told = |console: &Console| {
        let mut said = console.runner.app.context.messages.all();
        said.any(|one| one.text.contains(text))
    };
    console.until_that(&format!("{text:?}"), is_told).await;
}

/// Opens a console on the directory that was set up there.
pub(super) async fn scene(team: &TeamLocation) -> Scene {
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let directory = Directory::open(team).expect("it opens");
    let installation = world.installation(Side::Testing).on(&directory);
    let ana = installation.through(proxy.base_url()).operations();
    for group in ["acme-eu", "initech"] {
        world.seed(
            Side::Testing,
            group,
            "A name",
            &[],
            &json!({"tier": "gold"}),
        );
        let met = ana.look_up(&id(group), UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    let (theme, clock) = (Theme::default(), Clock::System);
    let console = Console::open_at(vec![ana], 0, USUAL, theme, clock).await;
    Scene {
        world,
        proxy,
        directory,
        console,
    }
}

const VIEWER: &str = "you are a viewer of this directory";

/// What is known can be looked at; every key that would change or read something says this reason, and sends nothing:
/// `app::outage` presses them all.
async fn assert_only_reads(console: &mut Console, proxy: &FaultyProxy, why: &str) {
    let sent = proxy.methods().len();
    let refused = format!("Not available: {why}");
    for key in ["e", "t"] {
        console.keys(key).await.shows(&refused);
        console.keys("<esc>").await;
    }
    console.keys("<enter>").await;
    console.shows("Last known values, not read").shows(why);
    console.keys("r").await.shows(&refused);
    console.keys("<esc>2").await.shows("History");
    console.keys("<esc>").await;
    assert_eq!(proxy.methods().len(), sent, "nothing is sent");
}

impl Scene {
    async fn assert_only_reads(&mut self, why: &str) {
        assert_only_reads(&mut self.console, &self.proxy, why).await;
    }

    /// Nothing is read and nothing typed is sent, for this reason.
    async fn assert_refuses(&mut self, why: &str) {
        let sent = self.proxy.methods().len();
        for keys in ["<enter>", "e<end> typed<ctrl-s>"] {
            self.console.keys(keys).await;
            self.console.tells("nothing was sent").tells(why);
            self.console.keys("<esc><esc>").await;
        }
        assert_eq!(self.proxy.methods().len(), sent);
    }

    /// Now the typed change is sent.
    async fn assert_sends(&mut self) {
        let sent = self.proxy.count("PUT");
        self.console.keys("e<end> sent<ctrl-s>y").await;
        self.console.until("updated").await;
        assert_eq!(self.proxy.count("PUT"), sent + 1);
        self.console.keys("<esc><esc>").await;
    }
}

/// A directory of its own on the server of this test run.
fn of_ana(schema: &str) -> Option<(&'static Server, TeamLocation)> {
    let server = postgres::server()?;
    let team = server.set_up(schema);
    Some((server, team))
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_rights_are_reported_and_typed_changes_wait_for_them() {
    let schema = "less_for_ana";
    let Some((server, team)) = of_ana(schema) else {
        return;
    };
    let mut scene = scene(&team).await;
    let operator = format!("{schema}_operator");
    let viewer = format!("{schema}_viewer");
    let change = |text: String| server.execute("public", &text);

    change(format!("GRANT {viewer} TO ana; REVOKE {operator} FROM ana"));
    scene.console.until("view only (viewer)").await;
    scene.assert_only_reads(VIEWER).await;
    // Writes of others are still shown.
    let desk = Directory::open(&postgres::at(server.folder(), schema)).expect("it opens");
    let li = scene.world.installation(Side::Testing).by(LI).on(&desk);
    let known = UnknownIdPolicy::KnownOnly;
    let done = li.operations().rotate(&id("initech"), None, known).await;
    done.expect("rotated");
    until_said(&mut scene.console, "initech (token").await;
    scene.console.keys("r").await.shows("initech");

    change(format!("REVOKE {viewer} FROM ana"));
    scene.console.until("directory: no rights, ").await;
    scene
        .assert_refuses("Ask an admin for the role operator")
        .await;

    change(format!("GRANT {operator} TO ana"));
    until_said(&mut scene.console, "Directory back, ").await;
    scene.console.hides("no rights");
    scene.assert_sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_needs_no_key_and_is_told_why_nothing_can_be_changed() {
    let schema = "seen_by_vera";
    let Some(server) = postgres::server() else {
        return;
    };
    server.set_up(schema);
    let Scene { world, proxy, .. } = scene(&postgres::at(server.folder(), schema)).await;
    server.let_in("vera", schema, &["viewer"]);
    let hers = Directory::open(&postgres::at_as("vera", server.folder(), schema));
    let hers = hers.expect("it opens");
    // pg_dump writes other random words each time.
    let stored = || {
        let dump = server.dump(schema);
        let lines = dump.lines().filter(|line| !line.contains("restrict "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let before = stored();
    let open = async |change: &dyn Fn(Installation) -> Installation| {
        let vera = world.installation(Side::Testing).on(&hers).by("vera@desk3");
        let vera = vec![change(vera.through(proxy.base_url())).unbound()];
        let (theme, clock) = (Theme::default(), Clock::System);
        let mut console = Console::open_at(vera, 0, USUAL, theme, clock).await;
        console.until("view only (viewer)").await;
        assert_asks_nothing(&mut console);
        console
    };
    // Also with an API key that nobody has decided about: the answer could not be recorded.
    for key in ["a key that nobody used", "another one"] {
        let mut console = open(&|vera| vera.key(key)).await;
        let sent = proxy.methods().len();
        for keys in CHANGES {
            console.keys(keys).await.shows(VIEWER);
            assert_asks_nothing(&mut console);
            console.keys("<esc><esc>").await;
        }
        assert_eq!(proxy.methods().len(), sent, "nothing is sent");
    }
    // By the name of the place, or as the only place of this address.
    for name in ["testing", "hers"] {
        let named = |profile: &mut Profile| {
            profile.name = name.into();
            profile.api_key = KeySource::Env("NOT_SET".into());
        };
        let mut console = open(&|vera| vera.with(named)).await;
        console.shows_all(["acme-eu", "initech", " viewer "]);
        assert_only_reads(&mut console, &proxy, VIEWER).await;
        assert_asks_nothing(&mut console);
    }
    assert_eq!(stored(), before, "nothing is written");
}

/// What a viewer may try, from the list.
const CHANGES: [&str; 8] = ["e", "t", "o", "a", "f", "vw", "W", "<space>T"];

fn assert_asks_nothing(console: &mut Console) {
    for question in ["WHICH ENVIRONMENT", "Which environment", "[y/N]"] {
        console.hides(question);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_tables_and_a_moved_directory_are_read_as_long_as_they_allow_it() {
    let schema = "newer_for_ana";
    let Some((server, team)) = of_ana(schema) else {
        return;
    };
    let mut scene = scene(&team).await;
    let change = |sql: &str| server.execute(schema, sql);
    change("INSERT INTO schema_versions (version, reads_from, writes_from) VALUES (1000, 1, 1000)");
    let read_only = "directory is read-only: update groupdesk";
    scene.console.until(read_only).await;
    let why = "a newer groupdesk changed the directory";
    scene.assert_only_reads(why).await;
    scene.console.keys("r").await.shows("initech");

    change("UPDATE schema_versions SET reads_from = 1000 WHERE version = 1000");
    scene.console.until("directory: update groupdesk").await;
    let why = "the directory has another version";
    scene.assert_refuses(why).await;

    change("DELETE FROM schema_versions WHERE version = 1000");
    until_said(&mut scene.console, "Directory back, ").await;
    scene.console.hides("update groupdesk");
    scene.assert_sends().await;

    change("UPDATE installation SET moved_to = 'postgres://db9/desk'");
    scene.console.until("directory was moved: read-only").await;
    scene.assert_only_reads("the directory was moved").await;
    change("UPDATE installation SET moved_to = NULL");
    until_said(&mut scene.console, "The directory can be written again").await;
    scene.assert_sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_server_is_waited_for_until_it_is_the_primary() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("desk");
    let mut scene = scene(&team).await;
    server.stop();
    server.follow_nobody();
    server.start();
    scene.console.until("directory is a standby, ").await;
    scene.assert_refuses("It needs the primary").await;
    scene.console.shows("initech");
    server.promote();
    until_said(&mut scene.console, "Directory back, ").await;
    scene.console.hides("directory is a standby, ");
    scene.assert_sends().await;

    // The same if it becomes read only while connections are open.
    server.configure(&["SET default_transaction_read_only = on"]);
    scene.console.until("directory is a standby, ").await;
    scene.assert_refuses("It needs the primary").await;
    server.configure(&["RESET default_transaction_read_only"]);
    let is_back = |console: &Console| !console.screen().contains("directory is a standby, ");
    scene.console.until_that("it is back", is_back).await;
    scene.assert_sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_server_typed_text_stays_and_nothing_is_sent() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("desk");
    let Scene {
        world,
        proxy,
        mut console,
        ..
    } = scene(&team).await;
    console.keys("e<end> one").await.hides("not kept yet");
    let sent = proxy.count("PUT");

    server.stop();
    console.until("directory lost, ").await;
    console.shows("; trying");
    console.keys(" two").await.shows("1 change, not kept yet");
    // Read in the list of messages, because an error of a job that was in flight may be shown instead.
    console
        .keys("<esc>m")
        .await
        .shows("not kept yet: it stays here until it can be saved");
    console.keys("<esc>").await;
    console.shows("directory lost, ");
    // Nothing is started that could not be recorded first.
    for (key, told) in [
        ("r", "The directory has been unreachable since"),
        (
            "<enter>",
            "NOT read: the directory has been unreachable since",
        ),
    ] {
        console.hides(told);
        console.keys(key).await;
        console.tells(told).tells("; nothing was sent");
    }
    console.keys("<esc>").await;
    console
        .keys("q")
        .await
        .shows_all(["1 unsent draft will be lost.", "y quits"]);
    console.keys("<esc>").await;
    assert_eq!(proxy.count("PUT"), sent);

    server.start();
    let theirs = Directory::open(&team).expect("it opens");
    let li = world
        .installation(Side::Testing)
        .by(LI)
        .on(&theirs)
        .operations();
    let known = UnknownIdPolicy::KnownOnly;
    li.rotate(&id("initech"), None, known)
        .await
        .expect("rotated");
    until_said(&mut console, "Directory back, ").await;
    // Reported at once, or with the next look.
    until_said(&mut console, "1 group changed by li@desk7: initech (token").await;
    console.hides("directory lost");
    console.settle().await;
    let place = world.place_in(&theirs, Side::Testing);
    let kept = theirs.drafts(place).await.expect("readable");
    let typed: Vec<_> = kept
        .iter()
        .map(|kept| kept.draft.typed.name.as_str())
        .collect();
    assert_eq!(typed, ["A name one two"], "kept as it was typed");
}
