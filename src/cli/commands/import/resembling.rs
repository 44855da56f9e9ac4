//! New ids that resemble known ones, and cells that only a spreadsheet writes: what a person must see before a file
//! creates groups that nobody can delete (hazard 1 of docs/design/service.md).

use std::collections::HashMap;

use super::losses::{EMPTIED, Losses, emptied};
use crate::{
    cli::{
        error::CliError,
        output::{self, shape::shape},
        session::Session,
    },
    domain::{
        group::UserGroupId,
        text::{counted, skeleton, visible},
    },
    formats::GroupRow,
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
}

shape! {
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
            let plain = self.known.iter().enumerate();
            self.plain = plain
                .map(|(at, id)| (plain_form(id.as_str()), at))
                .collect();
            self.is_read = true;
        }
        let near = self.near(id);
        if near.is_empty() {
            return Ok(Vec::new());
        }
        let near: Vec<_> = near.iter().map(|id| id.as_str().to_owned()).collect();
        self.count += 1;
        if self.count <= NAMED {
            let near: Vec<_> = near
                .iter()
                .map(|id| format!("\"{}\"", visible(id)))
                .collect();
            let near = near.join(", ");
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
        let texts = [("ID", row.id.as_str())]
            .into_iter()
            .chain(row.fields.name.as_deref().map(|name| ("name", name)))
            .chain(row.annotation.note.as_deref().map(|note| ("note", note)))
            .chain(mapping.flat_map(|(key, value)| [("mapping", &**key), ("mapping", &**value)]))
            .chain(row.parts.map.iter().map(|(_, cell)| ("mapping", &**cell)))
            .chain(
                row.parts
                    .properties
                    .iter()
                    .map(|(_, cell)| ("property", &**cell)),
            );
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
