//! The difference between what is known and what is wanted, field by field, and the three-way difference if somebody
//! else has changed the group (hazard 4 of docs/design/service.md): what an operator reviews.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    group::{Mapping, Properties},
    known::{ImportResult, Known, KnownGroup, Source, take},
};

/// The three fields that an operator can set. `None` leaves the field out of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DesiredFields {
    pub name: Option<String>,
    pub mapping: Option<Mapping>,
    pub properties: Option<Properties>,
}

impl DesiredFields {
    /// Whether some text of these fields has this text in it.
    pub fn contains_text(&self, part: &str) -> bool {
        let has = |text: &String| text.contains(part);
        let mut rows = self.mapping.iter().flatten();
        let properties = self.properties.as_ref();
        self.name.as_ref().is_some_and(has)
            || rows.any(|(key, value)| has(key) || has(value))
            || properties.is_some_and(|object| {
                serde_json::to_string(object).is_ok_and(|text| text.contains(part))
            })
    }

    /// All three fields as known now: the starting point of an edit. Values known only from a file are left out,
    /// because the service may have something else.
    pub fn of(group: &KnownGroup) -> Self {
        Self {
            name: observed(group.name.as_ref()),
            mapping: observed(group.mapping.as_ref()),
            properties: observed(group.properties.as_ref()),
        }
    }

    /// Keeps only the fields that `other` names.
    #[must_use]
    pub fn restricted_to(self, other: &Self) -> Self {
        Self {
            name: self.name.filter(|_| other.name.is_some()),
            mapping: self.mapping.filter(|_| other.mapping.is_some()),
            properties: self.properties.filter(|_| other.properties.is_some()),
        }
    }

    /// The fields of `self`; where one is `None`, that of `base`.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        Self {
            name: self.name.clone().or_else(|| base.name.clone()),
            mapping: self.mapping.clone().or_else(|| base.mapping.clone()),
            properties: self.properties.clone().or_else(|| base.properties.clone()),
        }
    }
}

impl KnownGroup {
    /// Takes over what a file says, but only where nothing is known, or nothing but what another file said.
    pub fn import(&mut self, imported: &DesiredFields, at: Timestamp, by: &str) -> ImportResult {
        let from = (at, by);
        let taken = [
            take(&mut self.name, imported.name.as_ref(), from),
            take(&mut self.mapping, imported.mapping.as_ref(), from),
            take(&mut self.properties, imported.properties.as_ref(), from),
        ];
        taken.into_iter().max().unwrap_or(ImportResult::Unchanged)
    }
}

fn observed<T: Clone>(known: Option<&Known<T>>) -> Option<T> {
    known
        .filter(|known| known.source != Source::Imported)
        .map(|known| known.value.clone())
}

/// How a row compares with the known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Same,
    Added,
    Removed,
    Changed,
}

impl Mark {
    /// The sign in the gutter (docs/design/console.md).
    pub fn sign(self) -> char {
        match self {
            Self::Same => ' ',
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed => '~',
        }
    }
}

/// One row of the mapping or one key of the properties, before and after. Property values are JSON texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl ChangeRow {
    pub fn mark(&self) -> Mark {
        match (&self.before, &self.after) {
            (None, Some(_)) => Mark::Added,
            (Some(_), None) => Mark::Removed,
            (before, after) if before == after => Mark::Same,
            _ => Mark::Changed,
        }
    }
}

/// What happens to one field of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldChange {
    /// Not in the request; the service keeps its value.
    LeftOut,
    /// In the request, but the current values are unknown: the field is replaced as a whole.
    Replaced(Vec<ChangeRow>),
    /// In the request; contains every row, also unchanged ones.
    Compared(Vec<ChangeRow>),
}

impl FieldChange {
    pub fn rows(&self) -> &[ChangeRow] {
        match self {
            Self::LeftOut => &[],
            Self::Replaced(rows) | Self::Compared(rows) => rows,
        }
    }

    pub fn is_changed(&self) -> bool {
        match self {
            Self::LeftOut => false,
            Self::Replaced(_) => true,
            Self::Compared(rows) => rows.iter().any(|row| row.mark() != Mark::Same),
        }
    }
}

/// All that an update would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub name: FieldChange,
    pub mapping: FieldChange,
    pub properties: FieldChange,
}

impl Change {
    /// Compares what is wanted with what is known.
    pub fn between(before: &DesiredFields, after: &DesiredFields) -> Self {
        let name_row = |name: &String| {
            vec![ChangeRow {
                key: "name".into(),
                before: before.name.clone(),
                after: Some(name.clone()),
            }]
        };
        Self {
            name: field(before.name.is_some(), after.name.as_ref().map(name_row)),
            mapping: field(
                before.mapping.is_some(),
                after
                    .mapping
                    .as_ref()
                    .map(|after| mapping_rows(before.mapping.as_ref(), after)),
            ),
            properties: field(
                before.properties.is_some(),
                after
                    .properties
                    .as_ref()
                    .map(|after| property_rows(before.properties.as_ref(), after)),
            ),
        }
    }

    pub fn fields(&self) -> [(&'static str, &FieldChange); 3] {
        [
            ("name", &self.name),
            ("mapping", &self.mapping),
            ("properties", &self.properties),
        ]
    }

    pub fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, field)| !field.is_changed())
    }

    /// The number of rows that differ; the number in "3 changes".
    pub fn count(&self) -> usize {
        self.fields()
            .iter()
            .flat_map(|(_, field)| field.rows())
            .filter(|row| row.mark() != Mark::Same)
            .count()
    }
}

fn field(known: bool, rows: Option<Vec<ChangeRow>>) -> FieldChange {
    match (rows, known) {
        (None, _) => FieldChange::LeftOut,
        (Some(rows), true) => FieldChange::Compared(rows),
        (Some(rows), false) => FieldChange::Replaced(rows),
    }
}

/// The rows of a mapping: first the wanted ones in their order, then the removed ones.
pub fn mapping_rows(before: Option<&Mapping>, after: &Mapping) -> Vec<ChangeRow> {
    let old = |key: &String| before.and_then(|before| before.get(key)).cloned();
    rows(
        after
            .iter()
            .map(|(key, value)| (key, value.clone(), old(key))),
        before
            .into_iter()
            .flatten()
            .filter(|(key, _)| !after.contains_key(*key))
            .map(|(key, value)| (key, value.clone())),
    )
}

/// The top-level keys of the properties, with values as compact JSON.
pub fn property_rows(before: Option<&Properties>, after: &Properties) -> Vec<ChangeRow> {
    let old = |key: &String| {
        before
            .and_then(|before| before.get(key))
            .map(Value::to_string)
    };
    rows(
        after
            .iter()
            .map(|(key, value)| (key, value.to_string(), old(key))),
        before
            .into_iter()
            .flatten()
            .filter(|(key, _)| !after.contains_key(*key))
            .map(|(key, value)| (key, value.to_string())),
    )
}

fn rows<'a>(
    kept: impl Iterator<Item = (&'a String, String, Option<String>)>,
    gone: impl Iterator<Item = (&'a String, String)>,
) -> Vec<ChangeRow> {
    let kept = kept.map(|(key, after, before)| ChangeRow {
        key: key.clone(),
        before,
        after: Some(after),
    });
    let gone = gone.map(|(key, before)| ChangeRow {
        key: key.clone(),
        before: Some(before),
        after: None,
    });
    kept.chain(gone).collect()
}

/// A field that an answer contains with another value than requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub field: &'static str,
    pub asked: String,
    /// What the service returned.
    pub kept: String,
}

/// Returns what an answer contains other than requested (hazard 2); a field that was left out cannot differ.
///
/// Only name and properties can be compared; the mapping is never returned.
pub fn differences(asked: &DesiredFields, answered: &DesiredFields) -> Vec<Difference> {
    let json = |map: &Properties| Value::Object(map.clone()).to_string();
    let name = difference(
        "name",
        asked.name.as_ref(),
        answered.name.as_ref(),
        String::clone,
    );
    let properties = difference(
        "properties",
        asked.properties.as_ref(),
        answered.properties.as_ref(),
        json,
    );
    name.into_iter().chain(properties).collect()
}

fn difference<T: PartialEq>(
    field: &'static str,
    asked: Option<&T>,
    answered: Option<&T>,
    text: impl Fn(&T) -> String,
) -> Option<Difference> {
    let (asked, kept) = (asked?, answered?);
    (asked != kept).then(|| Difference {
        field,
        asked: text(asked),
        kept: text(kept),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str, mapping: &[(&str, &str)], properties: &str) -> DesiredFields {
        DesiredFields {
            name: Some(name.into()),
            mapping: Some(
                mapping
                    .iter()
                    .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                    .collect(),
            ),
            properties: Some(serde_json::from_str(properties).expect("a JSON object")),
        }
    }

    #[test]
    fn rows_are_marked_and_removed_ones_come_last() {
        let before = wanted("Acme", &[("7", "40"), ("9", "1"), ("5", "5")], "{}");
        let after = wanted("Acme", &[("7", "213"), ("5", "5"), ("8", "2")], "{}");
        let change = Change::between(&before, &after);
        let marks: Vec<_> = change
            .mapping
            .rows()
            .iter()
            .map(|r| (r.key.as_str(), r.mark().sign()))
            .collect();
        assert_eq!(marks, [("7", '~'), ("5", ' '), ("8", '+'), ("9", '-')]);
        assert!(!change.name.is_changed() && !change.properties.is_changed());
        assert_eq!(change.count(), 3);
    }

    #[test]
    fn a_field_of_which_nothing_is_known_is_replaced_not_compared() {
        let after = wanted("Acme", &[("7", "40")], "{}");
        let before = DesiredFields {
            mapping: None,
            ..after.clone()
        };
        let change = Change::between(&before, &after);
        assert!(matches!(change.mapping, FieldChange::Replaced(_)));
        assert!(!change.is_empty());
        let left_out = DesiredFields {
            mapping: None,
            ..after.clone()
        };
        assert!(Change::between(&before, &left_out).is_empty());
    }

    #[test]
    fn only_what_was_asked_for_can_differ() {
        let asked = wanted("Acme", &[], r#"{"tier":"gold"}"#);
        let kept = wanted("Acme Europe", &[("7", "1")], r#"{"tier":"gold"}"#);
        let different = differences(&asked, &kept);
        assert_eq!(different.len(), 1);
        let Difference {
            field,
            asked: ours,
            kept: theirs,
        } = &different[0];
        assert_eq!(
            (*field, ours.as_str(), theirs.as_str()),
            ("name", "Acme", "Acme Europe")
        );
        let left_out = DesiredFields {
            name: None,
            ..asked
        };
        assert!(differences(&left_out, &kept).is_empty());
    }
}
