//! Two consoles on one directory see each other's changes: one here, and somebody else with a directory handle of their
//! own.

use groupdesk::{
    domain::{
        annotation::{AnnotationChange, Label},
        draft::{Draft, DraftFields},
    },
    search::ListView,
};

use super::{open_with, prelude::*};

/// Li at the console of another machine: the same directory, opened as if by another process.
fn li(world: &World, side: Side) -> Operations {
    li_through(world, side, world.base_url())
}

fn li_through(world: &World, side: Side, base_url: impl Into<String>) -> Operations {
    let directory = match world.team() {
        Some(team) => Directory::open(&team),
        None => Directory::open(&world.directory_file()),
    };
    let later = NOW + SignedDuration::from_secs(2);
    let installation = world.installation(side).by(LI).at(later);
    let installation = installation.through(base_url);
    installation.on(&directory.expect("it opens")).operations()
}

async fn rotate(li: &Operations, group: &str) {
    let known = UnknownIdPolicy::KnownOnly;
    let done = li.rotate(&id(group), None, known).await.expect("rotated");
    li.confirm(done).await;
}

/// The row of a group on the screen, and its index from the top.
fn row(console: &Console, group: &str) -> (usize, String) {
    let screen = console.screen();
    let rows = screen.lines().enumerate();
    let mut rows = rows.filter(|(_, line)| line.contains(group));
    let (at, line) = rows.next().unwrap_or_else(|| panic!("{group}:\n{screen}"));
    (at, line.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_of_another_console_shows_in_its_row_without_moving_it() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("s<down><down>").await;
    let (at, before) = row(&console, "globex-retail");
    rotate(&li(&world, Side::Testing), "globex-retail").await;
    console
        .until("1 group changed by li@desk7: globex-retail (token)")
        .await;
    console.shows("globex-retail (token)");
    // A look between the answer and its confirmation shows the rotation as open.
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
async fn an_empty_list_does_not_deny_the_groups_that_are_new() {
    let world = World::new().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.shows("No groups yet");
    let li = li(&world, Side::Testing);
    let fields = wanted("AAA first", &[("40", "1")], "{}");
    li.create(&id("aaa-first"), &fields).await.expect("created");
    console.until("1 new group: r shows them").await;
    console.hides("No groups yet");
    console.keys("r").await.shows_all(["1 group", "AAA first"]);
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
    console.shows_all(["8 groups", "AAA first"]);
    console.hides("1 new");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_changing_a_group_is_shown_in_its_row_and_details() {
    let world = a_world().await;
    let row_says = "rotating: li@desk7, 0s";
    for size in [USUAL, (160, 40)] {
        let mut console = open(&world, Side::Testing, size).await;
        console.keys("s<down><down>").await;
        let (at, before) = row(&console, "> ");
        let proxy = FaultyProxy::before(world.address()).await;
        let gate = Gate::new();
        proxy.next("POST", ProxyFault::passed().held(&gate));
        let li = li_through(&world, Side::Testing, proxy.base_url());
        let group = id("globex-retail");
        let known = UnknownIdPolicy::KnownOnly;
        let rotating = tokio::spawn(async move { li.rotate(&group, None, known).await });
        gate.reached().await;
        console.until(row_says).await;
        let (now_at, now) = row(&console, "> /");
        assert_eq!(now_at, at, "{}", console.screen());
        assert!(now.contains("Globex Retail"), "{now}");
        assert!(!now.contains('…'), "no half value: {now}");
        assert_ne!(now, before);
        // The seconds count while it is visible, and on other pages nothing wakes up for it.
        assert!(console.runner.app.wake_at().is_some());
        console
            .keys("<enter>")
            .await
            .shows("rotating: li@desk7, 0s");
        console.keys("<esc>").await;
        gate.open();
        rotating.await.expect("no panic").expect("rotated");
        console.until("globex-retail (token)").await;
        let (_, after) = row(&console, "> ");
        assert!(!after.contains("rotating"), "{after}");
        console.keys("<up><down>r").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn own_changes_are_not_shown_as_work_of_others() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let mut console = open_with(vec![operations]).await;
    let gate = Gate::new();
    proxy.next("POST", ProxyFault::passed().held(&gate));
    console.keys("tT").await;
    console.burst("y");
    gate.reached().await;
    console.burst("<esc><esc><esc>");
    // A look caused by others' changes also returns one's own intent.
    rotate(&li(&world, Side::Testing), "acme-us").await;
    console.until("acme-us (token)").await;
    console.hides("rotating: ana");
    gate.open();
    console.settle().await;
    console.hides("rotating: ana");
}

fn labelled(text: &str) -> AnnotationChange {
    AnnotationChange {
        add: [text.parse::<Label>().expect("valid")].into(),
        ..AnnotationChange::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_labelled_elsewhere_is_excluded_at_once() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    let li = li(&world, Side::Testing);
    console.keys("/acme -label:hold<enter>").await;
    li.annotate(vec![id("acme-us")], labelled("hold"))
        .await
        .expect("saved");
    console
        .until("1 group changed by li@desk7: acme-us (labels)")
        .await;
    // Its row stays where it is, but it is not meant any more.
    row(&console, "acme-us");
    console.keys("*").await;
    console.keys("T").await;
    console.settle().await;
    console.shows("1 ready, 0 skipped").shows(" acme-eu  ");

    console.keys("<esc><esc><esc>").await;
    let note = AnnotationChange {
        note: Some("DO NOT ROTATE".into()),
        ..AnnotationChange::default()
    };
    console.keys("/acme-us<enter><enter>").await;
    console.hides("DO NOT ROTATE");
    li.annotate(vec![id("acme-us")], note).await.expect("saved");
    console.until("DO NOT ROTATE").await;
    console.keys("<esc><esc>:hold").await;
    console.shows("add label #hold");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_replaced_elsewhere_is_used_at_once() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    let li = li(&world, Side::Testing);
    let view = |filter: &str| ListView {
        filter: filter.into(),
        ..ListView::default()
    };
    let saved = li.save_view("mine", view("acme-eu"), None).await;
    saved.expect("saved").expect("new");
    let has_view = |console: &Console| {
        let saved = &console.runner.app.context.annotations.saved_views;
        saved.iter().any(|saved| saved.view.filter == "acme-eu")
    };
    console.until_that("the view", has_view).await;
    console.keys("/@mine<enter>").await;
    console.shows("acme-eu").hides("acme-us");
    let seen = li.saved_views().await.expect("readable").pop();
    let saved = li.save_view("mine", view("acme-us"), seen).await;
    saved.expect("saved").expect("replaced");
    until_gone(&mut console, "acme-eu").await;
    console.shows("acme-us");
}

/// Waits until a text has left the screen, whatever else is under way.
async fn until_gone(console: &mut Console, text: &str) {
    let is_gone = |console: &Console| !console.screen().contains(text);
    let what = format!("the end of {text:?}");
    console.until_that(&what, is_gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_of_a_draft_is_shown_in_its_row_until_it_is_gone() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    let before = row(&console, "initech");
    let li = li(&world, Side::Testing);
    let known = li.show(&id("initech")).await.expect("readable");
    let base = DesiredFields::of(&known.expect("known"));
    let draft = Draft {
        user_group_id: id("initech"),
        creating: false,
        loaded_from: None,
        taken_over: std::collections::BTreeSet::new(),
        typed: DraftFields {
            name: "Initech 2".into(),
            ..DraftFields::default()
        },
        base,
        base_at: NOW,
        changed_at: NOW - SignedDuration::from_mins(3),
        continues: Vec::new(),
    };
    li.keep_draft(draft.clone(), None).await.expect("kept");
    console.until("draft: li@desk7, 3m").await;
    let now = row(&console, "initech");
    assert_eq!(now.0, before.0);
    assert!(
        now.1.contains(" d Initech") && now.1.contains("7265fac2") == before.1.contains("7265fac2"),
        "{now:?}"
    );
    // In the next minute, and not before.
    let due = console.runner.app.context.others_due();
    assert_eq!(due, Some(NOW + SignedDuration::from_mins(1)));
    let until = draft.changed_at;
    li.forget_draft(&id("initech"), until)
        .await
        .expect("forgotten");
    until_gone(&mut console, "draft: li@desk7").await;
    assert_eq!(row(&console, "initech"), before);
    assert_eq!(
        console.runner.app.context.others_due(),
        None,
        "nothing wakes"
    );
}
