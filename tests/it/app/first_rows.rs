//! The first groups of a long list are there before the others: nothing moves when these come, and nothing is taken for
//! all that is only a part.

use groupdesk::{
    directory::{Changes, Directory, PlaceStatus},
    domain::{history::Ending, known::KnownGroup},
    search::{ListView, SortBy},
    tui::state::{
        groups::{FirstRows, Listing, ReadBeside},
        message::{Effect, Job, Msg, Outcome, Ticket},
    },
};
use jiff::SignedDuration;

use super::scene::{PRODUCTION, Scene, TESTING, canned, done, failed, group};
use crate::support::world::place;

/// The first groups of 5,000, by name, and what is read before them.
fn first(ids: &[&str]) -> Listing {
    let groups: Vec<_> = ids.iter().map(|id| group(id, 1)).collect();
    let mut first = Listing::from(groups);
    first.first = Some(FirstRows {
        total: 5_000,
        ..FirstRows::default()
    });
    first.beside = Some(ReadBeside::default());
    first
}

/// Opened, with nothing but the list under way.
fn opening() -> (Scene, Ticket) {
    let mut scene = Scene::opening(TESTING);
    scene.pending.retain(|(_, _, job)| *job == Job::List);
    let ticket = scene.pending[0].0;
    (scene, ticket)
}

/// With the first groups of many; the others are being read.
pub(super) fn loading() -> (Scene, Ticket) {
    let (mut scene, ticket) = opening();
    assert!(scene.app.waits_for_groups());
    let first = first(&["acme-eu", "globex"]);
    scene.msg(Msg::FirstRows(ticket, Box::new(first)));
    assert!(!scene.app.waits_for_groups());
    (scene, ticket)
}

fn all() -> Outcome {
    let groups = ["acme-eu", "globex", "initech", "umbrella"];
    Outcome::listed(groups.map(|id| group(id, 1)).to_vec())
}

/// All of them, with what was read before the first ones.
fn all_with(beside: ReadBeside) -> Outcome {
    let Outcome::Listed(mut listing) = all() else {
        unreachable!()
    };
    listing.beside = Some(beside);
    Outcome::Listed(listing)
}

/// Takes the job of this kind out of what is under way.
#[track_caller]
fn take(scene: &mut Scene, is_it: impl Fn(&Job) -> bool) -> (Ticket, Job) {
    let at = scene.pending.iter().position(|(_, _, job)| is_it(job));
    let (ticket, _, job) = scene.pending.remove(at.expect("it is under way"));
    (ticket, job)
}

/// The only row that is drawn with a cursor.
fn row_of(scene: &Scene, id: &str) -> Option<usize> {
    let screen = scene.screen();
    screen.lines().position(|line| line.contains(id))
}

fn named(id: &str, name: &str) -> KnownGroup {
    let mut renamed = group(id, 1);
    if let Some(known) = &mut renamed.name {
        known.value = name.into();
    }
    renamed
}

#[test]
fn the_first_groups_are_shown_while_the_others_are_read() {
    let (mut scene, ticket) = loading();
    scene
        .shows("5000 groups")
        .shows("reading 0 of 5000")
        .shows("acme-eu")
        .shows("globex");
    scene.msg(Msg::Read(ticket, 400));
    scene.shows("reading 400 of 5000");
    scene.keys("j");
    let row = |scene: &Scene| {
        let screen = scene.screen();
        let row = screen.lines().position(|line| line.starts_with('>'));
        let row = row.expect("a cursor");
        let line = screen.lines().nth(row).expect("its row");
        (row, line.contains("globex"))
    };
    let before = row(&scene);
    assert!(before.1, "{}", scene.screen());
    scene.answer_with(all());
    scene.shows("4 groups").shows("umbrella").shows("read ");
    assert_eq!(
        row(&scene),
        before,
        "the cursor stays on its group, and the group in its row"
    );
}

#[test]
fn a_part_is_not_taken_for_all() {
    let (mut scene, _) = loading();
    scene.keys("*");
    scene.says("Not available: not all groups are read yet");
    scene.keys(":mark acme<enter>");
    scene.says("Nothing marked: not all groups are read yet");
    scene.keys("/umb");
    scene.shows("acme-eu").shows("5000 groups");
    assert_eq!(scene.pending.len(), 1, "only the list is under way");
    scene.answer_with(all());
    scene.shows("1 of 4").shows("umbrella");
    scene.keys("<enter>*");
    scene.shows("1 marked");
}

#[test]
fn another_order_waits_for_all() {
    let (mut scene, ticket) = loading();
    // By id, falling: globex would stand above acme-eu.
    scene.keys("sS");
    scene.shows("sort id");
    assert!(row_of(&scene, "acme-eu") < row_of(&scene, "globex"));
    let is_search = |(_, _, job): &(_, _, Job)| matches!(job, Job::Search { .. });
    assert!(!scene.pending.iter().any(is_search));
    scene.msg(Msg::Done(ticket, all()));
    scene.shows("4 groups");
    assert!(row_of(&scene, "umbrella") < row_of(&scene, "acme-eu"));
}

#[test]
fn an_order_that_is_no_longer_the_one_of_the_first_rows_waits_from_the_start() {
    let (mut scene, ticket) = opening();
    // Before anything is there; the rows that come are the first by name.
    scene.keys("sS");
    let first = first(&["acme-eu", "globex"]);
    scene.msg(Msg::FirstRows(ticket, Box::new(first)));
    scene.shows("sort id").shows("reading 0 of 5000");
    assert_eq!(row_of(&scene, "globex"), None, "{}", scene.screen());
    scene.msg(Msg::Done(ticket, all()));
    assert!(row_of(&scene, "umbrella") < row_of(&scene, "acme-eu"));
}

#[test]
fn how_the_list_was_left_is_known_with_the_first_groups() {
    let (mut scene, ticket) = opening();
    let mut first = first(&["acme-eu"]);
    first.view = Some(ListView {
        sort: SortBy::Id,
        reverse: true,
        ..ListView::default()
    });
    first.first = Some(FirstRows {
        total: 5_000,
        sort: SortBy::Id,
        reverse: true,
    });
    scene.msg(Msg::FirstRows(ticket, Box::new(first)));
    scene.shows("sort id").shows("acme-eu");
    assert_eq!(scene.pending.len(), 1, "nothing new to keep");
}

#[test]
fn what_is_known_meanwhile_is_newer_than_what_was_read() {
    let (mut scene, ticket) = loading();
    scene.keys("j<enter>r");
    // A look-up that ends before the list.
    let (look_up, _) = take(&mut scene, |job| matches!(job, Job::LookUp(_)));
    let renamed = named("globex", "Renamed");
    scene.msg(Msg::Done(look_up, done(Ending::Found, renamed)));
    scene.msg(Msg::Done(ticket, all()));
    scene.keys("<esc>");
    scene.shows("Renamed").shows("4 groups");
}

#[test]
fn what_is_known_while_the_list_is_read_again_is_newer_too() {
    let mut scene = Scene::on(TESTING);
    scene.keys("r<enter>r");
    let (list, _) = take(&mut scene, |job| *job == Job::List);
    let (look_up, _) = take(&mut scene, |job| matches!(job, Job::LookUp(_)));
    let renamed = named("acme-eu", "Renamed");
    scene.msg(Msg::Done(look_up, done(Ending::Found, renamed)));
    scene.msg(Msg::Done(list, all()));
    scene.keys("<esc>");
    scene.shows("Renamed").shows("4 groups");
}

#[test]
fn what_is_known_while_two_lists_are_read_is_newer_than_both() {
    let mut scene = Scene::on(TESTING);
    scene.keys("r");
    let (first, _) = take(&mut scene, |job| *job == Job::List);
    // A second one, as when a batch ends.
    let second = scene.app.context.start(Job::List);
    scene.keys("<enter>r");
    let (look_up, _) = take(&mut scene, |job| matches!(job, Job::LookUp(_)));
    let renamed = named("acme-eu", "Renamed");
    scene.msg(Msg::Done(look_up, done(Ending::Found, renamed)));
    scene.keys("<esc>");
    for list in [first, second] {
        scene.msg(Msg::Done(list, all()));
        scene.shows("Renamed").shows("4 groups");
    }
}

#[test]
fn what_was_known_before_a_list_that_failed_is_older_than_the_next() {
    let (mut scene, ticket) = loading();
    scene.keys("<enter>r");
    let (look_up, _) = take(&mut scene, |job| matches!(job, Job::LookUp(_)));
    let renamed = named("acme-eu", "Once");
    scene.msg(Msg::Done(look_up, done(Ending::Found, renamed)));
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)));
    scene.pending.clear();
    scene.keys("<esc>r");
    let (list, _) = take(&mut scene, |job| *job == Job::List);
    let listed = Outcome::listed(vec![named("acme-eu", "Since then")]);
    scene.msg(Msg::Done(list, listed));
    scene.shows("Since then").shows("1 group");
}

/// Makes the group of the cursor a favourite.
fn favour(scene: &mut Scene) {
    scene.keys("f");
    let (ticket, job) = take(scene, |job| matches!(job, Job::Annotate(..)));
    let profile = scene.app.context.current;
    scene.msg(Msg::Done(ticket, canned(profile, &job)));
    scene.shows("\u{2605}");
}

#[test]
fn what_is_written_beside_a_group_meanwhile_stays() {
    let (mut scene, ticket) = loading();
    favour(&mut scene);
    scene.msg(Msg::Done(ticket, all_with(ReadBeside::default())));
    scene.shows("4 groups").shows("\u{2605}");

    // Also where the list stands there already.
    scene.keys("r");
    let (list, _) = take(&mut scene, |job| *job == Job::List);
    scene.pending.clear();
    scene.keys("r");
    let again = scene.pending[0].0;
    assert_ne!(list, again);
    let first = first(&["acme-eu"]);
    scene.msg(Msg::FirstRows(again, Box::new(first)));
    assert!(!scene.screen().contains('\u{2605}'), "as it was read");
    favour(&mut scene);
    scene.msg(Msg::Done(again, all_with(ReadBeside::default())));
    scene.shows("\u{2605}");
}

#[test]
fn a_refresh_keeps_what_stands_there_until_all_is_read() {
    let mut scene = Scene::on(TESTING);
    let before = scene.screen();
    scene.keys("r");
    let ticket = scene.pending[0].0;
    let first = first(&["zz"]);
    scene.msg(Msg::FirstRows(ticket, Box::new(first)));
    assert_eq!(scene.screen(), before);
}

#[test]
fn a_list_that_fails_half_way_says_so_and_is_read_again() {
    let (mut scene, ticket) = loading();
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)));
    scene.pending.clear();
    scene.shows("2 of 5000 read: r").shows("globex");
    scene.keys("*");
    scene.shows("2 of 5000 read: r");
    scene.keys("r");
    scene.shows("reading");
    scene.answer_with(all());
    scene.shows("4 groups").shows("umbrella");
}

#[test]
fn a_part_can_be_searched_where_the_others_did_not_come() {
    let (mut scene, ticket) = loading();
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)));
    scene.pending.clear();
    scene.keys("/glo<enter>");
    scene.shows("globex").shows("2 of 5000 read: r");
    assert_eq!(row_of(&scene, "acme-eu"), None);
    scene.keys("<esc>sS");
    assert!(row_of(&scene, "globex") < row_of(&scene, "acme-eu"));
    // The error has had its time in the line.
    scene.later(20).keys("*");
    scene.says("Not available: not all groups are read yet");
}

#[tokio::test]
async fn others_are_heard_where_only_a_part_came() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = Directory::open(&folder.path().join("directory.db")).expect("usable");
    let since = directory.cursor(place(&directory, "eu")).await;
    let since = since.expect("readable");
    let (mut scene, ticket) = opening();
    let mut first = first(&["acme-eu", "globex"]);
    first.since = Some(since.clone());
    let effects = scene.msg(Msg::FirstRows(ticket, Box::new(first)));
    let here = scene.app.context.current;
    assert!(
        effects.contains(&Effect::Watch(here, since.clone())),
        "{effects:?}"
    );
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)));
    scene.pending.clear();

    let changes = |groups| Changes {
        at_work: Vec::new(),
        groups,
        are_more: false,
        open: Vec::new(),
        drafts: Vec::new(),
        status: PlaceStatus {
            place: since.place(),
            alarms: 0,
        },
    };
    let mut newer = named("globex", "Changed");
    if let Some(known) = &mut newer.name {
        known.at += SignedDuration::from_secs(1);
    }
    // The other one is no new group: it was not read yet.
    let changes = changes(vec![newer, named("umbrella", "Umbrella")]);
    scene.msg(Msg::Changed(here, Box::new(changes)));
    scene
        .says("1 group changed by")
        .shows("Changed")
        .shows("2 of 5000 read: r")
        .hides("new");
}

#[test]
fn nothing_is_said_of_groups_that_are_not_read_yet() {
    let (mut scene, ticket) = loading();
    scene.keys("e<tab>");
    scene.shows("40: also in globex; others are not all read yet");
    scene.keys("<enter><end>1<enter>");
    scene
        .shows("401: other groups are not all read yet")
        .hides("no other known group");
    scene.msg(Msg::Done(ticket, all()));
    scene.shows("401: used by no other known group");
    let (mut scene, _) = loading();
    scene.keys(":go umbrella<enter>");
    scene.shows("not all groups are read yet").hides("New id");
}

#[test]
fn a_list_of_a_profile_that_was_left_is_not_read_on() {
    let (mut scene, ticket) = loading();
    let effects = scene.keys("P<down><enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
    assert!(effects.contains(&Effect::Cancel(ticket)), "{effects:?}");
}
