//! Finding groups: the filter, its order and its errors, searches in the background, near ids, and what is stored of
//! them.

use std::sync::Arc;

use groupdesk::{
    domain::known::{Known, Source},
    search::{Row, run_search, suggest::similar},
};

use super::prelude::*;

/// The outcome of a job about the list or the near ids.
pub(super) fn found(job: &Job) -> Outcome {
    match job {
        Job::Search {
            index,
            request: asked,
            before,
        } => {
            let found = run_search(index, asked.clone(), before.as_deref(), &|| true);
            Outcome::Found(Arc::new(found.expect("it is wanted")))
        }
        Job::SimilarIds(index, typed) => {
            let near = similar(typed, index.entries().map(Row::id), 6);
            Outcome::SimilarIds(near.into_iter().map(id).collect())
        }
        Job::KeepView(_) => Outcome::ViewKept,
        other => panic!("{other:?} looks for nothing"),
    }
}

pub(super) fn named(name: &str, text: &str) -> KnownGroup {
    let mut group = group(name, 1);
    group.name = Some(Known {
        value: text.into(),
        source: Source::Returned,
        at: BEGIN,
        by: "ana".into(),
    });
    group
}

/// The list of these groups.
pub(super) fn listed(groups: Vec<KnownGroup>) -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.open("r", list_of(groups));
    scene.answer();
    scene
}

fn few() -> Scene {
    listed(vec![
        named("acme-eu", "Acme Europe"),
        named("acme-us", "Acme US"),
        named("gl-ob-ex", "Scattered"),
        named("globex", "Globex Retail"),
        named("initech", "Initech"),
    ])
}

/// More groups than are searched in the event loop.
fn many() -> Scene {
    let named = |n| named(&format!("id-{n:04}"), &format!("Name {n:04}"));
    listed((0..2_500).map(named).collect())
}

/// The row under the cursor begins with this.
#[track_caller]
fn assert_on(scene: &Scene, text: &str) {
    let screen = scene.screen();
    let row = screen.lines().find_map(|line| line.strip_prefix('>'));
    let row = row.unwrap_or_default().trim();
    assert!(row.starts_with(text), "{row}\n{screen}");
}

#[test]
fn the_cursor_stays_on_its_group_while_the_list_changes() {
    let mut scene = few();
    for keys in ["jj", "/globe", "<esc>", "sS", "Ss"] {
        scene.walk(keys);
        assert_on(&scene, "Globex");
    }
    let more = [("aaa", "Aaa"), ("globex", "Globex Retail"), ("zzz", "Zzz")];
    let more = more.map(|(id, name)| named(id, name)).to_vec();
    scene.open("r", list_of(more));
    scene.answer();
    assert_on(&scene, "Globex");
}

#[test]
fn the_cursor_goes_to_the_best_match_when_its_group_is_not_found() {
    let mut scene = few();
    for (keys, there) in [
        ("G/acme us", "Acme US"),
        // Back where it was.
        ("<esc>", "Scattered"),
        // The letters occur here, but another group has the whole word.
        ("/globex", "Globex"),
    ] {
        scene.walk(keys);
        assert_on(&scene, there);
    }
    scene.shows_all(["2 of 5 (1 loosely)", "sort best match"]);
}

/// While it is typed: what is sent next is about the group under the cursor.
#[test]
fn a_whole_id_or_name_takes_the_cursor_and_gives_it_back_to_who_moves_it() {
    let mut scene = Scene::on(TESTING);
    let all = [("g-1", "One"), ("g-12", "One two"), ("g-13", "g-12")];
    let all = all.map(|(id, name)| named(id, name)).to_vec();
    scene.open("r", list_of(all.clone()));
    scene.answer();
    for (typed, id, name) in [
        ("g-1", "g-1", "One"),
        ("G-12", "g-12", "One two"),
        ("one", "g-1", "One"),
        ("one TWO", "g-12", "One two"),
    ] {
        scene.walk("<esc>G");
        scene.walk(&format!("/{}<enter>", typed.replace(' ', "<space>")));
        let selected = scene
            .screen()
            .lines()
            .find(|line| line.starts_with('>'))
            .map(str::to_owned);
        let selected = selected.unwrap_or_default();
        assert!(
            selected.split_whitespace().any(|word| word == id),
            "{typed}: {selected}"
        );
        assert!(selected.contains(name), "{typed}: {selected}");
    }
    // Moved by hand, it stays where it is when the list is read again.
    scene.walk("<esc>/g-1<enter>j");
    let line = |scene: &Scene| {
        scene
            .screen()
            .lines()
            .find(|line| line.starts_with('>'))
            .map(str::to_owned)
    };
    let moved = line(&scene);
    scene.open("r", list_of(all.clone()));
    scene.answer();
    assert_eq!(line(&scene), moved);
    // A list that is read while it is typed decides nothing again.
    scene.walk("<esc>/g-12<enter><esc>").keys("r/g-1");
    let before = line(&scene);
    let mut changed = all;
    changed[2] = named("g-13", "another");
    scene.answer_with(list_of(changed));
    scene.answer();
    assert_eq!(line(&scene), before);
    scene.walk("<enter><esc>").shows(">   One    ");
}

#[test]
fn a_wrong_test_is_named_and_hides_nothing() {
    let mut scene = few();
    scene.walk("/acme age>xx");
    scene.shows_all(["age>xx: write an age as 90d", "2 of 5"]);
    scene.walk("<enter>*").says("Not available: age>xx");
    assert_eq!(scene.app.context.running.len(), 0);
    scene.hides("2 marked");
    let mut scene = few();
    scene.walk("/foo:bar");
    scene.shows_all(["foo:bar: not a test, searched as a word", "0 of 5"]);
}

#[test]
fn typing_replaces_an_applied_filter_and_a_space_adds_to_it() {
    let mut scene = few();
    for (keys, shown) in [
        ("/acme<enter>", "2 of 5"),
        ("/globex", "filter  globex"),
        ("<enter>/ retail", "filter  globex retail"),
        ("<enter>/<end><ctrl-w><backspace>", "filter  globex"),
        ("<enter>/<enter>", "  /globex  "),
        ("/<backspace>", "5 groups"),
        // What is not stored with the groups is a test as well.
        ("<esc>e", "› Edit "),
        ("x<esc>/draft<enter>", "1 of 5"),
    ] {
        scene.walk(keys).shows(shown);
    }
    let mut scene = few();
    let rotations = vec![
        rotation(2, "globex", State::Unknown),
        rotation(1, "acme-eu", State::Confirmed),
    ];
    scene.open("3", Outcome::Rotations(rotations));
    scene.keys("<esc>");
    scene.walk("/state:unknown").shows_all(["1 of 5", "Globex"]);
    scene.walk("<esc>/state:sent").shows("0 of 5");
}

#[test]
fn marking_all_says_how_many_only_resemble_the_filter() {
    let mut scene = few();
    scene.walk("/globex<enter>*");
    scene
        .says("1 of the marked groups match only letter by letter")
        .shows("2 marked");
    let mut scene = few();
    scene.walk("/\"globex\"<enter>*").shows("1 marked");
    assert_eq!(scene.app.context.messages.all().len(), 0);
}

#[test]
fn words_rank_and_a_column_is_chosen() {
    let mut scene = few();
    scene.walk("/acme<enter>").shows("sort best match");
    scene.walk("S").says("s sorts by a column");
    scene.later(1);
    for name in "name id tag map props fingerprint age read".split(' ') {
        scene.walk("s").shows(&format!("sort {name} ▴"));
    }
    scene.walk("S").shows("sort read ▾");
    scene.walk("s").shows("sort best match");
    scene.walk("<esc>").shows("sort name ▾");
}

#[test]
fn many_groups_are_searched_in_the_background() {
    let mut scene = many();
    scene.keys("/");
    scene.started("2");
    scene.shows_all(["filter  2", "2500 of 2500"]);
    scene.walk("<enter>*").shows("1042 marked");
}

#[test]
fn the_newest_search_wins_and_a_late_answer_is_ignored() {
    let mut scene = many();
    scene.keys("/00");
    let (old, _, job) = scene.pending[0].clone();
    let effects = scene.keys("0");
    assert!(
        matches!(&effects[..], [Effect::Cancel(gone), Effect::Start(..)] if *gone == old),
        "{effects:?}"
    );
    scene.answer();
    scene.shows("30 of 2500 (18 loosely)");
    let before = scene.screen();
    scene.msg(Msg::Done(old, found(&job)));
    scene.msg(Msg::JobPanicked(old));
    assert_eq!(scene.screen(), before);
    // Back at the filter that is shown: nothing is left to search.
    scene.keys("1");
    let effects = scene.keys("<backspace>");
    assert!(matches!(&effects[..], [Effect::Cancel(_)]), "{effects:?}");
    scene.shows("30 of 2500 (18 loosely)");
}

#[test]
fn a_search_that_was_lost_is_not_repeated_by_itself() {
    let mut scene = many();
    scene.keys("/0");
    assert_eq!(scene.lose(), []);
    scene.says("Not done: search groups");
    scene.keys("1");
    scene.answer();
    scene.shows_all(["of 2500", "filter  01"]);
}

#[test]
fn all_rows_cannot_be_marked_while_a_search_runs() {
    let mut scene = many();
    scene.keys("/0001<enter>*");
    scene.says("the search is still running");
    scene.answer();
    scene.walk("*").shows("1 marked");
}

#[test]
fn near_ids_of_many_groups_are_searched_in_the_background() {
    let mut scene = many();
    scene.keys("oid-000");
    assert_eq!(scene.pending.len(), 1, "the older ones are given up");
    scene.answer();
    scene.shows_all(["Did you mean?", "id-0000"]);
    scene.keys("<down>x");
    let effects = scene.keys("<esc>");
    assert!(matches!(&effects[..], [Effect::Cancel(_)]), "{effects:?}");
}

#[test]
fn filter_and_order_are_stored_per_profile() {
    let mut scene = Scene::walked(TESTING, "s");
    scene.keys("/acm");
    assert_eq!(scene.pending, [], "nothing is stored while typing");
    scene.keys("<enter>");
    let kept = ListView {
        filter: "acm".into(),
        sort: SortBy::Id,
        ..ListView::default()
    };
    assert_eq!(scene.jobs(), [&Job::KeepView(kept)]);
    scene.answer();
    scene.walk("P<down><enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
    scene.shows_all(["2 groups", "sort name"]);
    scene.walk("P<up><enter>");
    scene.shows_all(["1 of 2", "  /acm  "]);
    scene.walk("<esc>").shows_all(["2 groups", "sort id"]);
}

#[test]
fn marks_stay_with_their_profile() {
    let mut scene = Scene::walked(TESTING, "<space>P<down><enter>");
    scene.hides("marked");
    scene.walk("P<up><enter>").shows("1 marked");
}

#[test]
fn the_stored_filter_is_applied_at_the_start_unless_a_key_came_first() {
    let answer = || {
        let mut outcome = list_of(vec![group("acme-eu", 1), group("globex", 2)]);
        if let Outcome::Listed(listing) = &mut outcome {
            listing.view = Some(ListView {
                filter: "globex".into(),
                sort: SortBy::Seen,
                reverse: true,
                ..ListView::default()
            });
        }
        outcome
    };
    let opening = || {
        let mut scene = Scene::opening(TESTING);
        scene.pending.retain(|(_, _, job)| *job == Job::List);
        scene
    };
    let mut scene = opening();
    scene.answer_with(answer());
    scene
        .shows("1 of 2  /globex")
        .says("Last filter: globex   Esc clears it");
    assert_eq!(scene.pending, [], "nothing new to keep");
    scene.keys("<esc>");
    scene.shows_all(["2 groups", "sort read ▾"]);
    assert!(matches!(scene.jobs()[..], [Job::KeepView(_)]));

    let mut scene = opening();
    scene.open("/acme", answer());
    scene.shows_all(["filter  acme", "1 of 2"]);
}

/// A rotation after it is about the row that was found, not the one before the filter.
#[test]
fn the_row_under_an_applied_filter_keeps_the_cursor_when_it_is_cleared() {
    for (script, row) in [
        ("/initech<enter>", ">   Initech"),
        ("/initech<enter><esc>", ">   Initech"),
        // A filter that is given up gives the cursor back.
        ("/initech<esc>", ">   Acme Europe"),
    ] {
        let mut scene = few();
        scene.keys(script);
        scene.shows(row);
    }
}
