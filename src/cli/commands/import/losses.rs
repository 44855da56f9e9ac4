//! What the rows of a file would empty: names, mappings, single rows, properties, notes and labels that are there now. A file in which
//! every cell is quoted empties them by accident.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    cli::output::shape::shape,
    domain::{
        annotation::AnnotationPlan,
        group::{Mapping, Properties},
        text::counted,
    },
    formats::RowPlan,
};

/// How many values become empty or are removed.
#[derive(Default)]
pub(super) struct Losses {
    names: usize,
    mappings: usize,
    properties: usize,
    /// Rows of a mapping, and single properties, of groups that keep others.
    rows: usize,
    values: usize,
    notes: usize,
    labels: usize,
}

impl Losses {
    pub(super) fn count(&mut self, planned: &RowPlan, annotations: &AnnotationPlan) {
        let (base, wanted) = (&planned.base, &planned.wanted);
        let is_lost = |was: Option<bool>, is: Option<bool>| was == Some(false) && is == Some(true);
        let name = |name: &Option<String>| name.as_ref().map(String::is_empty);
        self.names += usize::from(is_lost(name(&base.name), name(&wanted.name)));
        let [was, is] = [base, wanted].map(|all| all.mapping.as_ref().map(Mapping::is_empty));
        self.mappings += usize::from(is_lost(was, is));
        let [was, is] = [base, wanted].map(|all| all.properties.as_ref().map(Properties::is_empty));
        self.properties += usize::from(is_lost(was, is));
        let [was, is] = [base, wanted].map(|all| all.mapping.as_ref());
        self.rows += count_emptied(was, is, String::is_empty);
        let [was, is] = [base, wanted].map(|all| all.properties.as_ref());
        self.values += count_emptied(was, is, is_nothing);
        self.annotations(annotations);
    }

    /// Counts notes and labels alone.
    pub(super) fn annotations(&mut self, annotations: &AnnotationPlan) {
        for one in &annotations.changed {
            let is_removed = match &one.wanted {
                Value::Array(labels) => labels.is_empty(),
                one => is_nothing(one),
            };
            if !(is_removed && one.is_replacement()) {
                continue;
            }
            match one.column {
                "note" => self.notes += 1,
                "labels" => self.labels += 1,
                _ => {}
            }
        }
    }

    /// For example `3 names become empty, 12 notes are removed`.
    pub(super) fn in_words(&self) -> Option<String> {
        let become_empty = |count: usize, one: &str| {
            let verb = if count == 1 { "becomes" } else { "become" };
            (count > 0).then(|| format!("{} {verb} empty", counted(count, one)))
        };
        let are_removed = |count: usize, one: &str| {
            let verb = if count == 1 { "is" } else { "are" };
            (count > 0).then(|| format!("{} {verb} removed", counted(count, one)))
        };
        let properties = (self.properties > 0).then(|| {
            format!(
                "the properties of {} become empty",
                counted(self.properties, "group")
            )
        });
        let labels = (self.labels > 0).then(|| {
            format!(
                "the labels of {} are removed",
                counted(self.labels, "group")
            )
        });
        let parts = [
            become_empty(self.names, "name"),
            become_empty(self.mappings, "mapping"),
            become_empty(self.rows, "mapping row"),
            properties,
            (self.values > 0).then(|| {
                let [what, verb] = if self.values == 1 {
                    ["property", "becomes"]
                } else {
                    ["properties", "become"]
                };
                format!("{} single {what} {verb} empty", self.values)
            }),
            are_removed(self.notes, "note"),
            labels,
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// How many keys have an empty value in place of one that says something.
fn count_emptied<'f, F, V: 'f>(
    was: Option<&'f F>,
    is: Option<&'f F>,
    is_nothing: fn(&V) -> bool,
) -> usize
where
    &'f F: IntoIterator<Item = (&'f String, &'f V)>,
{
    let (Some(was), Some(is)) = (was, is) else {
        return 0;
    };
    let said = was.into_iter().filter(|(_, value)| !is_nothing(value));
    let said: HashSet<_> = said.map(|(key, _)| key).collect();
    let nothing = is.into_iter().filter(|(_, value)| is_nothing(value));
    nothing.filter(|(key, _)| said.contains(key)).count()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

shape! {
    pub(super) EMPTIED = "", "";
    /// For programs; a count of zero is also there.
    pub(super) fn emptied(losses: &Losses) {
        "names": number = losses.names, "names";
        "mappings": number = losses.mappings, "mappings";
        "mapping_rows": number = losses.rows, "mapping rows whose data source becomes empty";
        "properties": number = losses.properties, "groups whose properties become empty";
        "single_properties": number = losses.values, "single properties that become empty";
        "notes": number = losses.notes, "notes";
        "labels": number = losses.labels, "groups that lose their labels";
    }
}
