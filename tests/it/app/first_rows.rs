//! The first groups of a long list are shown before the rest is read. They do not move when the rest arrives, and the
//! part is not mistaken for the whole.

use groupdesk::{
    directory::{Changes, Directory, PlaceStatus},
    tui::state::groups::{FirstRows, Listing, ListingExtras},
};

use super::prelude::*;
use crate::support::world::place;

/// The first groups, by name, of 5,000, and what is read before them.
fn first(ids: &[&str]) -> Box<Listing> {
    let groups = ids.iter().map(|id| group(id, 1)).collect();
    let Outcome::Listed(mut first) = list_of(groups) else {
        unreachable!()
    };
    first.first = Some(FirstRows {
        total: 5_000,
        ..FirstRows::default()
    });
    first.extras = Some(ListingExtras::default());
    first
}

/// The console just opened, with only the list being read.
fn opened() -> (Scene, Ticket) {
    let mut scene = Scene::opening(TESTING);
    scene.pending.retain(|(_, _, job)| *job == Job::List);
    let ticket = scene.pending[0].0;
    (scene, ticket)
}

/// The first groups of many are shown; the rest is being read.
pub(super) fn loading() -> (Scene, Ticket) {
    let (mut scene, ticket) = opened();
    assert!(scene.app.waits_for_groups());
    scene.msg(Msg::FirstRows(ticket, first(&["acme-eu", "globex"])));
    assert!(!scene.app.waits_for_groups());
    (scene, ticket)
}

fn all() -> Outcome {
    let groups = ["acme-eu", "globex", "initech", "umbrella"];
    list_of(groups.map(|id| group(id, 1)).to_vec())
}

/// All groups, with the listing extras that were read before the first groups.
fn all_with_extras() -> Outcome {
    let Outcome::Listed(mut listing) = all() else {
        unreachable!()
    };
    listing.extras = Some(ListingExtras::default());
    Outcome::Listed(listing)
}

/// The list could not be read to its end.
fn fail(scene: &mut Scene, ticket: Ticket) {
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)));
    scene.pending.clear();
}

/// The row of the only line with this id.
fn row_of(scene: &Scene, id: &str) -> Option<usize> {
    let screen = scene.screen();
    screen.lines().position(|line| line.contains(id))
}

/// The group is read, and has a new name.
fn look_up(scene: &mut Scene, id: &str, name: &str) {
    let found = done(Ending::Found, named(id, name));
    scene.answer_to(|job| matches!(job, Job::LookUp(_)), found);
}

#[test]
fn the_first_groups_are_shown_while_the_others_are_read() {
    let (mut scene, ticket) = loading();
    scene.shows_all(["5000 groups", "reading 0 of 5000", "acme-eu", "globex"]);
    scene.msg(Msg::ReadProgress(ticket, 400));
    scene.shows("reading 400 of 5000");
    scene.keys("j");
    let row = |scene: &Scene| {
        let screen = scene.screen();
        screen
            .lines()
            .position(|line| line.starts_with(">   Name of globex"))
    };
    let before = row(&scene);
    assert!(before.is_some(), "{}", scene.screen());
    scene.answer_with(all());
    scene.shows_all(["4 groups", "umbrella", "loaded "]);
    assert_eq!(row(&scene), before, "cursor and group stay in their row");
}

#[test]
fn a_part_is_not_mistaken_for_the_whole_list() {
    let (mut scene, _) = loading();
    scene.keys("*");
    scene.says("Not available: not all groups are read yet");
    scene.keys("/umb");
    scene.shows_all(["acme-eu", "5000 groups"]);
    assert_eq!(scene.pending.len(), 1, "only the list is under way");
    scene.answer_with(all());
    scene.shows_all(["1 of 4", "umbrella"]);
    scene.keys("<enter>*");
    scene.shows("1 marked");
}

#[test]
fn another_order_waits_for_the_whole_list() {
    let (mut scene, ticket) = loading();
    // By id, descending: globex would come before acme-eu.
    scene.keys("sS");
    scene.shows("sort id");
    assert!(row_of(&scene, "acme-eu") < row_of(&scene, "globex"));
    let is_search = |job: &&Job| matches!(job, Job::Search { .. });
    assert!(!scene.jobs().iter().any(is_search));
    scene.msg(Msg::Done(ticket, all()));
    scene.shows("4 groups");
    assert!(row_of(&scene, "umbrella") < row_of(&scene, "acme-eu"));
    // Before any row arrived; the rows that arrive are the first by name.
    let (mut scene, ticket) = opened();
    scene.keys("sS");
    scene.msg(Msg::FirstRows(ticket, first(&["acme-eu", "globex"])));
    scene.shows_all(["sort id", "reading 0 of 5000"]);
    assert_eq!(row_of(&scene, "globex"), None, "{}", scene.screen());
    scene.msg(Msg::Done(ticket, all()));
    assert!(row_of(&scene, "umbrella") < row_of(&scene, "acme-eu"));
}

#[test]
fn the_stored_view_is_applied_to_the_first_groups() {
    let (mut scene, ticket) = opened();
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
    scene.msg(Msg::FirstRows(ticket, first));
    scene.shows_all(["sort id", "acme-eu"]);
    assert_eq!(scene.pending.len(), 1, "nothing new to keep");
}

#[test]
fn a_look_up_during_a_read_is_newer_than_the_list() {
    let (mut scene, ticket) = loading();
    scene.keys("j<enter>r");
    look_up(&mut scene, "globex", "Renamed");
    scene.msg(Msg::Done(ticket, all()));
    scene.keys("<esc>");
    scene.shows_all(["Renamed", "4 groups"]);
    // And than both lists, if a second read began before it, as when a batch ends.
    let mut scene = Scene::on(TESTING);
    scene.keys("r");
    let (first, ..) = scene.take(|job| *job == Job::List);
    let second = scene.app.context.start(Job::List);
    scene.keys("<enter>r");
    look_up(&mut scene, "acme-eu", "Renamed");
    scene.keys("<esc>");
    for list in [first, second] {
        scene.msg(Msg::Done(list, all()));
        scene.shows_all(["Renamed", "4 groups"]);
    }
}

#[test]
fn a_look_up_before_a_failed_read_is_older_than_the_next_list() {
    let (mut scene, ticket) = loading();
    scene.keys("<enter>r");
    look_up(&mut scene, "acme-eu", "Once");
    fail(&mut scene, ticket);
    scene.keys("<esc>r");
    let listed = list_of(vec![named("acme-eu", "Since then")]);
    scene.answer_to(|job| *job == Job::List, listed);
    scene.shows_all(["Since then", "1 group"]);
}

/// Makes the group under the cursor a favourite.
fn toggle_favourite(scene: &mut Scene) {
    scene.keys("f");
    scene.answer_canned(|job| matches!(job, Job::Annotate(..)));
    scene.shows("\u{2605}");
}

#[test]
fn an_annotation_written_during_the_read_stays() {
    let (mut scene, ticket) = loading();
    toggle_favourite(&mut scene);
    scene.msg(Msg::Done(ticket, all_with_extras()));
    scene.shows_all(["4 groups", "\u{2605}"]);
    // Also when the list is already complete.
    scene.keys("r");
    scene.pending.clear();
    scene.keys("r");
    let again = scene.pending[0].0;
    scene.msg(Msg::FirstRows(again, first(&["acme-eu"])));
    scene.hides("\u{2605}");
    toggle_favourite(&mut scene);
    scene.msg(Msg::Done(again, all_with_extras()));
    scene.shows("\u{2605}");
}

#[test]
fn a_refresh_keeps_the_old_rows_until_all_are_read() {
    let mut scene = Scene::on(TESTING);
    let before = scene.screen();
    scene.keys("r");
    let ticket = scene.pending[0].0;
    scene.msg(Msg::FirstRows(ticket, first(&["zz"])));
    assert_eq!(scene.screen(), before);
}

#[test]
fn a_list_that_fails_half_way_says_so_can_be_searched_and_is_read_again() {
    let (mut scene, ticket) = loading();
    fail(&mut scene, ticket);
    scene.shows_all(["2 of 5000 read: r", "globex"]);
    scene.keys("/glo<enter>");
    scene.shows_all(["globex", "2 of 5000 read: r"]);
    assert_eq!(row_of(&scene, "acme-eu"), None);
    scene.keys("<esc>sS");
    assert!(row_of(&scene, "globex") < row_of(&scene, "acme-eu"));
    // The error has been shown long enough to make way.
    scene.later(20).keys("*");
    scene.says("Not available: not all groups are read yet");
    scene.pending.clear();
    scene.later(1).keys("r");
    scene.shows("reading");
    scene.answer_to(|job| *job == Job::List, all());
    scene.shows_all(["4 groups", "umbrella"]);
}

#[tokio::test]
async fn changes_by_others_are_shown_when_only_a_part_was_read() {
    let folder = crate::support::folder::temporary();
    let directory = Directory::open(&folder.path().join("directory.db")).expect("usable");
    let since = directory.cursor(place(&directory, "eu")).await;
    let since = since.expect("readable");
    let (mut scene, ticket) = opened();
    let mut first = first(&["acme-eu", "globex"]);
    first.since = Some(since.clone());
    let effects = scene.msg(Msg::FirstRows(ticket, first));
    let here = scene.app.context.current;
    let watch = Effect::Watch(here, since.clone());
    assert!(effects.contains(&watch), "{effects:?}");
    fail(&mut scene, ticket);

    let mut newer = named("globex", "Changed");
    if let Some(known) = &mut newer.name {
        known.at += SignedDuration::from_secs(1);
    }
    // umbrella is not a new group: it was just not read yet.
    let changes = Changes {
        at_work: Vec::new(),
        groups: vec![newer, named("umbrella", "Umbrella")],
        are_more: false,
        open: Vec::new(),
        drafts: Vec::new(),
        annotations: Vec::new(),
        saved_views: Vec::new(),
        status: PlaceStatus {
            place: since.place(),
            alarms: 0,
        },
    };
    scene.msg(Msg::Changed(here, Box::new(changes)));
    scene
        .says("1 group changed by")
        .shows_all(["Changed", "2 of 5000 read: r"])
        .hides("new");
}

#[test]
fn changes_to_groups_not_read_yet_are_not_announced() {
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
    scene.keys("oumbrella");
    scene.shows("not all groups are read yet").hides("New id");
}

#[test]
fn the_list_of_a_profile_that_was_left_is_not_read_further() {
    let (mut scene, ticket) = loading();
    let effects = scene.keys("P<down><enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
    assert!(effects.contains(&Effect::Cancel(ticket)), "{effects:?}");
}

#[test]
fn a_key_of_a_row_before_the_groups_are_read_does_not_say_that_there_are_none() {
    let (mut scene, _) = opened();
    for key in ["<enter>", "e", "t"] {
        scene.keys(key);
        scene
            .at("List")
            .says("Not available: the groups are still being read");
    }
}
