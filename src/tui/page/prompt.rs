//! A question of one line: a new file, a name, a property. It is in the last rows of a page or a box. What is wrong with
//! the text stays below it, wrapped, until it is typed in again; a job that it starts runs once, and continues when the
//! question is closed.
//!
//! A confirmation in a box of its own, which is as high as its text and the confirmation need.

use std::path::{Path, PathBuf};

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    widgets::{Clear, Widget},
};

use crate::{
    config::paths,
    tui::{
        kit::{boxes::popup, text_field::TextField, text_page::TextPage},
        state::{confirm::Confirm, context::Context, message::Ticket},
        theme::Theme,
    },
};

/// Rows of the text and of a note below it, kept free so that nothing moves when there is one.
const MIN_ROWS: u16 = 2;

#[derive(Debug, Default)]
pub struct Prompt {
    /// Set while it is asked.
    asked: Option<TextField>,
    /// The job that the answer has started.
    running: Option<Ticket>,
}

impl Prompt {
    /// Asks, with a suggestion.
    pub fn ask(&mut self, label: &str, suggestion: impl Into<String>) {
        self.asked = Some(TextField::new(label, suggestion));
    }

    /// Asks for the name of a new file.
    pub fn ask_file(&mut self, suggestion: String) {
        self.ask("new file", suggestion);
    }

    pub fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub fn close(&mut self) {
        self.asked = None;
    }

    /// The field, as long as its text can be another one.
    pub fn field(&mut self) -> Option<&mut TextField> {
        self.asked.as_mut().filter(|_| self.running.is_none())
    }

    /// What was typed; without a text it says what is missing.
    pub fn text(&mut self, missing: &str) -> Option<String> {
        let field = self.field()?;
        let text = field.text().trim().to_owned();
        if text.is_empty() {
            field.error = Some(missing.to_owned());
            return None;
        }
        Some(text)
    }

    /// What was typed, as the path of a file.
    pub fn path(&mut self) -> Option<PathBuf> {
        let field = self.field()?;
        let path = paths::from_home(Path::new(field.text().trim()), std::env::home_dir());
        path.map_err(|why| field.error = Some(format!("The path {why}")))
            .ok()
    }

    pub fn begun(&mut self, ticket: Ticket) {
        self.running = Some(ticket);
    }

    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.running == Some(ticket)
    }

    /// The job has succeeded; closes the question.
    pub fn done(&mut self) {
        *self = Self::default();
    }

    /// Shows what is wrong with the text.
    pub fn refuse(&mut self, why: impl Into<String>) {
        if let Some(field) = &mut self.asked {
            field.error = Some(why.into());
        }
    }

    /// The job has failed. Returns `false` if none was running.
    pub fn failed(&mut self, why: &str) -> bool {
        let was_running = self.running.take().is_some();
        if was_running {
            self.refuse(why);
        }
        was_running
    }

    /// Like [`Prompt::failed`], but it is unknown how far writing got.
    pub fn job_panicked(&mut self) -> bool {
        self.failed("Write interrupted, check the file")
    }

    /// Number of rows while it is asked, else 0.
    pub fn rows(&self, width: u16) -> u16 {
        let asked = self.asked.as_ref();
        asked.map_or(0, |field| field.rows(width).max(MIN_ROWS))
    }

    /// Draws it from this row on, or as far above as it needs, while it is asked.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        top: u16,
        theme: Theme,
    ) -> Option<Position> {
        let field = self.asked.as_ref()?;
        let rows = self.rows(area.width).min(area.height);
        let place = Rect {
            y: area.y + top.min(area.height - rows),
            height: rows,
            ..area
        };
        Clear.render(place.intersection(buffer.area), buffer);
        field.draw(buffer, place, theme, true)
    }
}

/// Columns and rows of the frame of a box.
pub const FRAME: (u16, u16) = (4, 2);

/// An empty page for the text of a box of this width.
pub fn box_page(width: u16, area: Rect, theme: Theme) -> TextPage {
    TextPage::new(inside(width, area), theme)
}

/// Draws the page, one of [`box_page`], and the confirmation below it.
pub fn draw_box(
    page: &TextPage,
    confirm: &Confirm,
    (title, width): (&str, u16),
    (buffer, area): (&mut Buffer, Rect),
    context: &Context,
) -> Option<Position> {
    let (keys, theme) = (&context.keys, context.theme);
    let own = confirm.rows(inside(width, area), keys, theme, None);
    let rows = page.height() as u16 + 1 + own;
    let inner = popup(buffer, area, (width, rows + FRAME.1), title, theme);
    confirm.draw_below(page, None, (buffer, inner), (keys, theme), None)
}

/// The columns inside a box.
fn inside(width: u16, area: Rect) -> u16 {
    width.min(area.width).saturating_sub(FRAME.0)
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use crate::tui::kit::testing::{THEME, screen};

    fn drawn(prompt: &Prompt, top: u16) -> String {
        screen(24, 5, |buffer, area| {
            prompt.draw(buffer, Rect { ..area }, top, THEME);
        })
    }

    #[test]
    fn what_is_wrong_is_shown_whole_and_goes_with_the_next_text() {
        let mut prompt = Prompt::default();
        assert_eq!((prompt.rows(24), prompt.text("none")), (0, None));
        prompt.ask("name", " ");
        assert_eq!(prompt.rows(24), 2);
        assert_eq!(prompt.text("Type a name first"), None);
        assert!(drawn(&prompt, 3).contains("Type a name first"));
        prompt.refuse("a name of letters, digits, - and _, not longer than a line");
        let shown = drawn(&prompt, 9);
        let words: Vec<&str> = shown.split_whitespace().skip(1).collect();
        assert_eq!(
            words.join(" "),
            "a name of letters, digits, - and _, not longer than a line"
        );
        prompt.field().expect("asked").set_text(" ab ");
        assert_eq!(prompt.text("none").as_deref(), Some("ab"));
    }

    #[test]
    fn while_its_job_runs_the_text_stays_and_a_failure_is_shown_at_it() {
        let mut prompt = Prompt::default();
        prompt.ask_file("/tmp/x".into());
        assert_eq!(prompt.path(), Some(PathBuf::from("/tmp/x")));
        assert!(!prompt.failed("nothing was running"));
        let ticket = Ticket(7);
        prompt.begun(ticket);
        assert!(prompt.waits_for(ticket) && prompt.field().is_none() && prompt.path().is_none());
        assert!(prompt.failed("it exists"));
        assert!(drawn(&prompt, 0).contains("it exists"));
        assert!(prompt.path().is_some());
        prompt.done();
        assert!(!prompt.is_asked() && !prompt.is_running());
    }
}
