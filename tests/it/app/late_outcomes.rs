//! Late answers, lost jobs, panes that were left: every outcome reaches the pane that asked, or becomes a message.

use groupdesk::{
    domain::history::Ending,
    tui::state::{
        message::{Effect, Job, Msg, Outcome},
        notices::Severity,
    },
};

use super::scene::{PRODUCTION, Scene, TESTING, canned_outcome, done, failed, group};
use crate::support::world::id;

#[test]
fn a_late_answer_of_a_cancelled_read_changes_nothing() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    let (ticket, ..) = scene.pending[0].clone();
    assert_eq!(scene.keys("<esc>"), [Effect::Cancel(ticket)]);
    let before = scene.screen();
    scene.msg(Msg::Done(ticket, done(Ending::Found, group("late", 5))));
    scene.msg(Msg::Done(ticket, failed("too late", None)));
    scene.msg(Msg::JobPanicked(ticket));
    assert_eq!(scene.screen(), before);
    assert_eq!(scene.app.context.messages.all().len(), 0);
}

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
    scene.answer_with(Outcome::listed(vec![group("newest", 1)]));
    scene.msg(Msg::Done(old, Outcome::listed(vec![group("older", 1)])));
    assert!(scene.screen().contains("newest"));
    assert!(!scene.screen().contains("older"));
}

#[test]
fn esc_cancels_the_read_of_a_review() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2");
    scene.keys("<ctrl-s>");
    let (ticket, ..) = scene.pending[0].clone();
    assert_eq!(scene.keys("<esc>"), [Effect::Cancel(ticket)]);
    assert_eq!(scene.focus(), "EditName");
}

#[test]
fn a_write_whose_pane_was_left_ends_as_a_message() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y<esc><esc>");
    assert_eq!(scene.focus(), "List");
    assert_eq!(scene.writes().len(), 1, "leaving does not stop it");
    scene.answer();
    assert_eq!(scene.focus(), "List", "the view does not jump");
    scene.says("acme-eu updated");
    scene.shows("Name of acme-eu 2");
}

#[test]
fn the_result_appears_below_a_pane_opened_over_the_review() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("ym");
    scene.answer();
    assert_eq!(scene.focus(), "Messages");
    scene.walk("<esc>");
    assert_eq!(scene.focus(), "Result");
    scene.shows("UPDATED");
}

#[test]
fn a_rotation_whose_pane_was_left_is_confirmed_and_announced() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc>");
    assert_eq!(scene.focus(), "List");
    scene.says("continues");
    let (ticket, profile, job) = scene.pending.remove(0);
    let effects = scene.msg(Msg::Done(ticket, canned_outcome(profile, &job)));
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
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y");
    let (ticket, ..) = scene.pending.remove(0);
    scene.msg(Msg::JobPanicked(ticket));
    scene.shows("UNKNOWN whether it took effect");
    let current = scene.app.context.messages.current().expect("said");
    assert_eq!(current.severity, Severity::Unknown);

    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.keys("acme-eu<enter>");
    let (ticket, ..) = scene.pending.remove(0);
    scene.msg(Msg::JobPanicked(ticket));
    scene.shows("UNKNOWN whether the token was rotated");
    scene.shows("never rotate to find out");
    assert_eq!(scene.keys("T"), [], "the token must be read first");

    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    let (ticket, ..) = scene.pending.remove(0);
    scene.msg(Msg::JobPanicked(ticket));
    let current = scene.app.context.messages.current().expect("said");
    assert_eq!(current.severity, Severity::Error);
    assert!(!scene.screen().contains("UNKNOWN"));
}

#[test]
fn a_new_token_stays_available_when_another_job_is_lost() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y");
    let (ticket, profile, job) = scene.pending.remove(0);
    scene.msg(Msg::Done(ticket, canned_outcome(profile, &job)));
    let (confirming, ..) = scene.pending.remove(0);
    scene.msg(Msg::JobPanicked(confirming));
    scene.shows("not confirmed").shows("v shows it");
    scene.keys("w<enter>");
    let (writing, ..) = scene.pending.remove(0);
    scene.msg(Msg::JobPanicked(writing));
    scene.shows("Write interrupted");
    scene.keys("<esc>v");
    scene.shows(super::scene::TOKEN);
}

#[test]
fn another_profile_detaches_writes_and_drops_reads() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y");
    scene.keys("P<down><enter>");
    assert_eq!(scene.writes().len(), 1);
    scene.shows("PRODUCTION");
    scene.answer();
    scene.shows("PRODUCTION");
    let said: Vec<_> = scene.app.context.messages.all().collect();
    assert!(
        said.iter()
            .any(|message| message.text.contains("acme-eu updated in testing")),
        "{said:?}"
    );
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
        scene.msg(Msg::Done(
            ticket,
            Outcome::listed(vec![group("of-testing", 1)]),
        ));
    }
    scene.answer();
    assert!(!scene.screen().contains("of-testing"));
    assert_eq!(scene.app.context.last_answer, None);
}

#[test]
fn an_error_makes_way_for_the_next_message_and_stays_unread() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    scene.answer_with(failed("no route to host", Some(Ending::Unreachable)));
    scene.keys("<esc>");
    scene.walk("s2<esc>");
    let is_said = |scene: &Scene| scene.footer().starts_with("x no route to host");
    assert!(is_said(&scene), "{}", scene.footer());
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
}

#[test]
fn an_error_is_resolved_when_the_same_action_succeeds() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    scene.answer_with(failed("no route to host", Some(Ending::Unreachable)));
    scene.later(20).walk("<esc>");
    assert_eq!(scene.footer(), "1 error  m");
    scene.walk("<enter>");
    assert_eq!(scene.footer(), "");
    scene.walk("m").shows("resolved ");
}

#[test]
fn many_errors_are_counted_and_read_in_the_messages() {
    let mut scene = Scene::on(TESTING);
    for text in ["first", "second"] {
        scene.keys("<enter>");
        scene.answer_with(failed(text, None));
        scene.keys("<esc>");
    }
    assert!(scene.footer().starts_with("x second"), "{}", scene.footer());
    assert!(scene.footer().ends_with("1 error  m"), "{}", scene.footer());
    scene.walk("m<esc>");
    assert_eq!(scene.footer(), "", "read is dismissed");
}
