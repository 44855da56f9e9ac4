//! The table of keys in docs/reference/keys.md, made from the active key tables: one row per place, the most used
//! first, without repeating a more general row.

use std::fmt::Write as _;

use groupdesk::tui::keymap::{Action, Bound, Focus, Keymap};

/// The name of a row, its places, and the place whose row has the rest.
type Row = (&'static str, &'static [Focus], Option<Focus>);

#[rustfmt::skip] // A table: one case per line.
const ROWS: [Row; 31] = [
    ("groups", &[Focus::List], None),
    ("filter", &[Focus::Filter], None),
    ("one group", &[Focus::Group], None),
    ("edit", &[Focus::EditName], None),
    ("edit: mapping", &[Focus::EditMapping], Some(Focus::EditName)),
    ("edit: properties", &[Focus::EditProperties], Some(Focus::EditName)),
    ("edit: properties as rows, and the keys of the mapping", &[Focus::EditRows], Some(Focus::EditMapping)),
    ("edit: a cell, a type", &[Focus::EditCell, Focus::EditType], Some(Focus::EditName)),
    ("review", &[Focus::Review], None),
    ("a question in a box", &[Focus::ConfirmKey, Focus::ConfirmTyped], None),
    ("result", &[Focus::Result], None),
    ("token", &[Focus::Token], None),
    ("rotate", &[Focus::RotateCheck, Focus::RotateTyped, Focus::RotateReason, Focus::RotateRunning], None),
    ("rotated", &[Focus::RotateResult], None),
    ("file to write", &[Focus::WritePath], None),
    ("bulk rotation", &[Focus::BulkRun, Focus::BulkTyped, Focus::BulkReason, Focus::BulkCheck], None),
    ("bulk edit", &[Focus::BulkEditField, Focus::BulkEditAction, Focus::BulkEditConfirm, Focus::BulkEditTyped], None),
    ("open or create", &[Focus::Open], None),
    ("compare", &[Focus::Compare], None),
    ("history", &[Focus::History], None),
    ("rotations", &[Focus::Rotations, Focus::AbandonReason], None),
    ("whose token", &[Focus::Whose, Focus::WhoseFound], None),
    ("messages", &[Focus::Messages, Focus::Message], None),
    ("requests", &[Focus::Requests, Focus::Request], None),
    ("help", &[Focus::Help], None),
    ("palette", &[Focus::Palette], None),
    ("views, note", &[Focus::Views, Focus::ViewName, Focus::Note], None),
    ("profiles, copy", &[Focus::Profiles, Focus::CopyMenu], None),
    ("which environment, a key that is not verified, an alarm", &[Focus::PlaceChoice, Focus::PlaceNew, Focus::PlaceProof, Focus::PlaceReason, Focus::PlaceWait], None),
    ("first start", &[Focus::Welcome], None),
    ("new profile", &[Focus::ConnectField, Focus::ConnectChoice, Focus::ConnectCheck], None),
];

/// All rows; a place that is in none of the listed ones has its own.
fn rows() -> Vec<(String, Vec<Focus>, Option<Focus>)> {
    let is_named = |focus: &Focus| ROWS.iter().any(|(_, places, _)| places.contains(focus));
    let named = ROWS.map(|(name, places, above)| (name.to_owned(), places.to_vec(), above));
    let others = Focus::ALL.into_iter().filter(|focus| !is_named(focus));
    let others = others.map(|focus| (focus.name().replace('_', " "), vec![focus], None));
    named.into_iter().chain(others).collect()
}

/// Keys that move in every list and page; not repeated for each of them.
fn moving(keys: &Keymap) -> Vec<Bound> {
    let moves = |bound: &&Bound| {
        matches!(
            bound.action,
            Action::Up
                | Action::Down
                | Action::Top
                | Action::Bottom
                | Action::PageUp
                | Action::PageDown
        )
    };
    let lines = keys.bindings(Focus::Group).iter();
    lines.filter(moves).cloned().collect()
}

/// Whether another line already has this action and all its keys.
fn is_said(bound: &Bound, by: &[Bound]) -> bool {
    by.iter().any(|other| {
        let has = |key| other.keys.contains(key);
        // Esc describes itself as "back" or "close" everywhere.
        let says = other.help == bound.help || matches!(bound.help, "back" | "close");
        says && other.action == bound.action && bound.keys.iter().all(has)
    })
}

/// Keys and their actions; each action once, with all its keys.
fn describe(lines: impl Iterator<Item = Bound>) -> String {
    let mut once: Vec<Bound> = Vec::new();
    for line in lines {
        match once.iter_mut().find(|said| said.help == line.help) {
            Some(said) => {
                let more = line.keys.into_iter().filter(|key| !said.keys.contains(key));
                let more: Vec<_> = more.collect();
                said.keys.extend(more);
            }
            None => once.push(line),
        }
    }
    let told = once.iter().map(|line| {
        let keys = line.keys.iter().map(|key| format!("`{}`", key.shown()));
        let keys: Vec<String> = keys.collect();
        format!("{} {}", keys.join(" "), line.help.replace('|', "\\|"))
    });
    told.collect::<Vec<_>>().join(" · ")
}

pub(super) fn table() -> String {
    let keys = Keymap::default();
    let moving = moving(&keys);
    let mut table = String::from("| where | keys |\n|---|---|\n");
    let mut row = |name: &str, told: &str| {
        let _ = writeln!(table, "| {name} | {told} |");
    };
    row("everywhere", &describe(keys.everywhere().iter().cloned()));
    row("lists and pages", &describe(moving.iter().cloned()));
    for (name, places, above) in rows() {
        let lines = places.iter().flat_map(|place| keys.bindings(*place));
        let own = lines.filter(|line| {
            let above = above.map_or(&[][..], |above| keys.bindings(above));
            let said = [above, &moving, keys.everywhere()];
            !line.everywhere && !said.iter().any(|said| is_said(line, said))
        });
        row(&name, &describe(own.cloned()));
    }
    table
}

#[test]
fn every_place_has_a_row_and_every_key_is_listed() {
    let (keys, table) = (Keymap::default(), table());
    for focus in Focus::ALL {
        let rows = rows()
            .into_iter()
            .filter(|(_, places, _)| places.contains(&focus));
        assert_eq!(rows.count(), 1, "{focus:?}");
        for line in keys.bindings(focus) {
            let told = format!("` {}", line.help);
            let is_told = table.contains(&told) || is_said(line, keys.everywhere());
            assert!(is_told, "{} of {focus:?}", line.help);
        }
    }
}
