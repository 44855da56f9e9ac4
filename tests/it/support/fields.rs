//! The fields of a group, as tests write them.

use groupdesk::domain::change::DesiredFields;

/// `properties` is a JSON object.
pub(crate) fn wanted(name: &str, mapping: &[(&str, &str)], properties: &str) -> DesiredFields {
    DesiredFields {
        name: Some(name.into()),
        mapping: Some(
            mapping
                .iter()
                .map(|(schema, source)| ((*schema).to_owned(), (*source).to_owned()))
                .collect(),
        ),
        properties: Some(serde_json::from_str(properties).expect("an object")),
    }
}
