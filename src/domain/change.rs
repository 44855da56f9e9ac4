//! The difference between what is known and what is wanted, field by field, and the three-way difference if somebody
//! else has changed the group (hazard 4 of docs/design/service.md): what an operator reviews.

use jiff::Timestamp;

use super::{
    facts::Field,
    fields::parts,
    known::{ImportResult, Known, KnownGroup, Source, take},
};

pub use super::fields::DesiredFields;

impl DesiredFields {
    /// All three fields as known now: the starting point of an edit. Values known only from a file are left out,
    /// because the service may have something else.
    pub fn of(group: &KnownGroup) -> Self {
        Self {
            name: observed(group.name.as_ref()),
            mapping: observed(group.mapping.as_ref()),
            properties: observed(group.properties.as_ref()),
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

/// One part of a field, before and after. Property values are JSON texts.
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

    /// How many rows are added, changed and removed: "+60 ~1 -2"; nothing for none.
    fn counts(&self) -> String {
        let count = |mark| self.rows().iter().filter(|row| row.mark() == mark).count();
        let marks = [Mark::Added, Mark::Changed, Mark::Removed];
        let counts = marks.map(|mark| (mark.sign(), count(mark))).into_iter();
        let counts = counts.filter(|(_, count)| *count > 0);
        let counts = counts.map(|(sign, count)| format!(" {sign}{count}"));
        counts.collect::<Vec<_>>().concat()
    }

    pub fn is_changed(&self) -> bool {
        match self {
            Self::LeftOut => false,
            Self::Replaced(_) => true,
            Self::Compared(rows) => rows.iter().any(|row| row.mark() != Mark::Same),
        }
    }
}

/// All that an update would change, field by field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change([(Field, FieldChange); 3]);

impl Change {
    /// Compares what is wanted with what is known: first the wanted parts in their order, then the removed ones.
    pub fn between(before: &DesiredFields, after: &DesiredFields) -> Self {
        let mut parts = parts(&[after, before]);
        Self(Field::ALL.map(|field| {
            let rows = parts.extract_if(.., |part| part.field == field);
            let rows = rows.map(|part| ChangeRow {
                before: part.text_in(before),
                after: part.text_in(after),
                key: part.key,
            });
            let change = match (after.has(field), before.has(field)) {
                (false, _) => FieldChange::LeftOut,
                (true, false) => FieldChange::Replaced(rows.collect()),
                (true, true) => FieldChange::Compared(rows.collect()),
            };
            (field, change)
        }))
    }

    pub fn fields(&self) -> [(&'static str, &FieldChange); 3] {
        self.0
            .each_ref()
            .map(|(field, change)| (field.as_str(), change))
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, field)| !field.is_changed())
    }

    /// What differs, counted: "name, mapping +60".
    pub fn in_words(&self) -> String {
        let changed = self.fields().into_iter();
        let changed = changed.filter(|(_, field)| field.is_changed());
        let words = changed.map(|(name, field)| match name {
            "name" => name.to_owned(),
            name => format!("{name}{}", field.counts()),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// The number of rows that differ; the number in "3 changes".
    pub fn count(&self) -> usize {
        let rows = self.0.iter().flat_map(|(_, field)| field.rows());
        rows.filter(|row| row.mark() != Mark::Same).count()
    }
}

/// A field that an answer contains with another value than requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub field: &'static str,
    pub asked: String,
    /// What the service returned.
    pub kept: String,
}

/// Returns what an answer contains other than requested (hazard 2); a field that was left out cannot differ. The mapping is
/// never returned.
pub fn differences(asked: &DesiredFields, answered: &DesiredFields) -> Vec<Difference> {
    let difference = |field: Field| {
        let (ours, kept) = (asked.text_of(field)?, answered.text_of(field)?);
        (!asked.is_same(field, answered)).then(|| Difference {
            field: field.as_str(),
            asked: ours,
            kept,
        })
    };
    let fields = [Field::Name, Field::Properties].into_iter();
    fields.filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::fields;

    #[test]
    fn rows_are_marked_and_removed_ones_come_last() {
        let before = fields("Acme", &[("7", "40"), ("9", "1"), ("5", "5")], "{}");
        let after = fields("Acme", &[("7", "213"), ("5", "5"), ("8", "2")], "{}");
        let change = Change::between(&before, &after);
        let [name, mapping, properties] = change.fields().map(|(_, field)| field);
        let marks = mapping.rows().iter();
        let marks = marks.map(|r| format!("{}{}", r.mark().sign(), r.key));
        assert!(marks.eq(["~7", " 5", "+8", "-9"]));
        assert!(!name.is_changed() && !properties.is_changed());
        assert_eq!(change.count(), 3);
    }

    #[test]
    fn a_field_of_which_nothing_is_known_is_replaced_not_compared() {
        let after = fields("Acme", &[("7", "40")], "{}");
        let without = DesiredFields {
            mapping: None,
            ..after.clone()
        };
        let change = Change::between(&without, &after);
        assert!(matches!(change.0[1].1, FieldChange::Replaced(_)));
        assert!(!change.is_empty());
        assert!(Change::between(&without, &without).is_empty());
    }

    #[test]
    fn only_what_was_asked_for_can_differ() {
        let asked = fields("Acme", &[], r#"{"tier":"gold"}"#);
        let kept = fields("Acme Europe", &[("7", "1")], r#"{"tier":"gold"}"#);
        let different = differences(&asked, &kept);
        let told = different
            .iter()
            .map(|one| (one.field, &*one.asked, &*one.kept));
        assert!(told.eq([("name", "Acme", "Acme Europe")]));
        let left_out = DesiredFields {
            name: None,
            ..asked
        };
        assert!(differences(&left_out, &kept).is_empty());
    }

    #[test]
    fn what_differs_is_counted_in_words() {
        let before = fields("a", &[("1", "2"), ("3", "4")], "{}");
        let after = fields("b", &[("1", "3"), ("5", "6"), ("7", "8")], "{}");
        let words = Change::between(&before, &after).in_words();
        assert_eq!(words, "name, mapping +2 ~1 -1");
        assert_eq!(Change::between(&before, &before).in_words(), "");
    }
}
