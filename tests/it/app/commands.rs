//! Notes, labels, favourites, saved views, columns, and the entries of the palette.

use groupdesk::{
    config::Background,
    domain::annotation::{AnnotationChange, Label, SeenNote},
    search::{ListColumn, SavedView},
    tui::state::{Command, Navigation, command::ListCommand},
};

use super::prelude::*;

/// A list of three groups; "acme-eu" is under the cursor.
fn three() -> Scene {
    let mut scene = Scene::on(TESTING);
    let groups = ["acme-eu", "acme-us", "globex"].map(|id| group(id, 1));
    scene.open("r", list_of(groups.to_vec()));
    scene.answer();
    scene
}

/// Each change that is written, and the groups it is about.
fn changes(scene: &Scene) -> Vec<(Vec<String>, AnnotationChange)> {
    let jobs = scene.jobs().into_iter().filter_map(|job| match job {
        Job::Annotate(ids, change) => {
            let ids = ids.iter().map(ToString::to_string).collect();
            Some((ids, (**change).clone()))
        }
        _ => None,
    });
    jobs.collect()
}

/// The only change that is written, of one group.
#[track_caller]
fn assert_writes(scene: &Scene, group: &str, change: AnnotationChange) {
    assert_eq!(changes(scene), [(vec![group.to_owned()], change)]);
}

fn labels(text: &str) -> std::collections::BTreeSet<Label> {
    Label::parse_all(text).expect("labels")
}

fn adds(text: &str) -> AnnotationChange {
    AnnotationChange {
        add: labels(text),
        ..AnnotationChange::default()
    }
}

fn removes(text: &str) -> AnnotationChange {
    AnnotationChange {
        remove: labels(text),
        ..AnnotationChange::default()
    }
}

/// A note in place of the one that was seen.
fn notes(note: &str, seen: Option<&str>) -> AnnotationChange {
    AnnotationChange {
        note: Some(note.into()),
        seen: Some(SeenNote(seen.map(str::to_owned))),
        ..AnnotationChange::default()
    }
}

#[test]
fn a_note_is_written_with_a_enter_and_found_again() {
    let mut scene = three();
    scene.keys("acall first<tab>vip sso<enter>");
    let expected = AnnotationChange {
        add: labels("vip sso"),
        ..notes("call first", None)
    };
    assert_writes(&scene, "acme-eu", expected);
    scene.answer();
    scene.says("Note saved: acme-eu  +#sso +#vip");
    scene.walk("/note:first").shows("1 of 3");
    scene.walk("<esc>/-label:vip").shows("2 of 3");
    scene.walk("<esc>g<enter>");
    scene.shows_all(["call first", "#sso #vip"]);
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
    scene.at("List");
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
    scene.answer_with(Outcome::NoteChanged(
        id("acme-eu"),
        Box::new(theirs),
        "mine".into(),
    ));
    scene
        .at("Note")
        .says("Not saved: the note was changed by li@bastion2 meanwhile")
        .shows_all(["Enter replaces theirs: theirs", "mine"])
        .hides(" by at ");
    // The second Enter is based on the note that was just shown.
    scene.keys("<enter>");
    assert_writes(&scene, "acme-eu", notes("mine", Some("theirs")));
    scene.answer();
    scene.at("List");
}

/// What another process wrote since the list was read.
#[test]
fn a_note_begins_with_what_is_stored_now() {
    let theirs = Annotation {
        note: Some("call li first, before anything is rotated, and write what was agreed with the customer".into()),
        labels: labels("vip"),
        ..Annotation::default()
    };
    let stored = || Outcome::Note(id("acme-eu"), Box::new(theirs.clone()));
    let mut scene = three();
    scene.open("a", stored());
    scene.shows("call li first").at("Note");
    scene.keys("<end>!<tab>sso<enter>");
    let change = AnnotationChange {
        add: labels("sso"),
        ..notes(
            &format!("{}!", theirs.note.as_deref().unwrap_or_default()),
            theirs.note.as_deref(),
        )
    };
    assert_writes(&scene, "acme-eu", change);
    // What was typed before it arrived stays, and all of the other text is shown.
    let mut scene = three();
    scene.open("amine", stored());
    scene.says("The note was changed meanwhile").shows_all([
        "Note    mine",
        "Enter replaces theirs: call li first,",
        "with the customer",
    ]);
    // The key may be meant for what was on the screen before.
    assert_eq!(scene.keys("<enter>"), []);
    scene.says("Not saved: the note has just changed");
    scene.keys("<enter>");
    assert_writes(&scene, "acme-eu", notes("mine", theirs.note.as_deref()));
    // So what somebody writes while it is open.
    let mut scene = three();
    scene.walk("a");
    scene
        .app
        .context
        .annotations
        .take(&[(id("acme-eu"), theirs.clone())]);
    scene.msg(Msg::Tick);
    scene.shows_all(["call li first", "vip"]);
    // The form is closed while it saves: the message has what was typed.
    let mut scene = three();
    scene.keys("amine<enter><esc>");
    scene.answer_with(Outcome::NoteChanged(
        id("acme-eu"),
        Box::new(theirs.clone()),
        "mine".into(),
    ));
    scene.walk("m").shows("You typed: mine");
    let mut scene = three();
    scene.keys("a<enter><esc>");
    let changed = Outcome::NoteChanged(id("acme-eu"), Box::new(theirs), String::new());
    scene.answer_with(changed);
    scene.says("Note not saved: it was changed to");
    scene.walk("m").hides("You typed");
}

#[test]
fn another_profile_does_not_discard_what_was_typed() {
    for (keys, typed, what) in [
        ("amine", "mine", "the note of acme-eu is not saved"),
        ("<space>B40<tab>213", "213", "the bulk edit is not sent"),
        (
            "vwnight",
            "night",
            "the name that is being typed is not saved",
        ),
        (
            "*T<shift-tab>leaked",
            "leaked",
            "what was typed for the confirmation would be lost",
        ),
        (
            "*Trotate 2 in",
            "rotate 2 in",
            "what was typed for the confirmation would be lost",
        ),
        (
            "tT<shift-tab>leaked",
            "leaked",
            "what was typed for the confirmation would be lost",
        ),
    ] {
        let mut scene = three();
        scene.walk(keys).walk("<f6><down><enter>");
        scene.says(&format!("Not switched: {what}"));
        scene.shows_all(["TESTING", typed]);
    }
    // What a page of other profiles would open there is not opened here.
    let production = ProfileIndex(PRODUCTION);
    for ask in [
        Navigation::TokenOf(production, id("acme-us")),
        Navigation::ShowList(production, "age>90d".into()),
    ] {
        let mut scene = three();
        scene.walk("amine");
        scene.app.context.navigate(ask);
        scene.msg(Msg::Tick);
        scene.at("Note").says("Not switched").shows("mine");
    }
}

#[test]
fn a_row_that_no_longer_matches_is_dimmed_not_marked_and_leaves_with_the_filter() {
    let mut scene = three();
    scene
        .walk("a<tab>vip<enter>*")
        .walk(":add label vip<enter>")
        .walk("<esc>/label:vip<enter>j");
    scene.shows_all(["3 of 3", "> ", "Labels   #vip"]);
    let is_dim = |scene: &Scene| {
        let screen = scene.screen();
        let mut rows = screen.lines().enumerate();
        let is_row = |line: &str| line.contains(" acme-eu ") && line.contains("Name of");
        let (y, line) = rows.find(|(_, line)| is_row(line)).expect("the row");
        let (before, _) = line.split_once("acme-eu ").expect("there");
        let cell = (before.chars().count() as u16, y as u16);
        scene.buffer()[cell].modifier.contains(Modifier::DIM)
    };
    assert!(!is_dim(&scene), "{}", scene.screen());
    // The answer to this change removes the label from the row above the cursor.
    let gone = vec![(id("acme-eu"), Annotation::default())];
    scene.open("f", Outcome::Annotated(gone, Box::default()));
    // The row is also told apart without colours.
    scene.shows_all(["3 of 3", "\n   -Name of acme-eu"]);
    assert!(is_dim(&scene), "{}", scene.screen());
    scene.walk("*").shows("2 marked");
    scene.walk("<esc>").shows("2 marked");
    scene.walk("/label:vip<enter>").shows("2 of 3");
    scene.hides("acme-eu ");
}

#[test]
fn only_changes_in_a_journal_read_the_attention_count_again() {
    let is_count = |effect: &&Effect| matches!(effect, Effect::Start(.., job) if matches!(**job, Job::Attention { .. }));
    for (before, key, reads) in [("", "f", 0), ("e<end> 2<ctrl-s>", "y", 1)] {
        let mut scene = three();
        scene.walk(before).keys(key);
        let (ticket, profile, job) = scene.take(Job::is_write);
        let ended = Msg::Done(ticket, canned_outcome(profile, &job));
        let effects = scene.app.update(BEGIN, ended);
        assert_eq!(effects.iter().filter(is_count).count(), reads, "{key}");
    }
}

#[test]
fn a_view_is_saved_applied_and_removed() {
    let mut scene = three();
    scene.walk("/acme -us<enter>").shows("1 of 3");
    scene.keys("vwnight<enter>");
    let view = ListView {
        filter: "acme -us".into(),
        ..ListView::default()
    };
    assert_eq!(scene.write(), &Job::SaveView("night".into(), view, None));
    scene.answer();
    scene.says("View @night saved").shows("@night");
    // Another filter under the name that is there: only after a question, which says what it was and becomes.
    scene.walk("<esc><esc>").keys("vwNight<enter>");
    assert_eq!(scene.writes(), [&Job::List; 0]);
    scene.shows_all([
        "Replace a saved view",
        "@night is acme -us, last written",
        "becomes all groups for all users",
        "y replaces view @night",
    ]);
    scene.keys("<esc>");
    scene.at("ViewName").shows("Night");
    scene.keys("<enter>y");
    let Job::SaveView(name, view, Some(seen)) = scene.write().clone() else {
        panic!("{:?}", scene.pending);
    };
    assert_eq!((&*name, &*view.filter), ("night", ""));
    assert_eq!((&*seen.name, &*seen.view.filter), ("night", "acme -us"));
    // It was changed in the meantime: the question is asked again, about the view that is there now.
    let theirs = SavedView {
        view: ListView {
            filter: "globex".into(),
            ..ListView::default()
        },
        ..*seen
    };
    let refused = Outcome::ViewChanged(vec![theirs.clone()], Box::new(theirs.clone()));
    scene.answer_with(refused);
    scene.shows_all(["Replace a saved view", "@night is globex"]);
    scene.keys("<esc>");
    scene
        .at("ViewName")
        .shows_all(["Night", "Not saved: view @night was written by"]);
    scene.keys("<enter>y");
    let Job::SaveView(_, _, Some(seen)) = scene.write().clone() else {
        panic!("{:?}", scene.pending);
    };
    assert_eq!(*seen, theirs);
    // It belongs to a colleague: nothing is asked, and the name stays.
    let refused = (
        Severity::Warning,
        "Not saved: view @night belongs to li".to_owned(),
    );
    scene.answer_with(Outcome::SavedViews(vec![theirs], refused));
    scene.at("ViewName").shows_all(["Night", "belongs to li"]);
    scene.walk("<esc><esc>/acme -us<enter>vwnight<enter>y");
    scene.walk("<esc><esc>").shows("3 groups");
    scene.walk("/@n<tab>");
    scene.shows_all(["filter  @night", "1 of 3"]);
    scene.walk("<esc>v<enter>").shows("/acme -us");
    scene.walk("<esc>:view night<enter>").shows("/acme -us");
    let none = "No command \"view day\"";
    scene.walk("<esc>:view day<enter>").shows(none);
    scene.walk("<esc>vDy").says("View @night removed");
    let none = "@night: no saved view of this name";
    scene.walk("<esc>/@night<enter>").shows(none);
}

#[test]
fn columns_are_switched_moved_and_added() {
    let mut scene = three();
    let mut names = "xyz".chars();
    let mut columns = |scene: &mut Scene| {
        let name = names.next().expect("another name");
        scene.keys(&format!("vw{name}<enter>"));
        let found = match scene.write() {
            Job::SaveView(_, view, _) => ListColumn::text_of(&view.columns),
            other => panic!("{other:?}"),
        };
        scene.answer();
        scene.keys("<esc>");
        found
    };
    scene.walk("vatier<enter>").at("List");
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
    scene.at("List");
    scene.walk("/acme<enter>*").shows("2 marked");
    scene.walk("<esc>:invert<enter>").shows("1 marked");
    scene.keys(":add label vip<enter>");
    assert_writes(&scene, "globex", adds("vip"));
    scene.answer();
    scene.keys(":remove label vip<enter>");
    assert_writes(&scene, "globex", removes("vip"));
    scene.answer();
    scene.walk(":unmark<enter>").hides("marked");
    // Words behind a command are no argument: they have to be in the entry.
    for line in ["sort size", "filter acme", "mark age>x", "note call first"] {
        scene.walk(&format!(":{line}<enter>")).shows("No command");
        scene.walk("<esc>");
    }
    assert_eq!(changes(&scene), []);
    scene.walk(":batches<enter>").at("Batches");
    scene.walk("<esc>:attention<enter>").at("Attention");
    scene.app.context.live.batches.insert(BatchId(12));
    scene.keys("<esc>:12<down><enter>");
    let opened = Job::Batch(BatchId(12));
    assert!(scene.jobs().contains(&&opened), "{:?}", scene.pending);
    scene.walk("<esc>:light<enter>");
    let palette = scene.app.context.theme.palette;
    assert_eq!(palette, palette.with_background(Background::Light));
    assert_ne!(palette, palette.with_background(Background::Dark));
    scene.walk(":profile production<enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
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
fn row_keys_say_that_there_is_no_row() {
    let mut scene = three();
    scene.walk("/nothing<enter>").shows("0 of 3");
    for key in "etayx".chars() {
        scene.keys(&key.to_string());
        scene.says("Not available: no group here; o opens or creates one");
        scene.at("List");
    }
    // While a filter is typed, Enter applies it whether or not it matches anything.
    scene.walk("<esc>/nobody").shows("Enter apply");
    scene.walk("<enter>").at("List");
}

#[test]
fn a_known_group_is_an_entry_and_an_unknown_id_is_not_read() {
    let mut scene = three();
    scene.walk(":glob").shows("group globex");
    scene.walk("<enter>").at("Group");
    scene.walk("<esc>:acme-us<enter>").at("Group");
    scene.keys("<esc>:nobody<enter>");
    scene.shows("No command");
    assert_eq!(scene.pending.len(), 0, "reading could create it");
    scene.walk("<esc>:3<enter>n").shows(">   Name of globex");
}

#[test]
fn the_palette_orders_and_says_what_it_does_not_find() {
    let mut scene = three();
    scene.walk(":zzz").shows("No command \"zzz\"");
    assert_eq!(scene.keys("<enter>"), []);
    scene.at("Palette");
    scene.walk("<esc>:zzz").shows("No command \"zzz\"");
    // Available commands come first, then groups, then commands that are not available here.
    scene.walk("<esc>:acme").shows("group acme-eu");
    // A form has no list to sort.
    scene
        .walk("<esc>e<end> 2<ctrl-p>sort by age<enter>")
        .says("Not available: only in the list; Esc leaves this page first");
    let effects = three().keys(":q<enter>");
    assert!(matches!(effects[..], [.., Effect::Quit(_)]), "{effects:?}");
    // Scattered letters are no match, the middle of a word is.
    for (word, found) in [("zz", "No command"), ("mrk", "mark"), ("otat", "rotate")] {
        three().walk(&format!(":{word}")).shows(found);
    }
}

#[test]
fn labels_go_to_the_group_of_the_page_and_nowhere_else() {
    let mut scene = three();
    scene.walk("ja<tab>vip<enter>k");
    scene.walk("<enter>").keys("j:add label vip<enter>");
    assert_writes(&scene, "acme-eu", adds("vip"));
    scene.answer();
    scene.keys(":remove label vip<enter>");
    assert_writes(&scene, "acme-eu", removes("vip"));
    scene.answer();
    // What is marked is labelled, although the filter hides it.
    scene.walk("<esc><esc><space>/zzz<enter>");
    scene.keys(":add label vip<enter>");
    assert_writes(&scene, "acme-eu", adds("vip"));
    scene.answer();
    // Without a mark there is nothing to label.
    scene
        .walk("<esc><esc>/zzz<enter>")
        .keys(":add label vip<enter>");
    scene.says("no group here");
    assert_eq!(changes(&scene), []);
    // The list of rotations is about no group.
    scene.walk("<esc><esc>3").keys(":add label vip<enter>");
    scene.says("labels need a group");
    assert_eq!(changes(&scene), []);
}

#[test]
fn a_command_of_the_list_does_not_close_a_form_or_a_token() {
    let mut scene = three();
    scene.walk("t").keys(":2<enter>");
    scene.says("close it first").at("Token");
    scene.walk("<esc>e");
    assert_eq!(scene.keys("<f1>"), []);
    scene.walk("<esc><esc>").keys(":2<enter>");
    scene.at("List");
}

/// The palette is a second way to what a key does, and no way around what keeps the key from it.
#[test]
fn an_entry_of_the_palette_is_refused_as_its_key_is() {
    let label = || labels("vip").pop_first().expect("one");
    let entries = [
        Command::List(ListCommand::Invert),
        Command::AddLabel(label()),
        Command::RemoveLabel(label()),
        Command::Save("night".into(), None),
    ];
    for command in entries {
        let mut scene = three();
        let run = |scene: &mut Scene| {
            let ask = Navigation::Run(command.clone());
            scene.app.context.navigate(ask);
        };
        match command.key().expect("a key") {
            // What saves at once is not saved by keys that come at once.
            Action::Favourite => {
                run(&mut scene);
                scene.msg(Msg::Burst(parse("j")));
                scene.says("Press it alone");
            }
            key => {
                scene.walk("/age>soon<enter>");
                let why = scene.app.top().why_not(key, &scene.app.context);
                run(&mut scene);
                scene.msg(Msg::Tick);
                scene.says(&why.expect("refused"));
            }
        }
        assert_eq!(scene.writes(), Vec::<&Job>::new(), "{command:?}");
        scene.hides("marked");
    }
}

#[test]
fn a_row_that_is_not_there_is_said() {
    let mut scene = three();
    scene
        .walk(":99<enter>")
        .says("No row 99: the list has 3 rows");
    scene.walk(":0").hides("row 0").hides("batch 0");
}

/// Those of colleagues as well: they are read when the palette opens.
#[test]
fn only_batches_that_exist_are_offered() {
    let mut scene = three();
    scene.keys(":7");
    scene.shows("Go to row 7").hides("Open batch 7");
    scene.keys("<esc>");
    scene.app.follow_journal();
    scene.keys(":");
    let batches = Outcome::Batches(vec![super::batch::stored(BatchId(7))]);
    scene.answer_to(|job| *job == Job::Batches, batches);
    scene.keys("7");
    scene.shows("Open batch 7");
    scene.keys("7");
    scene.shows("Go to row 77").hides("Open batch");
}

#[test]
fn what_a_key_does_not_mark_is_not_inverted_either() {
    let mut scene = three();
    // A part that is not understood, for the key and for the entry.
    scene.walk("/acme -label=vip<enter>:invert<enter>");
    scene.says("Not available").hides("marked");
    // Not where the rows are not seen.
    for page in ["2", "0", "m"] {
        let mut scene = three();
        scene.walk(page).walk(":invert<enter>");
        scene.says("only in the list");
        scene.walk("<esc><esc>1").hides("marked");
    }
}

#[test]
fn the_marks_say_how_many_of_them_are_hidden() {
    let mut scene = three();
    scene.walk("a<tab>vip<enter><space>/globex<enter>");
    scene.shows("1 marked, hidden");
    scene.walk(":add label").shows("1 marked group, hidden");
    scene.walk("<esc>*").shows("2 marked, 1 hidden");
    scene.walk("<esc>").shows("2 marked").hides("hidden");
    // Nothing but what is shown is marked afterwards.
    scene
        .walk("/acme<enter>:invert<enter>")
        .shows("1 marked")
        .hides("hidden");
    scene.walk("<esc>").shows("1 marked");
}
