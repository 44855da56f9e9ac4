//! The server of a team's directory goes away while the console is open, and comes back.

use groupdesk::{
    directory::{Directory, set_up},
    operations::{Clock, UnknownIdPolicy},
    tui::theme::Theme,
};
use serde_json::json;

use super::scene::USUAL;
use crate::support::{
    console::Console,
    postgres,
    proxy::FaultyProxy,
    world::{LI, Side, World, id},
};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_stays_nothing_is_sent_and_it_says_so_until_it_is_back() {
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
    let mut console = Console::open_at(vec![ana.clone()], 0, USUAL, theme, clock).await;
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
        console.until("cannot be reached since").await;
        console.shows("nothing was sent");
    }
    console.keys("<esc>").await;
    console.keys("q").await;
    console.shows("1 unsent draft goes with the console: q again quits");
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
    let told = |console: &Console| {
        let mut said = console.runner.app.context.messages.all();
        said.any(|one| {
            one.text
                .contains("1 group changed by li@desk7: initech (token")
        })
    };
    let waiting = async {
        while !told(&console) {
            console.runner.step().await.expect("drawn");
        }
    };
    let in_time = tokio::time::timeout(std::time::Duration::from_mins(1), waiting).await;
    in_time.expect("what was missed is told");
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
