//! Esc while a change is prepared: until it is sent it can be taken back, and nothing is sent afterwards.

use super::prelude::*;
use crate::support::clock::TestClock;

struct Scene {
    world: World,
    proxy: FaultyProxy,
    clock: TestClock,
    console: Console,
}

async fn scene() -> Scene {
    let world = a_world().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let clock = TestClock::new(world.folder());
    let installation = world.installation(Side::Testing).through(proxy.base_url());
    let ana = vec![installation.operations()];
    let console = Console::open_at(ana, 0, USUAL, Theme::default(), clock.clock()).await;
    Scene {
        world,
        proxy,
        clock,
        console,
    }
}

impl Scene {
    /// Confirms by these keys, and stays in the read before the change.
    async fn up_to_the_read(&mut self, keys: &str) -> Gate {
        let gate = Gate::new();
        self.proxy.next("GET", ProxyFault::passed().held(&gate));
        self.console.burst(keys);
        gate.reached().await;
        // The screen knows of the request, and time has passed.
        let is_shown = |console: &Console| {
            let exchanges = &console.runner.app.context.exchanges;
            exchanges.in_flight().len() > 0
        };
        self.console.until_that("the request", is_shown).await;
        self.two_seconds_later();
        gate
    }

    fn two_seconds_later(&mut self) {
        self.clock.forward(Duration::from_secs(2));
        self.console.runner.take(Msg::Tick);
        self.console.draw();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn esc_during_the_read_before_a_change_cancels_it_and_nothing_is_sent() {
    for (keys, method, told) in [
        ("tT", "POST", "\"acme-eu\" NOT rotated: it was cancelled"),
        (
            "e<end> plc<ctrl-s>",
            "PUT",
            "\"acme-eu\" NOT updated: it was cancelled",
        ),
    ] {
        let mut scene = scene().await;
        scene.console.keys("/acme-eu<enter>").await.keys(keys).await;
        let before = scene.world.stored(Side::Testing, "acme-eu").token;
        let gate = scene.up_to_the_read("y").await;
        scene.console.shows("Esc cancels, nothing is sent yet");
        scene.console.burst("<esc>").until(told).await;
        gate.open();
        scene.console.settle().await;
        assert_eq!(scene.proxy.count(method), 0);
        assert_eq!(scene.world.stored(Side::Testing, "acme-eu").token, before);
        let open = scene.world.operations(Side::Testing).open_rotations().await;
        assert_eq!(open.expect("readable"), []);
        if method == "POST" {
            // The page is still there: it can be read, and rotated after all.
            scene.console.keys("rTy").await.shows("ROTATED");
            assert_eq!(scene.proxy.count("POST"), 1);
        } else {
            // The group is free for others, and the text is still there.
            let li = scene.world.installation(Side::Testing).by(LI).operations();
            let known = UnknownIdPolicy::KnownOnly;
            let rotated = li.rotate(&id("acme-eu"), None, known).await;
            rotated.expect("nobody holds the group");
            scene.console.keys("<esc>").await.shows("Acme Europe plc");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_not_cancelled() {
    let mut scene = scene().await;
    scene.console.keys("/acme-eu<enter>tT").await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    scene.console.burst("y");
    gate.reached().await;
    scene.console.until("Rotating: one request sent.").await;
    scene.two_seconds_later();
    scene.console.shows("Esc leaves, the request continues");
    scene.console.burst("<esc>");
    gate.open();
    scene.console.until("rotated, fingerprint").await;
    assert_eq!(scene.proxy.count("POST"), 1);
}

/// The last exchange is shown, not the last good one; and a failure names its group.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_failed_is_the_one_in_the_first_line() {
    let mut scene = scene().await;
    scene.console.keys("/acme-eu<enter>tT").await;
    let first = |console: &Console| console.screen().lines().next().map(str::to_owned);
    let line = first(&scene.console).expect("a line");
    assert!(line.contains(" 200 "), "{line}");
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    scene.console.keys("y").await;
    scene
        .console
        .shows("\"acme-eu\" NOT rotated: the read before it failed")
        .hides("run it again");
    let line = first(&scene.console).expect("a line");
    assert!(line.contains("no response"), "{line}");
    assert!(!line.contains(" 200 "), "{line}");
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    scene.console.keys("r").await;
    scene
        .console
        .shows("\"acme-eu\" NOT read: ")
        .hides("run it again");
    assert_eq!(scene.proxy.count("POST"), 0);
}

/// Without a connection, too.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_connection_each_failure_names_its_group_and_what_did_not_happen() {
    let world = a_world().await;
    let nowhere = world
        .installation(Side::Testing)
        .through("http://127.0.0.1:9");
    let mut console = super::open_with(vec![nowhere.operations()]).await;
    console.keys("/acme-eu<enter>t").await;
    console.shows("\"acme-eu\" NOT read: 127.0.0.1");
    console.keys("<esc>onew-one<enter>Name<ctrl-s>y").await;
    console.shows("\"new-one\" NOT created: 127.0.0.1");
}
