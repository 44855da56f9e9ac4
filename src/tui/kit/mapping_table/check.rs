//! Checks the rows of a mapping. The service's own rules are not known (docs/design/service.md, "Unknown"), so that
//! only what cannot be intended is rejected.

use std::collections::HashMap;

use super::{Column, MappingRow};
use crate::intake::json_key::RESERVED;

/// A problem that prevents the mapping from being sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {}: {text}", row + 1)]
pub struct Problem {
    /// Index of the row.
    pub row: usize,
    pub column: Column,
    pub text: String,
}

pub(super) fn problems(rows: &[MappingRow]) -> Vec<Problem> {
    let mut first_with: HashMap<&str, usize> = HashMap::new();
    let mut problems = Vec::new();
    for (row, content) in rows.iter().enumerate() {
        if content.is_dropped {
            continue;
        }
        let mut report = |column, text: String| problems.push(Problem { row, column, text });
        if content.key.is_empty() {
            report(Column::Key, "schema ID is empty".into());
        } else if content.key.starts_with(RESERVED) {
            let text = "This schema ID cannot be sent; use another name";
            report(Column::Key, text.into());
        } else if let Some(first) = first_with.get(content.key.as_str()) {
            report(Column::Key, format!("same schema ID as row {}", first + 1));
        } else {
            first_with.insert(&content.key, row);
        }
        if content.value.is_empty() {
            report(Column::Value, "data source ID is empty".into());
        }
    }
    problems
}
