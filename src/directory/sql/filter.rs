//! Texts that are put together from a filter, with their parameters.

use super::{HISTORY, OPEN, ROTATIONS};
use crate::directory::{HistoryFilter, PlaceId, RotationFilter};

/// A parameter of a text that is put together from a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::directory) enum Parameter {
    Text(String),
    Integer(i64),
}

pub(in crate::directory) fn history(filter: HistoryFilter) -> (String, Vec<Parameter>) {
    let mut select = Select::new(HISTORY);
    select.and_place(filter.place);
    select.and_text(
        "user_group_id =",
        filter.user_group_id.map(|id| id.as_str().to_owned()),
    );
    if let Some(before) = filter.before {
        select.and("number <", Parameter::Integer(before));
    }
    select.newest_first("number", filter.limit)
}

pub(in crate::directory) fn rotations(filter: RotationFilter) -> (String, Vec<Parameter>) {
    let mut select = Select::new(ROTATIONS);
    select.and_place(filter.place);
    select.and_text(
        "user_group_id =",
        filter.user_group_id.map(|id| id.as_str().to_owned()),
    );
    if filter.open_only {
        select.condition(OPEN);
    }
    select.and_text(
        "handoff =",
        filter.handoff.map(|state| state.as_str().to_owned()),
    );
    select.newest_first("id", filter.limit)
}

struct Select {
    text: String,
    joint: &'static str,
    parameters: Vec<Parameter>,
}

impl Select {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            joint: " WHERE ",
            parameters: Vec::new(),
        }
    }

    fn condition(&mut self, condition: &str) {
        self.text.push_str(self.joint);
        self.text.push_str(condition);
        self.joint = " AND ";
    }

    fn and(&mut self, comparison: &str, parameter: Parameter) {
        self.parameters.push(parameter);
        self.condition(&format!("{comparison} ${}", self.parameters.len()));
    }

    fn and_place(&mut self, place: Option<PlaceId>) {
        if let Some(place) = place {
            self.and("place =", Parameter::Integer(place.0));
        }
    }

    fn and_text(&mut self, comparison: &str, text: Option<String>) {
        if let Some(text) = text {
            self.and(comparison, Parameter::Text(text));
        }
    }

    fn newest_first(mut self, column: &str, limit: Option<usize>) -> (String, Vec<Parameter>) {
        let limit = limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        self.parameters.push(Parameter::Integer(limit));
        let text = format!(
            "{} ORDER BY {column} DESC LIMIT ${}",
            self.text,
            self.parameters.len()
        );
        (text, self.parameters)
    }
}
