//! The effective key bindings: the tables with the changes from the configuration. Built once; a key press costs a few
//! comparisons.

use std::{collections::HashMap, sync::LazyLock};

use crossterm::event::KeyEvent;

use super::{Action, Binding, Focus, Key, actions};
use crate::config::KeyOverride;

/// One row of a place, with its effective keys.
#[derive(Debug, Clone)]
pub struct Bound {
    pub action: Action,
    /// The first key is shown in the footer; empty: only the command palette offers the action.
    pub keys: Vec<Key>,
    pub hint: &'static str,
    pub help: &'static str,
    /// The row applies in every place that has no row of its own for the same action.
    pub everywhere: bool,
    pub(super) row: &'static Binding,
    /// The change in the configuration.
    pub written: Option<KeyOverride>,
}

impl Bound {
    /// All keys as they are displayed.
    pub fn shown(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(|key| key.shown()).collect();
        keys.join(" ")
    }

    /// The name of the action in the configuration.
    pub fn name(&self) -> String {
        self.row.name()
    }
}

/// What to do with a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    Do(Action),
    /// Pass this key to the focused widget: the key that the widget knows, even if it was rebound.
    Field(KeyEvent),
    /// Ignore it.
    Nothing,
}

/// All effective key bindings.
#[derive(Debug, Clone)]
pub struct Keymap {
    places: HashMap<Focus, Vec<Bound>>,
    everywhere: Vec<Bound>,
}

impl Default for Keymap {
    fn default() -> Self {
        static UNCHANGED: LazyLock<Keymap> = LazyLock::new(|| Keymap::with(&[]));
        UNCHANGED.clone()
    }
}

impl Keymap {
    /// Applies the changes to the tables. Does not check them: `rebind` does.
    pub(super) fn with(changes: &[KeyOverride]) -> Self {
        let everywhere = actions::everywhere()
            .map(|row| {
                let written = find(changes, row);
                Bound::of(row, written, all(row, written), true)
            })
            .collect();
        let places = Focus::ALL
            .into_iter()
            .map(|focus| (focus, place(focus, changes)))
            .collect();
        Self { places, everywhere }
    }

    /// The rows of a place, most used first, followed by the ones that apply everywhere.
    pub fn bindings(&self, focus: Focus) -> &[Bound] {
        self.places.get(&focus).map_or(&[], Vec::as_slice)
    }

    /// The rows for every place that has no row of its own for the same action.
    pub fn everywhere(&self) -> &[Bound] {
        &self.everywhere
    }

    /// Returns the meaning of a key press in a place.
    pub fn press(&self, focus: Focus, event: KeyEvent) -> Press {
        let lines = self.bindings(focus);
        let bound = lines
            .iter()
            .find(|bound| bound.keys.iter().any(|key| key.is(event)));
        match bound {
            Some(bound) if bound.action == Action::InField => {
                let known = bound.row.keys.iter().filter_map(|name| Key::named(name));
                let mut known = known.peekable();
                let first = known.peek().copied();
                if known.any(|key| key.is(event)) {
                    return Press::Field(event);
                }
                first.map_or(Press::Nothing, |key| Press::Field(key.press()))
            }
            Some(bound) => Press::Do(bound.action),
            None if focus.takes_text() && !is_unbound(lines, event) => Press::Field(event),
            None => Press::Nothing,
        }
    }

    /// The key as it is displayed, if it confirms something in some place.
    pub fn confirming(&self, event: KeyEvent) -> Option<String> {
        let all = self.places.values().flatten();
        let mut keys = all
            .filter(|bound| bound.action == Action::Confirm)
            .flat_map(|bound| &bound.keys);
        keys.find(|key| key.is(event)).map(|key| key.shown())
    }

    /// The key of an action in a place, as it is displayed; otherwise its key in the layer of all places, or
    /// `(no key)`.
    pub fn key(&self, focus: Focus, action: Action) -> String {
        let here = self.bindings(focus).iter();
        shown(here.chain(&self.everywhere), |bound| bound.action == action)
    }

    /// The key of something that the focused field does itself, identified by its hint in the footer.
    pub fn key_in_field(&self, focus: Focus, hint: &str) -> String {
        let is_meant = |bound: &Bound| bound.action == Action::InField && bound.hint == hint;
        shown(self.bindings(focus).iter(), is_meant)
    }
}

fn shown<'a>(
    mut bound: impl Iterator<Item = &'a Bound>,
    is_meant: impl Fn(&Bound) -> bool,
) -> String {
    let first = |bound: &Bound| bound.keys.first().filter(|_| is_meant(bound)).copied();
    let key = bound.find_map(first);
    key.map_or_else(|| "(no key)".into(), Key::shown)
}

impl Bound {
    fn of(
        row: &'static Binding,
        written: Option<&KeyOverride>,
        keys: Vec<Key>,
        everywhere: bool,
    ) -> Self {
        Self {
            action: row.action,
            keys,
            hint: row.hint,
            help: row.help,
            everywhere,
            row,
            written: written.cloned(),
        }
    }
}

/// Whether the field would still react to this key although the configuration moved its function to another key.
fn is_unbound(lines: &[Bound], event: KeyEvent) -> bool {
    lines.iter().any(|bound| {
        let mut usual = bound.row.keys.iter().filter_map(|name| Key::named(name));
        bound.action == Action::InField && bound.written.is_some() && usual.any(|key| key.is(event))
    })
}

fn find<'c>(changes: &'c [KeyOverride], row: &Binding) -> Option<&'c KeyOverride> {
    if changes.is_empty() {
        return None;
    }
    let name = row.name();
    changes.iter().find(|change| change.name == name)
}

fn keys_of(names: impl Iterator<Item = impl AsRef<str>>) -> Vec<Key> {
    names.filter_map(|name| Key::named(name.as_ref())).collect()
}

fn all(row: &Binding, written: Option<&KeyOverride>) -> Vec<Key> {
    match written {
        Some(change) => keys_of(change.keys.iter().map(|(name, _)| name)),
        None => keys_of(row.keys.iter()),
    }
}

fn place(focus: Focus, changes: &[KeyOverride]) -> Vec<Bound> {
    // A field keeps its editing keys: an action must not take them.
    let fits = |key: &Key| !(focus.takes_text() && key.edits());
    let own = focus.rows().map(|row| {
        let (keys, written) = changed(row, changes, fits);
        Bound::of(row, written, keys, false)
    });
    let mut bound: Vec<Bound> = own.collect();
    for row in super::allowed_everywhere(focus) {
        let written = find(changes, row);
        let mut keys = all(row, written);
        let is_taken_away = keys.is_empty();
        keys.retain(fits);
        if keys.is_empty() && !is_taken_away {
            continue;
        }
        bound.push(Bound::of(row, written, keys, true));
    }
    bound
}

/// The keys of a row of a place: a change replaces the usual keys of the action, and leaves those that the place adds. Where
/// characters are text, the usual keys stay if no changed one is possible.
fn changed<'c>(
    row: &'static Binding,
    changes: &'c [KeyOverride],
    fits: impl Fn(&Key) -> bool,
) -> (Vec<Key>, Option<&'c KeyOverride>) {
    let usual = keys_of(row.keys.iter());
    let Some(written) = find(changes, row) else {
        return (usual, None);
    };
    let new = all(row, Some(written));
    if row.action == Action::InField {
        return (new, Some(written));
    }
    let old = super::usual(row).map_or_else(Vec::new, |usual| keys_of(usual.keys.iter()));
    let at = usual.iter().position(|key| old.contains(key));
    let Some(at) = at else {
        return (usual, None);
    };
    let new: Vec<Key> = match new.iter().filter(|key| fits(key)).copied().collect() {
        possible if new.is_empty() => possible,
        possible if Vec::is_empty(&possible) => return (usual, None),
        possible => possible,
    };
    let mut keys: Vec<Key> = Vec::with_capacity(usual.len() + new.len());
    let after = usual[at..].iter().copied().filter(|key| !old.contains(key));
    for key in usual[..at].iter().copied().chain(new).chain(after) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    (keys, Some(written))
}
