//! Drafts are saved as they are typed, one save at a time, forgotten when sent or discarded, and offered again.

use groupdesk::operations::OtherDraft;

use super::{attention::draft as draft_row, prelude::*, scene::is_about_drafts};

/// The pending jobs about drafts.
fn jobs(scene: &Scene) -> Vec<&Job> {
    let mut jobs = scene.jobs();
    jobs.retain(|job| is_about_drafts(job));
    jobs
}

/// The draft of the only pending save.
#[track_caller]
fn saved(scene: &Scene) -> &Draft {
    match jobs(scene)[..] {
        [Job::KeepDraft(draft, _)] => draft,
        ref other => panic!("{other:?}"),
    }
}

#[track_caller]
fn name(scene: &Scene) -> &str {
    &saved(scene).typed.name
}

#[test]
fn one_save_at_a_time_and_the_newest_wins() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end>");
    scene.keys("1");
    assert_eq!(name(&scene), "Name of acme-eu1");
    scene.keys("234<left>");
    assert_eq!(name(&scene), "Name of acme-eu1", "it is still running");
    scene.answer_oldest();
    assert_eq!(name(&scene), "Name of acme-eu1234");
    scene.answer();
    scene.keys("<left><right>");
    assert!(jobs(&scene).is_empty(), "nothing was typed");
    scene.keys("<backspace>");
    scene.answer();
    scene.keys("<end><backspace><backspace><backspace>");
    scene.answer();
    assert_eq!(scene.drafts(), 0, "as it was before");
}

#[test]
fn a_signal_waits_for_the_last_save() {
    let mut scene = Scene::walked(TESTING, "e<end>");
    scene.keys("12");
    let leave = Msg::Leave(StopCause::TerminalLost);
    assert_eq!(scene.msg(leave), [], "a save is under way");
    assert_eq!(scene.answer_oldest(), [], "and another");
    assert_eq!(name(&scene), "Name of acme-eu12");
    let effects = scene.answer_oldest();
    assert!(matches!(effects[..], [Effect::Quit(_)]), "{effects:?}");
}

#[test]
fn a_draft_that_was_sent_is_forgotten() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("y");
    assert!(jobs(&scene).is_empty());
    scene.answer_oldest();
    assert!(
        matches!(jobs(&scene)[..], [Job::ForgetDraft(group, _)] if *group == id("acme-eu")),
        "{:?}",
        scene.pending
    );
}

#[test]
fn discarding_asks_first_and_forgets() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("e<ctrl-x>").says("nothing is changed");
    scene
        .walk("<end> 2<ctrl-x>")
        .shows("Your changes will be lost.")
        .shows("y discards the draft of acme-eu");
    scene.walk("<ctrl-x><enter><esc>");
    scene.at("EditName");
    assert_eq!(scene.drafts(), 1);
    scene.walk("<ctrl-x>").keys("y");
    scene.at("List").says("discarded").says("nothing was sent");
    assert!(matches!(&jobs(&scene)[..], [Job::ForgetDraft(..)]));
    scene.walk("e").shows("nothing changed");
}

#[test]
fn a_failed_save_is_announced_once_and_tried_again() {
    let mut scene = Scene::on(TESTING);
    scene.is_full = true;
    scene.walk("e<end>123");
    let said = scene.app.context.messages.all();
    let errors = said.filter(|message| message.text.contains("NOT saved"));
    assert_eq!(errors.count(), 1);
    scene.shows("no room left on the disk");
    scene.shows_all(["1 change, not kept yet", "leave (draft NOT saved)"]);
    scene.is_full = false;
    scene.walk("4").says("Drafts are saved again");
}

#[test]
fn a_draft_that_cannot_be_deleted_is_not_called_unsaved() {
    let mut scene = Scene::walked(TESTING, "e<end>1");
    scene.walk("<ctrl-x>").keys("y");
    assert!(matches!(&jobs(&scene)[..], [Job::ForgetDraft(..)]));
    let at = scene
        .pending
        .iter()
        .position(|(.., job)| is_about_drafts(job));
    let (ticket, ..) = scene.pending.remove(at.expect("a deletion"));
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)));
    scene.says("Draft of acme-eu NOT deleted yet; it may appear again: no room left");
    let mut said = scene.app.context.messages.all();
    assert!(!said.any(|message| message.text.contains("NOT saved")));
}

/// The draft that a console saves after these keys in the name.
fn typed(scene: &mut Scene, keys: &str) -> Draft {
    scene.keys(keys);
    saved(scene).clone()
}

/// A console that starts `minutes` after a draft was typed, with the draft in the directory.
fn after(minutes: i64, by: &str) -> Scene {
    let (mut scene, draft) = unread(minutes, by);
    find(&mut scene, vec![draft]);
    scene
}

/// As [`after`], before the draft is read.
fn unread(minutes: i64, by: &str) -> (Scene, KeptDraft) {
    let draft = typed(&mut Scene::walked(TESTING, "e"), "<end>2");
    let mut scene = Scene::on(TESTING);
    scene.later(minutes * 60);
    scene.app.context.drafts = groupdesk::tui::state::drafts::Drafts::default();
    scene.app.context.now = scene.now;
    let by = by.into();
    (scene, KeptDraft { draft, by })
}

/// The console reads these drafts in the directory.
fn find(scene: &mut Scene, drafts: Vec<KeptDraft>) {
    scene.app.context.read_drafts();
    let effects = scene.app.take_effects();
    let started = effects.iter().find_map(|effect| match effect {
        Effect::Start(ticket, _, job) if **job == Job::Drafts => Some(*ticket),
        _ => None,
    });
    // Opening a form reads them as well.
    let ticket = started.unwrap_or_else(|| scene.take(|job| *job == Job::Drafts).0);
    scene.msg(Msg::Done(ticket, Outcome::Drafts(drafts)));
}

/// As [`after`], and every read is answered.
fn open(scene: &mut Scene) {
    scene.keys("e");
    scene.pending.clear();
}

#[test]
fn a_draft_is_offered_at_the_start_and_opens_with_its_age() {
    let mut scene = after(120, "ana@bastion2");
    assert_eq!(
        scene.footer(),
        "i 1 unsent draft: acme-eu (2h ago); e on it opens it"
    );
    scene.shows("d Name of acme-eu");
    open(&mut scene);
    scene.shows_all(["Name of acme-eu2", "1 change"]);
    scene.says("Your unsent draft (2h ago), based on a copy 2h old: F5 re-reads it");
}

#[test]
fn a_form_opened_before_the_drafts_are_read_takes_its_own() {
    let (mut scene, draft) = unread(120, "ana@bastion2");
    scene.keys("e");
    find(&mut scene, vec![draft]);
    scene.shows_all(["Name of acme-eu2", "1 change"]);
    let footer = scene.footer();
    assert!(
        footer.starts_with("i Your unsent draft (2h ago)"),
        "{footer}"
    );
}

#[test]
fn a_stale_copy_is_read_again_and_the_typed_text_stays() {
    let mut scene = after(120, "ana@bastion2");
    open(&mut scene);
    scene.keys("<f5>");
    let newer = wanted("Theirs", &[("7", "40")], r#"{"tier":"silver"}"#);
    let newer = known_group("acme-eu", &newer, 1);
    scene.answer_with(done(Ending::Found, newer));
    scene
        .says("changed meanwhile: name, properties")
        .shows_all(["Name of acme-eu2", "silver", "1 change"]);
}

#[test]
fn a_newer_draft_of_another_console_replaces_an_untouched_form() {
    let mut scene = Scene::on(TESTING);
    let mut draft = typed(&mut Scene::walked(TESTING, "e"), "<end>theirs");
    for typed in [false, true] {
        scene.keys("e");
        assert!(matches!(jobs(&scene)[..], [Job::Drafts]));
        if typed {
            scene.keys("mine");
            draft.changed_at += SignedDuration::from_mins(1);
        }
        let kept = KeptDraft {
            draft: draft.clone(),
            by: "ana@bastion2".into(),
        };
        scene.answer_to(|job| *job == Job::Drafts, Outcome::Drafts(vec![kept]));
        if typed {
            scene.shows("mine");
        } else {
            scene.shows("Name of acme-eut");
            scene.says("Your unsent draft of another console");
        }
        scene.answer();
        scene.walk("<esc>");
    }
}

#[test]
fn sending_mine_does_not_forget_the_newer_draft_of_another_console() {
    let mut scene = Scene::walked(TESTING, "e");
    let changed_at = typed(&mut scene, "x").changed_at;
    let other = |seconds| OtherDraft {
        by: "li@desk7".into(),
        at: BEGIN + SignedDuration::from_secs(seconds),
    };
    let overtaken = DraftSaved::Overtaken(other(10));
    let kept = Outcome::DraftKept(changed_at, overtaken);
    scene.answer_to(is_about_drafts, kept);
    scene.says("li@desk7 has a draft of acme-eu as well");
    scene.walk("<ctrl-s>").keys("y");
    scene.answer_oldest();
    let forgotten = Job::ForgetDraft(id("acme-eu"), changed_at);
    assert_eq!(jobs(&scene), [&forgotten]);
    // An older one is named, too.
    let mut scene = Scene::walked(TESTING, "e");
    let changed_at = typed(&mut scene, "x").changed_at;
    let kept = Outcome::DraftKept(changed_at, DraftSaved::Replaced(other(-10)));
    scene.answer_to(is_about_drafts, kept);
    scene.says("li@desk7 has a draft of acme-eu as well (10s ago); both are kept");
}

/// The other person's draft is one key away, and the review says whose it was.
#[test]
fn the_draft_of_another_person_is_loaded_by_a_key_only() {
    let mut scene = after(5, "li@desk7");
    open(&mut scene);
    scene.shows("~ F9 loads the draft of li@desk7 (at 07:33 UTC)");
    scene.keys("x");
    scene.pending.clear();
    scene.hides("acme-eu2");
    scene.walk("<f9>").shows("Your changes will be lost.");
    scene.walk("<esc>").shows("acme-eux");
    scene.walk("<f9>y").says("Loaded the draft of li@desk7");
    scene
        .shows_all(["Name of acme-eu2", "1 change"])
        .hides("F9 loads");
    scene
        .walk("<ctrl-s>")
        .shows("of li@desk7, loaded into the form");
    Scene::walked(TESTING, "e<f9>").says("Not available: there is no other draft");
}

/// A version whose removal has not started yet is replaced by what is typed next, not kept beside it.
#[test]
fn what_is_typed_again_at_once_replaces_what_was_discarded() {
    let mut scene = Scene::walked(TESTING, "e<end>");
    let first = typed(&mut scene, "2");
    scene.answer();
    // While another save runs, the removal waits.
    scene.keys("3");
    let (ticket, profile, job) = scene.pending.remove(0);
    scene.keys("<ctrl-x>y");
    scene.keys("e<end>4");
    scene.msg(Msg::Done(ticket, canned_outcome(profile, &job)));
    let before = match &job {
        Job::KeepDraft(draft, Some(seen)) if *seen == first.changed_at => draft.changed_at,
        other => panic!("{other:?}"),
    };
    match jobs(&scene)[..] {
        [.., Job::KeepDraft(draft, Some(seen))] => {
            assert!(draft.changed_at > before && *seen == before);
            assert_eq!(draft.typed.name, "Name of acme-eu4");
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_draft_that_was_asked_about_is_loaded_although_another_is_newer_by_then() {
    let draft = typed(&mut Scene::walked(TESTING, "e"), "<end>2");
    let kept = |by: &str, name: &str, seconds| {
        let mut draft = draft.clone();
        draft.typed.name = name.into();
        draft.changed_at += SignedDuration::from_secs(seconds);
        let by = by.into();
        KeptDraft { draft, by }
    };
    let of_li = || kept("li@desk7", "by Li", 0);
    let mut scene = after(5, "li@desk7");
    scene.shows("> d ");
    scene.keys("ex");
    find(&mut scene, vec![of_li()]);
    scene.keys("<esc>");
    scene.shows("> D ");
    scene.keys("e");
    scene.walk("<f9>").shows("y loads the draft of li@desk7");
    find(&mut scene, vec![of_li(), kept("ben@desk8", "by Ben", 9)]);
    scene.walk("y").says("Loaded the draft of li@desk7");
    scene.shows_all(["by Li", "~ F9 loads the draft of ben@desk8"]);
    scene.walk("<f9>y").says("Loaded the draft of ben@desk8");
    // It was sent or discarded while the question was on the screen.
    scene.keys("<end>x");
    find(&mut scene, vec![of_li()]);
    scene.walk("<f9>").shows("y loads the draft of li@desk7");
    find(&mut scene, Vec::new());
    scene
        .walk("y")
        .says("The draft of acme-eu no longer exists")
        .shows("by Benx");
}

#[test]
fn each_version_of_ones_own_draft_is_loaded_in_turn() {
    let (mut scene, newest) = unread(5, "ana@bastion2");
    let version = |name: &str, seconds| {
        let mut older = newest.clone();
        older.draft.typed.name = name.into();
        older.draft.changed_at -= SignedDuration::from_secs(seconds);
        older
    };
    let all = [version("second", 60), version("third", 120)];
    find(&mut scene, [vec![newest.clone()], all.to_vec()].concat());
    open(&mut scene);
    scene.shows("Name of acme-eu2");
    for name in ["second", "third", "Name of acme-eu2", "second"] {
        scene.keys("<f9>y");
        scene.shows(name);
    }
}

/// Ana's own draft and that of Li of the same group, in the attention view, with a row below them.
fn two_drafts() -> Scene {
    let (mut scene, of_li) = unread(5, "li@desk7");
    scene.keys("e");
    find(&mut scene, vec![of_li]);
    scene.keys("<end>x<esc>");
    scene.pending.clear();
    scene.keys("0");
    let own = draft_row(TESTING, "acme-eu");
    let of_li = Concern {
        by: Some("li@desk7".into()),
        ..own.clone()
    };
    let rows = vec![own, of_li, draft_row(TESTING, "globex")];
    answer_concerns(&mut scene, rows);
    scene
}

#[test]
fn two_drafts_of_a_group_are_two_rows_and_each_opens_itself() {
    let after = |keys: &str| {
        let mut scene = two_drafts();
        scene.keys(keys);
        scene
    };
    after("e").at("EditName").shows("Name of acme-eux");
    after("je").shows("y loads the draft of li@desk7");
    after("je<esc>").at("EditName").shows("Name of acme-eux");
    let scene = after("j<enter>y");
    scene.says("Loaded the draft of li@desk7");
    scene.at("EditName").shows("Name of acme-eu2");
    // What is below them is reached.
    after("jje").at("EditName").shows("Edit globex");
}

/// The draft of Li alone, in the attention view.
fn only_of_li() -> Scene {
    let (mut scene, of_li) = unread(5, "li@desk7");
    find(&mut scene, vec![of_li]);
    scene.keys("0");
    let of_li = Concern {
        by: Some("li@desk7".into()),
        ..draft_row(TESTING, "acme-eu")
    };
    answer_concerns(&mut scene, vec![of_li]);
    scene
}

/// What somebody else typed is theirs until something is typed here, also after one's own draft has ended.
#[test]
fn a_draft_of_another_person_that_was_only_looked_at_is_not_kept_as_ones_own() {
    for (open, keys) in [
        (two_drafts as fn() -> Scene, "e<ctrl-x>yj"),
        (only_of_li, "j"),
    ] {
        let mut scene = open();
        scene.keys(keys);
        scene.pending.clear();
        scene.keys("e");
        scene.shows_all(["Name of acme-eu2", "1 change", "Esc leave  "]);
        scene.says("Loaded the draft of li@desk7");
        scene.keys("<ctrl-x>");
        scene.says("nothing was typed");
        scene.keys("<esc>");
        scene.hides("Draft of acme-eu saved");
        assert_eq!(scene.drafts(), 0, "{keys}");
        assert!(!is_kept(&scene));
        scene.keys("e<end>3<esc>");
        scene.says("Draft of acme-eu saved");
        assert_eq!(scene.drafts(), 1, "{keys}");
    }
}

/// Whether a draft is being saved.
fn is_kept(scene: &Scene) -> bool {
    let mut jobs = jobs(scene).into_iter();
    jobs.any(|job| matches!(job, Job::KeepDraft(..)))
}

/// Li's draft in the form as it was left, and the same with other values.
fn looked_at() -> (Scene, impl Fn(&str, &str, i64) -> KeptDraft) {
    let (mut scene, of_li) = unread(5, "li@desk7");
    find(&mut scene, vec![of_li.clone()]);
    scene.pending.clear();
    scene.keys("e<f9>");
    scene.says("Loaded the draft of li@desk7");
    let kept = move |by: &str, name: &str, seconds| {
        let mut draft = of_li.draft.clone();
        draft.typed.name = name.into();
        draft.changed_at += SignedDuration::from_secs(seconds);
        let by = by.into();
        KeptDraft { draft, by }
    };
    (scene, kept)
}

/// It is not there until something is typed in it.
#[test]
fn a_new_row_alone_does_not_make_the_draft_of_another_person_ones_own() {
    let (mut scene, _) = looked_at();
    scene.keys("<tab>a");
    scene.at("EditCell");
    assert!(!is_kept(&scene));
    scene.keys("8");
    assert!(is_kept(&scene));
}

#[test]
fn a_draft_that_is_looked_at_stays_as_it_was_when_its_author_goes_on() {
    let (mut scene, kept) = looked_at();
    let of_ben = kept("ben@desk8", "by Ben", -9);
    find(
        &mut scene,
        vec![kept("li@desk7", "by Li again", 60), of_ben],
    );
    scene.says("li@desk7 has changed the draft since; F9 loads it");
    scene.shows("Name of acme-eu2");
    scene.keys("<f9>");
    scene
        .says("Loaded the draft of li@desk7")
        .shows("by Li again");
}

#[test]
fn another_draft_is_loaded_without_a_question_if_nothing_was_typed() {
    let (mut scene, kept) = looked_at();
    let of_li = kept("li@desk7", "Name of acme-eu2", 0);
    find(&mut scene, vec![of_li, kept("ben@desk8", "by Ben", 9)]);
    scene.keys("<f9>");
    scene.says("Loaded the draft of ben@desk8").shows("by Ben");
    assert!(!is_kept(&scene));
}

#[test]
fn a_draft_of_another_person_is_not_counted_as_ones_own() {
    let mut scene = after(120, "li@desk7");
    assert_eq!(scene.footer(), "i li@desk7 has a draft of acme-eu (2h ago)");
    assert_eq!(scene.app.unsent(), None);
    scene.app.context.is_ephemeral = true;
    let effects = scene.keys("q");
    assert!(matches!(effects[..], [Effect::Quit(_)]), "nothing is lost");
}

#[test]
fn a_key_that_is_not_possible_does_not_open_a_draft() {
    let (mut scene, draft) = unread(120, "ana@bastion2");
    scene.app.context.profiles[TESTING].read_only = true;
    find(&mut scene, vec![draft]);
    assert_eq!(scene.footer(), "i 1 unsent draft: acme-eu (2h ago)");
}
