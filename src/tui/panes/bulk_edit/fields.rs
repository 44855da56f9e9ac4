//! The fields of a bulk edit: the action, its row, the new value, and the value that a row must have to be changed.

use crate::{
    domain::batch::BulkChange,
    search::{RowCondition, row_condition},
    tui::kit::{form::Form, text_field::TextField},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    Action,
    Key,
    To,
    OnlyWhere,
}

/// Two that set and two that remove; the first two are about the mapping.
const ACTIONS: &[(&str, &str)] = &[
    ("Set mapping row", ""),
    ("Remove mapping row", ""),
    ("Set property", ""),
    ("Remove property", ""),
];
const SET_ROW: usize = 0;
const SET_PROPERTY: usize = 2;

#[derive(Debug)]
pub(super) struct Fields(pub(super) Form<Row>);

impl Fields {
    /// Fills in the row of a filter like `map:40=213` or `prop:tier=gold`, and focuses the first empty field.
    pub(super) fn prefilled(filter: &str) -> Self {
        let (action, key, value) = match row_condition(filter) {
            Some(RowCondition::Mapping(key, value)) => (SET_ROW, key, value),
            Some(RowCondition::Property(key, value)) => (SET_PROPERTY, key, value),
            None => (SET_ROW, String::new(), String::new()),
        };
        let first = if key.is_empty() { Row::Key } else { Row::To };
        let field = |text: String| TextField::new("", text).for_data();
        let mut form = Form::default()
            .choice(Row::Action, "", ACTIONS, action)
            .text(Row::Key, "", field(key))
            .text(Row::To, "to", field(String::new()))
            .text(Row::OnlyWhere, "only where it is", field(value));
        form.focus(first);
        Self(form)
    }

    fn sets(&self) -> bool {
        matches!(self.0.chosen(Row::Action), SET_ROW | SET_PROPERTY)
    }

    pub(super) fn choose(&mut self, next: bool) {
        self.0.choose(Row::Action, next);
        self.0.show(Row::To, self.sets());
    }

    /// The change as typed, or what is missing.
    pub(super) fn change(&self) -> Result<BulkChange, String> {
        let only = Some(self.0.typed(Row::OnlyWhere)).filter(|text| !text.is_empty());
        let to = Some(self.0.typed(Row::To)).filter(|_| self.sets());
        let key = self.0.typed(Row::Key);
        let change = if self.0.chosen(Row::Action) >= SET_PROPERTY {
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

    fn action(fields: &Fields) -> usize {
        fields.0.chosen(Row::Action)
    }

    #[test]
    fn a_filter_fills_the_row_and_the_focus_waits_for_the_rest() {
        let mut fields = Fields::prefilled("acme map:40=213");
        assert_eq!((action(&fields), fields.0.key()), (SET_ROW, Row::To));
        assert_eq!(fields.change().unwrap_err(), "Type a data source ID");
        fields.0.field().expect("a field").set_text("214");
        let expected = BulkChange::mapping("40", Some("214"), Some("213"));
        assert_eq!(fields.change(), expected.map_err(|why| why.to_string()));
        let fields = Fields::prefilled("acme");
        assert_eq!((fields.0.key(), fields.change().is_err()), (Row::Key, true));
    }

    #[test]
    fn the_filter_is_read_as_the_search_reads_it() {
        for (filter, wanted, key, only) in [
            ("prop:tier=\"very gold\"", SET_PROPERTY, "tier", "very gold"),
            ("MAP:40=A1 prop:tier=gold", SET_ROW, "40", "A1"),
            ("-map:40=213 prop:Tier=Gold", SET_PROPERTY, "Tier", "Gold"),
            ("prop:seats>=100", SET_ROW, "", ""),
            ("-prop:tier=gold \"map:40=213\" map:40", SET_ROW, "", ""),
        ] {
            let fields = Fields::prefilled(filter);
            let (typed, only_where) = (fields.0.typed(Row::Key), fields.0.typed(Row::OnlyWhere));
            assert_eq!(
                (action(&fields), typed, only_where),
                (wanted, key, only),
                "{filter}"
            );
        }
    }

    #[test]
    fn a_plain_word_is_a_text_and_json_is_json() {
        let mut fields = Fields::prefilled("prop:tier=gold");
        assert_eq!(action(&fields), SET_PROPERTY);
        for (typed, json) in [("silver", "\"silver\""), ("7", "7"), ("[1]", "[1]")] {
            fields.0.field().expect("a field").set_text(typed);
            let change = fields.change().expect("a change");
            let only = OnlyWhere::Is(Some("\"gold\"".into()));
            let expected = BulkChange::property("tier", Some(json), Some("\"gold\""));
            assert_eq!(
                (&change.only_where, Ok(&change)),
                (&only, expected.as_ref())
            );
        }
        for wrong in ["", "{", "[1"] {
            fields.0.field().expect("a field").set_text(wrong);
            assert!(fields.change().is_err(), "{wrong}");
        }
    }

    #[test]
    fn removing_needs_no_new_value() {
        let mut fields = Fields::prefilled("map:40=213");
        fields.choose(true);
        assert_eq!(
            (action(&fields), fields.0.shown().count()),
            (SET_ROW + 1, 3)
        );
        assert!(fields.change().is_ok());
        fields.choose(false);
        fields.choose(false);
        assert_eq!(action(&fields), SET_PROPERTY + 1);
    }
}
