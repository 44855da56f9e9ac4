//! Builds SQL from a filter, with its parameters.

use crate::{database::Value, directory::PlaceId};

/// A statement under construction.
pub(super) struct Select {
    text: String,
    joint: &'static str,
    parameters: Vec<Value>,
}

impl Select {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            joint: " WHERE ",
            parameters: Vec::new(),
        }
    }

    pub(super) fn condition(&mut self, condition: &str) {
        self.text.push_str(self.joint);
        self.text.push_str(condition);
        self.joint = " AND ";
    }

    pub(super) fn and(&mut self, comparison: &str, parameter: Value) {
        self.parameters.push(parameter);
        self.condition(&format!("{comparison} ${}", self.parameters.len()));
    }

    pub(super) fn and_place(&mut self, place: Option<PlaceId>) {
        if let Some(place) = place {
            self.and("place =", Value::Integer(place.0));
        }
    }

    pub(super) fn and_text(&mut self, comparison: &str, text: Option<String>) {
        if let Some(text) = text {
            self.and(comparison, Value::Text(text));
        }
    }

    pub(super) fn newest_first(
        mut self,
        column: &str,
        limit: Option<usize>,
    ) -> (String, Vec<Value>) {
        let limit = limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        self.parameters.push(Value::Integer(limit));
        let text = format!(
            "{} ORDER BY {column} DESC LIMIT ${}",
            self.text,
            self.parameters.len()
        );
        (text, self.parameters)
    }
}
