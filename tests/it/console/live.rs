//! Two on one directory see each other: a console, and somebody else with a directory of their own open.

use groupdesk::{
    directory::Directory,
    domain::change::DesiredFields,
    operations::{Operations, UnknownIdPolicy},
};
use jiff::SignedDuration;

use super::scene::{NOW, USUAL, a_world, open, wanted};
use crate::support::{
    console::Console,
    world::{LI, Side, World, id},
};

/// Li at another machine's console: the same file, opened by another process as far as the directory can tell.
fn li(world: &World, side: Side) -> Operations {
    let directory = Directory::open(&world.directory_file()).expect("it opens");
    let later = NOW + SignedDuration::from_secs(2);
    let installation = world.installation(side).by(LI).at(later);
    installation.on(&directory).operations()
}

async fn rotate(li: &Operations, group: &str) {
    let known = UnknownIdPolicy::KnownOnly;
    let done = li.rotate(&id(group), None, known).await.expect("rotated");
    li.confirm(done).await;
}

/// The row of a group on the screen, with its place from above.
fn row(console: &Console, group: &str) -> (usize, String) {
    let screen = console.screen();
    let rows = screen.lines().enumerate();
    let mut rows = rows.filter(|(_, line)| line.contains(group));
    let (at, line) = rows.next().unwrap_or_else(|| panic!("{group}:\n{screen}"));
    (at, line.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_of_another_console_shows_in_its_row_and_nothing_moves() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("s<down><down>").await;
    let (at, before) = row(&console, "globex-retail");
    rotate(&li(&world, Side::Testing), "globex-retail").await;
    console
        .until("1 group changed by li@desk7: globex-retail (token)")
        .await;
    console.shows("globex-retail (token). n goes there");
    // A look between the answer and its confirmation shows it open.
    console.until("> ~ ").await;
    let (now_at, now) = row(&console, "globex-retail");
    assert_eq!(now_at, at, "{}", console.screen());
    assert_ne!(before, now, "the fingerprint is another one");
    let group = console.runner.app.context.groups.get(&id("globex-retail"));
    let token = group.and_then(|group| group.fingerprint).expect("a token");
    let at_byte = now.find(&token.value.to_string()).expect("it is shown");
    let column = now[..at_byte].chars().count() as u16;
    let news = console.runner.app.context.theme.news();
    // The cell under the cursor is reversed instead; the sign before the row says the same.
    console.keys("<up>").await;
    let cell = &console.buffer()[(column, at as u16)];
    assert!(news.fg.is_some() && cell.style().fg == news.fg, "{cell:?}");
    assert_eq!(
        now.split_whitespace().take(2).collect::<Vec<_>>(),
        [">", "~"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_here_is_no_news() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/initech<enter><enter>").await;
    console.keys("<esc><esc>").await;
    rotate(&li(&world, Side::Testing), "acme-us").await;
    console.until("1 group changed by").await;
    let said = console.runner.app.context.messages.all();
    let news = said.filter(|one| one.text.contains(" changed by "));
    let texts: Vec<_> = news.map(|one| one.text.as_str()).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_group_is_counted_and_comes_with_the_next_refresh() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    let li = li(&world, Side::Testing);
    let fields = wanted("AAA first", &[("40", "1")], "{}");
    li.create(&id("aaa-first"), &fields).await.expect("created");
    console.until("1 new  r").await;
    let screen = console.screen();
    assert_eq!(
        screen.matches("aaa-first").count(),
        1,
        "in the message only:\n{screen}"
    );
    console.shows("7 groups");
    console.keys("r").await;
    console.shows("8 groups").shows("AAA first");
    console.hides("1 new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_matches_no_longer_stays_until_the_person_filters() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/map:40=213<enter>").await;
    let (at, _) = row(&console, "acme-eu");
    let li = li(&world, Side::Testing);
    let known = li
        .show(&id("acme-eu"))
        .await
        .expect("readable")
        .expect("known");
    let base = DesiredFields::of(&known);
    let mut fields = base.clone();
    fields.mapping.as_mut().expect("known")["40"] = "999".into();
    let known = UnknownIdPolicy::KnownOnly;
    let updated = li.update(&id("acme-eu"), &base, &fields, known).await;
    updated.expect("updated");
    console.until("acme-eu (mapping)").await;
    assert_eq!(row(&console, "acme-eu").0, at);
    console.keys("/<esc>/map:40=213<enter>").await;
    console.shows("0 of 7");
}
