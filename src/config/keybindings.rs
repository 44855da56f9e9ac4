//! The `[keys]` tables: which actions of which part of the console get other keys. Only the console knows the parts,
//! actions and keys; here they are names with their line numbers.

use toml::de::DeValue;

use super::{
    kind::{DefaultValue::Words, Kind, Setting, setting},
    table::{Entry, Position, Problems, entries, entries_of},
};

/// `name = ["key", …]` below `[keys.SCREEN]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub place: String,
    pub place_at: Position,
    pub name: String,
    pub at: Position,
    /// As written. An empty list removes the binding.
    pub keys: Vec<(String, Position)>,
}

pub(super) const KEYS: &[Setting] = &[setting(
    "keys.SCREEN",
    "ACTION",
    Kind::new("list of keys", "[\"T\"]", |_, _| Ok(())),
    Words("see Keys"),
    "other keys for an action of a screen; the help (?) shows both names",
)];

/// All key bindings, in file order.
pub(super) fn read(keys: &Entry, problems: &mut Problems) -> Vec<KeyOverride> {
    let table = "keys must be a table; write for example [keys.list] on a line of its own";
    let mut rebound = Vec::new();
    for place in entries_of(keys, table, problems) {
        let DeValue::Table(actions) = place.value.get_ref() else {
            problems.add(
                place.key_at,
                "it is outside a screen; put for example [keys.list] or [keys.everywhere] above it",
            );
            continue;
        };
        for action in entries(actions) {
            rebound.extend(one(&place, &action, problems));
        }
    }
    rebound
}

fn one(place: &Entry, action: &Entry, problems: &mut Problems) -> Option<KeyOverride> {
    let keys = action.value.get_ref().as_array().and_then(|array| {
        let keys = array.iter().map(|item| {
            let spot = problems.position(item.span().start);
            Some((item.get_ref().as_str()?.to_owned(), spot))
        });
        keys.collect::<Option<Vec<_>>>()
    });
    let Some(keys) = keys else {
        problems.add(
            action.key_at,
            "an action has a list of keys, such as [\"T\"] or [\"q\", \"ctrl-q\"]",
        );
        return None;
    };
    Some(KeyOverride {
        place: place.key.to_owned(),
        place_at: problems.position(place.key_at),
        name: action.key.to_owned(),
        at: problems.position(action.key_at),
        keys,
    })
}
