//! Guards on the screen, switching the profile from every place, and the profile's name at every size.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use groupdesk::{
    config::guard::{Guard, Level, Operation, Rule},
    domain::{group::EnvironmentTag, history::Ending},
    operations::{Failure, Warning},
    tui::{
        keymap::{Action, Focus},
        state::message::{Job, Msg, Outcome},
    },
};
use ratatui::{buffer::Buffer, layout::Rect, style::Modifier};

use super::scene::{PRODUCTION, READ_ONLY, Scene, TESTING, failed, group, warned};
use crate::support::{console::PLACES, world::id};

fn guarded(profile: usize, operation: Operation, rule: Rule) -> Scene {
    let mut scene = Scene::on(profile);
    scene.app.context.profiles[profile].guards = vec![Guard {
        operation,
        rule,
        reason: "two people look".into(),
    }];
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
        scene.says("two people look");
        assert_eq!(scene.focus(), focus, "{action:?} leads nowhere");
    }
    let mut scene = guarded(TESTING, Operation::Create, Rule::Forbid);
    scene.walk("onew-one<enter>");
    assert_eq!(scene.focus(), "Open");
    scene.shows("create is forbidden: two people look");
}

#[test]
fn a_guard_on_updates_asks_for_typed_words() {
    for (level, words) in [
        (Level::Typed, "acme-eu"),
        (Level::Words, "update acme-eu in testing"),
    ] {
        let mut scene = guarded(TESTING, Operation::Update, Rule::AtLeast(level));
        scene.walk("e<end> 2<ctrl-s>");
        scene
            .shows("two people look")
            .shows("after a typed confirmation");
        assert_eq!(scene.keys("<enter>"), [], "Enter sends nothing");
        assert_eq!(scene.keys("y"), []);
        assert_eq!(scene.focus(), "ConfirmTyped");
        scene.shows(words).shows("two people look");
        scene.shows("This updates acme-eu in testing.");
        assert_eq!(scene.keys("y<enter>"), []);
        scene.shows("Text differs; nothing was sent");
        assert_eq!(scene.keys("<ctrl-u>"), []);
        scene.keys(words);
        assert!(scene.writes().is_empty(), "not before Enter");
        scene.keys("<enter>");
        let sent = scene.writes();
        assert!(matches!(sent.as_slice(), [Job::Update { .. }]), "{sent:?}");
    }
    // A guard never asks for less than usual.
    let least = Rule::AtLeast(Level::Button);
    let mut scene = guarded(PRODUCTION, Operation::Rotate, least);
    scene.walk("tT");
    assert_eq!(scene.focus(), "RotateTyped");
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
fn a_guard_on_rotations_asks_for_typed_words() {
    let words = "rotate acme-eu in testing";
    let mut scene = guarded(TESTING, Operation::Rotate, Rule::AtLeast(Level::Words));
    scene.walk("tT");
    scene.shows("two people look").shows(words);
    assert_eq!(
        scene.keys("acme-eu<enter>"),
        [],
        "the ID alone is not enough"
    );
    scene.shows("Text differs; nothing was sent");
    scene.keys("<ctrl-u>");
    scene.keys(words);
    scene.keys("<enter>");
    let sent = scene.writes();
    assert!(
        matches!(sent.as_slice(), [Job::Rotate { .. }]),
        "{sent:?}\n{}",
        scene.screen()
    );
}

#[test]
fn the_profile_can_be_switched_from_every_place_and_the_draft_stays() {
    for (script, focus) in PLACES {
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
        let mut scene = Scene::on(TESTING);
        scene.walk(script);
        scene.walk("<ctrl-p>switch<enter>");
        assert_eq!(scene.focus(), "Profiles", "{script}");
        scene.walk("<down><enter>");
        assert_eq!(scene.app.context.current.0, PRODUCTION);
        assert_eq!(scene.focus(), "List");
        let kept = usize::from(script != "e<tab><tab>");
        assert_eq!(scene.app.context.drafts.len(), kept, "{script}");
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
        assert_eq!(scene.focus(), "List");
        scene.answer();
        scene.shows(" PRODUCTION ");
    }
    // A write in flight goes on, and a message says how it ended.
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<f6><down><enter>");
    assert_eq!(scene.app.context.current.0, PRODUCTION);
    assert!(
        scene
            .writes()
            .iter()
            .any(|job| matches!(job, Job::Rotate { .. }))
    );
    scene.answer();
    scene.walk("m").shows("in testing");
}

fn screen_of(scene: &Scene, (columns, rows): (u16, u16)) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    let area = buffer.area;
    groupdesk::tui::frame::draw(&scene.app, &mut buffer, area);
    buffer
}

#[test]
fn production_is_visible_on_every_pane_at_every_size() {
    for (script, _) in PLACES {
        if script.starts_with("P<down>") || script.contains("rotate 1 in") {
            continue;
        }
        let mut scene = Scene::on(PRODUCTION);
        scene.walk(script);
        for size in [
            (160, 50),
            (80, 24),
            (60, 15),
            (40, 10),
            (40, 8),
            (30, 5),
            (20, 1),
        ] {
            scene.msg(Msg::Resize(size.0, size.1));
            let buffer = screen_of(&scene, size);
            let first: String = (0..12).map(|x| buffer[(x, 0)].symbol()).collect();
            assert_eq!(first, " PRODUCTION ", "{script} at {size:?}");
            let cell = &buffer[(1, 0)];
            assert!(
                cell.modifier.contains(Modifier::REVERSED)
                    || cell.bg != ratatui::style::Color::Reset,
                "{script} at {size:?}: {cell:?}"
            );
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
    scene.keys("<enter>");
    scene.answer_with(warned(group("acme-eu", 1), alarm));
    scene.shows("! WRONG ENVIRONMENT").shows("ALARM");
    // Dismissing the message and reading again do not remove the mark.
    scene
        .walk("<esc><esc><esc>m<esc><enter><esc>")
        .shows("! WRONG ENVIRONMENT");
    scene.walk("P<down><enter>");
    assert!(
        !scene.screen().contains("WRONG ENVIRONMENT"),
        "of that profile only"
    );
    scene.walk("P<up><enter>").shows("! WRONG ENVIRONMENT");
    // Also when a rotation ends so.
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y");
    let conflict = Failure::Conflict {
        id: id("acme-eu"),
        why: "two answers".into(),
        wrong_environment: true,
    };
    scene.answer_with(Outcome::Failed(conflict.into()));
    scene.shows("! WRONG ENVIRONMENT");
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    let words = "ALARM: the answer is tagged Customer";
    scene.answer_with(failed(words, Some(Ending::Refused)));
    assert!(
        !scene.screen().contains("WRONG ENVIRONMENT"),
        "not by the service's words"
    );
}

#[test]
fn read_only_cannot_be_lifted_in_the_session() {
    let mut scene = Scene::on(READ_ONLY);
    for script in ["e", "<enter>e", "tT", "*T", "onew<enter>", "3A"] {
        scene.walk(script);
        assert!(scene.writes().is_empty(), "{script}");
        for _ in 0..5 {
            scene.walk("<esc>");
        }
        assert!(scene.app.context.profiles[READ_ONLY].read_only);
        scene.shows("READ-ONLY");
    }
    let known = scene.app.context.groups.get(&id("new"));
    assert!(known.is_none());
}

#[test]
fn no_click_on_the_footer_confirms_sends_or_rotates() {
    let mut pressed = 0;
    for (script, _) in PLACES {
        for profile in [TESTING, PRODUCTION] {
            if profile == PRODUCTION && script.starts_with('P') {
                continue;
            }
            let mut scene = Scene::on(profile);
            scene.walk(script);
            let before = scene.screen();
            for column in 0..80 {
                scene.msg(Msg::Mouse(MouseEvent {
                    kind: MouseEventKind::Down(MouseButton::Left),
                    column,
                    row: 23,
                    modifiers: KeyModifiers::NONE,
                }));
                let sends = scene.pending.iter().find(|(_, _, job)| {
                    job.spec().can_be_steered
                        || matches!(
                            job,
                            Job::Create(..)
                                | Job::Update { .. }
                                | Job::Rotate { .. }
                                | Job::Abandon(..)
                                | Job::HandOff(_)
                                | Job::HandOffAgain(..)
                        )
                });
                assert!(sends.is_none(), "{script:?}, {column}: {sends:?}");
                scene.answer();
            }
            pressed += usize::from(scene.screen() != before);
        }
    }
    assert!(pressed > PLACES.len(), "{pressed}: they do nothing at all");
}
