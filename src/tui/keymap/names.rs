//! The names of places and actions in the configuration, made from the enums and the tables themselves: what is added
//! there has its name at once.

use super::{Action, Binding, Focus, actions};

/// The place of what holds in every place.
pub(super) const EVERYWHERE: &str = "everywhere";
/// The place of what moves in every list and page.
pub(super) const MOVE: &str = "move";

/// By help: names of keys of fields that stay in configuration files although the words on the screen changed.
const KEPT_NAMES: [(&str, &str); 9] = [
    ("remove / restore row", "drop"),
    ("remove / restore property", "drop"),
    ("save the cell", "keep_cell"),
    ("cancel the change of the cell", "cancel_cell"),
    ("change type", "other_type"),
    ("save the type", "keep_type"),
    ("cancel the change of the type", "cancel_type"),
    ("move", "move_between_cells"),
    ("page, first or last row", "a_page_or_to_an_end"),
];

/// `EditMapping` as `edit_mapping`.
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
    /// Its name in the configuration, for example `edit_mapping`.
    pub fn name(self) -> String {
        snake(&format!("{self:?}"))
    }

    /// For a person, for example `edit mapping`.
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }

    /// The place of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|focus| focus.name() == name)
    }
}

impl Binding {
    /// The name of the action in the configuration; of what a field does, made from its hint.
    pub fn name(&self) -> String {
        match self.action {
            Action::InField => {
                let kept = KEPT_NAMES.iter().find(|(help, _)| *help == self.help);
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

    /// A field with several keys tells them apart itself: none of them can become another one.
    pub(super) fn is_fixed(&self) -> bool {
        self.action == Action::InField && self.keys.len() > 1
    }
}

/// The rows of a place of the configuration; `None` where there is no such place.
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

/// All places of the configuration.
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
