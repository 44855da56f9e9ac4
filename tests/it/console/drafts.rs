//! Drafts with the real directory and the real service: saved, offered by the next console, sent, forgotten; and the
//! external editor. No draft contains a token.

use rusqlite::Connection;

use super::{prelude::*, scene::li};
use crate::support::postgres;

/// All rows of the table of drafts, as text.
fn rows(world: &World) -> Vec<String> {
    let directory = Connection::open(world.directory_file()).expect("a database");
    let mut rows = directory
        .prepare("SELECT user_group_id || name || mapping || properties || base || by FROM drafts")
        .expect("a table");
    let rows = rows.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_offered_by_the_next_console_and_ends_when_sent() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    // The token is shown on the screen, and is not in the draft.
    console.keys("/acme-eu<enter>tv").await;
    console
        .keys("<esc>e<end> 2<tab><right><enter><end>9<enter>")
        .await;
    console.shows("2 changes");
    assert_eq!(rows(&world).len(), 1);
    drop(console);

    let mut console = open(&world, Side::Production, USUAL).await;
    console
        .shows("1 unsent draft: acme-eu (just now); e on it opens it")
        .shows("d Acme Europe");
    console.keys("e").await;
    console.shows_all(["Acme Europe 2", "2139", "2 changes"]);
    console.shows("Your unsent draft (just now)");
    console
        .keys("<f5>")
        .await
        .shows("Refreshed: unchanged in the service");
    let rows_before = rows(&world).join("\n");
    for secret in world.secrets() {
        assert!(!rows_before.contains(&secret), "{rows_before}");
    }
    world.scan_installations(&world.secrets());
    console.keys("<f2>y").await.shows("UPDATED");
    assert_eq!(
        world.stored(Side::Production, "acme-eu").mapping["40"],
        "2139"
    );
    assert_eq!(rows(&world), [""; 0]);
    world.scan_installations(&world.secrets());
}

/// The name in the configuration is Ana's; a team's database knows the person by another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_who_the_directory_knows() {
    let world = a_world().await;
    let mut console = open_with(vec![li(&world)]).await;
    console.shows(LI);
    console.keys("/acme-eu<enter>e<end> 2<esc>").await;
    drop(console);
    let mut console = open_with(vec![li(&world)]).await;
    console.shows("1 unsent draft: acme-eu (just now); e on it opens it");
    console.keys("/acme-eu<enter>e").await;
    console.shows_all(["Your unsent draft (just now)", "1 change"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_of_a_group_to_be_created_is_offered_too() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console
        .keys("onew-group<enter>Typed<tab>a7<tab>99<enter>")
        .await;
    drop(console);
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.shows("1 unsent draft: new-group (just now); o and its ID opens it");
    console.keys("onew-group<enter>").await;
    console.shows_all(["Create new-group", "Typed", "99"]);
    assert!(world.find_stored(Side::Testing, "new-group").is_none());
    console.keys("<ctrl-s>y").await.shows("CREATED");
    assert_eq!(rows(&world), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_type_about_one_group_in_one_file_and_nothing_is_lost() {
    let world = a_world().await;
    let file = world.directory_file();
    let (first, other) = (Directory::open(&file), Directory::open(&file));
    let directories = (first.expect("it opens"), other.expect("it opens"));
    two_people(&world, directories, LI).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_type_about_one_group_in_a_database_and_nothing_is_lost() {
    let schema = "two_drafts";
    let Some(server) = postgres::server() else {
        return;
    };
    let team = server.set_up(schema);
    server.let_in("ben", schema, &["operator"]);
    let ana = Directory::open(&team).expect("it opens");
    let ben = Directory::open(&postgres::at_as("ben", server.folder(), schema));
    let world = World::new().await;
    for group in ["acme-eu", "initech"] {
        let properties = serde_json::json!({"tier": "gold"});
        world.seed(Side::Testing, group, "Acme Europe", &[], &properties);
        let met = world.installation(Side::Testing).on(&ana).operations();
        let met = met.look_up(&id(group), UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    two_people(&world, (ana, ben.expect("it opens")), "ben@desk7").await;
}

/// The names in the drafts of the place, whoever typed them.
async fn names(operations: &Operations) -> Vec<String> {
    let kept = operations.drafts().await.expect("readable").into_iter();
    let mut names: Vec<_> = kept.map(|kept| kept.draft.typed.name).collect();
    names.sort();
    names
}

/// Ana and somebody else on the same group: each form shows only what was typed in it, until a key loads the other
/// draft; and what one of them sends or discards is not the draft of the other.
async fn two_people(world: &World, (ana, other): (Directory, Directory), by: &str) {
    let installation = |directory: &Directory| world.installation(Side::Testing).on(directory);
    let hers = installation(&ana).operations();
    let theirs = installation(&other).by(by).operations();
    let console = async |operations: &Operations| {
        let (theme, clock) = (Theme::default(), Clock::System);
        Console::open_at(vec![operations.clone()], 0, USUAL, theme, clock).await
    };
    let mut ana = console(&hers).await;
    let mut other = console(&theirs).await;
    other.runner.app.context.operator = theirs.operator().to_owned();
    other
        .keys("/acme-eu<enter>e")
        .await
        .shows("nothing changed");
    ana.keys("/acme-eu<enter>e<end> of Ana").await;
    other.until("loads the draft of ana@bastion2").await;
    other.shows("nothing changed").hides("of Ana");
    // Untouched, it has nothing to send.
    other.keys("<ctrl-s>").await.shows("No changes to review");
    other.keys("<end> of Li").await.shows("1 change");
    ana.until(&format!("loads the draft of {}", theirs.operator()))
        .await;
    ana.shows("of Ana").hides("of Li");
    for more in ["!", "?", "!"] {
        ana.keys(more).await.shows("of Ana!");
        other.keys(more).await.shows("of Li!");
    }
    let both = ["Acme Europe of Ana!?!", "Acme Europe of Li!?!"];
    assert_eq!(names(&hers).await, both);
    // The other console has heard of the last key.
    let heard = |console: &Console| {
        let context = &console.runner.app.context;
        let others = context.drafts.others(&(context.current, id("acme-eu")));
        others.iter().any(|other| other.draft.typed.name == both[0])
    };
    other.until_that("the last key", heard).await;
    // Leaving and coming back loses nothing either.
    ana.keys("<esc>e").await.shows("of Ana!?!");
    other.keys("<f9><esc>").await.shows("of Li!?!");
    other.keys("<f9>y").await.shows("of Ana!?!");
    other.keys("<esc>e").await.shows("of Ana!?!");
    other.keys("<ctrl-s>").await;
    other.shows("of ana@bastion2, loaded into the form");
    other.keys("y").await.shows("UPDATED");
    let stored = world.stored(Side::Testing, "acme-eu").name;
    assert_eq!(stored, "Acme Europe of Ana!?!");
    assert_eq!(names(&hers).await, both[..1], "hers is still hers");
    ana.shows("of Ana!?!");
    ana.keys("<esc>e").await.shows("of Ana!?!");
    ana.keys("<ctrl-x>y").await;
    // An untouched form of a group that somebody else has sent meanwhile has nothing to send.
    ana.keys("e<ctrl-s>").await.shows("No changes to review");
    assert_eq!(names(&hers).await, [""; 0]);
}

/// Whether everything that was typed is in the directory, according to this console.
fn is_saved(console: &Console) -> bool {
    let drafts = &console.runner.app.context.drafts;
    !drafts.is_saving() && drafts.unsaved(true) == 0
}

/// Each with its own connection to the directory, as two processes have.
fn ana_in(world: &World) -> Operations {
    let directory = Directory::open(&world.directory_file()).expect("it opens");
    let ana = world.installation(Side::Testing).on(&directory);
    ana.operations()
}

async fn console_in(world: &World) -> Console {
    let (theme, clock) = (Theme::default(), Clock::System);
    Console::open_at(vec![ana_in(world)], 0, USUAL, theme, clock).await
}

/// Two consoles of one person: going on with the draft of the other console, the second one replaces no text that is
/// still in the form of the first.
#[tokio::test(flavor = "multi_thread")]
async fn going_on_with_the_draft_of_another_console_takes_nothing_from_it() {
    for is_older in [true, false] {
        let world = a_world().await;
        let (ana, console) = (|| ana_in(&world), async || console_in(&world).await);
        let mut first = console().await;
        let second = if is_older {
            Some(console().await)
        } else {
            None
        };
        first.keys("/acme-eu<enter>e<end> A").await;
        let mut second = match second {
            Some(second) => second,
            None => console().await,
        };
        second.keys("/acme-eu<enter>e").await;
        second.until("Acme Europe A").await;
        second.keys("<end>B").await;
        let both = ["Acme Europe A", "Acme Europe AB"];
        // Also if the first console is killed before it hears of it.
        second.until_that("it is saved", is_saved).await;
        assert_eq!(names(&ana()).await, both, "older: {is_older}");
        first
            .until("F9 loads the draft of your other console")
            .await;
        first.keys("<esc>").await;
        first.until_that("it is saved", is_saved).await;
        assert_eq!(names(&ana()).await, both, "older: {is_older}");
        drop(first);
        let loads = if is_older {
            "F9 loads the draft of your other console"
        } else {
            "F9 loads your earlier draft"
        };
        second.until(loads).await;
        second
            .keys("<f9>")
            .await
            .shows("Your changes will be lost.");
        second.keys("y").await.shows("Acme Europe A").hides("AB");
        second.keys("<esc>").await;
        drop(second);
        // Nor does the next one hide what is left.
        let mut third = console().await;
        third.keys("/acme-eu<enter>e").await;
        third.keys("<ctrl-x>y").await;
        if is_older {
            third.keys("e").await;
            third.keys("<ctrl-x>y").await;
        }
        third.keys("e").await.shows("nothing changed");
        assert_eq!(names(&ana()).await, [""; 0]);
    }
}

/// Each console goes on with what the one before it left: there is no second draft, and sending ends all versions.
#[tokio::test(flavor = "multi_thread")]
async fn going_on_after_a_restart_is_no_second_draft() {
    let world = a_world().await;
    for (typed, earlier) in [("1", false), ("2", true), ("3", true)] {
        let mut console = console_in(&world).await;
        console.keys("/acme-eu<enter>e<end>").await;
        console.keys(typed).await.hides("as well");
        console.until_that("it is saved", is_saved).await;
        if earlier {
            console.until("F9 loads your earlier draft").await;
        }
        console.keys("<esc>").await.shows("> d ").hides("> D ");
    }
    let mut console = console_in(&world).await;
    console.keys("/acme-eu<enter>e").await;
    console.shows("Acme Europe123");
    console.keys("<ctrl-s>y").await.shows("UPDATED");
    let nothing = |console: &Console| {
        let context = &console.runner.app.context;
        context
            .drafts
            .others(&(context.current, id("acme-eu")))
            .is_empty()
    };
    console.until_that("nothing is left", nothing).await;
    assert_eq!(names(&ana_in(&world)).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_consoles_create_one_group_and_nothing_is_lost() {
    let world = a_world().await;
    let (ana, console) = (|| ana_in(&world), async || console_in(&world).await);
    let (mut first, mut second) = (console().await, console().await);
    first.keys("onew-group<enter>A").await;
    second.keys("onew-group<enter>").await;
    second.until("Your unsent draft of another console").await;
    second.keys("<end>B").await;
    assert_eq!(names(&ana()).await, ["A", "AB"]);
    first.until("F9 loads the draft").await;
    first.keys("<esc>").await;
    first.until_that("it is saved", is_saved).await;
    assert_eq!(names(&ana()).await, ["A", "AB"]);
}
