//! What an operator can set of a group, as parts: the name, each row of the mapping, each top-level key of the
//! properties. Comparing, merging, undoing and settling walk these parts, and do not tell the three fields apart.

use std::collections::HashSet;

use serde_json::Value;

use serde::{Deserialize, Serialize};

use super::{
    facts::Field,
    group::{Mapping, Properties},
    pasted::words,
};

/// The three fields that an operator can set. `None`: not known, or not in the request; left out of JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DesiredFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
}

impl DesiredFields {
    pub fn has(&self, field: Field) -> bool {
        match field {
            Field::Name => self.name.is_some(),
            Field::Mapping => self.mapping.is_some(),
            Field::Properties => self.properties.is_some(),
        }
    }

    /// Takes this field over from `other`, also its absence.
    pub fn copy(&mut self, field: Field, other: &Self) {
        match field {
            Field::Name => self.name.clone_from(&other.name),
            Field::Mapping => self.mapping.clone_from(&other.mapping),
            Field::Properties => self.properties.clone_from(&other.properties),
        }
    }

    /// The order of keys within a value does not matter.
    pub fn is_same(&self, field: Field, other: &Self) -> bool {
        match field {
            Field::Name => self.name == other.name,
            Field::Mapping => self.mapping == other.mapping,
            Field::Properties => self.properties == other.properties,
        }
    }

    pub fn leave_out(&mut self, field: Field) {
        self.copy(field, &Self::default());
    }

    /// Keeps only the fields that `other` names.
    #[must_use]
    pub fn restricted_to(mut self, other: &Self) -> Self {
        for field in Field::ALL.into_iter().filter(|field| !other.has(*field)) {
            self.leave_out(field);
        }
        self
    }

    /// What remains of it after a later request replaced the fields that it contained.
    #[must_use]
    pub fn without(mut self, later: &Self) -> Self {
        for field in Field::ALL.into_iter().filter(|field| later.has(*field)) {
            self.leave_out(field);
        }
        self
    }

    /// The fields of `self`; where one is `None`, that of `base`.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let mut all = self.clone();
        for field in Field::ALL.into_iter().filter(|field| !self.has(*field)) {
            all.copy(field, base);
        }
        all
    }

    /// Whether a reading shows that a request with these fields was accepted: at least one of them can be read, and each
    /// that can is as sent.
    pub fn is_shown_by(&self, read: &Self) -> bool {
        let is_both = |field: &Field| self.has(*field) && read.has(*field);
        let both = Field::ALL.into_iter().filter(is_both);
        let both: Vec<_> = both.collect();
        !both.is_empty() && both.into_iter().all(|field| self.is_same(field, read))
    }

    /// The whole field as one text; mapping and properties as JSON.
    pub fn text_of(&self, field: Field) -> Option<String> {
        match field {
            Field::Name => self.name.clone(),
            Field::Mapping => serde_json::to_string(self.mapping.as_ref()?).ok(),
            Field::Properties => serde_json::to_string(self.properties.as_ref()?).ok(),
        }
    }
}

/// The texts of some fields, to ask of many others whether they are among them.
pub struct Texts {
    all: String,
    /// Most questions are about one of these, and a form may have thousands.
    words: HashSet<String>,
}

impl Texts {
    pub fn of(fields: &DesiredFields) -> Self {
        let parts = parts(&[fields]).into_iter().flat_map(|part| {
            let value = part.text_in(fields);
            [(part.field != Field::Name).then_some(part.key), value]
        });
        // No text has its end in it.
        let all = parts.flatten().collect::<Vec<_>>().join("\0");
        let of_text = |text: &str| words(text).map(str::to_owned).collect::<Vec<_>>();
        let words = all.split('\0').flat_map(of_text).collect();
        Self { all, words }
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Whether this is one of their words.
    pub fn have_word(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether this text is in one of them.
    pub fn contain(&self, text: &str) -> bool {
        self.have_word(text) || self.all.contains(text)
    }
}

/// The name, one row of the mapping, or one top-level key of the properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub field: Field,
    /// Of a row of the mapping its schema id.
    pub key: String,
}

impl Part {
    pub fn name() -> Self {
        let (field, key) = (Field::Name, Field::Name.as_str().to_owned());
        Self { field, key }
    }

    pub fn mapping(key: impl Into<String>) -> Self {
        let (field, key) = (Field::Mapping, key.into());
        Self { field, key }
    }

    pub fn property(key: impl Into<String>) -> Self {
        let (field, key) = (Field::Properties, key.into());
        Self { field, key }
    }

    /// For people: `name`, `mapping 40`, `properties tier`. The key is raw text.
    pub fn label(&self) -> String {
        match self.field {
            Field::Name => self.key.clone(),
            field => format!("{} {}", field.as_str(), self.key),
        }
    }

    /// Whether anything is known of the field that it belongs to.
    pub fn is_known_in(&self, copy: &DesiredFields) -> bool {
        copy.has(self.field)
    }

    fn value_in<'c>(&self, copy: &'c DesiredFields) -> Option<PartValue<'c>> {
        match self.field {
            Field::Name => copy.name.as_deref().map(PartValue::Text),
            Field::Mapping => {
                let source = copy.mapping.as_ref()?.get(&self.key)?;
                Some(PartValue::Text(source))
            }
            Field::Properties => {
                let value = copy.properties.as_ref()?.get(&self.key)?;
                Some(PartValue::Json(value))
            }
        }
    }

    /// Its value in a copy; for a property its JSON text. `None` if it does not exist.
    pub fn text_in(&self, copy: &DesiredFields) -> Option<String> {
        self.value_in(copy).map(|value| match value {
            PartValue::Text(text) => text.to_owned(),
            PartValue::Json(value) => value.to_string(),
        })
    }

    /// Whether it is equal in two copies. The order of keys within a value does not matter.
    pub fn is_same(&self, one: &DesiredFields, other: &DesiredFields) -> bool {
        self.value_in(one) == self.value_in(other)
    }

    /// Copies this part from `from` to `into`, also its absence. If `from` knows nothing of the field, `into` stays.
    pub fn carry(&self, from: &DesiredFields, into: &mut DesiredFields) {
        if self.is_known_in(from) {
            let value = self.value_in(from).map(|value| match value {
                PartValue::Text(text) => Value::String(text.to_owned()),
                PartValue::Json(value) => value.clone(),
            });
            self.set(value, into);
        }
    }

    /// The value that such a text means; `None` if that of a property is no JSON.
    pub fn parse(&self, text: String) -> Option<Value> {
        match self.field {
            Field::Name | Field::Mapping => Some(Value::String(text)),
            Field::Properties => serde_json::from_str(&text).ok(),
        }
    }

    /// Sets or removes it. An existing row keeps its position.
    pub fn set(&self, value: Option<Value>, fields: &mut DesiredFields) {
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let key = &self.key;
        match self.field {
            Field::Name => fields.name = value.map(text),
            Field::Mapping => {
                let rows = fields.mapping.get_or_insert_default();
                match value {
                    Some(value) => drop(rows.insert(key.clone(), text(value))),
                    None => drop(rows.shift_remove(key)),
                }
            }
            Field::Properties => {
                let rows = fields.properties.get_or_insert_default();
                match value {
                    Some(value) => drop(rows.insert(key.clone(), value)),
                    None => drop(rows.shift_remove(key)),
                }
            }
        }
    }
}

#[derive(PartialEq)]
enum PartValue<'c> {
    Text(&'c str),
    Json(&'c Value),
}

/// Every part that one of the copies has, each once: field by field those of the first copy in order, then those that
/// only others have.
pub fn parts(copies: &[&DesiredFields]) -> Vec<Part> {
    let names = copies.iter().any(|copy| copy.has(Field::Name));
    let mut found: Vec<Part> = names.then(Part::name).into_iter().collect();
    let mut seen = HashSet::new();
    for rows in copies.iter().filter_map(|copy| copy.mapping.as_ref()) {
        found.extend(
            rows.keys()
                .filter(|key| seen.insert(*key))
                .map(Part::mapping),
        );
    }
    seen.clear();
    for rows in copies.iter().filter_map(|copy| copy.properties.as_ref()) {
        found.extend(
            rows.keys()
                .filter(|key| seen.insert(*key))
                .map(Part::property),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> DesiredFields {
        DesiredFields {
            properties: None,
            ..crate::domain::testing::fields("Acme", &[("7", "40")], "{}")
        }
    }

    #[test]
    fn of_a_field_that_is_not_known_nothing_is_carried() {
        let mut into = fields();
        for part in [Part::name(), Part::mapping("7"), Part::property("tier")] {
            part.carry(&DesiredFields::default(), &mut into);
        }
        assert_eq!(into, fields());
    }

    #[test]
    fn texts_contain_their_words_and_their_parts_and_nothing_of_two_texts() {
        let texts = Texts::of(&crate::domain::testing::fields(
            "Acme Ltd",
            &[("7", "507f1f77bcf86cd799439011")],
            r#"{"tier": "gold"}"#,
        ));
        for text in [
            "Ltd",
            "Acme L",
            "507f1f77bcf86cd799439011",
            "1f77bcf8",
            "tier",
            "gold",
        ] {
            assert!(texts.contain(text), "{text}");
        }
        for text in ["name", "7507f1f", "Ltd7", "507f1f77bcf86cd7994390112"] {
            assert!(!texts.contain(text), "{text}");
        }
    }

    #[test]
    fn a_reading_without_any_sent_field_shows_nothing() {
        assert!(fields().is_shown_by(&fields()));
        assert!(!fields().is_shown_by(&DesiredFields::default()));
        let other = crate::domain::testing::only_name("Acme plc");
        assert!(!fields().is_shown_by(&other));
    }
}
