//! The request in the review: JSON with colours, and a sign before each row that changes.

use std::collections::HashMap;

use ratatui::style::Style;

use super::Review;
use crate::{
    domain::change::{Change, Mark},
    tui::{
        kit::text_page::{self, TextPage},
        state::context::Context,
        theme::Theme,
    },
};

impl Review {
    /// "PUT https://.../api/user".
    pub(super) fn request_line(&self, context: &Context) -> String {
        let url = context.profile().map(crate::config::profile::Profile::url);
        format!("{} {}", self.method().as_str(), url.unwrap_or_default())
    }

    /// "PUT /api/user": the part that the confirmation does not contain.
    pub(super) fn request_title(&self, context: &Context) -> String {
        let url = context.profile().map(crate::config::profile::Profile::url);
        let url = url.unwrap_or_default();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        format!("Request  {} /{path}", self.method().as_str())
    }

    /// Writes the body line by line.
    pub(super) fn write_body(&self, page: &mut TextPage, context: &Context) {
        let text = self.request_text();
        let marks = marks_of(&self.change);
        let mut field = "";
        page.json(text.lines().map(|line| {
            // Pretty-printed JSON: two blanks before a field, four before a row of it.
            let depth = line.len() - line.trim_start().len();
            let key = key_of(line);
            if depth == 2 {
                field = match key.as_deref() {
                    Some("name") => "name",
                    Some("mapping") => "mapping",
                    Some("properties") => "properties",
                    _ => "",
                };
            }
            let is_row = depth == if field == "name" { 2 } else { 4 };
            let key = key.filter(|_| is_row);
            let mark = key.and_then(|key| marks.get(&(field, key.as_str())).copied());
            (mark.map(|mark| sign(mark, context.theme)), line)
        }));
    }
}

/// The key at the beginning of a line.
fn key_of(line: &str) -> Option<String> {
    let mut parts = serde_json::Deserializer::from_str(line.trim_start()).into_iter::<String>();
    let key = parts.next()?.ok()?;
    line.trim_start()[parts.byte_offset()..]
        .starts_with(':')
        .then_some(key)
}

/// The marks of the rows that change, by field and key.
fn marks_of(change: &Change) -> HashMap<(&'static str, &str), Mark> {
    let fields = change.fields().into_iter();
    let rows = fields.flat_map(|(field, rows)| rows.rows().iter().map(move |row| (field, row)));
    let marks = rows.map(|(field, row)| ((field, row.key.as_str()), row.mark()));
    marks.filter(|(_, mark)| *mark != Mark::Same).collect()
}

fn sign(mark: Mark, theme: Theme) -> (char, Style) {
    (mark.sign(), text_page::style(mark, theme))
}
