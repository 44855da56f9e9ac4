//! Builds SQL from a filter, with its parameters.

use crate::database::Value;

/// A statement under construction; `*` stands for the columns of what is read.
pub(super) struct Select {
    text: String,
    joint: &'static str,
    values: Vec<Value>,
}

impl Select {
    pub(super) fn from(table: &str) -> Self {
        Self {
            text: format!("SELECT * FROM {table}"),
            joint: " WHERE ",
            values: Vec::new(),
        }
    }

    pub(super) fn only(mut self, condition: &str) -> Self {
        self.text += self.joint;
        self.text += condition;
        self.joint = " AND ";
        self
    }

    /// `None` matches all.
    pub(super) fn and(mut self, comparison: &str, value: Option<impl Into<Value>>) -> Self {
        let Some(value) = value else {
            return self;
        };
        self.values.push(value.into());
        let number = self.values.len();
        self.only(&format!("{comparison} ${number}"))
    }

    pub(super) fn newest_first(
        mut self,
        column: &str,
        limit: Option<usize>,
    ) -> (String, Vec<Value>) {
        self.values.push(limit.unwrap_or(usize::MAX).into());
        let number = self.values.len();
        let text = format!("{} ORDER BY {column} DESC LIMIT ${number}", self.text);
        (text, self.values)
    }
}
