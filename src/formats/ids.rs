//! The ids of a file: a few bytes of each, to detect duplicates and ids that look the same; and those of any file of
//! groups, whatever else it says about them: what `list`, `export` and other programs write is a list of ids as well.

use std::collections::{HashMap, hash_map::Entry};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Column, csv::Record, drawn, table::Table};
use crate::{
    domain::{group::UserGroupId, text::Skeletons},
    intake::{
        kind::{self, Kind},
        signs,
        text::{self, LineCount},
    },
};

/// The start of a hash: short, but long enough that no two ids of a file share one by accident.
type ShortHash = [u8; 12];

/// Ids with the number of their row.
#[derive(Debug, Default)]
pub struct Ids {
    /// The row and its line.
    rows: HashMap<ShortHash, (u32, u32)>,
    skeletons: Skeletons,
    /// The first row of each appearance, for ids that look alike.
    alike: HashMap<ShortHash, u32>,
}

impl Ids {
    /// Adds an id. Returns an earlier row whose id is different but looks the same.
    ///
    /// # Errors
    ///
    /// Returns the earlier row that has this very id, and its line.
    pub(super) fn add(
        &mut self,
        id: &UserGroupId,
        row: usize,
        line: usize,
    ) -> Result<Option<usize>, (usize, usize)> {
        // No file has this many rows.
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let number = short(row);
        match self.rows.entry(short_hash(id.as_str())) {
            Entry::Occupied(before) => {
                let (row, line) = *before.get();
                return Err((row as usize, line as usize));
            }
            Entry::Vacant(place) => place.insert((number, short(line))),
        };
        let skeleton = self.skeletons.of(id.as_str().trim());
        Ok(match self.alike.entry(short_hash(skeleton)) {
            Entry::Occupied(before) => Some(*before.get() as usize),
            Entry::Vacant(place) => {
                place.insert(number);
                None
            }
        })
    }

    /// Whether one of the rows has this id.
    pub fn has(&self, id: &UserGroupId) -> bool {
        self.rows.contains_key(&short_hash(id.as_str()))
    }
}

fn short_hash(text: &str) -> ShortHash {
    let hash: [u8; 32] = Sha256::digest(text).into();
    std::array::from_fn(|at| hash[at])
}

/// An id as text, with the line or entry where it is, counted from 1.
pub(super) type Found = (usize, String);
/// All of them, and what was read differently from plain CSV.
pub(super) type FoundIds = (Vec<Found>, Option<String>);

/// The ids of a decoded text that is JSON or a table with a column of ids, and what was read differently from plain CSV;
/// `None` if it is a plain list.
///
/// # Errors
///
/// What is wrong with it, without quoting it.
pub fn ids_in(text: &str) -> Result<Option<FoundIds>, String> {
    match kind::of(text) {
        Kind::Array | Kind::Objects => json(text).map(|ids| Some((ids, None))),
        Kind::Lines if is_array(text) => json(text).map(|ids| Some((ids, None))),
        Kind::Lines => match table(text, false) {
            Some(ids) => Ok(Some(ids)),
            None => why_no_list(text).map_or(Ok(None), Err),
        },
    }
}

/// Whether a text is a JSON array of several values that begins like an id in brackets: `[123,"acme"]`.
fn is_array(text: &str) -> bool {
    let is_bracketed = text.trim_start().starts_with('[');
    is_bracketed && serde_json::from_str::<Vec<Value>>(text).is_ok_and(|values| values.len() > 1)
}

/// Why a text is no plain list either: a table that is drawn for reading.
fn why_no_list(text: &str) -> Option<String> {
    let mut lines = text::lines(text).filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    let why = drawn::why_unreadable(first);
    let is_drawn = first.trim().starts_with('|') && first.trim().ends_with('|')
        || [Some(first), lines.next()]
            .into_iter()
            .flatten()
            .any(|line| line.contains(['|', '+']) && drawn::is_rule(line));
    let no_ids = "it is a table without a column user_group_id or id";
    why.or(is_drawn.then_some(no_ids)).map(str::to_owned)
}

/// The ids below a header "id", which is no group.
pub fn ids_below(text: &str) -> Option<Vec<Found>> {
    table(text, true).map(|(ids, _)| ids)
}

fn json(text: &str) -> Result<Vec<Found>, String> {
    let mut ids = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| {
            let sign = signs::at(text, error.line(), error.column());
            let (line, column) = signs::position(text, error.line(), error.column());
            let sign = sign.map_or_else(String::new, |sign| format!(": {sign}"));
            format!("line {line}, column {column}: it is not JSON{sign}")
        })?;
        let entries = match value {
            Value::Array(entries) => entries,
            entry => vec![entry],
        };
        for entry in entries {
            let number = ids.len() + 1;
            ids.push((number, id(entry, number)?));
        }
    }
    Ok(ids)
}

fn id(entry: Value, number: usize) -> Result<String, String> {
    let id = match entry {
        Value::Object(mut object) => object
            .remove(Column::Id.as_str())
            .or_else(|| object.remove("id")),
        text => Some(text),
    };
    match id {
        Some(Value::String(id)) => Ok(id),
        _ => Err(format!(
            "entry {number} of the JSON has no user_group_id that is a string"
        )),
    }
}

fn table(text: &str, is_certain: bool) -> Option<FoundIds> {
    let mut table = Table::of_ids(is_certain);
    let (mut ids, mut lines) = (Vec::new(), LineCount::default());
    let mut take = |table: &Table, record: Option<Record>, line: usize| {
        let id = record.zip(table.header());
        let id = id.and_then(|(record, header)| header.id(record));
        ids.extend(id.filter(|id| !id.is_empty()).map(|id| (line, id)));
    };
    for byte in text.bytes() {
        let record = table.push(byte).ok()?;
        take(&table, record, lines.begin);
        if table.len() == 1 {
            lines.begin = lines.line;
        }
        lines.take(byte);
    }
    let last = table.end().ok()?;
    take(&table, last, lines.begin);
    let remarks = table.remarks();
    table.header().is_some().then_some((ids, remarks))
}
