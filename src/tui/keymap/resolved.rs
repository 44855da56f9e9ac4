//! The effective key bindings: the tables with the changes from the configuration. Built once; a key press costs a few
//! comparisons.

use std::{collections::HashMap, sync::LazyLock};

use crossterm::event::KeyEvent;

use super::{Action, Binding, Focus, Key, actions, names};
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
    /// The change in the configuration, for this place or for all places.
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
        let everywhere = actions::EVERYWHERE
            .iter()
            .map(|row| {
                let written = find(changes, names::EVERYWHERE, row);
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

fn find<'c>(changes: &'c [KeyOverride], place: &str, row: &Binding) -> Option<&'c KeyOverride> {
    if changes.is_empty() {
        return None;
    }
    let name = row.name();
    changes
        .iter()
        .find(|change| change.place == place && change.name == name)
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
    let place = focus.name();
    // A field keeps its editing keys: bindings of the layers must not take them.
    let fits = |key: &Key| !(focus.takes_text() && key.edits());
    let own = focus.rows().map(|row| {
        if let Some(written) = find(changes, &place, row) {
            return Bound::of(row, Some(written), all(row, Some(written)), false);
        }
        let (keys, written) = inherited(row, changes, fits);
        Bound::of(row, written, keys, false)
    });
    let mut bound: Vec<Bound> = own.collect();
    for row in super::allowed_everywhere(focus) {
        if let Some(written) = find(changes, &place, row) {
            bound.push(Bound::of(row, Some(written), all(row, Some(written)), true));
            continue;
        }
        let written = find(changes, names::EVERYWHERE, row);
        let mut keys = all(row, written);
        let is_taken_away = keys.is_empty();
        keys.retain(fits);
        if keys.is_empty() && !is_taken_away {
            continue;
        }
        bound.push(Bound::of(row, written, keys, true));
    }
    yield_to_configured(focus, &mut bound);
    bound
}

/// Keys that were added after version 0.2.0 yield to keys in the configuration, so that files written before remain
/// valid; the action remains available in the command palette.
fn yield_to_configured(focus: Focus, bound: &mut [Bound]) {
    let written = bound.iter().filter(|line| line.written.is_some());
    let written: Vec<Key> = written.flat_map(|line| line.keys.clone()).collect();
    for line in bound.iter_mut().filter(|line| line.written.is_none()) {
        let action = line.action;
        line.keys
            .retain(|key| !(written.contains(key) && is_newer_key(focus, action, *key)));
    }
}

/// Whether the action has had this key only since version 0.2.0.
fn is_newer_key(focus: Focus, action: Action, key: Key) -> bool {
    let is = |name| Key::named(name) == Some(key);
    match action {
        Action::Note
        | Action::Favourite
        | Action::Views
        | Action::MarkDown
        | Action::MarkUp
        | Action::NextFlag
        | Action::PreviousFlag
        | Action::ScrollLeft
        | Action::ScrollRight
        | Action::EditMarked
        | Action::Resume
        | Action::Batches
        | Action::Attention
        | Action::NextFailed
        | Action::PreviousFailed
        | Action::ShowNext
        | Action::AddColumn
        | Action::MoveUp
        | Action::MoveDown
        | Action::RemoveView
        | Action::LoadDraft => true,
        Action::PageUp => is("ctrl-b"),
        Action::PageDown => is("ctrl-f"),
        Action::NextField => matches!(focus, Focus::List | Focus::Filter),
        Action::Filter | Action::FailedOnly | Action::Stop => {
            matches!(focus, Focus::Messages | Focus::Requests)
        }
        Action::Refresh => focus == Focus::BulkRun,
        Action::Enter => matches!(
            focus,
            Focus::RotateCheck | Focus::BulkEditConfirm | Focus::ResumeCheck | Focus::PlaceNew
        ),
        Action::Detail => focus == Focus::History,
        _ => false,
    }
}

/// The keys of a row that was not rebound in its own place: a change for all places applies here as well, if the row
/// has any of the same keys.
fn inherited<'c>(
    row: &'static Binding,
    changes: &'c [KeyOverride],
    fits: impl Fn(&Key) -> bool,
) -> (Vec<Key>, Option<&'c KeyOverride>) {
    let usual = keys_of(row.keys.iter());
    let shared = [
        (
            names::EVERYWHERE,
            actions::EVERYWHERE
                .iter()
                .find(|all| all.action == row.action),
        ),
        (
            names::MOVE,
            actions::MOVE.iter().find(|all| all.action == row.action),
        ),
    ];
    let changed = shared.into_iter().find_map(|(place, shared)| {
        let shared = shared?;
        find(changes, place, shared).map(|written| (shared, written))
    });
    let Some((shared, written)) = changed else {
        return (usual, None);
    };
    let old = keys_of(shared.keys.iter());
    let Some(at) = usual.iter().position(|key| old.contains(key)) else {
        return (usual, None);
    };
    let new = all(shared, Some(written));
    let mut keys: Vec<Key> = usual[..at].to_vec();
    keys.extend(new.iter().copied().filter(|key| fits(key)));
    keys.extend(usual[at..].iter().copied().filter(|key| !old.contains(key)));
    let mut once: Vec<Key> = Vec::with_capacity(keys.len());
    for key in keys {
        if !once.contains(&key) {
            once.push(key);
        }
    }
    if once.is_empty() {
        return (usual, None);
    }
    (once, Some(written))
}
