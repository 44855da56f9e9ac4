//! The keys that the footer offers: in every state of every view each of them does something, and none is refused. And
//! states are told apart without colours.

use groupdesk::tui::page::footer::hints;

use super::{
    batch::ended,
    first_rows::loading,
    later_views::{batches, concerns, page},
    prelude::*,
};

#[test]
fn the_way_out_of_a_rotation_is_offered_in_the_smallest_window() {
    let mut scene = Scene::walked(TESTING, "tT");
    scene.msg(Msg::Resize(40, 10));
    scene.shows_all(["y ROTATE NOW", "Esc cancel"]);
}

/// The name of a state, and how to reach it.
type Reached = (String, Box<dyn Fn() -> Scene>);

fn state(name: &str, reach: impl Fn() -> Scene + 'static) -> Reached {
    (name.to_owned(), Box::new(reach))
}

/// The list, after these keys.
fn walked(profile: usize, keys: &'static str) -> impl Fn() -> Scene {
    move || Scene::walked(profile, keys)
}

/// The list of batches, opened here, with one of this profile.
fn listed(profile: usize, batch: &Batch) -> Scene {
    let mut scene = Scene::on(TESTING);
    let all = vec![(ProfileIndex(profile), batch.clone())];
    scene.open("5", Outcome::AllBatches(all));
    scene
}

/// The list of rotations in these states.
fn rotations(states: &[State]) -> Scene {
    let mut scene = Scene::on(TESTING);
    let rows = (1..).zip(states);
    let rows = rows.map(|(number, state)| rotation(number, "globex", *state));
    scene.open("3", Outcome::Rotations(rows.collect()));
    scene
}

/// The list of requests with one of this kind, after these keys.
fn requests(kind: ExchangeKind, keys: &str) -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    let (ticket, _, job) = scene.pending[0].clone();
    let one = sent(ticket, &job).expect("it sends");
    scene.msg(Msg::Exchanged(vec![RecordedExchange { kind, ..one }]));
    scene.keys(keys);
    scene
}

/// The messages with one of this severity, after these keys.
fn messages(severity: Severity, keys: &str) -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.app.context.say(severity, "said");
    scene.keys(keys);
    scene
}

/// After these keys, the job that they start is answered so.
fn answered(walk: &str, keys: &str, outcome: Outcome) -> Scene {
    let mut scene = Scene::walked(TESTING, walk);
    scene.open(keys, outcome);
    scene
}

/// The states of every view that the checks below visit.
fn states() -> Vec<Reached> {
    let mut all: Vec<Reached> = Vec::new();
    for (script, focus) in places() {
        all.push(state(
            &format!("{focus:?} {script}"),
            walked(TESTING, script),
        ));
    }
    for (profile, keys) in [
        (TESTING, "/nothing<enter>"),
        (TESTING, "/nothing"),
        (TESTING, "/"),
        (READ_ONLY, ""),
        (READ_ONLY, "*"),
        (READ_ONLY, "<enter>"),
        (READ_ONLY, "t"),
        (PRODUCTION, "*"),
        (TESTING, "vwnight<enter>"),
        (TESTING, "vj"),
        (TESTING, "vG"),
        (TESTING, "v<space>"),
        (TESTING, "4"),
        (TESTING, "m"),
        (TESTING, "m/nothing"),
        (TESTING, "4/nothing"),
        (TESTING, "5/nothing"),
        (TESTING, "<enter>4f"),
        (TESTING, "3A"),
        (TESTING, "3j"),
        (TESTING, "Wtoken<enter>"),
        (TESTING, "*B40"),
        (TESTING, "*B40<tab>214"),
        (TESTING, "*B40<tab>214<ctrl-s>ff"),
        (TESTING, "oinitech"),
        (TESTING, "oacme-eu"),
        (TESTING, ":zzz"),
    ] {
        all.push(state(&format!("{profile} {keys}"), walked(profile, keys)));
    }
    all.push(state("a list that is read", || loading().0));
    for (at, one) in concerns().into_iter().enumerate() {
        let name = format!("attention {at}");
        all.push(state(&name, move || attention(vec![one.clone()])));
    }
    all.push(state("attention while a row is read", || {
        let mut scene = attention(concerns());
        scene.keys("r");
        scene
    }));
    for (name, batch) in batches() {
        for profile in [TESTING, PRODUCTION] {
            let (batch, name) = (batch.clone(), format!("batches {name} {profile}"));
            all.push(state(&name, move || {
                let mut scene = listed(profile, &batch);
                scene.keys("<tab>");
                scene
            }));
        }
    }
    all.push(state("batches, one of another profile", || {
        listed(PRODUCTION, &stored(BATCH))
    }));
    all.push(state("batches while one runs", || {
        let mut scene = half_way().0;
        scene.keys("<esc>5");
        let all = [unfinished(BatchId(8)).batch, unfinished(BATCH).batch];
        let all = all.map(|batch| (ProfileIndex(TESTING), batch)).to_vec();
        scene.answer_to(|job| *job == Job::AllBatches, Outcome::AllBatches(all));
        scene
    }));
    for keys in ["", "p", "X", "f"] {
        all.push(state(&format!("a batch that runs, {keys}"), move || {
            let mut scene = half_way().0;
            scene.keys(keys);
            scene
        }));
    }
    for halt in [None, Some(Halt::Asked(StopCause::Person))] {
        all.push(state(&format!("a batch that ended, {halt:?}"), move || {
            let mut scene = half_way().0;
            finish(&mut scene, halt.clone());
            scene.answer();
            scene
        }));
    }
    all.push(state("a batch of which one is unknown", || {
        let (mut scene, ticket) = half_way();
        let counts = Counts {
            unknown: 1,
            not_applied: 1,
            ..Counts::default()
        };
        let news = ended(1, "globex", ItemStatus::Unknown, counts);
        scene.msg(Msg::BatchEvents(ticket, vec![news]));
        finish(&mut scene, None);
        scene.answer();
        scene
    }));
    for states in [
        [State::Confirmed, State::Confirmed],
        [State::NotApplied, State::Confirmed],
        [State::Unknown, State::Conflict],
        [State::Rotated, State::Abandoned],
    ] {
        for keys in ["", "f"] {
            let name = format!("the page of a batch {states:?} {keys}");
            all.push(state(&name, move || {
                let mut scene = page(states);
                scene.keys(keys);
                scene
            }));
        }
    }
    for states in [
        vec![],
        vec![State::Unknown],
        vec![State::Conflict],
        vec![State::Confirmed],
    ] {
        let name = format!("rotations {states:?}");
        all.push(state(&name, move || rotations(&states)));
    }
    for keys in ["", "j", "d", "dd", "jd", "/nothing", "/nothing<enter>"] {
        all.push(state(&format!("history {keys}"), move || {
            let mut scene = with_history();
            scene.keys(keys);
            scene
        }));
    }
    for (at, (name, _)) in dialogs().into_iter().enumerate() {
        all.push(state(name, move || dialogs().remove(at).1));
    }
    for sort in [
        ExchangeKind::InFlight,
        ExchangeKind::Refused,
        ExchangeKind::Lost,
    ] {
        for keys in ["4", "4<enter>", "4f"] {
            let name = format!("requests {sort:?} {keys}");
            all.push(state(&name, move || requests(sort, keys)));
        }
    }
    for severity in [Severity::Info, Severity::Error, Severity::Unknown] {
        for keys in ["m", "m<enter>", "mf"] {
            let name = format!("messages {severity:?} {keys}");
            all.push(state(&name, move || messages(severity, keys)));
        }
    }
    all.push(state("a token that is read", || {
        let mut scene = Scene::on(TESTING);
        scene.keys("t");
        scene
    }));
    all.push(state("a token that could not be read", || {
        answered("", "t", failed("the service is away", None))
    }));
    all.push(state("a group with an alarm", || {
        let alarm = Warning::WrongTag {
            expected: EnvironmentTag::Testing,
            got: EnvironmentTag::Customer,
        };
        answered("", "t", warned(group("acme-eu", 1), alarm))
    }));
    all.push(state("a rotation that is sent", || {
        let mut scene = Scene::walked(TESTING, "tT");
        scene.keys("y");
        scene
    }));
    all.push(state("a rotation that is confirmed", || {
        answered("tT", "y", rotated(group("acme-eu", 9)))
    }));
    all.push(state("a rotation of which nobody knows", || {
        answered("tT", "y", failed("UNKNOWN", Some(Ending::Unknown)))
    }));
    all
}

/// A key in the notation of scripts.
fn script_of(shown: &str) -> String {
    match shown.chars().count() {
        1 => shown.replace('<', "<lt>"),
        _ => format!("<{}>", shown.to_lowercase()),
    }
}

#[test]
fn every_key_in_the_footer_does_something_and_is_not_refused() {
    let mut wrong = Vec::new();
    for (name, reach) in states() {
        let offered = |scene: &Scene| {
            let app = &scene.app;
            // Wide enough for every hint.
            let line = Rect::new(0, 23, 400, 1);
            let hints = hints(line, app.top().focus(), app.top(), &app.context);
            // Keys that a field handles itself have an effect only where there is text.
            let of_field = |word: &str| {
                let mut all = keymap::bindings(app.top().focus());
                all.any(|one| one.action == Action::InField && one.hint == word)
            };
            let keys = hints.into_iter().map(|hint| (hint.key, hint.word));
            keys.filter(|(_, word)| !of_field(word)).collect::<Vec<_>>()
        };
        for (key, word) in offered(&reach()) {
            let mut scene = reach();
            let (before, said) = (scene.screen(), scene.app.context.messages.all().len());
            let effects = scene.keys(&script_of(&key));
            let is_refused = scene.footer().contains("Not available");
            let after = scene.screen();
            let says = scene.app.context.messages.all().len() > said;
            if is_refused || (before == after && effects.is_empty() && !says) {
                let line = scene.footer();
                wrong.push(format!("{name}: {key} {word}: {line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The row under the cursor.
fn cursor_row(scene: &Scene) -> String {
    let screen = scene.screen();
    let row = screen.lines().find(|line| line.starts_with('>'));
    row.unwrap_or_else(|| panic!("no row\n{screen}")).to_owned()
}

#[track_caller]
fn all_differ(what: &str, rows: &[String]) {
    let different: BTreeSet<_> = rows.iter().collect();
    assert_eq!(different.len(), rows.len(), "{what}:\n{}", rows.join("\n"));
}

/// Compares only the text, which is all that a terminal without colours shows.
#[test]
fn states_are_told_apart_without_colours() {
    let mut waits = Vec::new();
    for one in concerns() {
        waits.push(cursor_row(&attention(vec![one])));
    }
    all_differ("attention", &waits);
    let stands = batches()
        .into_iter()
        .map(|(_, batch)| cursor_row(&listed(TESTING, &batch)));
    all_differ("batches", &stands.collect::<Vec<_>>());
    let states = [
        State::Intended,
        State::Unknown,
        State::Conflict,
        State::NotApplied,
        State::Abandoned,
        State::Rotated,
        State::Confirmed,
    ];
    let items = states.map(|state| cursor_row(&page([state, state])));
    all_differ("items", &items);
    let rotations = states.map(|state| cursor_row(&rotations(&[state])));
    all_differ("rotations", &rotations);
    let kinds = [
        ExchangeKind::InFlight,
        ExchangeKind::Done,
        ExchangeKind::SameToken,
        ExchangeKind::Refused,
        ExchangeKind::Unclear,
        ExchangeKind::NotSent,
        ExchangeKind::Lost,
        ExchangeKind::GivenUp,
    ];
    let sent = kinds.map(|kind| cursor_row(&requests(kind, "4")));
    all_differ("requests", &sent);
    let said = [
        Severity::Info,
        Severity::News,
        Severity::Done,
        Severity::Warning,
        Severity::Error,
        Severity::Unknown,
    ];
    let said = said.map(|severity| {
        let screen = messages(severity, "m<f12>").screen();
        let line = screen.lines().find(|line| line.starts_with(" >"));
        line.unwrap_or_else(|| panic!("no message\n{screen}"))
            .to_owned()
    });
    // News and changes share a sign; infos and refused warnings are not in the log.
    all_differ("messages", &said);
}
