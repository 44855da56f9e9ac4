//! Drafts are saved as they are typed, one save at a time, forgotten when sent or discarded, and offered again.

use groupdesk::{
    domain::{batch::StopCause, draft::Draft},
    operations::{DraftSaved, KeptDraft, OtherDraft},
    tui::state::message::{Effect, Job, Msg, Outcome, ProfileIndex},
};
use jiff::SignedDuration;

use super::scene::{PRODUCTION, Scene, TESTING, failed, is_about_drafts};
use crate::support::world::id;

/// Takes the pending jobs about drafts out of the scene.
fn jobs(scene: &mut Scene) -> Vec<Job> {
    let of_drafts = scene
        .pending
        .iter()
        .filter(|(.., job)| is_about_drafts(job));
    of_drafts.map(|(.., job)| job.clone()).collect()
}

/// The name in the only pending save.
#[track_caller]
fn name(scene: &mut Scene) -> String {
    match jobs(scene).as_slice() {
        [Job::KeepDraft(draft, _)] => draft.typed.name.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_save_at_a_time_and_the_newest_wins() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end>");
    scene.keys("1");
    assert_eq!(name(&mut scene), "Name of acme-eu1");
    scene.keys("234<left>");
    assert_eq!(
        name(&mut scene),
        "Name of acme-eu1",
        "the batch is still running"
    );
    let (ticket, profile, job) = scene.pending.remove(0);
    let outcome = super::scene::canned_outcome(profile, &job);
    scene.msg(Msg::Done(ticket, outcome));
    assert_eq!(
        name(&mut scene),
        "Name of acme-eu1234",
        "the job started meanwhile"
    );
    scene.answer();
    scene.keys("<left><right>");
    assert!(jobs(&mut scene).is_empty(), "nothing was typed");
    scene.keys("<backspace>");
    scene.answer();
    scene.keys("<end><backspace><backspace><backspace>");
    scene.answer();
    assert_eq!(scene.app.context.drafts.len(), 0, "as it was before");
}

#[test]
fn a_signal_waits_for_the_last_save() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end>");
    scene.keys("12");
    assert_eq!(
        scene.msg(Msg::Leave(StopCause::TerminalLost)),
        [],
        "a save is under way"
    );
    let (ticket, profile, job) = scene.pending.remove(0);
    let outcome = super::scene::canned_outcome(profile, &job);
    assert_eq!(scene.msg(Msg::Done(ticket, outcome)), [], "and another");
    assert_eq!(name(&mut scene), "Name of acme-eu12");
    let (ticket, profile, job) = scene.pending.remove(0);
    let outcome = super::scene::canned_outcome(profile, &job);
    let effects = scene.msg(Msg::Done(ticket, outcome));
    assert!(matches!(effects[..], [Effect::Quit(_)]), "{effects:?}");
}

#[test]
fn a_draft_that_was_sent_is_forgotten() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y");
    assert!(jobs(&mut scene).is_empty());
    let (ticket, profile, job) = scene.pending.remove(0);
    let outcome = super::scene::canned_outcome(profile, &job);
    scene.msg(Msg::Done(ticket, outcome));
    assert!(
        matches!(&jobs(&mut scene)[..], [Job::ForgetDraft(group, _)] if *group == id("acme-eu")),
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
    assert_eq!(scene.focus(), "EditName", "kept");
    assert_eq!(scene.app.context.drafts.len(), 1);
    scene.walk("<ctrl-x>");
    scene.keys("y");
    scene.says("discarded").says("nothing was sent");
    assert_eq!(scene.focus(), "List");
    assert!(matches!(&jobs(&mut scene)[..], [Job::ForgetDraft(..)]));
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
    scene.is_full = false;
    scene.walk("4").says("Drafts are saved again");
}

/// The draft that a console saves after these keys in the name.
fn typed(scene: &mut Scene, keys: &str) -> Draft {
    scene.keys(keys);
    match jobs(scene).as_slice() {
        [Job::KeepDraft(draft, _)] => (**draft).clone(),
        other => panic!("{other:?}"),
    }
}

/// A console that starts `minutes` after a draft was typed, with the draft in the directory.
fn after(minutes: i64, by: &str) -> Scene {
    let mut first = Scene::on(TESTING);
    first.walk("e");
    let draft = typed(&mut first, "<end>2");
    let mut scene = Scene::on(TESTING);
    scene.later(minutes * 60);
    scene.app.context.drafts = groupdesk::tui::state::drafts::Drafts::default();
    scene.app.context.now = scene.now;
    let by = by.into();
    find(&mut scene, vec![KeptDraft { draft, by }]);
    scene
}

/// The console reads these drafts in the directory.
fn find(scene: &mut Scene, drafts: Vec<KeptDraft>) {
    scene.app.context.read_drafts();
    let effects = scene.app.take_effects();
    let started = effects.iter().find_map(|effect| match effect {
        Effect::Start(ticket, _, job) if **job == Job::Drafts => Some(*ticket),
        _ => None,
    });
    let ticket = started.unwrap_or_else(|| {
        // Opening a form reads them as well.
        let asked = |(.., job): &(_, _, Job)| *job == Job::Drafts;
        let at = scene.pending.iter().position(asked);
        scene.pending.remove(at.expect("asked")).0
    });
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
    scene.shows("Name of acme-eu2").shows("1 change");
    scene.says("your unsent draft (2h ago), based on a copy 2h old: F5 re-reads it");
}

#[test]
fn a_draft_of_another_person_is_named_and_never_loaded_into_the_form() {
    let mut scene = after(5, "li@desk7");
    open(&mut scene);
    scene.says(
        "li@desk7 has a draft of this group as well (5m ago); this form shows only what you type",
    );
    assert!(!scene.screen().contains("acme-eu2"), "{}", scene.screen());
    assert!(!scene.screen().contains("1 change"), "{}", scene.screen());
}

#[test]
fn a_stale_copy_is_read_again_and_the_typed_text_stays() {
    let mut scene = after(120, "ana@bastion2");
    open(&mut scene);
    scene.keys("<f5>");
    let mut newer = super::scene::group("acme-eu", 1);
    if let Some(known) = &mut newer.properties {
        known.value = serde_json::from_str(r#"{"tier":"silver"}"#).expect("an object");
    }
    if let Some(known) = &mut newer.name {
        known.value = "Theirs".into();
    }
    scene.answer_with(super::scene::done(
        groupdesk::domain::history::Ending::Found,
        newer,
    ));
    scene.says("changed meanwhile: name, properties");
    scene
        .shows("Name of acme-eu2")
        .shows("silver")
        .shows("1 change");
}

#[test]
fn a_newer_draft_of_another_console_replaces_an_untouched_form() {
    let mut scene = Scene::on(TESTING);
    let mut other = Scene::on(TESTING);
    other.walk("e");
    let mut draft = typed(&mut other, "<end>theirs");
    for typed in [false, true] {
        scene.keys("e");
        assert!(matches!(jobs(&mut scene)[..], [Job::Drafts]));
        if typed {
            scene.keys("mine");
            draft.changed_at += SignedDuration::from_mins(1);
        }
        let by = "ana@bastion2".into();
        let found = Outcome::Drafts(vec![KeptDraft {
            draft: draft.clone(),
            by,
        }]);
        let at = scene
            .pending
            .iter()
            .position(|(.., job)| *job == Job::Drafts);
        let (ticket, ..) = scene.pending.remove(at.expect("asked"));
        scene.msg(Msg::Done(ticket, found));
        if typed {
            scene.shows("mine");
        } else {
            scene.shows("Name of acme-eut");
            scene.says("your unsent draft of another console");
        }
        scene.answer();
        scene.walk("<esc>");
    }
}

#[test]
fn two_consoles_on_one_group_are_warned() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e");
    scene.keys("x");
    let other = OtherDraft {
        by: "li@desk7".into(),
        at: scene.now - SignedDuration::from_secs(10),
    };
    let (ticket, profile, job) = scene.pending.remove(0);
    assert_eq!(profile, ProfileIndex(TESTING));
    let Job::KeepDraft(draft, None) = job else {
        panic!("{job:?}");
    };
    let replaced = DraftSaved::Replaced(other);
    scene.msg(Msg::Done(
        ticket,
        Outcome::DraftKept(draft.changed_at, replaced),
    ));
    scene.says("li@desk7 has a draft of acme-eu as well (10s ago); both are kept");
}

#[test]
fn sending_mine_does_not_forget_the_newer_draft_of_another_console() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e");
    scene.keys("x");
    let (ticket, _, job) = scene.pending.remove(0);
    let Job::KeepDraft(draft, None) = job else {
        panic!("{job:?}");
    };
    let other = OtherDraft {
        by: "li@desk7".into(),
        at: scene.now + SignedDuration::from_secs(10),
    };
    let overtaken = DraftSaved::Overtaken(other);
    scene.msg(Msg::Done(
        ticket,
        Outcome::DraftKept(draft.changed_at, overtaken),
    ));
    scene.says("li@desk7 has a draft of acme-eu as well");
    scene.walk("<ctrl-s>");
    scene.keys("y");
    let (ticket, profile, job) = scene.pending.remove(0);
    let outcome = super::scene::canned_outcome(profile, &job);
    scene.msg(Msg::Done(ticket, outcome));
    match jobs(&mut scene).as_slice() {
        [Job::ForgetDraft(group, until)] => {
            assert_eq!((group, *until), (&id("acme-eu"), draft.changed_at));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn unreadable_drafts_are_announced() {
    let mut scene = Scene::on(TESTING);
    scene.keys("e");
    let (ticket, ..) = scene.pending.remove(0);
    scene.msg(Msg::Done(ticket, failed("the directory is locked", None)));
    scene.says("the directory is locked");
}

/// The other person's draft is one key away, and the review says whose it was.
#[test]
fn the_draft_of_another_person_is_loaded_by_a_key_only() {
    let mut scene = after(5, "li@desk7");
    open(&mut scene);
    scene.shows("~ li@desk7 has a draft of this (at 07:33 UTC): F9 loads that draft");
    scene.keys("x");
    scene.pending.clear();
    assert!(!scene.screen().contains("acme-eu2"), "{}", scene.screen());
    scene.walk("<f9>").shows("Your changes will be lost.");
    scene.walk("<esc>").shows("acme-eux");
    scene.walk("<f9>y").says("Loaded the draft of li@desk7");
    scene.shows("Name of acme-eu2").shows("1 change");
    scene.hides("loads that draft");
    scene.walk("<ctrl-s>");
    scene.shows("of li@desk7, loaded into the form");
    let mut scene = Scene::on(TESTING);
    scene.walk("e<f9>").says("Not available: there is none");
}

/// A version whose removal has not started yet is replaced by what is typed next, not kept beside it.
#[test]
fn what_is_typed_again_at_once_replaces_what_was_discarded() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end>");
    let first = typed(&mut scene, "2");
    scene.answer();
    // While another save runs, the removal waits.
    scene.keys("3");
    let (ticket, profile, job) = scene.pending.remove(0);
    scene.keys("<ctrl-x>y");
    scene.keys("e<end>4");
    let outcome = super::scene::canned_outcome(profile, &job);
    scene.msg(Msg::Done(ticket, outcome));
    let saved = match &job {
        Job::KeepDraft(draft, Some(seen)) if *seen == first.changed_at => draft.changed_at,
        other => panic!("{other:?}"),
    };
    match jobs(&mut scene).as_slice() {
        [.., Job::KeepDraft(draft, Some(seen))] => {
            assert!(draft.changed_at > saved);
            assert_eq!(
                (draft.typed.name.as_str(), *seen),
                ("Name of acme-eu4", saved)
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_draft_that_was_asked_about_is_loaded_although_another_is_newer_by_then() {
    let mut first = Scene::on(TESTING);
    first.walk("e");
    let draft = typed(&mut first, "<end>2");
    let kept = |by: &str, name: &str, seconds| {
        let mut draft = draft.clone();
        draft.typed.name = name.into();
        draft.changed_at += SignedDuration::from_secs(seconds);
        let by = by.into();
        KeptDraft { draft, by }
    };
    let of_li = || kept("li@desk7", "by Li", 0);
    let mut scene = after(5, "li@desk7");
    scene.keys("ex");
    find(&mut scene, vec![of_li()]);
    scene.walk("<f9>").shows("y loads the draft of li@desk7");
    find(&mut scene, vec![of_li(), kept("ben@desk8", "by Ben", 9)]);
    scene.walk("y").says("Loaded the draft of li@desk7");
    scene
        .shows("by Li")
        .shows("~ ben@desk8 has a draft of this");
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
