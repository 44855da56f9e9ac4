//! With every configurable key changed, no text of a pane names a key that is no longer bound.

use groupdesk::{
    config::{KeyOverride, Position},
    tui::keymap::{Bound, Key, Keymap, Press},
};

use super::prelude::*;

/// Keys that are in no table; the letters serve for confirmations, those of the first line also where text is typed.
const FREE: &str =
    "f7 f9 f10 f11 f12 ctrl-g ctrl-o ctrl-n ctrl-q ctrl-v ctrl-a ctrl-b ctrl-f insert";
const SIGNS: &str = "αβγδεζηθικλμνξοπρστυφχψωбвгджзлптфцчшщыэюяБГДЖЗЛПФЦЧШЩЫЭЮЯΓΔΘΛΞΠΣΦΨΩ";
const LETTER: &str = "J";

/// Keys that leave a place cannot be changed, and a field with several keys keeps them.
fn stays(bound: &Bound) -> bool {
    let fixed = ["esc", "ctrl-c", "f1"].map(|name| Key::named(name).expect("a key"));
    bound.keys.iter().any(|key| fixed.contains(key))
        || bound.action == Action::InField && bound.keys.len() > 1
}

/// Whether it is one of the layers of all places, whose letters are no keys where text is typed.
fn is_of_text(focus: Focus, bound: &Bound) -> bool {
    focus.takes_text() && !bound.everywhere
}

/// Gives each action a free key that no other action has in any of its places.
fn everything_rebound() -> Keymap {
    let usual = Keymap::default();
    let mut places: BTreeMap<String, (Bound, Vec<Focus>)> = BTreeMap::new();
    let mut kept = BTreeSet::new();
    for focus in Focus::ALL {
        for bound in usual.bindings(focus) {
            if stays(bound) {
                kept.insert(bound.name());
            }
            let (_, all) = places
                .entry(bound.name())
                .or_insert_with(|| (bound.clone(), Vec::new()));
            all.push(focus);
        }
    }
    let mut taken: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut changes = Vec::new();
    for (name, (bound, places)) in places {
        if kept.contains(&name) {
            continue;
        }
        let of_text = places.iter().any(|focus| is_of_text(*focus, &bound));
        let signs = SIGNS.chars().filter(|_| !of_text).map(String::from);
        let mut keys = signs.chain(FREE.split(' ').map(str::to_owned));
        let names: BTreeSet<String> = places.iter().map(|focus| focus.name()).collect();
        let key = match bound.action {
            Action::Confirm => LETTER.to_owned(),
            _ => keys
                .find(|key| taken.get(key).is_none_or(|taken| taken.is_disjoint(&names)))
                .unwrap_or_else(|| panic!("no key is left for {name}")),
        };
        taken.entry(key.clone()).or_default().extend(names);
        let at = Position {
            line: changes.len() + 1,
            column: 1,
        };
        changes.push(KeyOverride {
            name,
            at,
            keys: vec![(key, at)],
            is_table: false,
        });
    }
    keymap::resolve(&changes).expect("a sound keymap")
}

/// The changed key that means what this default key means.
fn translated(event: KeyEvent, focus: Focus, usual: &Keymap, other: &Keymap) -> KeyEvent {
    let lines = usual.bindings(focus);
    let Some(meant) = lines
        .iter()
        .find(|line| line.keys.iter().any(|key| key.is(event)))
    else {
        return event;
    };
    let now = other.bindings(focus).iter();
    let mut now = now.filter(|line| line.name() == meant.name());
    match now.next() {
        Some(line) if !line.keys.iter().any(|key| key.is(event)) => {
            line.keys.first().expect("a key").press()
        }
        _ => event,
    }
}

/// Types a script as somebody with the changed keys would.
async fn walk_rebound(console: &mut Console, script: &str, usual: &Keymap) {
    for event in parse(script) {
        let focus = console.runner.app.top().focus();
        let event = translated(event, focus, usual, &console.runner.app.context.keys);
        console.runner.take(Msg::Key(event));
        console.settle().await;
    }
}

/// Names of keys in the text of the screen: a named key, or a single character followed by a verb.
fn keys_named(screen: &str) -> Vec<String> {
    const NAMED: [&str; 8] = [
        "Enter",
        "Tab",
        "Down",
        "Up",
        "Space",
        "Shift-Tab",
        "PgUp",
        "PgDn",
    ];
    const DOES: [&str; 15] = [
        "adds", "brings", "picks", "reveals", "rotates", "tries", "checks", "sorts", "opens",
        "reads", "writes", "goes", "tests", "then", "does",
    ];
    let mut found = Vec::new();
    // The text behind a border belongs to another box.
    for text in screen.split(['\n', '│']) {
        let words: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || "-/?*".contains(c)))
            .filter(|word| !word.is_empty())
            .collect();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).copied().unwrap_or_default();
            let is_named = NAMED.contains(word)
                || word.starts_with("Ctrl-")
                || word
                    .strip_prefix('F')
                    .is_some_and(|rest| rest.parse::<u8>().is_ok());
            let is_sign = word.chars().count() == 1 && DOES.contains(&next);
            // "Enter does not confirm" holds for all key bindings: only a letter can confirm.
            let is_said_of_all = (*word, next) == ("Enter", "does");
            if (is_named || is_sign) && !is_said_of_all {
                found.push((*word).to_owned());
            }
        }
    }
    found
}

/// The key is bound here, or is one of the changed keys of other places; fixed keys of other places do not count.
fn is_bound(name: &str, here: Focus, keymap: &Keymap) -> bool {
    let is = |line: &Bound| line.keys.iter().any(|key| key.shown() == name);
    let mut all = Focus::ALL
        .into_iter()
        .flat_map(|focus| keymap.bindings(focus));
    let is_changed = |line: &Bound| {
        let keys = line.written.iter().flat_map(|written| &written.keys);
        let mut keys = keys.filter_map(|(key, _)| Key::named(key));
        keys.any(|key| key.shown() == name)
    };
    keymap.bindings(here).iter().any(is) || all.any(is_changed)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_names_a_key_that_was_changed() {
    let world = a_world().await;
    let (usual, other) = (Keymap::default(), everything_rebound());
    let more = [
        "onew<enter><tab>",
        "onew<enter><tab><tab><f3>",
        "e<tab><tab><f3>D<enter>",
        "onew<tab>zz<enter>",
        "oacm",
        "3",
        "/acme<enter>S",
        "T",
    ];
    let scripts = places().map(|(script, _)| script).chain(more);
    // The help lists keys of all places.
    for script in scripts.filter(|script| *script != "?") {
        let mut console = open(&world, Side::Testing, USUAL).await;
        console.runner.app.context.keys = other.clone();
        walk_rebound(&mut console, script, &usual).await;
        for size in [USUAL, (160, 50)] {
            console.resize(size);
            let focus = console.runner.app.top().focus();
            let screen = console.screen();
            assert!(!screen.contains("(no key)"), "{script:?}:\n{screen}");
            for name in keys_named(&screen) {
                assert!(
                    is_bound(&name, focus, &other),
                    "{name} after {script:?}:\n{screen}"
                );
            }
        }
    }
}

/// The walk above relies on this.
#[test]
fn all_configurable_keys_are_changed() {
    let other = everything_rebound();
    let none = KeyModifiers::NONE;
    for (focus, code) in [
        (Focus::List, KeyCode::Char('t')),
        (Focus::Open, KeyCode::Down),
        (Focus::EditMapping, KeyCode::Char('a')),
        (Focus::ConfirmTyped, KeyCode::Enter),
    ] {
        let press = other.press(focus, KeyEvent::new(code, none));
        assert!(!matches!(press, Press::Do(_)), "{focus:?}: {press:?}");
    }
    for name in ["Enter", "Tab", "Down", "a", "D", "t", "r"] {
        let meant = keys_named(&format!("{name} adds one"));
        assert_eq!(meant, [name], "it is seen");
    }
    for name in ["a", "D", "t", "v", "Down", "Enter"] {
        assert!(!is_bound(name, Focus::Open, &other), "{name}");
    }
}
