//! Guards on the screen, switching the profile from every place, and the profile's name at every size.

use ratatui::style::Color;

use groupdesk::{config::profile::KeySource, tui::state::ListingExtras};

use super::{
    attention::{answer_concerns, draft},
    groups::group,
    prelude::*,
};

fn guarded(profile: usize, operation: Operation, rule: Rule) -> Scene {
    let mut scene = Scene::on(profile);
    scene.guard(operation, rule);
    scene
}

#[test]
fn a_forbidden_action_is_dimmed_and_says_why() {
    for (operation, script, key, action) in [
        (Operation::Update, "", "e", Action::Edit),
        (Operation::Update, "<enter>", "e", Action::Edit),
        (Operation::Rotate, "t", "T", Action::Rotate),
        (Operation::Bulk, "*", "T", Action::RotateMarked),
        (Operation::Rotate, "*", "T", Action::RotateMarked),
        (Operation::Abandon, "3", "A", Action::Abandon),
    ] {
        let mut scene = guarded(TESTING, operation, Rule::Forbid);
        scene.walk(script);
        let focus = scene.focus();
        let why = scene.app.top().disabled(action, &scene.app.context);
        assert!(
            why.is_some_and(|why| why.contains("two people look")),
            "{action:?}"
        );
        assert_eq!(scene.keys(key), [], "{action:?}");
        scene.at(&focus).says("two people look");
    }
    guarded(TESTING, Operation::Create, Rule::Forbid)
        .walk("onew-one<enter>")
        .at("Open")
        .shows("create is forbidden: two people look");
}

#[test]
fn without_an_api_key_what_needs_it_is_refused_at_once_and_the_rest_stays() {
    let mut unset = Scene::on(TESTING);
    unset.app.context.profiles[TESTING].api_key = KeySource::Unset;
    let mut unreadable = Scene::on(TESTING);
    let groups = vec![group("acme-eu", 1), group("globex", 2)];
    let mut listed = list_of(groups);
    if let Outcome::Listed(listing) = &mut listed {
        listing.extras = Some(ListingExtras {
            lacks_key: true,
            ..ListingExtras::default()
        });
    }
    unreadable.open("r", listed);
    let why = "this profile has no readable API key";
    for mut scene in [unset, unreadable] {
        scene.hides("e edit").hides("t token");
        for keys in ["e", "E", "t", "*T", "B"] {
            assert_eq!(scene.keys(keys), [], "{keys}");
            scene.at("List").says(&format!("Not available: {why}"));
            scene.later(1);
        }
        scene.walk("onew-id<enter>").at("Open").shows(why);
        scene.hides("New ID").hides("opens the form");
        scene.walk("<esc>?readable").shows(&format!("({why})"));
        scene.walk("<esc>a").at("Note");
        scene.walk("<esc>2").at("History");
        assert_eq!(scene.keys("<esc><enter>"), [], "nothing is read");
        let unread = format!("Last known values, not read: {why}");
        scene.at("Group").shows(&unread).hides("r refresh");
        assert_eq!((scene.writes().len(), scene.drafts()), (0, 0));
        scene.keys("<esc>0");
        answer_concerns(&mut scene, vec![draft(TESTING, "acme-eu")]);
        scene.hides("e open draft");
        scene.keys("e");
        scene.says(&format!("Not available: {why}"));
    }
}

#[test]
fn without_an_api_key_an_empty_list_names_the_environments_and_no_import() {
    for (environments, said) in [
        (
            &["live", "testp"][..],
            "This URL has live, testp. Add api_key",
        ),
        (&[], "No groups yet: this profile has no readable API key"),
    ] {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = (160, 30);
        let mut listed = list_of(Vec::new());
        if let Outcome::Listed(listing) = &mut listed {
            listing.extras = Some(ListingExtras {
                lacks_key: true,
                environments: environments.iter().map(ToString::to_string).collect(),
                ..ListingExtras::default()
            });
        }
        scene.open("r", listed);
        scene.answer();
        scene.shows(said).hides("import").hides("creates");
    }
}

#[test]
fn a_guard_on_updates_asks_for_typed_words() {
    for (level, words) in [
        (Level::Typed, "acme-eu"),
        (Level::Words, "update acme-eu in testing"),
    ] {
        let mut scene = guarded(TESTING, Operation::Update, Rule::AtLeast(level));
        scene
            .walk("e<end> 2<ctrl-s>")
            .shows_all(["two people look", "after a typed confirmation"]);
        assert_eq!(scene.keys("<enter>y"), [], "nothing is sent yet");
        scene.at("ConfirmTyped").shows_all([
            words,
            "two people look",
            "This updates acme-eu in testing: name.",
        ]);
        assert_eq!(scene.keys("y<enter><ctrl-u>"), []);
        scene.keys(words);
        assert!(scene.writes().is_empty(), "not before Enter");
        scene.keys("<enter>");
        let sent = scene.write();
        assert!(matches!(sent, Job::Update { .. }), "{sent:?}");
    }
    // A guard never asks for less than usual.
    let least = Rule::AtLeast(Level::Button);
    let mut scene = guarded(PRODUCTION, Operation::Rotate, least);
    scene.walk("tT").at("RotateTyped");
    // More than usual: the ID alone is not enough.
    let words = "rotate acme-eu in testing";
    let mut scene = guarded(TESTING, Operation::Rotate, Rule::AtLeast(Level::Words));
    scene.walk("tT").shows("two people look").shows(words);
    assert_eq!(scene.keys("acme-eu<enter>"), []);
    scene.shows("Text differs; nothing was sent");
    scene.keys("<ctrl-u>");
    scene.keys(words);
    assert!(scene.writes().is_empty(), "not before Enter");
    scene.keys("<enter>");
    let sent = scene.write();
    assert!(matches!(sent, Job::Rotate { .. }), "{sent:?}");
}

#[test]
fn typed_words_do_not_override_an_alarm_that_came_meanwhile() {
    let mut scene = guarded(TESTING, Operation::Update, Rule::AtLeast(Level::Typed));
    scene.walk("e<end> 2<ctrl-s>y");
    scene.keys("acme-eu");
    scene.app.context.profiles[TESTING].read_only = true;
    assert_eq!(scene.keys("<enter>"), []);
    scene.says("Not sent: this profile is read-only");
}

#[test]
fn the_profile_can_be_switched_from_every_place_and_the_draft_stays() {
    for (script, focus) in places() {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = (120, 50);
        scene.walk(script);
        scene.keys("<f6>");
        let there = scene.focus();
        if focus == Focus::Profiles {
            assert_eq!(there, "List", "the same key closes it");
            continue;
        }
        assert_eq!(there, "Profiles", "F6 from {script}");
        // The list of help offers it in fields, too.
        scene.keys("<esc><f1>");
        if !matches!(focus, Focus::Help | Focus::Palette) {
            scene.shows("F6");
        }
    }
    for script in ["e<end> 2", "e<tab><enter>9", "e<tab><tab>"] {
        let mut scene = Scene::walked(TESTING, script);
        scene.walk("<ctrl-p>switch<enter>").at("Profiles");
        scene.walk("<down><enter>").at("List");
        assert_eq!(scene.app.context.current.0, PRODUCTION);
        let kept = usize::from(script != "e<tab><tab>");
        assert_eq!(scene.drafts(), kept, "{script}");
        scene.walk("P<up><enter>e");
        if script == "e<end> 2" {
            scene.shows("Name of acme-eu 2");
        }
    }
}

#[test]
fn the_profile_can_be_switched_while_the_service_hangs() {
    for script in ["<enter>", "t", "e<end> 2<ctrl-s>", "2", "*T"] {
        let mut scene = Scene::on(TESTING);
        scene.keys(script);
        assert!(!scene.pending.is_empty(), "{script} waits for an answer");
        scene.keys("<f6><down><enter>");
        assert_eq!(scene.app.context.current.0, PRODUCTION, "{script}");
        scene.at("List");
        scene.answer();
        scene.shows(" PRODUCTION ");
    }
}

#[test]
fn production_is_visible_on_every_pane_at_every_size() {
    for (script, _) in places() {
        if script.starts_with("P<down>") || script.contains("rotate 1 in") {
            continue;
        }
        let mut scene = Scene::walked(PRODUCTION, script);
        for size in [(160, 50), (80, 24), (60, 15), (40, 8), (30, 5), (20, 1)] {
            scene.msg(Msg::Resize(size.0, size.1));
            let buffer = scene.buffer();
            let first: String = (0..12).map(|x| buffer[(x, 0)].symbol()).collect();
            assert_eq!(first, " PRODUCTION ", "{script} at {size:?}");
            let cell = &buffer[(1, 0)];
            let is_marked = cell.modifier.contains(Modifier::REVERSED) || cell.bg != Color::Reset;
            assert!(is_marked, "{script} at {size:?}: {cell:?}");
        }
    }
}

#[test]
fn an_answer_with_another_tag_marks_the_profile_for_the_session() {
    let alarm = Warning::WrongTag {
        expected: EnvironmentTag::Testing,
        got: EnvironmentTag::Customer,
    };
    let mut scene = Scene::on(TESTING);
    scene.open("<enter>", warned(group("acme-eu", 1), alarm));
    scene.shows_all(["! WRONG ENVIRONMENT", "ALARM"]);
    // Dismissing the message and reading again do not remove the mark.
    scene
        .walk("<esc><esc><esc>m<esc><enter><esc>")
        .shows("! WRONG ENVIRONMENT");
    // Of that profile only.
    scene.walk("P<down><enter>").hides("WRONG ENVIRONMENT");
    scene.walk("P<up><enter>").shows("! WRONG ENVIRONMENT");
    // Also when a rotation ends so.
    let mut scene = Scene::walked(TESTING, "tT");
    let conflict = Failure::Conflict {
        id: id("acme-eu"),
        why: "two answers".into(),
        wrong_environment: true,
    };
    scene
        .open("y", Outcome::Failed(conflict.into()))
        .shows("! WRONG ENVIRONMENT");
    // Not by the service's words.
    let words = "ALARM: the answer is tagged Customer";
    Scene::on(TESTING)
        .open("<enter>", failed(words, Some(Ending::Refused)))
        .hides("WRONG ENVIRONMENT");
}

#[test]
fn what_is_not_possible_says_why_and_leads_nowhere() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (TESTING, "T", "List", "nothing is marked; t: this row"),
        (TESTING, "B", "List", "nothing is marked"),
        (TESTING, "/no-such-group<enter>w", "List", "Not available: no group is listed"),
        (READ_ONLY, "e", "List", "Not available: this profile is read-only"),
        (READ_ONLY, "<enter>e", "Group", "Not available: this profile is read-only"),
        (READ_ONLY, "E", "List", "read-only"),
        (READ_ONLY, "tT", "Token", "Not available: this profile is read-only"),
        (READ_ONLY, "*T", "List", "this profile is read-only"),
        (READ_ONLY, "*B", "List", "read-only"),
        (READ_ONLY, "3A", "Rotations", "this profile is read-only"),
        (READ_ONLY, "x<enter>", "Compare", "this profile is read-only"),
        (READ_ONLY, "xa", "Compare", "this profile is read-only"),
    ];
    for (profile, script, focus, why) in table {
        let scene = Scene::walked(profile, script);
        scene.at(focus).says(why);
        assert!(scene.writes().is_empty(), "{script}");
        assert_eq!(scene.drafts(), 0, "{script}");
    }
    let mut scene = Scene::walked(READ_ONLY, "onew-id<enter>");
    scene
        .at("Open")
        .shows_all(["READ-ONLY", "cannot be created"]);
    scene
        .walk("<esc>?read-only")
        .shows("(this profile is read-only)");
    assert!(scene.app.context.profiles[READ_ONLY].read_only);
    assert!(scene.app.context.groups.get(&id("new-id")).is_none());
}
