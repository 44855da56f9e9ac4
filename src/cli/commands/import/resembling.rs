//! What is shown before a file is imported: new ids that resemble known ones and cells that a spreadsheet may have
//! changed, because nobody can delete the groups that they create (hazard 1 of docs/design/service.md); and what the rows would empty
//! or remove, as a file does by accident in which every cell is quoted.

use std::collections::HashMap;

use crate::{
    cli::commands::prelude::*,
    domain::spreadsheet,
    domain::{
        annotation::AnnotationPlan,
        group::{Mapping, Properties},
        text::skeleton,
    },
    formats::RowPlan,
    search::suggest::similar,
};

/// How many rows are named.
const NAMED: usize = 20;
/// How many known ids are named for one row.
const NEAR: usize = 3;
/// How many ids are compared letter by letter; beyond that only those that differ in zeros, case or separators are found.
const COMPARED: usize = 2_000_000;

/// What is odd about one row.
#[derive(Default)]
pub(crate) struct Oddities {
    /// The known ids that its new id resembles.
    pub(crate) resembles: Vec<String>,
    /// Its fields with something that a spreadsheet may have changed.
    pub(crate) spreadsheet: Vec<&'static str>,
}

shape! {
    pub(super) ODDITIES = "", "";
    pub(super) fn of_row(odd: &Oddities) {
        maybe "resembles": texts = Some(&odd.resembles).filter(|all| !all.is_empty()), "known IDs that this new ID resembles; only present if there are any";
        maybe "spreadsheet_cells": texts = Some(&odd.spreadsheet).filter(|all| !all.is_empty()), "ID, name, mapping, property or note: fields with values that a spreadsheet may have changed, such as #N/A, 1.2E+11 or Mar-26; only present if there are any";
    }

    pub(super) ODD = "", "";
    /// What is odd about all rows.
    pub(super) fn odd(losses: &Losses, resembling: &Resembling, cells: &SpreadsheetCells) {
        "emptied": {EMPTIED} = emptied(losses), "number of known values that become empty or are removed";
        "resembling": number = resembling.count, "new IDs that resemble known ones";
        "spreadsheet_cells": number = cells.0, "cells that a spreadsheet may have changed";
    }
}

/// Finds new ids that resemble known ones.
#[derive(Default)]
pub(crate) struct Resembling {
    known: Vec<UserGroupId>,
    /// The known ids by what is left without leading zeros, case and separators.
    plain: HashMap<String, Vec<usize>>,
    compared: usize,
    is_read: bool,
    pub(crate) count: usize,
}

impl Resembling {
    /// Reports a new id that resembles known ones, and returns them.
    pub(crate) async fn check(
        &mut self,
        session: &Session,
        number: usize,
        id: &UserGroupId,
    ) -> Result<Vec<String>, CliError> {
        let near = self.near(session, id).await?;
        if near.is_empty() {
            return Ok(Vec::new());
        }
        let shown: Vec<_> = near.iter().map(|id| format!("\"{id}\"")).collect();
        let near = near.iter().map(|id| id.as_str().to_owned()).collect();
        self.count += 1;
        if self.count <= NAMED {
            let near = shown.join(", ");
            output::context(&format!(
                "! row {number}: \"{id}\" is new and resembles known IDs: {near}"
            ));
        }
        Ok(near)
    }

    /// The known ids that this one resembles.
    pub(crate) async fn near(
        &mut self,
        session: &Session,
        id: &UserGroupId,
    ) -> Result<Vec<&UserGroupId>, CliError> {
        if !self.is_read {
            self.read(session.operations.known_ids().await?);
        }
        Ok(self.near_of_read(id))
    }

    fn read(&mut self, known: Vec<UserGroupId>) {
        for (at, id) in known.iter().enumerate() {
            let same = self.plain.entry(plain_form(id.as_str())).or_default();
            same.push(at);
        }
        self.known = known;
        self.is_read = true;
    }

    fn near_of_read(&mut self, id: &UserGroupId) -> Vec<&UserGroupId> {
        self.compared += self.known.len();
        if self.compared <= COMPARED {
            return similar(id.as_str(), &self.known, NEAR);
        }
        let same = self.plain.get(&plain_form(id.as_str()));
        let same = same.into_iter().flatten();
        let same = same.filter_map(|at| self.known.get(*at));
        same.filter(|known| *known != id).take(NEAR).collect()
    }

    pub(crate) fn in_words(&self) -> Option<String> {
        let count = self.count;
        let resembles = if count == 1 {
            "resembles a known one"
        } else {
            "resemble known ones"
        };
        (count > 0).then(|| format!("! {} {resembles}", counted(count, "new ID")))
    }
}

fn plain_form(id: &str) -> String {
    // In a skeleton a zero is an o.
    let letters = skeleton(id.trim_start_matches('0'));
    letters.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Counts cells that a spreadsheet may have changed.
#[derive(Default)]
pub(crate) struct SpreadsheetCells(pub(crate) usize);

impl SpreadsheetCells {
    /// Reports such cells of a row, and returns their fields. `known` are the values of its group if the service has
    /// it; then its ID was not changed.
    pub(crate) fn check(
        &mut self,
        number: usize,
        row: &GroupRow,
        known: Option<&DesiredFields>,
    ) -> Vec<&'static str> {
        let mut fields = Vec::new();
        let id = known.is_none().then_some(("ID", row.id.as_str()));
        let name = row.fields.name.as_deref();
        let known_name = known.and_then(|known| known.name.as_deref());
        let name = name.filter(|name| known_name != Some(*name));
        // Single rows were laid over what is known, which is not of the file.
        let mapping = row.fields.mapping.iter().flatten();
        let mapping = mapping.filter(|_| row.parts.map.is_empty());
        let singles = row.parts.map.iter().map(|(key, cell)| (key, cell));
        let known_source = |key: &String| known?.mapping.as_ref()?.get(key);
        let mapping = mapping.chain(singles);
        let mapping = mapping.filter(|(key, value)| known_source(key) != Some(*value));
        let whole = row.fields.properties.iter().flatten();
        let whole = whole.filter(|_| row.parts.properties.is_empty());
        let whole = whole.filter(|(key, value)| property(known, key) != Some(*value));
        let keys = row.parts.properties.iter().map(|(key, _)| key);
        let keys = keys.filter(|key| property(known, key).is_none());
        let texts = id
            .into_iter()
            .chain(name.map(|name| ("name", name)))
            .chain(row.annotation.note.as_deref().map(|note| ("note", note)))
            .chain(mapping.flat_map(|(key, value)| [("mapping", &**key), ("mapping", &**value)]))
            .chain(whole.flat_map(|(key, value)| {
                [&**key, value.as_str().unwrap_or_default()].map(|text| ("property", text))
            }))
            .chain(keys.map(|key| ("property", &**key)));
        let texts = texts.map(|(field, text)| (field, text, spreadsheet::changed(field, text)));
        let properties = row.parts.properties.iter().map(|(key, cell)| {
            let values = (property(known, key), property(Some(&row.fields), key));
            // A value of JSON.
            let odd = || spreadsheet::changed("property", cell);
            let is_new = values.0 != values.1 && values.1 != Some(&Value::Null);
            let what = is_new.then(odd).flatten();
            let what = what.or_else(|| changed_type(values, cell));
            ("property", &**cell, what)
        });
        let others = known.map(|known| spreadsheet::spelled_otherwise(&row.fields, known));
        let others = others.into_iter().flatten();
        let others = others.map(|(field, key)| (field, key, Some(spreadsheet::SPELLED_OTHERWISE)));
        for (field, text, what) in texts.chain(properties).chain(others) {
            let Some(what) = what else {
                continue;
            };
            self.0 += 1;
            fields.push(field);
            if self.0 <= NAMED {
                output::context(&format!(
                    "! row {number}: the {field} \"{}\" is {what}",
                    visible(text)
                ));
            }
        }
        fields
    }

    pub(crate) fn in_words(&self) -> Option<String> {
        let cells = counted(self.0, "cell");
        (self.0 > 0).then(|| format!("! a spreadsheet or a program may have changed {cells}"))
    }
}

fn property<'f>(fields: Option<&'f DesiredFields>, key: &str) -> Option<&'f Value> {
    fields?.properties.as_ref()?.get(key)
}

/// What is odd about the cell of a single property, given its known and its new value.
fn changed_type(values: (Option<&Value>, Option<&Value>), cell: &str) -> Option<&'static str> {
    match values {
        _ if cell.is_empty() || values.0 == values.1 => None,
        (_, Some(Value::Null)) => None,
        (Some(Value::Bool(_)), Some(new)) if !new.is_boolean() => {
            Some("neither true nor false, unlike the known value")
        }
        (Some(Value::Number(_)), Some(new)) if !new.is_number() => {
            Some("not a number, unlike the known value")
        }
        (_, Some(Value::String(_))) if cell.starts_with(['{', '[']) => {
            Some("a string, although it begins like JSON")
        }
        (None, Some(Value::String(_))) => spreadsheet::truth(cell),
        _ => None,
    }
}

/// How many values become empty or are removed.
#[derive(Default)]
pub(super) struct Losses {
    names: usize,
    mappings: usize,
    properties: usize,
    /// Rows of a mapping, and single properties, of groups that keep others.
    rows: Keys,
    values: Keys,
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
        self.rows.count(was, is, String::is_empty);
        let [was, is] = [base, wanted].map(|all| all.properties.as_ref());
        self.values.count(was, is, is_nothing);
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
        let verb = |count: usize, one: &'static str, many| if count == 1 { one } else { many };
        let become_empty = |count: usize, one: &str| {
            let verb = verb(count, "becomes", "become");
            (count, format!("{} {verb} empty", counted(count, one)))
        };
        let groups = |count: usize| counted(count, "group");
        let properties = format!("the properties of {} become empty", groups(self.properties));
        let single =
            |count: usize| format!("{count} single {}", verb(count, "property", "properties"));
        let values = self.values.emptied;
        let become_of_value = verb(values, "becomes", "become");
        let removed = |count: usize, what: String| {
            (
                count,
                format!("{what} {} removed", verb(count, "is", "are")),
            )
        };
        let (rows, no_values) = (self.rows.removed, self.values.removed);
        let parts = [
            become_empty(self.names, "name"),
            become_empty(self.mappings, "mapping"),
            become_empty(self.rows.emptied, "mapping row"),
            removed(rows, counted(rows, "mapping row")),
            (self.properties, properties),
            (
                values,
                format!("{} {become_of_value} empty", single(values)),
            ),
            removed(no_values, single(no_values)),
            removed(self.notes, counted(self.notes, "note")),
            (
                self.labels,
                format!("the labels of {} are removed", groups(self.labels)),
            ),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = parts.map(|(_, text)| text).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// How many keys have an empty value in place of one that says something, and how many are no longer there.
#[derive(Default)]
struct Keys {
    emptied: usize,
    removed: usize,
}

impl Keys {
    /// A field that loses all of its keys is counted as a whole.
    fn count<'f, F, V: 'f>(
        &mut self,
        was: Option<&'f F>,
        is: Option<&'f F>,
        is_nothing: fn(&V) -> bool,
    ) where
        &'f F: IntoIterator<Item = (&'f String, &'f V)>,
    {
        let (Some(was), Some(is)) = (was, is) else {
            return;
        };
        let is: HashMap<_, _> = is.into_iter().collect();
        for (key, value) in was {
            let now = is.get(key).copied();
            self.removed += usize::from(now.is_none() && !is.is_empty());
            self.emptied += usize::from(!is_nothing(value) && now.is_some_and(is_nothing));
        }
    }
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
        "mapping_rows": number = losses.rows.emptied, "mapping rows whose data source becomes empty";
        "mapping_rows_removed": number = losses.rows.removed, "mapping rows that are removed from groups that keep others";
        "properties": number = losses.properties, "groups whose properties become empty";
        "single_properties": number = losses.values.emptied, "single properties that become empty";
        "single_properties_removed": number = losses.values.removed, "single properties that are removed from groups that keep others";
        "notes": number = losses.notes, "notes";
        "labels": number = losses.labels, "groups that lose their labels";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_case_and_separators_make_no_other_id() {
        for (one, other) in [
            ("123", "00123"),
            ("Acme_EU", "acme-eu"),
            ("\u{430}cme", "acme"),
        ] {
            assert_eq!(plain_form(one), plain_form(other), "{one}");
        }
        let id = |text: &str| UserGroupId::parse(text).expect("an ID");
        let mut many = Resembling {
            compared: COMPARED,
            ..Resembling::default()
        };
        many.read(vec![id("00123"), id("acme"), id("globex"), id("Globex")]);
        assert_eq!(many.near_of_read(&id("123")), [&id("00123")]);
        assert!(many.near_of_read(&id("acme")).is_empty());
        // One that is itself known, from a file.
        assert_eq!(many.near_of_read(&id("Globex")), [&id("globex")]);
        assert_eq!(many.near_of_read(&id("globex")), [&id("Globex")]);
    }
}
