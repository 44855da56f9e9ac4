//! Limits on the size of a group: what an answer returns of it must fit into the largest answer that is read. An update
//! whose answer cannot be read ends as unknown, and the group could not be read from here afterwards.

use serde::Serialize;
use serde_json::Value;

use super::change::DesiredFields;

/// Largest answer that is read, in bytes. Its texts exist in memory about a dozen times until they are in the
/// directory.
pub const MAX_ANSWER_BYTES: usize = MAX_GROUP_BYTES + 64 * 1024;
/// Maximum number of JSON values in an answer that is read; each takes a hundred bytes or more in memory, several times
/// over.
pub const MAX_ANSWER_VALUES: usize = MAX_VALUES + 100;
/// Maximum size of name, mapping and properties together as JSON, in bytes. The rest of an answer is for token, ids,
/// and whatever else a service returns.
pub const MAX_GROUP_BYTES: usize = 1024 * 1024;
/// Maximum number of values in the properties, including nested ones. The mapping is never returned
/// (docs/design/service.md, hazard 3).
pub const MAX_VALUES: usize = 4_900;
/// Maximum nesting of the properties: JSON is parsed down to 127 levels, two of which an answer needs itself.
pub const MAX_DEPTH: usize = 100;

/// Why a group is too large; the text follows the name of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("{bytes} bytes of JSON in all, {} more than can be read back; shorten it", bytes - MAX_GROUP_BYTES)]
    Text {
        bytes: usize,
        /// The field that takes up most of it.
        largest: &'static str,
    },
    #[error("{0} values, and at most {MAX_VALUES} can be read back; remove some")]
    Values(usize),
    #[error("{0} levels deep, and at most {MAX_DEPTH} can be read back; make it flatter")]
    Levels(usize),
}

impl TooLarge {
    /// The field to make smaller.
    pub fn field(self) -> &'static str {
        match self {
            Self::Text { largest, .. } => largest,
            Self::Values(_) | Self::Levels(_) => "properties",
        }
    }
}

/// Refuses a group that could be sent, but whose answer could not be read.
pub fn check_size(wanted: &DesiredFields) -> Result<(), TooLarge> {
    let fields = [
        ("name", length(wanted.name.as_ref())),
        ("mapping", length(wanted.mapping.as_ref())),
        ("properties", length(wanted.properties.as_ref())),
    ];
    let bytes = fields.iter().map(|(_, length)| length).sum();
    let largest = fields.iter().max_by_key(|(_, length)| length);
    if let Some((largest, _)) = largest.filter(|_| bytes > MAX_GROUP_BYTES) {
        return Err(TooLarge::Text { bytes, largest });
    }
    let mut values = 0;
    let held = wanted.properties.iter().flat_map(serde_json::Map::values);
    let levels = 1 + held
        .map(|value| walk(value, &mut values))
        .max()
        .unwrap_or(0);
    if values > MAX_VALUES {
        return Err(TooLarge::Values(values));
    }
    if levels > MAX_DEPTH {
        return Err(TooLarge::Levels(levels));
    }
    Ok(())
}

/// Counts the values, and returns the nesting. A value that was parsed is no deeper than the parser allows.
fn walk(value: &Value, values: &mut usize) -> usize {
    *values += 1;
    let inner = match value {
        Value::Array(items) => items.iter().map(|item| walk(item, values)).max(),
        Value::Object(object) => object.values().map(|value| walk(value, values)).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Length as JSON in bytes; zero for a field that is left out.
fn length<T: Serialize>(field: Option<&T>) -> usize {
    let text = field.map(|field| serde_json::to_string(field).expect("texts and JSON serialise"));
    text.map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::testing::fields;

    fn of(properties: &Value) -> DesiredFields {
        fields("", &[], &properties.to_string())
    }

    fn deep(levels: usize) -> Value {
        let inner = (1..levels).fold(json!(1), |inner, _| json!([inner]));
        json!({ "a": inner })
    }

    #[test]
    fn the_text_of_all_three_counts_as_json() {
        // "é" and two quotes; {"4":"\n"}; {"a":""}.
        let all = |room: usize| {
            let properties = json!({"a": "x".repeat(room)}).to_string();
            fields("é", &[("4", "\n")], &properties)
        };
        let room = MAX_GROUP_BYTES - 4 - 10 - 8;
        assert_eq!(check_size(&all(room)), Ok(()));
        let too_large = TooLarge::Text {
            bytes: MAX_GROUP_BYTES + 1,
            largest: "properties",
        };
        assert_eq!(check_size(&all(room + 1)), Err(too_large));
        let name = fields(&"x".repeat(MAX_GROUP_BYTES), &[], "{}");
        let error = check_size(&name).expect_err("too large");
        assert_eq!(error.field(), "name");
        assert!(error.to_string().ends_with("shorten it"), "{error}");
        assert_eq!(check_size(&DesiredFields::default()), Ok(()));
    }

    #[test]
    fn values_count_inside_lists_and_objects_too_and_levels_from_the_properties_on() {
        let held = |most: usize| of(&json!({"a": vec![0; most - 3], "b": {"c": null}}));
        let levels = |most| of(&deep(most));
        for (fields, result) in [
            (held(MAX_VALUES), Ok(())),
            (held(MAX_VALUES + 1), Err(TooLarge::Values(MAX_VALUES + 1))),
            (levels(MAX_DEPTH), Ok(())),
            (levels(MAX_DEPTH + 1), Err(TooLarge::Levels(MAX_DEPTH + 1))),
        ] {
            assert_eq!(check_size(&fields), result);
        }
        // The mapping is not part of an answer.
        let rows = (0..=MAX_VALUES).map(|row| (row.to_string(), "1".to_owned()));
        let mapping = DesiredFields {
            mapping: Some(rows.collect()),
            ..DesiredFields::default()
        };
        assert_eq!(check_size(&mapping), Ok(()));
    }
}
