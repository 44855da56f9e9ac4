//! What is shown before a file is imported: new ids that resemble known ones and cells that only a spreadsheet
//! writes, because nobody can delete the groups that they create (hazard 1 of docs/design/service.md); and what the rows would empty,
//! as a file does by accident in which every cell is quoted.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{
    cli::commands::prelude::*,
    domain::{
        annotation::AnnotationPlan,
        group::{Mapping, Properties},
        text::skeleton,
    },
    formats::{GroupRow, RowPlan},
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
    /// Its fields with something that only a spreadsheet writes.
    pub(crate) spreadsheet: Vec<&'static str>,
}

shape! {
    pub(super) ODDITIES = "", "";
    pub(super) fn of_row(odd: &Oddities) {
        maybe "resembles": texts = Some(&odd.resembles).filter(|all| !all.is_empty()), "known IDs that this new ID resembles; only present if there are any";
        maybe "spreadsheet_cells": texts = Some(&odd.spreadsheet).filter(|all| !all.is_empty()), "ID, name, mapping, property or note: fields with values that only a spreadsheet writes, such as #N/A or 1.2E+11; only present if there are any";
    }

    pub(super) ODD = "", "";
    /// What is odd about all rows.
    pub(super) fn odd(losses: &Losses, resembling: &Resembling, cells: &SpreadsheetCells) {
        "emptied": {EMPTIED} = emptied(losses), "number of known values that become empty or are removed";
        "resembling": number = resembling.count, "new IDs that resemble known ones";
        "spreadsheet_cells": number = cells.0, "cells with values that only a spreadsheet writes";
    }
}

/// Finds new ids that resemble known ones.
#[derive(Default)]
pub(crate) struct Resembling {
    known: Vec<UserGroupId>,
    /// The known ids by what is left without leading zeros, case and separators.
    plain: HashMap<String, usize>,
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
        if !self.is_read {
            self.known = session.operations.known_ids().await?;
            let plain = self.known.iter().map(|id| plain_form(id.as_str()));
            self.plain = plain.zip(0..).collect();
            self.is_read = true;
        }
        let near = self.near(id);
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

    fn near(&mut self, id: &UserGroupId) -> Vec<&UserGroupId> {
        self.compared += self.known.len();
        if self.compared <= COMPARED {
            return similar(id.as_str(), &self.known, NEAR);
        }
        let same = self.plain.get(&plain_form(id.as_str()));
        let same = same.and_then(|at| self.known.get(*at));
        same.filter(|known| *known != id).into_iter().collect()
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

/// Counts cells that only a spreadsheet writes.
#[derive(Default)]
pub(crate) struct SpreadsheetCells(pub(crate) usize);

impl SpreadsheetCells {
    /// Reports such cells of a row, and returns their fields.
    pub(crate) fn check(&mut self, number: usize, row: &GroupRow) -> Vec<&'static str> {
        let mut fields = Vec::new();
        // Single rows were laid over what is known, which is not of the file.
        let mapping = row.fields.mapping.iter().flatten();
        let mapping = mapping.filter(|_| row.parts.map.is_empty());
        let properties = row.parts.properties.iter();
        let texts = [("ID", row.id.as_str())]
            .into_iter()
            .chain(row.fields.name.as_deref().map(|name| ("name", name)))
            .chain(row.annotation.note.as_deref().map(|note| ("note", note)))
            .chain(mapping.flat_map(|(key, value)| [("mapping", &**key), ("mapping", &**value)]))
            .chain(row.parts.map.iter().map(|(_, cell)| ("mapping", &**cell)))
            .chain(properties.map(|(_, cell)| ("property", &**cell)));
        for (field, text) in texts {
            let Some(what) = spreadsheet(text) else {
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
        let cells = if self.0 == 1 {
            "cell contains"
        } else {
            "cells contain"
        };
        (self.0 > 0).then(|| format!("! {} {cells} what only a spreadsheet writes", self.0))
    }
}

/// What a spreadsheet wrote in the place of the value.
fn spreadsheet(text: &str) -> Option<&'static str> {
    const ERRORS: [&str; 10] = [
        "#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!",
        "#BEZUG!",
    ];
    let text = text.trim();
    if ERRORS.iter().any(|error| text.eq_ignore_ascii_case(error)) {
        return Some("an error of a spreadsheet");
    }
    if text.len() > 1 && text.bytes().all(|byte| byte == b'#') {
        return Some("a cell that was too narrow for its value");
    }
    let (number, exponent) = text.split_once(['E', 'e'])?;
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = number.split(['.', ',']).collect();
    let is_short = match parts[..] {
        [whole] => is_number(whole) && whole.len() == 1,
        [whole, rest] => is_number(whole) && whole.len() == 1 && is_number(rest),
        _ => false,
    };
    let exponent = exponent.strip_prefix('+')?;
    (is_short && is_number(exponent)).then_some("a number that a spreadsheet shortened")
}

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
        let verb = |count: usize, one: &'static str, many| if count == 1 { one } else { many };
        let become_empty = |count: usize, one: &str| {
            let verb = verb(count, "becomes", "become");
            (count, format!("{} {verb} empty", counted(count, one)))
        };
        let groups = |count: usize| counted(count, "group");
        let properties = format!("the properties of {} become empty", groups(self.properties));
        let property = verb(self.values, "property becomes", "properties become");
        let notes = counted(self.notes, "note");
        let are = verb(self.notes, "is", "are");
        let parts = [
            become_empty(self.names, "name"),
            become_empty(self.mappings, "mapping"),
            become_empty(self.rows, "mapping row"),
            (self.properties, properties),
            (
                self.values,
                format!("{} single {property} empty", self.values),
            ),
            (self.notes, format!("{notes} {are} removed")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_spreadsheet_writes_is_found() {
        for text in [
            "#N/A", "#REF!", " #n/a ", "1.2E+11", "1,2E+11", "5E+10", "####",
        ] {
            assert!(spreadsheet(text).is_some(), "{text}");
        }
        for text in [
            "#", "E+1", "acme-e+1", "12E+11", "1.2E11", "1e5", "00123", "N/A", "",
        ] {
            assert!(spreadsheet(text).is_none(), "{text}");
        }
    }

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
            known: vec![id("00123"), id("acme")],
            plain: [(plain_form("00123"), 0), (plain_form("acme"), 1)].into(),
            compared: COMPARED,
            is_read: true,
            count: 0,
        };
        assert_eq!(many.near(&id("123")), [&id("00123")]);
        assert!(many.near(&id("acme")).is_empty());
    }
}
