//! The first groups of a long list are there before the others: nothing moves when these come, and nothing is taken for
//! all that is only a part.

use groupdesk::{
    domain::history::Ending,
    search::{ListView, SortBy},
    tui::state::{
        groups::Listing,
        message::{Job, Msg, Outcome, Ticket},
    },
};

use super::scene::{Scene, TESTING, done, failed, group};

/// With the first groups of many; the others are being read.
fn begun() -> (Scene, Ticket) {
    let mut scene = Scene::opening(TESTING);
    scene.pending.retain(|(_, _, job)| *job == Job::List);
    let ticket = scene.pending[0].0;
    assert!(scene.app.waits_for_groups());
    let mut first = Listing::from(vec![group("acme-eu", 1), group("globex", 1)]);
    first.total = Some(5_000);
    scene.msg(Msg::Begun(ticket, Box::new(first)));
    assert!(!scene.app.waits_for_groups());
    (scene, ticket)
}

fn all() -> Outcome {
    let groups = ["acme-eu", "globex", "initech", "umbrella"];
    Outcome::listed(groups.map(|id| group(id, 1)).to_vec())
}

#[test]
fn the_first_groups_are_shown_while_the_others_are_read() {
    let (mut scene, ticket) = begun();
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
    let (mut scene, _) = begun();
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
    let (mut scene, ticket) = begun();
    scene.keys("ss");
    scene.shows("acme-eu").shows("globex");
    let is_search = |(_, _, job): &(_, _, Job)| matches!(job, Job::Search { .. });
    assert!(!scene.pending.iter().any(is_search));
    scene.msg(Msg::Done(ticket, all()));
    scene.shows("4 groups").shows("umbrella");
}

#[test]
fn how_the_list_was_left_is_known_with_the_first_groups() {
    let mut scene = Scene::opening(TESTING);
    scene.pending.retain(|(_, _, job)| *job == Job::List);
    let mut first = Listing::from(vec![group("acme-eu", 1)]);
    first.total = Some(5_000);
    first.view = Some(ListView {
        sort: SortBy::Id,
        reverse: true,
        ..ListView::default()
    });
    let ticket = scene.pending[0].0;
    scene.msg(Msg::Begun(ticket, Box::new(first)));
    scene.shows("sort id").shows("acme-eu");
    assert_eq!(scene.pending.len(), 1, "nothing new to keep");
}

#[test]
fn what_is_known_meanwhile_is_newer_than_what_was_read() {
    let (mut scene, ticket) = begun();
    scene.keys("j");
    let list = scene.pending.clone();
    scene.pending.clear();
    // A look-up that ends before the list.
    scene.keys("<enter>r");
    let look_up = scene
        .pending
        .iter()
        .position(|(_, _, job)| matches!(job, Job::LookUp(_)));
    let (look_up, ..) = scene.pending.remove(look_up.expect("a look-up"));
    scene.pending = list;
    let mut renamed = group("globex", 1);
    if let Some(name) = &mut renamed.name {
        name.value = "Renamed".into();
    }
    scene.msg(Msg::Done(look_up, done(Ending::Found, renamed)));
    scene.msg(Msg::Done(ticket, all()));
    scene.keys("<esc>");
    scene.shows("Renamed").shows("4 groups");
}

#[test]
fn a_refresh_keeps_what_stands_there_until_all_is_read() {
    let mut scene = Scene::on(TESTING);
    let before = scene.screen();
    scene.keys("r");
    let ticket = scene.pending[0].0;
    let mut first = Listing::from(vec![group("zz", 1)]);
    first.total = Some(5_000);
    scene.msg(Msg::Begun(ticket, Box::new(first)));
    assert_eq!(scene.screen(), before);
}

#[test]
fn a_list_that_fails_half_way_says_so_and_is_read_again() {
    let (mut scene, ticket) = begun();
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
