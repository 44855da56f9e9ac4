//! Random keys, pastes and answers: no write starts except from a review or a check, by the key of its level.

use proptest::prelude::*;

use super::prelude::*;

/// One step of a random session.
#[derive(Debug, Clone)]
enum Step {
    Type(&'static str),
    Paste(&'static str),
    /// The oldest job succeeds, fails, or is lost.
    Succeed,
    Fail,
    Lose,
    Resize(u16, u16),
    Wait,
}

/// The frequent ones are repeated.
const KEYS: &str = "<enter>|<enter>|<esc>|<tab>|<tab>|<shift-tab>|<up>|<down>|<ctrl-s>|<ctrl-s>|<f1>|<f2>|<f5>|<f8>|\
    <ctrl-c>|<ctrl-r>|<ctrl-t>|<ctrl-z>|<backspace>|<end>|<space>|y|y|Y|T|T|t|e|e|a|D|z|Z|d|s|S|/|?|o|P|\
    m|1|2|3|3A|3Agone<enter>y|W|Wtoken<enter>|r|v|w|u|c|x|x<enter>|xa<ctrl-s>|q|j|k|g|G|acme-eu|\
    acme-eu<enter>|new-id<enter>|e<end>x<ctrl-s>|tT|<space>|*T|<esc>*Trotate 2 in testing<enter>|\
    <esc>*Trotate 2 in production<enter>|p|X|f|F|E|<f4>|<ctrl-x>|<ctrl-x>";

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::sample::select(KEYS.split('|').collect::<Vec<_>>()).prop_map(Step::Type),
        1 => prop::sample::select(&["y", "acme-eu\n", "\r", "{\"a\": 1}", "7\t40\n8\t41", "\u{1b}[A"][..]).prop_map(Step::Paste),
        6 => Just(Step::Succeed),
        1 => Just(Step::Fail),
        1 => Just(Step::Lose),
        1 => (1_u16..200, 1_u16..60).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => Just(Step::Wait),
    ]
}

/// Panics when the effect is not allowed from this place by this key.
fn assert_allowed(
    place: Focus,
    typed: Option<&str>,
    screen: &str,
    profile: usize,
    effects: &[Effect],
) {
    for effect in effects {
        let Effect::Start(_, at, job) = effect else {
            continue;
        };
        if !job.is_write() {
            continue;
        }
        // Writing a local file changes nothing at the service.
        let is_file = matches!(
            **job,
            Job::WriteToken(..)
                | Job::WriteReport(..)
                | Job::Export { .. }
                | Job::KeepView(_)
                | Job::Annotate(..)
                | Job::SaveView(..)
                | Job::RemoveView(_)
        );
        assert!(
            at.0 != READ_ONLY || is_file,
            "{job:?} in a read-only profile"
        );
        let is_allowed = match (&**job, at.0, typed) {
            (Job::Create(..) | Job::Update { .. }, _, Some("y")) => place == Focus::Review,
            (Job::Rotate { .. }, TESTING, Some("y")) => place == Focus::RotateCheck,
            (Job::Rotate { id, .. }, PRODUCTION, Some("<enter>")) => {
                place == Focus::RotateTyped
                    && screen.contains(&format!("Type {id} then Enter: {id}"))
            }
            (Job::Abandon(_, reason), _, Some("y")) => {
                place == Focus::ConfirmKey && !reason.trim().is_empty()
            }
            (Job::Bulk { plan, .. }, _, Some("<enter>")) => {
                let name = ["testing", "production"][at.0];
                let words = format!("rotate {} in {name}", plan.ready.len());
                let typed = format!("Type {words} then Enter: {words}");
                place == Focus::BulkTyped && screen.contains(&typed)
            }
            (Job::BulkEdit { .. }, TESTING, Some("y")) => place == Focus::BulkEditConfirm,
            (Job::BulkEdit { plan, .. }, PRODUCTION, Some("<enter>")) => {
                let words = format!("Type edit {} in production", plan.counts().0);
                place == Focus::BulkEditTyped && screen.contains(&words)
            }
            // Confirm reads back the token that a confirmed rotation returned. Filter and order of the list, and
            // annotations of groups, are stored only in the directory.
            (Job::Confirm(_), _, None)
            | (Job::KeepView(_) | Job::Annotate(..) | Job::SaveView(..) | Job::RemoveView(_), ..) => {
                true
            }
            (
                Job::WriteToken(..) | Job::WriteReport(..) | Job::Export { .. },
                _,
                Some("<enter>"),
            ) => {
                matches!(place, Focus::WritePath | Focus::Help | Focus::Palette)
            }
            _ => false,
        };
        assert!(
            is_allowed,
            "{job:?} by {typed:?} in {place:?} of {profile}:\n{screen}"
        );
    }
}

fn quits(effects: &[Effect]) -> bool {
    let quits = |effect: &Effect| matches!(effect, Effect::Quit(_));
    effects.iter().any(quits)
}

fn play(profile: usize, steps: &[Step]) {
    let mut scene = Scene::on(profile);
    for step in steps {
        match step {
            Step::Type(script) => {
                for (key, name) in parse(script).into_iter().zip(keys_of(script)) {
                    let place = scene.app.top().focus();
                    let profile = scene.app.context.current.0;
                    // Only of words that Enter takes is it asked whether they were on the screen.
                    let screen = match &*name {
                        "<enter>" => screen_at_ease(&mut scene),
                        _ => String::new(),
                    };
                    let effects = scene.msg(Msg::Key(key));
                    assert_allowed(place, Some(&name), &screen, profile, &effects);
                    if quits(&effects) {
                        return;
                    }
                }
            }
            Step::Paste(text) => {
                let effects = scene.msg(Msg::Paste((*text).to_owned()));
                assert_eq!(effects, [], "a paste acts");
            }
            Step::Succeed | Step::Fail | Step::Lose if scene.pending.is_empty() => {}
            Step::Succeed | Step::Fail | Step::Lose => {
                let (ticket, at, job) = scene.pending.remove(0);
                let msg = match step {
                    Step::Lose => Msg::JobPanicked(ticket),
                    Step::Fail => Msg::Done(ticket, failed("it broke", Some(Ending::Unknown))),
                    _ => Msg::Done(ticket, canned_outcome(at, &job)),
                };
                let effects = scene.msg(msg);
                let place = scene.app.top().focus();
                assert_allowed(place, None, "", at.0, &effects);
                if quits(&effects) {
                    return;
                }
            }
            Step::Resize(columns, rows) => {
                scene.msg(Msg::Resize(*columns, *rows));
                scene.screen();
            }
            Step::Wait => {
                scene.later(7).msg(Msg::Tick);
            }
        }
        assert!(!scene.app.stack.is_empty());
    }
    scene.screen();
}

/// The screen at a readable size, whatever the size of the window.
fn screen_at_ease(scene: &mut Scene) -> String {
    let size = std::mem::replace(&mut scene.app.context.size, (100, 40));
    let screen = scene.screen();
    scene.app.context.size = size;
    screen
}

/// Splits a script into its keys.
fn keys_of(script: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let end = match rest.find('>') {
            Some(end) if c == '<' => end + 1,
            _ => c.len_utf8(),
        };
        names.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_write_starts_unreviewed(
        profile in prop::sample::select(&[TESTING, PRODUCTION, READ_ONLY][..]),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        play(profile, &steps);
    }
}

#[test]
fn scripted_sessions_reach_every_write() {
    // Otherwise the test would also pass if nothing happened in any session.
    for (profile, story) in [
        (TESTING, &["e<end>x<ctrl-s>", "!", "y"][..]),
        (PRODUCTION, &["e<end>x<ctrl-s>", "!", "y"]),
        (TESTING, &["t", "!", "T", "y"]),
        (PRODUCTION, &["t", "!", "T", "acme-eu<enter>"]),
        (TESTING, &["t", "!", "w", "<enter>"]),
        (PRODUCTION, &["3", "!", "A", "gone<enter>y"]),
    ] {
        let mut scene = Scene::on(profile);
        for step in story {
            if *step == "!" {
                scene.answer();
            } else {
                scene.keys(step);
            }
        }
        assert_eq!(scene.writes().len(), 1, "{story:?}");
    }
}

#[test]
#[should_panic(expected = "by Some(\"j\")")]
fn a_write_by_another_key_is_noticed() {
    let mut scene = Scene::walked(PRODUCTION, "e<end>x<ctrl-s>");
    let effects = scene.keys("y");
    assert_allowed(Focus::Review, Some("j"), "", PRODUCTION, &effects);
}
