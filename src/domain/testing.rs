//! Helpers for unit tests: tables written as text, and groups.

use jiff::Timestamp;

use super::{
    change::DesiredFields,
    group::{Mapping, UserGroupId},
    known::{Known, KnownGroup, Source},
    token::Fingerprint,
};

/// The rows of a table, one a line, with cells between `|`. `⏎` in a cell is a line break.
pub(crate) fn table<const N: usize>(text: &str) -> Vec<[String; N]> {
    let rows = text.split('\n').filter(|row| !row.trim().is_empty());
    rows.map(|row| {
        let cells = row.split('|').map(|cell| cell.trim().replace('⏎', "\n"));
        let cells: Vec<_> = cells.collect();
        cells.try_into().unwrap_or_else(|_| panic!("{row}"))
    })
    .collect()
}

pub(crate) fn id(text: &str) -> UserGroupId {
    UserGroupId::parse(text).expect("an ID")
}

/// As the service returned it.
pub(crate) fn told<T>(value: T) -> Known<T> {
    Known {
        value,
        source: Source::Returned,
        at: Timestamp::UNIX_EPOCH,
        by: "ana".into(),
    }
}

pub(crate) fn group(text: &str, name: &str) -> KnownGroup {
    KnownGroup {
        name: (!name.is_empty()).then(|| told(name.to_owned())),
        ..KnownGroup::new(id(text))
    }
}

pub(crate) fn mapping(rows: &[(&str, &str)]) -> Mapping {
    let rows = rows.iter();
    rows.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

pub(crate) fn only_name(name: &str) -> DesiredFields {
    DesiredFields {
        name: Some(name.into()),
        ..DesiredFields::default()
    }
}

/// All three fields; the properties are a text of JSON.
pub(crate) fn fields(name: &str, rows: &[(&str, &str)], properties: &str) -> DesiredFields {
    DesiredFields {
        mapping: Some(mapping(rows)),
        properties: Some(serde_json::from_str(properties).expect("an object")),
        ..only_name(name)
    }
}

pub(crate) const fn fingerprint(byte: u8) -> Fingerprint {
    Fingerprint::from_bytes([byte; 32])
}
