//! The `[keys]` tables: which actions of which part of the console get other keys. Only the console knows the parts,
//! actions and keys; here they are names with their line numbers.

use toml::de::DeValue;

use super::toml_reader::{Entry, Position, Problems, Section, Spanned};

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

const TABLE: &str = "keys must be a table; write for example [keys.list] on a line of its own";

/// All key bindings, in file order.
pub(super) fn read(top: &mut Section, problems: &mut Problems) -> Vec<KeyOverride> {
    let places = match top.value("keys") {
        None => return Vec::new(),
        Some(Spanned {
            value: DeValue::Table(table),
            ..
        }) => Section::of(table),
        Some(Spanned { at, .. }) => {
            problems.add(at, TABLE);
            return Vec::new();
        }
    };
    let mut rebound = Vec::new();
    for place in places.entries() {
        let DeValue::Table(actions) = place.value else {
            problems.add(
                place.key_at,
                "it is outside a screen; put for example [keys.list] or [keys.everywhere] above it",
            );
            continue;
        };
        for action in Section::of(actions).entries() {
            rebound.extend(one(place, action, problems));
        }
    }
    rebound
}

fn one(place: &Entry, action: &Entry, problems: &mut Problems) -> Option<KeyOverride> {
    let keys = action.value.as_array().and_then(|array| {
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
