//! Encodes what a batch does as text in its row and in the rows of its items. These formats must not change.

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::{
    directory::BatchOptions,
    domain::{
        batch::{BatchKind, BulkChange, ItemEdit, OnlyWhere, Target},
        change::DesiredFields,
        group::{Mapping, Properties},
        merge::Part,
    },
};

const ROTATE: &str = "rotate";
const EDIT: &str = "edit";

/// `{"field": "mapping", "key": "40", "to": "214", "where": "213"}`. A null `to` removes the row, a null `where` means
/// that there is no row, and without `where` any value matches. A reverse edit has `reverses` instead of `to`.
#[derive(Serialize, Deserialize)]
struct StoredChange {
    field: String,
    key: String,
    #[serde(default)]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reverses: Option<i64>,
    #[serde(
        default,
        rename = "where",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    #[expect(clippy::option_option, reason = "null and absent differ")]
    only_where: Option<Option<String>>,
    #[serde(default)]
    options: BatchOptions,
}

/// Of a rotation this is all, and of any batch this is read alone: `{"options": {"rate": 5.0, "token_out": true}}`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredOptions {
    options: BatchOptions,
}

/// The options of a batch; none were stored by an older version.
pub(super) fn options(change: Option<&str>) -> BatchOptions {
    let stored = change.and_then(|text| serde_json::from_str::<StoredOptions>(text).ok());
    stored.unwrap_or_default().options
}

#[expect(clippy::option_option, reason = "null and absent differ")]
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Serialize, Deserialize)]
struct StoredItem {
    name: Option<String>,
    mapping: Option<Mapping>,
    properties: Option<Properties>,
    to: Option<String>,
}

pub(super) fn kind_word(kind: &BatchKind) -> &'static str {
    match kind {
        BatchKind::Rotate => ROTATE,
        BatchKind::Edit(_) => EDIT,
    }
}

pub(super) fn change_text(kind: &BatchKind, options: &BatchOptions) -> Option<String> {
    let BatchKind::Edit(change) = kind else {
        return serde_json::to_string(&StoredOptions { options: *options }).ok();
    };
    let (to, reverses) = match &change.to {
        Target::Value(value) => (value.clone(), None),
        Target::AsBefore(batch) => (None, Some(*batch)),
    };
    let stored = StoredChange {
        field: change.row.field.as_str().to_owned(),
        key: change.key().to_owned(),
        to,
        reverses,
        only_where: match &change.only_where {
            OnlyWhere::Any => None,
            OnlyWhere::Is(value) => Some(value.clone()),
        },
        options: *options,
    };
    serde_json::to_string(&stored).ok()
}

/// `None` if the word is unknown.
pub(super) fn kind(word: &str, change: Option<&str>) -> Option<BatchKind> {
    match (word, change) {
        (ROTATE, _) => Some(BatchKind::Rotate),
        (EDIT, Some(text)) => {
            let stored: StoredChange = serde_json::from_str(text).ok()?;
            let row = match stored.field.as_str() {
                "mapping" => Part::mapping(stored.key),
                "properties" => Part::property(stored.key),
                _ => return None,
            };
            Some(BatchKind::Edit(BulkChange {
                row,
                to: match stored.reverses {
                    Some(batch) => Target::AsBefore(batch),
                    None => Target::Value(stored.to),
                },
                only_where: stored.only_where.map_or(OnlyWhere::Any, OnlyWhere::Is),
            }))
        }
        _ => None,
    }
}

pub(super) fn item_text(edit: &ItemEdit) -> Result<String, Fault> {
    let base = edit.base.clone();
    let stored = StoredItem {
        name: base.name,
        mapping: base.mapping,
        properties: base.properties,
        to: edit.to.clone(),
    };
    serde_json::to_string(&stored).map_err(|_| Fault::Row("batch_items"))
}

pub(super) fn item(text: &str) -> Option<ItemEdit> {
    let stored: StoredItem = serde_json::from_str(text).ok()?;
    Some(ItemEdit {
        base: DesiredFields {
            name: stored.name,
            mapping: stored.mapping,
            properties: stored.properties,
        },
        to: stored.to,
    })
}
