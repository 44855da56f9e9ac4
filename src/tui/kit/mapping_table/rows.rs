//! One row of the table: its current values, and those when the edit began.

use crate::domain::change::Mark;

use super::Column;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappingRow {
    /// Schema id.
    pub key: String,
    /// Data source id.
    pub value: String,
    /// Key and value when the edit began; `None`: added since.
    pub before: Option<(String, String)>,
    /// Marked for removal; remains visible until the change is sent.
    pub is_dropped: bool,
}

impl MappingRow {
    pub(super) fn known(key: &str, value: &str) -> Self {
        Self {
            before: Some((key.to_owned(), value.to_owned())),
            ..Self::added(key, value)
        }
    }

    pub(super) fn added(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: value.to_owned(),
            before: None,
            is_dropped: false,
        }
    }

    pub fn cell(&self, column: Column) -> &String {
        match column {
            Column::Key => &self.key,
            Column::Value => &self.value,
        }
    }

    pub(super) fn cell_mut(&mut self, column: Column) -> &mut String {
        match column {
            Column::Key => &mut self.key,
            Column::Value => &mut self.value,
        }
    }

    pub(super) fn is_new_and_empty(&self) -> bool {
        self.before.is_none() && self.key.is_empty() && self.value.is_empty()
    }

    /// How the row differs from what was known.
    pub fn mark(&self) -> Mark {
        match &self.before {
            _ if self.is_dropped => Mark::Removed,
            None => Mark::Added,
            Some((key, value)) if *key == self.key && *value == self.value => Mark::Same,
            Some(_) => Mark::Changed,
        }
    }

    /// The remark beside the row, if any: "was 40".
    pub(super) fn remark(&self) -> Option<String> {
        match (self.mark(), &self.before) {
            (Mark::Removed, _) => Some("will be removed".into()),
            (Mark::Added, _) => Some("new".into()),
            (Mark::Changed, Some((key, value))) if *key == self.key => Some(format!("was {value}")),
            (Mark::Changed, Some((key, value))) if *value == self.value => {
                Some(format!("schema was {key}"))
            }
            (Mark::Changed, Some((key, value))) => Some(format!("was {key} = {value}")),
            (Mark::Same | Mark::Changed, _) => None,
        }
    }
}
