//! Single rows of the mapping and single properties, as columns of their own (`map:40`, `prop:tier`): what `list -o csv
//! --columns` writes. They change these rows and keys and nothing else of the group.

use serde_json::Value;

use super::{columns, strict_json};
use crate::domain::{
    change::DesiredFields,
    facts::Field,
    group::{Mapping, Properties},
};

/// What the cells of such columns say. An empty cell says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// Schema and data source.
    pub map: Vec<(String, String)>,
    /// Key and cell.
    pub properties: Vec<(String, String)>,
}

impl Parts {
    pub fn is_empty(&self) -> bool {
        self.map.is_empty() && self.properties.is_empty()
    }

    /// Lays them over what is known of the group; `None` for a group that does not exist yet.
    ///
    /// # Errors
    ///
    /// The field they change, if it is not known: a service replaces it as a whole.
    pub fn complete(
        &self,
        fields: &mut DesiredFields,
        known: Option<&DesiredFields>,
    ) -> Result<(), Field> {
        let new = DesiredFields {
            name: None,
            mapping: Some(Mapping::default()),
            properties: Some(Properties::default()),
        };
        let known = known.unwrap_or(&new);
        if !self.map.is_empty() {
            let known = known.mapping.clone();
            fields.mapping = Some(known.ok_or(Field::Mapping)?);
        }
        if !self.properties.is_empty() {
            let known = known.properties.clone();
            fields.properties = Some(known.ok_or(Field::Properties)?);
        }
        self.lay_over(fields);
        Ok(())
    }

    /// Lays them over fields. In a field that is not known they stand alone.
    pub fn lay_over(&self, fields: &mut DesiredFields) {
        if !self.map.is_empty() {
            let mapping = fields.mapping.get_or_insert_default();
            mapping.extend(self.map.iter().cloned());
        }
        if !self.properties.is_empty() {
            let properties = fields.properties.get_or_insert_default();
            for (key, cell) in &self.properties {
                let value = value(cell, properties.get(key));
                properties.insert(key.clone(), value);
            }
        }
    }
}

/// A cell as a value. A list writes a text without quotes, so a cell keeps the type of the known value: `25` stays a text
/// where it is one.
fn value(cell: &str, known: Option<&Value>) -> Value {
    let text = || Value::String(cell.to_owned());
    match known {
        Some(Value::String(_)) => text(),
        // A spreadsheet writes them in capitals.
        Some(Value::Bool(_)) if let Some(truth) = columns::truth(cell) => Value::Bool(truth),
        _ => strict_json::value(cell).unwrap_or_else(|_| text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_cells_change_single_rows_and_keep_types() {
        let known = DesiredFields {
            name: None,
            mapping: strict_json::mapping(r#"{"7":"40","40":"1"}"#).ok(),
            properties: strict_json::properties(
                r#"{"tier":"25","seats":5,"x":[1],"sso":true,"vip":true}"#,
            )
            .ok(),
        };
        let pairs = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(key, cell)| ((*key).to_owned(), (*cell).to_owned()))
                .collect()
        };
        let parts = Parts {
            map: pairs(&[("40", "213")]),
            properties: pairs(&[
                ("tier", "30"),
                ("seats", "6"),
                ("new", "gold"),
                ("on", "true"),
                ("sso", "FALSE"),
                ("vip", "null"),
            ]),
        };
        let mut fields = DesiredFields::default();
        parts
            .complete(&mut fields, Some(&known))
            .expect("completed");
        let mapping =
            |fields: &DesiredFields| serde_json::to_string(&fields.mapping).expect("JSON");
        let properties = serde_json::to_string(&fields.properties).expect("JSON");
        assert_eq!(mapping(&fields), r#"{"7":"40","40":"213"}"#);
        assert_eq!(
            properties,
            r#"{"tier":"30","seats":6,"x":[1],"sso":false,"vip":null,"new":"gold","on":true}"#
        );
        let mut of_new = DesiredFields::default();
        parts.complete(&mut of_new, None).expect("completed");
        assert_eq!(mapping(&of_new), r#"{"40":"213"}"#);
        let unknown = parts.complete(&mut of_new, Some(&DesiredFields::default()));
        assert_eq!(unknown, Err(Field::Mapping));
    }
}
