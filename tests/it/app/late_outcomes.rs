//! Late answers, lost jobs, panes that were left: every outcome reaches the pane that asked, or becomes a message.

use groupdesk::operations::batch::BatchEvent;

use super::{batch::ended, prelude::*};

#[test]
fn the_newest_read_wins() {
    let mut scene = Scene::on(TESTING);
    scene.keys("r");
    let (old, ..) = scene.pending[0].clone();
    let effects = scene.keys("r");
    assert!(
        matches!(effects.as_slice(), [Effect::Cancel(gone), Effect::Start(..)] if *gone == old),
        "{effects:?}"
    );
    scene.answer_with(list_of(vec![group("newest", 1)]));
    scene.msg(Msg::Done(old, list_of(vec![group("older", 1)])));
    scene.shows("newest").hides("older");
}

#[test]
fn esc_cancels_the_read_of_a_review() {
    let mut scene = Scene::walked(TESTING, "e<end> 2");
    scene.keys("<ctrl-s>");
    let (ticket, ..) = scene.pending[0].clone();
    assert_eq!(scene.keys("<esc>"), [Effect::Cancel(ticket)]);
    scene.at("EditName");
}

#[test]
fn a_write_whose_pane_was_left_ends_as_a_message() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("y<esc><esc>");
    scene.at("List");
    assert_eq!(scene.writes().len(), 1, "leaving does not stop it");
    scene.answer();
    scene
        .at("List")
        .says("acme-eu updated")
        .shows("Name of acme-eu 2");
}

#[test]
fn the_result_appears_below_a_pane_opened_over_the_review() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("ym");
    scene.answer();
    scene.at("Messages");
    scene.walk("<esc>").at("Result").shows("UPDATED");
}

#[test]
fn a_rotation_whose_pane_was_left_is_confirmed_and_announced() {
    let mut scene = Scene::walked(TESTING, "tT");
    scene.keys("y<esc>");
    scene.at("List").says("continues");
    let effects = scene.answer_oldest();
    assert!(
        matches!(effects.as_slice(), [Effect::Start(_, _, job)] if matches!(**job, Job::Confirm(_))),
        "{effects:?}"
    );
    scene.says("acme-eu rotated, fingerprint 01010101 is now 09090909");
    scene.answer();
    scene.says("acme-eu confirmed");
}

#[test]
fn a_lost_write_is_unknown_and_a_lost_read_is_not() {
    for (profile, walk, keys, severity) in [
        (TESTING, "e<end> 2<ctrl-s>", "y", Severity::Unknown),
        (PRODUCTION, "tT", "acme-eu<enter>", Severity::Unknown),
        (TESTING, "", "<enter>", Severity::Error),
    ] {
        let mut scene = Scene::walked(profile, walk);
        scene.keys(keys);
        scene.lose();
        let current = scene.app.context.messages.current().expect("said");
        assert_eq!(current.severity, severity, "{walk}");
        match walk {
            "" => scene.hides("UNKNOWN"),
            "tT" => scene.shows_all([
                "UNKNOWN whether the token was rotated",
                "never rotate to find out",
            ]),
            _ => scene.shows("UNKNOWN whether it took effect"),
        };
        if walk == "tT" {
            assert_eq!(scene.keys("T"), [], "the token must be read first");
        }
    }
}

#[test]
fn keys_typed_before_the_token_is_read_say_that_it_is_being_read() {
    for key in ["T", "v", "y", "w"] {
        let mut scene = Scene::on(TESTING);
        scene.keys("t");
        scene.keys(key);
        scene.says("the token is being read");
    }
}

#[test]
fn a_new_token_stays_available_when_another_job_is_lost() {
    let mut scene = Scene::walked(TESTING, "tT");
    scene.keys("y");
    scene.answer_oldest();
    scene.lose();
    scene.shows_all(["not confirmed", "v shows it"]);
    scene.keys("w<enter>");
    scene.lose();
    scene.shows("Saving was interrupted");
    scene.keys("<esc>v");
    scene.shows(super::scene::TOKEN);
}

#[test]
fn another_profile_detaches_writes_and_drops_reads() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("yP<down><enter>");
    assert_eq!(scene.writes().len(), 1);
    scene.shows("PRODUCTION");
    scene.answer();
    scene.shows("PRODUCTION");
    let mut said = scene.app.context.messages.all();
    assert!(said.any(|message| message.text.contains("acme-eu updated in testing")));
    let kept = scene.app.context.groups.get(&id("acme-eu")).expect("known");
    assert_eq!(kept.title(), "Name of acme-eu", "of production, untouched");
}

#[test]
fn an_answer_of_another_profile_is_not_shown_as_one_of_this() {
    let mut scene = Scene::on(TESTING);
    let mut late = Vec::new();
    scene.keys("2");
    late.append(&mut scene.pending);
    scene.keys("P<down><enter>");
    for (ticket, ..) in late {
        let listed = list_of(vec![group("of-testing", 1)]);
        scene.msg(Msg::Done(ticket, listed));
    }
    scene.answer();
    scene.hides("of-testing");
    assert_eq!(scene.app.context.last_answer, None);
}

#[test]
fn an_error_makes_way_for_the_next_message_and_stays_unread() {
    let mut scene = Scene::on(TESTING);
    let unreachable = || failed("no route to host", Some(Ending::Unreachable));
    scene.open("<enter>", unreachable()).keys("<esc>");
    scene.walk("s2<esc>");
    assert!(scene.footer().starts_with("x no route to host"));
    // Keys were pressed since, so somebody has seen it.
    scene.app.context.say(Severity::Info, "Copied: id");
    let footer = scene.footer();
    assert!(
        footer.starts_with("i Copied: id") && footer.ends_with("1 error  m"),
        "{footer}"
    );
    scene.later(6).msg(Msg::Tick);
    assert_eq!(scene.footer(), "1 error  m");
    assert_eq!(scene.app.wake_at(), None);
    scene.walk("m").shows("no route to host");
    scene.walk("<esc>");
    assert_eq!(scene.footer(), "");
    // It is resolved when the same action succeeds.
    scene.open("<enter>", unreachable());
    scene.later(20).walk("<esc>");
    assert_eq!(scene.footer(), "1 error  m");
    scene.walk("<enter>");
    assert_eq!(scene.footer(), "");
    scene.walk("m").shows("resolved ");
}

/// A check of what an earlier run sent tells nothing of what the first one saw.
#[test]
fn the_first_cause_stays_whatever_a_check_finds() {
    let (mut scene, ticket) = half_way();
    let unknown = || ended(1, "globex", ItemStatus::Unknown, Counts::default());
    scene.msg(Msg::BatchEvents(ticket, vec![unknown()]));
    for note in [Some("checked again without a result"), None] {
        let BatchEvent::Ended(mut item) = unknown() else {
            panic!("an end");
        };
        (item.note, item.settled) = (note.map(str::to_owned), true);
        scene.msg(Msg::BatchEvents(ticket, vec![BatchEvent::Ended(item)]));
        let run = scene.app.context.bulk.as_ref().expect("a run");
        let told = run.rows[1].note.as_deref().unwrap_or_default();
        assert!(told.starts_with("the response was lost"), "{told}");
        assert!(told.contains("checked again without a result"), "{told}");
    }
}
