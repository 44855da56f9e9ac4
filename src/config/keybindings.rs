//! The `[keys]` table: which actions of the console get other keys. Only the console knows actions and keys; here they are
//! names with their line numbers.

use super::{
    kind::{DefaultValue::Words, Kind, Setting, setting},
    table::{Entry, Position, Problems, entries_of},
};

/// `name = ["key", …]` below `[keys]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub name: String,
    pub at: Position,
    /// As written. An empty list removes the binding.
    pub keys: Vec<(String, Position)>,
    /// It is a table, as `[keys.list]` was.
    pub is_table: bool,
}

pub(super) const KEYS: &[Setting] = &[setting(
    "keys",
    "ACTION",
    Kind::new("list of keys", "[\"T\"]", |_, _| Ok(())),
    Words("see Keys"),
    "other keys for an action, on every screen; the help (?) shows its name",
)];

/// All key bindings, in file order.
pub(super) fn read(keys: &Entry, problems: &mut Problems) -> Vec<KeyOverride> {
    let table = "keys must be a table; write [keys] on a line of its own";
    let actions = entries_of(keys, table, problems).into_iter();
    actions
        .filter_map(|action| one(&action, problems))
        .collect()
}

fn one(action: &Entry, problems: &mut Problems) -> Option<KeyOverride> {
    let is_table = action.value.get_ref().is_table();
    let keys = action.value.get_ref().as_array().and_then(|array| {
        let keys = array.iter().map(|item| {
            let spot = problems.position(item.span().start);
            Some((item.get_ref().as_str()?.to_owned(), spot))
        });
        keys.collect::<Option<Vec<_>>>()
    });
    let Some(keys) = keys.or(is_table.then(Vec::new)) else {
        problems.add(
            action.key_at,
            "an action has a list of keys, such as [\"T\"] or [\"q\", \"ctrl-q\"]",
        );
        return None;
    };
    Some(KeyOverride {
        name: action.key.to_owned(),
        at: problems.position(action.key_at),
        keys,
        is_table,
    })
}
