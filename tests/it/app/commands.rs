//! Notes, labels, favourites, saved views, columns, and the entries of the palette.

use groupdesk::{
    config::Background,
    domain::annotation::{Annotation, AnnotationChange, Attribution, Label, SeenNote},
    operations::BatchId,
    search::{ListColumn, ListView, SortBy},
    tui::state::message::{Effect, Job, Msg, Outcome},
};

use ratatui::style::Modifier;

use super::scene::{BEGIN, PRODUCTION, Scene, TESTING, canned_outcome, group};
use crate::support::{assertions::assert_has, world::id};

/// A list of three groups; "acme-eu" is under the cursor.
fn three() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("r");
    let groups = ["acme-eu", "acme-us", "globex"].map(|id| group(id, 1));
    scene.answer_with(Outcome::listed(groups.to_vec()));
    scene.answer();
    scene
}

fn changes(scene: &Scene) -> Vec<(usize, AnnotationChange)> {
    let jobs = scene.pending.iter().filter_map(|(_, _, job)| match job {
        Job::Annotate(ids, change) => Some((ids.len(), (**change).clone())),
        _ => None,
    });
    jobs.collect()
}

fn labels(text: &str) -> std::collections::BTreeSet<Label> {
    Label::parse_all(text).expect("labels")
}

#[test]
fn a_note_is_written_with_a_enter_and_found_again() {
    let mut scene = three();
    scene.keys("acall first<tab>vip sso<enter>");
    let expected = AnnotationChange {
        note: Some("call first".into()),
        seen: Some(SeenNote(None)),
        add: labels("vip sso"),
        ..AnnotationChange::default()
    };
    assert_eq!(changes(&scene), [(1, expected)]);
    scene.answer();
    scene.says("Note saved: acme-eu  +#sso +#vip");
    scene.walk("/note:first").shows("1 of 3");
    scene.walk("<esc>/-label:vip").shows("2 of 3");
    scene
        .walk("<esc>g<enter>")
        .shows("call first")
        .shows("#sso #vip");
    // The label of another group is completed.
    scene.walk("<esc>ja<tab>v<tab>").shows("vip");
    scene.keys("<enter>");
    assert_eq!(changes(&scene)[0].1.add, labels("vip"));
    scene.answer();
    // An unchanged note is not written.
    scene.keys("a<enter>");
    assert_eq!(changes(&scene), []);
    scene.keys("a<tab>x,y z!<enter>");
    scene.shows("expected letters, digits");
    scene.keys("<esc>");
    assert_eq!(scene.focus(), "List");
}

#[test]
fn a_note_that_somebody_else_changed_meanwhile_is_shown_and_what_was_typed_is_kept() {
    let mut scene = three();
    scene.keys("amine<enter>");
    // They added a label as well, which this change must not remove.
    let theirs = Annotation {
        note: Some("theirs".into()),
        labels: labels("vip"),
        noted: Some(Attribution {
            at: BEGIN,
            by: "li@bastion2".into(),
        }),
        ..Annotation::default()
    };
    scene.answer_with(Outcome::NoteChanged(id("acme-eu"), Box::new(theirs)));
    assert_eq!(scene.focus(), "Note");
    scene.says("Not saved: the note was changed by li@bastion2 meanwhile. Enter replaces it");
    scene.shows("Theirs: theirs").shows("mine");
    assert!(!scene.screen().contains(" by at "), "{}", scene.screen());
    // The second Enter is based on the note that was just shown.
    scene.keys("<enter>");
    let expected = AnnotationChange {
        note: Some("mine".into()),
        seen: Some(SeenNote(Some("theirs".into()))),
        ..AnnotationChange::default()
    };
    assert_eq!(changes(&scene), [(1, expected)]);
    scene.answer();
    assert_eq!(scene.focus(), "List");
}

#[test]
fn a_row_that_no_longer_matches_is_dimmed_not_marked_and_leaves_with_the_filter() {
    let mut scene = three();
    scene
        .walk("a<tab>vip<enter>*")
        .walk(":add label vip<enter>")
        .walk("<esc>/label:vip<enter>j");
    scene.shows("3 of 3").shows("> ").shows("Labels   #vip");
    let is_dim = |scene: &Scene| {
        let buffer = scene.buffer();
        let screen = scene.screen();
        let lines = screen.lines().enumerate();
        let mut rows =
            lines.filter(|(_, line)| line.contains(" acme-eu ") && line.contains("Name of"));
        let (y, line) = rows.next().expect("the row");
        let at = line.find(" acme-eu ").expect("there") + 1;
        let x = line[..at].chars().count() as u16;
        buffer[(x, y as u16)].modifier.contains(Modifier::DIM)
    };
    assert!(!is_dim(&scene), "{}", scene.screen());
    // The answer to this change removes the label from the row above the cursor.
    let gone = Annotation::default();
    let change = AnnotationChange::default();
    scene.keys("f");
    scene.answer_with(Outcome::Annotated(
        vec![(id("acme-eu"), gone)],
        Box::new(change),
    ));
    // The row is also told apart without colours.
    scene.shows("3 of 3").shows("\n   -Name of acme-eu");
    assert!(is_dim(&scene), "{}", scene.screen());
    scene.walk("*").shows("2 marked");
    scene.walk("<esc>").shows("2 marked");
    scene.walk("/label:vip<enter>").shows("2 of 3");
    assert!(!scene.screen().contains("acme-eu "), "{}", scene.screen());
}

#[test]
fn only_changes_in_a_journal_read_the_attention_count_again() {
    let counts = |effects: &[Effect]| {
        let is_count = |effect: &&Effect| matches!(effect, Effect::Start(.., job) if matches!(**job, Job::Attention { .. }));
        effects.iter().filter(is_count).count()
    };
    for (before, key, reads) in [("", "f", 0), ("e<end> 2<ctrl-s>", "y", 1)] {
        let mut scene = three();
        scene.walk(before).keys(key);
        let is_write = |(.., job): &(_, _, Job)| job.is_write();
        let at = scene.pending.iter().rposition(is_write).expect("a write");
        let (ticket, profile, job) = scene.pending.remove(at);
        let ended = Msg::Done(ticket, canned_outcome(profile, &job));
        let effects = scene.app.update(BEGIN, ended);
        assert_eq!(counts(&effects), reads, "{key}: {effects:?}");
    }
}

#[test]
fn a_favourite_is_made_and_taken_back() {
    let mut scene = three();
    scene.walk("f").says("Favourite: acme-eu");
    scene.shows("★ Name of acme-eu");
    scene.walk("/fav<enter>").shows("1 of 3");
    scene.walk("<esc>f").says("No longer a favourite: acme-eu");
    assert!(!scene.screen().contains('★'), "{}", scene.screen());
}

#[test]
fn a_view_is_saved_applied_and_removed() {
    let mut scene = three();
    scene.walk("/acme -us<enter>").shows("1 of 3");
    scene.keys("vwnight<enter>");
    let saved = scene.pending.iter().find_map(|(_, _, job)| match job {
        Job::SaveView(name, view) => Some((name.clone(), view.clone())),
        _ => None,
    });
    let view = ListView {
        filter: "acme -us".into(),
        ..ListView::default()
    };
    assert_eq!(saved, Some(("night".into(), view)));
    scene.answer();
    scene.says("View @night saved").shows("@night");
    scene.walk("<esc><esc>").shows("3 groups");
    scene
        .walk("/@n<tab>")
        .shows("filter  @night")
        .shows("1 of 3");
    scene.walk("<esc>v<enter>").shows("/acme -us");
    scene.walk("<esc>:view night<enter>").shows("/acme -us");
    scene
        .walk("<esc>:view day<enter>")
        .shows("No command \"view day\"");
    scene.walk("<esc>vDy").says("View @night removed");
    scene
        .walk("<esc>/@night<enter>")
        .shows("@night: no saved view of this name");
}

#[test]
fn columns_are_switched_moved_and_added() {
    let mut scene = three();
    let columns = |scene: &mut Scene| {
        scene.keys("vwx<enter>");
        let found = scene.pending.iter().find_map(|(_, _, job)| match job {
            Job::SaveView(_, view) => Some(ListColumn::text_of(&view.columns)),
            _ => None,
        });
        scene.answer();
        scene.keys("<esc>");
        found.expect("it is saved")
    };
    scene.walk("vatier<enter>");
    assert_eq!(scene.focus(), "List");
    let all = columns(&mut scene);
    assert!(all.starts_with("name,prop.tier,id,age"), "{all}");
    // Below the saved view: the property goes away, then the name moves behind the ID.
    scene.walk("v<down><down><space><esc>");
    assert_eq!(columns(&mut scene), "");
    scene.walk("v<down>J<esc>");
    let moved = columns(&mut scene);
    assert!(moved.starts_with("id,name,age"), "{moved}");
}

#[test]
fn entries_act_on_the_list() {
    let mut scene = three();
    scene.walk("a<tab>vip<enter>");
    scene.walk(":sort by age<enter>").shows("sort age");
    assert_eq!(scene.focus(), "List");
    scene.walk("/acme<enter>*").shows("2 marked");
    scene.walk("<esc>:invert<enter>").shows("1 marked");
    scene.keys(":add label vip<enter>");
    let added = AnnotationChange {
        add: labels("vip"),
        ..AnnotationChange::default()
    };
    assert_eq!(changes(&scene), [(1, added)]);
    scene.answer();
    scene.keys(":remove label vip<enter>");
    let removed = AnnotationChange {
        remove: labels("vip"),
        ..AnnotationChange::default()
    };
    assert_eq!(changes(&scene), [(1, removed)]);
    scene.answer();
    scene.walk(":unmark<enter>");
    assert!(!scene.screen().contains("marked"), "{}", scene.screen());
    // Words behind a command are no argument: they have to be in the entry.
    for line in ["sort size", "filter acme", "mark age>x", "note call first"] {
        scene.walk(&format!(":{line}<enter>"));
        scene.shows("No command");
        scene.walk("<esc>");
    }
    assert_eq!(changes(&scene), []);
    scene.walk(":profile production<enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
}

#[test]
fn batches_attention_and_colours_are_entries() {
    let mut scene = three();
    scene.walk(":batches<enter>");
    assert_eq!(scene.focus(), "Batches");
    scene.walk("<esc>:attention<enter>");
    assert_eq!(scene.focus(), "Attention");
    scene.keys("<esc>:12<down><enter>");
    let opened = scene
        .pending
        .iter()
        .any(|(_, _, job)| *job == Job::Batch(BatchId(12)));
    assert!(opened, "{:?}", scene.pending);
    scene.walk("<esc>:light<enter>");
    let palette = scene.app.context.theme.palette;
    assert_eq!(palette, palette.with_background(Background::Light));
    assert_ne!(palette, palette.with_background(Background::Dark));
}

#[test]
fn a_filter_error_leaves_room_for_the_name_of_the_view() {
    let mut scene = three();
    scene.walk("/age>soon acme<enter>");
    for width in 40..=120 {
        scene.msg(Msg::Resize(width, 24));
        let screen = scene.screen();
        let way = screen.lines().nth(1).expect("line 2");
        assert!(way.starts_with(" Groups  "), "{width}: {way}");
        assert!(way.contains("2 of 3"), "{width}: {way}");
    }
}

#[test]
fn row_keys_are_not_offered_without_a_row() {
    let mut scene = three();
    scene.msg(Msg::Resize(200, 24));
    scene.walk("/nothing<enter>").shows("0 of 3");
    let footer = |scene: &Scene| scene.screen().lines().last().map(str::to_owned);
    let keys = footer(&scene).expect("a footer");
    for key in ["Enter open", "e edit", "t token", "mark", "copy"] {
        assert!(!keys.contains(key), "{key}: {keys}");
    }
    for key in "etayx".chars() {
        scene.keys(&key.to_string());
        scene.says("Not available: no group here; o opens or creates one");
        assert_eq!(scene.focus(), "List", "{key}");
    }
    // While a filter is typed, Enter applies it whether or not it matches anything.
    scene.walk("<esc>/nobody");
    assert!(footer(&scene).is_some_and(|keys| keys.contains("Enter apply")));
    scene.walk("<enter>");
    assert_eq!(scene.focus(), "List");
}

#[test]
fn a_known_group_is_an_entry_and_an_unknown_id_is_not_read() {
    let mut scene = three();
    scene.walk(":glob").shows("group globex");
    scene.walk("<enter>");
    assert_eq!(scene.focus(), "Group");
    scene.walk("<esc>:acme-us<enter>");
    assert_eq!(scene.focus(), "Group");
    scene.keys("<esc>:nobody<enter>");
    scene.shows("No command");
    assert_eq!(scene.pending.len(), 0, "reading could create it");
    scene.walk("<esc>:3<enter>n");
    assert_has(&scene.screen(), ">   Name of globex");
}

#[test]
fn the_palette_orders_and_says_what_it_does_not_find() {
    let mut scene = three();
    scene
        .walk(":import")
        .shows("No command \"import\". Command line: groupdesk import");
    scene.walk("<esc>:zzz").shows("No command \"zzz\"");
    // Available commands come first, then groups, then commands that are not available here.
    scene.walk("<esc>:acme").shows("group acme-eu");
    scene.walk("<esc>");
    // A form has no list to sort.
    scene
        .walk("e<end> 2<ctrl-p>sort by age<enter>")
        .says("Not available: only in the list; Esc leaves this page first");
    let effects = three().keys(":q<enter>");
    assert!(matches!(effects[..], [.., Effect::Quit(_)]), "{effects:?}");
    assert_eq!(SortBy::parse("age"), Some(SortBy::Rotated));
}

#[test]
fn labels_go_to_the_group_of_the_page_and_nowhere_else() {
    let mut scene = three();
    scene.walk("ja<tab>vip<enter>k");
    scene.walk("<enter>").keys("j:add label vip<enter>");
    let ids = |scene: &Scene| {
        let jobs = scene.pending.iter().filter_map(|(_, _, job)| match job {
            Job::Annotate(ids, _) => Some(ids.clone()),
            _ => None,
        });
        jobs.flatten().collect::<Vec<_>>()
    };
    assert_eq!(ids(&scene), [id("acme-eu")]);
    scene.answer();
    scene.keys(":remove label vip<enter>");
    let removed = AnnotationChange {
        remove: labels("vip"),
        ..AnnotationChange::default()
    };
    assert_eq!(changes(&scene), [(1, removed)]);
    scene.answer();
    // The list of rotations is about no group.
    scene.walk("<esc><esc>3").keys(":add label vip<enter>");
    scene.says("it acts on a group");
    assert_eq!(changes(&scene), []);
}

#[test]
fn a_command_of_the_list_does_not_close_a_form_or_a_token() {
    let mut scene = three();
    scene.walk("t").keys(":2<enter>");
    scene.says("close it first");
    assert_eq!(scene.focus(), "Token");
    scene.walk("<esc>e");
    assert_eq!(scene.keys("<f1>"), []);
    scene.walk("<esc><esc>").keys(":2<enter>");
    assert_eq!(scene.focus(), "List");
}
