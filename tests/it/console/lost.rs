//! The server of a team's directory goes away, or lets one do less, while the console is open, and all is as before again.

use std::time::Duration;

use groupdesk::{
    config::profile::KeySource,
    directory::{Directory, TeamLocation, set_up},
    operations::{Clock, UnknownIdPolicy},
    tui::theme::Theme,
};
use serde_json::json;

use super::scene::USUAL;
use crate::support::{
    console::Console,
    postgres::{self, Server},
    proxy::FaultyProxy,
    world::{LI, Side, World, id},
};

/// Somebody's console on the directory of a team, which knows two groups.
struct Scene {
    world: World,
    proxy: FaultyProxy,
    console: Console,
}

/// Waits until it was said, whatever hides it on the screen.
async fn told(console: &mut Console, text: &str) {
    let is_told = |console: &Console| {
        let mut said = console.runner.app.context.messages.all();
        said.any(|one| one.text.contains(text))
    };
    let waiting = async {
        while !is_told(console) {
            console.runner.step().await.expect("drawn");
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), waiting).await;
    assert!(
        in_time.is_ok(),
        "{text:?} was not said:\n{}",
        console.screen()
    );
}

/// What was set up there is used by this one.
async fn scene(team: &TeamLocation) -> Scene {
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
        console,
    }
}

/// Neither is anything read nor what was typed sent; this is why not.
async fn refuses(console: &mut Console, proxy: &FaultyProxy, why: &str) {
    let sent = proxy.methods().len();
    for keys in ["<enter>", "e<end> typed<ctrl-s>"] {
        console.keys(keys).await;
        let screen = console.screen();
        let words: Vec<_> = screen.split_whitespace().collect();
        let words = words.join(" ");
        for part in ["nothing was sent", why] {
            assert!(words.contains(part), "{keys}: {part:?}:\n{screen}");
        }
        console.keys("<esc><esc>").await;
    }
    assert_eq!(proxy.methods().len(), sent);
}

impl Scene {
    async fn refuses(&mut self, why: &str) {
        refuses(&mut self.console, &self.proxy, why).await;
    }

    /// What was typed is sent now.
    async fn sends(&mut self) {
        let sent = self.proxy.count("PUT");
        self.console.keys("e<ctrl-s><tab><enter>").await;
        self.console.until("updated").await;
        assert_eq!(self.proxy.count("PUT"), sent + 1);
        self.console.keys("<esc><esc>").await;
    }
}

/// Rita works on a directory of its own on the server of this run; whatever is done there by hand, it is done as its owner.
fn of_rita(schema: &str) -> Option<(&'static Server, TeamLocation)> {
    let server = postgres::server()?;
    set_up(&postgres::at(server.folder(), schema)).expect("a schema");
    server.let_in("rita", schema, &["operator"]);
    // Several people are told of here, and the database knows one.
    server.execute(
        schema,
        "CREATE OR REPLACE FUNCTION is_oneself(said TEXT, relation OID) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT TRUE'",
    );
    let team = postgres::at_as("rita", server.folder(), schema);
    Some((server, team))
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_taken_away_are_told_and_what_is_typed_waits_until_they_are_back() {
    let schema = "less_for_rita";
    let Some((server, team)) = of_rita(schema) else {
        return;
    };
    let mut scene = scene(&team).await;
    let operator = format!("{schema}_operator");
    let viewer = format!("{schema}_viewer");
    let change = |text: String| server.execute("public", &text);

    change(format!(
        "GRANT {viewer} TO rita; REVOKE {operator} FROM rita"
    ));
    scene.console.until("you may only look (viewer)").await;
    scene.refuses("It needs the role operator").await;
    // What others write is seen all the same.
    let desk = Directory::open(&postgres::at(server.folder(), schema)).expect("it opens");
    let li = scene.world.installation(Side::Testing).by(LI).on(&desk);
    let known = UnknownIdPolicy::KnownOnly;
    let done = li.operations().rotate(&id("initech"), None, known).await;
    done.expect("rotated");
    told(&mut scene.console, "initech (token").await;
    scene.console.keys("r").await;
    scene.console.shows("initech");

    change(format!("REVOKE {viewer} FROM rita"));
    scene.console.until("directory: no rights, ").await;
    scene.refuses("An admin gives the role operator back").await;

    change(format!("GRANT {operator} TO rita"));
    told(&mut scene.console, "Directory back, ").await;
    scene.console.hides("no rights");
    scene.sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_sees_the_place_without_a_key_and_is_told_why_nothing_is_changed() {
    let schema = "seen_by_vera";
    let Some(server) = postgres::server() else {
        return;
    };
    set_up(&postgres::at(server.folder(), schema)).expect("a schema");
    let Scene { world, proxy, .. } = scene(&postgres::at(server.folder(), schema)).await;
    server.let_in("vera", schema, &["viewer"]);
    let hers = Directory::open(&postgres::at_as("vera", server.folder(), schema));
    let hers = hers.expect("it opens");
    // By the name of the place, or as the only one of this address.
    for name in ["testing", "hers"] {
        let vera = world.installation(Side::Testing).on(&hers).by("vera@desk3");
        let vera = vera.through(proxy.base_url()).with(|profile| {
            profile.name = name.into();
            profile.api_key = KeySource::Env("NOT_SET".into());
        });
        let (theme, clock) = (Theme::default(), Clock::System);
        let vera = vec![vera.unbound()];
        let mut console = Console::open_at(vera, 0, USUAL, theme, clock).await;
        console.until("you may only look (viewer)").await;
        console.shows("acme-eu").shows("initech").shows(" viewer ");
        refuses(&mut console, &proxy, "It needs the role operator").await;
        console.keys("2").await;
        console.shows("History");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_became_newer_are_read_as_long_as_they_say_so() {
    let schema = "newer_for_rita";
    let Some((server, team)) = of_rita(schema) else {
        return;
    };
    let mut scene = scene(&team).await;
    server.execute(
        schema,
        "INSERT INTO schema_versions (version, reads_from, writes_from) VALUES (1000, 1, 1000)",
    );
    scene
        .console
        .until("directory is read-only: update groupdesk")
        .await;
    scene.refuses("which this groupdesk only reads").await;
    scene.console.keys("r").await;
    scene.console.shows("initech");

    server.execute(
        schema,
        "UPDATE schema_versions SET reads_from = 1000 WHERE version = 1000",
    );
    scene.console.until("directory: update groupdesk").await;
    scene.refuses("The directory is of another version").await;

    server.execute(schema, "DELETE FROM schema_versions WHERE version = 1000");
    told(&mut scene.console, "Directory back, ").await;
    scene.console.hides("update groupdesk");
    scene.sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_directory_that_was_moved_it_is_said_where_to_ask() {
    let schema = "gone_for_rita";
    let Some((server, team)) = of_rita(schema) else {
        return;
    };
    let mut scene = scene(&team).await;
    server.execute(
        schema,
        "UPDATE installation SET moved_to = 'postgres://db9/desk'",
    );
    scene.console.until("directory was moved: read-only").await;
    scene
        .refuses("`groupdesk directory status` says where to")
        .await;
    server.execute(schema, "UPDATE installation SET moved_to = NULL");
    told(&mut scene.console, "The directory can be written again").await;
    scene.sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_only_reads_is_waited_for_until_it_is_the_primary() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = postgres::at(server.folder(), "desk");
    set_up(&team).expect("a schema");
    let mut scene = scene(&team).await;
    server.stop();
    server.follow_nobody();
    server.start();
    scene.console.until("directory is a standby, ").await;
    scene.refuses("It needs the primary").await;
    scene.console.keys("r").await;
    scene.console.shows("initech");
    server.promote();
    told(&mut scene.console, "The directory can be written again").await;
    scene.console.hides("directory is a standby, ");
    scene.sends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_stays_nothing_is_sent_and_it_says_so_until_it_is_back() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = postgres::at(server.folder(), "desk");
    set_up(&team).expect("a schema");
    let Scene {
        world,
        proxy,
        mut console,
    } = scene(&team).await;
    console.keys("e<end> one").await;
    console.hides("not kept yet");
    let sent = proxy.count("PUT");

    server.stop();
    console.until("directory lost, ").await;
    console.shows("; trying");
    console.keys(" two").await;
    console.shows("1 change, not kept yet");
    console.keys("<esc>").await;
    console.shows("not kept yet: it stays here until the directory is back");
    console.shows("directory lost, ");
    // Nothing is begun that could not be written down first.
    for key in ["r", "<enter>"] {
        console.keys(key).await;
        console.until("has been unreachable since").await;
        console.shows("nothing was sent");
    }
    console.keys("<esc>").await;
    console.keys("q").await;
    console.shows("1 unsent draft will be lost: q again quits");
    // Any other key takes the question back.
    console.keys("<up>").await;
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
    console.until("Directory back, ").await;
    // Told with it, or with the next look.
    told(&mut console, "1 group changed by li@desk7: initech (token").await;
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

/// Whoever was bound before, and has not seen yet that only a standby is left.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_on_what_a_standby_says() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = postgres::at(server.folder(), "desk");
    set_up(&team).expect("a schema");
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let directory = Directory::open(&team).expect("it opens");
    let installation = world.installation(Side::Testing).on(&directory);
    let ana = installation.through(proxy.base_url()).operations();
    world.seed(Side::Testing, "acme-eu", "A name", &[], &json!({}));
    let acme = id("acme-eu");
    let met = ana.look_up(&acme, UnknownIdPolicy::Exists).await;
    met.expect("it is known now");
    tokio::task::block_in_place(|| {
        server.stop();
        server.follow_nobody();
        server.start();
    });
    let sent = proxy.methods().len();
    let known = ana.show(&acme).await.expect("read from the standby");
    assert!(known.is_some());
    let refused = ana.look_up(&acme, UnknownIdPolicy::KnownOnly).await;
    let refused = refused.expect_err("refused").to_string();
    assert!(refused.contains("is a standby"), "{refused}");
    assert_eq!(proxy.methods().len(), sent, "nothing was sent");
}
