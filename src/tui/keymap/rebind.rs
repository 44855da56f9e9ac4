//! Checks the `[keys]` table of the configuration against the tables of the console: the names must exist, a key must mean
//! one thing per place, and the ways out and the confirmations keep their keys.

use super::{Action, Binding, Focus, Key, Keymap, resolved::Bound};
use crate::config::{KeyOverride, Position, Problem, nearest, scrub::shown};

/// Builds the keymap from the changes in the configuration.
///
/// # Errors
/// All problems, in the order of the file.
pub fn resolve(changes: &[KeyOverride]) -> Result<Keymap, Vec<Problem>> {
    if changes.is_empty() {
        // The built-in tables need no check here.
        return Ok(Keymap::default());
    }
    let mut problems: Vec<Problem> = changes.iter().flat_map(check_change).collect();
    let keymap = Keymap::with(changes);
    if problems.is_empty() {
        problems = conflicts(&keymap);
        problems.extend(confirmation_conflicts(&keymap));
    }
    if problems.is_empty() {
        return Ok(keymap);
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems.dedup();
    Err(problems)
}

fn problem(at: Position, what: String) -> Problem {
    Problem {
        line: at.line,
        column: at.column,
        what,
    }
}

fn did_you_mean<'n>(check_change: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest(check_change, known).map(|near| format!("; did you mean \"{near}\"?"))
}

/// Problems of one change by itself.
fn check_change(change: &KeyOverride) -> Vec<Problem> {
    if change.is_table {
        return vec![problem(change.at, of_a_screen(&change.name))];
    }
    let all = super::all();
    let Some(row) = all.iter().find(|row| row.name() == change.name) else {
        return vec![problem(change.at, no_action(change, &all))];
    };
    let mut found: Vec<Problem> = Vec::new();
    if row.is_fixed() {
        let what = "these keys belong to the field itself and cannot be changed";
        return vec![problem(change.at, what.into())];
    }
    let mut seen = Vec::new();
    for (name, at) in &change.keys {
        match Key::named(name) {
            None => found.push(problem(*at, no_key(name))),
            Some(key) if seen.contains(&key) => {
                found.push(problem(*at, format!("the key \"{name}\" is listed twice")));
            }
            Some(key) => {
                seen.push(key);
                let forbidden_reason = forbidden_reason(row, key);
                found.extend(
                    forbidden_reason.map(|what| problem(*at, format!("\"{name}\" {what}"))),
                );
            }
        }
    }
    let kept = FIXED.iter().filter(|name| row.keys.contains(name));
    for name in kept.filter(|name| !change.keys.iter().any(|(key, _)| key == **name)) {
        let what = format!(
            "\"{name}\" must stay bound to {}; add it to the list",
            change.name
        );
        found.push(problem(change.at, what));
    }
    if change.keys.is_empty() && is_needed(row.action) {
        let what = format!("{} needs at least one key", change.name);
        found.push(problem(change.at, what));
    }
    if row.action == Action::Confirm && change.keys.len() != 1 {
        found.push(problem(
            change.at,
            "a confirmation has exactly one key".into(),
        ));
    }
    found
}

fn of_a_screen(table: &str) -> String {
    format!(
        "[keys.{}] is no longer read: an action has the same keys on every screen; put its lines below [keys]",
        shown(table)
    )
}

fn no_action(change: &KeyOverride, all: &[&'static Binding]) -> String {
    let known: Vec<String> = all.iter().map(|row| row.name()).collect();
    let near = did_you_mean(&change.name, known.iter().map(String::as_str));
    let near = near.unwrap_or_else(|| "; the help (?) shows the name of each action".into());
    format!("unknown action \"{}\"{near}", shown(&change.name))
}

fn no_key(name: &str) -> String {
    let known: Vec<String> = Key::names().collect();
    let example = || "; write for example \"T\", \"ctrl-q\", \"f5\" or \"space\"".into();
    let near = match name {
        "ctrl-i" => Some("; a terminal sends it as \"tab\"".into()),
        "ctrl-m" => Some("; a terminal sends it as \"enter\"".into()),
        " " => Some("; write \"space\"".into()),
        name => did_you_mean(name, known.iter().map(String::as_str)),
    };
    format!(
        "unknown key \"{}\"{}",
        shown(name),
        near.unwrap_or_else(example)
    )
}

/// Keys for leaving and for the help: they cannot be rebound, so that nobody can lock themselves in.
const FIXED: [&str; 3] = ["ctrl-c", "esc", "f1"];

/// Whether the action cannot be started from the command palette, and so needs a key.
fn is_needed(action: Action) -> bool {
    matches!(
        action,
        Action::Enter
            | Action::Back
            | Action::Confirm
            | Action::Cancel
            | Action::Help
            | Action::NextField
            | Action::PreviousField
            | Action::InField
            | Action::Demo
    )
}

/// Why a row must not have this key; `None` if it may.
fn forbidden_reason(row: &Binding, key: Key) -> Option<String> {
    if key.is_default_for(row) {
        return None;
    }
    if FIXED.iter().any(|name| Key::named(name) == Some(key)) {
        return Some("cannot be rebound; choose another key".into());
    }
    if row.action == Action::Confirm && !key.is_letter() {
        return Some(
            "cannot confirm; a confirmation needs a single letter from a to z or A to Z".into(),
        );
    }
    if key.is_text() && is_only_beside_text(row) {
        return Some(
            "types text where the action applies; choose a key such as \"ctrl-q\" or \"f5\"".into(),
        );
    }
    None
}

/// Whether every place with the action takes characters as text.
fn is_only_beside_text(row: &Binding) -> bool {
    let name = row.name();
    let has_it = |focus: &Focus| super::bindings(*focus).any(|row| row.name() == name);
    Focus::ALL.into_iter().filter(has_it).all(Focus::takes_text)
}

impl Key {
    /// Whether the built-in tables give this key to this row.
    fn is_default_for(self, row: &Binding) -> bool {
        row.keys.iter().any(|name| Self::named(name) == Some(self))
    }
}

/// Finds keys that would mean two things in one place. The built-in tables are free of conflicts.
fn conflicts(keymap: &Keymap) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    for focus in Focus::ALL {
        let lines = keymap.bindings(focus);
        for (at, one) in lines.iter().enumerate() {
            for other in &lines[at + 1..] {
                // Where the built-in tables share a key, the row of the place takes precedence.
                let is_usual =
                    |key: &Key| key.is_default_for(one.row) && key.is_default_for(other.row);
                let shared = |key: &&Key| other.keys.contains(key) && !is_usual(key);
                let Some(key) = one.keys.iter().find(shared) else {
                    continue;
                };
                let Some(conflict) = conflict(focus, *key, one, other) else {
                    continue;
                };
                // Report a line of the file once, not for every place that it applies in.
                let is_known = |known: &Problem| {
                    (known.line, known.column) == (conflict.line, conflict.column)
                };
                if !found.iter().any(is_known) {
                    found.push(conflict);
                }
            }
        }
    }
    found
}

fn conflict(focus: Focus, key: Key, one: &Bound, other: &Bound) -> Option<Problem> {
    let later = [one, other]
        .into_iter()
        .filter_map(|bound| bound.written.as_ref())
        .max_by_key(|written| written.at)?;
    let said = |bound: &Bound| match &bound.written {
        Some(written) => format!("{} (line {})", bound.name(), written.at.line),
        None => format!("{} (default)", bound.name()),
    };
    let what = format!(
        "the key {} is bound twice in {}: to {} and {}; choose another key for one of them",
        key.shown(),
        focus.name(),
        said(one),
        said(other)
    );
    Some(problem(later.at, what))
}

/// A key that leads to a confirmation must not also confirm: a key held down would do both.
fn confirmation_conflicts(keymap: &Keymap) -> Vec<Problem> {
    let of = |is_meant: fn(Focus, Action) -> bool| {
        Focus::ALL.into_iter().flat_map(move |focus| {
            let lines = keymap.bindings(focus).iter();
            lines.filter(move |bound| is_meant(focus, bound.action))
        })
    };
    let mut found = Vec::new();
    for confirming in of(|_, action| action == Action::Confirm) {
        for leading in of(leads_to_a_confirmation) {
            let Some(key) = confirming
                .keys
                .iter()
                .find(|key| leading.keys.contains(key))
            else {
                continue;
            };
            let written = [confirming, leading].map(|bound| bound.written.as_ref());
            if let Some(later) = written.into_iter().flatten().max_by_key(|change| change.at) {
                let what = format!(
                    "the key {} leads to a confirmation ({}) and also confirms; choose another key for one of them",
                    key.shown(),
                    leading.name()
                );
                found.push(problem(later.at, what));
            }
        }
    }
    found
}

fn leads_to_a_confirmation(focus: Focus, action: Action) -> bool {
    match action {
        Action::Rotate | Action::Review | Action::Resume | Action::RetryFailed => true,
        Action::ReverseEdit => matches!(focus, Focus::Batches | Focus::History),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changed_is_sound() {
        let keymap = Keymap::default();
        assert_eq!(conflicts(&keymap), []);
        assert_eq!(confirmation_conflicts(&keymap), []);
    }
}
