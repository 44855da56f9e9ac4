//! Finding groups: the filter, its order and its errors, searches in the background, near ids, and what is stored of
//! them.

use std::sync::Arc;

use groupdesk::{
    domain::{
        history::{self, Ending, Operation},
        known::{Known, KnownGroup, Source},
        rotation::State,
    },
    operations::Numbered,
    search::{ListView, Row, SortBy, run_search, suggest::similar},
    tui::state::message::{Effect, Job, Msg, Outcome},
};
use jiff::Timestamp;

use super::scene::{PRODUCTION, Scene, TESTING, group, rotation};
use crate::support::world::id;

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

fn named(name: &str, text: &str) -> KnownGroup {
    let mut group = group(name, 1);
    group.name = Some(Known {
        value: text.into(),
        source: Source::Returned,
        at: jiff::Timestamp::UNIX_EPOCH,
        by: "ana".into(),
    });
    group
}

/// The list of these groups.
fn listed(groups: Vec<KnownGroup>) -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("r");
    scene.answer_with(Outcome::listed(groups));
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
    listed(
        (0..2_500)
            .map(|n| named(&format!("id-{n:04}"), &format!("Name {n:04}")))
            .collect(),
    )
}

/// The row under the cursor.
fn cursor(scene: &Scene) -> String {
    let screen = scene.screen();
    let row = screen.lines().find_map(|line| line.strip_prefix(">"));
    let row = row.or_else(|| screen.lines().find_map(|line| line.strip_prefix('>')));
    row.unwrap_or_default().trim().to_owned()
}

#[test]
fn the_cursor_stays_on_its_group_while_the_list_changes() {
    let mut scene = few();
    scene.walk("jj");
    assert!(cursor(&scene).starts_with("Globex"), "{}", scene.screen());
    scene.walk("/globe");
    assert!(cursor(&scene).starts_with("Globex"));
    scene.walk("<esc>");
    assert!(cursor(&scene).starts_with("Globex"));
    scene.walk("sS");
    assert!(cursor(&scene).starts_with("Globex"));
    scene.walk("Ss");
    scene.keys("r");
    let mut more = vec![named("aaa", "Aaa"), named("globex", "Globex Retail")];
    more.push(named("zzz", "Zzz"));
    scene.answer_with(Outcome::listed(more));
    scene.answer();
    assert!(cursor(&scene).starts_with("Globex"), "{}", scene.screen());
}

#[test]
fn the_cursor_goes_to_the_best_match_when_its_group_is_not_found() {
    let mut scene = few();
    scene.walk("G/acme us");
    assert!(cursor(&scene).starts_with("Acme US"), "{}", scene.screen());
    scene.walk("<esc>");
    assert!(cursor(&scene).starts_with("Scattered"), "back where it was");
    // The letters occur here, but another group has the whole word.
    scene.walk("/globex");
    assert!(cursor(&scene).starts_with("Globex"), "{}", scene.screen());
    scene.shows("2 of 5 (1 loosely)").shows("sort best match");
    scene.walk("<enter><enter><esc><esc>");
    assert!(cursor(&scene).contains("globex"), "it was opened");
}

#[test]
fn a_wrong_test_is_named_and_hides_nothing() {
    let mut scene = few();
    scene.walk("/acme age>xx");
    scene.shows("age>xx: write an age as 90d").shows("2 of 5");
    scene.walk("<enter>*").says("Not available: age>xx");
    assert_eq!(scene.app.context.running.len(), 0);
    assert!(!scene.screen().contains("2 marked"), "{}", scene.screen());
}

#[test]
fn a_word_that_looks_like_a_test_is_named_when_nothing_matches() {
    let mut scene = few();
    scene.walk("/foo:bar");
    scene
        .shows("foo:bar: not a test, searched as a word")
        .shows("0 of 5");
    let mut scene = listed(vec![named("eu:acme", "Acme Europe")]);
    scene.walk("/eu:acme").shows("1 of 1");
    assert!(!scene.screen().contains("not a test"), "{}", scene.screen());
}

#[test]
fn typing_replaces_an_applied_filter_and_a_space_adds_to_it() {
    let mut scene = few();
    scene.walk("/acme<enter>").shows("2 of 5");
    scene.walk("/globex").shows("filter  globex");
    scene
        .walk("<enter>/ retail")
        .shows("filter  globex retail")
        .shows("1 of 5");
    scene
        .walk("<enter>/<end><ctrl-w><backspace>")
        .shows("filter  globex");
    scene.walk("<enter>/<enter>").shows("  /globex  ");
    scene.walk("/<backspace>").shows("5 groups");
}

#[test]
fn a_minus_leaves_out_and_drafts_are_found() {
    let mut scene = few();
    scene.walk("/-acme").shows("3 of 5");
    scene.walk("<esc>e");
    scene.walk("x<esc>/draft<enter>").shows("1 of 5");
}

#[test]
fn marking_all_says_how_many_only_resemble_the_filter() {
    let mut scene = few();
    scene.walk("/globex<enter>*");
    scene
        .says("1 of the marked match only letter by letter")
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
    for name in [
        "name ▴",
        "id ▴",
        "tag ▴",
        "map ▴",
        "props ▴",
        "token ▴",
        "age ▴",
        "read ▴",
    ] {
        scene.walk("s").shows(&format!("sort {name}"));
    }
    scene.walk("S").shows("sort read ▾");
    scene.walk("s").shows("sort best match");
    scene.walk("<esc>").shows("sort name ▾");
}

#[test]
fn the_state_of_a_rotation_is_a_test() {
    let mut scene = few();
    scene.keys("3");
    scene.answer_with(Outcome::Rotations(vec![
        rotation(2, "globex", State::Unknown),
        rotation(1, "acme-eu", State::Confirmed),
    ]));
    scene.keys("<esc>");
    scene.walk("/state:unknown").shows("1 of 5").shows("Globex");
    scene.walk("<esc>/state:sent").shows("0 of 5");
}

#[test]
fn an_entry_of_the_history_is_found_by_its_own_id() {
    let mut scene = few();
    scene.keys("2");
    let entries = ["ΣΑΣ.eu", "globex"].into_iter().enumerate();
    let entries = entries.map(|(number, of)| Numbered {
        number: number as i64,
        value: history::Entry {
            at: Timestamp::UNIX_EPOCH,
            by: "ana@bastion2".into(),
            profile: "testing".into(),
            user_group_id: id(of),
            operation: Operation::Create,
            ending: Ending::Created,
            previous_fingerprint: None,
            fingerprint: None,
            reason: None,
            changes: None,
            note: None,
        },
    });
    scene.answer_with(Outcome::History(entries.collect()));
    scene.shows("globex");
    // A sigma at the end of the typed text need not be at the end of a word.
    scene.walk("/ΣΑΣ").shows("ΣΑΣ.eu");
    assert!(!scene.screen().contains("globex"));
}

#[test]
fn many_groups_are_searched_in_the_background() {
    let mut scene = many();
    scene.keys("/");
    let effects = scene.keys("2");
    assert!(matches!(&effects[..], [Effect::Start(..)]), "{effects:?}");
    scene.shows("filter  2").shows("2500 of 2500");
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
    let (ticket, ..) = scene.pending.remove(0);
    let effects = scene.msg(Msg::JobPanicked(ticket));
    assert_eq!(effects, []);
    scene.says("Not done: search groups");
    scene.keys("1");
    scene.answer();
    scene.shows("of 2500").shows("filter  01");
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
    scene.shows("Did you mean?").shows("id-0000");
    scene.keys("<down>x");
    let effects = scene.keys("<esc>");
    assert!(matches!(&effects[..], [Effect::Cancel(_)]), "{effects:?}");
}

#[test]
fn filter_and_order_are_stored_per_profile() {
    let mut scene = Scene::on(TESTING);
    scene.walk("s");
    scene.keys("/acm");
    assert_eq!(scene.pending, [], "nothing is stored while typing");
    scene.keys("<enter>");
    let kept = ListView {
        filter: "acm".into(),
        sort: SortBy::Id,
        ..ListView::default()
    };
    let jobs: Vec<&Job> = scene.pending.iter().map(|(_, _, job)| job).collect();
    assert_eq!(jobs, [&Job::KeepView(kept)]);
    scene.answer();
    scene.walk("P<down><enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
    scene.shows("2 groups").shows("sort name");
    scene.walk("P<up><enter>");
    scene.shows("1 of 2").shows("  /acm  ");
    scene.walk("<esc>").shows("2 groups").shows("sort id");
}

#[test]
fn the_stored_filter_is_applied_at_the_start_unless_a_key_came_first() {
    let view = ListView {
        filter: "globex".into(),
        sort: SortBy::Seen,
        reverse: true,
        ..ListView::default()
    };
    let answer = || {
        let mut outcome = Outcome::listed(vec![group("acme-eu", 1), group("globex", 2)]);
        if let Outcome::Listed(listing) = &mut outcome {
            listing.view = Some(view.clone());
        }
        outcome
    };
    let mut scene = Scene::opening(TESTING);
    scene.pending.retain(|(_, _, job)| *job == Job::List);
    scene.answer_with(answer());
    scene
        .shows("1 of 2  /globex")
        .says("Last filter: globex   Esc clears it");
    assert_eq!(scene.pending, [], "nothing new to keep");
    scene.keys("<esc>");
    scene.shows("2 groups").shows("sort read ▾");
    assert!(matches!(&scene.pending[..], [(_, _, Job::KeepView(_))]));

    let mut scene = Scene::opening(TESTING);
    scene.pending.retain(|(_, _, job)| *job == Job::List);
    scene.keys("/acme");
    scene.answer_with(answer());
    scene.shows("filter  acme").shows("1 of 2");
}
