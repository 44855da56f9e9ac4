//! The contract of every confirmation, in every place where one can stand: Enter confirms nothing, the key or the words
//! do, Esc goes back, and the footer names what confirms.

use std::collections::HashSet;

use groupdesk::tui::state::Navigation;

use super::{batches::resuming, prelude::*};

fn resume(level: Level) -> Scene {
    let mut scene = listed("li@bastion2", PRODUCTION);
    let asked = Resumption {
        level,
        ..unfinished(BATCH)
    };
    resuming(&mut scene, asked);
    scene
}

fn dialog(name: &str) -> Scene {
    let mut found = dialogs().into_iter();
    found.find(|(other, _)| *other == name).expect("a dialog").1
}

fn guarded_review() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.guard(Operation::Update, Rule::AtLeast(Level::Words));
    scene.walk("e<end> 2<ctrl-s>");
    scene
}

#[test]
fn the_footer_of_a_review_says_whether_its_key_sends() {
    Scene::walked(PRODUCTION, "e<end> 2<ctrl-s>").shows("y SEND");
    // Words are asked for first.
    guarded_review().shows("y CONTINUE");
}

fn words_of_the_review() -> Scene {
    let mut scene = guarded_review();
    scene.walk("y");
    scene
}

fn quitting() -> Scene {
    let mut scene = half_way().0;
    scene.keys("<esc>q");
    scene
}

/// A confirmation, and the words where words are asked for.
type Case = (&'static str, fn() -> Scene, Focus, &'static str);

/// The same, however it is reached.
type AnyCase = (String, Box<dyn Fn() -> Scene>, Focus, &'static str);

/// Those that no script in [`places`] reaches, or not in each of their forms.
#[rustfmt::skip] // A table: one case per line.
const OTHERS: [Case; 13] = [
    ("resume", || resume(Level::Key), Focus::ResumeCheck, ""),
    ("resume somebody else's", || resume(Level::Words), Focus::ResumeTyped, "resume 1 in production"),
    ("update, with a guard", guarded_review, Focus::Review, ""),
    ("update, the words", words_of_the_review, Focus::ConfirmTyped, "update acme-eu in testing"),
    ("update in production", || Scene::walked(PRODUCTION, "e<end> 2<ctrl-s>"), Focus::Review, ""),
    ("create", || Scene::walked(TESTING, "onew-id<enter>New<ctrl-s>"), Focus::Review, ""),
    ("abandon", || Scene::walked(TESTING, "3Agone<enter>"), Focus::ConfirmKey, ""),
    ("discard a draft", || Scene::walked(TESTING, "e<end> 2<ctrl-x>"), Focus::ConfirmKey, ""),
    ("remove a view", || Scene::walked(TESTING, "vwnight<enter><home>D"), Focus::ConfirmKey, ""),
    ("quit", quitting, Focus::ConfirmKey, ""),
    ("a new environment", || dialog("a new place"), Focus::PlaceNew, ""),
    ("the same environment", || { let mut scene = dialog("a choice of places"); scene.keys("<down><enter>"); scene }, Focus::PlaceNew, ""),
    ("an alarm", || { let mut scene = dialog("an alarm"); scene.keys("a proxy<enter>"); scene }, Focus::PlaceNew, ""),
];

/// The words of the places that [`places`] reaches.
const WORDS: [(Focus, &str); 3] = [
    (Focus::BulkTyped, "rotate 2 in testing"),
    (Focus::BulkEditTyped, "edit 2 in production"),
    (Focus::RotateTyped, "acme-eu"),
];

/// Where the reason of a confirmation is typed: Enter leads to the confirmation.
const REASONS: [Focus; 4] = [
    Focus::RotateReason,
    Focus::BulkReason,
    Focus::AbandonReason,
    Focus::PlaceReason,
];

/// Every confirmation: its name, how it is reached, its place, and its words.
fn cases() -> Vec<AnyCase> {
    let mut cases: Vec<AnyCase> = Vec::new();
    for (script, focus) in places() {
        let open = move || Scene::walked(TESTING, script);
        if open().app.top().confirm().is_some() && !REASONS.contains(&focus) {
            let words = WORDS.iter().find(|(place, _)| *place == focus);
            let words = words.map_or("", |(_, words)| words);
            cases.push((script.to_owned(), Box::new(open), focus, words));
        }
    }
    for (name, open, focus, words) in OTHERS {
        cases.push((name.to_owned(), Box::new(open), focus, words));
    }
    cases
}

/// The key of the confirmation in its place, and its word in the footer: a word in capitals does something strong.
fn confirms(focus: Focus) -> bool {
    keymap::bindings(focus).any(|row| match row.action {
        Action::Confirm => true,
        Action::Enter => {
            focus.takes_text() && !row.hint.is_empty() && row.hint == row.hint.to_uppercase()
        }
        _ => false,
    })
}

/// How many writes were started: the batch that quitting asks about is one.
fn writes(scene: &Scene) -> usize {
    scene.writes().len()
}

fn keys_line(scene: &Scene) -> String {
    let screen = scene.screen();
    screen.lines().last().unwrap_or_default().trim().to_owned()
}

#[test]
fn each_place_where_something_is_confirmed_has_a_case() {
    let seen: HashSet<Focus> = cases().into_iter().map(|(_, _, focus, _)| focus).collect();
    let all = Focus::ALL.into_iter().filter(|focus| confirms(*focus));
    let missing: Vec<Focus> = all.filter(|focus| !seen.contains(focus)).collect();
    assert_eq!(missing, []);
    for focus in seen {
        assert!(confirms(focus), "{focus:?} has neither key nor words");
    }
}

#[test]
fn enter_confirms_nothing_and_the_key_or_the_words_do() {
    for (name, open, focus, words) in cases() {
        let mut scene = open();
        assert_eq!(scene.app.top().focus(), focus, "{name}");
        let (key, wrong) = if words.is_empty() {
            ("y".to_owned(), "<enter><enter>".to_owned())
        } else {
            let almost = &words[..words.len() - 1];
            let wrong = format!("<enter>y<enter><ctrl-u>{almost}<enter>");
            (format!("<ctrl-u>{words}<enter>"), wrong)
        };
        assert_eq!(scene.keys(&wrong), [], "{name}");
        assert_eq!(scene.app.top().focus(), focus, "{name}: still asked");
        let said = if words.is_empty() {
            "Enter confirms nothing: y does"
        } else {
            "Text differs; nothing was sent"
        };
        scene.shows(said);
        let (depth, drafts) = (scene.app.stack.len(), scene.app.context.drafts.own());
        let effects = scene.keys(&key);
        // To close the question is not to confirm it. A draft that nobody has kept yet is discarded without a job.
        let went_on = scene.app.stack.len() > depth || scene.app.context.drafts.own() < drafts;
        assert!(!effects.is_empty() || went_on, "{name}: {key} did nothing");
        // Once: what was confirmed is not sent again.
        let again = scene.keys("yy");
        let writes = |effect: &Effect| matches!(effect, Effect::Start(_, _, job) if job.is_write());
        assert!(!again.iter().any(writes), "{name}: {again:?}");
    }
}

#[test]
fn the_footer_and_the_page_name_what_confirms() {
    for (name, open, _, words) in cases() {
        let scene = open();
        let (line, key) = (
            keys_line(&scene),
            if words.is_empty() { "y " } else { "Enter " },
        );
        let after = line
            .strip_prefix(key)
            .unwrap_or_else(|| panic!("{name}: {line}"));
        let word = after.split_whitespace().next().unwrap_or_default();
        assert!(!word.is_empty(), "{name}: {line}");
        assert_eq!(word, word.to_uppercase(), "{name}: {line}");
        if words.is_empty() {
            scene.shows("No other key does.");
        } else {
            scene.shows(words).shows("then Enter");
        }
    }
}

#[test]
fn esc_leaves_without_confirming() {
    for (name, open, ..) in cases() {
        let mut scene = open();
        let depth = scene.app.stack.len();
        scene.keys("<esc>");
        let asks = scene.app.top().confirm().is_some() && scene.app.stack.len() == depth;
        assert!(!asks, "{name}");
        assert_eq!(writes(&scene), writes(&open()), "{name}");
    }
}

#[test]
fn a_click_on_the_footer_confirms_nothing() {
    let mut clicks = 0;
    for (name, open, _, words) in cases() {
        let asked = || {
            let mut scene = open();
            scene.keys(words);
            scene
        };
        let before = asked();
        let (shown, written) = (before.screen(), writes(&before));
        let mut scene = asked();
        for column in (0..80).step_by(2) {
            let effects = scene.msg(Msg::Mouse(MouseEvent {
                kind: MouseEventKind::Down(MouseButton::Left),
                column,
                row: 23,
                modifiers: KeyModifiers::NONE,
            }));
            assert_eq!(writes(&scene), written, "{name}: {column}");
            let quits = effects
                .iter()
                .any(|effect| matches!(effect, Effect::Quit(_)));
            assert!(!quits, "{name}: {column}");
            if scene.screen() != shown {
                clicks += 1;
                scene = asked();
            }
        }
    }
    assert!(clicks > 50, "{clicks}: they do nothing at all");
}

#[test]
fn the_help_confirms_nothing() {
    for (name, open, focus, words) in cases() {
        let mut scene = open();
        scene.keys(words);
        scene.keys("<f1>");
        let asked = if words.is_empty() {
            "confirm"
        } else {
            "after typing"
        };
        assert_eq!(scene.keys(asked), [], "{name}");
        assert_eq!(scene.keys("<enter>"), [], "{name}");
        assert_eq!(scene.app.top().focus(), focus, "{name}");
        assert_eq!(writes(&scene), writes(&open()), "{name}");
    }
}

/// The check of two groups, one of which was rotated a while ago.
fn planned() -> Outcome {
    Outcome::Planned(Plan {
        at: BEGIN,
        noted: 0,
        ready: vec![id("acme-eu")],
        skipped: vec![(id("globex"), Skip::RotatedRecently(BEGIN))],
    })
}

/// Checking again, with the groups that were rotated a while ago, keeps the reason.
#[test]
fn a_reason_stays_when_the_check_is_made_again() {
    let mut scene = Scene::on(TESTING);
    scene.open("*T", planned());
    scene.open("<shift-tab>leaked<f7>", planned());
    scene.shows("leaked");
    scene.keys("rotate 1 in testing<enter>");
    let run = scene.write();
    assert!(
        matches!(run, Job::Bulk { reason: Some(reason), .. } if reason == "leaked"),
        "{run:?}"
    );
}

/// Another profile would lose it: while the check is made again, when that has failed, and when it is asked for again.
#[test]
fn a_reason_is_kept_from_another_profile_also_while_the_check_is_made_again() {
    let mut scene = Scene::on(TESTING);
    scene.open("*T", planned());
    scene.keys("<shift-tab>leaked<f7>");
    must_stay(&mut scene);
    // Also if the check is made once more before it has ended.
    scene.lose();
    must_stay(&mut scene);
    scene.open("r", planned());
    scene.shows("leaked");
    must_stay(&mut scene);
    // Once it is sent, it is not lost.
    scene.keys("rotate 1 in testing<enter>");
    assert!(!stays(&mut scene));
}

#[test]
fn a_reason_is_kept_from_another_profile_also_between_two_checks_of_a_token() {
    let mut scene = Scene::walked(TESTING, "tT<shift-tab>leaked");
    must_stay(&mut scene);
    scene.walk("<esc>").at("Token");
    must_stay(&mut scene);
    scene.walk("T").shows("leaked");
    must_stay(&mut scene);
    scene.keys("y");
    assert!(!stays(&mut scene));
}

/// Whether another profile is refused.
fn stays(scene: &mut Scene) -> bool {
    let other = Navigation::SwitchTo(ProfileIndex(PRODUCTION));
    scene.app.context.navigate(other);
    scene.msg(Msg::Tick);
    scene.later(10);
    scene.app.context.current == ProfileIndex(TESTING)
}

#[track_caller]
fn must_stay(scene: &mut Scene) {
    assert!(stays(scene));
    scene.says("Not switched: what was typed for the confirmation would be lost");
}

#[test]
fn a_reason_that_is_needed_is_asked_for_and_enter_leads_on() {
    for (mut scene, asked, typed) in [
        (Scene::walked(TESTING, "3A"), "a reason", "gone"),
        (dialog("an alarm"), "what was found", "a proxy"),
    ] {
        assert_eq!(scene.keys("<enter><tab><enter>"), []);
        scene.shows(&format!("Enter {asked}; it is recorded"));
        let before = scene.focus();
        assert_eq!(scene.keys(typed), []);
        assert_eq!(scene.keys("<enter><enter>"), []);
        assert_ne!(scene.focus(), before);
        scene.keys("<shift-tab>");
        scene.at(&before);
        assert_eq!(scene.keys("y"), [], "a letter of the reason");
        scene.started("<tab>y");
    }
}
