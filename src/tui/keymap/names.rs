//! The names of places and actions in the configuration. They are derived from the enums and the tables, so that
//! anything added there has a name at once.

use super::{Action, Binding, Focus, actions};

/// Name of the rows that apply in every place.
pub(super) const EVERYWHERE: &str = "everywhere";
/// Name of the rows that move the cursor in lists and pages.
pub(super) const MOVE: &str = "move";

/// Names, by help text, of keys that fields handle. They keep existing configuration files valid although the texts on
/// the screen have changed.
const LEGACY_NAMES: [(&str, &str); 9] = [
    ("remove / restore row", "drop"),
    ("remove / restore property", "drop"),
    ("save the cell", "keep_cell"),
    ("cancel editing the cell", "cancel_cell"),
    ("change type", "other_type"),
    ("save the type", "keep_type"),
    ("cancel the change of the type", "cancel_type"),
    ("move", "move_between_cells"),
    ("page, first or last row", "a_page_or_to_an_end"),
];

/// Turns `EditMapping` into `edit_mapping`.
fn snake(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for (at, c) in camel.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

impl Focus {
    /// The name in the configuration, for example `edit_mapping`.
    pub fn name(self) -> String {
        snake(&format!("{self:?}"))
    }

    /// The name in words, for example `edit mapping`.
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }

    /// Finds the place with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|focus| focus.name() == name)
    }
}

impl Binding {
    /// The name of the action in the configuration. A key that a field handles is named after its hint.
    pub fn name(&self) -> String {
        match self.action {
            Action::InField => {
                let kept = LEGACY_NAMES.iter().find(|(help, _)| *help == self.help);
                if let Some((_, name)) = kept {
                    return (*name).to_owned();
                }
                let words = if self.hint.is_empty() {
                    self.help
                } else {
                    self.hint
                };
                words.to_ascii_lowercase().replace(' ', "_")
            }
            action => snake(&format!("{action:?}")),
        }
    }

    /// A field with several keys tells them apart itself, so none of them can be replaced.
    pub(super) fn is_fixed(&self) -> bool {
        self.action == Action::InField && self.keys.len() > 1
    }
}

/// The rows of a place in the configuration; `None` if there is no such place.
pub(super) fn rows(place: &str) -> Option<Vec<&'static Binding>> {
    match place {
        EVERYWHERE => Some(actions::EVERYWHERE.iter().collect()),
        MOVE => Some(actions::MOVE.iter().collect()),
        place => Focus::named(place).map(|focus| {
            let everywhere = super::allowed_everywhere(focus);
            focus.rows().chain(everywhere).collect()
        }),
    }
}

/// All place names that the configuration may use.
pub(super) fn places() -> impl Iterator<Item = String> {
    [EVERYWHERE, MOVE]
        .into_iter()
        .map(str::to_owned)
        .chain(Focus::ALL.into_iter().map(Focus::name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_where_they_are_used() {
        let mut seen: Vec<String> = Vec::new();
        for place in places() {
            assert!(!seen.contains(&place), "{place} twice");
            let rows = rows(&place).expect("a place");
            let names: Vec<String> = rows.iter().map(|row| row.name()).collect();
            for (at, name) in names.iter().enumerate() {
                assert!(!names[..at].contains(name), "{name} twice in {place}");
                let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
                assert!(name.chars().all(is_plain), "{name} in {place}");
            }
            seen.push(place);
        }
        assert_eq!(Focus::named("edit_mapping"), Some(Focus::EditMapping));
        assert_eq!(Focus::named("edit mapping"), None);
        assert_eq!(Focus::BulkRun.words(), "bulk run");
    }
}
