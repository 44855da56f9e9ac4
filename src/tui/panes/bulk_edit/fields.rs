//! The fields of a bulk edit: the action, its row, the new value, and the value that a row must have to be changed.

use crate::{
    domain::batch::BulkChange,
    search::{RowCondition, row_condition},
    tui::kit::text_field::TextField,
};

/// The first field, which takes no text.
pub(super) const ACTION: usize = 0;
const ONLY: &str = "only where it is";

/// The action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    SetRow,
    RemoveRow,
    SetProperty,
    RemoveProperty,
}

impl Change {
    const ALL: [Self; 4] = [
        Self::SetRow,
        Self::RemoveRow,
        Self::SetProperty,
        Self::RemoveProperty,
    ];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::SetRow => "Set mapping row",
            Self::RemoveRow => "Remove mapping row",
            Self::SetProperty => "Set property",
            Self::RemoveProperty => "Remove property",
        }
    }

    fn sets(self) -> bool {
        matches!(self, Self::SetRow | Self::SetProperty)
    }

    fn is_property(self) -> bool {
        matches!(self, Self::SetProperty | Self::RemoveProperty)
    }
}

#[derive(Debug)]
pub(super) struct Fields {
    pub(super) change: Change,
    key: TextField,
    to: TextField,
    only_where: TextField,
    /// [`ACTION`], or one of [`Self::texts`] counted from 1.
    pub(super) at: usize,
}

impl Fields {
    /// Fills in the row of a filter like `map:40=213` or `prop:tier=gold`, and focuses the first empty field.
    pub(super) fn prefilled(filter: &str) -> Self {
        let (change, key, value) = match row_condition(filter) {
            Some(RowCondition::Mapping(key, value)) => (Change::SetRow, key, value),
            Some(RowCondition::Property(key, value)) => (Change::SetProperty, key, value),
            None => (Change::SetRow, String::new(), String::new()),
        };
        let mut fields = Self {
            change,
            key: TextField::new("", key).for_data(),
            to: TextField::new("", "").for_data(),
            only_where: TextField::new("", value).for_data(),
            at: 1,
        };
        fields.at = if fields.key.is_empty() { 1 } else { 2 };
        fields
    }

    /// The text fields in order, each with its label.
    pub(super) fn texts(&self) -> Vec<(&'static str, &TextField)> {
        if self.change.sets() {
            vec![("", &self.key), ("to", &self.to), (ONLY, &self.only_where)]
        } else {
            vec![("", &self.key), (ONLY, &self.only_where)]
        }
    }

    pub(super) fn last(&self) -> usize {
        self.texts().len()
    }

    pub(super) fn focused(&mut self) -> Option<&mut TextField> {
        match (self.at, self.change.sets()) {
            (1, _) => Some(&mut self.key),
            (2, true) => Some(&mut self.to),
            (2, false) | (3, true) => Some(&mut self.only_where),
            _ => None,
        }
    }

    pub(super) fn choose(&mut self, next: bool) {
        let all = Change::ALL;
        let at = all.iter().position(|one| *one == self.change).unwrap_or(0);
        let step = if next { 1 } else { all.len() - 1 };
        self.change = all[(at + step) % all.len()];
    }

    /// The change as typed, or what is missing.
    pub(super) fn change(&self) -> Result<BulkChange, String> {
        let only = Some(self.only_where.text()).filter(|text| !text.is_empty());
        let to = Some(self.to.text()).filter(|_| self.change.sets());
        let key = self.key.text();
        let change = if self.change.is_property() {
            let (to, only) = (to.map(json), only.map(json));
            BulkChange::property(key, to.as_deref(), only.as_deref())
        } else {
            BulkChange::mapping(key, to, only)
        };
        change.map_err(|why| why.to_string())
    }
}

/// A plain word is a text, as in the filter; anything that looks like JSON must be valid JSON.
fn json(text: &str) -> String {
    let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
    if is_json || text.is_empty() || text.starts_with(['{', '[', '"']) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::batch::OnlyWhere;

    #[test]
    fn a_filter_fills_the_row_and_the_focus_waits_for_the_rest() {
        let mut fields = Fields::prefilled("acme map:40=213");
        assert_eq!((fields.change, fields.at), (Change::SetRow, 2));
        assert_eq!(fields.change().unwrap_err(), "Type a data source ID");
        fields.focused().expect("a field").set_text("214");
        let expected = BulkChange::mapping("40", Some("214"), Some("213"));
        assert_eq!(fields.change(), expected.map_err(|why| why.to_string()));
        let fields = Fields::prefilled("acme");
        assert_eq!((fields.at, fields.change().is_err()), (1, true));
    }

    #[test]
    fn the_filter_is_read_as_the_search_reads_it() {
        for (filter, change, key, only) in [
            (
                "prop:tier=\"very gold\"",
                Change::SetProperty,
                "tier",
                "very gold",
            ),
            ("MAP:40=A1 prop:tier=gold", Change::SetRow, "40", "A1"),
            (
                "-map:40=213 prop:Tier=Gold",
                Change::SetProperty,
                "Tier",
                "Gold",
            ),
            ("prop:seats>=100", Change::SetRow, "", ""),
            (
                "-prop:tier=gold \"map:40=213\" map:40",
                Change::SetRow,
                "",
                "",
            ),
        ] {
            let fields = Fields::prefilled(filter);
            let found = (fields.change, fields.key.text(), fields.only_where.text());
            assert_eq!(found, (change, key, only), "{filter}");
        }
    }

    #[test]
    fn a_plain_word_is_a_text_and_json_is_json() {
        let mut fields = Fields::prefilled("prop:tier=gold");
        assert_eq!(fields.change, Change::SetProperty);
        for (typed, json) in [("silver", "\"silver\""), ("7", "7"), ("[1]", "[1]")] {
            fields.focused().expect("a field").set_text(typed);
            let change = fields.change().expect("a change");
            let only = OnlyWhere::Is(Some("\"gold\"".into()));
            let expected = BulkChange::property("tier", Some(json), Some("\"gold\""));
            assert_eq!(
                (&change.only_where, Ok(&change)),
                (&only, expected.as_ref())
            );
        }
        for wrong in ["", "{", "[1"] {
            fields.focused().expect("a field").set_text(wrong);
            assert!(fields.change().is_err(), "{wrong}");
        }
    }

    #[test]
    fn removing_needs_no_new_value() {
        let mut fields = Fields::prefilled("map:40=213");
        fields.choose(true);
        assert_eq!((fields.change, fields.last()), (Change::RemoveRow, 2));
        assert!(fields.change().is_ok());
        fields.choose(false);
        fields.choose(false);
        assert_eq!(fields.change, Change::RemoveProperty);
    }
}
