//! The request as the review shows it: JSON in its colours, with a sign before each row that changes.

use ratatui::style::Style;

use super::Review;
use crate::{
    domain::change::{Change, Mark},
    tui::{
        state::context::Context,
        theme::Theme,
        widgets::{changes, text_page::TextPage},
    },
};

impl Review {
    /// "PUT https://.../api/user".
    pub(super) fn request_line(&self, context: &Context) -> String {
        let url = context.profile().map(crate::config::profile::Profile::url);
        format!("{} {}", self.method().as_str(), url.unwrap_or_default())
    }

    /// "PUT /api/user": what of it does not stand in the confirmation.
    pub(super) fn request_title(&self, context: &Context) -> String {
        let url = context.profile().map(crate::config::profile::Profile::url);
        let url = url.unwrap_or_default();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        format!("Request  {} /{path}", self.method().as_str())
    }

    /// The body, line by line.
    pub(super) fn write_body(&self, sheet: &mut TextPage, context: &Context) {
        let text = self.request_text();
        let mut field = "";
        sheet.json(text.lines().map(|line| {
            // Pretty-printed: two cells for a field, four for a row of it.
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
            let mark = key.and_then(|key| mark_of(&self.change, field, &key));
            (mark.map(|mark| sign(mark, context.theme)), line)
        }));
    }
}

/// The key with which a line begins.
fn key_of(line: &str) -> Option<String> {
    let mut parts = serde_json::Deserializer::from_str(line.trim_start()).into_iter::<String>();
    let key = parts.next()?.ok()?;
    line.trim_start()[parts.byte_offset()..]
        .starts_with(':')
        .then_some(key)
}

fn mark_of(change: &Change, field: &str, key: &str) -> Option<Mark> {
    let mut fields = change.fields().into_iter();
    let (_, rows) = fields.find(|(name, _)| *name == field)?;
    let row = rows.rows().iter().find(|row| row.key == key)?;
    Some(row.mark()).filter(|mark| *mark != Mark::Same)
}

fn sign(mark: Mark, theme: Theme) -> (char, Style) {
    (mark.sign(), changes::style(mark, theme))
}
