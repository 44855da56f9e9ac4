//! A question of one line: a new file, a name, a property. It is in the last rows of a page or a box. What is wrong with
//! the text stays below it, wrapped, until it is typed in again; a job that it starts runs once, and continues when the
//! question is closed.
//!
//! A confirmation in a box of its own, which is as high as its text and the confirmation need.
//!
//! The line of a filter: opened, typed into, applied, cleared. What it means is up to the page.

use std::path::{Path, PathBuf};

use ratatui::{
    prelude::{Buffer, Position, Rect, Widget},
    widgets::Clear,
};

use crate::{
    config::paths,
    domain::visible,
    tui::{
        keymap::{Action, Focus},
        kit::{TextField, TextPage, paint, popup},
        state::{Confirm, Context, Ticket},
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
        self.failed("Saving was interrupted; check the file")
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

#[derive(Debug)]
pub struct Filter {
    field: TextField,
    is_typing: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self::with("")
    }
}

impl Filter {
    pub fn with(text: &str) -> Self {
        let mut field = TextField::new("filter", "");
        field.set_text(text);
        Self {
            field,
            is_typing: false,
        }
    }

    pub fn text(&self) -> &str {
        self.field.text()
    }

    pub fn set_text(&mut self, text: &str) {
        self.field.set_text(text);
    }

    pub fn is_empty(&self) -> bool {
        self.field.is_empty()
    }

    pub fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Whether it is being typed or is not empty.
    pub fn is_on(&self) -> bool {
        self.is_typing || !self.is_empty()
    }

    /// Whether it looks like a token, which is not shown or kept.
    pub fn is_hidden(&self) -> bool {
        self.field.looks_secret()
    }

    /// Says that nothing matches it, and which key clears it. A text that may be a token is shown nowhere.
    pub fn nothing_matches(&self, clear: &str) -> String {
        let what = if self.is_hidden() {
            "the filter".to_owned()
        } else {
            format!("\"{}\"", self.text().trim())
        };
        format!("Nothing matches {what}: {clear} clears it")
    }

    /// Says whether the filter finds something, and therefore is no token.
    pub fn allow(&mut self, finds: bool) {
        self.field.allow(finds);
    }

    /// Where keys go, on a page whose own place is this.
    pub fn focus(&self, own: Focus) -> Focus {
        if self.is_typing { Focus::Filter } else { own }
    }

    /// Clears the filter; returns whether there was one.
    pub fn clear(&mut self) -> bool {
        let was_on = self.is_on();
        self.is_typing = false;
        self.set_text("");
        was_on
    }

    /// Opens, applies or clears it; returns whether it did.
    pub fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Filter => {
                // Typing replaces the previous filter; a space or a movement continues it.
                self.field.select_all();
                self.is_typing = true;
            }
            Action::Enter if self.is_typing => self.is_typing = false,
            Action::Back => return self.clear(),
            _ => return false,
        }
        true
    }

    /// The field, while it is typed into.
    pub fn field(&mut self) -> Option<&mut TextField> {
        self.is_typing.then_some(&mut self.field)
    }

    /// The field, whether it is typed into or applied.
    pub fn kept(&mut self) -> &mut TextField {
        &mut self.field
    }

    /// Draws it into the first row, with a remark at its end, or below it if it does not fit there; returns the number of rows,
    /// and the position of the cursor.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        remark: Option<&str>,
        theme: Theme,
    ) -> (u16, Option<Position>) {
        // Aligned with the breadcrumb path, whose text also begins in the second column.
        let area = paint::after_cells(area, 1);
        let (mut line, mut rows) = (paint::row(area, 0), 1);
        if let Some(remark) = remark {
            let remark = visible(remark);
            let typed = paint::columns(self.text()) + "filter    ".len();
            let width = paint::columns(&remark);
            if typed + width <= usize::from(line.width) {
                let width = width as u16;
                let x = line.right() - width;
                paint::text(buffer, x, line.y, width, &remark, theme.warning());
                line.width -= width + u16::from(width < line.width);
            } else {
                let below = paint::below(area, 1);
                rows += paint::wrapped_lines(&remark, below.width).len() as u16;
                paint::wrapped(buffer, below, &remark, theme.warning(), theme);
            }
        }
        let cursor = self.field.draw(buffer, line, theme, self.is_typing);
        (rows, cursor.filter(|_| self.is_typing))
    }
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
